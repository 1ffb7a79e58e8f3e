//! A UDP socket.

use std::future::poll_fn;
use std::io;
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr};
use std::task::{Context, Poll};

use rustix::net::{RecvFlags, SendFlags, SocketAddrAny};
use socket2::{Domain, Protocol, Socket, Type};

use super::resolve::{ToSocketAddrs, lookup_host};
use super::{MessageSocket, first};
use crate::reactor::Direction;

/// A UDP socket.
///
/// Sending and receiving with the peer it is [connected](Self::connect) to is what every [`MessageSocket`] can do.
///
/// ```
/// use thrum_rt::net::UdpSocket;
///
/// # thrum_rt::block_on(async {
/// let server = UdpSocket::bind("127.0.0.1:0").await?;
/// let client = UdpSocket::bind("127.0.0.1:0").await?;
/// client.send_to(b"ping", server.local_addr()?).await?;
/// let mut buffer = [0; 1500];
/// let (length, peer) = server.recv_from(&mut buffer).await?;
/// assert_eq!(&buffer[..length], b"ping");
/// assert_eq!(peer, client.local_addr()?);
/// # std::io::Result::Ok(())
/// # }).unwrap();
/// ```
pub type UdpSocket = MessageSocket<std::net::UdpSocket>;

impl MessageSocket<std::net::UdpSocket> {
    /// Binds the first of the addresses that can be bound. Port 0 takes a free one. A name is looked up as by
    /// [`lookup_host`]. An IPv6 address takes IPv6 only.
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
        first(lookup_host(address).await?, |address| {
            let family = Domain::for_address(address);
            let socket = Socket::new(family, Type::DGRAM, Some(Protocol::UDP))?;
            if address.is_ipv6() {
                socket.set_only_v6(true)?;
            }
            socket.bind(&address.into())?;
            Self::from_std(socket.into())
        })
    }

    /// Makes the first of the addresses that is of the socket's family its peer: `send` sends there, and messages from anyone
    /// else are not received. Nothing is sent for it.
    ///
    /// Dropping the future before it is done changes nothing.
    ///
    /// # Errors
    /// The last address's error, when none will do; those of [`lookup_host`].
    ///
    /// # Panics
    /// Outside a runtime, if there is a name to look up.
    pub async fn connect(&self, address: impl ToSocketAddrs) -> io::Result<()> {
        first(lookup_host(address).await?, |address| {
            self.get().connect(address)
        })
    }

    /// Sends a message to an address, waiting until there is room for it. Gives the message's length. A name is looked up as by
    /// [`lookup_host`], and its first address taken.
    ///
    /// Dropping the future before it is done sends nothing.
    ///
    /// # Errors
    /// Those of sendto(2): `PermissionDenied` for broadcast without [`set_broadcast`](Self::set_broadcast), EMSGSIZE for a
    /// message that is too long; those of [`lookup_host`].
    ///
    /// # Panics
    /// Outside a runtime, if there is a name to look up.
    pub async fn send_to(&self, message: &[u8], address: impl ToSocketAddrs) -> io::Result<usize> {
        let address = lookup_host(address).await?[0]; // never empty
        poll_fn(|cx| self.poll_send_to(cx, message, address)).await
    }

    /// Receives a message and whom it is from, waiting until there is one. Gives its length, or the buffer's if that is
    /// shorter.
    ///
    /// Dropping the future before it is done receives nothing.
    ///
    /// # Errors
    /// Those of recvfrom(2).
    pub async fn recv_from(&self, buffer: &mut [u8]) -> io::Result<(usize, SocketAddr)> {
        poll_fn(|cx| self.poll_recv_from(cx, buffer)).await
    }

    /// Receives a message and whom it is from and leaves it to be received again, waiting until there is one.
    ///
    /// Dropping the future before it is done changes nothing.
    ///
    /// # Errors
    /// Those of recvfrom(2).
    pub async fn peek_from(&self, buffer: &mut [u8]) -> io::Result<(usize, SocketAddr)> {
        poll_fn(|cx| {
            self.poll_with(Direction::Read, cx, || {
                with_peer(self.receive_from(buffer, RecvFlags::PEEK)?)
            })
        })
        .await
    }

    /// The poll form of [`send_to`](Self::send_to). `Pending` has sent nothing.
    ///
    /// # Errors
    /// Those of sendto(2).
    pub fn poll_send_to(
        &self,
        cx: &mut Context<'_>,
        message: &[u8],
        address: SocketAddr,
    ) -> Poll<io::Result<usize>> {
        self.poll_with(Direction::Write, cx, || self.try_send_to(message, address))
    }

    /// The poll form of [`recv_from`](Self::recv_from). `Pending` has received nothing.
    ///
    /// # Errors
    /// Those of recvfrom(2).
    pub fn poll_recv_from(
        &self,
        cx: &mut Context<'_>,
        buffer: &mut [u8],
    ) -> Poll<io::Result<(usize, SocketAddr)>> {
        self.poll_with(Direction::Read, cx, || self.try_recv_from(buffer))
    }

    /// Sends a message to an address.
    ///
    /// # Errors
    /// `WouldBlock` if there is no room; else those of sendto(2).
    pub fn try_send_to(&self, message: &[u8], address: SocketAddr) -> io::Result<usize> {
        self.attempt(Direction::Write, |fd| {
            rustix::net::sendto(fd, message, SendFlags::NOSIGNAL, &address)
        })
    }

    /// Receives a message that is there, and whom it is from.
    ///
    /// # Errors
    /// `WouldBlock` if there is none; else those of recvfrom(2).
    pub fn try_recv_from(&self, buffer: &mut [u8]) -> io::Result<(usize, SocketAddr)> {
        with_peer(self.receive_from(buffer, RecvFlags::empty())?)
    }

    /// The address of this end.
    ///
    /// # Errors
    /// Those of getsockname(2).
    pub fn local_addr(&self) -> io::Result<SocketAddr> {
        self.get().local_addr()
    }

    /// The address it is connected to.
    ///
    /// # Errors
    /// Those of getpeername(2); `NotConnected`.
    pub fn peer_addr(&self) -> io::Result<SocketAddr> {
        self.get().peer_addr()
    }

    /// Sets whether it may send to a broadcast address. Default: false.
    ///
    /// # Errors
    /// Those of setsockopt(2).
    pub fn set_broadcast(&self, broadcast: bool) -> io::Result<()> {
        self.get().set_broadcast(broadcast)
    }

    /// Whether it may send to a broadcast address.
    ///
    /// # Errors
    /// Those of getsockopt(2).
    pub fn broadcast(&self) -> io::Result<bool> {
        self.get().broadcast()
    }

    /// Sets the time to live of what is sent, in hops. Default: the system's, on Linux 64.
    ///
    /// # Errors
    /// Those of setsockopt(2).
    pub fn set_ttl(&self, hops: u32) -> io::Result<()> {
        self.get().set_ttl(hops)
    }

    /// The time to live of what is sent, in hops.
    ///
    /// # Errors
    /// Those of getsockopt(2).
    pub fn ttl(&self) -> io::Result<u32> {
        self.get().ttl()
    }

    /// Joins an IPv4 multicast group at the interface with this address; `0.0.0.0` lets the system choose one.
    ///
    /// # Errors
    /// Those of setsockopt(2).
    pub fn join_multicast_v4(&self, group: Ipv4Addr, interface: Ipv4Addr) -> io::Result<()> {
        self.get().join_multicast_v4(&group, &interface)
    }

    /// Leaves an IPv4 multicast group.
    ///
    /// # Errors
    /// Those of setsockopt(2).
    pub fn leave_multicast_v4(&self, group: Ipv4Addr, interface: Ipv4Addr) -> io::Result<()> {
        self.get().leave_multicast_v4(&group, &interface)
    }

    /// Joins an IPv6 multicast group at the interface with this index; 0 lets the system choose one.
    ///
    /// # Errors
    /// Those of setsockopt(2).
    pub fn join_multicast_v6(&self, group: Ipv6Addr, interface: u32) -> io::Result<()> {
        self.get().join_multicast_v6(&group, interface)
    }

    /// Leaves an IPv6 multicast group.
    ///
    /// # Errors
    /// Those of setsockopt(2).
    pub fn leave_multicast_v6(&self, group: Ipv6Addr, interface: u32) -> io::Result<()> {
        self.get().leave_multicast_v6(&group, interface)
    }

    /// Sets whether this machine receives the IPv4 multicast that it sends. Default: true.
    ///
    /// # Errors
    /// Those of setsockopt(2).
    pub fn set_multicast_loop_v4(&self, multicast_loop: bool) -> io::Result<()> {
        self.get().set_multicast_loop_v4(multicast_loop)
    }

    /// Whether this machine receives the IPv4 multicast that it sends.
    ///
    /// # Errors
    /// Those of getsockopt(2).
    pub fn multicast_loop_v4(&self) -> io::Result<bool> {
        self.get().multicast_loop_v4()
    }

    /// Sets whether this socket receives the IPv6 multicast that it sends. Default: true.
    ///
    /// # Errors
    /// Those of setsockopt(2).
    pub fn set_multicast_loop_v6(&self, multicast_loop: bool) -> io::Result<()> {
        self.get().set_multicast_loop_v6(multicast_loop)
    }

    /// Whether this socket receives the IPv6 multicast that it sends.
    ///
    /// # Errors
    /// Those of getsockopt(2).
    pub fn multicast_loop_v6(&self) -> io::Result<bool> {
        self.get().multicast_loop_v6()
    }

    /// Sets the time to live of IPv4 multicast, in hops. Default: 1, which stays in the local network.
    ///
    /// # Errors
    /// Those of setsockopt(2).
    pub fn set_multicast_ttl_v4(&self, hops: u32) -> io::Result<()> {
        self.get().set_multicast_ttl_v4(hops)
    }

    /// The time to live of IPv4 multicast, in hops.
    ///
    /// # Errors
    /// Those of getsockopt(2).
    pub fn multicast_ttl_v4(&self) -> io::Result<u32> {
        self.get().multicast_ttl_v4()
    }
}

fn with_peer((length, peer): (usize, Option<SocketAddrAny>)) -> io::Result<(usize, SocketAddr)> {
    let peer = peer.ok_or_else(|| io::Error::other("the message says not whom it is from"))?;
    Ok((length, peer.try_into()?))
}
