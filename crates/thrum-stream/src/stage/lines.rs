//! Lines of bytes.

use bytes::Bytes;

use super::split::Parts;
use crate::{Input, Result, Stage, Step};

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
    Lines(Parts::new("lines", b'\n', limit))
}

/// See [`lines`].
#[derive(Debug)]
pub struct Lines(Parts);

impl Stage<Bytes> for Lines {
    type Item = Bytes;

    fn step(&mut self, input: &mut Input<Bytes>) -> Result<Step<Bytes>> {
        Ok(match self.0.step(input)? {
            Step::Item(mut line) => {
                if line.last() == Some(&b'\n') {
                    line.truncate(line.len() - 1);
                    if line.last() == Some(&b'\r') {
                        line.truncate(line.len() - 1);
                    }
                }
                Step::Item(line)
            }
            other => other,
        })
    }

    fn rest(&mut self) -> Vec<Bytes> {
        self.0.rest()
    }
}
