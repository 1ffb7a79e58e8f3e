//! The scan itself, for any instruction set.

use crate::ByteSet;

/// A block of bytes in a register.
pub(super) trait Block: Copy {
    /// How many bytes it has.
    const BYTES: usize;
    /// How many bits of a mask stand for one byte.
    const MASK_BITS: usize;

    /// Loads a block from any address.
    ///
    /// # Safety
    /// [`BYTES`](Block::BYTES) bytes are readable from `from`, and the machine has the instructions.
    unsafe fn load(from: *const u8) -> Self;

    /// Which bytes are not in `set`: the lowest bits stand for the first byte, bits beyond the last byte are 0.
    ///
    /// # Safety
    /// The machine has the instructions.
    unsafe fn outside(self, set: &ByteSet) -> u64;
}

/// The first position from `from` on whose byte is not in `set`; the length of the buffer if all are.
///
/// # Safety
/// The machine has the instructions of `B`.
#[inline(always)]
pub(super) unsafe fn run_end<B: Block>(set: &ByteSet, buffer: &[u8], from: usize) -> usize {
    let Some(last) = buffer.len().checked_sub(B::BYTES) else {
        return run_end_short(set, buffer, from);
    };
    let mut at = from;
    while at <= last {
        // SAFETY: `at + BYTES` is at most the length of the buffer.
        let outside = unsafe { B::load(buffer.as_ptr().add(at)).outside(set) };
        if outside != 0 {
            return at + outside.trailing_zeros() as usize / B::MASK_BITS;
        }
        at += B::BYTES;
    }
    // What is left is shorter than a block: take the block that ends where the buffer does, and drop its first bytes.
    let seen = at - last;
    if seen < B::BYTES {
        // SAFETY: `last + BYTES` is the length of the buffer.
        let outside = unsafe { B::load(buffer.as_ptr().add(last)).outside(set) };
        let outside = outside >> (seen * B::MASK_BITS);
        if outside != 0 {
            return at + outside.trailing_zeros() as usize / B::MASK_BITS;
        }
    }
    buffer.len()
}

/// For buffers shorter than a block; apart, so that it does not take room where the scan is inlined.
#[cold]
#[inline(never)]
fn run_end_short(set: &ByteSet, buffer: &[u8], from: usize) -> usize {
    run_end_scalar(set, buffer, from)
}

/// [`run_end`] by table, for machines without anything better.
#[inline]
pub(super) fn run_end_scalar(set: &ByteSet, buffer: &[u8], from: usize) -> usize {
    let rest = buffer.get(from..).unwrap_or_default();
    let inside = rest.iter().position(|&byte| !set.contains(byte));
    inside.map_or(buffer.len(), |length| from + length)
}
