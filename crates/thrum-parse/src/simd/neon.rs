//! aarch64: NEON, which every such processor that runs an operating system has.

use std::arch::aarch64::*;

use super::kernel::{Block, run};
use crate::ByteSet;
use crate::set::Upper;

#[inline]
pub(super) fn has_neon() -> bool {
    std::arch::is_aarch64_feature_detected!("neon")
}

/// # Safety
/// The machine has NEON.
#[target_feature(enable = "neon")]
pub(super) unsafe fn with_neon<R>(parse: impl FnOnce() -> R) -> R {
    parse()
}

/// # Safety
/// The machine has NEON.
#[inline]
#[target_feature(enable = "neon")]
pub(super) unsafe fn run_neon<'a>(set: &ByteSet, buffer: &'a [u8], from: usize) -> &'a [u8] {
    // SAFETY: the caller's promise.
    unsafe { run::<uint8x16_t>(set, buffer, from) }
}

/// Entry `n` is the bit of high nibble `n` in a set's maps.
const BITS: [u8; 16] = [1, 2, 4, 8, 16, 32, 64, 128, 1, 2, 4, 8, 16, 32, 64, 128];

impl Block for uint8x16_t {
    const BYTES: usize = 16;
    const MASK_BITS: usize = 4;

    #[inline(always)]
    unsafe fn load(from: *const u8) -> Self {
        // SAFETY: the caller says that 16 bytes are readable; the load has no alignment to keep.
        unsafe { vld1q_u8(from) }
    }

    #[inline(always)]
    unsafe fn outside(self, set: &ByteSet) -> u64 {
        // SAFETY: the arrays that are loaded have 16 bytes; the caller vouches for the instructions.
        unsafe {
            let table = |map: &[u8; 16]| vld1q_u8(map.as_ptr());
            let bit = vqtbl1q_u8(table(&BITS), vshrq_n_u8::<4>(self));
            // An index of 16 or more looks up 0. Clearing bits 4 to 6 leaves the low nibble, and 0x80 where it was set.
            let index = vandq_u8(self, vdupq_n_u8(0x8f));
            let row = match set.upper {
                Upper::None => vqtbl1q_u8(table(&set.low), index),
                Upper::All => vorrq_u8(
                    vqtbl1q_u8(table(&set.low), index),
                    vcgeq_u8(self, vdupq_n_u8(0x80)),
                ),
                Upper::Some => vorrq_u8(
                    vqtbl1q_u8(table(&set.low), index),
                    vqtbl1q_u8(table(&set.high), veorq_u8(index, vdupq_n_u8(0x80))),
                ),
            };
            // There is no movemask; narrowing by four bits leaves a nibble of the mask for each byte.
            let outside = vceqzq_u8(vandq_u8(row, bit));
            let nibbles = vshrn_n_u16::<4>(vreinterpretq_u16_u8(outside));
            vget_lane_u64::<0>(vreinterpret_u64_u8(nibbles))
        }
    }
}
