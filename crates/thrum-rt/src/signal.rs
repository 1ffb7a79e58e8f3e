//! Waiting for signals of the operating system.
//!
//! ```no_run
//! use thrum_rt::signal::{SignalKind, signal};
//!
//! # thrum_rt::block_on(async {
//! let mut hangups = signal(SignalKind::Hangup)?;
//! loop {
//!     hangups.recv().await?;
//!     println!("reading the configuration again");
//! }
//! # #[allow(unreachable_code)]
//! # std::io::Result::Ok(())
//! # });
//! ```

use std::io;
use std::os::unix::net::UnixStream;

use rustix::process::Signal;
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
    signal(SignalKind::Interrupt)?.recv().await
}

/// Waits for SIGTERM, with which service managers ask a process to end.
///
/// From the first call on, SIGTERM no longer ends the process by itself.
///
/// # Errors
/// When no file descriptors are left.
pub async fn terminate() -> io::Result<()> {
    signal(SignalKind::Terminate)?.recv().await
}

/// Listens for a signal from now on. Every listener gets it.
///
/// From the first call on, and for as long as the process lives, the signal no longer does to the process what it does by
/// default, such as ending it.
///
/// # Errors
/// When no file descriptors are left.
///
/// # Panics
/// Outside a runtime.
pub fn signal(kind: SignalKind) -> io::Result<Signals> {
    let (receiver, sender) = UnixStream::pair()?;
    receiver.set_nonblocking(true)?;
    let receiver = Registered::new(context::reactor(), receiver)?;
    let handler = Handler(pipe::register(kind.number().as_raw(), sender)?);
    Ok(Signals {
        receiver,
        _handler: handler,
    })
}

/// A listener for one kind of signal. It listens until it is dropped.
///
/// A signal that comes while nobody waits is kept for the next [`recv`](Self::recv). The system may make one of several
/// that come at once.
#[derive(Debug)]
pub struct Signals {
    /// The handler writes a byte to the other end, which is all that may be done in one.
    receiver: Registered<UnixStream>,
    _handler: Handler,
}

impl Signals {
    /// Waits for the next signal. Dropping the future loses none.
    ///
    /// # Errors
    /// None that is known; those of read(2).
    pub async fn recv(&mut self) -> io::Result<()> {
        let mut byte = [0];
        let receive = self.receiver.perform(Direction::Read, || {
            self.receiver
                .attempt_bytes(Direction::Read, 1, |fd| rustix::io::read(fd, &mut byte))
        });
        waiting::on(Waiting::Signal, receive).await?;
        Ok(())
    }
}

/// Takes the handler away again.
#[derive(Debug)]
struct Handler(signal_hook::SigId);

impl Drop for Handler {
    fn drop(&mut self) {
        unregister(self.0);
    }
}

/// A signal that can be listened for, and sent to a child process.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum SignalKind {
    /// SIGALRM: a timer of alarm(2) is over.
    Alarm,
    /// SIGCHLD: a child process has ended, stopped or gone on.
    Child,
    /// SIGHUP: the terminal is gone; for a service, to read its configuration again.
    Hangup,
    /// SIGINT: Ctrl-C.
    Interrupt,
    /// SIGPIPE: nobody reads what was written. Rust programs ignore it by default.
    Pipe,
    /// SIGQUIT: Ctrl-\.
    Quit,
    /// SIGTERM: to end.
    Terminate,
    /// SIGUSR1: whatever the program makes of it.
    User1,
    /// SIGUSR2: whatever the program makes of it.
    User2,
    /// SIGWINCH: the terminal has another size.
    WindowChange,
}

impl SignalKind {
    pub(crate) fn number(self) -> Signal {
        match self {
            SignalKind::Alarm => Signal::ALARM,
            SignalKind::Child => Signal::CHILD,
            SignalKind::Hangup => Signal::HUP,
            SignalKind::Interrupt => Signal::INT,
            SignalKind::Pipe => Signal::PIPE,
            SignalKind::Quit => Signal::QUIT,
            SignalKind::Terminate => Signal::TERM,
            SignalKind::User1 => Signal::USR1,
            SignalKind::User2 => Signal::USR2,
            SignalKind::WindowChange => Signal::WINCH,
        }
    }
}
