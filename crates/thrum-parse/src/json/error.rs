//! What is wrong with an input.

use crate::{Reason, Stop};

/// What is wrong with an input, and where. It is the same however the input was cut into pieces.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, thiserror::Error)]
#[error("{fault}, at byte {at}")]
pub struct Error {
    /// Offset of the byte at fault.
    pub at: u64,
    /// What is wrong with it.
    pub fault: Fault,
}

/// Why an input is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, thiserror::Error)]
#[non_exhaustive]
pub enum Fault {
    /// A byte that does not belong there.
    #[error("a byte does not belong here")]
    Unexpected,
    /// The input ends before the value does.
    #[error("the input ends before the value does")]
    Truncated,
    /// A number is not written as JSON has them.
    #[error("a number is malformed")]
    BadNumber,
    /// No `f64` is as large as this number.
    #[error("a number is too large")]
    NumberTooLarge,
    /// A number is longer than [`NUMBER_BYTES`](super::NUMBER_BYTES).
    #[error("a number is too long")]
    NumberTooLong,
    /// A backslash is followed by what is no escape.
    #[error("an escape is malformed")]
    BadEscape,
    /// An escape is one half of a surrogate pair, without the other.
    #[error("a surrogate is not part of a pair")]
    LoneSurrogate,
    /// A string holds a control character.
    #[error("a string holds a control character")]
    ControlCharacter,
    /// A string is not UTF-8.
    #[error("a string is not UTF-8")]
    NotUtf8,
    /// Arrays and objects are nested deeper than [`Limits::depth`](super::Limits::depth).
    #[error("arrays and objects are nested too deep")]
    TooDeep,
    /// The input is longer than [`Limits::bytes`](super::Limits::bytes).
    #[error("the input is too long")]
    TooLong,
}

impl From<Fault> for Reason {
    #[inline(always)]
    fn from(fault: Fault) -> Reason {
        Reason::Grammar(fault as u8)
    }
}

impl Fault {
    /// What the grammar said.
    #[cold]
    pub(super) fn from_stop(stop: Stop) -> Fault {
        use Fault::*;
        const ALL: [Fault; 11] = [
            Unexpected,
            Truncated,
            BadNumber,
            NumberTooLarge,
            NumberTooLong,
            BadEscape,
            LoneSurrogate,
            ControlCharacter,
            NotUtf8,
            TooDeep,
            TooLong,
        ];
        match stop.reason() {
            None | Some(Reason::EndOfInput) => Truncated,
            Some(Reason::Grammar(n)) => ALL.get(usize::from(n)).copied().unwrap_or(Unexpected),
            Some(_) => Unexpected,
        }
    }
}
