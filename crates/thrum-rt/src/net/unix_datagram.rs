//! Messages between processes of one machine, without a connection.

use std::future::poll_fn;
use std::io;
use std::os::unix::net::SocketAddr;
use std::task::{Context, Poll};
use std::time::Duration;

use rustix::net::{RecvFlags, SendFlags, SocketType};

use super::unix::{self, ToUnixAddr};
use super::{MessageSocket, PeerCred};
use crate::reactor::Direction;
use crate::time::timeout;

/// A Unix socket for messages without a connection. Unlike UDP none is lost: sending waits until the receiver has room.
///
/// Sending and receiving with the peer it is [connected](Self::connect) to is what every [`MessageSocket`] can do.
///
/// ```
/// use thrum_rt::net::UnixDatagram;
///
/// # thrum_rt::block_on(async {
/// let folder = tempfile::tempdir()?;
/// let path = folder.path().join("socket");
/// let receiver = UnixDatagram::bind(&path)?;
/// UnixDatagram::unbound()?.send_to(b"hello", &path).await?;
/// let mut buffer = [0; 64];
/// let (length, sender) = receiver.recv_from(&mut buffer).await?;
/// assert_eq!(&buffer[..length], b"hello");
/// assert!(sender.is_unnamed());
/// # std::io::Result::Ok(())
/// # }).unwrap();
/// ```
pub type UnixDatagram = MessageSocket<std::os::unix::net::UnixDatagram>;

impl MessageSocket<std::os::unix::net::UnixDatagram> {
    /// Binds an address. A path must not exist yet; the file that is made for it stays when the socket is dropped.
    ///
    /// # Errors
    /// Those of bind(2): `AddrInUse` if the path exists, `NotFound` if its folder does not, `PermissionDenied`.
    ///
    /// # Panics
    /// Outside a runtime.
    pub fn bind(address: impl ToUnixAddr) -> io::Result<Self> {
        let socket = unix::socket(SocketType::DGRAM)?;
        rustix::net::bind(&socket, &address.address()?)?;
        Self::from_std(socket.into())
    }

    /// A socket without an address, which can send but not be answered.
    ///
    /// # Errors
    /// Those of socket(2): out of descriptors.
    ///
    /// # Panics
    /// Outside a runtime.
    pub fn unbound() -> io::Result<Self> {
        Self::from_std(unix::socket(SocketType::DGRAM)?.into())
    }

    /// Two sockets that are connected to each other.
    ///
    /// # Errors
    /// Those of socketpair(2): out of descriptors.
    ///
    /// # Panics
    /// Outside a runtime.
    pub fn pair() -> io::Result<(Self, Self)> {
        let (one, other) = unix::pair(SocketType::DGRAM)?;
        Ok((Self::from_std(one.into())?, Self::from_std(other.into())?))
    }

    /// Makes an address its peer: `send` sends there, and messages from anyone else are not received.
    ///
    /// # Errors
    /// Those of connect(2): `NotFound`, `ConnectionRefused` if nobody has bound it.
    pub fn connect(&self, address: impl ToUnixAddr) -> io::Result<()> {
        Ok(rustix::net::connect(self, &address.address()?)?)
    }

    /// Sends a message to an address, waiting until there is room for it. Gives the message's length.
    ///
    /// Dropping the future before it is done sends nothing.
    ///
    /// # Errors
    /// Those of sendto(2): `NotFound`, `ConnectionRefused` if nobody has bound it, EMSGSIZE for a message that is too long.
    ///
    /// # Panics
    /// Outside a runtime.
    pub async fn send_to(&self, message: &[u8], address: impl ToUnixAddr) -> io::Result<usize> {
        let mut pause = Duration::from_millis(1);
        loop {
            // The kernel tells when this socket has room, not when a receiver has that it is not connected to: so in the end
            // it is tried anyway.
            let _ = timeout(pause, poll_fn(|cx| self.poll_writable(cx))).await;
            match self.try_send_to(message, &address) {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                result => return result,
            }
            pause = (pause * 2).min(Duration::from_millis(50));
        }
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
                self.receive_with_addr(buffer, RecvFlags::PEEK)
            })
        })
        .await
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
    /// `WouldBlock` if there is no room, here or at the receiver; else those of sendto(2).
    pub fn try_send_to(&self, message: &[u8], address: impl ToUnixAddr) -> io::Result<usize> {
        let address = address.address()?;
        self.attempt(Direction::Write, |fd| {
            rustix::net::sendto(fd, message, SendFlags::NOSIGNAL, &address)
        })
    }

    /// Receives a message that is there, and whom it is from.
    ///
    /// # Errors
    /// `WouldBlock` if there is none; else those of recvfrom(2).
    pub fn try_recv_from(&self, buffer: &mut [u8]) -> io::Result<(usize, SocketAddr)> {
        self.receive_with_addr(buffer, RecvFlags::empty())
    }

    fn receive_with_addr(
        &self,
        buffer: &mut [u8],
        flags: RecvFlags,
    ) -> io::Result<(usize, SocketAddr)> {
        let (length, from) = self.receive_from(buffer, flags)?;
        Ok((length, unix::std_addr(from)?))
    }

    /// Who made the pair that it is of.
    ///
    /// # Errors
    /// Those of getsockopt(2).
    pub fn peer_cred(&self) -> io::Result<PeerCred> {
        PeerCred::of(self)
    }

    /// The address it is connected to.
    ///
    /// # Errors
    /// Those of getpeername(2); `NotConnected`.
    pub fn peer_addr(&self) -> io::Result<SocketAddr> {
        unix::peer_addr(self)
    }

    /// The address of this end.
    ///
    /// # Errors
    /// Those of getsockname(2).
    pub fn local_addr(&self) -> io::Result<SocketAddr> {
        unix::local_addr(self)
    }
}
