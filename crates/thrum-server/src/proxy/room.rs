//! How many requests an upstream has at once, and who waits for it to have fewer.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use thrum_rt::sync::Notify;
use thrum_rt::time::timeout;

use super::{Peer, Shared};

/// How many requests there may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Room {
    /// At one upstream at once.
    pub(super) limit: usize,
    /// Waiting for one.
    pub(super) queue: usize,
    /// How long one waits.
    pub(super) patience: Duration,
}

/// Those who wait.
#[derive(Debug, Default)]
pub(super) struct Queue {
    waiting: AtomicUsize,
    notify: Notify,
}

/// A place at an upstream. Dropped, it is another's.
pub(super) struct Place {
    shared: Arc<Shared>,
    index: usize,
}

/// Why there is no place.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum NoPlace {
    #[error("every upstream is at its limit, and the queue is full")]
    QueueFull,
    #[error("every upstream was at its limit for too long")]
    TooLong,
    /// All have been asked.
    #[error("there is no upstream left to ask")]
    NobodyLeft,
}

impl Place {
    pub(super) fn peer(&self) -> &Peer {
        &self.shared.peers[self.index]
    }

    pub(super) fn shared(&self) -> &Arc<Shared> {
        &self.shared
    }

    pub(super) fn index(&self) -> usize {
        self.index
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let peer = self.peer();
        peer.active.fetch_sub(1, Ordering::AcqRel);
        peer.upstream
            .counters
            .active
            .fetch_sub(1, Ordering::Relaxed);
        let queue = &self.shared.queue;
        if queue.waiting.load(Ordering::Acquire) > 0 {
            queue.notify.notify_one();
        }
    }
}

/// A place at the upstream that is the first choice for a key, but at none of those that were `tried`. Waits in the queue
/// while all are at their limits.
pub(super) async fn enter(
    shared: &Arc<Shared>,
    key: Option<u64>,
    tried: &[usize],
) -> Result<Place, NoPlace> {
    if let Some(place) = try_enter(shared, key, tried)? {
        return Ok(place);
    }
    Box::pin(wait(shared, key, tried)).await // boxed, as it is rare
}

async fn wait(shared: &Arc<Shared>, key: Option<u64>, tried: &[usize]) -> Result<Place, NoPlace> {
    let room = &shared.room;
    let Some(_waiting) = Waiting::new(&shared.queue, room.queue) else {
        return Err(NoPlace::QueueFull);
    };
    let begun = Instant::now();
    loop {
        let notified = shared.queue.notify.notified();
        // Between the first try and now somebody may have left.
        if let Some(place) = try_enter(shared, key, tried)? {
            return Ok(place);
        }
        let left = room.patience.saturating_sub(begun.elapsed());
        if left.is_zero() || timeout(left, notified).await.is_err() {
            return Err(NoPlace::TooLong);
        }
    }
}

/// Counts one who waits.
struct Waiting<'a>(&'a Queue);

impl<'a> Waiting<'a> {
    fn new(queue: &'a Queue, most: usize) -> Option<Self> {
        let before = queue.waiting.fetch_add(1, Ordering::AcqRel);
        let waiting = Self(queue);
        (before < most).then_some(waiting)
    }
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.0.waiting.fetch_sub(1, Ordering::AcqRel);
    }
}

/// `None`: all that could be asked are at their limits.
fn try_enter(
    shared: &Arc<Shared>,
    key: Option<u64>,
    tried: &[usize],
) -> Result<Option<Place>, NoPlace> {
    let peers = &shared.peers;
    let is_up = |index: usize| !tried.contains(&index) && peers[index].upstream.health.is_up();
    let load = |index: usize| peers[index].active.load(Ordering::Relaxed);
    loop {
        // When none is well, all are asked: nothing is won by asking nobody.
        let all_down = !(0..peers.len()).any(is_up);
        if all_down && tried.len() >= peers.len() {
            return Err(NoPlace::NobodyLeft);
        }
        let may = |index: usize| {
            let fits = load(index) < shared.room.limit;
            fits && if all_down {
                !tried.contains(&index)
            } else {
                is_up(index)
            }
        };
        let Some(index) = shared.chooser.choose(key, !tried.is_empty(), may, load) else {
            return Ok(None);
        };
        let peer = &peers[index];
        if peer.active.fetch_add(1, Ordering::AcqRel) >= shared.room.limit {
            peer.active.fetch_sub(1, Ordering::AcqRel);
            continue; // another was faster
        }
        peer.upstream
            .counters
            .active
            .fetch_add(1, Ordering::Relaxed);
        let place = Place {
            shared: shared.clone(),
            index,
        };
        if all_down || peer.upstream.health.begin(&shared.passive) {
            return Ok(Some(place));
        }
    }
}
