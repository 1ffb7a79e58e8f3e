//! Connections between processes of one machine that carry messages, in order (SOCK_SEQPACKET).

use std::fmt;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::net::SocketAddr;

use rustix::net::SocketType;

use super::accept::Acceptor;
use super::unix::{self, ToUnixAddr};
use super::{MessageSocket, PeerCred};

/// A connection that carries messages, in order and each whole: a stream that needs no framing.
///
/// What it can do with messages is what every [`MessageSocket`] can do. The peer's end is received as a message of length 0,
/// so empty messages are better not sent.
///
/// ```
/// use thrum_rt::net::UnixSeqpacket;
///
/// # thrum_rt::block_on(async {
/// let (here, there) = UnixSeqpacket::pair()?;
/// here.send(b"one").await?;
/// here.send(b"two").await?;
/// let mut buffer = [0; 64];
/// assert_eq!(there.recv(&mut buffer).await?, 3); // and not 6
/// # std::io::Result::Ok(())
/// # }).unwrap();
/// ```
pub type UnixSeqpacket = MessageSocket<OwnedFd>;

impl MessageSocket<OwnedFd> {
    /// Connects to who listens at an address, waiting while the listener's queue is full.
    ///
    /// Dropping the future before it is done closes what was begun.
    ///
    /// # Errors
    /// Those of connect(2): `NotFound`, `ConnectionRefused` if nobody listens, EPROTOTYPE if a listener of another kind does.
    ///
    /// # Panics
    /// Outside a runtime.
    pub async fn connect(address: impl ToUnixAddr) -> io::Result<Self> {
        Self::from_std(unix::connect(SocketType::SEQPACKET, &address).await?)
    }

    /// Two sockets that are connected to each other.
    ///
    /// # Errors
    /// Those of socketpair(2): out of descriptors.
    ///
    /// # Panics
    /// Outside a runtime.
    pub fn pair() -> io::Result<(Self, Self)> {
        let (one, other) = unix::pair(SocketType::SEQPACKET)?;
        Ok((Self::from_std(one)?, Self::from_std(other)?))
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

/// A Unix socket that listens for connections that carry messages.
pub struct UnixSeqpacketListener {
    acceptor: Acceptor<OwnedFd>,
}

impl UnixSeqpacketListener {
    /// Listens at an address. A path must not exist yet; the file that is made for it stays when the listener is dropped.
    ///
    /// # Errors
    /// Those of bind(2): `AddrInUse` if the path exists, `NotFound` if its folder does not, `PermissionDenied`.
    ///
    /// # Panics
    /// Outside a runtime.
    pub fn bind(address: impl ToUnixAddr) -> io::Result<Self> {
        Self::from_std(unix::listen(SocketType::SEQPACKET, &address)?)
    }

    /// Takes over a socket that listens already.
    ///
    /// # Errors
    /// When the socket cannot be set to non-blocking mode or registered.
    ///
    /// # Panics
    /// Outside a runtime.
    pub fn from_std(socket: OwnedFd) -> io::Result<Self> {
        Ok(Self {
            acceptor: Acceptor::new(socket)?,
        })
    }

    /// Takes the socket out of the runtime; it stays in non-blocking mode.
    ///
    /// # Errors
    /// Those of epoll_ctl(2).
    pub fn into_std(self) -> io::Result<OwnedFd> {
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
    pub async fn accept(&self) -> io::Result<(UnixSeqpacket, SocketAddr)> {
        self.acceptor
            .accept(|socket, peer| Ok((UnixSeqpacket::from_std(socket)?, unix::std_addr(peer)?)))
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

impl AsFd for UnixSeqpacketListener {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.acceptor.get().as_fd()
    }
}

impl fmt::Debug for UnixSeqpacketListener {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("UnixSeqpacketListener")
            .field(self.acceptor.get())
            .finish()
    }
}
