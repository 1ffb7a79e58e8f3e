//! Waiting for a signal of the operating system.

use std::io;
use std::os::unix::net::UnixStream;

use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::low_level::{pipe, unregister};

use crate::context;
use crate::reactor::{Direction, Registered};
use crate::waiting::{self, Waiting};

/// Waits for Ctrl-C (SIGINT).
///
/// From the first call on, SIGINT no longer ends the process by itself. Dropping the future does not change that back.
///
/// # Errors
/// When no file descriptors are left.
pub async fn ctrl_c() -> io::Result<()> {
    wait(SIGINT).await
}

/// Waits for SIGTERM, with which service managers ask a process to end.
///
/// From the first call on, SIGTERM no longer ends the process by itself.
///
/// # Errors
/// When no file descriptors are left.
pub async fn terminate() -> io::Result<()> {
    wait(SIGTERM).await
}

async fn wait(signal: i32) -> io::Result<()> {
    Signals::new(&[signal])?.next().await
}

/// Some signals. Their handlers write a byte to a socket, which is all that may be done in one; a task waits for it.
pub(crate) struct Signals {
    receiver: Registered<UnixStream>,
    _handlers: Vec<Handler>,
}

impl Signals {
    /// Signals that come from now on.
    pub(crate) fn new(signals: &[i32]) -> io::Result<Self> {
        let (receiver, sender) = UnixStream::pair()?;
        receiver.set_nonblocking(true)?;
        let handlers = signals
            .iter()
            .map(|&signal| Ok(Handler(pipe::register(signal, sender.try_clone()?)?)))
            .collect::<io::Result<_>>()?;
        Ok(Self {
            receiver: Registered::new(context::reactor(), receiver)?,
            _handlers: handlers,
        })
    }

    /// Waits for the next one.
    pub(crate) async fn next(&mut self) -> io::Result<()> {
        let mut byte = [0];
        let receiver = &self.receiver;
        waiting::on(
            Waiting::Signal,
            receiver.perform(Direction::Read, || {
                receiver.attempt(Direction::Read, |fd| Ok(rustix::io::read(fd, &mut byte)?))
            }),
        )
        .await?;
        Ok(())
    }
}

/// Takes the handler away again.
struct Handler(signal_hook::SigId);

impl Drop for Handler {
    fn drop(&mut self) {
        unregister(self.0);
    }
}
