//! A cheap source of choices: good enough to be fair, and the same again for the same seed.

use std::cell::Cell;

/// SplitMix64 (Steele, Lea and Flood, "Fast splittable pseudorandom number generators", 2014).
pub(crate) struct Random(Cell<u64>);

impl Random {
    pub(crate) const fn new(seed: u64) -> Self {
        Self(Cell::new(seed))
    }

    fn next(&self) -> u64 {
        let state = self.0.get().wrapping_add(0x9e37_79b9_7f4a_7c15);
        self.0.set(state);
        let mixed = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A number below `bound`, which is not zero.
    pub(crate) fn below(&self, bound: usize) -> usize {
        ((u128::from(self.next()) * bound as u128) >> 64) as usize
    }
}

thread_local! {
    static RANDOM: Random = const { Random::new(0) };
}

/// Begins this thread's choices anew.
pub(crate) fn seed(seed: u64) {
    RANDOM.with(|random| random.0.set(seed));
}

/// This thread's choice of a number below `bound`, which is not zero.
pub(crate) fn below(bound: usize) -> usize {
    RANDOM.with(|random| random.below(bound))
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn every_number_below_the_bound_comes() {
        let random = Random::new(1);
        let mut seen = [0; 10];
        for _ in 0..1000 {
            seen[random.below(10)] += 1;
        }
        assert!(
            seen.iter().all(|count| (50..200).contains(count)),
            "{seen:?}"
        );
    }
}
