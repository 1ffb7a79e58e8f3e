//! How long things take: counts in buckets that are four to each doubling, from a microsecond to two minutes.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// Four buckets to a doubling.
const PARTS_LOG2: u32 = 2;
/// Doublings of a microsecond that have buckets: up to 134 s.
pub(super) const OCTAVES: u32 = 27;
/// How many buckets there are. What is longer than the last is counted in it.
pub(super) const BUCKETS: usize = ((OCTAVES - PARTS_LOG2 + 1) << PARTS_LOG2) as usize;

/// How long something took, again and again. Recording is two additions.
///
/// A quantile that is read from it is at most a quarter too large.
#[derive(Debug)]
pub struct Histogram {
    counts: [AtomicU64; BUCKETS],
    nanoseconds: AtomicU64,
}

impl Default for Histogram {
    fn default() -> Self {
        Self {
            counts: [const { AtomicU64::new(0) }; BUCKETS],
            nanoseconds: AtomicU64::new(0),
        }
    }
}

impl Histogram {
    /// Counts a time.
    #[inline]
    pub fn record(&self, took: Duration) {
        let bucket = bucket(u64::try_from(took.as_micros()).unwrap_or(u64::MAX));
        self.counts[bucket].fetch_add(1, Ordering::Relaxed);
        let nanoseconds = u64::try_from(took.as_nanos()).unwrap_or(u64::MAX);
        self.nanoseconds.fetch_add(nanoseconds, Ordering::Relaxed);
    }

    /// What was counted so far.
    pub(super) fn read_into(&self, times: &mut Times) {
        for (sum, count) in times.counts.iter_mut().zip(&self.counts) {
            *sum += count.load(Ordering::Relaxed);
        }
        let nanoseconds = self.nanoseconds.load(Ordering::Relaxed);
        times.nanoseconds = times.nanoseconds.wrapping_add(nanoseconds);
    }
}

/// The counts of one or more histograms at one moment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Times {
    pub(super) counts: [u64; BUCKETS],
    pub(super) nanoseconds: u64,
}

impl Default for Times {
    fn default() -> Self {
        Self {
            counts: [0; BUCKETS],
            nanoseconds: 0,
        }
    }
}

impl Times {
    pub(super) fn total(&self) -> u64 {
        self.counts.iter().sum()
    }

    /// The bound that this part of the times stayed below.
    pub(super) fn quantile(&self, part: f64) -> Duration {
        let rank = (self.total() as f64 * part).ceil() as u64;
        let mut below = 0;
        let found = self.counts.iter().position(|count| {
            below += count;
            rank > 0 && below >= rank
        });
        Duration::from_micros(found.map_or(0, bound))
    }

    /// For each doubling its bound in microseconds, and how many stayed below that one and not below the one before.
    pub(super) fn octaves(&self) -> impl Iterator<Item = (u64, u64)> {
        let first = 1 << PARTS_LOG2;
        let (below, rest) = self.counts.split_at(first);
        let later = rest.chunks(first).zip(PARTS_LOG2 + 1..);
        let later = later.map(|(counts, octave)| (1 << octave, counts.iter().sum()));
        std::iter::once((first as u64, below.iter().sum())).chain(later)
    }
}

/// Which bucket a number of microseconds is counted in.
#[inline]
fn bucket(micros: u64) -> usize {
    const PARTS: u64 = 1 << PARTS_LOG2;
    if micros < PARTS {
        return micros as usize;
    }
    let octave = u64::BITS - 1 - micros.leading_zeros();
    let part = (micros >> (octave - PARTS_LOG2)) & (PARTS - 1);
    let index = (u64::from(octave - PARTS_LOG2 + 1) << PARTS_LOG2) + part;
    (index as usize).min(BUCKETS - 1)
}

/// What all times of a bucket are below, in microseconds.
fn bound(bucket: usize) -> u64 {
    const PARTS: u64 = 1 << PARTS_LOG2;
    let (octave, part) = (bucket as u64 / PARTS, bucket as u64 % PARTS);
    match octave {
        0 => part + 1,
        _ => (PARTS + part + 1) << (octave - 1),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bounds_are_where_the_next_bucket_begins() {
        for index in 0..BUCKETS - 1 {
            let bound = bound(index);
            assert_eq!((bucket(bound - 1), bucket(bound)), (index, index + 1));
        }
    }

    #[test]
    fn quantiles_are_at_most_a_quarter_too_long() {
        let histogram = Histogram::default();
        (1..=1000).for_each(|milli| histogram.record(Duration::from_millis(milli)));
        let mut times = Times::default();
        assert_eq!(times.quantile(0.5), Duration::ZERO);
        histogram.read_into(&mut times);
        for (part, exact) in [(0.0, 0), (0.001, 1), (0.5, 500), (0.99, 990), (1.0, 1000)] {
            let found = times.quantile(part).as_micros();
            let exact = exact * 1000;
            assert!(found >= exact && found * 4 <= exact * 5, "{part}: {found}");
        }
    }

    #[test]
    fn buckets_follow_each_other_without_a_gap() {
        let mut last = 0;
        for micros in 0..1_000_000 {
            let this = bucket(micros);
            assert!(this == last || this == last + 1, "{micros}");
            last = this;
        }
        assert_eq!(bucket(u64::MAX), BUCKETS - 1);
        assert_eq!(bucket((1 << OCTAVES) - 1), BUCKETS - 1);
        assert_eq!(bucket(7 << (OCTAVES - 4)), BUCKETS - 2 - 3);
    }

    #[test]
    fn octaves_say_where_times_were() {
        let histogram = Histogram::default();
        for micros in [0, 3, 4, 7, 8, 1000, 1024, u64::MAX] {
            histogram.record(Duration::from_micros(micros));
        }
        let mut times = Times::default();
        histogram.read_into(&mut times);
        let used: Vec<_> = times.octaves().filter(|(_, count)| *count > 0).collect();
        assert_eq!(
            used,
            [(4, 2), (8, 2), (16, 1), (1024, 1), (2048, 1), (1 << 27, 1)]
        );
        assert_eq!(times.total(), 8);
        assert_eq!(times.octaves().count(), 26);
    }
}
