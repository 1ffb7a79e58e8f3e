//! A TCP connection.

use std::fmt;
use std::io::{self, IoSlice, IoSliceMut};
use std::net::{Shutdown, SocketAddr, ToSocketAddrs};
use std::os::fd::{AsFd, BorrowedFd};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use futures_io::{AsyncRead, AsyncWrite};
use rustix::net::SendFlags;
use socket2::{Domain, Protocol, Socket, Type};

use super::tcp_listener::no_address;
use crate::context;
use crate::reactor::{Direction, Reactor, Registered};

/// A TCP connection.
///
/// All methods take `&self`: one task may read while another writes. It sends at once (TCP_NODELAY), unless told
/// otherwise. Dropping it closes the connection.
///
/// There are three ways to use it: [`read`](Self::read) and [`write_all`](Self::write_all) as plain sequential code; the
/// `futures-io` traits, for the ecosystem; and `poll_readable` with `try_read` and their like, for those who choose the
/// buffer only once there is something to put in it.
pub struct TcpStream {
    io: Registered<std::net::TcpStream>,
}

impl TcpStream {
    /// Connects to the first of the addresses that accepts. A host name is looked up by the system, which may block.
    ///
    /// # Errors
    /// The last address's error, when none accepts.
    ///
    /// # Panics
    /// Outside a runtime.
    pub async fn connect(address: impl ToSocketAddrs) -> io::Result<Self> {
        let mut failure = None;
        for address in address.to_socket_addrs()? {
            match Self::connect_to(address).await {
                Ok(stream) => return Ok(stream),
                Err(error) => failure = Some(error),
            }
        }
        Err(failure.unwrap_or_else(no_address))
    }

    async fn connect_to(address: SocketAddr) -> io::Result<Self> {
        let socket = Socket::new(
            Domain::for_address(address),
            Type::STREAM,
            Some(Protocol::TCP),
        )?;
        socket.set_nonblocking(true)?;
        socket.set_tcp_nodelay(true)?;
        let in_progress = rustix::io::Errno::INPROGRESS.raw_os_error();
        match socket.connect(&address.into()) {
            Ok(()) => {}
            Err(error) if error.raw_os_error() == Some(in_progress) => {}
            Err(error) => return Err(error),
        }
        // Registered only now: a socket that has not begun to connect would be told to be closed.
        let io = Registered::connecting(context::reactor(), socket.into())?;
        let stream = Self { io };
        std::future::poll_fn(|cx| stream.poll_writable(cx)).await?;
        match stream.io.get().take_error()? {
            Some(error) => Err(error),
            None => {
                stream.io.has_connected();
                Ok(stream)
            }
        }
    }

    /// Takes over a connected socket.
    ///
    /// # Errors
    /// When the socket cannot be set to non-blocking mode or registered.
    ///
    /// # Panics
    /// Outside a runtime.
    pub fn from_std(socket: std::net::TcpStream) -> io::Result<Self> {
        socket.set_nonblocking(true)?;
        Self::register(context::next_reactor(), socket)
    }

    pub(super) fn register(reactor: Arc<Reactor>, socket: std::net::TcpStream) -> io::Result<Self> {
        Ok(Self {
            io: Registered::connected(reactor, socket)?,
        })
    }

    /// Takes the socket out of the runtime; it stays in non-blocking mode.
    ///
    /// # Errors
    /// Those of epoll_ctl(2). With [`Io::IoUring`](crate::Io), when bytes were received ahead that nobody has read: read until
    /// `WouldBlock` first. The connection is closed then.
    pub fn into_std(self) -> io::Result<std::net::TcpStream> {
        self.io.into_inner()
    }

    /// Reads some bytes, waiting until there are any. 0: the peer has sent its last.
    ///
    /// Dropping the future before it is done reads nothing.
    ///
    /// # Errors
    /// Those of recv(2).
    pub async fn read(&self, buffer: &mut [u8]) -> io::Result<usize> {
        self.io
            .perform(Direction::Read, || self.try_read(buffer))
            .await
    }

    /// Writes some bytes, waiting until there is room for any.
    ///
    /// Dropping the future before it is done writes nothing.
    ///
    /// # Errors
    /// Those of send(2).
    pub async fn write(&self, bytes: &[u8]) -> io::Result<usize> {
        self.io
            .perform(Direction::Write, || self.try_write(bytes))
            .await
    }

    /// Writes all of the bytes. Dropping the future before it is done leaves open how many were written.
    ///
    /// # Errors
    /// Those of send(2); `WriteZero` does not occur.
    pub async fn write_all(&self, mut bytes: &[u8]) -> io::Result<()> {
        while !bytes.is_empty() {
            let written = self.write(bytes).await?;
            bytes = &bytes[written..];
        }
        Ok(())
    }

    /// Ready when reading would not block, as far as is known: try, and wait again on `WouldBlock`.
    ///
    /// Pending also when the task has done enough in this poll; it is woken again at once.
    pub fn poll_readable(&self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.io.poll_ready(Direction::Read, cx).map(Ok)
    }

    /// Ready when writing would not block, as far as is known: try, and wait again on `WouldBlock`.
    ///
    /// Pending also when the task has done enough in this poll; it is woken again at once.
    pub fn poll_writable(&self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.io.poll_ready(Direction::Write, cx).map(Ok)
    }

    /// Reads what is there. 0: the peer has sent its last.
    ///
    /// # Errors
    /// `WouldBlock` if nothing is there; else those of recv(2).
    pub fn try_read(&self, buffer: &mut [u8]) -> io::Result<usize> {
        self.io.receive(buffer)
    }

    /// Writes as much as there is room for.
    ///
    /// # Errors
    /// `WouldBlock` if there is no room; else those of send(2).
    pub fn try_write(&self, bytes: &[u8]) -> io::Result<usize> {
        self.send(bytes, SendFlags::NOSIGNAL)
    }

    /// As [`try_write`](Self::try_write), but the kernel may keep a last part segment back, as more follows at once: a head
    /// before its file.
    ///
    /// # Errors
    /// Those of [`try_write`](Self::try_write).
    pub fn try_write_more(&self, bytes: &[u8]) -> io::Result<usize> {
        self.send(bytes, SendFlags::NOSIGNAL | SendFlags::MORE)
    }

    fn send(&self, bytes: &[u8], flags: SendFlags) -> io::Result<usize> {
        self.io.attempt_bytes(Direction::Write, bytes.len(), |fd| {
            rustix::net::send(fd, bytes, flags)
        })
    }

    /// Writes as much of the buffers, one after the other, as there is room for.
    ///
    /// # Errors
    /// Those of [`try_write`](Self::try_write).
    pub fn try_write_vectored(&self, buffers: &[IoSlice<'_>]) -> io::Result<usize> {
        let wanted = buffers.iter().map(|buffer| buffer.len()).sum();
        self.io.attempt_bytes(Direction::Write, wanted, |fd| {
            let mut control = rustix::net::SendAncillaryBuffer::default();
            rustix::net::sendmsg(fd, buffers, &mut control, SendFlags::NOSIGNAL)
        })
    }

    /// Sends part of a file, without it passing through this process: up to `length` bytes from `offset`. 0: the file ends
    /// before `offset`.
    ///
    /// Reading the file may block on its disk; the worker's other tasks move on meanwhile.
    ///
    /// # Errors
    /// `WouldBlock` if there is no room; else those of sendfile(2).
    pub fn try_sendfile(&self, file: impl AsFd, offset: u64, length: usize) -> io::Result<usize> {
        let mut offset = offset;
        self.io.attempt_bytes(Direction::Write, length, |fd| {
            rustix::fs::sendfile(fd, &file, Some(&mut offset), length)
        })
    }

    /// Wakes whoever waits to read, though there is nothing to read: for another reason to look up, such as the end of the
    /// server.
    pub fn wake_reader(&self) {
        self.io.wake(Direction::Read);
    }

    /// Ends one or both directions.
    ///
    /// # Errors
    /// Those of shutdown(2); `NotConnected` if the peer has reset the connection.
    pub fn shutdown(&self, how: Shutdown) -> io::Result<()> {
        self.io.get().shutdown(how)
    }

    /// Sets whether small writes are sent at once, without waiting for what the peer has not acknowledged. Default: true.
    ///
    /// # Errors
    /// Those of setsockopt(2).
    pub fn set_nodelay(&self, nodelay: bool) -> io::Result<()> {
        self.io.get().set_nodelay(nodelay)
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
}

impl AsyncRead for &TcpStream {
    fn poll_read(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut [u8],
    ) -> Poll<io::Result<usize>> {
        self.io
            .poll_with(Direction::Read, cx, || self.try_read(buffer))
    }

    fn poll_read_vectored(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffers: &mut [IoSliceMut<'_>],
    ) -> Poll<io::Result<usize>> {
        self.io
            .poll_with(Direction::Read, cx, || self.io.receive_vectored(buffers))
    }
}

impl AsyncWrite for &TcpStream {
    fn poll_write(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        self.io
            .poll_with(Direction::Write, cx, || self.try_write(bytes))
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffers: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        self.io
            .poll_with(Direction::Write, cx, || self.try_write_vectored(buffers))
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_close(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(self.shutdown(Shutdown::Write))
    }
}

impl AsyncRead for TcpStream {
    fn poll_read(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut [u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut &*self).poll_read(cx, buffer)
    }

    fn poll_read_vectored(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffers: &mut [IoSliceMut<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut &*self).poll_read_vectored(cx, buffers)
    }
}

impl AsyncWrite for TcpStream {
    fn poll_write(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut &*self).poll_write(cx, bytes)
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffers: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut &*self).poll_write_vectored(cx, buffers)
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut &*self).poll_flush(cx)
    }

    fn poll_close(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut &*self).poll_close(cx)
    }
}

/// Read through the stream's own methods, not through the descriptor: with [`Io::IoUring`](crate::Io) bytes are received
/// ahead, and a reader of the descriptor would miss them.
impl AsFd for TcpStream {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.io.get().as_fd()
    }
}

impl fmt::Debug for TcpStream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.io.fmt(f)
    }
}
