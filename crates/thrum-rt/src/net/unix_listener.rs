//! A listening Unix socket for streams.

use std::fmt;
use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::SocketAddr;

use rustix::net::SocketType;

use super::UnixStream;
use super::accept::Acceptor;
use super::unix::{self, ToUnixAddr};
use crate::context;

/// A Unix socket that listens for connections.
///
/// ```
/// use thrum_rt::net::{UnixListener, UnixStream};
///
/// # thrum_rt::block_on(async {
/// let folder = tempfile::tempdir()?;
/// let path = folder.path().join("socket");
/// let listener = UnixListener::bind(&path)?;
/// let client = UnixStream::connect(&path).await?;
/// let (server, _) = listener.accept().await?;
/// # drop((client, server));
/// # std::io::Result::Ok(())
/// # }).unwrap();
/// ```
pub struct UnixListener {
    acceptor: Acceptor<std::os::unix::net::UnixListener>,
}

impl UnixListener {
    /// Listens at an address. A path must not exist yet; the file that is made for it stays when the listener is dropped.
    ///
    /// # Errors
    /// Those of bind(2): `AddrInUse` if the path exists, `NotFound` if its folder does not, `PermissionDenied`.
    ///
    /// # Panics
    /// Outside a runtime.
    pub fn bind(address: impl ToUnixAddr) -> io::Result<Self> {
        Self::from_std(unix::listen(SocketType::STREAM, &address)?.into())
    }

    /// Takes over a socket that listens already.
    ///
    /// # Errors
    /// When the socket cannot be set to non-blocking mode or registered.
    ///
    /// # Panics
    /// Outside a runtime.
    pub fn from_std(socket: std::os::unix::net::UnixListener) -> io::Result<Self> {
        Ok(Self {
            acceptor: Acceptor::new(socket)?,
        })
    }

    /// Takes the socket out of the runtime; it stays in non-blocking mode.
    ///
    /// # Errors
    /// Those of epoll_ctl(2).
    pub fn into_std(self) -> io::Result<std::os::unix::net::UnixListener> {
        self.acceptor.into_inner()
    }

    /// Waits for a connection. Any number of tasks may wait at the same time.
    ///
    /// It goes on whatever happens to clients, as [`TcpListener::accept`](super::TcpListener::accept) does.
    ///
    /// Dropping the future before it is done takes no connection.
    ///
    /// # Errors
    /// Those that trying again would not mend: the socket does not listen.
    ///
    /// # Panics
    /// Outside a runtime.
    pub async fn accept(&self) -> io::Result<(UnixStream, SocketAddr)> {
        self.acceptor
            .accept(|socket, peer| {
                let stream = UnixStream::register(context::next_reactor(), socket.into())?;
                Ok((stream, unix::std_addr(peer)?))
            })
            .await
    }

    /// How often accepting failed and was tried again; see [`accept`](Self::accept).
    pub fn accept_errors(&self) -> u64 {
        self.acceptor.errors()
    }

    /// The address that it listens at.
    ///
    /// # Errors
    /// Those of getsockname(2).
    pub fn local_addr(&self) -> io::Result<SocketAddr> {
        unix::local_addr(self)
    }
}

impl AsFd for UnixListener {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.acceptor.get().as_fd()
    }
}

impl fmt::Debug for UnixListener {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.acceptor.get().fmt(f)
    }
}
