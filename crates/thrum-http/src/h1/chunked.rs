//! The chunked transfer coding (RFC 9112 section 7.1): taking it apart and putting it together, without I/O.

use http::{HeaderMap, HeaderName, HeaderValue};
use thrum_parse::http::{ChunkError, ChunkLine, ChunkParser, Field, Status, TrailerParser};

use crate::Reject;
use crate::message::field;

/// Trailer fields that are allowed. They are handed on apart, never merged into the head.
const MAX_TRAILERS: usize = 32;

/// Bytes of the longest chunk line without an extension: 16 digits and CRLF. What a line has beyond is counted as one.
const PLAIN_LINE: usize = 18;

/// Where a chunked body is.
#[derive(Debug)]
pub(crate) struct Decoder {
    state: State,
    /// Bytes that a chunk line, the trailer section, or the extensions of all chunks together may have.
    line_bytes: usize,
    /// Bytes of extensions so far.
    extensions: usize,
    lines: ChunkParser,
    trailers: TrailerParser,
    fields: Vec<Field>,
    received: Option<HeaderMap>,
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
    /// A decoder at the start of a body. `line_bytes`: what a chunk line may have, the trailer section,
    /// and the extensions of all chunks together.
    pub(crate) fn new(line_bytes: usize) -> Self {
        Self {
            state: State::Line,
            line_bytes,
            extensions: 0,
            lines: ChunkParser::new(line_bytes),
            trailers: TrailerParser::new(line_bytes, MAX_TRAILERS),
            fields: Vec::new(),
            received: None,
        }
    }

    /// Looks at what comes next. The caller takes away what the answer says, and asks again.
    pub(crate) fn next(&mut self, buffer: &[u8]) -> Result<Piece, Reject> {
        match self.state {
            State::Line => match self.lines.parse(buffer)? {
                None => Ok(Piece::Need),
                // Each line is within its limit, but a body of one byte a chunk must not cost a line's worth for each.
                Some(ChunkLine { consumed, .. }) if self.extended(consumed) => {
                    Err(ChunkError::TooLong.into())
                }
                Some(ChunkLine { size: 0, consumed }) => self.framing(consumed, State::Trailers),
                Some(ChunkLine { size, consumed }) => {
                    self.framing(consumed, State::Data { left: size })
                }
            },
            State::Data { .. } if buffer.is_empty() => Ok(Piece::Need),
            State::Data { left } => {
                let data = left.min(buffer.len() as u64);
                self.state = match left - data {
                    0 => State::DataEnd,
                    left => State::Data { left },
                };
                Ok(Piece::Data(data as usize))
            }
            State::DataEnd if buffer.starts_with(b"\r\n") => self.framing(2, State::Line),
            State::DataEnd if b"\r\n".starts_with(buffer) => Ok(Piece::Need),
            State::DataEnd => Err(ChunkError::BadEnd.into()),
            State::Trailers => match self.trailers.parse(buffer, &mut self.fields) {
                Ok(Status::Complete { consumed }) => {
                    self.received = received(&self.fields, buffer);
                    self.framing(consumed, State::Done)
                }
                Ok(Status::Partial) => Ok(Piece::Need),
                Err(error) => Err(Reject::Trailers(error)),
            },
            State::Done => Ok(Piece::Done),
        }
    }

    /// The trailer fields, once the body is over, if there are any.
    pub(crate) fn take_trailers(&mut self) -> Option<HeaderMap> {
        self.received.take()
    }

    /// Counts a line's extensions; whether that is too much.
    fn extended(&mut self, consumed: usize) -> bool {
        self.extensions += consumed.saturating_sub(PLAIN_LINE);
        self.extensions > self.line_bytes
    }

    fn framing(&mut self, consumed: usize, next: State) -> Result<Piece, Reject> {
        self.state = next;
        Ok(Piece::Framing(consumed))
    }
}

/// The fields of a trailer section. Those that frame, route or authorise a message mean nothing behind it
/// (RFC 9110 section 6.5.1) and are left out.
fn received(fields: &[Field], buffer: &[u8]) -> Option<HeaderMap> {
    if fields.is_empty() {
        return None;
    }
    let mut trailers = HeaderMap::with_capacity(fields.len());
    for field in fields {
        let name = HeaderName::from_bytes(field.name.of(buffer));
        let value = HeaderValue::from_bytes(field.value.of(buffer));
        if let (Ok(name), Ok(value)) = (name, value)
            && may_trail(&name)
        {
            trailers.append(name, value);
        }
    }
    Some(trailers)
}

/// Whether a field may stand behind a body.
pub(crate) fn may_trail(name: &HeaderName) -> bool {
    use http::header::*;
    ![
        AUTHORIZATION,
        CACHE_CONTROL,
        CONNECTION,
        CONTENT_ENCODING,
        CONTENT_LENGTH,
        CONTENT_RANGE,
        CONTENT_TYPE,
        COOKIE,
        EXPECT,
        HOST,
        MAX_FORWARDS,
        PRAGMA,
        PROXY_AUTHENTICATE,
        PROXY_AUTHORIZATION,
        RANGE,
        SET_COOKIE,
        TE,
        TRAILER,
        TRANSFER_ENCODING,
        UPGRADE,
        WWW_AUTHENTICATE,
    ]
    .contains(name)
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

/// Appends what ends a chunked body, with the trailer fields that may stand there.
pub(crate) fn encode_end(output: &mut Vec<u8>, trailers: Option<&HeaderMap>) {
    output.extend_from_slice(b"0\r\n");
    for (name, value) in trailers.into_iter().flatten() {
        if may_trail(name) {
            field(output, name.as_str().as_bytes(), value.as_bytes());
        }
    }
    output.extend_from_slice(b"\r\n");
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Decodes a body fed in pieces.
    fn decode(bytes: &[u8], piece: usize) -> Result<Option<Vec<u8>>, Reject> {
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
            encode_end(&mut encoded, None);
            let decoded = decode(&encoded, piece).unwrap().unwrap();
            prop_assert_eq!(decoded, chunks.concat());
        }
    }
}
