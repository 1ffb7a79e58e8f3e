//! x86-64: SSSE3, which every such processor has had since 2011, and AVX2. Plain SSE2 cannot look up tables.

use std::arch::x86_64::*;

use super::kernel::{Block, run};
use crate::ByteSet;
use crate::set::Upper;

#[inline]
pub(super) fn has_ssse3() -> bool {
    is_x86_feature_detected!("ssse3")
}

#[inline]
pub(super) fn has_avx2() -> bool {
    is_x86_feature_detected!("avx2")
        && is_x86_feature_detected!("bmi1")
        && is_x86_feature_detected!("bmi2")
}

/// # Safety
/// The machine has SSSE3.
#[target_feature(enable = "ssse3")]
pub(super) unsafe fn with_ssse3<R>(parse: impl FnOnce() -> R) -> R {
    parse()
}

/// # Safety
/// The machine has AVX2, BMI1 and BMI2.
#[target_feature(enable = "avx2,bmi1,bmi2")]
pub(super) unsafe fn with_avx2<R>(parse: impl FnOnce() -> R) -> R {
    parse()
}

/// # Safety
/// The machine has SSSE3.
#[inline]
#[target_feature(enable = "ssse3")]
pub(super) unsafe fn run_ssse3<'a>(set: &ByteSet, buffer: &'a [u8], from: usize) -> &'a [u8] {
    // SAFETY: the caller's promise.
    unsafe { run::<__m128i>(set, buffer, from) }
}

/// # Safety
/// The machine has AVX2, BMI1 and BMI2.
#[inline]
#[target_feature(enable = "avx2,bmi1,bmi2")]
pub(super) unsafe fn run_avx2<'a>(set: &ByteSet, buffer: &'a [u8], from: usize) -> &'a [u8] {
    // SAFETY: the caller's promise.
    unsafe { run::<__m256i>(set, buffer, from) }
}

/// Entry `n` is the bit of high nibble `n` in a set's maps.
const BITS: [u8; 16] = [1, 2, 4, 8, 16, 32, 64, 128, 1, 2, 4, 8, 16, 32, 64, 128];

impl Block for __m128i {
    const BYTES: usize = 16;
    const MASK_BITS: usize = 1;

    #[inline(always)]
    unsafe fn load(from: *const u8) -> Self {
        // SAFETY: the caller says that 16 bytes are readable; the load has no alignment to keep.
        unsafe { _mm_loadu_si128(from.cast()) }
    }

    #[inline(always)]
    unsafe fn outside(self, set: &ByteSet) -> u64 {
        // SAFETY: the arrays that are loaded have 16 bytes; the caller vouches for the instructions.
        unsafe {
            let table = |map: &[u8; 16]| _mm_loadu_si128(map.as_ptr().cast());
            let nibble = _mm_and_si128(_mm_srli_epi16::<4>(self), _mm_set1_epi8(15));
            let bit = _mm_shuffle_epi8(table(&BITS), nibble);
            // An index of 0x80 or more looks up 0, so each map speaks of its half of the bytes only.
            let row = match set.upper {
                Upper::None => _mm_shuffle_epi8(table(&set.low), self),
                Upper::All => _mm_or_si128(
                    _mm_shuffle_epi8(table(&set.low), self),
                    _mm_cmplt_epi8(self, _mm_setzero_si128()),
                ),
                Upper::Some => _mm_or_si128(
                    _mm_shuffle_epi8(table(&set.low), self),
                    _mm_shuffle_epi8(table(&set.high), _mm_xor_si128(self, _mm_set1_epi8(-128))),
                ),
            };
            let outside = _mm_cmpeq_epi8(_mm_and_si128(row, bit), _mm_setzero_si128());
            _mm_movemask_epi8(outside) as u32 as u64
        }
    }
}

impl Block for __m256i {
    const BYTES: usize = 32;
    const MASK_BITS: usize = 1;

    #[inline(always)]
    unsafe fn load(from: *const u8) -> Self {
        // SAFETY: the caller says that 32 bytes are readable; the load has no alignment to keep.
        unsafe { _mm256_loadu_si256(from.cast()) }
    }

    #[inline(always)]
    unsafe fn outside(self, set: &ByteSet) -> u64 {
        // SAFETY: the arrays that are loaded have 16 bytes; the caller vouches for the instructions.
        unsafe {
            let table =
                |map: &[u8; 16]| _mm256_broadcastsi128_si256(_mm_loadu_si128(map.as_ptr().cast()));
            let nibble = _mm256_and_si256(_mm256_srli_epi16::<4>(self), _mm256_set1_epi8(15));
            let bit = _mm256_shuffle_epi8(table(&BITS), nibble);
            let row = match set.upper {
                Upper::None => _mm256_shuffle_epi8(table(&set.low), self),
                // A byte from 0x80 on keeps all bits, the others keep those of their row: a byte is its own sign.
                Upper::All => _mm256_or_si256(
                    _mm256_shuffle_epi8(table(&set.low), self),
                    _mm256_cmpgt_epi8(_mm256_setzero_si256(), self),
                ),
                Upper::Some => _mm256_or_si256(
                    _mm256_shuffle_epi8(table(&set.low), self),
                    _mm256_shuffle_epi8(
                        table(&set.high),
                        _mm256_xor_si256(self, _mm256_set1_epi8(-128)),
                    ),
                ),
            };
            let outside = _mm256_cmpeq_epi8(_mm256_and_si256(row, bit), _mm256_setzero_si256());
            _mm256_movemask_epi8(outside) as u32 as u64
        }
    }
}
