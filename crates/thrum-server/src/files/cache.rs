//! What was found out, kept in a bounded space (DESIGN D7).
//!
//! Split into shards, so that workers seldom meet. What goes first is decided by a clock: a hand goes round, and takes what
//! was not used since it last came by. That is one step for most insertions, however many entries there are; looking for
//! the least recently used one among thousands was most of the cost of a miss.

use std::borrow::Borrow;
use std::collections::HashMap;
use std::hash::{BuildHasher, Hash, RandomState};
use std::sync::{Arc, Mutex, MutexGuard};

use slab::Slab;

use crate::lock::lock;

/// Shards of a cache that is large enough for them.
const SHARDS: usize = 16;

/// A coarse clock in milliseconds, for ages.
pub(super) struct Clock;

impl Clock {
    pub(super) fn now() -> u64 {
        let time = rustix::time::clock_gettime(rustix::time::ClockId::MonotonicCoarse);
        time.tv_sec as u64 * 1000 + time.tv_nsec as u64 / 1_000_000
    }
}

/// What a value takes, besides itself.
pub(super) trait Weigh {
    /// Bytes of memory.
    fn bytes(&self) -> usize;
    /// Open files.
    fn descriptors(&self) -> usize;
}

/// How much may be kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Bounds {
    pub(super) entries: usize,
    pub(super) bytes: usize,
    pub(super) descriptors: usize,
}

/// What is kept, and what became of the questions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Counts {
    pub(super) hits: u64,
    pub(super) misses: u64,
    pub(super) evictions: u64,
    pub(super) entries: usize,
    pub(super) bytes: usize,
    pub(super) descriptors: usize,
}

pub(super) struct Cache<K, V> {
    hasher: RandomState,
    shards: Box<[Mutex<Shard<K, V>>]>,
    /// Of each shard.
    bounds: Bounds,
}

impl<K: Clone + Eq + Hash, V: Weigh> Cache<K, V> {
    /// Split among shards if each gets enough.
    pub(super) fn new(bounds: Bounds) -> Self {
        let is_large = bounds.entries >= 64 * SHARDS
            && bounds.bytes >= SHARDS << 20
            && bounds.descriptors >= 4 * SHARDS;
        Self::with_shards(bounds, if is_large { SHARDS } else { 1 })
    }

    pub(super) fn with_shards(bounds: Bounds, shards: usize) -> Self {
        Self {
            hasher: RandomState::new(),
            shards: (0..shards).map(|_| Mutex::default()).collect(),
            bounds: Bounds {
                entries: bounds.entries / shards,
                bytes: bounds.bytes / shards,
                descriptors: bounds.descriptors / shards,
            },
        }
    }

    pub(super) fn get<Q>(&self, key: &Q) -> Option<Arc<V>>
    where
        K: Borrow<Q>,
        Q: Eq + Hash + ?Sized,
    {
        self.shard(key).get(key)
    }

    /// Keeps a value, in the place of an older one of the same key. One that is larger than all that may be kept is not.
    pub(super) fn insert(&self, key: K, value: Arc<V>) {
        let mut shard = self.shard(&key);
        shard.remove(&key);
        shard.insert(key, value, self.bounds);
    }

    pub(super) fn remove<Q>(&self, key: &Q)
    where
        K: Borrow<Q>,
        Q: Eq + Hash + ?Sized,
    {
        self.shard(key).remove(key);
    }

    pub(super) fn counts(&self) -> Counts {
        let mut all = Counts::default();
        for shard in &self.shards {
            let counts = lock(shard).counts;
            all.hits += counts.hits;
            all.misses += counts.misses;
            all.evictions += counts.evictions;
            all.entries += counts.entries;
            all.bytes += counts.bytes;
            all.descriptors += counts.descriptors;
        }
        all
    }

    fn shard<Q: Hash + ?Sized>(&self, key: &Q) -> MutexGuard<'_, Shard<K, V>> {
        let index = match self.shards.len() {
            1 => 0,
            shards => self.hasher.hash_one(key) as usize % shards,
        };
        lock(&self.shards[index])
    }
}

struct Shard<K, V> {
    places: HashMap<K, Place>,
    /// Those with open files go round by themselves: there may be few of them among many others.
    rings: [Ring<K, V>; 2],
    counts: Counts,
}

/// In which ring, and where.
#[derive(Clone, Copy)]
struct Place {
    ring: usize,
    index: usize,
}

struct Ring<K, V> {
    held: Slab<Held<K, V>>,
    hand: usize,
}

struct Held<K, V> {
    key: K,
    value: Arc<V>,
    used: bool,
}

impl<K: Clone + Eq + Hash, V: Weigh> Shard<K, V> {
    fn get<Q>(&mut self, key: &Q) -> Option<Arc<V>>
    where
        K: Borrow<Q>,
        Q: Eq + Hash + ?Sized,
    {
        let Some(&Place { ring, index }) = self.places.get(key) else {
            self.counts.misses += 1;
            return None;
        };
        self.counts.hits += 1;
        let held = self.rings[ring].held.get_mut(index)?;
        held.used = true;
        Some(held.value.clone())
    }

    fn insert(&mut self, key: K, value: Arc<V>, bounds: Bounds) {
        let (bytes, descriptors) = (value.bytes(), value.descriptors());
        if bounds.entries == 0 || bytes > bounds.bytes || descriptors > bounds.descriptors {
            return;
        }
        let ring = usize::from(descriptors > 0);
        while self.counts.descriptors + descriptors > bounds.descriptors && self.evict(1) {}
        while self.counts.entries + 1 > bounds.entries || self.counts.bytes + bytes > bounds.bytes {
            // The other kind only if there is nothing left of this one.
            if !self.evict(ring) && !self.evict(1 - ring) {
                break;
            }
        }
        self.counts.entries += 1;
        self.counts.bytes += bytes;
        self.counts.descriptors += descriptors;
        let index = self.rings[ring].held.insert(Held {
            key: key.clone(),
            value,
            used: false,
        });
        self.places.insert(key, Place { ring, index });
    }

    fn remove<Q>(&mut self, key: &Q)
    where
        K: Borrow<Q>,
        Q: Eq + Hash + ?Sized,
    {
        if let Some(Place { ring, index }) = self.places.remove(key)
            && let Some(held) = self.rings[ring].held.try_remove(index)
        {
            self.forget(&held);
        }
    }

    /// Removes the next one of a ring that was not used since the hand last came by. Says whether there was any.
    fn evict(&mut self, ring: usize) -> bool {
        let Some(held) = self.rings[ring].take_next() else {
            return false;
        };
        self.places.remove(&held.key);
        self.forget(&held);
        self.counts.evictions += 1;
        true
    }

    fn forget(&mut self, held: &Held<K, V>) {
        self.counts.entries -= 1;
        self.counts.bytes -= held.value.bytes();
        self.counts.descriptors -= held.value.descriptors();
    }
}

impl<K, V> Ring<K, V> {
    fn take_next(&mut self) -> Option<Held<K, V>> {
        // The second time round nothing is marked as used any more.
        while !self.held.is_empty() {
            if self.hand >= self.held.capacity() {
                self.hand = 0;
            }
            let index = self.hand;
            self.hand += 1;
            match self.held.get_mut(index) {
                Some(held) if held.used => held.used = false,
                Some(_) => return self.held.try_remove(index),
                None => {}
            }
        }
        None
    }
}

impl<K, V> Default for Shard<K, V> {
    fn default() -> Self {
        let ring = || Ring {
            held: Slab::new(),
            hand: 0,
        };
        Self {
            places: HashMap::new(),
            rings: [ring(), ring()],
            counts: Counts::default(),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[derive(Clone, Copy, Debug)]
    struct Weight(usize, usize);

    impl Weigh for Weight {
        fn bytes(&self) -> usize {
            self.0
        }

        fn descriptors(&self) -> usize {
            self.1
        }
    }

    const BOUNDS: Bounds = Bounds {
        entries: 8,
        bytes: 100,
        descriptors: 3,
    };

    #[test]
    fn what_is_used_stays() {
        let cache = Cache::new(BOUNDS);
        for key in 0..8 {
            cache.insert(key, Arc::new(Weight(1, 0)));
        }
        for key in 8..100 {
            assert!(cache.get(&3).is_some(), "at {key}");
            cache.insert(key, Arc::new(Weight(1, 0)));
        }
        assert!(cache.get(&3).is_some() && cache.get(&0).is_none());
        let counts = cache.counts();
        assert_eq!((counts.hits, counts.misses), (93, 1));
        assert_eq!((counts.entries, counts.evictions), (8, 92));
    }

    #[test]
    fn too_many_open_files_cost_no_others() {
        let cache = Cache::new(BOUNDS);
        cache.insert("small", Arc::new(Weight(1, 0)));
        for key in ["a", "b", "c", "d", "e"] {
            cache.insert(key, Arc::new(Weight(0, 1)));
        }
        assert!(cache.get("small").is_some());
        assert_eq!(cache.counts().descriptors, 3);
        assert!(cache.get("a").is_none() && cache.get("e").is_some());
    }

    #[test]
    fn a_large_cache_is_split() {
        let bounds = Bounds {
            entries: 8192,
            bytes: 64 << 20,
            descriptors: 256,
        };
        let cache = Cache::new(bounds);
        for key in 0..20_000 {
            cache.insert(key, Arc::new(Weight(10, usize::from(key % 3 == 0))));
        }
        let counts = cache.counts();
        assert!(counts.entries <= 8192 && counts.entries > 6000);
        assert!(counts.descriptors <= 256);
        assert!(cache.get(&19_999).is_some(), "the latest stays");
    }

    proptest! {
        /// Whatever is done, the bounds hold, and the books are those of what is there.
        #[test]
        fn bounds_are_kept_and_the_books_balance(
            steps in prop::collection::vec((0..3u8, 0..20u32, 0..120usize, 0..5usize), 1..200),
        ) {
            let cache = Cache::with_shards(BOUNDS, 1);
            for (step, key, bytes, descriptors) in steps {
                match step {
                    0 => cache.insert(key, Arc::new(Weight(bytes, descriptors))),
                    1 => cache.remove(&key),
                    _ => drop(cache.get(&key)),
                }
                let counts = cache.counts();
                prop_assert!(counts.entries <= BOUNDS.entries && counts.bytes <= BOUNDS.bytes);
                prop_assert!(counts.descriptors <= BOUNDS.descriptors);
                let shard = lock(&cache.shards[0]);
                prop_assert_eq!(shard.places.len(), counts.entries);
                let held = || shard.rings.iter().flat_map(|ring| ring.held.iter()).map(|(_, held)| &held.value);
                prop_assert_eq!(held().count(), counts.entries);
                prop_assert_eq!(held().map(|value| value.0).sum::<usize>(), counts.bytes);
                prop_assert_eq!(held().map(|value| value.1).sum::<usize>(), counts.descriptors);
            }
        }
    }
}
