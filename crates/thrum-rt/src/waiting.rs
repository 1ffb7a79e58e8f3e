//! What a task waits for, noted in each poll that ends in waiting, so that a dump of the runtime can say it.
//!
//! A note is one word. Whoever is about to return `Pending` leaves it; the last one of a poll counts.

use std::cell::Cell;
use std::fmt;
use std::future::Future;
use std::pin::pin;

/// What a task waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Waiting {
    /// Something that left no note: a waker of the task's own making.
    Unknown,
    /// This descriptor is to become readable.
    Readable(i32),
    /// This descriptor is to become writable.
    Writable(i32),
    /// The clock is to read this, in milliseconds.
    Until(u64),
    Task,
    Variable,
    Channel,
    Lock,
    Permit,
    Notification,
    Barrier,
    OnceCell,
    Process,
    Signal,
    Cancellation,
    /// The thread that does its file or resolver work.
    Thread,
}

const VALUE_BITS: u32 = 56;
const VALUE: u64 = (1 << VALUE_BITS) - 1;

impl Waiting {
    pub(crate) fn pack(self) -> u64 {
        let (kind, value) = match self {
            Waiting::Unknown => (0, 0),
            Waiting::Readable(fd) => (1, u64::from(fd as u32)),
            Waiting::Writable(fd) => (2, u64::from(fd as u32)),
            Waiting::Until(at_ms) => (3, at_ms.min(VALUE)),
            Waiting::Task => (4, 0),
            Waiting::Variable => (5, 0),
            Waiting::Channel => (6, 0),
            Waiting::Lock => (7, 0),
            Waiting::Permit => (8, 0),
            Waiting::Notification => (9, 0),
            Waiting::Barrier => (10, 0),
            Waiting::OnceCell => (11, 0),
            Waiting::Process => (12, 0),
            Waiting::Signal => (13, 0),
            Waiting::Cancellation => (14, 0),
            Waiting::Thread => (15, 0),
        };
        kind << VALUE_BITS | value
    }

    pub(crate) fn unpack(word: u64) -> Self {
        let value = word & VALUE;
        match word >> VALUE_BITS {
            1 => Waiting::Readable(value as i32),
            2 => Waiting::Writable(value as i32),
            3 => Waiting::Until(value),
            4 => Waiting::Task,
            5 => Waiting::Variable,
            6 => Waiting::Channel,
            7 => Waiting::Lock,
            8 => Waiting::Permit,
            9 => Waiting::Notification,
            10 => Waiting::Barrier,
            11 => Waiting::OnceCell,
            12 => Waiting::Process,
            13 => Waiting::Signal,
            14 => Waiting::Cancellation,
            15 => Waiting::Thread,
            _ => Waiting::Unknown,
        }
    }
}

impl fmt::Display for Waiting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let what = match self {
            Waiting::Readable(fd) => return write!(f, "descriptor {fd} to be readable"),
            Waiting::Writable(fd) => return write!(f, "descriptor {fd} to be writable"),
            Waiting::Until(at_ms) => {
                let left = at_ms.saturating_sub(crate::time::clock::now_ms());
                return write!(f, "a timer, due in {left} ms");
            }
            Waiting::Unknown => "a waker",
            Waiting::Task => "a task to end",
            Waiting::Variable => "a variable",
            Waiting::Channel => "a channel",
            Waiting::Lock => "a lock",
            Waiting::Permit => "a permit",
            Waiting::Notification => "a notification",
            Waiting::Barrier => "a barrier",
            Waiting::OnceCell => "a cell to be filled",
            Waiting::Process => "a process to end",
            Waiting::Signal => "a signal",
            Waiting::Cancellation => "a cancellation",
            Waiting::Thread => "a thread's work",
        };
        f.write_str(what)
    }
}

thread_local! {
    static NOTE: Cell<u64> = const { Cell::new(0) };
}

/// Leaves a note: the poll that is under way waits for this.
pub(crate) fn note(waiting: Waiting) {
    NOTE.set(waiting.pack());
}

/// Takes the note of the poll that has just ended.
pub(crate) fn take_note() -> u64 {
    NOTE.replace(0)
}

/// Waits for `future`, leaving a note each time it is pending.
pub(crate) async fn on<F: Future>(waiting: Waiting, future: F) -> F::Output {
    let mut future = pin!(future);
    std::future::poll_fn(|cx| {
        let polled = future.as_mut().poll(cx);
        if polled.is_pending() {
            note(waiting);
        }
        polled
    })
    .await
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn a_note_survives_packing() {
        for waiting in [
            Waiting::Unknown,
            Waiting::Readable(7),
            Waiting::Writable(i32::MAX),
            Waiting::Until(123_456_789),
            Waiting::Thread,
        ] {
            assert_eq!(Waiting::unpack(waiting.pack()), waiting);
        }
        for kind in 0..=15 {
            assert_eq!(
                Waiting::unpack(kind << VALUE_BITS).pack(),
                kind << VALUE_BITS
            );
        }
    }
}
