//! A TCP socket that neither listens nor is connected yet: for options that must be set before.

use std::fmt;
use std::io;
use std::net::SocketAddr;
use std::os::fd::{AsFd, BorrowedFd};
use std::time::Duration;

use rustix::net::sockopt;
use socket2::{Domain, Protocol, Socket, Type};

use super::{Keepalive, TcpListener, TcpStream};
use crate::context;
use crate::reactor::Registered;

/// A TCP socket that neither listens nor is connected yet.
///
/// [`TcpListener::bind`] and [`TcpStream::connect`] do for most; this is for who wants to set options or the local address
/// first. Nothing is set but what is asked for, except TCP_NODELAY.
///
/// ```
/// use thrum_rt::net::{TcpSocket, TcpStream};
///
/// # thrum_rt::block_on(async {
/// // Two listeners share a port: the kernel spreads the connections over them.
/// let socket = TcpSocket::v4()?;
/// socket.set_reuse_port(true)?;
/// socket.bind("127.0.0.1:0".parse().unwrap())?;
/// let first = socket.listen(1024)?;
///
/// let socket = TcpSocket::v4()?;
/// socket.set_reuse_port(true)?;
/// socket.bind(first.local_addr()?)?;
/// let second = socket.listen(1024)?;
/// # let _ = second;
/// # std::io::Result::Ok(())
/// # }).unwrap();
/// ```
pub struct TcpSocket {
    socket: Socket,
}

impl TcpSocket {
    /// A socket for IPv4 addresses.
    ///
    /// # Errors
    /// Those of socket(2): out of descriptors, or the machine has no IPv4.
    pub fn v4() -> io::Result<Self> {
        Self::new(Domain::IPV4)
    }

    /// A socket for IPv6 addresses.
    ///
    /// # Errors
    /// Those of socket(2): out of descriptors, or the machine has no IPv6.
    pub fn v6() -> io::Result<Self> {
        Self::new(Domain::IPV6)
    }

    /// A socket for addresses of the same family as this one.
    ///
    /// # Errors
    /// Those of socket(2).
    pub fn for_address(address: SocketAddr) -> io::Result<Self> {
        Self::new(Domain::for_address(address))
    }

    fn new(family: Domain) -> io::Result<Self> {
        let socket = Socket::new(family, Type::STREAM, Some(Protocol::TCP))?;
        socket.set_nonblocking(true)?;
        socket.set_tcp_nodelay(true)?;
        Ok(Self { socket })
    }

    /// Whether an address may be bound again at once after a restart (SO_REUSEADDR). Default: false.
    ///
    /// # Errors
    /// Those of setsockopt(2).
    pub fn set_reuse_address(&self, reuse: bool) -> io::Result<()> {
        self.socket.set_reuse_address(reuse)
    }

    /// Whether other sockets of the same user may listen on the address too (SO_REUSEPORT); the kernel spreads the connections
    /// over them. All of them must say so. Default: false.
    ///
    /// # Errors
    /// Those of setsockopt(2).
    pub fn set_reuse_port(&self, reuse: bool) -> io::Result<()> {
        self.socket.set_reuse_port(reuse)
    }

    /// Whether an IPv6 socket leaves IPv4 alone. Default: as the system says, on Linux false (`net.ipv6.bindv6only`).
    ///
    /// # Errors
    /// Those of setsockopt(2); an IPv4 socket has no such option.
    pub fn set_only_v6(&self, only_v6: bool) -> io::Result<()> {
        self.socket.set_only_v6(only_v6)
    }

    /// See [`TcpStream::set_nodelay`]; accepted connections inherit it. Default: true.
    ///
    /// # Errors
    /// Those of setsockopt(2).
    pub fn set_nodelay(&self, nodelay: bool) -> io::Result<()> {
        self.socket.set_tcp_nodelay(nodelay)
    }

    /// See [`TcpStream::set_keepalive`]; accepted connections inherit it. Default: none.
    ///
    /// # Errors
    /// Those of setsockopt(2).
    pub fn set_keepalive(&self, keepalive: Option<Keepalive>) -> io::Result<()> {
        Keepalive::apply(keepalive, &self.socket)
    }

    /// See [`TcpStream::set_linger`]; accepted connections inherit it. Default: none.
    ///
    /// # Errors
    /// Those of setsockopt(2).
    pub fn set_linger(&self, linger: Option<Duration>) -> io::Result<()> {
        Ok(sockopt::set_socket_linger(&self.socket, linger)?)
    }

    /// See [`TcpStream::set_send_buffer_size`]; accepted connections inherit it.
    ///
    /// # Errors
    /// Those of setsockopt(2).
    pub fn set_send_buffer_size(&self, bytes: usize) -> io::Result<()> {
        self.socket.set_send_buffer_size(bytes)
    }

    /// See [`TcpStream::set_recv_buffer_size`]; accepted connections inherit it. More than 64 KiB count only if set before the
    /// connection is made, as both ends then agree on the scale of the window.
    ///
    /// # Errors
    /// Those of setsockopt(2).
    pub fn set_recv_buffer_size(&self, bytes: usize) -> io::Result<()> {
        self.socket.set_recv_buffer_size(bytes)
    }

    /// Gives the socket its local address. Port 0 takes a free one.
    ///
    /// # Errors
    /// Those of bind(2): `AddrInUse`, `PermissionDenied`, `AddrNotAvailable`.
    pub fn bind(&self, address: SocketAddr) -> io::Result<()> {
        self.socket.bind(&address.into())
    }

    /// The local address.
    ///
    /// # Errors
    /// Those of getsockname(2).
    pub fn local_addr(&self) -> io::Result<SocketAddr> {
        let address = rustix::net::getsockname(&self.socket)?;
        Ok(address.try_into()?)
    }

    /// Listens. The kernel completes up to `backlog` connections before they are accepted; it lowers that to
    /// `net.core.somaxconn`.
    ///
    /// # Errors
    /// Those of listen(2), and when the socket cannot be registered.
    ///
    /// # Panics
    /// Outside a runtime.
    pub fn listen(self, backlog: u32) -> io::Result<TcpListener> {
        self.socket
            .listen(i32::try_from(backlog).unwrap_or(i32::MAX))?;
        TcpListener::register(self.socket.into())
    }

    /// Connects to an address.
    ///
    /// Dropping the future before it is done closes the socket.
    ///
    /// # Errors
    /// Those of connect(2): `ConnectionRefused`, `HostUnreachable`, `TimedOut` (after some two minutes on Linux).
    ///
    /// # Panics
    /// Outside a runtime.
    pub async fn connect(self, address: SocketAddr) -> io::Result<TcpStream> {
        let in_progress = rustix::io::Errno::INPROGRESS.raw_os_error();
        match self.socket.connect(&address.into()) {
            Ok(()) => {}
            Err(error) if error.raw_os_error() == Some(in_progress) => {}
            Err(error) => return Err(error),
        }
        // Registered only now: a socket that has not begun to connect would be told to be closed.
        let io = Registered::connecting(context::reactor(), self.socket.into())?;
        let stream = TcpStream { io };
        std::future::poll_fn(|cx| stream.poll_writable(cx)).await?;
        match stream.take_error()? {
            Some(error) => Err(error),
            None => {
                stream.io.has_connected();
                Ok(stream)
            }
        }
    }
}

impl AsFd for TcpSocket {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}

impl fmt::Debug for TcpSocket {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("TcpSocket").field(&self.socket).finish()
    }
}
