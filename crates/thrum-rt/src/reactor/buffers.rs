//! Buffers that the kernel receives into and a reader copies from: a ring registered with io_uring (a "provided buffer
//! ring"). Each buffer is at any time either the kernel's to fill, or in an inbox.

use std::alloc::{Layout, alloc_zeroed, dealloc, handle_alloc_error};
use std::io;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU16, Ordering};

use io_uring::types::BufRingEntry;
use io_uring::{IoUring, Submitter};

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
    /// The kernel may write to it.
    registered: bool,
    /// The end of the ring, where buffers are given to the kernel.
    tail: Mutex<u16>,
}

// SAFETY: the ring's entries are written under the lock of `tail` only, and a buffer only read through the `Filled` that
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
    /// Buffers registered with a ring, all of them the kernel's.
    pub(super) fn new(ring: &IoUring) -> io::Result<Self> {
        // SAFETY: the layout is not empty.
        let memory = unsafe { alloc_zeroed(LAYOUT) };
        let mut buffers = Self {
            registered: false,
            memory: NonNull::new(memory).unwrap_or_else(|| handle_alloc_error(LAYOUT)),
            tail: Mutex::new(0),
        };
        // SAFETY: the memory is page-aligned, as large as that, and lives until it is unregistered.
        unsafe {
            ring.submitter().register_buf_ring_with_flags(
                buffers.memory.as_ptr() as u64,
                COUNT,
                GROUP,
                0,
            )
        }?;
        buffers.registered = true;
        for number in 0..COUNT {
            buffers.provide(number);
        }
        Ok(buffers)
    }

    /// Takes all buffers away from the kernel, which receives no more.
    pub(super) fn withdraw(&mut self, submitter: &Submitter<'_>) {
        self.registered = submitter.unregister_buf_ring(GROUP).is_err();
    }

    /// The buffer that a completion names, with so many bytes in it.
    pub(super) fn filled(&self, number: u16, length: usize) -> Filled {
        debug_assert!(number < COUNT && length <= SIZE);
        Filled {
            number: number % COUNT,
            from: 0,
            to: length.min(SIZE),
        }
    }

    /// Copies what is left in a buffer, as far as there is room. Returns how much that was.
    pub(super) fn copy(&self, filled: &mut Filled, to: &mut [u8]) -> usize {
        let length = to.len().min(filled.to - filled.from);
        let offset = ENTRIES + usize::from(filled.number) * SIZE;
        // SAFETY: the range lies in the buffer, which the kernel does not touch until it is given back.
        let bytes = unsafe {
            std::slice::from_raw_parts(self.memory.as_ptr().add(offset + filled.from), length)
        };
        to[..length].copy_from_slice(bytes);
        filled.from += length;
        length
    }

    /// Lets the kernel have a buffer again.
    pub(super) fn give_back(&self, filled: Filled) {
        self.provide(filled.number);
    }

    fn provide(&self, number: u16) {
        let mut tail = self.tail.lock();
        let entries = self.memory.as_ptr().cast::<BufRingEntry>();
        let offset = ENTRIES + usize::from(number) * SIZE;
        // SAFETY: the entry lies in the ring and is nobody else's before the tail has passed it: there are as many entries
        // as buffers. The tail, a u16 of its own in the ring's first entry, is read by the kernel with acquire.
        unsafe {
            let entry = &mut *entries.add(usize::from(*tail % COUNT));
            entry.set_addr(self.memory.as_ptr().add(offset) as u64);
            entry.set_len(SIZE as u32);
            entry.set_bid(number);
            *tail = tail.wrapping_add(1);
            let shared = BufRingEntry::tail(entries).cast_mut();
            AtomicU16::from_ptr(shared).store(*tail, Ordering::Release);
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
        // If the kernel would not let go of it, the memory stays.
        if !self.registered {
            // SAFETY: it was allocated with this layout, and nobody else has it any more.
            unsafe { dealloc(self.memory.as_ptr(), LAYOUT) };
        }
    }
}
