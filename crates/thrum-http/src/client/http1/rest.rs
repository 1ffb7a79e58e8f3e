//! What is still to come of a response's body.

use super::receive::Framing;
use crate::Reject;
use crate::h1::chunked::{Decoder, Piece};

pub(crate) enum Rest {
    Length(u64),
    Chunked(Box<Decoder>),
    /// All until the connection ends.
    Close,
}

impl Rest {
    /// `None`: from here on it is another protocol.
    pub(crate) fn of(framing: Framing, line_bytes: usize) -> Option<Self> {
        Some(match framing {
            Framing::Upgraded => return None,
            Framing::None => Self::Length(0),
            Framing::Length(length) => Self::Length(length),
            Framing::Chunked => Self::Chunked(Box::new(Decoder::new(line_bytes))),
            Framing::Close => Self::Close,
        })
    }

    /// Looks at what comes next. The caller takes away what the answer says, and asks again.
    pub(crate) fn next(&mut self, bytes: &[u8]) -> Result<Piece, Reject> {
        match self {
            Self::Length(0) => Ok(Piece::Done),
            Self::Chunked(decoder) => decoder.next(bytes),
            _ if bytes.is_empty() => Ok(Piece::Need),
            Self::Length(left) => {
                let count = (*left).min(bytes.len() as u64);
                *left -= count;
                Ok(Piece::Data(count as usize))
            }
            Self::Close => Ok(Piece::Data(bytes.len())),
        }
    }
}
