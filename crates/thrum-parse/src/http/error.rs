//! What a peer did wrong.

use super::head::LineEnd;
use crate::{Reason, Stop};

/// Why a head, or a trailer section, is refused. Each is the sender's fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, thiserror::Error)]
#[non_exhaustive]
pub enum HeadError {
    /// A line ends in LF without CR (RFC 9112, 2.2): a message that others may divide differently.
    #[error("a line ends in LF without CR")]
    BareLf,
    /// A CR is not followed by LF (RFC 9112, 2.2).
    #[error("a CR is not followed by LF")]
    BareCr,
    /// The method is empty or holds a byte that a token may not.
    #[error("the method is not a token")]
    BadMethod,
    /// The method has more than [`METHOD_BYTES`](super::METHOD_BYTES).
    #[error("the method is too long")]
    MethodTooLong,
    /// The target is empty, or holds a byte that is not visible ASCII.
    #[error("the request target is empty or holds a byte that is not visible ASCII")]
    BadTarget,
    /// The target is longer than [`HeadLimits::target_bytes`](super::HeadLimits::target_bytes).
    #[error("the request target is too long")]
    TargetTooLong,
    /// The request line does not end in a version of the form `HTTP/1.1`, or the status line does not begin with one and a
    /// space; that includes a version in lower case and HTTP/0.9, which has none.
    #[error(
        "there is no HTTP version at the end of the request line or the start of the status line"
    )]
    BadVersion,
    /// The version is well-formed, but neither 1.1 nor 1.0.
    #[error("the HTTP version is neither 1.1 nor 1.0")]
    UnsupportedVersion,
    /// The status is not a number from 100 to 999 with a space or the end of the line behind it (RFC 9112, 4; RFC 3875,
    /// 6.3.3).
    #[error("the status is not a number from 100 to 999")]
    BadStatus,
    /// The reason phrase holds a control character.
    #[error("the reason phrase holds a control character")]
    BadReason,
    /// A field name is empty or holds a byte that a token may not, or the colon is missing.
    #[error("a field name is not a token followed by a colon")]
    BadName,
    /// There is space between a field name and its colon (RFC 9112, 5.1).
    #[error("there is space between a field name and its colon")]
    SpaceBeforeColon,
    /// A line starts with space: a folded value (RFC 9112, 5.2), or space before the first field (2.2).
    #[error("a header line starts with space")]
    ObsFold,
    /// A field value holds a control character.
    #[error("a field value holds a control character")]
    BadValue,
    /// A CGI program sent `Content-Type`, `Location` or `Status` twice (RFC 3875, 6.3).
    #[error("a field that may occur once occurs twice")]
    DuplicateField,
    /// There are more fields than [`HeadLimits::fields`](super::HeadLimits::fields).
    #[error("there are too many fields")]
    TooManyFields,
    /// The head does not end within [`HeadLimits::head_bytes`](super::HeadLimits::head_bytes).
    #[error("the head is too large")]
    HeadTooLarge,
    /// The input ended inside the head.
    #[error("the input ended inside the head")]
    Truncated,
}

/// Why the line before a chunk is refused. Each is the sender's fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, thiserror::Error)]
pub enum ChunkError {
    /// The line does not start with hexadecimal digits, or with more than 16 of them.
    #[error("a chunk size is not a hexadecimal number of at most 16 digits")]
    BadSize,
    /// What follows the size is neither a chunk extension nor the end of the line.
    #[error("a chunk extension is malformed")]
    BadExtension,
    /// The line does not end in CR LF.
    #[error("a chunk line does not end in CR LF")]
    BadEnd,
    /// The line is longer than allowed.
    #[error("a chunk line is too long")]
    TooLong,
}

impl From<HeadError> for Reason {
    #[inline(always)]
    fn from(error: HeadError) -> Reason {
        Reason::Grammar(error as u8)
    }
}

impl From<ChunkError> for Reason {
    #[inline(always)]
    fn from(error: ChunkError) -> Reason {
        Reason::Grammar(error as u8)
    }
}

impl HeadError {
    /// By number, as they are in a [`Reason`].
    const ALL: [HeadError; 18] = [
        HeadError::BareLf,
        HeadError::BareCr,
        HeadError::BadMethod,
        HeadError::MethodTooLong,
        HeadError::BadTarget,
        HeadError::TargetTooLong,
        HeadError::BadVersion,
        HeadError::UnsupportedVersion,
        HeadError::BadStatus,
        HeadError::BadReason,
        HeadError::BadName,
        HeadError::SpaceBeforeColon,
        HeadError::ObsFold,
        HeadError::BadValue,
        HeadError::DuplicateField,
        HeadError::TooManyFields,
        HeadError::HeadTooLarge,
        HeadError::Truncated,
    ];

    /// What the grammar said, made exact by the byte at fault: it says what is missing, that says what is there. The byte
    /// after it does not count, because it may not have come yet, and the answer must not depend on that.
    #[cold]
    pub(super) fn from_stop(stop: Stop, buffer: &[u8], line_end: LineEnd) -> HeadError {
        let reason = stop.reason().unwrap_or(Reason::EndOfInput);
        let fault = stop
            .at()
            .and_then(|at| buffer.get(at..))
            .unwrap_or_default();
        use HeadError::*;
        let error = match reason {
            Reason::EndOfInput => return Truncated,
            Reason::TooLong => return HeadTooLarge,
            Reason::Grammar(n) => HeadError::ALL
                .get(usize::from(n))
                .copied()
                .unwrap_or(BadName),
            Reason::Unexpected | Reason::Overflow | Reason::Rejected => BadName,
        };
        match (error, fault.first()) {
            (MethodTooLong | TargetTooLong | UnsupportedVersion, _) => error,
            (DuplicateField | TooManyFields, _) => error,
            (_, Some(b'\n')) if line_end == LineEnd::CrLf => BareLf,
            // Where these end there is CR LF, or else they do not: both bytes have been seen.
            (BadReason | BadValue, Some(b'\r')) => BareCr,
            (BadTarget, Some(b'\r')) => BadVersion,
            (BadName, Some(b' ' | b'\t')) => ObsFold,
            (SpaceBeforeColon, Some(b' ' | b'\t')) => SpaceBeforeColon,
            (SpaceBeforeColon, _) => BadName,
            _ => error,
        }
    }
}

impl ChunkError {
    /// As [`HeadError::from_stop`].
    #[cold]
    pub(super) fn from_stop(stop: Stop, buffer: &[u8]) -> ChunkError {
        const BAD_END: Reason = Reason::Grammar(ChunkError::BadEnd as u8);
        let fault = stop
            .at()
            .and_then(|at| buffer.get(at..))
            .unwrap_or_default();
        match (stop.reason(), fault.first()) {
            (Some(Reason::TooLong), _) => ChunkError::TooLong,
            (Some(Reason::Grammar(_)), Some(b'\n')) => ChunkError::BadEnd,
            (Some(BAD_END), Some(b'\r')) => ChunkError::BadEnd,
            (Some(Reason::Grammar(_)), _) => ChunkError::BadExtension,
            _ => ChunkError::BadSize,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_are_found_by_their_numbers() {
        for (n, error) in HeadError::ALL.into_iter().enumerate() {
            assert_eq!(Reason::from(error), Reason::Grammar(n as u8));
        }
    }
}
