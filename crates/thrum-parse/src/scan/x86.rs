//! x86-64 with AVX2: 32 bytes at a time.

use std::arch::x86_64::*;

use super::{Level, run_bytewise};
use crate::ByteSet;
use crate::byte_set::Upper;

/// AVX2.
#[derive(Clone, Copy, Debug)]
pub struct Avx2(());

impl Avx2 {
    /// AVX2, if this CPU has it.
    #[inline]
    pub fn detect() -> Option<Self> {
        is_x86_feature_detected!("avx2").then_some(Self(()))
    }
}

impl Level for Avx2 {
    #[inline(always)]
    fn run(self, set: &ByteSet, bytes: &[u8]) -> usize {
        if set.upper == Upper::Some {
            return run_bytewise(set, bytes);
        }
        let mut done = 0;
        while let Some(block) = bytes[done..].first_chunk::<32>() {
            // SAFETY: an `Avx2` exists only where the CPU has it.
            let run = unsafe { run_32(set, block) };
            done += run;
            if run < 32 {
                return done;
            }
        }
        if let Some(block) = bytes[done..].first_chunk::<16>() {
            // SAFETY: as above; AVX2 includes SSSE3.
            let run = unsafe { run_16(set, block) };
            done += run;
            if run < 16 {
                return done;
            }
        }
        done + run_bytewise(set, &bytes[done..])
    }
}

/// Two table look-ups a byte, by its nibbles (Wojciech Muła, "SIMD byte lookup"): one gives the rows that have the column,
/// the other the row. A byte from 0x80 on gives zero in the first, as its top bit is set.
#[inline]
#[target_feature(enable = "avx2")]
fn run_32(set: &ByteSet, block: &[u8; 32]) -> usize {
    // SAFETY: both are readable for their length, and the loads are unaligned ones.
    let (bytes, columns) = unsafe {
        (
            _mm256_loadu_si256(block.as_ptr().cast()),
            _mm256_broadcastsi128_si256(_mm_loadu_si128(set.nibbles.as_ptr().cast())),
        )
    };
    let row_bits = _mm256_setr_epi8(
        1, 2, 4, 8, 16, 32, 64, -128, 0, 0, 0, 0, 0, 0, 0, 0, //
        1, 2, 4, 8, 16, 32, 64, -128, 0, 0, 0, 0, 0, 0, 0, 0,
    );
    let rows = _mm256_shuffle_epi8(columns, bytes);
    let high = _mm256_and_si256(_mm256_srli_epi16::<4>(bytes), _mm256_set1_epi8(0x0f));
    let row = _mm256_shuffle_epi8(row_bits, high);
    let outside = _mm256_cmpeq_epi8(_mm256_and_si256(rows, row), _mm256_setzero_si256());
    let mut mask = _mm256_movemask_epi8(outside) as u32;
    if set.upper == Upper::All {
        mask &= !(_mm256_movemask_epi8(bytes) as u32);
    }
    mask.trailing_zeros() as usize
}

/// The same for 16 bytes.
#[inline]
#[target_feature(enable = "avx2")]
fn run_16(set: &ByteSet, block: &[u8; 16]) -> usize {
    // SAFETY: both are readable for their length, and the loads are unaligned ones.
    let (bytes, columns) = unsafe {
        (
            _mm_loadu_si128(block.as_ptr().cast()),
            _mm_loadu_si128(set.nibbles.as_ptr().cast()),
        )
    };
    let row_bits = _mm_setr_epi8(1, 2, 4, 8, 16, 32, 64, -128, 0, 0, 0, 0, 0, 0, 0, 0);
    let rows = _mm_shuffle_epi8(columns, bytes);
    let high = _mm_and_si128(_mm_srli_epi16::<4>(bytes), _mm_set1_epi8(0x0f));
    let row = _mm_shuffle_epi8(row_bits, high);
    let outside = _mm_cmpeq_epi8(_mm_and_si128(rows, row), _mm_setzero_si128());
    let mut mask = _mm_movemask_epi8(outside) as u32 | 1 << 16;
    if set.upper == Upper::All {
        mask &= !(_mm_movemask_epi8(bytes) as u32);
    }
    mask.trailing_zeros() as usize
}
