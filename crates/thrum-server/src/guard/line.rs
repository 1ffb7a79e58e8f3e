//! A number of places, and a line of those who wait for one: bounded in length and in time.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use thrum_rt::sync::{OwnedPermit, Semaphore};
use thrum_rt::time::timeout;

/// Places and a line.
#[derive(Debug)]
pub(super) struct Line {
    places: Arc<Semaphore>,
    waiting: AtomicUsize,
    most_waiting: usize,
    patience: Duration,
}

impl Line {
    /// So many places, so many in line, each for at most so long.
    pub(super) fn new(places: usize, most_waiting: usize, patience: Duration) -> Self {
        Self {
            places: Arc::new(Semaphore::new(places)),
            waiting: AtomicUsize::new(0),
            most_waiting,
            patience,
        }
    }

    /// A place, if one is free.
    pub(super) fn try_enter(&self) -> Option<OwnedPermit> {
        self.places.clone().try_acquire_owned()
    }

    /// A place, after waiting for it. `None` if the line is full, or if it took too long.
    ///
    /// # Cancellation
    /// Dropping it leaves the line.
    pub(super) async fn enter(&self) -> Option<OwnedPermit> {
        if let Some(place) = self.try_enter() {
            return Some(place);
        }
        let waiting = Waiting(&self.waiting);
        if waiting.0.fetch_add(1, Ordering::Relaxed) >= self.most_waiting {
            return None;
        }
        let place = self.places.clone().acquire_owned();
        timeout(self.patience, place).await.ok()
    }
}

/// One who stands in line.
struct Waiting<'a>(&'a AtomicUsize);

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bounded_in_length_and_time() {
        thrum_rt::block_on(async {
            let line = Arc::new(Line::new(1, 1, Duration::from_millis(50)));
            let place = line.enter().await.unwrap();
            let second = thrum_rt::spawn({
                let line = line.clone();
                async move { line.enter().await.is_some() }
            });
            while line.waiting.load(Ordering::Relaxed) == 0 {
                thrum_rt::yield_now().await;
            }
            assert!(line.enter().await.is_none(), "the line is full");
            assert!(!second.await.unwrap(), "it took too long");
            drop(place);
            assert!(line.enter().await.is_some());
            assert_eq!(line.waiting.load(Ordering::Relaxed), 0);
        });
    }
}
