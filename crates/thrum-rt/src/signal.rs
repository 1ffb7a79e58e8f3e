//! Waiting for a signal of the operating system.

use std::io;
use std::os::unix::net::UnixStream;

use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::low_level::{pipe, unregister};

use crate::context;
use crate::reactor::{Direction, Registered};

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

/// The handler writes a byte to a socket, which is all that may be done in one; the task waits for it.
async fn wait(signal: i32) -> io::Result<()> {
    let (receiver, sender) = UnixStream::pair()?;
    receiver.set_nonblocking(true)?;
    let receiver = Registered::new(context::reactor(), receiver)?;
    let _handler = Handler(pipe::register(signal, sender)?);
    let mut byte = [0];
    receiver
        .perform(Direction::Read, || {
            receiver.attempt(Direction::Read, |fd| Ok(rustix::io::read(fd, &mut byte)?))
        })
        .await?;
    Ok(())
}

/// Takes the handler away again.
struct Handler(signal_hook::SigId);

impl Drop for Handler {
    fn drop(&mut self) {
        unregister(self.0);
    }
}
