//! The line before a chunk's data (RFC 9112 section 7.1).

use thiserror::Error;

use crate::{ByteSet, Input, Parsed, Portable, Stop, hexadecimal, or_else, tag, take_while};

/// chunk-ext, taken loosely: visible ASCII, white space, and what quoted strings hold. No control characters.
const EXTENSION: ByteSet = ByteSet::range(0x20, 0x7e)
    .or(ByteSet::of(b"\t"))
    .or(ByteSet::range(0x80, 0xff));

/// A chunk line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ChunkLine {
    /// How many bytes of data follow it; zero: it is the last, and the trailer section follows.
    pub size: u64,
    /// Bytes of the buffer that belong to the line.
    pub consumed: usize,
}

/// What is wrong with a chunk line. It is always the sender's fault.
#[derive(Clone, Copy, Debug, Error, PartialEq, Eq, Hash)]
pub enum ChunkError {
    /// The size is no hexadecimal number, or does not fit 64 bits.
    #[error("a chunk size is no hexadecimal number that fits 64 bits")]
    BadSize,
    /// The extension has a control character, or does not begin with a semicolon.
    #[error("a chunk extension is malformed")]
    BadExtension,
    /// The line does not end in CRLF.
    #[error("a chunk line does not end in CRLF")]
    BadEnd,
    /// The line is longer than allowed.
    #[error("a chunk line is too long")]
    TooLong,
}

/// Parses a chunk line of at most `limit` bytes at the start of `buffer`. `None`: more must come.
///
/// # Errors
/// What is wrong with it.
pub fn chunk_line(buffer: &[u8], limit: usize) -> Result<Option<ChunkLine>, ChunkError> {
    let window = &buffer[..buffer.len().min(limit)];
    let mut input = Input::partial(Portable, window);
    match line(&mut input) {
        Ok(size) => Ok(Some(ChunkLine {
            size,
            consumed: input.consumed(),
        })),
        Err(Stop::Fail(error) | Stop::Cut(error)) => Err(error),
        Err(Stop::Need(_)) if buffer.len() >= limit => Err(ChunkError::TooLong),
        Err(Stop::Need(_)) => Ok(None),
    }
}

/// chunk-size [ chunk-ext ] CRLF
fn line(input: &mut Input<'_, Portable>) -> Parsed<u64, ChunkError> {
    let start = input.consumed();
    let size = or_else(hexadecimal, ChunkError::BadSize)(input)?;
    if input.since(start).len() > 16 {
        return Err(Stop::Cut(ChunkError::BadSize)); // zeros without end
    }
    match input.first() {
        Some(b';' | b' ' | b'\t') => {
            or_else(take_while(&EXTENSION), ChunkError::BadExtension)(input)?;
        }
        _ => {}
    }
    or_else(tag(b"\r\n"), ChunkError::BadEnd)(input)?;
    Ok(size)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_extensions_and_mistakes() {
        let parse =
            |line: &str| chunk_line(line.as_bytes(), 64).map(|line| line.map(|line| line.size));
        for (line, expected) in [
            ("5\r\n", Ok(Some(5))),
            ("0\r\n", Ok(Some(0))),
            ("fF;a=b\r\n", Ok(Some(255))),
            ("ffffffffffffffff\r\n", Ok(Some(u64::MAX))),
            ("5", Ok(None)),
            ("5\r", Ok(None)),
            ("", Ok(None)),
            ("10000000000000000\r\n", Err(ChunkError::BadSize)),
            ("00000000000000005\r\n", Err(ChunkError::BadSize)),
            ("\r\n", Err(ChunkError::BadSize)),
            ("0x5\r\n", Err(ChunkError::BadEnd)),
            ("-5\r\n", Err(ChunkError::BadSize)),
            (" 5\r\n", Err(ChunkError::BadSize)),
            ("5\n", Err(ChunkError::BadEnd)),
            ("5;a\nb\r\n", Err(ChunkError::BadEnd)),
        ] {
            assert_eq!(parse(line), expected, "{line:?}");
        }
        assert_eq!(chunk_line(&[b'1'; 64], 64), Err(ChunkError::TooLong));
    }
}
