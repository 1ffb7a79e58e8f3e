//! A running child process.

use std::io;
use std::process::{ExitStatus, Output};

use rustix::io::Errno;
use rustix::process::{Pid, Signal};

use super::exit::Exit;
use super::orphan;
use crate::context;
use crate::io::read_to_end;
use crate::pipe::{PipeReader, PipeWriter};
use crate::signal::SignalKind;

/// A child process, from [`Command::spawn`](super::Command::spawn).
///
/// Dropping it lets the process run on, and be reaped when it ends; or kills it, if
/// [`kill_on_drop`](super::Command::kill_on_drop) was set.
#[derive(Debug)]
pub struct Child {
    /// What the child reads as its standard input, if that is [piped](std::process::Stdio::piped).
    pub stdin: Option<PipeWriter>,
    /// What the child writes to its standard output, if that is piped.
    pub stdout: Option<PipeReader>,
    /// What the child writes to its standard error, if that is piped.
    pub stderr: Option<PipeReader>,
    /// Taken only by `drop`.
    process: Option<Process>,
    status: Option<ExitStatus>,
    kill_on_drop: bool,
    /// It leads a group of its own.
    own_group: bool,
}

#[derive(Debug)]
struct Process {
    child: std::process::Child,
    exit: Exit,
}

impl Child {
    pub(super) fn new(
        mut child: std::process::Child,
        kill_on_drop: bool,
        own_group: bool,
    ) -> io::Result<Self> {
        let exit = match Exit::of(&child) {
            Ok(exit) => exit,
            Err(error) => {
                // It cannot be waited for, so it must not run.
                let _ = child.kill();
                let _ = child.wait();
                return Err(error);
            }
        };
        let (stdin, stdout, stderr) =
            (child.stdin.take(), child.stdout.take(), child.stderr.take());
        let mut this = Self {
            stdin: None,
            stdout: None,
            stderr: None,
            process: Some(Process { child, exit }),
            status: None,
            kill_on_drop: true, // until its pipes are there
            own_group,
        };
        let reader = |fd| PipeReader::register(context::reactor(), fd);
        let writer = |fd| PipeWriter::register(context::reactor(), fd);
        this.stdin = stdin.map(|pipe| writer(pipe.into())).transpose()?;
        this.stdout = stdout.map(|pipe| reader(pipe.into())).transpose()?;
        this.stderr = stderr.map(|pipe| reader(pipe.into())).transpose()?;
        this.kill_on_drop = kill_on_drop;
        Ok(this)
    }

    fn process(&mut self) -> &mut Process {
        self.process.as_mut().expect("it is taken only by drop")
    }

    /// The process id. After the end was waited for, it may soon be another's.
    pub fn id(&self) -> u32 {
        let process = self.process.as_ref().expect("it is taken only by drop");
        process.child.id()
    }

    /// Closes [`stdin`](Self::stdin) and waits for the process to end.
    ///
    /// Whoever pipes its output reads that first, or meanwhile: a child that finds a pipe full waits.
    ///
    /// Dropping the future before it is done changes nothing but that `stdin` is closed; it can be called again. Once the
    /// process has ended, every call returns the same.
    ///
    /// # Errors
    /// Those of waitpid(2): ECHILD, if something else has reaped it.
    pub async fn wait(&mut self) -> io::Result<ExitStatus> {
        self.stdin = None;
        if let Some(status) = self.status {
            return Ok(status);
        }
        let Process { child, exit } = self.process();
        let status = exit.wait(child).await?;
        self.status = Some(status);
        Ok(status)
    }

    /// Waits for the process to end, and leaves it as a zombie, so that its id and its group's stay its own: for
    /// [`kill_group`](Self::kill_group) and then [`wait`](Self::wait).
    ///
    /// Dropping the future changes nothing.
    ///
    /// # Errors
    /// Those of waitid(2): ECHILD, if something else has reaped it.
    pub async fn ended(&mut self) -> io::Result<()> {
        if self.status.is_some() {
            return Ok(());
        }
        let Process { child, exit } = self.process();
        exit.ended(child).await
    }

    /// How the process ended, if it has.
    ///
    /// # Errors
    /// Those of [`wait`](Self::wait).
    pub fn try_wait(&mut self) -> io::Result<Option<ExitStatus>> {
        if self.status.is_none() {
            self.status = self.process().child.try_wait()?;
        }
        Ok(self.status)
    }

    /// Closes `stdin`, reads what the process writes to the outputs that are piped, and waits for its end.
    ///
    /// Dropping the future drops the child; what was read is lost.
    ///
    /// # Errors
    /// `FileTooLarge` if either output is longer than `limit` bytes; those of read(2) and of [`wait`](Self::wait). The child
    /// is dropped then.
    pub async fn wait_with_output(mut self, limit: usize) -> io::Result<Output> {
        self.stdin = None;
        let (stdout, stderr) = futures_lite::future::try_zip(
            read_output(self.stdout.take(), limit),
            read_output(self.stderr.take(), limit),
        )
        .await?;
        Ok(Output {
            status: self.wait().await?,
            stdout,
            stderr,
        })
    }

    /// Sends SIGKILL, which ends the process for sure. [`wait`](Self::wait) for it still.
    ///
    /// # Errors
    /// Those of kill(2), but none if the process has ended: EPERM, if it has become another user's.
    pub fn kill(&mut self) -> io::Result<()> {
        match self.send(Signal::KILL) {
            Err(Errno::SRCH) => Ok(()),
            sent => Ok(sent?),
        }
    }

    /// Sends a signal.
    ///
    /// # Errors
    /// Those of kill(2): ESRCH if the process has ended and was waited for, EPERM if it has become another user's.
    pub fn signal(&mut self, signal: SignalKind) -> io::Result<()> {
        Ok(self.send(signal.number())?)
    }

    /// Sends SIGKILL to all processes of the group that the process leads: see
    /// [`process_group`](super::Command::process_group).
    ///
    /// # Errors
    /// Those of [`signal_group`](Self::signal_group), but none if all have ended.
    pub fn kill_group(&mut self) -> io::Result<()> {
        match self.send_group(Signal::KILL) {
            Err(Errno::SRCH) => Ok(()),
            sent => Ok(sent?),
        }
    }

    /// Sends a signal to all processes of the group that the process leads.
    ///
    /// # Errors
    /// Those of kill(2): ESRCH if the process has no group of its own, or was waited for, since the group's id may then be
    /// another's; EPERM if all of them have become other users'.
    pub fn signal_group(&mut self, signal: SignalKind) -> io::Result<()> {
        Ok(self.send_group(signal.number())?)
    }

    fn send_group(&mut self, signal: Signal) -> rustix::io::Result<()> {
        // As with a process: the id stays the group's until its leader is reaped.
        if self.status.is_some() || !self.own_group {
            return Err(Errno::SRCH);
        }
        rustix::process::kill_process_group(Pid::from_child(&self.process().child), signal)
    }

    fn send(&mut self, signal: Signal) -> rustix::io::Result<()> {
        // Its id is its own only until it is reaped.
        if self.status.is_some() {
            return Err(Errno::SRCH);
        }
        rustix::process::kill_process(Pid::from_child(&self.process().child), signal)
    }
}

async fn read_output(pipe: Option<PipeReader>, limit: usize) -> io::Result<Vec<u8>> {
    let mut output = Vec::new();
    if let Some(mut pipe) = pipe {
        read_to_end(&mut pipe, &mut output, limit).await?;
    }
    Ok(output)
}

impl Drop for Child {
    fn drop(&mut self) {
        if self.status.is_some() {
            return;
        }
        if self.kill_on_drop {
            let _ = match self.own_group {
                true => self.kill_group(),
                false => self.kill(),
            };
        }
        if let Some(Process { child, exit }) = self.process.take() {
            orphan::adopt(child, exit);
        }
    }
}
