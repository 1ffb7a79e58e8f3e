//! What is asked again, of another upstream: only what does no harm twice, so many times, for so long, and not so much of it
//! that it makes a bad hour worse.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use http::Request;
use thrum_http::Body;
use thrum_http::client::Failed;

/// How much is asked again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Retries {
    /// Upstreams that a request is taken to after the first.
    pub(super) count: u32,
    /// From the beginning of a request; later nothing is asked again.
    pub(super) period: Duration,
    /// Requests of a hundred that may be asked again in the long run.
    pub(super) percent: u32,
}

/// Hundredths of retries that there may be now. Requests put in, retries take out.
#[derive(Debug)]
pub(super) struct Budget(AtomicU64);

/// Retries that there may be at once, however few requests there were before.
const BURST: u64 = 20;

impl Budget {
    pub(super) fn new() -> Self {
        Self(AtomicU64::new(BURST * 100))
    }

    /// A request comes.
    pub(super) fn deposit(&self, retries: &Retries) {
        let before = self.0.load(Ordering::Relaxed);
        if before < BURST * 100 {
            // Mostly it is full. What a race puts in twice is little.
            let after = (before + u64::from(retries.percent)).min(BURST * 100);
            self.0.store(after, Ordering::Relaxed);
        }
    }

    /// Whether there may be a retry, which then counts.
    fn withdraw(&self) -> bool {
        let taken = self
            .0
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| {
                left.checked_sub(100)
            });
        taken.is_ok()
    }
}

impl Retries {
    /// Whether a request that failed is asked again.
    pub(super) fn again(
        &self,
        budget: &Budget,
        request: &Request<Body>,
        failed: &Failed,
        before: u32,
        begun: Option<Instant>,
    ) -> bool {
        let is_safe = failed.is_whole && (failed.is_unsent || request.method().is_idempotent());
        is_safe
            && !failed.error.is_request()
            && before < self.count
            && begun.is_none_or(|begun| begun.elapsed() < self.period)
            && budget.withdraw()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn retries_are_a_share_of_requests() {
        let retries = Retries {
            count: 1,
            period: Duration::from_secs(1),
            percent: 25,
        };
        let budget = Budget::new();
        assert_eq!((0..1000).filter(|_| budget.withdraw()).count(), 20);
        let granted = (0..400).filter(|_| {
            budget.deposit(&retries);
            budget.withdraw()
        });
        assert_eq!(granted.count(), 100);
        (0..10_000).for_each(|_| budget.deposit(&retries));
        assert_eq!(
            (0..1000).filter(|_| budget.withdraw()).count(),
            20,
            "not saved up"
        );
    }
}
