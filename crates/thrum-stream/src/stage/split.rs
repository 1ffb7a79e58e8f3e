//! Bytes cut at a byte, or put together in larger pieces.

use bytes::{Buf, Bytes, BytesMut};

use super::Tally;
use super::pieces::{kept, put_back};
use crate::{Error, Input, Result, Stage, Step};

/// What is between the bytes `at`, which are dropped. What follows the last one comes too, unless it is empty.
///
/// A part that lies within one piece is not copied.
///
/// Buffer: one part, at most `limit` bytes with the byte at its end.
///
/// # Errors
/// A part with more than `limit` bytes is [`Cause::TooLong`](crate::Cause::TooLong), as soon as that is known.
///
/// ```
/// use thrum_stream::{Source, sink, source, stage};
///
/// # thrum_rt::block_on(async {
/// let path = source::reader(&b"/usr/bin:/bin"[..]).pipe(stage::split(b':', 80));
/// assert_eq!(path.run(sink::collect(9)).await?, ["/usr/bin", "/bin"]);
/// # thrum_stream::Result::Ok(())
/// # }).unwrap();
/// ```
pub fn split(at: u8, limit: usize) -> Split {
    Split(Parts::new("split", at, limit))
}

/// See [`split`].
#[derive(Debug)]
pub struct Split(Parts);

impl Stage<Bytes> for Split {
    type Item = Bytes;

    fn step(&mut self, input: &mut Input<Bytes>) -> Result<Step<Bytes>> {
        Ok(match self.0.step(input)? {
            Step::Item(mut part) => {
                if part.last() == Some(&self.0.end) {
                    part.truncate(part.len() - 1);
                }
                Step::Item(part)
            }
            other => other,
        })
    }

    fn rest(&mut self) -> Vec<Bytes> {
        self.0.rest()
    }
}

/// The same bytes in pieces that end with the byte `end`, as many of them in one as there are: for code that goes through
/// them by itself, such as all lines of a piece in one loop. The last piece may lack its end.
///
/// Buffer: what follows the last `end`, at most `limit` bytes.
///
/// # Errors
/// More than `limit` bytes without an end are [`Cause::TooLong`](crate::Cause::TooLong), unless they are to be
/// [left out](Blocks::skip_long). What lies between two ends within one piece is not looked at and may be longer.
///
/// ```
/// use thrum_stream::{Bytes, Source, sink, source, stage};
///
/// # thrum_rt::block_on(async {
/// let input = source::iter(["a\nb\nc", "d\ne"].map(Bytes::from));
/// let whole = input.pipe(stage::blocks(b'\n', 80)).run(sink::collect(9)).await?;
/// assert_eq!(whole, ["a\nb\n", "cd\n", "e"]);
/// # thrum_stream::Result::Ok(())
/// # }).unwrap();
/// ```
pub fn blocks(end: u8, limit: usize) -> Blocks {
    Blocks(Parts::new("blocks", end, limit))
}

/// See [`blocks`].
#[derive(Debug)]
pub struct Blocks(Parts);

impl Blocks {
    /// Leaves out what has more than `limit` bytes without an end, up to its end, where it would fail; each adds 1 to
    /// `skipped`. For input that is not to stop a program, such as a log that others write to.
    ///
    /// ```
    /// use thrum_stream::{Source, sink, source, stage};
    ///
    /// # thrum_rt::block_on(async {
    /// let skipped = stage::Tally::new();
    /// let input = source::iter(["a\nbb", "bbb", "b\nc\n"]).pipe(stage::map(bytes::Bytes::from));
    /// let blocks = input.pipe(stage::blocks(b'\n', 4).skip_long(&skipped));
    /// assert_eq!(blocks.run(sink::collect(9)).await?, ["a\n", "c\n"]);
    /// assert_eq!(skipped.total(), 1);
    /// # thrum_stream::Result::Ok(())
    /// # }).unwrap();
    /// ```
    pub fn skip_long(mut self, skipped: &Tally) -> Self {
        self.0.skipped = Some(skipped.clone());
        self
    }
}

impl Stage<Bytes> for Blocks {
    type Item = Bytes;

    fn step(&mut self, input: &mut Input<Bytes>) -> Result<Step<Bytes>> {
        if self.0.is_between()
            && let Some(mut piece) = input.take()
        {
            if let Some(last) = memchr::memrchr(self.0.end, &piece) {
                let block = piece.split_to(last + 1);
                put_back(input, piece);
                return Ok(Step::Item(block));
            }
            input.put_back(piece);
        }
        self.0.step(input)
    }

    fn rest(&mut self) -> Vec<Bytes> {
        self.0.rest()
    }
}

/// Cuts bytes behind a byte.
#[derive(Debug)]
pub(super) struct Parts {
    name: &'static str,
    end: u8,
    limit: usize,
    /// The start of a part whose end has not come.
    start: BytesMut,
    /// Counts parts that are too long and are left out; without it they are an error.
    skipped: Option<Tally>,
    /// Whether it is inside such a part.
    skipping: bool,
}

impl Parts {
    pub(super) fn new(name: &'static str, end: u8, limit: usize) -> Self {
        Parts {
            name,
            end,
            limit,
            start: BytesMut::new(),
            skipped: None,
            skipping: false,
        }
    }

    /// Whether what comes next starts a part.
    fn is_between(&self) -> bool {
        self.start.is_empty() && !self.skipping
    }

    /// The next part, the byte at its end included.
    #[inline]
    pub(super) fn step(&mut self, input: &mut Input<Bytes>) -> Result<Step<Bytes>> {
        while let Some(mut piece) = input.take() {
            let end = memchr::memchr(self.end, &piece).map(|at| at + 1);
            if self.skipping || self.start.len() + end.unwrap_or(piece.len()) > self.limit {
                self.skip(end.is_none())?;
                piece.advance(end.unwrap_or(piece.len()));
                put_back(input, piece);
                continue;
            }
            let Some(end) = end else {
                self.start.extend_from_slice(&piece);
                break;
            };
            let mut part = piece.split_to(end);
            put_back(input, piece);
            if !self.start.is_empty() {
                self.start.extend_from_slice(&part);
                part = self.start.split().freeze();
            }
            return Ok(Step::Item(part));
        }
        Ok(if input.is_at_end() && !self.start.is_empty() {
            Step::Item(self.start.split().freeze())
        } else {
            input.starved()
        })
    }

    /// Leaves out a part that is too long, or some of it if it `goes_on`.
    #[cold]
    fn skip(&mut self, goes_on: bool) -> Result<()> {
        if !self.skipping {
            let Some(skipped) = &self.skipped else {
                return Err(Error::too_long(self.name, self.limit));
            };
            skipped.add(1);
            self.start.clear();
        }
        self.skipping = goes_on;
        Ok(())
    }

    pub(super) fn rest(&mut self) -> Vec<Bytes> {
        kept(&mut self.start)
    }
}

/// The same bytes in pieces of `size`; the last one may be shorter. A piece that lies within one that came is not copied.
///
/// Buffer: less than `size` bytes. A size of 0 counts as 1.
pub fn chunks(size: usize) -> Chunks {
    Chunks {
        size: size.max(1),
        start: BytesMut::new(),
    }
}

/// See [`chunks`].
#[derive(Debug)]
pub struct Chunks {
    size: usize,
    start: BytesMut,
}

impl Stage<Bytes> for Chunks {
    type Item = Bytes;

    fn step(&mut self, input: &mut Input<Bytes>) -> Result<Step<Bytes>> {
        let Some(mut piece) = input.take() else {
            return Ok(if input.is_at_end() && !self.start.is_empty() {
                Step::Item(self.start.split().freeze())
            } else {
                input.starved()
            });
        };
        let lacking = self.size - self.start.len();
        if self.start.is_empty() && piece.len() >= lacking {
            let chunk = piece.split_to(lacking);
            put_back(input, piece);
            return Ok(Step::Item(chunk));
        }
        self.start
            .extend_from_slice(&piece.split_to(lacking.min(piece.len())));
        put_back(input, piece);
        Ok(if self.start.len() == self.size {
            Step::Item(self.start.split().freeze())
        } else {
            input.starved()
        })
    }

    fn rest(&mut self) -> Vec<Bytes> {
        kept(&mut self.start)
    }
}
