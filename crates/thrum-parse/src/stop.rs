//! Why a parser has no value to give.

use std::num::NonZeroU32;

/// What a parser answers.
pub type Parsed<T> = Result<T, Stop>;

/// Why there is no value. It is 8 bytes, and made of numbers: [`explain`](crate::explain) turns it into words.
///
/// Offsets count from the start of the input and stop counting at 4 GiB.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stop {
    /// The input ends before the answer does, and more of it may come.
    Need(Need),
    /// The input does not match here; an alternative may.
    Fail {
        /// Where the byte is that does not match.
        at: u32,
        /// What is wrong with it.
        reason: Reason,
    },
    /// The input is wrong, whatever the alternatives.
    Cut {
        /// Where the byte is that is wrong.
        at: u32,
        /// What is wrong with it.
        reason: Reason,
    },
}

/// What a parser waits for.
///
/// It is final: whoever catches it to try something else answers for an end that is not known yet, and takes it back
/// when more comes. A grammar written by hand hands it on with `?`, and asks [`In::short`](crate::In::short) where it
/// looks at [`In::next_byte`](crate::In::next_byte) and there is none. What it may do is ask for less, one byte, or for
/// more where that is sure to be missing; never with [`Need::EndOfRun`] after another parser has asked for that, since
/// the [run cut short](crate::In::run_cut_short) would be the other's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Need {
    /// At least this many more bytes.
    Bytes(NonZeroU32),
    /// The byte that ends a run, or the end of the input.
    EndOfRun,
}

/// What is wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reason {
    /// This byte does not belong here.
    Unexpected,
    /// The input ends here.
    EndOfInput,
    /// A number is larger than its type.
    Overflow,
    /// A run or a repetition is longer than its limit.
    TooLong,
    /// A check on the value said no: [`Parser::try_map`](crate::Parser::try_map).
    Rejected,
    /// A reason of the grammar's own, see [`Parser::must`](crate::Parser::must).
    Grammar(u8),
}

impl Need {
    /// At least `count` more bytes, of which there is at least one.
    #[inline(always)]
    pub fn bytes(count: usize) -> Need {
        let count = u32::try_from(count).unwrap_or(u32::MAX);
        Need::Bytes(NonZeroU32::new(count).unwrap_or(NonZeroU32::MIN))
    }
}

impl Stop {
    /// Whether more input may still turn this into a value.
    pub const fn is_need(self) -> bool {
        matches!(self, Stop::Need(_))
    }

    /// What is wrong; `None` while only more input is needed.
    pub const fn reason(self) -> Option<Reason> {
        match self {
            Stop::Need(_) => None,
            Stop::Fail { reason, .. } | Stop::Cut { reason, .. } => Some(reason),
        }
    }

    /// Where it is wrong; `None` while only more input is needed.
    pub const fn at(self) -> Option<usize> {
        match self {
            Stop::Need(_) => None,
            Stop::Fail { at, .. } | Stop::Cut { at, .. } => Some(at as usize),
        }
    }

    /// This, with no alternative left to try.
    pub const fn into_cut(self) -> Stop {
        match self {
            Stop::Fail { at, reason } => Stop::Cut { at, reason },
            other => other,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small() {
        assert_eq!(size_of::<Stop>(), 8);
        assert_eq!(size_of::<Parsed<()>>(), 8);
    }
}
