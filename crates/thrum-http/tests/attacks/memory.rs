//! An allocator that counts what the server's threads hold. It is exact, where the size of the process would be noisy.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::sync::atomic::{AtomicIsize, Ordering};

#[global_allocator]
static COUNTING: Counting = Counting;

static HELD: AtomicIsize = AtomicIsize::new(0);
static PEAK: AtomicIsize = AtomicIsize::new(0);

thread_local! {
    static IS_APART: Cell<bool> = const { Cell::new(false) };
}

/// From now on what this thread allocates is not counted: it is a client, or the test itself.
pub(crate) fn stand_apart() {
    IS_APART.set(true);
}

/// Bytes that the threads which do not stand apart hold.
pub(crate) fn held() -> isize {
    HELD.load(Ordering::Relaxed)
}

/// The most that [`held`] has been since the last call.
pub(crate) fn take_peak() -> isize {
    PEAK.swap(held(), Ordering::Relaxed)
}

struct Counting;

impl Counting {
    fn count(change: isize) {
        if !IS_APART.try_with(Cell::get).unwrap_or(true) {
            let held = HELD.fetch_add(change, Ordering::Relaxed) + change;
            PEAK.fetch_max(held, Ordering::Relaxed);
        }
    }
}

// SAFETY: All is left to the system's allocator. Counting allocates nothing: the thread's flag needs neither memory nor a
// destructor.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        Self::count(layout.size() as isize);
        // SAFETY: As promised to us.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        Self::count(layout.size() as isize);
        // SAFETY: As promised to us.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn realloc(&self, memory: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        Self::count(size as isize - layout.size() as isize);
        // SAFETY: As promised to us.
        unsafe { System.realloc(memory, layout, size) }
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        Self::count(-(layout.size() as isize));
        // SAFETY: As promised to us.
        unsafe { System.dealloc(memory, layout) }
    }
}
