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

/// The bytes of `set` that `buffer` has from `from` on, up to the first other byte or the end.
///
/// # Safety
/// The machine has the instructions of `B`.
#[inline(always)]
pub(super) unsafe fn run<'a, B: Block>(set: &ByteSet, buffer: &'a [u8], from: usize) -> &'a [u8] {
    if let Some(last) = buffer.len().checked_sub(B::BYTES) {
        let mut at = from;
        while at <= last {
            // SAFETY: `at + BYTES` is at most the length of the buffer.
            let outside = unsafe { B::load(buffer.as_ptr().add(at)).outside(set) };
            if outside != 0 {
                let end = at + outside.trailing_zeros() as usize / B::MASK_BITS;
                // SAFETY: `from <= at <= end`, and `end` is one of the `BYTES` from `at` on.
                return unsafe { buffer.get_unchecked(from..end) };
            }
            at += B::BYTES;
        }
        // SAFETY: the caller's promise.
        return unsafe { run_end::<B>(set, buffer, from, at) };
    }
    run_short(set, buffer, from)
}

/// The same for a run that reaches into the last bytes of the buffer: up to `at` it has been found, and behind `at` there
/// is less than a block. So take the block that ends where the buffer does, and drop its first bytes.
///
/// # Safety
/// The machine has the instructions of `B`.
#[inline(always)]
pub(super) unsafe fn run_end<'a, B: Block>(
    set: &ByteSet,
    buffer: &'a [u8],
    from: usize,
    at: usize,
) -> &'a [u8] {
    let rest = buffer.get(from..).unwrap_or_default();
    let Some(last) = buffer.len().checked_sub(B::BYTES) else {
        return rest;
    };
    let seen = at.saturating_sub(last);
    if seen >= B::BYTES {
        return rest; // nothing is left
    }
    // SAFETY: `last + BYTES` is the length of the buffer.
    let outside =
        unsafe { B::load(buffer.as_ptr().add(last)).outside(set) } >> (seen * B::MASK_BITS);
    if outside == 0 {
        return rest;
    }
    let end = at + outside.trailing_zeros() as usize / B::MASK_BITS;
    buffer.get(from..end).unwrap_or_default()
}

/// For buffers shorter than a block; apart, so that it does not take room where the scan is inlined.
#[cold]
#[inline(never)]
fn run_short<'a>(set: &ByteSet, buffer: &'a [u8], from: usize) -> &'a [u8] {
    run_scalar(set, buffer, from)
}

/// [`run`] by table, for machines without anything better.
#[inline]
pub(super) fn run_scalar<'a>(set: &ByteSet, buffer: &'a [u8], from: usize) -> &'a [u8] {
    let rest = buffer.get(from..).unwrap_or_default();
    let length = rest.iter().position(|&byte| !set.contains(byte));
    length.map_or(rest, |length| &rest[..length])
}
