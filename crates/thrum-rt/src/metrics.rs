//! What the runtime has done, in numbers.

use std::sync::atomic::Ordering;

use crate::Io;
use crate::context;

/// A snapshot of the current runtime; see [`metrics`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Metrics {
    /// How the kernel is asked what is ready; none outside a runtime.
    pub io: Option<Io>,
    /// How many tasks run at the same time at most.
    pub workers: usize,
    /// OS threads of the runtime: workers, standbys, and those stuck in a poll. The watchdog is not counted.
    pub threads: usize,
    /// Threads that wait to stand in for a stuck one.
    pub standbys: usize,
    /// Threads that compute in one poll, their seat handed off.
    pub computing: usize,
    /// Threads that are asleep in the kernel in one poll, their seat handed off.
    pub asleep: usize,
    /// Seats handed off since the start.
    pub hand_offs: u64,
    /// How often a stuck worker could not be helped because of a cap.
    pub at_cap: u64,
    /// Searches that found a task in another thread's queue.
    pub steals: u64,
    /// Tasks in the run queues now.
    pub queued: usize,
}

/// What the runtime of this thread has done so far. All zero and none outside a runtime.
///
/// ```
/// # thrum_rt::block_on(async {
/// assert!(thrum_rt::metrics().workers > 0);
/// # });
/// ```
pub fn metrics() -> Metrics {
    let Some(scheduler) = context::try_scheduler() else {
        return Metrics::default();
    };
    let census = scheduler.standbys.census();
    let counts = &scheduler.counts;
    Metrics {
        io: scheduler.seats.first().map(|seat| seat.reactor.io()),
        workers: scheduler.seats.len(),
        threads: census.alive,
        standbys: census.waiting,
        computing: census.computing,
        asleep: census.asleep,
        hand_offs: counts.hand_offs.load(Ordering::Relaxed),
        at_cap: counts.at_cap.load(Ordering::Relaxed),
        steals: counts.steals.load(Ordering::Relaxed),
        queued: scheduler.members.iter().map(|member| member.queued()).sum(),
    }
}
