//! A store in memory, for tests: nothing in it outlives the process.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Bound;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use bytes::Bytes;

use super::counters::Counters;
use super::error::check_size;
use super::record::{Head, now};
use super::{
    Condition, Count, Entry, Key, MAX_PAGE, MAX_VALUE, Page, Put, Reply, Store, StoreError, Written,
};

/// What a value takes besides itself and its key, twice.
const OVERHEAD: usize = 192;

/// A bounded store in memory.
#[derive(Debug)]
pub struct Memory {
    max: usize,
    max_value: usize,
    counters: Counters,
    /// `None` once it was closed.
    state: Mutex<Option<State>>,
}

#[derive(Debug, Default)]
struct State {
    used: usize,
    all: BTreeMap<String, (Head, Bytes)>,
    /// Those that expire, in that order.
    expiring: BTreeSet<(u64, String)>,
}

impl Memory {
    /// A store of at most `max` bytes, with what the bookkeeping takes; its counters take up to as much again.
    pub fn new(max: usize) -> Self {
        Self {
            max,
            max_value: MAX_VALUE.min(max),
            counters: Counters::new(max),
            state: Mutex::new(Some(State::default())),
        }
    }

    /// With values of at most so many bytes. Without it: 16 MiB.
    pub fn with_max_value(mut self, max_value: usize) -> Self {
        self.max_value = max_value;
        self
    }

    fn with<T>(
        &self,
        work: impl FnOnce(&mut State, u64) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        let mut state = self.state();
        let state = state
            .as_mut()
            .ok_or_else(|| StoreError::unavailable("it was closed"))?;
        let now = now();
        state.forget(now);
        work(state, now)
    }

    fn state(&self) -> MutexGuard<'_, Option<State>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self, key: &Key, value: Bytes, put: Put) -> Result<Written, StoreError> {
        check_size(value.len(), self.max_value)?;
        self.with(|state, _| {
            let present = state.all.get(key.text());
            if !put.condition.holds(present.map(|(head, _)| head.version)) {
                return Err(StoreError::Conflict);
            }
            let created = present.is_none();
            let before = present.map_or(0, |(_, value)| size(key, value));
            let used = state.used - before + size(key, &value);
            if used > self.max {
                return Err(StoreError::Full(format!("it has {} bytes", self.max)));
            }
            state.remove(key.text());
            let head = Head::new(&put);
            if head.expires != 0 {
                state.expiring.insert((head.expires, key.text().to_owned()));
            }
            state.used = used;
            state.all.insert(key.text().to_owned(), (head, value));
            Ok(head.written(created))
        })
    }

    fn names(&self, prefix: &Key, after: Option<&str>, limit: usize) -> Result<Page, StoreError> {
        let after = after.map(|name| Key::new(prefix.namespace(), name));
        let after = after.transpose().map_err(|_| StoreError::BadCursor)?;
        let limit = limit.clamp(1, MAX_PAGE);
        let from = match &after {
            Some(after) if after >= prefix => Bound::Excluded(after.text()),
            _ => Bound::Included(prefix.text()),
        };
        self.with(|state, _| {
            let mut page = Page::default();
            let all = state.all.range::<str, _>((from, Bound::Unbounded));
            for (text, _) in all.take_while(|(text, _)| text.starts_with(prefix.text())) {
                if page.names.len() == limit {
                    page.next = page.names.last().cloned();
                    break;
                }
                page.names.extend(prefix.name_in(text).map(str::to_owned));
            }
            Ok(page)
        })
    }
}

impl State {
    fn remove(&mut self, text: &str) -> bool {
        let Some((head, value)) = self.all.remove(text) else {
            return false;
        };
        self.used -= size_of(text, &value);
        if head.expires != 0 {
            self.expiring.remove(&(head.expires, text.to_owned()));
        }
        true
    }

    fn forget(&mut self, now: u64) {
        while let Some((_, text)) = self.expiring.first().filter(|(at, _)| *at <= now).cloned() {
            self.remove(&text);
        }
    }
}

fn size(key: &Key, value: &Bytes) -> usize {
    size_of(key.text(), value)
}

fn size_of(text: &str, value: &Bytes) -> usize {
    2 * text.len() + value.len() + OVERHEAD
}

impl Store for Memory {
    fn get<'a>(&'a self, key: &'a Key) -> Reply<'a, Option<Entry>> {
        let found = self.with(|state, _| {
            let found = state.all.get(key.text());
            Ok(found.map(|(head, value)| head.entry(value.clone())))
        });
        Box::pin(async { found })
    }

    fn put<'a>(&'a self, key: &'a Key, value: Bytes, put: Put) -> Reply<'a, Written> {
        Box::pin(async move { self.write(key, value, put) })
    }

    fn delete<'a>(&'a self, key: &'a Key, condition: Condition) -> Reply<'a, bool> {
        Box::pin(async move {
            self.with(|state, _| {
                let present = state.all.get(key.text()).map(|(head, _)| head.version);
                if !condition.holds(present) {
                    return Err(StoreError::Conflict);
                }
                Ok(state.remove(key.text()))
            })
        })
    }

    fn list<'a>(
        &'a self,
        prefix: &'a Key,
        after: Option<&'a str>,
        limit: usize,
    ) -> Reply<'a, Page> {
        Box::pin(async move { self.names(prefix, after, limit) })
    }

    fn add<'a>(&'a self, counter: &'a Key, by: u32, window: Duration) -> Reply<'a, Count> {
        Box::pin(async move { self.counters.add(counter, by, window, Instant::now()) })
    }

    fn close(&self) {
        *self.state() = None;
    }

    fn max_value(&self) -> usize {
        self.max_value
    }
}
