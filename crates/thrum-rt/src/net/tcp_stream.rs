//! A TCP connection.

use std::io;
use std::net::SocketAddr;
use std::time::Duration;

use rustix::net::sockopt;

use super::resolve::{ToSocketAddrs, lookup_host};
use super::{Keepalive, StreamSocket, TcpSocket, connect};

/// A TCP connection.
///
/// What it can do with bytes is what every [`StreamSocket`] can do. It sends at once (TCP_NODELAY), unless told otherwise.
///
/// ```
/// use thrum_rt::net::{TcpListener, TcpStream};
///
/// # thrum_rt::block_on(async {
/// let listener = TcpListener::bind("127.0.0.1:0").await?;
/// let client = TcpStream::connect(listener.local_addr()?).await?;
/// let (server, _) = listener.accept().await?;
/// client.write_all(b"hello").await?;
/// let mut buffer = [0; 64];
/// let read = server.read(&mut buffer).await?;
/// assert_eq!(&buffer[..read], b"hello");
/// # std::io::Result::Ok(())
/// # }).unwrap();
/// ```
pub type TcpStream = StreamSocket<std::net::TcpStream>;

impl StreamSocket<std::net::TcpStream> {
    /// Connects. A name is looked up as by [`lookup_host`], and of several addresses the first to answer is taken: attempts
    /// begin 250 ms apart, or at once when one fails, with the families taking turns (RFC 8305).
    ///
    /// Dropping the future before it is done closes what was begun. There is no limit on the time but the system's own, on
    /// Linux some two minutes an address; put a [`timeout`](crate::time::timeout) around it.
    ///
    /// # Errors
    /// That of the attempt that failed last, when all have: `ConnectionRefused`, `HostUnreachable`, `TimedOut`; those of
    /// [`lookup_host`].
    ///
    /// # Panics
    /// Outside a runtime.
    pub async fn connect(address: impl ToSocketAddrs) -> io::Result<Self> {
        let addresses = lookup_host(address).await?;
        connect::race(addresses, async |address| {
            TcpSocket::for_address(address)?.connect(address).await
        })
        .await
    }

    /// The address of the other end.
    ///
    /// # Errors
    /// Those of getpeername(2).
    pub fn peer_addr(&self) -> io::Result<SocketAddr> {
        self.io.get().peer_addr()
    }

    /// The address of this end.
    ///
    /// # Errors
    /// Those of getsockname(2).
    pub fn local_addr(&self) -> io::Result<SocketAddr> {
        self.io.get().local_addr()
    }

    /// Sets whether small writes are sent at once, without waiting for what the peer has not acknowledged. Default: true.
    ///
    /// # Errors
    /// Those of setsockopt(2).
    pub fn set_nodelay(&self, nodelay: bool) -> io::Result<()> {
        self.io.get().set_nodelay(nodelay)
    }

    /// Whether small writes are sent at once.
    ///
    /// # Errors
    /// Those of getsockopt(2).
    pub fn nodelay(&self) -> io::Result<bool> {
        self.io.get().nodelay()
    }

    /// Sets whether what arrives is acknowledged at once rather than up to 40 ms later with other data. Linux goes back to its
    /// own judgement soon, so it is set again after each read that matters.
    ///
    /// # Errors
    /// Those of setsockopt(2).
    #[cfg(target_os = "linux")]
    pub fn set_quickack(&self, quickack: bool) -> io::Result<()> {
        Ok(sockopt::set_tcp_quickack(self, quickack)?)
    }

    /// Whether what arrives is acknowledged at once.
    ///
    /// # Errors
    /// Those of getsockopt(2).
    #[cfg(target_os = "linux")]
    pub fn quickack(&self) -> io::Result<bool> {
        Ok(sockopt::tcp_quickack(self)?)
    }

    /// Sets whether and how a silent peer is probed. Default: not at all.
    ///
    /// # Errors
    /// Those of setsockopt(2); `InvalidInput` for values out of range.
    pub fn set_keepalive(&self, keepalive: Option<Keepalive>) -> io::Result<()> {
        Keepalive::apply(keepalive, self)
    }

    /// Whether and how a silent peer is probed.
    ///
    /// # Errors
    /// Those of getsockopt(2).
    pub fn keepalive(&self) -> io::Result<Option<Keepalive>> {
        Keepalive::read(self)
    }

    /// Sets how long closing waits for unsent bytes, in whole seconds. Default: `None`, closing returns at once and the kernel
    /// sends on. Zero throws them away and resets the connection. More than zero makes closing **block the thread**; a
    /// [`shutdown`](Self::shutdown) and a read until the end do better.
    ///
    /// # Errors
    /// Those of setsockopt(2).
    pub fn set_linger(&self, linger: Option<Duration>) -> io::Result<()> {
        Ok(sockopt::set_socket_linger(self, linger)?)
    }

    /// How long closing waits for unsent bytes.
    ///
    /// # Errors
    /// Those of getsockopt(2).
    pub fn linger(&self) -> io::Result<Option<Duration>> {
        Ok(sockopt::socket_linger(self)?)
    }

    /// Sets the time to live of what is sent, in hops. Default: the system's, on Linux 64.
    ///
    /// # Errors
    /// Those of setsockopt(2).
    pub fn set_ttl(&self, hops: u32) -> io::Result<()> {
        self.io.get().set_ttl(hops)
    }

    /// The time to live of what is sent, in hops.
    ///
    /// # Errors
    /// Those of getsockopt(2).
    pub fn ttl(&self) -> io::Result<u32> {
        self.io.get().ttl()
    }

    /// Sets how many bytes the kernel keeps for the peer to take; Linux doubles it. Default: as the system says, grown as
    /// needed, which setting it ends.
    ///
    /// # Errors
    /// Those of setsockopt(2).
    pub fn set_send_buffer_size(&self, bytes: usize) -> io::Result<()> {
        Ok(sockopt::set_socket_send_buffer_size(self, bytes)?)
    }

    /// How many bytes the kernel keeps for the peer to take; on Linux with its own overhead.
    ///
    /// # Errors
    /// Those of getsockopt(2).
    pub fn send_buffer_size(&self) -> io::Result<usize> {
        Ok(sockopt::socket_send_buffer_size(self)?)
    }

    /// Sets how many bytes the kernel keeps until they are read; Linux doubles it. Default: as the system says, grown as
    /// needed, which setting it ends.
    ///
    /// # Errors
    /// Those of setsockopt(2).
    pub fn set_recv_buffer_size(&self, bytes: usize) -> io::Result<()> {
        Ok(sockopt::set_socket_recv_buffer_size(self, bytes)?)
    }

    /// How many bytes the kernel keeps until they are read; on Linux with its own overhead.
    ///
    /// # Errors
    /// Those of getsockopt(2).
    pub fn recv_buffer_size(&self) -> io::Result<usize> {
        Ok(sockopt::socket_recv_buffer_size(self)?)
    }
}
