//! The upstreams: one entry for each address, whichever routes go there, with its health, its counters and its connections.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, Weak};

use thrum_http::client;

use super::health::Health;
use crate::lock::lock;

/// All upstreams that routes go to, by their addresses. It outlives configurations, so that an upstream that is down is down
/// after a reload too, and goes on counting.
#[derive(Default)]
pub struct Upstreams {
    known: Mutex<HashMap<String, Weak<Upstream>>>,
    connections: Mutex<HashMap<String, Weak<client::Upstream>>>,
}

/// An upstream, whichever routes go there.
#[derive(Debug)]
pub(super) struct Upstream {
    /// Scheme, host and port.
    pub(super) name: String,
    pub(super) health: Health,
    pub(super) counters: Counters,
}

#[derive(Debug, Default)]
pub(super) struct Counters {
    pub(super) active: AtomicUsize,
    pub(super) requests: AtomicU64,
    pub(super) failures: AtomicU64,
    pub(super) timeouts: AtomicU64,
    pub(super) broken: AtomicU64,
    pub(super) retries: AtomicU64,
    pub(super) ejections: AtomicU64,
}

/// What is known of an upstream, for metrics and for people.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Status {
    /// Scheme, host and port: `http://127.0.0.1:3000`.
    pub name: String,
    /// Whether requests go there: it answers, as far as is known.
    pub is_up: bool,
    /// Requests that it is at, upgraded connections among them.
    pub active: usize,
    /// Requests that it was asked, retries among them.
    pub requests: u64,
    /// Requests that it did not answer, those that timed out among them.
    pub failures: u64,
    /// Requests that it did not answer in time.
    pub timeouts: u64,
    /// Responses that broke off.
    pub broken: u64,
    /// Requests that went on to another upstream because this one did not answer.
    pub retries: u64,
    /// Times that it was taken to be down.
    pub ejections: u64,
}

impl Upstreams {
    /// What is known of each, in the order of their names.
    pub fn status(&self) -> Vec<Status> {
        let known: Vec<_> = lock(&self.known)
            .values()
            .filter_map(Weak::upgrade)
            .collect();
        let mut all: Vec<_> = known.iter().map(|upstream| upstream.status()).collect();
        all.sort_by(|one, other| one.name.cmp(&other.name));
        all
    }

    /// The upstream of that name.
    pub(super) fn get(&self, name: &str) -> Arc<Upstream> {
        find(&self.known, name, || {
            Ok::<_, std::convert::Infallible>(Upstream {
                name: name.to_owned(),
                health: Health::default(),
                counters: Counters::default(),
            })
        })
        .unwrap_or_else(|never| match never {})
    }

    /// The connections of that key: an address, and all that matters to connections.
    pub(super) fn connections<E>(
        &self,
        key: &str,
        make: impl FnOnce() -> Result<client::Upstream, E>,
    ) -> Result<Arc<client::Upstream>, E> {
        find(&self.connections, key, make)
    }
}

/// What is there and in use, else made now. What is no longer in use is forgotten.
fn find<T, E>(
    all: &Mutex<HashMap<String, Weak<T>>>,
    key: &str,
    make: impl FnOnce() -> Result<T, E>,
) -> Result<Arc<T>, E> {
    let mut all = lock(all);
    if let Some(found) = all.get(key).and_then(Weak::upgrade) {
        return Ok(found);
    }
    all.retain(|_, entry| entry.strong_count() > 0);
    let made = Arc::new(make()?);
    all.insert(key.to_owned(), Arc::downgrade(&made));
    Ok(made)
}

impl Upstream {
    pub(super) fn status(&self) -> Status {
        let Counters {
            active,
            requests,
            failures,
            timeouts,
            broken,
            retries,
            ejections,
        } = &self.counters;
        let load = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        Status {
            name: self.name.clone(),
            is_up: self.health.is_up(),
            active: active.load(Ordering::Relaxed),
            requests: load(requests),
            failures: load(failures),
            timeouts: load(timeouts),
            broken: load(broken),
            retries: load(retries),
            ejections: load(ejections),
        }
    }
}

pub(super) fn count(counter: &AtomicU64) {
    counter.fetch_add(1, Ordering::Relaxed);
}

impl std::fmt::Debug for Upstreams {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_list().entries(self.status()).finish()
    }
}
