//! The chunked transfer coding (RFC 9112 section 7.1): taking it apart and putting it together, without I/O.

use thrum_parse::http::{ChunkError, ChunkLine, Status, chunk_line, trailers};

/// Trailer fields that are allowed. They are parsed and dropped, never merged into the head.
const MAX_TRAILERS: usize = 32;

/// Where a chunked body is.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Decoder {
    state: State,
    /// Bytes that a chunk line or the trailer section may have.
    line_limit: usize,
}

#[derive(Clone, Copy, Debug)]
enum State {
    Line,
    Data { left: u64 },
    DataEnd,
    Trailers,
    Done,
}

/// What the decoder found at the start of the buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Piece {
    /// So many bytes of framing: skip them, and ask again.
    Framing(usize),
    /// So many bytes of data.
    Data(usize),
    /// More must come.
    Need,
    /// The body is over.
    Done,
}

impl Decoder {
    pub(crate) fn new(line_limit: usize) -> Self {
        Self {
            state: State::Line,
            line_limit,
        }
    }

    /// Looks at what comes next. The caller takes away what the answer says, and asks again.
    pub(crate) fn next(&mut self, buffer: &[u8]) -> Result<Piece, &'static str> {
        match self.state {
            State::Line => match chunk_line(buffer, self.line_limit).map_err(describe)? {
                None => Ok(Piece::Need),
                Some(ChunkLine { size, consumed }) => {
                    self.state = if size == 0 {
                        State::Trailers
                    } else {
                        State::Data { left: size }
                    };
                    Ok(Piece::Framing(consumed))
                }
            },
            State::Data { left: 0 } => {
                self.state = State::DataEnd;
                self.next(buffer)
            }
            State::Data { .. } if buffer.is_empty() => Ok(Piece::Need),
            State::Data { left } => {
                let data = left.min(buffer.len() as u64);
                self.state = State::Data { left: left - data };
                Ok(Piece::Data(data as usize))
            }
            State::DataEnd
                if b"\r\n".starts_with(&buffer[..buffer.len().min(1)]) && buffer.len() < 2 =>
            {
                Ok(Piece::Need)
            }
            State::DataEnd if buffer.starts_with(b"\r\n") => {
                self.state = State::Line;
                Ok(Piece::Framing(2))
            }
            State::DataEnd => Err("a chunk is longer than its size says"),
            State::Trailers => self.trailers(buffer),
            State::Done => Ok(Piece::Done),
        }
    }

    fn trailers(&mut self, buffer: &[u8]) -> Result<Piece, &'static str> {
        let window = &buffer[..buffer.len().min(self.line_limit)];
        match trailers(window, MAX_TRAILERS, &mut Vec::new()) {
            Ok(Status::Complete { consumed }) => {
                self.state = State::Done;
                Ok(Piece::Framing(consumed))
            }
            Ok(Status::Partial) if window.len() == self.line_limit => {
                Err("the trailers are too large")
            }
            Ok(Status::Partial) => Ok(Piece::Need),
            Err(_) => Err("a trailer is malformed"),
        }
    }
}

fn describe(error: ChunkError) -> &'static str {
    match error {
        ChunkError::BadSize => "a chunk size is no hexadecimal number that fits 64 bits",
        ChunkError::BadExtension => "a chunk extension is malformed",
        ChunkError::BadEnd => "a chunk line does not end in CRLF",
        ChunkError::TooLong => "a chunk line is too long",
    }
}

/// Appends a chunk. An empty one would end the body, so it is left out.
pub(crate) fn encode(output: &mut Vec<u8>, data: &[u8]) {
    if data.is_empty() {
        return;
    }
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let first = (usize::BITS - data.len().leading_zeros()).div_ceil(4);
    output.extend(
        (0..first)
            .rev()
            .map(|digit| DIGITS[data.len() >> (digit * 4) & 15]),
    );
    output.extend_from_slice(b"\r\n");
    output.extend_from_slice(data);
    output.extend_from_slice(b"\r\n");
}

/// What ends a chunked body.
pub(crate) const LAST: &[u8] = b"0\r\n\r\n";

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Decodes a body fed in pieces.
    fn decode(bytes: &[u8], piece: usize) -> Result<Option<Vec<u8>>, &'static str> {
        let mut decoder = Decoder::new(64);
        let (mut buffer, mut data) = (Vec::new(), Vec::new());
        for piece in bytes.chunks(piece) {
            buffer.extend_from_slice(piece);
            loop {
                match decoder.next(&buffer)? {
                    Piece::Framing(count) => drop(buffer.drain(..count)),
                    Piece::Data(count) => data.extend(buffer.drain(..count)),
                    Piece::Need => break,
                    Piece::Done => return Ok(Some(data)),
                }
            }
        }
        Ok(None)
    }

    #[test]
    fn mistakes_are_seen_however_they_come() {
        for bad in [
            "5\r\nhelloX",
            "5\r\nhello\n",
            "g\r\n",
            "\r\n",
            "5\nhello",
            "0\r\nA : b\r\n\r\n",
            "0\r\n A: b\r\n\r\n",
            "0\r\n\n",
        ] {
            for piece in 1..=bad.len() {
                assert!(
                    decode(bad.as_bytes(), piece).is_err(),
                    "{bad:?} in {piece}s"
                );
            }
        }
        assert_eq!(decode(b"5\r\nhel", 2), Ok(None));
        assert!(decode(&[b"0\r\n", "A: b\r\n".repeat(30).as_bytes()].concat(), 10).is_err());
    }

    proptest! {
        #[test]
        fn what_is_encoded_is_decoded(chunks in prop::collection::vec(any::<Vec<u8>>(), 0..8), piece in 1..40usize) {
            let mut encoded = Vec::new();
            chunks.iter().for_each(|chunk| encode(&mut encoded, chunk));
            encoded.extend_from_slice(LAST);
            let decoded = decode(&encoded, piece).unwrap().unwrap();
            prop_assert_eq!(decoded, chunks.concat());
        }
    }
}
