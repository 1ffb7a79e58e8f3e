//! The runtime's clock: milliseconds of CLOCK_MONOTONIC, which no clock step moves, and which stands still while the machine
//! is suspended: a wait goes on afterwards with what was left of it.
//!
//! A thread that runs a [simulation](mod@crate::test) has a clock of its own, which moves only when it is told to.

use std::cell::Cell;
use std::time::Duration;

use rustix::time::{ClockId, Timespec, clock_gettime};

/// The coarse clock lags by at most one tick of the slowest kernel (100 Hz).
pub(crate) const COARSE_LAG_MS: u64 = 10;

thread_local! {
    /// What the clock reads on this thread, in a simulation. Zero: there is none.
    static SIMULATED: Cell<u64> = const { Cell::new(0) };
}

/// Sets this thread's clock, until the guard is dropped.
pub(crate) fn simulate(at_ms: u64) -> Simulated {
    Simulated {
        before: SIMULATED.replace(at_ms),
    }
}

pub(crate) struct Simulated {
    before: u64,
}

impl Simulated {
    /// Moves time on.
    pub(crate) fn advance_to(&self, at_ms: u64) {
        SIMULATED.set(at_ms.max(SIMULATED.get()));
    }
}

impl Drop for Simulated {
    fn drop(&mut self) {
        SIMULATED.set(self.before);
    }
}

fn simulated() -> Option<u64> {
    match SIMULATED.get() {
        0 => None,
        at_ms => Some(at_ms),
    }
}

/// The present.
pub(crate) fn now_ms() -> u64 {
    simulated().unwrap_or_else(|| ms(clock_gettime(ClockId::Monotonic)))
}

/// The present, exactly.
pub(crate) fn now() -> Duration {
    simulated().map_or_else(
        || duration(clock_gettime(ClockId::Monotonic)),
        Duration::from_millis,
    )
}

/// The present, or up to [`COARSE_LAG_MS`] before it, for a fifth of the price.
pub(crate) fn coarse_ms() -> u64 {
    simulated().unwrap_or_else(|| ms(clock_gettime(ClockId::MonotonicCoarse)))
}

/// Whether the clock reads `at_ms` or more. It asks the exact clock only if the coarse one does not tell.
pub(crate) fn has_come(at_ms: u64) -> bool {
    let coarse = coarse_ms();
    coarse >= at_ms || (coarse + COARSE_LAG_MS >= at_ms && now_ms() >= at_ms)
}

/// The wall clock, as coarse.
pub(crate) fn coarse_unix_time() -> Duration {
    duration(clock_gettime(ClockId::RealtimeCoarse))
}

/// How long until the clock reads `at_ms`.
pub(crate) fn until(at_ms: u64) -> Duration {
    Duration::from_millis(at_ms).saturating_sub(now())
}

/// The first reading of the clock that is at least `duration` from now.
pub(crate) fn after(duration: Duration) -> u64 {
    // A reading is rounded down, so the present millisecond may be nearly over: one more. A simulated one is exact.
    let begun = u64::from(simulated().is_none());
    now_ms()
        .saturating_add(whole_ms(duration))
        .saturating_add(begun)
}

/// A duration in milliseconds, rounded up.
pub(crate) fn whole_ms(duration: Duration) -> u64 {
    let begun = duration.subsec_nanos().div_ceil(1_000_000);
    duration
        .as_secs()
        .saturating_mul(1000)
        .saturating_add(u64::from(begun))
}

fn ms(time: Timespec) -> u64 {
    time.tv_sec as u64 * 1000 + time.tv_nsec as u64 / 1_000_000
}

fn duration(time: Timespec) -> Duration {
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}
