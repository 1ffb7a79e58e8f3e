//! Which paths have the most hits, in constant memory however many paths there are.
//!
//! The table has room for so many paths. When it is full, at least half of them go: those with the fewest hits. Such a path
//! may come again and starts anew, so what it had is noted down with each path that comes later: it may have *missed* as many.
//! Paths that came before the table was full for the first time, and stayed, are counted exactly.
//!
//! This is Misra and Gries, "Finding repeated elements" (1982), with the pruning in batches of Anderson and others, "A
//! High-Performance Algorithm for Identifying Frequent Items in Data Streams" (2017): hits and missed ones together, less
//! the most that any path may have missed, are its counter. With room for `k` paths, none has missed more than `2n / k` after
//! `n` hits of all paths together, as long as paths are so short that they have room too.

use std::cmp::Reverse;
use std::hash::BuildHasher;

use foldhash::quality::RandomState;
use hashbrown::HashTable;

/// Paths that are longer are counted by their start, in bytes.
pub(crate) const PATH_BYTES: usize = 8 * 1024;

/// The paths with the most hits.
pub(crate) struct Top {
    table: HashTable<Entry>,
    /// There is room for so many.
    entries: usize,
    /// The paths of the entries, one after the other.
    paths: Vec<u8>,
    /// Keyed at random, so that nobody can write a log whose paths all collide.
    hasher: RandomState,
    /// The most hits that a path may have missed that comes now.
    missed: u64,
}

struct Entry {
    start: u32,
    length: u32,
    hits: u64,
    missed: u64,
    bytes: u64,
}

/// A path and what was counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Counted<'a> {
    pub(crate) path: &'a [u8],
    pub(crate) hits: u64,
    /// It may have had so many more.
    pub(crate) missed: u64,
    /// Bytes sent, in these hits.
    pub(crate) bytes: u64,
}

impl Top {
    /// A table with room for so many paths (at least 1) and so many bytes of paths (at least two of the longest).
    pub(crate) fn new(entries: usize, bytes: usize) -> Self {
        let (entries, bytes) = (entries.max(1), bytes.max(2 * PATH_BYTES));
        Top {
            table: HashTable::with_capacity(entries),
            entries,
            paths: Vec::with_capacity(bytes),
            hasher: RandomState::default(),
            missed: 0,
        }
    }

    /// Counts a hit of a path, for which so many bytes were sent.
    #[inline]
    pub(crate) fn hit(&mut self, path: &[u8], bytes: u64) {
        let path = &path[..path.len().min(PATH_BYTES)];
        let hash = self.hasher.hash_one(path);
        let paths = &self.paths;
        match self.table.find_mut(hash, |entry| entry.path(paths) == path) {
            Some(entry) => {
                entry.hits += 1;
                entry.bytes = entry.bytes.saturating_add(bytes);
            }
            None => self.add(path, bytes),
        }
    }

    /// The most hits that a path may have had that is not in the table.
    pub(crate) fn missed(&self) -> u64 {
        self.missed
    }

    /// The `count` paths with the most hits; with as many hits, in the order of their bytes.
    pub(crate) fn most(&self, count: usize) -> Vec<Counted<'_>> {
        let mut all: Vec<&Entry> = self.table.iter().collect();
        all.sort_unstable_by_key(|entry| (Reverse(entry.hits), entry.path(&self.paths)));
        all.truncate(count);
        let counted = |entry: &Entry| Counted {
            path: entry.path(&self.paths),
            hits: entry.hits,
            missed: entry.missed,
            bytes: entry.bytes,
        };
        all.into_iter().map(counted).collect()
    }

    #[cold]
    fn add(&mut self, path: &[u8], bytes: u64) {
        let room = self.paths.capacity() - self.paths.len();
        if self.table.len() == self.entries || path.len() > room {
            self.prune();
        }
        let entry = Entry {
            start: self.paths.len() as u32,
            length: path.len() as u32,
            hits: 1,
            missed: self.missed,
            bytes,
        };
        self.paths.extend_from_slice(path);
        self.insert(entry);
    }

    fn insert(&mut self, entry: Entry) {
        let hash_of = |entry: &Entry| self.hasher.hash_one(entry.path(&self.paths));
        self.table.insert_unique(hash_of(&entry), entry, hash_of);
    }

    /// Forgets paths until half of the table is free, and moves the others together.
    fn prune(&mut self) {
        let mut kept: Vec<Entry> = self.table.drain().collect();
        let mut bytes = self.paths.len();
        while kept.len() > self.entries / 2 || bytes > self.paths.capacity() / 2 {
            let middle = (kept.len() - 1) / 2;
            let middle = kept.select_nth_unstable_by_key(middle, Entry::at_most).1;
            self.missed = middle.at_most();
            kept.retain(|entry| entry.at_most() > self.missed);
            bytes = kept.iter().map(|entry| entry.length as usize).sum();
        }
        kept.sort_unstable_by_key(|entry| entry.start);
        let mut end = 0;
        for entry in &mut kept {
            let (start, length) = (entry.start as usize, entry.length as usize);
            self.paths.copy_within(start..start + length, end);
            entry.start = end as u32;
            end += length;
        }
        self.paths.truncate(end);
        kept.into_iter().for_each(|entry| self.insert(entry));
    }
}

impl Entry {
    #[inline]
    fn path<'a>(&self, paths: &'a [u8]) -> &'a [u8] {
        &paths[self.start as usize..][..self.length as usize]
    }

    /// How many hits it may have had.
    fn at_most(&self) -> u64 {
        self.hits + self.missed
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use super::*;

    /// Counts these paths in a table of this size and checks what it promises of each.
    fn check(paths: &[Vec<u8>], entries: usize, bytes: usize) -> Top {
        let mut top = Top::new(entries, bytes);
        let mut exact = HashMap::<&[u8], u64>::new();
        for path in paths {
            top.hit(path, 3);
            *exact.entry(path).or_default() += 1;
        }
        let counted = top.most(usize::MAX);
        assert!(counted.len() <= entries);
        assert!(counted.is_sorted_by(|one, next| one.hits >= next.hits));
        for each in &counted {
            let hits = exact.remove(each.path).unwrap();
            assert!(each.hits <= hits && hits <= each.hits + each.missed);
            assert!(each.missed <= top.missed() && each.bytes == 3 * each.hits);
        }
        // The others.
        assert!(exact.values().all(|&hits| hits <= top.missed()));
        top
    }

    /// Paths of which the first come more often than the last.
    fn skewed(distinct: u64, count: u64) -> Vec<Vec<u8>> {
        let mut state = 1_u64;
        let mut random = || {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            (state >> 33) % distinct
        };
        let paths = (0..count).map(|_| format!("/{}", random() * random() / distinct));
        paths.map(String::into_bytes).collect()
    }

    #[test]
    fn what_fits_is_counted_exactly() {
        let top = check(&skewed(500, 20_000), 500, 100_000);
        assert_eq!(top.missed(), 0);
    }

    #[test]
    fn what_does_not_fit_misses_no_more_than_promised() {
        for (distinct, entries) in [
            (1_000, 100),
            (10_000, 64),
            (1_000_000, 1_000),
            (50, 1),
            (9, 2),
        ] {
            let paths = skewed(distinct, 50_000);
            let top = check(&paths, entries, 100_000);
            assert!(top.missed() > 0);
            assert!(
                top.missed() <= 2 * paths.len() as u64 / entries as u64,
                "{}",
                top.missed()
            );
        }
    }

    #[test]
    fn one_path_among_ever_new_ones_is_exact_if_it_came_first() {
        let paths: Vec<_> = (0..90_000)
            .map(|n| if n % 3 == 0 { 0 } else { n })
            .collect();
        let paths: Vec<_> = paths
            .into_iter()
            .map(|n: u32| n.to_string().into_bytes())
            .collect();
        let top = check(&paths, 1_000, 100_000);
        let first = top.most(1)[0];
        assert_eq!(
            (first.path, first.hits, first.missed),
            (&b"0"[..], 30_000, 0)
        );
    }

    #[test]
    fn long_paths_do_not_take_more_room() {
        let long = |n: usize| [n.to_string().into_bytes(), vec![b'x'; 5_000 + n % 7_000]].concat();
        let paths: Vec<_> = (0..3_000)
            .map(|n| if n % 2 == 0 { long(n) } else { b"/".to_vec() })
            .collect();
        let mut top = Top::new(1_000, 100_000);
        paths.iter().for_each(|path| top.hit(path, 1));
        assert!(top.paths.capacity() < 110_000 && top.table.capacity() < 2_000);
        let first = top.most(1)[0];
        assert_eq!(
            (first.path, first.hits, first.missed),
            (&b"/"[..], 1_500, 0)
        );
        assert!(
            top.most(1_000)
                .iter()
                .all(|each| each.path.len() <= PATH_BYTES)
        );
    }
}
