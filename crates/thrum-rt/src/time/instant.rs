//! A moment of the runtime's clock.

use std::ops::{Add, AddAssign, Sub, SubAssign};
use std::time::Duration;

use super::clock;

/// A moment of the clock that all waits keep to: CLOCK_MONOTONIC, or in a [simulation](mod@crate::test) that one's own. It is
/// used as [`std::time::Instant`] is.
///
/// ```
/// use std::time::Duration;
/// use thrum_rt::time::{Instant, sleep_until};
///
/// # thrum_rt::block_on(async {
/// let begin = Instant::now();
/// sleep_until(begin + Duration::from_millis(5)).await;
/// assert!(begin.elapsed() >= Duration::from_millis(5));
/// # });
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Instant(Duration);

impl Instant {
    /// The present.
    pub fn now() -> Self {
        Self(clock::now())
    }

    /// How long ago this was; zero if it is to come.
    pub fn elapsed(&self) -> Duration {
        Self::now().duration_since(*self)
    }

    /// The time from an earlier moment to this; zero if that one is later.
    pub fn duration_since(&self, earlier: Self) -> Duration {
        self.0.saturating_sub(earlier.0)
    }

    /// The time from an earlier moment to this, if it is earlier.
    pub fn checked_duration_since(&self, earlier: Self) -> Option<Duration> {
        self.0.checked_sub(earlier.0)
    }

    /// The moment so much later, unless it is too far away to be told.
    pub fn checked_add(&self, duration: Duration) -> Option<Self> {
        self.0.checked_add(duration).map(Self)
    }

    /// The moment so much earlier, unless it was before the clock began.
    pub fn checked_sub(&self, duration: Duration) -> Option<Self> {
        self.0.checked_sub(duration).map(Self)
    }

    /// The first reading of the clock, in milliseconds, that is not before this.
    pub(super) fn reading(&self) -> u64 {
        clock::whole_ms(self.0)
    }
}

/// # Panics
/// When the result is too far away to be told.
impl Add<Duration> for Instant {
    type Output = Self;

    fn add(self, duration: Duration) -> Self {
        Self(self.0 + duration)
    }
}

impl AddAssign<Duration> for Instant {
    fn add_assign(&mut self, duration: Duration) {
        *self = *self + duration;
    }
}

/// # Panics
/// When the result is before the clock began.
impl Sub<Duration> for Instant {
    type Output = Self;

    fn sub(self, duration: Duration) -> Self {
        Self(self.0 - duration)
    }
}

impl SubAssign<Duration> for Instant {
    fn sub_assign(&mut self, duration: Duration) {
        *self = *self - duration;
    }
}

impl Sub for Instant {
    type Output = Duration;

    fn sub(self, earlier: Self) -> Duration {
        self.duration_since(earlier)
    }
}
