//! Moving bytes inside the kernel, without them passing through this process. Linux has it.

use std::future::poll_fn;
use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::task::{Context, Poll, ready};

use rustix::pipe::SpliceFlags;

use crate::budget;
use crate::net::TcpStream;
use crate::pipe::{PipeReader, PipeWriter};
use crate::reactor::{Direction, Registered};

/// As much as a pipe holds by default.
const CHUNK: usize = 64 * 1024;

/// Sends part of a file: `length` bytes from `offset`, or fewer if it ends before that. Returns how many.
///
/// Reading the file may block on its disk; the worker's other tasks move on meanwhile.
///
/// Dropping the future before it is done leaves open how many were sent.
///
/// # Errors
/// Those of sendfile(2): EINVAL for a file that cannot be mapped, such as a socket.
pub async fn sendfile(
    file: impl AsFd,
    offset: u64,
    length: u64,
    to: &TcpStream,
) -> io::Result<u64> {
    let mut position = offset;
    let end = offset.saturating_add(length);
    while position < end {
        let wanted = usize::try_from(end - position).unwrap_or(usize::MAX);
        // A short transfer may also be the end of the file, so it does not say that the socket is full.
        let sent = to
            .registered()
            .perform(Direction::Write, || {
                attempt(to.registered(), Direction::Write, |fd| {
                    rustix::fs::sendfile(fd, &file, Some(&mut position), wanted)
                })
            })
            .await?;
        if sent == 0 {
            break;
        }
    }
    Ok(position - offset)
}

/// Moves all that comes from one socket or pipe to another, until the first has ended. Returns the number of bytes.
///
/// The second is not closed. As [`copy`](super::copy), but the bytes stay in the kernel, in a pipe between the two: worth it
/// for much data, not for short messages.
///
/// Dropping the future before it is done loses up to 64 KiB that were taken from the first and not yet given to the second.
///
/// # Errors
/// Those of splice(2); when no file descriptors are left.
pub async fn splice(from: &impl SpliceFrom, to: &impl SpliceTo) -> io::Result<u64> {
    let (reader, writer) = io::pipe()?;
    let (mut moved, mut held) = (0, 0);
    poll_fn(|cx| {
        loop {
            if held == 0 {
                ready!(from.poll_readable(cx))?;
                match from.try_splice_into(writer.as_fd()) {
                    Ok(0) => return Poll::Ready(Ok(moved)),
                    Ok(more) => held = more,
                    Err(error) if again(&error) => {}
                    Err(error) => return Poll::Ready(Err(error)),
                }
            } else {
                ready!(to.poll_writable(cx))?;
                match to.try_splice_out_of(reader.as_fd(), held) {
                    Ok(0) => return Poll::Ready(Err(io::ErrorKind::WriteZero.into())),
                    Ok(written) => {
                        held -= written;
                        moved += written as u64;
                    }
                    Err(error) if again(&error) => {}
                    Err(error) => return Poll::Ready(Err(error)),
                }
            }
        }
    })
    .await
}

fn again(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted
    )
}

/// What [`splice`] takes bytes from.
pub trait SpliceFrom {
    /// Ready when taking would not block, as far as is known.
    fn poll_readable(&self, cx: &mut Context<'_>) -> Poll<io::Result<()>>;

    /// Moves bytes that are there into an empty pipe. 0: there will be no more.
    ///
    /// # Errors
    /// `WouldBlock` if nothing is there; else those of splice(2).
    fn try_splice_into(&self, pipe: BorrowedFd<'_>) -> io::Result<usize>;
}

/// What [`splice`] gives bytes to.
pub trait SpliceTo {
    /// Ready when giving would not block, as far as is known.
    fn poll_writable(&self, cx: &mut Context<'_>) -> Poll<io::Result<()>>;

    /// Moves some of the `held` bytes out of a pipe.
    ///
    /// # Errors
    /// `WouldBlock` if there is no room; else those of splice(2).
    fn try_splice_out_of(&self, pipe: BorrowedFd<'_>, held: usize) -> io::Result<usize>;
}

fn take_in<T: AsFd>(io: &Registered<T>, pipe: BorrowedFd<'_>) -> io::Result<usize> {
    if let Some(moved) = io.move_ahead(pipe) {
        return moved;
    }
    attempt(io, Direction::Read, |fd| {
        rustix::pipe::splice(fd, None, pipe, None, CHUNK, SpliceFlags::NONBLOCK)
    })
}

fn give_out<T: AsFd>(io: &Registered<T>, pipe: BorrowedFd<'_>, held: usize) -> io::Result<usize> {
    attempt(io, Direction::Write, |fd| {
        rustix::pipe::splice(pipe, None, fd, None, held, SpliceFlags::NONBLOCK)
    })
}

/// Unlike `attempt_bytes` it takes no short transfer for the last: a pipe is also full when it has no page left, and a file may
/// have ended.
fn attempt<T: AsFd>(
    io: &Registered<T>,
    direction: Direction,
    operation: impl FnOnce(BorrowedFd<'_>) -> rustix::io::Result<usize>,
) -> io::Result<usize> {
    let moved = io.attempt(direction, |fd| Ok(operation(fd)?))?;
    budget::spend_bytes(moved);
    Ok(moved)
}

impl SpliceFrom for TcpStream {
    fn poll_readable(&self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.poll_readable(cx)
    }

    fn try_splice_into(&self, pipe: BorrowedFd<'_>) -> io::Result<usize> {
        take_in(self.registered(), pipe)
    }
}

impl SpliceTo for TcpStream {
    fn poll_writable(&self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.poll_writable(cx)
    }

    fn try_splice_out_of(&self, pipe: BorrowedFd<'_>, held: usize) -> io::Result<usize> {
        give_out(self.registered(), pipe, held)
    }
}

impl SpliceFrom for PipeReader {
    fn poll_readable(&self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.poll_readable(cx)
    }

    fn try_splice_into(&self, pipe: BorrowedFd<'_>) -> io::Result<usize> {
        take_in(self.registered(), pipe)
    }
}

impl SpliceTo for PipeWriter {
    fn poll_writable(&self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.poll_writable(cx)
    }

    fn try_splice_out_of(&self, pipe: BorrowedFd<'_>, held: usize) -> io::Result<usize> {
        give_out(self.registered(), pipe, held)
    }
}
