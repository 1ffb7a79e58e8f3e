//! A listening TCP socket.

use std::fmt;
use std::io;
use std::net::{SocketAddr, ToSocketAddrs};
use std::os::fd::{AsFd, BorrowedFd};

use rustix::net::{SocketFlags, acceptfrom_with};
use socket2::{Domain, Protocol, Socket, Type};

use super::TcpStream;
use crate::context;
use crate::reactor::{Direction, Registered};

/// Connections that the kernel completes before they are accepted; it lowers this to `net.core.somaxconn`.
const BACKLOG: i32 = 4096;

/// A TCP socket that listens for connections.
///
/// ```
/// use thrum_rt::net::{TcpListener, TcpStream};
///
/// # thrum_rt::block_on(async {
/// let listener = TcpListener::bind("127.0.0.1:0").await?;
/// let client = TcpStream::connect(listener.local_addr()?).await?;
/// let (server, peer) = listener.accept().await?;
/// assert_eq!(peer, client.local_addr()?);
/// # drop(server);
/// # std::io::Result::Ok(())
/// # }).unwrap();
/// ```
pub struct TcpListener {
    io: Registered<std::net::TcpListener>,
}

impl TcpListener {
    /// Listens on the first of the addresses that can be bound. Port 0 takes a free one.
    ///
    /// The address may be taken again at once after a restart (SO_REUSEADDR), not while another process listens on it.
    /// An IPv6 address takes IPv6 connections only. A host name is looked up by the system, which may block.
    ///
    /// # Errors
    /// The last address's error, when none can be bound: `AddrInUse`, `PermissionDenied`, `AddrNotAvailable`.
    ///
    /// # Panics
    /// Outside a runtime.
    pub async fn bind(address: impl ToSocketAddrs) -> io::Result<Self> {
        let mut failure = None;
        for address in address.to_socket_addrs()? {
            match listen(address) {
                Ok(socket) => return Self::from_std(socket),
                Err(error) => failure = Some(error),
            }
        }
        Err(failure.unwrap_or_else(no_address))
    }

    /// Takes over a socket that listens already.
    ///
    /// # Errors
    /// When the socket cannot be set to non-blocking mode or registered.
    ///
    /// # Panics
    /// Outside a runtime.
    pub fn from_std(socket: std::net::TcpListener) -> io::Result<Self> {
        socket.set_nonblocking(true)?;
        Ok(Self {
            io: Registered::new(context::next_reactor(), socket)?,
        })
    }

    /// Waits for a connection. Any number of tasks may wait at the same time.
    ///
    /// # Errors
    /// Those of accept(2): `ConnectionAborted` and the like concern one connection; out of descriptors (EMFILE, ENFILE) or
    /// memory (ENOBUFS, ENOMEM), the caller should wait a little before it tries again.
    ///
    /// # Panics
    /// Outside a runtime.
    pub async fn accept(&self) -> io::Result<(TcpStream, SocketAddr)> {
        let accept = || {
            self.io.attempt(Direction::Read, |fd| {
                Ok(acceptfrom_with(
                    fd,
                    SocketFlags::CLOEXEC | SocketFlags::NONBLOCK,
                )?)
            })
        };
        let (socket, peer) = self.io.perform(Direction::Read, accept).await?;
        let peer = peer.map(SocketAddr::try_from).transpose()?;
        let peer = peer.ok_or_else(|| io::Error::from(io::ErrorKind::ConnectionAborted))?;
        // TCP_NODELAY is inherited from the listener. Connections are spread over the reactors in turn.
        let stream = TcpStream::register(context::next_reactor(), socket.into())?;
        Ok((stream, peer))
    }

    /// The address that it listens on, with the port that was taken for port 0.
    ///
    /// # Errors
    /// Those of getsockname(2).
    pub fn local_addr(&self) -> io::Result<SocketAddr> {
        self.io.get().local_addr()
    }
}

impl AsFd for TcpListener {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.io.get().as_fd()
    }
}

impl fmt::Debug for TcpListener {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.io.fmt(f)
    }
}

fn listen(address: SocketAddr) -> io::Result<std::net::TcpListener> {
    let socket = Socket::new(
        Domain::for_address(address),
        Type::STREAM,
        Some(Protocol::TCP),
    )?;
    socket.set_reuse_address(true)?;
    if address.is_ipv6() {
        socket.set_only_v6(true)?;
    }
    socket.set_tcp_nodelay(true)?;
    socket.bind(&address.into())?;
    socket.listen(BACKLOG)?;
    Ok(socket.into())
}

pub(super) fn no_address() -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, "the name has no address")
}
