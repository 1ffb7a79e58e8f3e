//! The scheduler: who runs which task, and what happens when a worker is stuck.
//!
//! # Seats, threads, queues
//! There are as many *seats* as workers were asked for. A seat has a reactor and, at any time, one OS thread that holds it;
//! only a thread with a seat runs tasks. (Go calls a seat a P, GHC a capability.) A thread, not a seat, owns a run queue:
//!
//! ```text
//!   injector  <- wakes from outside               seat 0: reactor 0, held by thread 0    thread 0: queue, last-in slot
//!                                                 seat 1: reactor 1, held by thread 3    thread 1: queue (stuck: a hog)
//!                                                                                        thread 2: standby
//!                                                                                        thread 3: queue, last-in slot
//! ```
//!
//! A task that is woken goes to the queue of the thread that wakes it, or to the injector if that thread has no seat. A
//! thread runs, in this order: its last-in slot (a task woken by the one that just ran; three times in a row at most), its
//! queue, the injector, what it steals from other threads' queues; then it parks in a turn of its seat's reactor. Every 61
//! polls it looks at the injector and the reactor first, so that neither waits for ever behind a queue that never empties.
//!
//! # Parking without losing a wake-up
//! A worker marks its seat asleep, *then* looks once more at all queues, then waits. Who adds a task does so *first* and
//! then looks for a sleeping seat, with a sequentially consistent fence between the two on each side. So one of them sees
//! the other ([`sleepers`]). No one is woken for a task put into an empty last-in slot, nor while a worker is searching;
//! a searcher that finds something wakes the next, so a burst spreads out without a stampede.
//!
//! # Hand-off
//! When the watchdog finds a worker stuck in one poll it marks the thread *superseded* and gives its seat to a standby
//! thread, a new one if there is none. The stuck thread stays the only producer of its own queue; its successor empties
//! that queue as an ordinary thief and takes the turn of the reactor. Superseding is a flag and a lock, no transfer:
//!
//! * The seat is taken from its holder by one atomic exchange. A thread that is about to block may hand its seat off at
//!   the moment that the watchdog does; only one of them finds it there.
//! * The hog is in the poll of a task: it has no turn, and its next look at the flag is when that poll is over. Then it
//!   puts what is left in its queue into the injector and becomes a standby itself.
//! * A task that it wakes from within the poll goes to its queue, and it looks at the flag *after* that. Its successor
//!   looks at the queue after the flag is set. Either one sees the task.
//! * A worker that was not stuck after all (it had just come back when the flag was set) finds the flag at its next look.
//!   If it had begun to wait in its reactor's turn, its successor interrupts it. Until then two threads run tasks: no harm.
//!
//! # Rejected
//! * Moving a stuck thread's queue, as tokio's `block_in_place` moves its core: the owner may be in the middle of a push.
//! * A queue for each seat: then a hand-off would change its producer, which is the same.
//! * Waking a parked worker to serve a stuck neighbour's reactor: it would have to wait on two.

mod hogs;
mod last_in;
mod member;
#[cfg(all(test, loom))]
mod model;
mod seat;
mod simulate;
mod sleepers;
mod standby;
mod worker;

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, AtomicUsize, Ordering};
use std::time::Duration;

use crossbeam_deque::{Injector, Steal};

pub use self::hogs::Hog;
use self::hogs::Hogs;
pub(crate) use self::member::{Histogram, Member, Members};
pub(crate) use self::seat::Seat;
use self::sleepers::Sleepers;
use self::standby::Standbys;
pub(crate) use self::standby::Verdict;
pub(crate) use self::worker::Worker;
use crate::reactor::{Io, Reactor};
use crate::registry;
use crate::shim::fence;
use crate::task::Runnable;
use crate::watchdog::Bell;

static NEXT_NUMBER: AtomicU32 = AtomicU32::new(0);

/// What all threads of a runtime share.
pub(crate) struct Scheduler {
    /// Tells this runtime from the others of the process.
    pub(crate) number: u32,
    pub(crate) seats: Box<[Seat]>,
    pub(crate) members: Members,
    injector: Injector<Runnable>,
    sleepers: Sleepers,
    /// Workers that look for something to steal.
    searching: AtomicUsize,
    pub(crate) standbys: Standbys,
    /// Rings the watchdog out of its sleep.
    pub(crate) bell: Bell,
    ended: AtomicBool,
    /// It has ended, and its tasks were dropped.
    is_over: AtomicBool,
    /// Another thread can run while this one does.
    has_cpus: bool,
    next_reactor: AtomicUsize,
    pub(crate) counts: Counts,
    pub(crate) hogs: Hogs,
}

/// What has happened since the start.
#[derive(Default)]
pub(crate) struct Counts {
    pub(crate) steals: AtomicU64,
    pub(crate) hand_offs: AtomicU64,
    pub(crate) at_cap: AtomicU64,
    /// Hand-offs of hogs that were back at once.
    pub(crate) wasted: AtomicU64,
    /// The slice, as the watchdog has adapted it.
    pub(crate) slice_us: AtomicU64,
}

impl Scheduler {
    /// A scheduler with its threads not yet started.
    pub(crate) fn new(workers: usize, max_threads: usize, io: Io) -> io::Result<Self> {
        let seats = (0..workers)
            .map(|_| Seat::new(io))
            .collect::<io::Result<_>>()?;
        Ok(Self {
            number: NEXT_NUMBER.fetch_add(1, Ordering::Relaxed) & registry::MAX_RUNTIME,
            seats,
            members: Members::new(workers + max_threads),
            injector: Injector::new(),
            sleepers: Sleepers::new(workers),
            searching: AtomicUsize::new(0),
            standbys: Standbys::default(),
            bell: Bell::default(),
            ended: AtomicBool::new(false),
            is_over: AtomicBool::new(false),
            has_cpus: std::thread::available_parallelism().is_ok_and(|cpus| cpus.get() > 1),
            next_reactor: AtomicUsize::new(0),
            counts: Counts::default(),
            hogs: Hogs::default(),
        })
    }

    /// Makes a task that was woken run: what every waker comes down to.
    pub(crate) fn schedule(runnable: Runnable, woken_while_running: bool) {
        crate::context::with_worker(|worker| match worker {
            Some(worker) if worker.is_of(&runnable.metadata().scheduler) => {
                worker.push(runnable, woken_while_running);
            }
            _ => {
                let scheduler = runnable.metadata().scheduler.clone();
                scheduler.inject(runnable);
            }
        });
    }

    /// Adds a task from outside the workers.
    pub(crate) fn inject(&self, runnable: Runnable) {
        self.injector.push(runnable);
        fence(Ordering::SeqCst);
        if self.is_over.load(Ordering::Relaxed) {
            // Nobody would run it; dropping it drops its future.
            self.drop_injected();
        } else {
            self.notify();
        }
    }

    /// Wakes a sleeping worker, unless one is looking for tasks already. Call it after the task is in its queue.
    fn notify(&self) {
        fence(Ordering::SeqCst);
        if self.searching.load(Ordering::Relaxed) > 0 {
            return;
        }
        if let Some(seat) = self.sleepers.wake_one() {
            self.seats[seat].reactor.interrupt();
        }
    }

    pub(crate) fn is_asleep(&self, seat: usize) -> bool {
        self.sleepers.is_asleep(seat)
    }

    pub(crate) fn has_ended(&self) -> bool {
        self.ended.load(Ordering::Acquire)
    }

    /// Whether a task waits in the injector.
    pub(crate) fn has_injected(&self) -> bool {
        !self.injector.is_empty()
    }

    /// Whether a task waits in any queue.
    fn has_tasks(&self) -> bool {
        self.has_injected() || self.members.iter().any(|member| member.has_tasks())
    }

    /// How many tasks wait in the injector.
    pub(crate) fn injected(&self) -> usize {
        self.injector.len()
    }

    /// The next reactor in turn.
    pub(crate) fn any_reactor(&self) -> Arc<Reactor> {
        let next = self.next_reactor.fetch_add(1, Ordering::Relaxed);
        self.seats[next % self.seats.len()].reactor.clone()
    }

    /// Starts a thread for each seat.
    pub(crate) fn start(self: &Arc<Self>) -> io::Result<()> {
        for seat in 0..self.seats.len() {
            self.start_thread(seat, None)?;
        }
        Ok(())
    }

    /// Ends the runtime: every worker ends after the poll it is in. Waits for them, but for those that are stuck no longer
    /// than `grace`; then drops all tasks, in the order of spawning. Returns how many threads were left behind.
    pub(crate) fn end(&self, grace: Duration) -> usize {
        self.ended.store(true, Ordering::SeqCst);
        for seat in &self.seats {
            seat.reactor.interrupt();
        }
        self.bell.ring();
        let left = self.standbys.end(grace);
        self.drop_tasks();
        left
    }

    /// Drops every task that no thread is polling. They are woken into the injector and dropped from there, not by whoever
    /// wakes them: that one may hold a lock which the dropped future wants (h2 wakes so).
    fn drop_tasks(&self) {
        for waker in registry::wakers(self.number) {
            waker.wake();
            self.drop_injected();
        }
        // Those that were in a queue already.
        for member in self.members.iter() {
            member.drop_tasks();
        }
        self.is_over.store(true, Ordering::SeqCst);
        fence(Ordering::SeqCst);
        self.drop_injected();
        // Whoever waits without being a task, such as in a `block_on` of another runtime.
        for seat in &self.seats {
            seat.reactor.release_waiters();
        }
    }

    fn drop_injected(&self) {
        loop {
            match self.injector.steal() {
                Steal::Success(runnable) => drop(runnable),
                Steal::Retry => {}
                Steal::Empty => return,
            }
        }
    }
}
