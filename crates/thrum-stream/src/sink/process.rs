//! Bytes to a child process.

use std::io;
use std::process::Stdio;

use futures_lite::AsyncWriteExt;
use futures_lite::io::BufWriter;
use thrum_rt::pipe::PipeWriter;
use thrum_rt::process::Command;

use super::writer::GATHER;
use crate::child::Running;
use crate::{Error, Result, Sink};

/// Bytes to the standard input of a child process. It is started before the first item is asked for.
///
/// Its standard output is what `command` says, unless it is [asked for](Process::output): then it is the result, which is
/// empty otherwise. Its standard error is read too, but only while the pipeline waits for the process; the first 4 KiB of it
/// are told if it fails.
///
/// A process that closes its input or ends has enough. The close closes its input and waits for its end. After an error it is
/// killed, and waited for; dropping the sink kills it, too, and the runtime reaps it then. What the process has started
/// itself lives on.
///
/// Buffer: 16 KiB and one item, 4 KiB of the standard error, and the output if it is asked for.
///
/// # Errors
/// When the process cannot be started; its failure, [`ProcessFailed`](crate::ProcessFailed), from the close.
///
/// ```
/// use thrum_rt::process::Command;
/// use thrum_stream::{Source, sink, source};
///
/// # thrum_rt::block_on(async {
/// let words = source::iter(["b\n", "a\n"]);
/// let sorted = words.run(sink::process(Command::new("sort")).output(100)).await?;
/// assert_eq!(sorted, b"a\nb\n");
/// # thrum_stream::Result::Ok(())
/// # }).unwrap();
/// ```
pub fn process(command: Command) -> Process {
    Process {
        command,
        output: None,
        fed: None,
    }
}

/// See [`process`].
#[derive(Debug)]
pub struct Process {
    command: Command,
    output: Option<usize>,
    fed: Option<Fed>,
}

#[derive(Debug)]
struct Fed {
    running: Running,
    /// None when the process reads no more.
    stdin: Option<BufWriter<PipeWriter>>,
}

impl Process {
    /// Has what the process writes to its standard output read: at most `limit` bytes.
    ///
    /// # Errors
    /// More bytes are [`Cause::TooLong`](crate::Cause::TooLong).
    pub fn output(mut self, limit: usize) -> Self {
        self.output = Some(limit);
        self
    }

    fn start(&mut self) -> Result<&mut Fed> {
        if self.fed.is_none() {
            self.command.stdin(Stdio::piped());
            if self.output.is_some() {
                self.command.stdout(Stdio::piped());
            }
            let mut running = Running::spawn(&mut self.command)?;
            if let Some(limit) = self.output {
                running.keep_output(limit);
            }
            let stdin = running.child.stdin.take();
            let stdin = stdin.map(|pipe| BufWriter::with_capacity(GATHER, pipe));
            self.fed = Some(Fed { running, stdin });
        }
        Ok(self.fed.as_mut().expect("it was started"))
    }
}

impl Fed {
    async fn write(&mut self, bytes: &[u8]) -> Result<()> {
        let Some(stdin) = &mut self.stdin else {
            return Ok(());
        };
        let written = self.running.with(stdin.write_all(bytes)).await;
        self.wrote(written)
    }

    async fn flush(&mut self) -> Result<()> {
        let Some(stdin) = &mut self.stdin else {
            return Ok(());
        };
        let flushed = self.running.with(stdin.flush()).await;
        self.wrote(flushed)
    }

    fn wrote(&mut self, result: io::Result<()>) -> Result<()> {
        match result {
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => {
                self.stdin = None;
                Ok(())
            }
            result => result.map_err(|error| Error::new("process", error)),
        }
    }
}

impl<I: AsRef<[u8]> + Send> Sink<I> for Process {
    type Output = Vec<u8>;

    async fn wants(&mut self) -> Result<bool> {
        let fed = self.start()?;
        fed.running.check_output()?;
        Ok(fed.stdin.is_some())
    }

    async fn push(&mut self, item: I) -> Result<()> {
        self.start()?.write(item.as_ref()).await
    }

    async fn flush(&mut self) -> Result<()> {
        self.start()?.flush().await
    }

    async fn close(mut self) -> Result<Vec<u8>> {
        self.start()?.flush().await?;
        let Some(mut fed) = self.fed.take() else {
            return Ok(Vec::new());
        };
        fed.stdin = None;
        fed.running.finish().await
    }

    async fn abort(self, _: &Error) {
        if let Some(fed) = self.fed {
            // The error that led here is the one that is told.
            let _ = fed.running.kill().await;
        }
    }
}
