//! The standard streams of the process: terminals, pipes or files, whatever they are.
//!
//! They are often shared with other processes, such as the shell that started this one, which would all be set to
//! non-blocking mode if this one set its own. So they are left as they are: a thread of its own reads [`stdin`], and
//! writing to [`stdout`] or [`stderr`] is a call that may block, whereupon the worker's other tasks move on.
//!
//! They use the buffers of [`std::io`], so that both may be used at once.
//!
//! ```
//! # thrum_rt::block_on(async {
//! thrum_rt::stdio::stdout().write_all(b"hello\n").await?;
//! # std::io::Result::Ok(())
//! # }).unwrap();
//! ```

use std::future::poll_fn;
use std::io::{self, Read, Write};
use std::os::fd::{AsFd, BorrowedFd};
use std::pin::Pin;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};

use futures_io::{AsyncRead, AsyncWrite};
use rustix::event::{PollFd, PollFlags, poll};

use crate::budget;
use crate::waiters::Waiters;
use crate::waiting::{self, Waiting};

/// The most that is read from standard input at once.
const CHUNK: usize = 8 * 1024;

/// The standard input.
///
/// Only when it is read does its thread read, up to 8 KiB that are then kept for this and further reads. At the end of the
/// process a read that is under way is left alone.
pub fn stdin() -> Stdin {
    Stdin(())
}

/// The standard output. As with `println!`, what follows the last line feed waits for a [`flush`](Stdout::flush).
pub fn stdout() -> Stdout {
    Stdout(())
}

/// The standard error. Nothing is held back.
pub fn stderr() -> Stderr {
    Stderr(())
}

/// A handle to the standard input, from [`stdin`]. All of them read the same bytes, each byte once.
#[derive(Debug)]
pub struct Stdin(());

/// A handle to the standard output, from [`stdout`].
#[derive(Debug)]
pub struct Stdout(());

/// A handle to the standard error, from [`stderr`].
#[derive(Debug)]
pub struct Stderr(());

impl Stdin {
    /// Reads some bytes, waiting until there are any. 0: the end; a terminal may go on after it.
    ///
    /// Dropping the future before it is done loses nothing: what its thread reads is kept for the next.
    ///
    /// # Errors
    /// Those of read(2); when no thread can be started.
    pub async fn read(&self, buffer: &mut [u8]) -> io::Result<usize> {
        poll_fn(|cx| poll_stdin(cx, buffer)).await
    }
}

/// What the readers and the thread share.
struct Input {
    thread: bool,
    state: State,
    readers: Waiters,
}

enum State {
    /// Nobody has asked since the last bytes were taken.
    Idle,
    /// The thread is to read, or does so.
    Asked,
    /// It has read these bytes, of which the first `taken` are taken.
    Came {
        bytes: Vec<u8>,
        taken: usize,
    },
    Failed(io::Error),
}

static INPUT: Mutex<Input> = Mutex::new(Input {
    thread: false,
    state: State::Idle,
    readers: Waiters::new(),
});
static ASKED: Condvar = Condvar::new();

fn input() -> MutexGuard<'static, Input> {
    INPUT.lock().unwrap_or_else(PoisonError::into_inner)
}

fn poll_stdin(cx: &mut Context<'_>, buffer: &mut [u8]) -> Poll<io::Result<usize>> {
    if buffer.is_empty() {
        return Poll::Ready(Ok(0));
    }
    if budget::exhausted(cx) {
        return Poll::Pending;
    }
    let mut input = input();
    if !input.thread {
        std::thread::Builder::new()
            .name("thrum-stdin".into())
            .spawn(serve)?;
        input.thread = true;
    }
    match std::mem::replace(&mut input.state, State::Idle) {
        State::Idle | State::Asked => {
            input.state = State::Asked;
            input.readers.add(cx.waker());
            ASKED.notify_one();
            waiting::note(Waiting::Thread);
            Poll::Pending
        }
        State::Came { bytes, taken } => {
            let left = &bytes[taken..];
            let read = left.len().min(buffer.len());
            buffer[..read].copy_from_slice(&left[..read]);
            if read < left.len() {
                let taken = taken + read;
                input.state = State::Came { bytes, taken };
            }
            budget::spend_bytes(read);
            Poll::Ready(Ok(read))
        }
        State::Failed(error) => Poll::Ready(Err(error)),
    }
}

/// The thread: reads when it is asked to, and hands over what it got.
fn serve() {
    let mut chunk = [0; CHUNK];
    loop {
        let mut asked = input();
        while !matches!(asked.state, State::Asked) {
            asked = ASKED.wait(asked).unwrap_or_else(PoisonError::into_inner);
        }
        drop(asked);
        let stdin = io::stdin();
        let read = insist(stdin.as_fd(), PollFlags::IN, || {
            stdin.lock().read(&mut chunk)
        });
        let mut input = input();
        input.state = match read {
            Ok(read) => State::Came {
                bytes: chunk[..read].to_vec(),
                taken: 0,
            },
            Err(error) => State::Failed(error),
        };
        let readers = input.readers.take();
        drop(input);
        readers.wake_all();
    }
}

/// Calls until the call does something other than block: another process may have set the descriptor that both share to
/// non-blocking mode.
fn insist<R>(
    fd: BorrowedFd<'_>,
    events: PollFlags,
    mut operation: impl FnMut() -> io::Result<R>,
) -> io::Result<R> {
    loop {
        match operation() {
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                match poll(&mut [PollFd::from_borrowed_fd(fd, events)], None) {
                    Ok(_) | Err(rustix::io::Errno::INTR) => {}
                    Err(error) => return Err(error.into()),
                }
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            result => return result,
        }
    }
}

impl AsyncRead for Stdin {
    fn poll_read(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut [u8],
    ) -> Poll<io::Result<usize>> {
        poll_stdin(cx, buffer)
    }
}

/// The two that are written to differ in nothing but their name.
macro_rules! writer {
    ($Writer:ident, $std:path) => {
        impl $Writer {
            /// Writes some of the bytes. Dropping the future before it is done writes nothing.
            ///
            /// # Errors
            /// Those of write(2); `BrokenPipe` if nobody reads.
            pub async fn write(&self, bytes: &[u8]) -> io::Result<usize> {
                poll_fn(|cx| Self::poll(cx, bytes)).await
            }

            /// Writes all of the bytes. Dropping the future before it is done leaves open how many were written.
            ///
            /// # Errors
            /// Those of [`write`](Self::write).
            pub async fn write_all(&self, mut bytes: &[u8]) -> io::Result<()> {
                while !bytes.is_empty() {
                    let written = self.write(bytes).await?;
                    if written == 0 {
                        return Err(io::ErrorKind::WriteZero.into());
                    }
                    bytes = &bytes[written..];
                }
                Ok(())
            }

            /// Writes what was held back. Dropping the future before it is done loses nothing.
            ///
            /// # Errors
            /// Those of [`write`](Self::write).
            pub async fn flush(&self) -> io::Result<()> {
                Self::flush_now()
            }

            fn poll(cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
                if budget::exhausted(cx) {
                    return Poll::Pending;
                }
                let stream = $std();
                let written = insist(stream.as_fd(), PollFlags::OUT, || {
                    stream.lock().write(bytes)
                })?;
                budget::spend_bytes(written);
                Poll::Ready(Ok(written))
            }

            fn flush_now() -> io::Result<()> {
                let stream = $std();
                insist(stream.as_fd(), PollFlags::OUT, || stream.lock().flush())
            }
        }

        impl AsyncWrite for $Writer {
            fn poll_write(
                self: Pin<&mut Self>,
                cx: &mut Context<'_>,
                bytes: &[u8],
            ) -> Poll<io::Result<usize>> {
                Self::poll(cx, bytes)
            }

            fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
                Poll::Ready(Self::flush_now())
            }

            fn poll_close(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
                self.poll_flush(cx)
            }
        }
    };
}

writer!(Stdout, io::stdout);
writer!(Stderr, io::stderr);
