//! A child process at the end of a pipeline. What it says on its standard error is read beside everything else, so that it
//! never waits for a reader of that; the first of it is kept for the error.

use std::borrow::Cow;
use std::future::{Future, pending, poll_fn};
use std::io;
use std::process::{ExitStatus, Stdio};
use std::task::{Context, Poll, ready};

use futures_lite::future::or;
use thrum_rt::pipe::PipeReader;
use thrum_rt::process::{Child, Command};

use crate::{Cause, Error, Result};

/// How much of its standard error is kept.
const STDERR: usize = 4 * 1024;

/// A child process at the end of a pipeline has failed. In [`Cause::Other`]; it can be told by a downcast:
///
/// ```
/// use thrum_rt::process::Command;
/// use thrum_stream::{Cause, ProcessFailed, Source, sink, source};
///
/// # thrum_rt::block_on(async {
/// let mut command = Command::new("grep");
/// command.args(["root", "/dev/null"]);
/// let error = source::process(command).run(sink::count()).await.unwrap_err();
/// let Cause::Other(cause) = error.cause() else { unreachable!() };
/// let failed = cause.downcast_ref::<ProcessFailed>().unwrap();
/// assert_eq!(failed.status().code(), Some(1)); // nothing found
/// # });
/// ```
#[derive(Debug, thiserror::Error)]
#[error("{program}: {status}{}{stderr}", if stderr.is_empty() { "" } else { ": " })]
pub struct ProcessFailed {
    program: String,
    status: ExitStatus,
    stderr: String,
}

impl ProcessFailed {
    /// How it ended.
    pub fn status(&self) -> ExitStatus {
        self.status
    }

    /// The first 4 KiB of what it wrote to its standard error, without white space at the ends.
    pub fn stderr(&self) -> &str {
        &self.stderr
    }
}

/// A process that runs. Dropping it kills it; the runtime reaps it.
#[derive(Debug)]
pub(crate) struct Running {
    pub(crate) child: Child,
    program: String,
    output: Kept,
    stderr: Kept,
}

impl Running {
    /// Starts the process, with pipes where `command` was told so and for its standard error.
    pub(crate) fn spawn(command: &mut Command) -> Result<Self> {
        let program = command.program().to_string_lossy().into_owned();
        let spawned = command.stderr(Stdio::piped()).kill_on_drop(true).spawn();
        let mut child = spawned.map_err(|error| Error::about("process", &program, error))?;
        Ok(Running {
            stderr: Kept::new(child.stderr.take(), STDERR),
            output: Kept::new(None, 0),
            child,
            program,
        })
    }

    /// Has the first `limit` bytes of its standard output kept.
    pub(crate) fn keep_output(&mut self, limit: usize) {
        self.output = Kept::new(self.child.stdout.take(), limit);
    }

    /// An error if its standard output is longer than what is kept of it.
    pub(crate) fn check_output(&self) -> Result<()> {
        if self.output.more {
            return Err(Error::too_long("process", self.output.limit));
        }
        Ok(())
    }

    /// Does `work`, which waits for the process, while what it writes is read.
    pub(crate) async fn with<T>(&mut self, work: impl Future<Output = T>) -> T {
        or(work, drain(&mut self.output, &mut self.stderr)).await
    }

    /// Waits for its end, which is to be a success. Gives what was kept of its standard output.
    ///
    /// Not for the end of its outputs: a process that it has left behind may have those.
    pub(crate) async fn finish(mut self) -> Result<Vec<u8>> {
        let drain = drain(&mut self.output, &mut self.stderr);
        let ended = or(self.child.wait(), drain).await;
        self.output.read_rest();
        self.stderr.read_rest();
        match ended {
            Ok(status) if status.success() => {
                self.check_output()?;
                Ok(self.output.bytes)
            }
            Ok(status) => {
                let failed = ProcessFailed {
                    program: self.program,
                    status,
                    stderr: self.stderr.text().trim().to_owned(),
                };
                Err(Error::new("process", Cause::Other(failed.into())))
            }
            Err(error) => Err(Error::about("process", self.program, error)),
        }
    }

    /// Kills it and waits until it is gone.
    pub(crate) async fn kill(mut self) -> Result<()> {
        let killed = match self.child.kill() {
            Ok(()) => self.child.wait().await,
            Err(error) => Err(error),
        };
        killed.map_err(|error| Error::about("process", self.program, error))?;
        Ok(())
    }
}

/// Reads both for as long as it is polled.
async fn drain<T>(output: &mut Kept, stderr: &mut Kept) -> T {
    poll_fn(|cx| {
        let (output, stderr) = (output.poll_end(cx), stderr.poll_end(cx));
        if output.is_ready() && stderr.is_ready() {
            Poll::Ready(())
        } else {
            Poll::Pending
        }
    })
    .await;
    pending().await
}

/// What a process writes: the first bytes are kept, the others read and forgotten.
#[derive(Debug)]
struct Kept {
    /// None at the end.
    pipe: Option<PipeReader>,
    bytes: Vec<u8>,
    limit: usize,
    more: bool,
}

impl Kept {
    fn new(pipe: Option<PipeReader>, limit: usize) -> Self {
        Kept {
            pipe,
            bytes: Vec::new(),
            limit,
            more: false,
        }
    }

    fn poll_end(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        while let Some(pipe) = &self.pipe {
            // What cannot be read is at its end.
            let _ = ready!(pipe.poll_readable(cx));
            self.read();
        }
        Poll::Ready(())
    }

    /// Reads what is there, when the process has ended and all that it wrote is there.
    fn read_rest(&mut self) {
        while self.pipe.is_some() && !self.more && self.read() {}
    }

    /// Reads a piece; false if nothing is there.
    fn read(&mut self) -> bool {
        let Some(pipe) = &self.pipe else {
            return false;
        };
        let mut buffer = [0; 4096];
        match pipe.try_read(&mut buffer) {
            Ok(0) => self.pipe = None,
            Ok(read) => {
                let kept = read.min(self.limit - self.bytes.len());
                self.bytes.extend_from_slice(&buffer[..kept]);
                self.more |= kept < read;
            }
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => return false,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(_) => self.pipe = None,
        }
        true
    }

    fn text(&self) -> Cow<'_, str> {
        String::from_utf8_lossy(&self.bytes)
    }
}
