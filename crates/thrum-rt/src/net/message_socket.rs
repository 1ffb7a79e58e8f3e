//! What sockets that carry messages have in common: [`UdpSocket`](super::UdpSocket), [`UnixDatagram`](super::UnixDatagram)
//! and [`UnixSeqpacket`](super::UnixSeqpacket) are this with methods of their own.

use std::fmt;
use std::future::poll_fn;
use std::io;
use std::net::Shutdown;
use std::os::fd::{AsFd, BorrowedFd};
use std::task::{Context, Poll};

use rustix::net::{RecvFlags, SendFlags, SocketAddrAny};

use super::shutdown;
use crate::context;
use crate::reactor::{Direction, Registered};

/// A socket that carries messages, each whole or not at all. See [`UdpSocket`](super::UdpSocket),
/// [`UnixDatagram`](super::UnixDatagram) and [`UnixSeqpacket`](super::UnixSeqpacket).
///
/// All methods take `&self`: one task may receive while another sends. A message that is longer than the buffer it is
/// received into loses the rest.
pub struct MessageSocket<T: AsFd> {
    io: Registered<T>,
}

pub(super) mod sealed {
    /// The kinds of message sockets.
    pub trait Message: std::os::fd::AsFd {}

    impl Message for std::net::UdpSocket {}
    impl Message for std::os::unix::net::UnixDatagram {}
    // A sequenced packet socket; std has no type for it.
    impl Message for std::os::fd::OwnedFd {}
}

impl<T: sealed::Message> MessageSocket<T> {
    /// Takes over a socket.
    ///
    /// # Errors
    /// When the socket cannot be set to non-blocking mode or registered.
    ///
    /// # Panics
    /// Outside a runtime.
    pub fn from_std(socket: T) -> io::Result<Self> {
        rustix::io::ioctl_fionbio(&socket, true)?;
        Ok(Self {
            io: Registered::new(context::next_reactor(), socket)?,
        })
    }

    /// Takes the socket out of the runtime; it stays in non-blocking mode.
    ///
    /// # Errors
    /// Those of epoll_ctl(2).
    pub fn into_std(self) -> io::Result<T> {
        self.io.into_inner()
    }

    pub(super) fn get(&self) -> &T {
        self.io.get()
    }

    /// Sends a message to the peer it is connected to, waiting until there is room for it. Gives the message's length.
    ///
    /// Dropping the future before it is done sends nothing.
    ///
    /// # Errors
    /// Those of send(2): `NotConnected`, `ConnectionRefused` from an earlier message, EMSGSIZE for one that is too long.
    pub async fn send(&self, message: &[u8]) -> io::Result<usize> {
        poll_fn(|cx| self.poll_send(cx, message)).await
    }

    /// Receives a message, waiting until there is one. Gives its length, or the buffer's if that is shorter.
    ///
    /// Dropping the future before it is done receives nothing.
    ///
    /// # Errors
    /// Those of recv(2).
    pub async fn recv(&self, buffer: &mut [u8]) -> io::Result<usize> {
        poll_fn(|cx| self.poll_recv(cx, buffer)).await
    }

    /// Receives a message and leaves it to be received again, waiting until there is one.
    ///
    /// Dropping the future before it is done changes nothing.
    ///
    /// # Errors
    /// Those of recv(2).
    pub async fn peek(&self, buffer: &mut [u8]) -> io::Result<usize> {
        self.io
            .perform(Direction::Read, || self.receive(buffer, RecvFlags::PEEK))
            .await
    }

    /// The poll form of [`send`](Self::send). `Pending` has sent nothing.
    ///
    /// # Errors
    /// Those of [`send`](Self::send).
    pub fn poll_send(&self, cx: &mut Context<'_>, message: &[u8]) -> Poll<io::Result<usize>> {
        self.io
            .poll_with(Direction::Write, cx, || self.try_send(message))
    }

    /// The poll form of [`recv`](Self::recv). `Pending` has received nothing.
    ///
    /// # Errors
    /// Those of [`recv`](Self::recv).
    pub fn poll_recv(&self, cx: &mut Context<'_>, buffer: &mut [u8]) -> Poll<io::Result<usize>> {
        self.io
            .poll_with(Direction::Read, cx, || self.try_recv(buffer))
    }

    /// Ready when receiving would not block, as far as is known: try, and wait again on `WouldBlock`.
    ///
    /// Pending also when the task has done enough in this poll; it is woken again at once.
    pub fn poll_readable(&self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.io.poll_ready(Direction::Read, cx).map(Ok)
    }

    /// Ready when sending would not block, as far as is known: try, and wait again on `WouldBlock`.
    ///
    /// Pending also when the task has done enough in this poll; it is woken again at once.
    pub fn poll_writable(&self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.io.poll_ready(Direction::Write, cx).map(Ok)
    }

    /// Sends a message to the peer it is connected to.
    ///
    /// # Errors
    /// `WouldBlock` if there is no room; else those of [`send`](Self::send).
    pub fn try_send(&self, message: &[u8]) -> io::Result<usize> {
        self.attempt(Direction::Write, |fd| {
            rustix::net::send(fd, message, SendFlags::NOSIGNAL)
        })
    }

    /// Receives a message that is there.
    ///
    /// # Errors
    /// `WouldBlock` if there is none; else those of [`recv`](Self::recv).
    pub fn try_recv(&self, buffer: &mut [u8]) -> io::Result<usize> {
        self.receive(buffer, RecvFlags::empty())
    }

    fn receive(&self, buffer: &mut [u8], flags: RecvFlags) -> io::Result<usize> {
        self.attempt(Direction::Read, |fd| {
            rustix::net::recv(fd, buffer, flags).map(|(read, _)| read)
        })
    }

    pub(super) fn receive_from(
        &self,
        buffer: &mut [u8],
        flags: RecvFlags,
    ) -> io::Result<(usize, Option<SocketAddrAny>)> {
        self.attempt(Direction::Read, |fd| {
            rustix::net::recvfrom(fd, buffer, flags).map(|(read, _, from)| (read, from))
        })
    }

    /// Tries an operation. A message is all that it transfers, so none is short.
    pub(super) fn attempt<R>(
        &self,
        direction: Direction,
        operation: impl FnOnce(BorrowedFd<'_>) -> rustix::io::Result<R>,
    ) -> io::Result<R> {
        self.io.attempt(direction, |fd| Ok(operation(fd)?))
    }

    pub(super) fn poll_with<R>(
        &self,
        direction: Direction,
        cx: &mut Context<'_>,
        operation: impl FnMut() -> io::Result<R>,
    ) -> Poll<io::Result<R>> {
        self.io.poll_with(direction, cx, operation)
    }

    /// Ends one or both directions.
    ///
    /// # Errors
    /// Those of shutdown(2); `NotConnected` if it is not connected.
    pub fn shutdown(&self, how: Shutdown) -> io::Result<()> {
        shutdown(self.io.get(), how)
    }

    /// The error that an earlier message has met and nobody was told of yet; it is told once.
    ///
    /// # Errors
    /// Those of getsockopt(2).
    pub fn take_error(&self) -> io::Result<Option<io::Error>> {
        let error = rustix::net::sockopt::socket_error(self.io.get())?;
        Ok(error.err().map(Into::into))
    }
}

impl<T: AsFd> AsFd for MessageSocket<T> {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.io.get().as_fd()
    }
}

impl<T: AsFd + fmt::Debug> fmt::Debug for MessageSocket<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.io.fmt(f)
    }
}
