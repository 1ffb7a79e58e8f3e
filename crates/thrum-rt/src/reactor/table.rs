//! Where a reactor keeps its sources: pages that are added and never moved or freed while the reactor lives.
//!
//! So an event finds its source by index without a lock or a reference count, and a stale event finds a slot in another
//! life, never freed memory; and who has claimed a slot keeps a pointer to it. The price: the table keeps the size of the most descriptors that were ever open at once,
//! 88 bytes each.

use std::ptr::NonNull;
use std::sync::OnceLock;

use super::source::Source;
use crate::shim::Mutex;

/// The first page has this many slots, each further page twice as many as the one before.
const FIRST: usize = 64;
const PAGES: usize = 24;

pub(super) struct Table {
    pages: [OnceLock<Box<[Source]>>; PAGES],
    vacant: Mutex<Vacant>,
}

/// A slot that somebody has claimed: where its source is, found once.
pub(super) struct Slot {
    pub(super) index: u32,
    source: NonNull<Source>,
}

// SAFETY: a slot is a shared reference to a source, and that is `Sync`.
unsafe impl Send for Slot {}
// SAFETY: as above.
unsafe impl Sync for Slot {}

impl Slot {
    /// The source of this slot.
    ///
    /// # Safety
    /// The table must live as long as the reference.
    pub(super) unsafe fn source(&self) -> &Source {
        // SAFETY: it was made of a reference into a page, and the table neither moves nor frees pages while it lives, which
        // the caller answers for.
        unsafe { self.source.as_ref() }
    }
}

struct Vacant {
    free: Vec<u32>,
    /// How many slots exist.
    len: usize,
}

impl Table {
    pub(super) fn new() -> Self {
        Self {
            pages: [const { OnceLock::new() }; PAGES],
            vacant: Mutex::new(Vacant {
                free: Vec::new(),
                len: 0,
            }),
        }
    }

    /// Takes a free slot, or `None` if there are 2^30 open descriptors.
    pub(super) fn claim(&self) -> Option<Slot> {
        let index = self.claim_index()?;
        let source = NonNull::from(self.get(index)?);
        Some(Slot { index, source })
    }

    fn claim_index(&self) -> Option<u32> {
        let mut vacant = self.vacant.lock();
        if let Some(index) = vacant.free.pop() {
            return Some(index);
        }
        let (page, _) = locate(vacant.len);
        let size = FIRST << page;
        self.pages
            .get(page)?
            .get_or_init(|| (0..size).map(|_| Source::new()).collect());
        let first = u32::try_from(vacant.len).ok()?;
        vacant.len += size;
        // The lowest index is popped first.
        vacant.free.extend((first + 1..first + size as u32).rev());
        Some(first)
    }

    /// Gives a slot back. Its life has been ended.
    pub(super) fn release(&self, slot: &Slot) {
        self.vacant.lock().free.push(slot.index);
    }

    pub(super) fn get(&self, index: u32) -> Option<&Source> {
        let (page, offset) = locate(index as usize);
        self.pages.get(page)?.get()?.get(offset)
    }

    /// Every slot there is, in use or not.
    pub(super) fn iter(&self) -> impl Iterator<Item = &Source> {
        self.pages
            .iter()
            .filter_map(OnceLock::get)
            .flat_map(|page| page.iter())
    }
}

/// The page and the offset in it: page `p` begins at `FIRST * (2^p - 1)`.
fn locate(index: usize) -> (usize, usize) {
    let page = (index / FIRST + 1).ilog2() as usize;
    (page, index - FIRST * ((1 << page) - 1))
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn pages_follow_each_other_without_a_gap() {
        let mut expected = (0, 0);
        for index in 0..10_000 {
            assert_eq!(locate(index), expected);
            expected.1 += 1;
            if expected.1 == FIRST << expected.0 {
                expected = (expected.0 + 1, 0);
            }
        }
    }

    #[test]
    fn slots_are_distinct_and_used_again() {
        let table = Table::new();
        let slots: Vec<Slot> = (0..1000).map(|_| table.claim().unwrap()).collect();
        let mut claimed: Vec<u32> = slots.iter().map(|slot| slot.index).collect();
        assert!(claimed.iter().all(|&index| table.get(index).is_some()));
        table.release(&slots[999]);
        assert_eq!(table.claim().map(|slot| slot.index), Some(claimed[999]));
        claimed.sort_unstable();
        claimed.dedup();
        assert_eq!(claimed.len(), 1000);
    }
}
