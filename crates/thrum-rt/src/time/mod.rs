//! Waiting for time to pass: [`sleep`], [`timeout`], [`interval`], and [`Deadline`] for what is put off again and again.
//!
//! All waits have a resolution of one millisecond and never end early. They read CLOCK_MONOTONIC, so setting the wall
//! clock moves none of them; while the machine is suspended they stand still. Tests can have a clock that jumps: see
//! [`test`](mod@crate::test).

pub(crate) mod clock;
mod deadline;
mod instant;
mod timer;

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

pub use std::time::Duration;

use pin_project_lite::pin_project;

pub use self::deadline::Deadline;
pub use self::instant::Instant;
use self::timer::Timer;
use crate::budget;
use crate::waiting::{self, Waiting};

/// The wall clock's time since 1970, up to 10 ms old, for a fraction of the price of [`std::time::SystemTime::now`]: for time
/// stamps in whole seconds.
pub fn coarse_unix_time() -> Duration {
    clock::coarse_unix_time()
}

/// Waits for at least `duration`.
///
/// Dropping the future forgets the wait.
///
/// # Panics
/// When polled outside a runtime.
pub fn sleep(duration: Duration) -> Sleep {
    Sleep {
        at_ms: clock::after(duration),
        timer: None,
    }
}

/// Waits until `at`.
///
/// # Panics
/// When polled outside a runtime.
pub fn sleep_until(at: Instant) -> Sleep {
    Sleep {
        at_ms: at.reading(),
        timer: None,
    }
}

/// The future of [`sleep`].
#[must_use = "futures do nothing unless awaited"]
pub struct Sleep {
    at_ms: u64,
    timer: Option<Timer>,
}

impl Sleep {
    fn is_over(&self) -> bool {
        clock::has_come(self.at_ms)
    }
}

impl Future for Sleep {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        if budget::exhausted(cx) {
            return Poll::Pending;
        }
        if self.is_over() {
            self.timer = None;
            budget::spend(1);
            return Poll::Ready(());
        }
        let armed = self
            .timer
            .as_ref()
            .is_some_and(|timer| timer.rewake(cx.waker()));
        if !armed {
            self.timer = Some(Timer::arm(self.at_ms, cx.waker()));
        }
        waiting::note(Waiting::Until(self.at_ms));
        Poll::Pending
    }
}

impl fmt::Debug for Sleep {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Sleep")
            .field("remaining", &clock::until(self.at_ms))
            .finish()
    }
}

/// Gives `future` so much time, and drops it when that is over.
///
/// ```
/// use std::time::Duration;
/// use thrum_rt::time::{sleep, timeout};
///
/// # thrum_rt::block_on(async {
/// let slow = timeout(Duration::from_millis(5), sleep(Duration::from_secs(60))).await;
/// assert!(slow.is_err());
/// # });
/// ```
///
/// # Errors
/// [`Elapsed`] if the time was over before the future was done. A future that is done is returned, however late.
pub fn timeout<F: Future>(duration: Duration, future: F) -> Timeout<F> {
    Timeout {
        future,
        sleep: sleep(duration),
    }
}

pin_project! {
    /// The future of [`timeout`].
    #[must_use = "futures do nothing unless awaited"]
    #[derive(Debug)]
    pub struct Timeout<F> {
        #[pin]
        future: F,
        #[pin]
        sleep: Sleep,
    }
}

impl<F: Future> Future for Timeout<F> {
    type Output = Result<F::Output, Elapsed>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let this = self.project();
        if let Poll::Ready(output) = this.future.poll(cx) {
            return Poll::Ready(Ok(output));
        }
        // A future that uses up the budget of every poll leaves the sleep none, and would never run out of time.
        if this.sleep.is_over() {
            return Poll::Ready(Err(Elapsed));
        }
        this.sleep.poll(cx).map(|()| Err(Elapsed))
    }
}

/// The time that [`timeout`] gave was over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Elapsed;

impl fmt::Display for Elapsed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("timed out")
    }
}

impl std::error::Error for Elapsed {}

impl From<Elapsed> for std::io::Error {
    fn from(elapsed: Elapsed) -> Self {
        Self::new(std::io::ErrorKind::TimedOut, elapsed)
    }
}

/// Ticks every `period`; the first tick is one period from now.
///
/// Ticks keep to the schedule. One that nobody waited for is skipped, so a late task gets the next tick when that is due.
///
/// # Panics
/// If `period` is less than a millisecond.
pub fn interval(period: Duration) -> Interval {
    let period_ms = clock::whole_ms(period);
    assert!(
        period >= Duration::from_millis(1),
        "an interval's period is at least a millisecond"
    );
    Interval {
        next_ms: clock::after(period),
        period_ms,
    }
}

/// What [`interval`] makes.
#[derive(Debug)]
pub struct Interval {
    next_ms: u64,
    period_ms: u64,
}

impl Interval {
    /// Waits for the next tick. Dropping the future loses no tick.
    pub async fn tick(&mut self) {
        Sleep {
            at_ms: self.next_ms,
            timer: None,
        }
        .await;
        let late = clock::now_ms().saturating_sub(self.next_ms);
        self.next_ms += self.period_ms * (1 + late / self.period_ms);
    }
}
