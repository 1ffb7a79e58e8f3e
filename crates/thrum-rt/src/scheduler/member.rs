//! What others may see of a worker thread: the thief's end of its queue, its last-in slot, and what it is doing.

use std::panic::Location;
use std::sync::atomic::{AtomicU32, AtomicU64, AtomicUsize};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use crossbeam_deque::{Steal, Stealer, Worker as Queue};
use crossbeam_utils::CachePadded;
use crossbeam_utils::atomic::AtomicCell;

use super::last_in::LastIn;
use super::standby::{Assignment, Verdict};
use crate::registry::Record;
use crate::shim::{AtomicBool, Condvar, Mutex, MutexGuard, Ordering};
use crate::task::Runnable;

/// A place in the table of threads. A thread that ends leaves its place, with the queue, to the next that starts.
pub(crate) struct Member {
    pub(crate) id: usize,
    stealer: Stealer<Runnable>,
    /// The owner's end of the queue, between two threads.
    queue: Mutex<Option<Queue<Runnable>>>,
    /// The task woken last, by the task that runs now. It runs next, while what it needs is in the cache.
    pub(super) last_in: LastIn,
    pub(crate) activity: CachePadded<Activity>,
    /// Its seat was given to another thread.
    superseded: AtomicBool,
    /// How it was found stuck when that happened.
    found: Mutex<Option<Superseded>>,
    /// Runs at the lowest priority since.
    lowered: AtomicBool,
    tid: AtomicU32,
    /// The seat that a standby is to take next.
    pub(super) desk: Mutex<Option<Assignment>>,
    pub(super) called: Condvar,
}

/// What a thread is doing, for the watchdog. Written by the thread alone.
#[derive(Default)]
pub(crate) struct Activity {
    /// Counts polls.
    polls: AtomicU64,
    /// The task of the latest poll.
    record: AtomicCell<Option<&'static Record>>,
    /// How long some of the polls took.
    poll_times: Histogram,
}

impl Activity {
    /// Notes that a poll begins.
    pub(super) fn begin_poll(&self, record: &'static Record) {
        self.polls
            .store(self.polls.load(Ordering::Relaxed) + 1, Ordering::Relaxed);
        self.record.store(Some(record));
    }

    pub(crate) fn polls(&self) -> u64 {
        self.polls.load(Ordering::Relaxed)
    }

    /// Where the task of the latest poll was spawned.
    pub(crate) fn spawned_at(&self) -> Option<&'static Location<'static>> {
        self.record.load()?.spawned_at()
    }

    pub(crate) fn poll_times(&self) -> &Histogram {
        &self.poll_times
    }
}

/// How often something took so long. Written by one thread.
#[derive(Default)]
pub(crate) struct Histogram([AtomicU64; Self::BUCKETS]);

impl Histogram {
    pub(crate) const BUCKETS: usize = 20;

    /// Adds a duration to the bucket below the next power of two, in microseconds.
    pub(super) fn add(&self, duration: Duration) {
        let us = u64::try_from(duration.as_micros()).unwrap_or(u64::MAX);
        let bucket = (u64::BITS - us.leading_zeros()) as usize;
        let count = &self.0[bucket.min(Self::BUCKETS - 1)];
        count.store(count.load(Ordering::Relaxed) + 1, Ordering::Relaxed);
    }

    /// Adds its counts to others.
    pub(crate) fn add_to(&self, sums: &mut [u64; Self::BUCKETS]) {
        for (sum, count) in sums.iter_mut().zip(&self.0) {
            *sum += count.load(Ordering::Relaxed);
        }
    }
}

/// How a thread was found stuck, and when.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Superseded {
    pub(crate) verdict: Verdict,
    pub(crate) at: Instant,
    /// It had said so itself.
    pub(crate) announced: bool,
    /// Where the task that holds it was spawned.
    pub(crate) spawned_at: Option<&'static Location<'static>>,
}

impl Member {
    pub(super) fn new(id: usize) -> Self {
        let queue = Queue::new_fifo();
        Self {
            id,
            stealer: queue.stealer(),
            queue: Mutex::new(Some(queue)),
            last_in: LastIn::default(),
            activity: CachePadded::default(),
            superseded: AtomicBool::new(false),
            found: Mutex::new(None),
            lowered: AtomicBool::new(false),
            tid: AtomicU32::new(0),
            desk: Mutex::new(None),
            called: Condvar::default(),
        }
    }

    /// Takes the place for the calling thread.
    pub(super) fn move_in(&self) -> Queue<Runnable> {
        self.tid.store(
            rustix::thread::gettid().as_raw_nonzero().get() as u32,
            Ordering::Relaxed,
        );
        self.lowered.store(false, Ordering::Relaxed);
        let queue = self.queue.lock().take();
        queue.expect("a free place has its queue")
    }

    /// Leaves the place.
    pub(super) fn move_out(&self, queue: Queue<Runnable>) {
        self.tid.store(0, Ordering::Relaxed);
        *self.queue.lock() = Some(queue);
    }

    /// The kernel's number of the thread.
    pub(crate) fn tid(&self) -> u32 {
        self.tid.load(Ordering::Relaxed)
    }

    /// Takes about half of the queue's tasks over to `queue` and returns one of them.
    pub(super) fn steal_into(&self, queue: &Queue<Runnable>) -> Option<Runnable> {
        loop {
            match self.stealer.steal_batch_and_pop(queue) {
                Steal::Success(runnable) => return Some(runnable),
                Steal::Retry => {}
                Steal::Empty => return None,
            }
        }
    }

    /// Whether the thread has tasks waiting behind the one that it runs.
    pub(crate) fn has_tasks(&self) -> bool {
        !self.stealer.is_empty() || self.last_in.is_full()
    }

    pub(crate) fn queued(&self) -> usize {
        self.stealer.len()
    }

    pub(super) fn is_superseded(&self) -> bool {
        self.superseded.load(Ordering::SeqCst)
    }

    /// Ends its right to the seat. It notices when its poll is over.
    pub(super) fn supersede(&self, verdict: Verdict, announced: bool) {
        *self.lock_found() = Some(Superseded {
            verdict,
            at: Instant::now(),
            announced,
            spawned_at: self.activity.spawned_at(),
        });
        self.superseded.store(true, Ordering::SeqCst);
    }

    /// Notes that the thread is back from the poll that it was superseded in; tells how it had been found.
    pub(super) fn come_back(&self) -> Option<Superseded> {
        self.superseded.store(false, Ordering::SeqCst);
        self.lock_found().take()
    }

    /// How it was found stuck, until it is back.
    pub(crate) fn found(&self) -> Option<Superseded> {
        *self.lock_found()
    }

    fn lock_found(&self) -> MutexGuard<'_, Option<Superseded>> {
        self.found.lock()
    }

    pub(super) fn mark_lowered(&self) {
        self.lowered.store(true, Ordering::SeqCst);
    }

    pub(super) fn is_lowered(&self) -> bool {
        self.lowered.load(Ordering::SeqCst)
    }

    pub(super) fn clear_lowered(&self) {
        self.lowered.store(false, Ordering::SeqCst);
    }

    /// Drops the queued tasks, as the runtime ends.
    pub(super) fn drop_tasks(&self) {
        drop(self.last_in.take());
        loop {
            match self.stealer.steal() {
                Steal::Success(runnable) => drop(runnable),
                Steal::Retry => {}
                Steal::Empty => break,
            }
        }
    }
}

/// How many threads there may be, and the places taken so far.
pub(crate) struct Members {
    places: Box<[OnceLock<Arc<Member>>]>,
    /// Places below this have been used; thieves look no further.
    used: AtomicUsize,
    free: Mutex<Vec<usize>>,
}

impl Members {
    pub(super) fn new(places: usize) -> Self {
        Self {
            places: (0..places).map(|_| OnceLock::new()).collect(),
            used: AtomicUsize::new(0),
            free: Mutex::new(Vec::new()),
        }
    }

    /// Takes a free place; none when there are as many threads as there may be.
    pub(super) fn claim(&self) -> Option<Arc<Member>> {
        let mut free = self.free.lock();
        let id = free.pop().or_else(|| {
            let next = self.used.load(Ordering::Relaxed);
            (next < self.places.len()).then_some(next)
        })?;
        let member = self.places[id]
            .get_or_init(|| Arc::new(Member::new(id)))
            .clone();
        self.used.fetch_max(id + 1, Ordering::Release);
        Some(member)
    }

    pub(super) fn release(&self, id: usize) {
        self.free.lock().push(id);
    }

    pub(crate) fn get(&self, id: usize) -> Option<&Arc<Member>> {
        self.places.get(id)?.get()
    }

    /// Every place that has been used.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &Arc<Member>> {
        self.places[..self.len()].iter().filter_map(OnceLock::get)
    }

    /// How many places have been used.
    pub(super) fn len(&self) -> usize {
        self.used.load(Ordering::Acquire)
    }
}
