//! What is kept in memory: the most useful of it, bounded in bytes.

use quick_cache::Weighter;

use super::entry::Slot;
use super::key::Key;

/// Entries by their keys. What is asked for least goes when there is no room (S3-FIFO, by the crate `quick_cache`).
pub(super) struct Memory {
    cache: quick_cache::sync::Cache<Key, Slot, Weight>,
    /// The largest entry that is taken: one must not push out all others.
    largest: u64,
}

#[derive(Clone)]
struct Weight;

impl Weighter<Key, Slot> for Weight {
    fn weight(&self, _: &Key, slot: &Slot) -> u64 {
        match slot {
            Slot::Entry(entry) => entry.weight(),
            Slot::Varies(names) => 128 + 32 * names.len() as u64,
            Slot::Pass(_) => 128,
        }
    }
}

impl Memory {
    pub(super) fn new(bytes: u64) -> Self {
        /// To begin with; it grows by itself.
        const ENTRIES: usize = 1024;
        Self {
            cache: quick_cache::sync::Cache::with_weighter(ENTRIES, bytes, Weight),
            largest: bytes / 8,
        }
    }

    pub(super) fn get(&self, key: &Key) -> Option<Slot> {
        self.cache.get(key)
    }

    /// Keeps something. What is too large takes the place of nothing, but what was there before is gone.
    pub(super) fn put(&self, key: Key, slot: Slot) {
        if Weight.weight(&key, &slot) <= self.largest {
            self.cache.insert(key, slot);
        } else {
            self.cache.remove(&key);
        }
    }

    pub(super) fn remove(&self, key: &Key) -> bool {
        self.cache.remove(key).is_some()
    }

    pub(super) fn bytes(&self) -> u64 {
        self.cache.weight()
    }
}
