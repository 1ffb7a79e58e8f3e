//! What a child process writes.

use std::process::Stdio;

use bytes::Bytes;
use thrum_rt::pipe::PipeReader;
use thrum_rt::process::Command;

use super::{Reader, reader};
use crate::child::Running;
use crate::{Result, Source};

/// What a child process writes to its standard output. It is started when the first item is asked for.
///
/// Its standard input is what `command` says. Its standard error is read too, but only while the pipeline waits for the
/// process; the first 4 KiB of it are told if it fails.
///
/// Its close, after the end of the output, waits for the end of the process. A close before that kills the process, waits
/// until it is gone, and does not ask how it ended. Dropping it kills the process, too; the runtime reaps it then. What the
/// process has started itself lives on.
///
/// Buffer: 16 KiB, and 4 KiB of the standard error.
///
/// # Errors
/// When the process cannot be started; its failure, [`ProcessFailed`](crate::ProcessFailed), from the close.
///
/// ```
/// use thrum_rt::process::Command;
/// use thrum_stream::{Source, sink, source};
///
/// # thrum_rt::block_on(async {
/// let mut list = Command::new("ls");
/// list.arg("/no/such/folder");
/// let error = source::process(list).run(sink::drain()).await.unwrap_err();
/// assert!(error.to_string().starts_with("process: ls: exit status: "));
/// # });
/// ```
pub fn process(command: Command) -> Process {
    Process {
        command,
        running: None,
        ended: false,
    }
}

/// See [`process`].
#[derive(Debug)]
pub struct Process {
    command: Command,
    running: Option<(Running, Reader<PipeReader>)>,
    /// Whether its output has.
    ended: bool,
}

impl Process {
    fn start(command: &mut Command) -> Result<(Running, Reader<PipeReader>)> {
        let mut running = Running::spawn(command.stdout(Stdio::piped()))?;
        let stdout = running.child.stdout.take();
        Ok((running, reader(stdout.expect("it is piped"))))
    }
}

impl Source for Process {
    type Item = Bytes;

    async fn next(&mut self) -> Result<Option<Bytes>> {
        let (running, stdout) = match &mut self.running {
            Some(running) => running,
            none => none.insert(Self::start(&mut self.command)?),
        };
        let next = running.with(stdout.next()).await;
        let next = next.map_err(|error| error.in_stage("process".into()))?;
        self.ended = next.is_none();
        Ok(next)
    }

    async fn close(self) -> Result<()> {
        let Some((running, stdout)) = self.running else {
            return Ok(());
        };
        drop(stdout);
        if self.ended {
            running.finish().await.map(drop)
        } else {
            running.kill().await
        }
    }
}
