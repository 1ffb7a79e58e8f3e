//! What the threads that log and the one that writes have in common.
//!
//! # The life of a line
//! A thread locks its own shard (no other thread does, but for the writer once a second, for as long as it takes to
//! move a pointer) and formats the line into the shard's buffer. When the buffer has no room it is queued for the
//! writer, and the shard takes an empty one from the pool. If the pool has none, the target is stuck, and the line
//! is counted and dropped.
//!
//! The writer sleeps for good while all shards are empty. The first buffer that is put into a shard *arms* it: one
//! second later it collects what is in the shards, full or not, and writes it, sooner if a few full buffers have come
//! together. So nothing is said for a line that goes into a buffer that is there already, and a server without
//! requests has no timer.
//!
//! # Why no line is forgotten
//! To arm is to swap `armed` to true after the line's buffer was put into the shard; to collect is to swap it to false
//! and then to look into each shard. Swaps of one flag have one order. If the thread's came first, the writer's
//! reads what the thread did before and finds the buffer (or waits for the shard's lock and then finds it). If it came
//! after, it finds false, and wakes the writer for another round. A wake-up before the writer sleeps is kept by
//! `thread::park`.
//!
//! # Rejected
//! A channel of lines: an allocation and a contended atomic for each. A ring without locks: needs `unsafe` or two
//! more copies, to save an uncontended lock of a few nanoseconds. The runtime's timers: the log would share the fate
//! of the workers that it must never hold up.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::thread::Thread;

use super::drops::Drops;
use super::pool::{Buffer, Pool};
use super::stamp::Stamp;
use crate::slot::{self, SLOTS};

/// How many full buffers are worth a wake-up before the second is over: to wake a thread costs as much as to format
/// fifty lines.
const WAKE_AT: usize = 4;

pub(super) struct Shared {
    shards: Box<[Shard]>,
    pub(super) pool: Pool,
    /// Some shard has a buffer, and the writer knows or is being told.
    armed: AtomicBool,
    /// No shard takes another buffer; the writer collects a last time and ends.
    closing: AtomicBool,
    /// The target is to be opened anew.
    reopening: AtomicBool,
    /// Nobody waits for the writer any more: it gives up what it still has.
    abandoned: AtomicBool,
    /// Lines in the buffer that the writer is writing.
    pub(super) in_hand: AtomicU64,
    pub(super) drops: Arc<Drops>,
    /// Whom to wake; set before the first line.
    pub(super) writer: OnceLock<Thread>,
}

/// One thread's own, on cache lines of its own (two, as processors fetch them in pairs).
#[repr(align(128))]
struct Shard(Mutex<Page>);

struct Page {
    buffer: Buffer,
    stamp: Stamp,
}

impl Shared {
    pub(super) fn new(name: String) -> Self {
        let shard = || {
            Shard(Mutex::new(Page {
                buffer: Buffer::default(),
                stamp: Stamp::new(),
            }))
        };
        Self {
            shards: std::iter::repeat_with(shard).take(SLOTS).collect(),
            pool: Pool::new(),
            armed: AtomicBool::new(false),
            closing: AtomicBool::new(false),
            reopening: AtomicBool::new(false),
            abandoned: AtomicBool::new(false),
            in_hand: AtomicU64::new(0),
            drops: Arc::new(Drops::new(name)),
            writer: OnceLock::new(),
        }
    }

    /// Takes a line of at most so many bytes, or counts it as dropped. Makes no system call, but to wake the writer, once in
    /// thousands of lines or once a second.
    pub(super) fn append(&self, longest: usize, write: impl FnOnce(&mut Stamp, &mut Vec<u8>)) {
        let mut page = self.shards[slot::of_this_thread()].lock();
        let Page { buffer, stamp } = &mut *page;
        if buffer.room() < longest && !self.renew(buffer) {
            return;
        }
        write(stamp, &mut buffer.bytes);
        buffer.lines += 1;
    }

    /// Has the writer open its target anew.
    pub(super) fn reopen(&self) {
        self.reopening.store(true, Ordering::Release);
        self.wake_writer();
    }

    /// Whether the target is to be opened anew; says so once.
    pub(super) fn takes_reopening(&self) -> bool {
        self.reopening.load(Ordering::Relaxed) && self.reopening.swap(false, Ordering::Acquire)
    }

    /// Puts an empty buffer into a shard in place of a full one, or of none. Returns false if the line is to be
    /// dropped; it has been counted then.
    #[cold]
    fn renew(&self, buffer: &mut Buffer) -> bool {
        let full = std::mem::take(buffer);
        let queued = if full.lines > 0 {
            self.pool.push_filled(full)
        } else {
            0
        };
        // The lock of the shard is held. A writer that has seen `closing` and has not yet looked into this shard will
        // find what is put here; one that has looked has made `closing` visible by it.
        let renewed = if self.closing.load(Ordering::Acquire) {
            self.drops.add(1);
            false
        } else if let Some(empty) = self.pool.take() {
            *buffer = empty;
            true
        } else {
            self.drops.stuck();
            false
        };
        // In this order: the swap must be made, even if the wake-up is due anyway.
        let newly_armed = renewed && !self.armed.swap(true, Ordering::AcqRel);
        if newly_armed || queued >= WAKE_AT {
            self.wake_writer();
        }
        renewed
    }

    /// Asks for a last collection and the end of the writer.
    pub(super) fn close(&self) {
        self.closing.store(true, Ordering::Release);
        self.wake_writer();
    }

    pub(super) fn is_closing(&self) -> bool {
        self.closing.load(Ordering::Acquire)
    }

    /// Whether there is something to collect.
    pub(super) fn is_armed(&self) -> bool {
        self.armed.load(Ordering::Acquire)
    }

    /// Queues the buffers of all shards to be written, full or not.
    pub(super) fn collect(&self) {
        self.armed.swap(false, Ordering::AcqRel);
        for shard in &self.shards {
            let mut page = shard.lock();
            if page.buffer.lines > 0 {
                // Queued under the shard's lock, so that the lines of one thread stay in their order.
                self.pool.push_filled(std::mem::take(&mut page.buffer));
            }
        }
    }

    pub(super) fn is_abandoned(&self) -> bool {
        self.abandoned.load(Ordering::Relaxed)
    }

    /// Counts all that was taken and not written as dropped, after nobody waits for the writer any more.
    pub(super) fn abandon(&self) {
        self.abandoned.store(true, Ordering::Relaxed);
        self.collect();
        while let Some(buffer) = self.pool.pop_filled() {
            self.drops.add(buffer.lines);
        }
        self.drops.add(self.in_hand.swap(0, Ordering::Relaxed));
    }

    fn wake_writer(&self) {
        if let Some(writer) = self.writer.get() {
            writer.unpark();
        }
    }
}

impl Shard {
    fn lock(&self) -> MutexGuard<'_, Page> {
        // After a panic within a line the buffer may end in half of one, which is still memory that is safe to write.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
