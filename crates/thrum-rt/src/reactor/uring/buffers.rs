//! Buffers that the kernel receives into and a reader copies from: a ring registered with io_uring (a "provided buffer
//! ring"). Each buffer is at any time either the kernel's to fill, or in an inbox.
//!
//! The kernel fills them only while the thread that the ring belongs to submits or waits ([`uring`](super)).

use std::alloc::{Layout, alloc_zeroed, dealloc, handle_alloc_error};
use std::io;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU16, Ordering};

use io_uring::IoUring;
use io_uring::types::BufRingEntry;

use crate::shim::Mutex;

/// How many buffers a reactor has; a power of two.
const COUNT: u16 = 256;

/// What fits in one, in bytes. Most requests do.
const SIZE: usize = 4096;

/// The group that requests name.
pub(super) const GROUP: u16 = 0;

/// The ring's entries first, page-aligned, then the buffers.
const ENTRIES: usize = COUNT as usize * size_of::<BufRingEntry>();
const LAYOUT: Layout = match Layout::from_size_align(ENTRIES + COUNT as usize * SIZE, 4096) {
    Ok(layout) => layout,
    Err(_) => unreachable!(),
};

pub(super) struct Buffers {
    memory: NonNull<u8>,
    hands: Mutex<Hands>,
}

/// Whose the buffers are.
#[derive(Default)]
struct Hands {
    /// The end of the ring, where buffers are given to the kernel.
    tail: u16,
    /// Those in inboxes.
    ours: [u64; COUNT as usize / 64],
}

// SAFETY: the ring's entries are written under the lock of `hands` only, and a buffer only read through the `Filled` that
// owns it.
unsafe impl Send for Buffers {}
// SAFETY: as before.
unsafe impl Sync for Buffers {}

/// A buffer that the kernel has filled, in part or whole. It must be given back.
pub(super) struct Filled {
    number: u16,
    from: usize,
    to: usize,
}

impl Buffers {
    pub(super) fn new() -> Self {
        // SAFETY: the layout is not empty.
        let memory = unsafe { alloc_zeroed(LAYOUT) };
        Self {
            memory: NonNull::new(memory).unwrap_or_else(|| handle_alloc_error(LAYOUT)),
            hands: Mutex::default(),
        }
    }

    /// Gives a new ring all buffers that are not in an inbox. The ring that had them before must have been closed.
    pub(super) fn register(&self, ring: &IoUring) -> io::Result<()> {
        let mut hands = self.hands.lock();
        self.publish(&mut hands, 0);
        let memory = self.memory.as_ptr() as u64;
        // SAFETY: the memory is page-aligned, large enough, and freed only after the ring was closed.
        unsafe {
            ring.submitter()
                .register_buf_ring_with_flags(memory, COUNT, GROUP, 0)
        }?;
        for number in 0..COUNT {
            if hands.ours[usize::from(number / 64)] & 1 << (number % 64) == 0 {
                self.provide(&mut hands, number);
            }
        }
        Ok(())
    }

    /// The buffer that a completion names, with so many bytes in it.
    pub(super) fn filled(&self, number: u16, length: usize) -> Filled {
        let number = number % COUNT;
        self.hands.lock().ours[usize::from(number / 64)] |= 1 << (number % 64);
        Filled {
            number,
            from: 0,
            to: length.min(SIZE),
        }
    }

    /// Takes what is left in a buffer, as far as there is room. Returns how much that was.
    pub(super) fn copy(&self, filled: &mut Filled, to: &mut [u8]) -> usize {
        let length = self.peek(filled, to);
        filled.from += length;
        length
    }

    /// Copies what is left in a buffer, as far as there is room. Returns how much that was.
    pub(super) fn peek(&self, filled: &Filled, to: &mut [u8]) -> usize {
        let length = to.len().min(filled.to - filled.from);
        let offset = ENTRIES + usize::from(filled.number) * SIZE;
        // SAFETY: the range lies in the buffer, which the kernel does not touch until it is given back.
        let bytes = unsafe {
            std::slice::from_raw_parts(self.memory.as_ptr().add(offset + filled.from), length)
        };
        to[..length].copy_from_slice(bytes);
        length
    }

    /// Lets the kernel have a buffer again.
    pub(super) fn give_back(&self, filled: Filled) {
        let number = filled.number;
        let mut hands = self.hands.lock();
        hands.ours[usize::from(number / 64)] &= !(1 << (number % 64));
        self.provide(&mut hands, number);
    }

    fn provide(&self, hands: &mut Hands, number: u16) {
        let entries = self.memory.as_ptr().cast::<BufRingEntry>();
        let offset = ENTRIES + usize::from(number) * SIZE;
        // SAFETY: the entry lies in the ring, and the kernel leaves it alone until the tail has passed it: there are as many
        // entries as buffers.
        unsafe {
            let entry = &mut *entries.add(usize::from(hands.tail % COUNT));
            entry.set_addr(self.memory.as_ptr().add(offset) as u64);
            entry.set_len(SIZE as u32);
            entry.set_bid(number);
        }
        self.publish(hands, hands.tail.wrapping_add(1));
    }

    /// Tells the kernel where the ring ends.
    fn publish(&self, hands: &mut Hands, tail: u16) {
        hands.tail = tail;
        let entries = self.memory.as_ptr().cast::<BufRingEntry>();
        // SAFETY: the tail is an aligned u16 in the first entry that nothing else uses; the kernel reads it with acquire.
        unsafe {
            let shared = BufRingEntry::tail(entries).cast_mut();
            AtomicU16::from_ptr(shared).store(tail, Ordering::Release);
        }
    }
}

impl Filled {
    pub(super) fn is_empty(&self) -> bool {
        self.from == self.to
    }
}

impl Drop for Buffers {
    fn drop(&mut self) {
        // SAFETY: it was allocated with this layout, and its ring has been closed.
        unsafe { dealloc(self.memory.as_ptr(), LAYOUT) };
    }
}
