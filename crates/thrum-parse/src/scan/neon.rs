//! AArch64 with NEON, which all of them have: 16 bytes at a time.

use std::arch::aarch64::*;

use super::{Level, run_bytewise};
use crate::ByteSet;
use crate::byte_set::Upper;

/// NEON.
#[derive(Clone, Copy, Debug)]
pub struct Neon(());

impl Neon {
    /// NEON, if this CPU has it.
    #[inline]
    pub fn detect() -> Option<Self> {
        std::arch::is_aarch64_feature_detected!("neon").then_some(Self(()))
    }
}

impl Level for Neon {
    #[inline(always)]
    fn run(self, set: &ByteSet, bytes: &[u8]) -> usize {
        if set.upper == Upper::Some {
            return run_bytewise(set, bytes);
        }
        let mut done = 0;
        while let Some(block) = bytes[done..].first_chunk::<16>() {
            // SAFETY: a `Neon` exists only where the CPU has it.
            let run = unsafe { run_16(set, block) };
            done += run;
            if run < 16 {
                return done;
            }
        }
        done + run_bytewise(set, &bytes[done..])
    }
}

/// Two table look-ups a byte, by its nibbles, as in the AVX2 kernel.
#[inline]
#[target_feature(enable = "neon")]
fn run_16(set: &ByteSet, block: &[u8; 16]) -> usize {
    const ROW_BITS: [u8; 16] = [1, 2, 4, 8, 16, 32, 64, 128, 0, 0, 0, 0, 0, 0, 0, 0];
    // SAFETY: all three are readable for 16 bytes.
    let (bytes, columns, row_bits) = unsafe {
        (
            vld1q_u8(block.as_ptr()),
            vld1q_u8(set.nibbles.as_ptr()),
            vld1q_u8(ROW_BITS.as_ptr()),
        )
    };
    let rows = vqtbl1q_u8(columns, vandq_u8(bytes, vdupq_n_u8(0x0f)));
    let row = vqtbl1q_u8(row_bits, vshrq_n_u8::<4>(bytes));
    let mut inside = vtstq_u8(rows, row);
    if set.upper == Upper::All {
        inside = vorrq_u8(inside, vcgeq_u8(bytes, vdupq_n_u8(0x80)));
    }
    // Narrowed to four bits a byte, as NEON has no movemask.
    let outside = vshrn_n_u16::<4>(vreinterpretq_u16_u8(vmvnq_u8(inside)));
    let mask = vget_lane_u64::<0>(vreinterpret_u64_u8(outside));
    (mask.trailing_zeros() / 4) as usize
}
