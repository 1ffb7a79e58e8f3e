//! A small number for each OS thread that logs or counts, free again when the thread ends.
//!
//! The number picks the thread's buffer in every log and its share of every hot counter, so nothing keeps a list of threads,
//! and threads that come and go
//! (standby threads do) use the same few numbers again. It is shared only when more than [`SLOTS`] threads log at
//! the same time, which costs those threads a moment of each other's lock and nothing else.

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

/// How many threads have a number, and so a buffer, to themselves.
pub(crate) const SLOTS: usize = u64::BITS as usize;

/// The calling thread's number, below [`SLOTS`].
#[inline]
pub(crate) fn of_this_thread() -> usize {
    // A thread that logs while its thread-locals are destroyed borrows number 0.
    CLAIM.try_with(|claim| claim.slot).unwrap_or(0)
}

thread_local! {
    static CLAIM: Claim = SLOTS_OF_PROCESS.claim();
}

static SLOTS_OF_PROCESS: Slots = Slots::new();

struct Slots {
    /// One bit for each number that a thread has to itself.
    taken: AtomicU64,
    /// Deals out numbers to share once all are taken.
    shared: AtomicUsize,
}

struct Claim {
    slot: usize,
    /// Where to give it back to, if no other thread has the number.
    alone_in: Option<&'static Slots>,
}

impl Slots {
    const fn new() -> Self {
        Self {
            taken: AtomicU64::new(0),
            shared: AtomicUsize::new(0),
        }
    }

    fn claim(&'static self) -> Claim {
        // Relaxed: the numbers order nothing; what they pick has its own lock.
        let lowest_free = |taken: u64| (taken != u64::MAX).then(|| taken | (taken + 1));
        match self
            .taken
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, lowest_free)
        {
            Ok(taken) => Claim {
                slot: taken.trailing_ones() as usize,
                alone_in: Some(self),
            },
            Err(_) => {
                let slot = self.shared.fetch_add(1, Ordering::Relaxed) % SLOTS;
                Claim {
                    slot,
                    alone_in: None,
                }
            }
        }
    }
}

impl Drop for Claim {
    fn drop(&mut self) {
        if let Some(slots) = self.alone_in {
            slots.taken.fetch_and(!(1 << self.slot), Ordering::Relaxed);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_lowest_number_that_is_free() {
        static SLOTS_OF_TEST: Slots = Slots::new();
        let mut claims: Vec<Claim> = (0..SLOTS).map(|_| SLOTS_OF_TEST.claim()).collect();
        assert!(
            claims
                .iter()
                .enumerate()
                .all(|(number, claim)| claim.slot == number)
        );

        let shared: Vec<usize> = (0..SLOTS + 2).map(|_| SLOTS_OF_TEST.claim().slot).collect();
        assert_eq!(shared[..2], [0, 1]);
        assert_eq!(shared[SLOTS..], [0, 1]);

        drop(claims.swap_remove(7));
        assert_eq!(SLOTS_OF_TEST.claim().slot, 7);
        drop(claims);
        assert_eq!(SLOTS_OF_TEST.taken.load(Ordering::Relaxed), 0);
    }

    #[test]
    fn a_thread_keeps_its_number() {
        let slot = of_this_thread();
        assert!(slot < SLOTS);
        assert_eq!(slot, of_this_thread());
    }
}
