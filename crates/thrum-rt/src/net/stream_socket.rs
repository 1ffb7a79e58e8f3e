//! What connected stream sockets have in common, whatever they run over: [`TcpStream`](super::TcpStream) and
//! [`UnixStream`](super::UnixStream) are this with methods of their own.

use std::fmt;
use std::io::{self, IoSlice, IoSliceMut};
use std::net::Shutdown;
use std::os::fd::{AsFd, BorrowedFd};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use futures_io::{AsyncRead, AsyncWrite};
use rustix::net::{RecvFlags, SendFlags};

use super::shutdown;
use super::split::{OwnedReadHalf, OwnedWriteHalf};
use crate::context;
use crate::io::{async_read_by_reference, async_write_by_reference};
use crate::reactor::{Direction, Reactor, Registered};

/// Buffers that the kernel takes in one call (IOV_MAX).
const MOST_BUFFERS: usize = 1024;

/// A connection that carries bytes both ways, in order. See [`TcpStream`](super::TcpStream) and
/// [`UnixStream`](super::UnixStream).
///
/// All methods take `&self`: one task may read while another writes. Dropping it closes the connection.
///
/// There are three ways to use it: [`read`](Self::read) and [`write_all`](Self::write_all) as plain sequential code; the
/// `futures-io` traits, for the ecosystem; and `poll_readable` with `try_read` and their like, for those who choose the
/// buffer only once there is something to put in it.
pub struct StreamSocket<T: AsFd> {
    pub(super) io: Registered<T>,
}

pub(super) mod sealed {
    /// The kinds of stream sockets.
    pub trait Stream: std::os::fd::AsFd {
        /// Bytes are all there is to receive. So a read that does not fill its buffer has emptied the kernel's, and the
        /// kernel may receive ahead.
        const BYTES_ONLY: bool;
    }

    impl Stream for std::net::TcpStream {
        const BYTES_ONLY: bool = true;
    }

    // A read ends where descriptors were sent along, and more bytes may follow.
    impl Stream for std::os::unix::net::UnixStream {
        const BYTES_ONLY: bool = false;
    }
}

impl<T: sealed::Stream> StreamSocket<T> {
    /// Takes over a connected socket.
    ///
    /// # Errors
    /// When the socket cannot be set to non-blocking mode or registered.
    ///
    /// # Panics
    /// Outside a runtime.
    pub fn from_std(socket: T) -> io::Result<Self> {
        rustix::io::ioctl_fionbio(&socket, true)?;
        Self::register(context::next_reactor(), socket)
    }

    /// Takes over a socket that is in non-blocking mode.
    pub(super) fn register(reactor: Arc<Reactor>, socket: T) -> io::Result<Self> {
        let register = match T::BYTES_ONLY {
            true => Registered::connected,
            false => Registered::new,
        };
        Ok(Self {
            io: register(reactor, socket)?,
        })
    }

    pub(crate) fn registered(&self) -> &Registered<T> {
        &self.io
    }

    /// Takes the socket out of the runtime; it stays in non-blocking mode.
    ///
    /// # Errors
    /// Those of epoll_ctl(2). With [`Io::IoUring`](crate::Io), when bytes were received ahead that nobody has read: read until
    /// `WouldBlock` first. The connection is closed then.
    pub fn into_std(self) -> io::Result<T> {
        self.io.into_inner()
    }

    /// Splits it into a half that reads and one that writes, each of which can move into a task of its own.
    ///
    /// There is no need to where a reference will do: all methods take `&self`.
    ///
    /// ```
    /// use thrum_rt::net::UnixStream;
    ///
    /// # thrum_rt::block_on(async {
    /// let (here, there) = UnixStream::pair()?;
    /// let (reader, writer) = there.into_split();
    /// let echo = thrum_rt::spawn(async move {
    ///     let mut buffer = [0; 64];
    ///     let read = reader.read(&mut buffer).await?;
    ///     writer.write_all(&buffer[..read]).await
    /// });
    /// here.write_all(b"hello").await?;
    /// let mut buffer = [0; 64];
    /// assert_eq!(here.read(&mut buffer).await?, 5);
    /// echo.await.unwrap()?;
    /// # std::io::Result::Ok(())
    /// # }).unwrap();
    /// ```
    pub fn into_split(self) -> (OwnedReadHalf<T>, OwnedWriteHalf<T>) {
        super::split::split(self)
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

    /// Reads some bytes into the buffers, one after the other, waiting until there are any. 0: the peer has sent its last.
    ///
    /// Dropping the future before it is done reads nothing.
    ///
    /// # Errors
    /// Those of readv(2).
    pub async fn read_vectored(&self, buffers: &mut [IoSliceMut<'_>]) -> io::Result<usize> {
        self.io
            .perform(Direction::Read, || self.try_read_vectored(buffers))
            .await
    }

    /// Reads some bytes and leaves them to be read again, waiting until there are any. 0: the peer has sent its last.
    ///
    /// Dropping the future before it is done changes nothing.
    ///
    /// # Errors
    /// Those of recv(2).
    pub async fn peek(&self, buffer: &mut [u8]) -> io::Result<usize> {
        self.io
            .perform(Direction::Read, || self.io.peek(buffer))
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

    /// Writes some bytes of the buffers, one after the other, waiting until there is room for any.
    ///
    /// Dropping the future before it is done writes nothing.
    ///
    /// # Errors
    /// Those of sendmsg(2).
    pub async fn write_vectored(&self, buffers: &[IoSlice<'_>]) -> io::Result<usize> {
        self.io
            .perform(Direction::Write, || self.try_write_vectored(buffers))
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

    /// Writes all bytes of the buffers, one after the other; the slices are used up in doing so.
    ///
    /// Dropping the future before it is done leaves open how many bytes were written.
    ///
    /// # Errors
    /// Those of sendmsg(2).
    pub async fn write_all_vectored(&self, mut buffers: &mut [IoSlice<'_>]) -> io::Result<()> {
        IoSlice::advance_slices(&mut buffers, 0); // empty ones in front would look like no progress
        while !buffers.is_empty() {
            let written = self.write_vectored(buffers).await?;
            IoSlice::advance_slices(&mut buffers, written);
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
        if T::BYTES_ONLY {
            return self.io.receive(buffer);
        }
        // A transfer is never shorter than nothing.
        self.io.attempt_bytes(Direction::Read, 0, |fd| {
            rustix::net::recv(fd, buffer, RecvFlags::empty()).map(|(read, _)| read)
        })
    }

    /// Reads what is there into the buffers, one after the other. 0: the peer has sent its last.
    ///
    /// # Errors
    /// `WouldBlock` if nothing is there; else those of readv(2).
    pub fn try_read_vectored(&self, buffers: &mut [IoSliceMut<'_>]) -> io::Result<usize> {
        let count = buffers.len().min(MOST_BUFFERS);
        let buffers = &mut buffers[..count];
        if T::BYTES_ONLY {
            return self.io.receive_vectored(buffers);
        }
        self.io
            .attempt_bytes(Direction::Read, 0, |fd| rustix::io::readv(fd, buffers))
    }

    /// Writes as much as there is room for.
    ///
    /// # Errors
    /// `WouldBlock` if there is no room; else those of send(2).
    pub fn try_write(&self, bytes: &[u8]) -> io::Result<usize> {
        self.send(bytes, SendFlags::NOSIGNAL)
    }

    /// As [`try_write`](Self::try_write), but the kernel may keep a last part segment back, as more follows at once: a head
    /// before its file. Only TCP knows the difference.
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
        let buffers = &buffers[..buffers.len().min(MOST_BUFFERS)];
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
        // A short transfer may be due to the file's end, and then no edge would tell that there is room: so none is short.
        self.io.attempt_bytes(Direction::Write, 0, |fd| {
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
        shutdown(self.io.get(), how)
    }

    /// The error that the connection has met and nobody was told of yet; it is told once.
    ///
    /// # Errors
    /// Those of getsockopt(2).
    pub fn take_error(&self) -> io::Result<Option<io::Error>> {
        let error = rustix::net::sockopt::socket_error(self.io.get())?;
        Ok(error.err().map(Into::into))
    }
}

impl<T: sealed::Stream> AsyncRead for &StreamSocket<T> {
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
            .poll_with(Direction::Read, cx, || self.try_read_vectored(buffers))
    }
}

impl<T: sealed::Stream> AsyncWrite for &StreamSocket<T> {
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
        Poll::Ready(match self.shutdown(Shutdown::Write) {
            // The peer has reset it: there is nothing left to close.
            Err(error) if error.kind() == io::ErrorKind::NotConnected => Ok(()),
            result => result,
        })
    }
}

async_read_by_reference! { impl<T: sealed::Stream> AsyncRead for StreamSocket<T> }

async_write_by_reference! { impl<T: sealed::Stream> AsyncWrite for StreamSocket<T> }

impl<T: AsFd> AsFd for StreamSocket<T> {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.io.get().as_fd()
    }
}

impl<T: AsFd + fmt::Debug> fmt::Debug for StreamSocket<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.io.fmt(f)
    }
}
