//! The buffers: a bounded number of them, empty ones to take and filled ones waiting for the writer.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::LONGEST;
use crate::slot::SLOTS;

/// Size of a buffer in bytes, some five hundred lines: a write of this size costs little more than its copying.
pub(crate) const BUFFER_BYTES: usize = 64 * 1024;

/// How many buffers a log may have in all (8 MiB): one for each thread, and as many on their way to the target.
const BUFFERS: usize = 2 * SLOTS;

const _: () = assert!(
    LONGEST < BUFFER_BYTES,
    "an empty buffer has room for any line"
);

/// Empty buffers that are kept while nothing is logged.
const KEPT: usize = 4;

/// Lines on their way. [`Buffer::default`] has no room and takes no memory.
#[derive(Default)]
pub(super) struct Buffer {
    pub(super) bytes: Vec<u8>,
    pub(super) lines: u64,
}

impl Buffer {
    pub(super) fn room(&self) -> usize {
        self.bytes.capacity() - self.bytes.len()
    }
}

/// The buffers of one log that no thread is writing to.
pub(super) struct Pool {
    queues: Mutex<Queues>,
    /// How many more buffers may be taken; lets a thread turn away without the lock when there are none.
    left: AtomicUsize,
}

#[derive(Default)]
struct Queues {
    filled: VecDeque<Buffer>,
    empty: Vec<Buffer>,
}

impl Pool {
    pub(super) fn new() -> Self {
        Self {
            queues: Mutex::default(),
            left: AtomicUsize::new(BUFFERS),
        }
    }

    /// An empty buffer, or none if all are waiting to be written.
    pub(super) fn take(&self) -> Option<Buffer> {
        let less = |left: usize| left.checked_sub(1);
        self.left
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, less)
            .ok()?;
        let empty = self.lock().empty.pop();
        Some(empty.unwrap_or_else(|| Buffer {
            bytes: Vec::with_capacity(BUFFER_BYTES),
            lines: 0,
        }))
    }

    /// Queues a buffer to be written, and says how many are queued now.
    pub(super) fn push_filled(&self, buffer: Buffer) -> usize {
        let mut queues = self.lock();
        queues.filled.push_back(buffer);
        queues.filled.len()
    }

    /// The buffer to write next, in the order in which they were queued.
    pub(super) fn pop_filled(&self) -> Option<Buffer> {
        self.lock().filled.pop_front()
    }

    /// Returns a buffer after it was written or given up.
    pub(super) fn give_back(&self, mut buffer: Buffer) {
        buffer.bytes.clear();
        buffer.lines = 0;
        self.lock().empty.push(buffer);
        self.left.fetch_add(1, Ordering::Relaxed);
    }

    /// Frees the memory that a burst or a stuck target has left behind.
    pub(super) fn shrink(&self) {
        self.lock().empty.truncate(KEPT);
    }

    fn lock(&self) -> MutexGuard<'_, Queues> {
        // Held for a few instructions that do not panic; whatever happened, the queues are whole.
        self.queues.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_are_only_so_many_buffers() {
        let pool = Pool::new();
        let mut taken: Vec<Buffer> = std::iter::from_fn(|| pool.take()).collect();
        assert_eq!(taken.len(), BUFFERS);
        assert!(taken.iter().all(|buffer| buffer.room() >= BUFFER_BYTES));

        pool.push_filled(taken.pop().unwrap());
        assert!(
            pool.take().is_none(),
            "one that waits to be written is not free"
        );
        pool.give_back(pool.pop_filled().unwrap());
        assert!(pool.take().is_some());
        assert!(pool.take().is_none());
    }

    #[test]
    fn filled_buffers_come_in_order_and_come_back_empty() {
        let pool = Pool::new();
        for lines in 1..=3 {
            let mut buffer = pool.take().unwrap();
            buffer.bytes.push(b'x');
            buffer.lines = lines;
            pool.push_filled(buffer);
        }
        for lines in 1..=3 {
            let buffer = pool.pop_filled().unwrap();
            assert_eq!(buffer.lines, lines);
            pool.give_back(buffer);
        }
        assert!(pool.pop_filled().is_none());
        let again = pool.take().unwrap();
        assert_eq!((again.bytes.len(), again.lines), (0, 0));
    }
}
