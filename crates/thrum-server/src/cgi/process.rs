//! A program's process: started, fed, read, and seen to its end.

use std::future::poll_fn;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::process::ExitStatusExt;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::{Buf, Bytes};
use thrum_http::Body;
use thrum_rt::pipe::{PipeReader, PipeWriter};
use thrum_rt::process::{Child, Command, ExitStatus, Stdio};
use thrum_rt::signal::SignalKind;
use thrum_rt::sync::OwnedPermit;
use thrum_rt::time::timeout;

use crate::gateway::{Asked, ErrorLines, Failure, Input, Piece, Program};

/// How long a program has between SIGTERM and SIGKILL.
const GRACE: Duration = Duration::from_secs(3);

/// How long the response waits for the end of a program that has closed its output; it may have more to do then.
const AFTER_OUTPUT: Duration = Duration::from_secs(1);

/// How long a program may go on when its response has been sent.
const AFTERWARDS: Duration = Duration::from_secs(60);

/// Bytes that are read at a time: half of what a pipe holds.
const CHUNK: usize = 32 * 1024;

/// A program that answers.
pub(super) struct Process {
    state: State,
    stdin: Option<(PipeWriter, Input)>,
    taken: u64,
    buffer: Box<[u8]>,
}

enum State {
    Writes(PipeReader, Box<Running>),
    /// It has closed its output.
    Ends(Pin<Box<dyn Future<Output = Result<(), Failure>> + Send>>),
    Ended,
}

impl Process {
    /// Starts a program. `input` is the request's body, with what was read of it already.
    pub(super) fn start(
        asked: &Asked<'_>,
        name: Arc<str>,
        input: Option<(Bytes, Body)>,
        permit: OwnedPermit,
    ) -> io::Result<Self> {
        let file = &asked.script.file;
        let mut command = Command::new(file);
        command.env_clear();
        asked.each(|name, value| {
            // A zero byte can be in none.
            command.env(name, std::ffi::OsStr::from_bytes(value));
        });
        if let Some(folder) = file.parent() {
            command.current_dir(folder);
        }
        command.stdin(if input.is_some() {
            Stdio::piped()
        } else {
            Stdio::null()
        });
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        command.process_group(0).kill_on_drop(true);
        let mut child = command.spawn()?;
        let pipe = || io::Error::other("the process has no pipe");
        let stdin = child.stdin.take();
        let stdout = child.stdout.take().ok_or_else(pipe)?;
        let stderr = child.stderr.take().ok_or_else(pipe)?;
        let running = Running {
            child: Some(child),
            errors: Errors {
                pipe: Some(stderr),
                lines: ErrorLines::new(name),
            },
            permit: Some(permit),
        };
        Ok(Self {
            state: State::Writes(stdout, Box::new(running)),
            stdin: stdin.zip(input.map(|(ahead, body)| Input::new(ahead, body))),
            taken: 0,
            buffer: vec![0; CHUNK].into(),
        })
    }

    /// Passes the request's body on. An error is the client's; a program that does not read has its reasons.
    fn poll_feed(&mut self, cx: &mut Context<'_>) -> Result<(), Failure> {
        while let Some((stdin, input)) = &mut self.stdin {
            let Poll::Ready(piece) = input.poll_piece(cx).map_err(Failure::Request)? else {
                return Ok(());
            };
            let Piece::Some(piece) = piece else {
                self.stdin = None;
                return Ok(());
            };
            match stdin.try_write(piece) {
                Ok(written) => {
                    piece.advance(written);
                    self.taken += written as u64;
                }
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                    if stdin.poll_writable(cx)?.is_pending() {
                        return Ok(());
                    }
                }
                Err(_) => self.stdin = None,
            }
        }
        Ok(())
    }
}

impl Program for Process {
    fn poll_output(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<Bytes, Failure>>> {
        if let Err(failure) = self.poll_feed(cx) {
            return Poll::Ready(Some(Err(failure)));
        }
        loop {
            match &mut self.state {
                State::Writes(stdout, running) => {
                    running.errors.poll(cx);
                    match stdout.try_read(&mut self.buffer) {
                        Ok(0) => {}
                        Ok(read) => {
                            let piece = Bytes::copy_from_slice(&self.buffer[..read]);
                            return Poll::Ready(Some(Ok(piece)));
                        }
                        Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                            match stdout.poll_readable(cx) {
                                Poll::Ready(Ok(())) => continue,
                                Poll::Ready(Err(error)) => {
                                    return Poll::Ready(Some(Err(error.into())));
                                }
                                Poll::Pending => return Poll::Pending,
                            }
                        }
                        Err(error) => return Poll::Ready(Some(Err(error.into()))),
                    }
                    self.stdin = None;
                    let State::Writes(_, running) =
                        std::mem::replace(&mut self.state, State::Ended)
                    else {
                        continue;
                    };
                    self.state = State::Ends(Box::pin(running.end()));
                }
                State::Ends(end) => {
                    let end = std::task::ready!(end.as_mut().poll(cx));
                    self.state = State::Ended;
                    return Poll::Ready(end.err().map(Err));
                }
                State::Ended => return Poll::Ready(None),
            }
        }
    }

    fn taken(&self) -> u64 {
        self.taken
    }
}

/// A process that has not been waited for. Dropped, it is stopped.
struct Running {
    /// `None` once it has been waited for, or another task does.
    child: Option<Child>,
    errors: Errors,
    /// Its place is free when it has ended.
    permit: Option<OwnedPermit>,
}

impl Running {
    /// Waits for its end, and says how it was. If that takes longer, it goes on alone.
    async fn end(mut self) -> Result<(), Failure> {
        let Some(child) = &mut self.child else {
            return Ok(());
        };
        // Mostly it is over already.
        let status = match child.try_wait()? {
            Some(status) => Some(status),
            None => timeout(AFTER_OUTPUT, child.wait()).await.ok().transpose()?,
        };
        let Some(status) = status else {
            thrum_rt::spawn(self.go_on());
            return Ok(());
        };
        self.child = None;
        self.errors.read();
        judge(status)
    }

    async fn go_on(mut self) {
        let Some(child) = &mut self.child else { return };
        let errors = poll_fn(|cx| {
            self.errors.poll(cx);
            Poll::<io::Result<ExitStatus>>::Pending
        });
        let ended = thrum_rt::race(child.wait(), errors);
        if let Ok(Ok(_)) = timeout(AFTERWARDS, ended).await {
            self.child = None;
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let Some(child) = self.child.take() else {
            return;
        };
        // At the end of the runtime there is no time to ask it: then it is killed.
        if thrum_rt::runtime_id().is_some() {
            thrum_rt::spawn(stop(child, self.permit.take()));
        }
    }
}

/// Ends a process, with all that it has started.
async fn stop(mut child: Child, permit: Option<OwnedPermit>) {
    let _ = child.signal_group(SignalKind::Terminate); // that it is over already is no news
    let _ = timeout(GRACE, child.ended()).await;
    let _ = child.kill_group();
    let _ = child.wait().await;
    drop(permit);
}

fn judge(status: ExitStatus) -> Result<(), Failure> {
    match (status.code(), status.signal()) {
        (Some(0), _) => Ok(()),
        (Some(code), _) => Err(Failure::Ended(format!("it ended with exit code {code}"))),
        (None, signal) => Err(Failure::Ended(format!(
            "signal {} ended it",
            signal.unwrap_or_default()
        ))),
    }
}

/// What a program says besides its answer.
struct Errors {
    /// `None` once it is closed.
    pipe: Option<PipeReader>,
    lines: ErrorLines,
}

impl Errors {
    /// Logs what there is, and has the task woken when there is more.
    fn poll(&mut self, cx: &mut Context<'_>) {
        loop {
            self.read();
            match &self.pipe {
                Some(pipe) if pipe.poll_readable(cx).is_ready() => {}
                _ => return,
            }
        }
    }

    /// Logs what there is.
    fn read(&mut self) {
        let mut buffer = [0; 1024];
        while let Some(pipe) = &self.pipe {
            match pipe.try_read(&mut buffer) {
                Ok(read @ 1..) => self.lines.push(&buffer[..read]),
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return,
                Ok(_) | Err(_) => self.pipe = None,
            }
        }
    }
}
