//! The end of a child process, as something to wait for.

use std::io;
use std::os::fd::OwnedFd;
use std::process::{Child, ExitStatus};

use rustix::process::{Pid, WaitId, WaitIdOptions, waitid};

use crate::context;
use crate::reactor::{Direction, Registered};
use crate::signal::{SignalKind, Signals, signal};
use crate::waiting::{self, Waiting};

#[derive(Debug)]
pub(super) enum Exit {
    /// A descriptor of the process, which becomes readable when it ends.
    Descriptor(Registered<OwnedFd>),
    /// Where the system has none, or forbids it: any child's end is a reason to look.
    Signal(Signals),
}

impl Exit {
    pub(super) fn of(child: &Child) -> io::Result<Self> {
        match descriptor(child) {
            Some(fd) => Ok(Self::Descriptor(Registered::new(context::reactor(), fd)?)),
            None => Ok(Self::Signal(signal(SignalKind::Child)?)),
        }
    }

    /// Waits for the end of the child that this was made of, and reaps it. Dropping the future changes nothing.
    pub(super) async fn wait(&mut self, child: &mut Child) -> io::Result<ExitStatus> {
        self.until(|| child.try_wait()).await
    }

    /// Waits for the end of the child that this was made of. Dropping the future changes nothing.
    pub(super) async fn ended(&mut self, child: &Child) -> io::Result<()> {
        let how = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
        self.until(|| {
            let ended = waitid(WaitId::Pid(Pid::from_child(child)), how)?;
            Ok(ended.map(|_| ()))
        })
        .await
    }

    async fn until<T>(&mut self, mut look: impl FnMut() -> io::Result<Option<T>>) -> io::Result<T> {
        match self {
            Exit::Descriptor(fd) => {
                let wait = fd.perform(Direction::Read, || {
                    fd.attempt(Direction::Read, |_| {
                        look()?.ok_or(io::ErrorKind::WouldBlock.into())
                    })
                });
                waiting::on(Waiting::Process, wait).await
            }
            Exit::Signal(signals) => loop {
                if let Some(found) = look()? {
                    return Ok(found);
                }
                waiting::on(Waiting::Process, signals.recv()).await?;
            },
        }
    }
}

#[cfg(target_os = "linux")]
fn descriptor(child: &Child) -> Option<OwnedFd> {
    use rustix::process::{PidfdFlags, pidfd_open};

    pidfd_open(Pid::from_child(child), PidfdFlags::empty()).ok()
}

#[cfg(not(target_os = "linux"))]
fn descriptor(_: &Child) -> Option<OwnedFd> {
    None
}

#[cfg(all(test, not(loom)))]
mod tests {
    use std::process::Command;
    use std::time::Duration;

    use super::*;
    use crate::block_on;
    use crate::time::timeout;

    #[test]
    fn a_signal_does_where_there_is_no_descriptor() {
        block_on(async {
            let mut exit = Exit::Signal(signal(SignalKind::Child).unwrap());
            let mut child = Command::new("sh")
                .args(["-c", "sleep 0.1; exit 3"])
                .spawn()
                .unwrap();
            let status = timeout(Duration::from_secs(10), exit.wait(&mut child)).await;
            assert_eq!(status.unwrap().unwrap().code(), Some(3));
        });
    }
}
