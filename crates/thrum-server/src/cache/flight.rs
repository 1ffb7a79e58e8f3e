//! Requests for the same thing at the same time: one goes to the upstream, the others wait for what it brings.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::atomic::{AtomicBool, AtomicU8, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use thrum_rt::sync::Notify;
use thrum_rt::time;

use super::key::Key;

/// The requests that are under way.
#[derive(Default)]
pub(super) struct Flights {
    all: Mutex<HashMap<Key, Arc<Flight>>>,
}

/// What became of a request that others wait for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(super) enum Landed {
    /// It is still under way; or it was given up: somebody else may go.
    Not,
    /// Its response is kept.
    Kept,
    /// Its response cannot be kept: each may go by itself.
    Pass,
}

struct Flight {
    landed: AtomicU8,
    is_over: AtomicBool,
    over: Notify,
}

/// Who goes, and who waits.
pub(super) enum Boarding {
    Go(Ticket),
    Wait(Waiting),
}

/// The right and the duty to fetch something. Dropping it lets the next one go.
pub(super) struct Ticket {
    cache: Arc<super::Cache>,
    key: Key,
    flight: Arc<Flight>,
}

pub(super) struct Waiting(Arc<Flight>);

/// Goes for `key`, or waits for who goes already.
pub(super) fn board(cache: &Arc<super::Cache>, key: Key) -> Boarding {
    let mut all = cache
        .flights
        .all
        .lock()
        .unwrap_or_else(PoisonError::into_inner);
    match all.entry(key) {
        Entry::Occupied(flight) => Boarding::Wait(Waiting(flight.get().clone())),
        Entry::Vacant(place) => {
            let flight = Arc::new(Flight {
                landed: AtomicU8::new(Landed::Not as u8),
                is_over: AtomicBool::new(false),
                over: Notify::new(),
            });
            place.insert(flight.clone());
            Boarding::Go(Ticket {
                cache: cache.clone(),
                key,
                flight,
            })
        }
    }
}

impl Ticket {
    /// Says what became of it.
    pub(super) fn land(self, landed: Landed) {
        self.flight.landed.store(landed as u8, Ordering::Release);
    }
}

impl Drop for Ticket {
    fn drop(&mut self) {
        let mut all = self
            .cache
            .flights
            .all
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        all.remove(&self.key);
        drop(all);
        self.flight.is_over.store(true, Ordering::SeqCst);
        self.flight.over.notify_waiters();
    }
}

impl Waiting {
    /// Waits until it is over. `None`: it takes too long.
    pub(super) async fn landed(self, most: Duration) -> Option<Landed> {
        let over = self.0.over.notified();
        // A notification before that line is missed, but then this is set.
        if !self.0.is_over.load(Ordering::SeqCst) {
            time::timeout(most, over).await.ok()?;
        }
        Some(match self.0.landed.load(Ordering::Acquire) {
            1 => Landed::Kept,
            2 => Landed::Pass,
            _ => Landed::Not,
        })
    }
}
