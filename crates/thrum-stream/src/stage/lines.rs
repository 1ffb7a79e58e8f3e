//! Lines of bytes.

use bytes::{Bytes, BytesMut};

use crate::{Error, Input, Result, Stage, Step};

/// The lines of the bytes that come, without the LF or CR LF at their ends. What follows the last LF is a line too,
/// unless it is empty.
///
/// A line that lies within one piece is a part of it, not a copy.
///
/// Buffer: one line, at most `limit` bytes with its end.
///
/// # Errors
/// A line with more than `limit` bytes is [`Cause::TooLong`](crate::Cause::TooLong), as soon as that is known.
pub fn lines(limit: usize) -> Lines {
    Lines {
        limit,
        start: BytesMut::new(),
    }
}

/// See [`lines`].
#[derive(Debug)]
pub struct Lines {
    limit: usize,
    /// The start of a line whose end has not come.
    start: BytesMut,
}

impl Stage<Bytes> for Lines {
    type Item = Bytes;

    fn step(&mut self, input: &mut Input<Bytes>) -> Result<Step<Bytes>> {
        let Some(mut piece) = input.take() else {
            return Ok(if input.is_at_end() && !self.start.is_empty() {
                Step::Item(self.start.split().freeze())
            } else {
                input.starved()
            });
        };
        let end = memchr::memchr(b'\n', &piece).map(|at| at + 1);
        let length = self.start.len() + end.unwrap_or(piece.len());
        if length > self.limit {
            return Err(Error::too_long("lines", self.limit));
        }
        let Some(end) = end else {
            self.start.extend_from_slice(&piece);
            return Ok(input.starved());
        };
        let mut line = piece.split_to(end);
        if !piece.is_empty() {
            input.put_back(piece);
        }
        if !self.start.is_empty() {
            self.start.extend_from_slice(&line);
            line = self.start.split().freeze();
        }
        line.truncate(line.len() - 1);
        if line.last() == Some(&b'\r') {
            line.truncate(line.len() - 1);
        }
        Ok(Step::Item(line))
    }

    fn rest(&mut self) -> Vec<Bytes> {
        let start = self.start.split().freeze();
        Vec::from_iter(Some(start).filter(|start| !start.is_empty()))
    }
}
