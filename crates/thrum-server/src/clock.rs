//! A clock that nobody sets.

use std::sync::LazyLock;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// The wall clock as it was when it was first asked for, carried on by one that nobody sets. So ages are what has passed,
/// whatever becomes of the wall clock meanwhile, and yet these are times that the next process can make something of.
pub(crate) fn steady() -> SystemTime {
    static START: LazyLock<(SystemTime, Duration)> =
        LazyLock::new(|| (SystemTime::now(), since_boot()));
    let (wall, start) = *START;
    wall + since_boot().saturating_sub(start)
}

/// The same in whole seconds since 1970.
pub(crate) fn steady_second() -> u64 {
    let since = steady().duration_since(UNIX_EPOCH);
    since.map_or(0, |since| since.as_secs())
}

/// The time that the machine was asleep counts: what is kept has aged meanwhile.
#[cfg(target_os = "linux")]
fn since_boot() -> Duration {
    let now = rustix::time::clock_gettime(rustix::time::ClockId::Boottime);
    Duration::try_from(now).unwrap_or_default()
}

#[cfg(not(target_os = "linux"))]
fn since_boot() -> Duration {
    static START: LazyLock<std::time::Instant> = LazyLock::new(std::time::Instant::now);
    START.elapsed()
}
