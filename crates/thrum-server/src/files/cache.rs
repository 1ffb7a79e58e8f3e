//! What was found out about files, kept for a bounded time in a bounded space (DESIGN D7).
//!
//! The key is the path as the client wrote it, so that a hit decodes nothing. An entry is believed for a second; after that
//! one request looks whether the file is still the same. Missing files are not kept: there are too many of them.

use std::collections::HashMap;
use std::hash::{BuildHasher, RandomState};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::entry::Entry;

/// How long an entry is believed, in milliseconds: a changed file is seen within a second.
pub(super) const FRESH_MS: u64 = 900;

/// The map is split, so that workers seldom meet.
const SHARDS: usize = 16;

/// Entries of a shard.
const ENTRIES: usize = 512;

/// Bytes of file contents in a shard: 64 MiB in all.
const BYTES: usize = 4 * 1024 * 1024;

/// Open files in a shard: 256 in all, well below the usual limit of 1,024.
const DESCRIPTORS: usize = 16;

/// A coarse clock in milliseconds, for ages.
pub(super) struct Clock;

impl Clock {
    pub(super) fn now() -> u64 {
        let time = rustix::time::clock_gettime(rustix::time::ClockId::MonotonicCoarse);
        time.tv_sec as u64 * 1000 + time.tv_nsec as u64 / 1_000_000
    }
}

/// An entry and its age.
pub(super) struct Cached {
    pub(super) entry: Entry,
    checked_at: AtomicU64,
    used_at: AtomicU64,
}

impl Cached {
    fn new(entry: Entry) -> Self {
        let now = Clock::now();
        Self {
            entry,
            checked_at: AtomicU64::new(now),
            used_at: AtomicU64::new(now),
        }
    }

    /// Whether it may be used as it is. If not, the caller is the one to look: others go on with it meanwhile.
    pub(super) fn is_fresh(&self) -> bool {
        let now = Clock::now();
        self.used_at.store(now, Ordering::Relaxed);
        let checked_at = self.checked_at.load(Ordering::Relaxed);
        now.saturating_sub(checked_at) <= FRESH_MS
            || self
                .checked_at
                .compare_exchange(checked_at, now, Ordering::Relaxed, Ordering::Relaxed)
                .is_err()
    }
}

#[derive(Default)]
pub(super) struct Cache {
    hasher: RandomState,
    shards: [Mutex<Shard>; SHARDS],
}

#[derive(Default)]
struct Shard {
    entries: HashMap<Box<str>, Arc<Cached>>,
    bytes: usize,
    descriptors: usize,
}

impl Cache {
    pub(super) fn get(&self, path: &str) -> Option<Arc<Cached>> {
        self.shard(path).entries.get(path).cloned()
    }

    /// Keeps an entry, in the place of an older one of the same path.
    pub(super) fn insert(&self, path: &str, entry: Entry) -> Arc<Cached> {
        let cached = Arc::new(Cached::new(entry));
        let mut shard = self.shard(path);
        shard.remove(path);
        shard.bytes += cached.entry.weight();
        shard.descriptors += usize::from(cached.entry.holds_descriptor());
        shard.entries.insert(path.into(), cached.clone());
        while shard.is_over() && shard.remove_oldest() {}
        cached
    }

    pub(super) fn remove(&self, path: &str) {
        self.shard(path).remove(path);
    }

    fn shard(&self, path: &str) -> MutexGuard<'_, Shard> {
        let index = self.hasher.hash_one(path) as usize % SHARDS;
        self.shards[index]
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }
}

impl Shard {
    fn is_over(&self) -> bool {
        self.entries.len() > ENTRIES || self.bytes > BYTES || self.descriptors > DESCRIPTORS
    }

    fn remove(&mut self, path: &str) {
        if let Some(removed) = self.entries.remove(path) {
            self.bytes -= removed.entry.weight();
            self.descriptors -= usize::from(removed.entry.holds_descriptor());
        }
    }

    /// Removes what was not used for the longest time, of the kind that there is too much of.
    fn remove_oldest(&mut self) -> bool {
        let only_descriptors = self.descriptors > DESCRIPTORS;
        let oldest = self
            .entries
            .iter()
            .filter(|(_, cached)| !only_descriptors || cached.entry.holds_descriptor())
            .min_by_key(|(_, cached)| cached.used_at.load(Ordering::Relaxed))
            .map(|(path, _)| path.clone());
        oldest.map(|path| self.remove(&path)).is_some()
    }
}

#[cfg(test)]
mod tests {
    use std::fs::File;

    use super::*;

    #[test]
    fn bounds_are_kept_and_the_books_balance() {
        let folder = tempfile::tempdir().unwrap();
        let load = |name: &str, size: u64| {
            let path = folder.path().join(name);
            File::create(&path).unwrap().set_len(size).unwrap();
            let file = File::open(&path).unwrap();
            let metadata = file.metadata().unwrap();
            Entry::load(file, &metadata, name).unwrap()
        };
        let cache = Cache::default();
        for index in 0..SHARDS * ENTRIES * 2 {
            cache.insert(&format!("/{index}"), load("empty", 0));
        }
        for index in 0..2000 {
            cache.insert(&format!("/small/{index}"), load("small", 60_000));
            cache.insert(&format!("/large/{index}"), load("large", 100_000));
        }
        let mut open = 0;
        for shard in &cache.shards {
            let shard = shard.lock().unwrap();
            assert!(!shard.is_over());
            let entries = shard.entries.values();
            assert_eq!(
                shard.bytes,
                entries
                    .clone()
                    .map(|cached| cached.entry.weight())
                    .sum::<usize>()
            );
            let descriptors = entries
                .filter(|cached| cached.entry.holds_descriptor())
                .count();
            assert_eq!(shard.descriptors, descriptors);
            open += descriptors;
        }
        assert!(open > 0 && open <= SHARDS * DESCRIPTORS);
        assert!(cache.get("/small/1999").is_some(), "the latest stays");
        cache.remove("/small/1999");
        assert!(cache.get("/small/1999").is_none());
    }
}
