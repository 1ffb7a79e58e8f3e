//! No more than so much in a second.

use std::time::Duration;

use thrum_rt::time::{Instant, sleep_until};

use crate::{Result, Source};

/// A source that gives no more than so much in a second: [`Source::throttle`], [`Source::throttle_by`].
///
/// It is a token bucket, kept as the moment at which it will be full again: the generic cell rate algorithm (ITU-T I.371,
/// virtual scheduling), with no timer for refilling.
#[derive(Debug)]
pub struct Throttle<S, F> {
    source: S,
    per_second: u64,
    /// How long an empty bucket takes to have all its tokens but one: that one must be there for an item to pass.
    slack: Duration,
    /// When the bucket is full. Before the first item it is.
    full_at: Option<Instant>,
    cost: F,
}

impl<S, F> Throttle<S, F> {
    pub(super) fn new(source: S, per_second: u64, burst: u64, cost: F) -> Self {
        assert!(per_second > 0, "a rate is at least one in a second");
        assert!(burst > 0, "a burst is at least one");
        Throttle {
            source,
            per_second,
            slack: time_for(burst - 1, per_second),
            full_at: None,
            cost,
        }
    }
}

impl<S: Source, F: FnMut(&S::Item) -> u64 + Send> Source for Throttle<S, F> {
    type Item = S::Item;

    /// Waits before it reads, so that no item is held.
    async fn next(&mut self) -> Result<Option<S::Item>> {
        if let Some(full_at) = self.full_at {
            let passes_at = full_at.checked_sub(self.slack);
            if let Some(at) = passes_at.filter(|at| *at > Instant::now()) {
                sleep_until(at).await;
            }
        }
        let next = self.source.next().await?;
        if let Some(item) = &next {
            let now = Instant::now();
            let full_at = self.full_at.map_or(now, |at| at.max(now));
            let refill = time_for((self.cost)(item), self.per_second);
            self.full_at = Some(full_at.checked_add(refill).unwrap_or(full_at));
        }
        Ok(next)
    }

    async fn close(self) -> Result<()> {
        self.source.close().await
    }
}

/// How long so many tokens take to come.
fn time_for(tokens: u64, per_second: u64) -> Duration {
    let nanoseconds = u128::from(tokens) * 1_000_000_000 / u128::from(per_second);
    Duration::from_nanos(u64::try_from(nanoseconds).unwrap_or(u64::MAX))
}
