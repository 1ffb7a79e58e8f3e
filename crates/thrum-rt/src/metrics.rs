//! What the runtime has done, in numbers.

use std::fmt;
use std::sync::atomic::Ordering;
use std::time::Duration;

use crate::Io;
use crate::context;
use crate::net;
use crate::registry;
use crate::scheduler::{Histogram, Scheduler};

/// A snapshot of the current runtime; see [`metrics`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
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
    /// Tasks that have not ended.
    pub tasks: usize,
    /// Polls of tasks since the start.
    pub polls: u64,
    /// How long polls take, by a sample of them: one in 61 while there is much to do.
    pub poll_times: PollTimes,
    /// Searches that found a task in another thread's queue.
    pub steals: u64,
    /// Seats handed off since the start.
    pub hand_offs: u64,
    /// Hand-offs of tasks that were done right after.
    pub wasted_hand_offs: u64,
    /// How often a stuck worker could not be helped because of a cap.
    pub at_cap: u64,
    /// How long a poll may take at present before it is suspect; it adapts.
    pub slice: Duration,
    /// Tasks in the queue that is common to all workers.
    pub injected: usize,
    /// Tasks in the queue of each thread, by the thread's number.
    pub queued: Vec<usize>,
    /// How often a listener of this process could not accept and tried again; see
    /// [`TcpListener::accept`](crate::net::TcpListener::accept).
    pub accept_errors: u64,
}

/// What the runtime of this thread has done so far. All zero and none outside a runtime.
///
/// ```
/// # thrum_rt::block_on(async {
/// assert!(thrum_rt::metrics().workers > 0);
/// # });
/// ```
pub fn metrics() -> Metrics {
    context::try_scheduler().map_or_else(Metrics::default, |scheduler| of(&scheduler))
}

pub(crate) fn of(scheduler: &Scheduler) -> Metrics {
    let census = scheduler.standbys.census();
    let counts = &scheduler.counts;
    let members = || scheduler.members.iter();
    let mut poll_times = PollTimes::default();
    members().for_each(|member| member.activity.poll_times().add_to(&mut poll_times.counts));
    Metrics {
        io: scheduler.seats.first().map(|seat| seat.reactor.io()),
        workers: scheduler.seats.len(),
        threads: census.alive,
        standbys: census.waiting,
        computing: census.computing,
        asleep: census.asleep,
        tasks: registry::count(scheduler.number),
        polls: members().map(|member| member.activity.polls()).sum(),
        poll_times,
        steals: counts.steals.load(Ordering::Relaxed),
        hand_offs: counts.hand_offs.load(Ordering::Relaxed),
        wasted_hand_offs: counts.wasted.load(Ordering::Relaxed),
        at_cap: counts.at_cap.load(Ordering::Relaxed),
        slice: Duration::from_micros(counts.slice_us.load(Ordering::Relaxed)),
        injected: scheduler.injected(),
        queued: members().map(|member| member.queued()).collect(),
        accept_errors: net::accept_errors(),
    }
}

impl Metrics {
    /// Tasks in all run queues.
    pub fn total_queued(&self) -> usize {
        self.injected + self.queued.iter().sum::<usize>()
    }
}

/// A histogram of poll times, with a bucket for each power of two of microseconds.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct PollTimes {
    counts: [u64; Histogram::BUCKETS],
}

impl PollTimes {
    /// Each bucket: the time that its polls stayed below, and how many they are. The last has no bound.
    pub fn buckets(&self) -> impl Iterator<Item = (Duration, u64)> {
        let last = Histogram::BUCKETS - 1;
        self.counts.iter().enumerate().map(move |(index, &count)| {
            let below = match index {
                index if index == last => Duration::MAX,
                index => Duration::from_micros(1 << index),
            };
            (below, count)
        })
    }

    /// A time that so large a share of the polls, from 0 to 1, stayed below. `None` if there was none yet.
    pub fn quantile(&self, share: f64) -> Option<Duration> {
        let total: u64 = self.counts.iter().sum();
        let wanted = (total as f64 * share.clamp(0.0, 1.0)).ceil() as u64;
        let mut seen = 0;
        let mut buckets = self.buckets();
        let found = buckets.find(|(_, count)| {
            seen += count;
            seen >= wanted.max(1)
        });
        found.map(|(below, _)| below)
    }
}

impl fmt::Debug for PollTimes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let used = self.buckets().filter(|(_, count)| *count > 0);
        f.debug_map().entries(used).finish()
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn a_quantile_is_the_bound_of_its_bucket() {
        let mut times = PollTimes::default();
        assert_eq!(times.quantile(0.5), None);
        times.counts[0] = 90; // below 1 us
        times.counts[10] = 10; // below 1.024 ms
        assert_eq!(times.quantile(0.5), Some(Duration::from_micros(1)));
        assert_eq!(times.quantile(0.99), Some(Duration::from_micros(1024)));
    }
}
