//! The runtime's clock: milliseconds of CLOCK_MONOTONIC, which no clock step moves.

use std::time::Duration;

use rustix::time::{ClockId, Timespec, clock_gettime};

/// The coarse clock lags by at most one tick of the slowest kernel (100 Hz).
pub(crate) const COARSE_LAG_MS: u64 = 10;

/// The present.
pub(crate) fn now_ms() -> u64 {
    ms(clock_gettime(ClockId::Monotonic))
}

/// The present, or up to [`COARSE_LAG_MS`] before it, for a fifth of the price.
pub(crate) fn coarse_ms() -> u64 {
    ms(clock_gettime(ClockId::MonotonicCoarse))
}

/// The wall clock, as coarse.
pub(crate) fn coarse_unix_time() -> Duration {
    let time = clock_gettime(ClockId::RealtimeCoarse);
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}

/// How long until the clock reads `at_ms`.
pub(crate) fn until(at_ms: u64) -> Duration {
    let now = clock_gettime(ClockId::Monotonic);
    let now = Duration::new(now.tv_sec as u64, now.tv_nsec as u32);
    Duration::from_millis(at_ms).saturating_sub(now)
}

/// The first reading of the clock that is at least `duration` from now.
pub(crate) fn after(duration: Duration) -> u64 {
    // A reading is rounded down, so the present millisecond may be nearly over: one more.
    now_ms()
        .saturating_add(whole_ms(duration))
        .saturating_add(1)
}

/// A duration in milliseconds, rounded up.
pub(crate) fn whole_ms(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos().div_ceil(1_000_000)).unwrap_or(u64::MAX)
}

fn ms(time: Timespec) -> u64 {
    time.tv_sec as u64 * 1000 + time.tv_nsec as u64 / 1_000_000
}
