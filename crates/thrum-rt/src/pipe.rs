//! Pipes: bytes from one process, thread or task to another, through the kernel.
//!
//! [`pipe`] makes one without a name; [`PipeReader::open`] and [`PipeWriter::open`] open one that has a name in the file
//! system (a FIFO, see mkfifo(3)).
//!
//! A write of at most 4096 bytes (PIPE_BUF on Linux) is never mixed with those of other writers.
//!
//! ```
//! # thrum_rt::block_on(async {
//! let (reader, writer) = thrum_rt::pipe::pipe()?;
//! thrum_rt::spawn(async move { writer.write_all(b"hello").await });
//! let mut buffer = [0; 16];
//! let read = reader.read(&mut buffer).await?;
//! assert_eq!(&buffer[..read], b"hello");
//! # std::io::Result::Ok(())
//! # }).unwrap();
//! ```

use std::fmt;
use std::io::{self, IoSlice, IoSliceMut};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::Path;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use futures_io::{AsyncRead, AsyncWrite};
use rustix::fs::{FileType, Mode, OFlags};

use crate::context;
use crate::io::{async_read_by_reference, async_write_by_reference};
use crate::reactor::{Direction, Reactor, Registered};

/// Makes a pipe: what is written to one end is read from the other.
///
/// Child processes do not inherit either end.
///
/// # Errors
/// When no file descriptors are left.
///
/// # Panics
/// Outside a runtime.
pub fn pipe() -> io::Result<(PipeReader, PipeWriter)> {
    let (reader, writer) = io::pipe()?;
    let reactor = context::reactor();
    Ok((
        PipeReader::register(reactor.clone(), reader.into())?,
        PipeWriter::register(reactor, writer.into())?,
    ))
}

/// The end of a pipe that is read from.
///
/// All methods take `&self`. Dropping it closes this end; whoever writes then gets `BrokenPipe`.
pub struct PipeReader {
    io: Registered<OwnedFd>,
}

impl PipeReader {
    /// Opens a named pipe, without waiting for a writer. Reads wait for the first one.
    ///
    /// When the last writer has closed the pipe, reads give 0 until another one opens it.
    ///
    /// # Errors
    /// Those of open(2); `InvalidInput` if it is not a pipe.
    ///
    /// # Panics
    /// Outside a runtime.
    pub fn open(path: impl AsRef<Path>) -> io::Result<Self> {
        Self::from_fd(open(path.as_ref(), OFlags::RDONLY)?)
    }

    /// Takes over an end of a pipe, and sets it to non-blocking mode; so does it become for those who share it.
    ///
    /// # Errors
    /// `InvalidInput` if it is not a pipe, or not open for reading; when it cannot be registered.
    ///
    /// # Panics
    /// Outside a runtime.
    pub fn from_fd(fd: OwnedFd) -> io::Result<Self> {
        check(&fd, OFlags::RDONLY)?;
        Self::register(context::reactor(), fd)
    }

    pub(crate) fn register(reactor: Arc<Reactor>, fd: OwnedFd) -> io::Result<Self> {
        Ok(Self {
            io: register(reactor, fd)?,
        })
    }

    /// Takes the descriptor out of the runtime and sets it back to blocking mode, as a child process expects it.
    ///
    /// # Errors
    /// Those of epoll_ctl(2).
    pub fn into_fd(self) -> io::Result<OwnedFd> {
        into_blocking(self.io)
    }

    pub(crate) fn registered(&self) -> &Registered<OwnedFd> {
        &self.io
    }

    /// Reads some bytes, waiting until there are any. 0: the last writer is gone.
    ///
    /// Dropping the future before it is done reads nothing.
    ///
    /// # Errors
    /// Those of read(2).
    pub async fn read(&self, buffer: &mut [u8]) -> io::Result<usize> {
        self.io
            .perform(Direction::Read, || self.try_read(buffer))
            .await
    }

    /// Ready when reading would not block, as far as is known: try, and wait again on `WouldBlock`.
    ///
    /// Pending also when the task has done enough in this poll; it is woken again at once.
    pub fn poll_readable(&self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.io.poll_ready(Direction::Read, cx).map(Ok)
    }

    /// Reads what is there. 0: the last writer is gone.
    ///
    /// # Errors
    /// `WouldBlock` if nothing is there; else those of read(2).
    pub fn try_read(&self, buffer: &mut [u8]) -> io::Result<usize> {
        let wanted = buffer.len();
        self.io
            .attempt_bytes(Direction::Read, wanted, |fd| rustix::io::read(fd, buffer))
    }

    /// Reads what is there into the buffers, one after the other.
    ///
    /// # Errors
    /// Those of [`try_read`](Self::try_read).
    pub fn try_read_vectored(&self, buffers: &mut [IoSliceMut<'_>]) -> io::Result<usize> {
        let wanted = buffers.iter().map(|buffer| buffer.len()).sum();
        self.io
            .attempt_bytes(Direction::Read, wanted, |fd| rustix::io::readv(fd, buffers))
    }
}

/// The end of a pipe that is written to.
///
/// All methods take `&self`. Dropping it closes this end; when it was the last, the reader gets 0. The `close` of the
/// `futures-io` traits does not: whatever else holds the writer could still write.
pub struct PipeWriter {
    io: Registered<OwnedFd>,
}

impl PipeWriter {
    /// Opens a named pipe that somebody has open for reading.
    ///
    /// # Errors
    /// Those of open(2), ENXIO if nobody reads; `InvalidInput` if it is not a pipe.
    ///
    /// # Panics
    /// Outside a runtime.
    pub fn open(path: impl AsRef<Path>) -> io::Result<Self> {
        Self::from_fd(open(path.as_ref(), OFlags::WRONLY)?)
    }

    /// Takes over an end of a pipe, and sets it to non-blocking mode; so does it become for those who share it.
    ///
    /// # Errors
    /// `InvalidInput` if it is not a pipe, or not open for writing; when it cannot be registered.
    ///
    /// # Panics
    /// Outside a runtime.
    pub fn from_fd(fd: OwnedFd) -> io::Result<Self> {
        check(&fd, OFlags::WRONLY)?;
        Self::register(context::reactor(), fd)
    }

    pub(crate) fn register(reactor: Arc<Reactor>, fd: OwnedFd) -> io::Result<Self> {
        Ok(Self {
            io: register(reactor, fd)?,
        })
    }

    /// Takes the descriptor out of the runtime and sets it back to blocking mode, as a child process expects it.
    ///
    /// # Errors
    /// Those of epoll_ctl(2).
    pub fn into_fd(self) -> io::Result<OwnedFd> {
        into_blocking(self.io)
    }

    pub(crate) fn registered(&self) -> &Registered<OwnedFd> {
        &self.io
    }

    /// Writes some bytes, waiting until there is room for any.
    ///
    /// Dropping the future before it is done writes nothing.
    ///
    /// # Errors
    /// Those of write(2); `BrokenPipe` if nobody reads.
    pub async fn write(&self, bytes: &[u8]) -> io::Result<usize> {
        self.io
            .perform(Direction::Write, || self.try_write(bytes))
            .await
    }

    /// Writes all of the bytes. Dropping the future before it is done leaves open how many were written.
    ///
    /// # Errors
    /// Those of [`write`](Self::write).
    pub async fn write_all(&self, mut bytes: &[u8]) -> io::Result<()> {
        while !bytes.is_empty() {
            let written = self.write(bytes).await?;
            bytes = &bytes[written..];
        }
        Ok(())
    }

    /// Ready when writing would not block, as far as is known: try, and wait again on `WouldBlock`.
    ///
    /// Pending also when the task has done enough in this poll; it is woken again at once.
    pub fn poll_writable(&self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.io.poll_ready(Direction::Write, cx).map(Ok)
    }

    /// Writes as much as there is room for.
    ///
    /// # Errors
    /// `WouldBlock` if there is no room; else those of [`write`](Self::write).
    pub fn try_write(&self, bytes: &[u8]) -> io::Result<usize> {
        self.io.attempt_bytes(Direction::Write, bytes.len(), |fd| {
            rustix::io::write(fd, bytes)
        })
    }

    /// Writes as much of the buffers, one after the other, as there is room for.
    ///
    /// # Errors
    /// Those of [`try_write`](Self::try_write).
    pub fn try_write_vectored(&self, buffers: &[IoSlice<'_>]) -> io::Result<usize> {
        let wanted = buffers.iter().map(|buffer| buffer.len()).sum();
        self.io.attempt_bytes(Direction::Write, wanted, |fd| {
            rustix::io::writev(fd, buffers)
        })
    }
}

fn open(path: &Path, access: OFlags) -> io::Result<OwnedFd> {
    let flags = access | OFlags::NONBLOCK | OFlags::CLOEXEC;
    Ok(rustix::fs::open(path, flags, Mode::empty())?)
}

fn register(reactor: Arc<Reactor>, fd: OwnedFd) -> io::Result<Registered<OwnedFd>> {
    rustix::io::ioctl_fionbio(&fd, true)?;
    Registered::new(reactor, fd)
}

fn into_blocking(io: Registered<OwnedFd>) -> io::Result<OwnedFd> {
    let fd = io.into_inner()?;
    rustix::io::ioctl_fionbio(&fd, false)?;
    Ok(fd)
}

/// A descriptor of another kind could wait for an event that never comes.
fn check(fd: &OwnedFd, access: OFlags) -> io::Result<()> {
    let invalid = |message| Err(io::Error::new(io::ErrorKind::InvalidInput, message));
    if FileType::from_raw_mode(rustix::fs::fstat(fd)?.st_mode) != FileType::Fifo {
        return invalid("not a pipe");
    }
    let mode = rustix::fs::fcntl_getfl(fd)? & OFlags::RWMODE;
    if mode != access && mode != OFlags::RDWR {
        return invalid("the other end of a pipe");
    }
    Ok(())
}

impl AsyncRead for &PipeReader {
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

impl AsyncWrite for &PipeWriter {
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
        Poll::Ready(Ok(()))
    }
}

async_read_by_reference! { impl AsyncRead for PipeReader }

async_write_by_reference! { impl AsyncWrite for PipeWriter }

impl AsFd for PipeReader {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.io.get().as_fd()
    }
}

impl AsFd for PipeWriter {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.io.get().as_fd()
    }
}

impl fmt::Debug for PipeReader {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("PipeReader").field(self.io.get()).finish()
    }
}

impl fmt::Debug for PipeWriter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("PipeWriter").field(self.io.get()).finish()
    }
}
