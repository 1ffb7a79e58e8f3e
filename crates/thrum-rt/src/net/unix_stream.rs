//! A connection between processes of one machine, of bytes.

use std::io;
use std::os::unix::net::SocketAddr;

use rustix::net::SocketType;

use super::unix::{self, ToUnixAddr};
use super::{PeerCred, StreamSocket};
use crate::context;

/// A connection between processes of one machine.
///
/// What it can do with bytes is what every [`StreamSocket`] can do.
///
/// ```
/// use thrum_rt::net::UnixStream;
///
/// # thrum_rt::block_on(async {
/// let (here, there) = UnixStream::pair()?;
/// here.write_all(b"hello").await?;
/// let mut buffer = [0; 64];
/// let read = there.read(&mut buffer).await?;
/// assert_eq!(&buffer[..read], b"hello");
/// assert_eq!(there.peer_cred()?.pid, Some(std::process::id()));
/// # std::io::Result::Ok(())
/// # }).unwrap();
/// ```
pub type UnixStream = StreamSocket<std::os::unix::net::UnixStream>;

impl StreamSocket<std::os::unix::net::UnixStream> {
    /// Connects to who listens at an address, waiting while the listener's queue is full.
    ///
    /// Dropping the future before it is done closes what was begun.
    ///
    /// # Errors
    /// Those of connect(2): `NotFound`, `ConnectionRefused` if nobody listens, `PermissionDenied`.
    ///
    /// # Panics
    /// Outside a runtime.
    pub async fn connect(address: impl ToUnixAddr) -> io::Result<Self> {
        let socket = unix::connect(SocketType::STREAM, &address).await?;
        Self::register(context::next_reactor(), socket.into())
    }

    /// Two streams that are connected to each other.
    ///
    /// # Errors
    /// Those of socketpair(2): out of descriptors.
    ///
    /// # Panics
    /// Outside a runtime.
    pub fn pair() -> io::Result<(Self, Self)> {
        let (one, other) = unix::pair(SocketType::STREAM)?;
        Ok((
            Self::register(context::next_reactor(), one.into())?,
            Self::register(context::next_reactor(), other.into())?,
        ))
    }

    /// Who is at the other end.
    ///
    /// # Errors
    /// Those of getsockopt(2).
    pub fn peer_cred(&self) -> io::Result<PeerCred> {
        PeerCred::of(self)
    }

    /// The address of the other end; one that only connected has no name.
    ///
    /// # Errors
    /// Those of getpeername(2).
    pub fn peer_addr(&self) -> io::Result<SocketAddr> {
        unix::peer_addr(self)
    }

    /// The address of this end; one that only connected has no name.
    ///
    /// # Errors
    /// Those of getsockname(2).
    pub fn local_addr(&self) -> io::Result<SocketAddr> {
        unix::local_addr(self)
    }
}
