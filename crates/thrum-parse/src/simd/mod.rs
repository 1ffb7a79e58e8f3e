//! Scanning runs of bytes of a set, as fast as the machine can.
//!
//! All `unsafe` code of this crate is below here. Each instruction set has one file that can load a block and tell which
//! of its bytes are outside of a set; `kernel` turns that into a scan, once for all of them. The set's nibble maps make
//! any set cost the same: two table look-ups by shuffle, for 16 or 32 bytes at once.
//!
//! No byte past the end of the buffer is read, and buffers need no padding: what is left at the end is covered by a
//! block that ends there and overlaps what was scanned already. That is one block more, in the last run of a buffer.
//!
//! A scan that is called on its own picks its instruction set by a jump that is easy to predict. [`fastest`] goes
//! further: it compiles a whole parser once for each instruction set, with the scans inside.
#![allow(unsafe_code)]

mod kernel;
#[cfg(target_arch = "aarch64")]
mod neon;
#[cfg(target_arch = "x86_64")]
mod x86;

use crate::ByteSet;

/// An instruction set that this machine has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Level(Kind);

/// Whoever has a `Level` of a kind has seen the machine support it, so nobody outside of this module can make one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Scalar,
    #[cfg(target_arch = "x86_64")]
    Ssse3,
    #[cfg(target_arch = "x86_64")]
    Avx2,
    #[cfg(target_arch = "aarch64")]
    Neon,
}

impl Level {
    /// One byte after the other, on any machine.
    pub const SCALAR: Level = Level(Kind::Scalar);

    /// The best that this machine has.
    #[inline]
    pub fn best() -> Level {
        #[cfg(target_arch = "x86_64")]
        {
            // The standard library asks the processor once and remembers.
            if x86::has_avx2() {
                return Level(Kind::Avx2);
            }
            if x86::has_ssse3() {
                return Level(Kind::Ssse3);
            }
        }
        #[cfg(target_arch = "aarch64")]
        if neon::has_neon() {
            return Level(Kind::Neon);
        }
        Level::SCALAR
    }

    /// All that this machine has, the slowest first.
    pub fn all() -> Vec<Level> {
        #[allow(unused_mut)]
        let mut levels = vec![Level::SCALAR];
        #[cfg(target_arch = "x86_64")]
        {
            if x86::has_ssse3() {
                levels.push(Level(Kind::Ssse3));
            }
            if x86::has_avx2() {
                levels.push(Level(Kind::Avx2));
            }
        }
        #[cfg(target_arch = "aarch64")]
        if neon::has_neon() {
            levels.push(Level(Kind::Neon));
        }
        levels
    }
}

/// Runs `parse` in a copy that was compiled for the best instruction set of this machine. What it calls is part of the
/// copy as far as it is inlined.
///
/// ```
/// use thrum_parse::{ByteSet, In, Parser, simd, take_while};
///
/// static DIGIT: ByteSet = ByteSet::new().range(b'0', b'9');
///
/// let digits = simd::fastest(|level| {
///     take_while(&DIGIT).parse(&mut In::starting(b"2026-11-21", 0, true, level))
/// });
/// assert_eq!(digits, Ok(&b"2026"[..]));
/// ```
#[inline]
pub fn fastest<R>(parse: impl FnOnce(Level) -> R) -> R {
    run_at(Level::best(), parse)
}

/// Like [`fastest`], with the instruction set chosen by the caller.
#[inline]
pub fn run_at<R>(level: Level, parse: impl FnOnce(Level) -> R) -> R {
    match level.0 {
        Kind::Scalar => parse(Level(Kind::Scalar)),
        // SAFETY: a `Level` of this kind exists only where the machine has the instructions.
        #[cfg(target_arch = "x86_64")]
        Kind::Ssse3 => unsafe {
            x86::with_ssse3(
                #[inline(always)]
                || parse(Level(Kind::Ssse3)),
            )
        },
        // SAFETY: as above.
        #[cfg(target_arch = "x86_64")]
        Kind::Avx2 => unsafe {
            x86::with_avx2(
                #[inline(always)]
                || parse(Level(Kind::Avx2)),
            )
        },
        // SAFETY: as above.
        #[cfg(target_arch = "aarch64")]
        Kind::Neon => unsafe {
            neon::with_neon(
                #[inline(always)]
                || parse(Level(Kind::Neon)),
            )
        },
    }
}

/// The bytes of `set` that `buffer` has from `from` on, up to the first other byte or the end.
#[inline(always)]
pub(crate) fn run<'a>(level: Level, set: &ByteSet, buffer: &'a [u8], from: usize) -> &'a [u8] {
    match level.0 {
        Kind::Scalar => kernel::run_scalar(set, buffer, from),
        // SAFETY: a `Level` of this kind exists only where the machine has the instructions.
        #[cfg(target_arch = "x86_64")]
        Kind::Ssse3 => unsafe { x86::run_ssse3(set, buffer, from) },
        // SAFETY: as above.
        #[cfg(target_arch = "x86_64")]
        Kind::Avx2 => unsafe { x86::run_avx2(set, buffer, from) },
        // SAFETY: as above.
        #[cfg(target_arch = "aarch64")]
        Kind::Neon => unsafe { neon::run_neon(set, buffer, from) },
    }
}
