//! A deadline that is put off far more often than it passes, such as a connection's idle time.

use std::task::{Context, Poll, Waker};
use std::time::Duration;

use super::clock;
use super::timer::Timer;

/// A deadline that moves lazily.
///
/// Setting it reads a coarse clock and stores a number. The timer behind it stays where it was; when that fires too
/// early it is armed once more for what then remains. So a connection that is busy all day touches the timer wheel about
/// once in each of its timeouts.
///
/// It passes at most 11 ms late, and never early.
///
/// ```
/// use std::time::Duration;
/// use thrum_rt::time::Deadline;
///
/// # thrum_rt::block_on(async {
/// let mut idle = Deadline::new();
/// idle.set(Duration::from_millis(20));
/// std::future::poll_fn(|cx| idle.poll_expired(cx)).await;
/// # });
/// ```
#[derive(Default)]
pub struct Deadline {
    /// Zero: not set.
    at_ms: u64,
    armed: Option<Armed>,
}

struct Armed {
    at_ms: u64,
    waker: Waker,
    timer: Timer,
}

impl Deadline {
    /// A deadline that is not set and so never passes.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the deadline to `after` from now.
    pub fn set(&mut self, after: Duration) {
        self.set_from(clock::coarse_ms(), after);
    }

    /// Sets the deadline to `after` from now and polls it, with one look at the clock for both.
    ///
    /// # Panics
    /// As [`poll_expired`](Self::poll_expired).
    pub fn start(&mut self, after: Duration, cx: &mut Context<'_>) -> Poll<()> {
        let now = clock::coarse_ms();
        self.set_from(now, after);
        self.poll_at(now, cx)
    }

    fn set_from(&mut self, now: u64, after: Duration) {
        self.at_ms = now
            .saturating_add(clock::whole_ms(after))
            .saturating_add(clock::COARSE_LAG_MS);
    }

    /// Makes it never pass. Its timer may still wake the task once.
    pub fn clear(&mut self) {
        self.at_ms = 0;
    }

    /// Whether it is set.
    pub fn is_set(&self) -> bool {
        self.at_ms != 0
    }

    /// Ready once the deadline has passed, and then until it is set again.
    ///
    /// # Panics
    /// When a timer is needed outside a runtime.
    pub fn poll_expired(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        if !self.is_set() {
            return Poll::Pending;
        }
        self.poll_at(clock::coarse_ms(), cx)
    }

    fn poll_at(&mut self, now: u64, cx: &mut Context<'_>) -> Poll<()> {
        // Most often: the timer stands (it cannot have fired yet, though the coarse clock lags), and not too late.
        if let Some(armed) = &self.armed
            && now + clock::COARSE_LAG_MS < armed.at_ms
            && armed.at_ms <= self.at_ms
            && armed.waker.will_wake(cx.waker())
        {
            return Poll::Pending;
        }
        if now >= self.at_ms || clock::now_ms() >= self.at_ms {
            self.armed = None;
            return Poll::Ready(());
        }
        self.arm(cx.waker());
        Poll::Pending
    }

    fn arm(&mut self, waker: &Waker) {
        if let Some(armed) = &mut self.armed
            && armed.at_ms == self.at_ms
            && armed.timer.rewake(waker)
        {
            armed.waker.clone_from(waker);
            return;
        }
        self.armed = None; // the old timer goes before the new one comes
        self.armed = Some(Armed {
            at_ms: self.at_ms,
            waker: waker.clone(),
            timer: Timer::arm(self.at_ms, waker),
        });
    }
}

impl std::fmt::Debug for Deadline {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let remaining = self.is_set().then(|| clock::until(self.at_ms));
        f.debug_struct("Deadline")
            .field("remaining", &remaining)
            .finish()
    }
}
