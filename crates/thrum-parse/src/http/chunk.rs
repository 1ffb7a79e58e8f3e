//! The line before each chunk of a body.

use super::{ChunkError, grammar};
use crate::Resume;

/// A chunk line that was read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ChunkLine {
    /// How many bytes of data follow; 0 in the last one, which a trailer section follows.
    pub size: u64,
    /// How many bytes the line has, CR LF included.
    pub consumed: usize,
}

/// Reads chunk lines: a size in hexadecimal, extensions which are checked and dropped, CR LF.
///
/// The data behind the line, and the CR LF behind that, are the caller's. It is restarted like a
/// [`HeadParser`](super::HeadParser).
///
/// ```
/// use thrum_parse::http::{ChunkLine, ChunkParser};
///
/// let mut parser = ChunkParser::new(256);
/// assert_eq!(parser.parse(b"1a;na"), Ok(None));
/// let line = parser.parse(b"1a;name=value\r\n");
/// assert_eq!(line, Ok(Some(ChunkLine { size: 26, consumed: 15 })));
/// ```
#[derive(Clone, Copy, Debug)]
pub struct ChunkParser {
    line_bytes: usize,
    resume: Resume,
}

impl ChunkParser {
    /// A line may have at most `line_bytes`, CR LF included. Extensions are rare and nobody has a use for long ones: 256
    /// is plenty.
    pub fn new(line_bytes: usize) -> Self {
        ChunkParser {
            line_bytes,
            resume: Resume::new().until(b'\n'),
        }
    }

    /// Reads the line that starts where `buffer` does. `Ok(None)`: call it again with more bytes behind these.
    ///
    /// # Errors
    /// What is wrong with the line. Then the connection can't be read any further.
    pub fn parse(&mut self, buffer: &[u8]) -> Result<Option<ChunkLine>, ChunkError> {
        let most = self.line_bytes;
        match self.resume.parse(buffer, false, most, grammar::chunk_line) {
            Ok(Some((size, consumed))) => Ok(Some(ChunkLine { size, consumed })),
            Ok(None) => Ok(None),
            Err(stop) => Err(ChunkError::from_stop(stop, buffer)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_extensions_and_mistakes() {
        use ChunkError::*;
        for (line, expected) in [
            ("5\r\n", Ok(Some(5))),
            ("0\r\n", Ok(Some(0))),
            ("fF;a=b\r\n", Ok(Some(255))),
            ("ffffffffffffffff\r\n", Ok(Some(u64::MAX))),
            ("5 ; a\r\n", Ok(Some(5))),
            ("5;a=\"q;\\\"\t\";b = c\r\n", Ok(Some(5))),
            ("5", Ok(None)),
            ("5;a=\"", Ok(None)),
            ("5\r", Ok(None)),
            ("", Ok(None)),
            ("10000000000000000\r\n", Err(BadSize)),
            ("00000000000000005\r\n", Err(BadSize)),
            ("\r\n", Err(BadSize)),
            ("-5\r\n", Err(BadSize)),
            (" 5\r\n", Err(BadSize)),
            ("0x5\r\n", Err(BadExtension)),
            ("5 \r\n", Err(BadExtension)),
            ("5;\r\n", Err(BadExtension)),
            ("5;a=\r\n", Err(BadExtension)),
            ("5;a=\"b\x7f\"\r\n", Err(BadExtension)),
            ("5\n", Err(BadEnd)),
            ("5\r5", Err(BadEnd)),
            ("5;a\nb\r\n", Err(BadEnd)),
            ("5;a=\"\n\"\r\n", Err(BadEnd)),
        ] {
            let found = ChunkParser::new(64)
                .parse(line.as_bytes())
                .map(|line| line.map(|line| line.size));
            assert_eq!(found, expected, "{line:?}");
        }
        assert_eq!(
            ChunkParser::new(64).parse(&[b"1;".as_slice(), &[b'a'; 62]].concat()),
            Err(TooLong)
        );
    }

    #[test]
    fn byte_by_byte() {
        let line = b"1F;name=\"a value\"\r\n12345";
        let mut parser = ChunkParser::new(64);
        for end in 0..19 {
            assert_eq!(parser.parse(&line[..end]), Ok(None));
        }
        let found = ChunkLine {
            size: 31,
            consumed: 19,
        };
        assert_eq!(parser.parse(line), Ok(Some(found)));
        assert_eq!(parser.parse(line), Ok(Some(found)), "ready for the next");
    }
}
