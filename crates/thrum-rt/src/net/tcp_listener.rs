//! A listening TCP socket.

use std::fmt;
use std::io;
use std::net::SocketAddr;
use std::os::fd::{AsFd, BorrowedFd};

use super::accept::Acceptor;
use super::resolve::{ToSocketAddrs, lookup_host};
use super::{BACKLOG, TcpSocket, TcpStream};
use crate::context;

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
    acceptor: Acceptor<std::net::TcpListener>,
}

impl TcpListener {
    /// Listens on the first of the addresses that can be bound. Port 0 takes a free one. A name is looked up as by
    /// [`lookup_host`].
    ///
    /// The address may be taken again at once after a restart (SO_REUSEADDR), not while another process listens on it.
    /// An IPv6 address takes IPv6 connections only. [`TcpSocket`] listens in other ways.
    ///
    /// Dropping the future before it is done binds nothing.
    ///
    /// # Errors
    /// The last address's error, when none can be bound: `AddrInUse`, `PermissionDenied`, `AddrNotAvailable`; those of
    /// [`lookup_host`].
    ///
    /// # Panics
    /// Outside a runtime.
    pub async fn bind(address: impl ToSocketAddrs) -> io::Result<Self> {
        super::first(lookup_host(address).await?, |address| {
            let socket = TcpSocket::for_address(address)?;
            socket.set_reuse_address(true)?;
            if address.is_ipv6() {
                socket.set_only_v6(true)?;
            }
            socket.bind(address)?;
            socket.listen(BACKLOG)
        })
    }

    /// Takes over a socket that listens already. What it accepts is sent at once (TCP_NODELAY), as with those of
    /// [`bind`](Self::bind).
    ///
    /// # Errors
    /// When the socket cannot be set to non-blocking mode or registered.
    ///
    /// # Panics
    /// Outside a runtime.
    pub fn from_std(socket: std::net::TcpListener) -> io::Result<Self> {
        socket2::SockRef::from(&socket).set_tcp_nodelay(true)?;
        Self::register(socket)
    }

    /// Takes it over as it is.
    pub(super) fn register(socket: std::net::TcpListener) -> io::Result<Self> {
        Ok(Self {
            acceptor: Acceptor::new(socket)?,
        })
    }

    /// Takes the socket out of the runtime; it stays in non-blocking mode.
    ///
    /// # Errors
    /// Those of epoll_ctl(2).
    pub fn into_std(self) -> io::Result<std::net::TcpListener> {
        self.acceptor.into_inner()
    }

    /// Waits for a connection. Any number of tasks may wait at the same time.
    ///
    /// A server's loop around it goes on whatever happens to its clients: a connection that is gone before it could be
    /// accepted is skipped. When descriptors or memory have run out (EMFILE, ENFILE, ENOBUFS, ENOMEM) it waits, 5 ms at
    /// first and up to a second, while connections wait in the kernel's queue; it warns of it through `tracing`, once a
    /// second at most. Both are counted: [`accept_errors`](Self::accept_errors).
    ///
    /// Dropping the future before it is done takes no connection.
    ///
    /// # Errors
    /// Those that trying again would not mend: the socket does not listen.
    ///
    /// # Panics
    /// Outside a runtime.
    pub async fn accept(&self) -> io::Result<(TcpStream, SocketAddr)> {
        self.acceptor
            .accept(|socket, peer| {
                let peer = peer.ok_or(rustix::io::Errno::CONNABORTED)?.try_into()?;
                // TCP_NODELAY is inherited from the listener. Connections are spread over the reactors in turn.
                let stream = TcpStream::register(context::next_reactor(), socket.into())?;
                Ok((stream, peer))
            })
            .await
    }

    /// How often accepting failed and was tried again; see [`accept`](Self::accept).
    pub fn accept_errors(&self) -> u64 {
        self.acceptor.errors()
    }

    /// The address that it listens on, with the port that was taken for port 0.
    ///
    /// # Errors
    /// Those of getsockname(2).
    pub fn local_addr(&self) -> io::Result<SocketAddr> {
        self.acceptor.get().local_addr()
    }
}

impl AsFd for TcpListener {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.acceptor.get().as_fd()
    }
}

impl fmt::Debug for TcpListener {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.acceptor.get().fmt(f)
    }
}
