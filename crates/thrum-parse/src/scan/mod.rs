//! How far a run of bytes of one set goes: the one hot loop of every grammar.
//!
//! A [`Level`] is an instruction set. Grammars are generic over it and are compiled once for each, as a whole: a kernel that
//! was chosen at run time, call by call, could not be inlined into its caller, which costs half of the speed on short tokens.
//! [`for_this_cpu!`](crate::for_this_cpu) makes the choice, outside.

#[cfg(target_arch = "aarch64")]
mod neon;
mod portable;
#[cfg(target_arch = "x86_64")]
mod x86;

#[cfg(target_arch = "aarch64")]
pub use self::neon::Neon;
pub use self::portable::Portable;
#[cfg(target_arch = "x86_64")]
pub use self::x86::Avx2;

use crate::ByteSet;

/// An instruction set to scan with. A value of it is proof that the CPU has it.
pub trait Level: Copy {
    /// How many bytes from the start are in the set.
    fn run(self, set: &ByteSet, bytes: &[u8]) -> usize;
}

/// How many bytes from the start are in the set, looked at one by one.
#[inline(always)]
fn run_bytewise(set: &ByteSet, bytes: &[u8]) -> usize {
    bytes
        .iter()
        .position(|&byte| !set.contains(byte))
        .unwrap_or(bytes.len())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn sets() -> impl Strategy<Value = ByteSet> {
        let lower = prop::collection::vec(0..0x80u8, 0..128).prop_map(|bytes| ByteSet::of(&bytes));
        (lower, 0..3u8, any::<Vec<u8>>()).prop_map(|(lower, upper, some)| match upper {
            0 => lower,
            1 => lower.or(ByteSet::range(0x80, 0xff)),
            _ => lower.or(ByteSet::of(&some)),
        })
    }

    fn agrees(level: impl Level, set: &ByteSet, bytes: &[u8]) -> Result<(), TestCaseError> {
        for start in 0..bytes.len().min(70) {
            let bytes = &bytes[start..];
            prop_assert_eq!(level.run(set, bytes), run_bytewise(set, bytes));
        }
        Ok(())
    }

    proptest! {
        /// Every kernel does what the table says, from every alignment and for every length.
        #[test]
        fn kernels_agree(set in sets(), members in 0..200usize, rest in any::<Vec<u8>>()) {
            let inside: Vec<u8> = (0..=255).filter(|&byte| set.contains(byte)).collect();
            let mut bytes: Vec<u8> = inside.iter().copied().cycle().take(if inside.is_empty() { 0 } else { members }).collect();
            bytes.extend(rest);
            agrees(Portable, &set, &bytes)?;
            #[cfg(target_arch = "x86_64")]
            if let Some(level) = Avx2::detect() {
                agrees(level, &set, &bytes)?;
            }
            #[cfg(target_arch = "aarch64")]
            if let Some(level) = Neon::detect() {
                agrees(level, &set, &bytes)?;
            }
        }
    }
}
