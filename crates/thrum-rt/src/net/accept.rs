//! Accepting that goes on: what every listener does between accept(2) and a connection.
//!
//! accept(2) reports three kinds of errors as one. Those of a connection that is gone already concern nobody: the next one
//! is taken. Those of exhaustion (descriptors, memory) pass: waiting is all that helps, while the connections stay in the
//! kernel's queue. Only what is left, a listener that is none, is the caller's to know. So a loop around `accept` ends for
//! no reason that an outsider can bring about.

use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use rustix::io::Errno;
use rustix::net::{SocketAddrAny, SocketFlags, acceptfrom_with};

use crate::context;
use crate::reactor::{Direction, Registered};
use crate::time::{clock, sleep};

/// The first pause after exhaustion; each further one is twice as long.
const SHORTEST: Duration = Duration::from_millis(5);
const LONGEST: Duration = Duration::from_secs(1);

/// So many broken connections in a row are skipped at once. More are taken for a standing condition, such as a policy that
/// forbids accepting, and paused for: else they would be a busy loop.
const SKIPPED_AT_ONCE: u32 = 64;

/// Warnings of the whole process are at least this far apart.
const WARN_EVERY_MS: u64 = 1000;

/// Failures of all listeners of the process.
static ERRORS: AtomicU64 = AtomicU64::new(0);

/// How often accepting failed, in the whole process.
pub fn accept_errors() -> u64 {
    ERRORS.load(Ordering::Relaxed)
}

/// A listening socket, and how often accepting from it failed.
pub(super) struct Acceptor<T: AsFd> {
    io: Registered<T>,
    errors: AtomicU64,
}

impl<T: AsFd> Acceptor<T> {
    /// Takes over a socket that listens.
    pub(super) fn new(socket: T) -> io::Result<Self> {
        rustix::io::ioctl_fionbio(&socket, true)?;
        Ok(Self {
            io: Registered::new(context::next_reactor(), socket)?,
            errors: AtomicU64::new(0),
        })
    }

    /// Waits for a connection of which `finish` can make something.
    pub(super) async fn accept<R>(
        &self,
        finish: impl Fn(OwnedFd, Option<SocketAddrAny>) -> io::Result<R>,
    ) -> io::Result<R> {
        let mut skipped = 0;
        let mut pause = SHORTEST;
        loop {
            let error = match self.accept_once().await {
                Ok((socket, peer)) => match finish(socket, peer) {
                    Ok(connection) => return Ok(connection),
                    Err(error) => error,
                },
                Err(error) => error,
            };
            let verdict = Verdict::of(&error);
            if verdict == Verdict::Listener {
                return Err(error);
            }
            self.errors.fetch_add(1, Ordering::Relaxed);
            ERRORS.fetch_add(1, Ordering::Relaxed);
            if verdict == Verdict::Connection && skipped < SKIPPED_AT_ONCE {
                skipped += 1;
                continue;
            }
            warn(&error);
            sleep(pause).await;
            pause = (pause * 2).min(LONGEST);
        }
    }

    async fn accept_once(&self) -> io::Result<(OwnedFd, Option<SocketAddrAny>)> {
        let accept = || {
            self.io.attempt(Direction::Read, |fd| {
                Ok(acceptfrom_with(
                    fd,
                    SocketFlags::CLOEXEC | SocketFlags::NONBLOCK,
                )?)
            })
        };
        self.io.perform(Direction::Read, accept).await
    }

    pub(super) fn errors(&self) -> u64 {
        self.errors.load(Ordering::Relaxed)
    }

    pub(super) fn get(&self) -> &T {
        self.io.get()
    }

    pub(super) fn into_inner(self) -> io::Result<T> {
        self.io.into_inner()
    }
}

/// What an error of accept(2) is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Verdict {
    /// One connection, which is gone.
    Connection,
    /// Descriptors or memory have run out.
    Exhaustion,
    /// The listener itself.
    Listener,
}

impl Verdict {
    fn of(error: &io::Error) -> Self {
        match Errno::from_io_error(error) {
            // Linux reports a new connection's pending network error as accept's own: accept(2), "Error handling".
            Some(
                Errno::CONNABORTED
                | Errno::CONNRESET
                | Errno::PROTO
                | Errno::NOPROTOOPT
                | Errno::OPNOTSUPP
                | Errno::NETDOWN
                | Errno::NETUNREACH
                | Errno::HOSTUNREACH
                | Errno::TIMEDOUT
                | Errno::PERM,
            ) => Self::Connection,
            #[cfg(target_os = "linux")]
            Some(Errno::HOSTDOWN | Errno::NONET) => Self::Connection,
            // ENOSPC is epoll's: the user's descriptors in epoll sets are limited.
            Some(Errno::MFILE | Errno::NFILE | Errno::NOBUFS | Errno::NOMEM | Errno::NOSPC) => {
                Self::Exhaustion
            }
            _ => Self::Listener,
        }
    }
}

fn warn(error: &io::Error) {
    static WARNED_AT_MS: AtomicU64 = AtomicU64::new(0);
    let (now, last) = (clock::now_ms(), WARNED_AT_MS.load(Ordering::Relaxed));
    let due = last == 0 || now.saturating_sub(last) >= WARN_EVERY_MS;
    let mine = || {
        WARNED_AT_MS
            .compare_exchange(last, now.max(1), Ordering::Relaxed, Ordering::Relaxed)
            .is_ok()
    };
    if due && mine() {
        let errors = accept_errors();
        tracing::warn!(%error, errors, "cannot accept connections for the moment");
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn errors_are_told_apart() {
        let verdict = |errno: Errno| Verdict::of(&errno.into());
        assert_eq!(verdict(Errno::CONNABORTED), Verdict::Connection);
        assert_eq!(verdict(Errno::HOSTUNREACH), Verdict::Connection);
        assert_eq!(verdict(Errno::PERM), Verdict::Connection);
        assert_eq!(verdict(Errno::MFILE), Verdict::Exhaustion);
        assert_eq!(verdict(Errno::NOMEM), Verdict::Exhaustion);
        assert_eq!(verdict(Errno::INVAL), Verdict::Listener);
        assert_eq!(verdict(Errno::NOTSOCK), Verdict::Listener);
    }
}
