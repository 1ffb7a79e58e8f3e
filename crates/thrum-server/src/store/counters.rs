//! Counters in memory, which forget themselves.

use std::collections::{BTreeSet, HashMap};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use super::{Count, Key, StoreError};

/// What a counter takes besides its key, twice.
const OVERHEAD: usize = 128;

/// Counters that take up to so many bytes.
#[derive(Debug)]
pub(super) struct Counters {
    max: usize,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    used: usize,
    all: HashMap<String, Counter>,
    /// In the order in which they end.
    ends: BTreeSet<(Instant, String)>,
}

#[derive(Debug)]
struct Counter {
    total: u64,
    ends: Instant,
}

impl Counters {
    pub(super) fn new(max: usize) -> Self {
        Self {
            max,
            state: Mutex::default(),
        }
    }

    pub(super) fn add(
        &self,
        key: &Key,
        by: u32,
        window: Duration,
        now: Instant,
    ) -> Result<Count, StoreError> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.forget(now);
        let State { used, all, ends } = &mut *state;
        if let Some(counter) = all.get_mut(key.text()) {
            counter.total = counter.total.saturating_add(by.into());
            return Ok(counter.count(now));
        }
        let size = size(key.text());
        if *used + size > self.max {
            let limit = self.max;
            return Err(StoreError::Full(format!(
                "its counters have {limit} bytes of memory"
            )));
        }
        *used += size;
        let counter = Counter {
            total: by.into(),
            ends: now + window,
        };
        let count = counter.count(now);
        ends.insert((counter.ends, key.text().to_owned()));
        all.insert(key.text().to_owned(), counter);
        Ok(count)
    }
}

impl Counter {
    fn count(&self, now: Instant) -> Count {
        Count {
            total: self.total,
            ends_in: self.ends.saturating_duration_since(now),
        }
    }
}

impl State {
    fn forget(&mut self, now: Instant) {
        while let Some((_, key)) = self.ends.first().filter(|(ends, _)| *ends <= now) {
            self.used -= size(key);
            self.all.remove(key);
            self.ends.pop_first();
        }
    }
}

fn size(key: &str) -> usize {
    2 * key.len() + OVERHEAD
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn they_end_and_are_bounded() {
        let counters = Counters::new(2 * size("a:x"));
        let (x, y, z) = (
            Key::new("a", "x").unwrap(),
            Key::new("a", "y").unwrap(),
            Key::new("a", "z").unwrap(),
        );
        let start = Instant::now();
        let second = Duration::from_secs(1);
        assert_eq!(counters.add(&x, 1, second, start).unwrap().total, 1);
        let half = start + second / 2;
        let count = counters.add(&x, 2, second, half).unwrap();
        assert_eq!((count.total, count.ends_in), (3, second / 2));
        assert_eq!(counters.add(&y, 1, 2 * second, half).unwrap().total, 1);
        let full = counters.add(&z, 1, second, half);
        assert!(matches!(full, Err(StoreError::Full(_))), "{full:?}");
        let later = start + second;
        assert_eq!(counters.add(&z, 1, second, later).unwrap().total, 1);
        assert_eq!(counters.add(&y, 1, second, later).unwrap().total, 2);
    }
}
