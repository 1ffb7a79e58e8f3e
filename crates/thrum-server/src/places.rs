//! A number of places, and a queue of those who wait for one: bounded in length and in time.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use thrum_rt::sync::{OwnedPermit, Semaphore};
use thrum_rt::time::timeout;

/// A number of places, and a queue of bounded length before them.
#[derive(Clone, Debug)]
pub(crate) struct Places {
    free: Arc<Semaphore>,
    waiting: Arc<AtomicUsize>,
    queue: usize,
    patience: Duration,
}

impl Places {
    /// So many places, so many in the queue, each for at most so long.
    pub(crate) fn new(places: usize, queue: usize, patience: Duration) -> Self {
        Self {
            free: Arc::new(Semaphore::new(places)),
            waiting: Arc::default(),
            queue,
            patience,
        }
    }

    /// A place, if one is free.
    pub(crate) fn try_take(&self) -> Option<OwnedPermit> {
        self.free.clone().try_acquire_owned()
    }

    /// A place, when there is one. `None`: too many wait already, or it takes too long.
    ///
    /// Dropping the future leaves the queue.
    pub(crate) async fn take(&self) -> Option<OwnedPermit> {
        if let Some(permit) = self.try_take() {
            return Some(permit);
        }
        let waiting = Waiting::enter(&self.waiting, self.queue)?;
        let permit = timeout(self.patience, self.free.clone().acquire_owned()).await;
        drop(waiting);
        permit.ok()
    }
}

/// One who waits.
struct Waiting<'a>(&'a AtomicUsize);

impl<'a> Waiting<'a> {
    fn enter(waiting: &'a AtomicUsize, limit: usize) -> Option<Self> {
        let one_more = |waiting: usize| (waiting < limit).then_some(waiting + 1);
        waiting
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, one_more)
            .ok()?;
        Some(Self(waiting))
    }
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_queue_is_bounded_in_length_and_time() {
        thrum_rt::block_on(async {
            let places = Places::new(1, 1, Duration::from_secs(20));
            let first = places.take().await.unwrap();
            let second = thrum_rt::spawn({
                let places = places.clone();
                async move { places.take().await.is_some() }
            });
            while places.waiting.load(Ordering::Relaxed) == 0 {
                thrum_rt::yield_now().await;
            }
            assert!(places.take().await.is_none(), "the queue is full");
            drop(first);
            assert!(second.await.unwrap());
            assert!(places.take().await.is_some());

            let impatient = Places::new(1, 1, Duration::from_millis(5));
            let _one = impatient.take().await.unwrap();
            assert!(impatient.take().await.is_none());
            assert_eq!(impatient.waiting.load(Ordering::Relaxed), 0);
        });
    }

    #[test]
    fn who_waits_too_long_is_turned_away() {
        thrum_rt::block_on(async {
            let places = Places::new(1, 1, Duration::from_millis(50));
            let place = places.take().await.unwrap();
            let second = thrum_rt::spawn({
                let places = places.clone();
                async move { places.take().await.is_some() }
            });
            while places.waiting.load(Ordering::Relaxed) == 0 {
                thrum_rt::yield_now().await;
            }
            assert!(places.take().await.is_none(), "the queue is full");
            assert!(!second.await.unwrap(), "it took too long");
            drop(place);
            assert!(places.take().await.is_some());
            assert_eq!(places.waiting.load(Ordering::Relaxed), 0);
        });
    }
}
