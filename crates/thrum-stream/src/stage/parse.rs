//! Values that a parser finds in bytes.

use bytes::{Buf, Bytes, BytesMut};
use thrum_parse::{Parser, Reason, Resume, Stop, explain};

use super::pieces::{kept, put_back};
use crate::{Cause, Error, Input, Result, Stage, Step};

/// How much of a new piece is put behind the start of a value that was in an earlier one, at first.
const STEP: usize = 256;

/// The values that `parser` finds in the bytes that come, one behind the other, until they end.
///
/// Values that lie within one piece are parsed where they are. What follows the last value, if whoever reads stops there,
/// is left over for the next reader. The parser is run as [`Resume::value`] does it.
///
/// Buffer: one value, at most `limit` bytes.
///
/// # Errors
/// [`Cause::Malformed`] with the place and an explanation; [`Cause::TooLong`] when a value does not end within `limit`
/// bytes.
///
/// A parser is best a function with a name. A closure that is given borrowed bytes, such as one in
/// [`map`](Parser::map), is taken by the compiler for one lifetime only, and refused here with "`Parser<'a>` is not
/// implemented".
///
/// ```
/// use thrum_parse::{In, Parsed, Parser, decimal, tag};
/// use thrum_stream::{Source, Stage, sink, source, stage};
///
/// fn head(i: &mut In<'_>) -> Parsed<u64> {
///     tag(b"Content-Length: ").parse(i)?;
///     let length = decimal().parse(i)?;
///     tag(b"\r\n\r\n").parse(i)?;
///     Ok(length)
/// }
///
/// # thrum_rt::block_on(async {
/// let mut input = source::reader(&b"Content-Length: 4\r\n\r\nbodyContent-"[..]).resumable();
/// let length = input.feed(stage::parse(1024, head).to(sink::head())).await?.unwrap_or(0);
/// let body = stage::take_bytes(length).exactly();
/// let body = input.feed(body.to(sink::concat(1024))).await?;
/// assert_eq!(body, b"body");
/// # thrum_stream::Result::Ok(())
/// # }).unwrap();
/// ```
///
/// Values one after the other:
///
/// ```
/// use thrum_stream::{Source, sink, source, stage};
/// use thrum_parse::{Parser, byte, decimal};
///
/// # thrum_rt::block_on(async {
/// let number = (decimal::<u32>(), byte(b';')).map(|(number, _)| number);
/// let input = source::reader(&b"1;22;333;"[..]).chunk(2);
/// let sum = input.pipe(stage::parse(10, number)).run(sink::fold(0, |sum, n| *sum += n)).await?;
/// assert_eq!(sum, 356);
/// # thrum_stream::Result::Ok(())
/// # }).unwrap();
/// ```
pub fn parse<P, T>(limit: usize, parser: P) -> Parse<P>
where
    P: for<'a> Parser<'a, Output = T>,
{
    Parse {
        parser,
        limit,
        resume: Resume::new(),
        start: BytesMut::new(),
        behind: 0,
    }
}

/// See [`parse`].
#[derive(Debug)]
pub struct Parse<P> {
    parser: P,
    limit: usize,
    resume: Resume,
    /// The start of a value whose end has not come.
    start: BytesMut,
    /// How many bytes are behind `start`.
    behind: u64,
}

impl<P> Parse<P> {
    /// For values that all end with the byte `end`: see [`Resume::until`].
    pub fn until(mut self, end: u8) -> Self {
        self.resume = self.resume.until(end);
        self
    }
}

impl<P, T> Parse<P>
where
    P: for<'a> Parser<'a, Output = T>,
{
    /// A value in what has come so far, which is `start` or, if that is empty, `piece`.
    fn attempt(&mut self, piece: &[u8], eof: bool) -> Result<Option<(T, usize)>> {
        let parser = &self.parser;
        let bytes = if self.start.is_empty() {
            piece
        } else {
            &self.start
        };
        let parsed = self.resume.value(bytes, eof, self.limit, parser);
        parsed.map_err(|stop| self.failed(self.explained(stop, bytes)))
    }

    fn explained(&self, stop: Stop, bytes: &[u8]) -> Cause {
        let at = self.behind + stop.at().unwrap_or(0) as u64;
        let shown = &bytes[..bytes.len().min(self.limit)];
        let parser = &self.parser;
        match explain(
            |i: &mut thrum_parse::In<'_>| parser.parse(i).map(drop),
            shown,
        ) {
            Some(said) if said.stop == stop => Cause::Malformed(format!("byte {at}: {said}")),
            _ if stop.reason() == Some(Reason::TooLong) => Cause::TooLong {
                limit: self.limit as u64,
                unit: "bytes",
            },
            _ => Cause::Malformed(format!("byte {at}: the parser takes nothing")),
        }
    }

    fn failed(&self, cause: Cause) -> Error {
        Error::new("parse", cause)
    }
}

impl<P, T> Stage<Bytes> for Parse<P>
where
    P: for<'a> Parser<'a, Output = T> + Send,
    T: Send,
{
    type Item = T;

    fn step(&mut self, input: &mut Input<Bytes>) -> Result<Step<T>> {
        while let Some(mut piece) = input.take() {
            if piece.is_empty() {
                continue;
            }
            let had = self.start.len();
            let mut added = 0;
            if had > 0 {
                added = piece.len().min(had.max(STEP));
                self.start.extend_from_slice(&piece[..added]);
            }
            let Some((value, taken)) = self.attempt(&piece, false)? else {
                if had == 0 {
                    added = piece.len();
                    self.start.extend_from_slice(&piece);
                }
                piece.advance(added);
                put_back(input, piece);
                continue;
            };
            self.behind += taken as u64;
            if taken < had {
                // Only a parser that answers differently when it sees more gets here.
                self.start.advance(taken);
                piece.advance(added);
            } else {
                self.start.clear();
                piece.advance(taken - had);
            }
            put_back(input, piece);
            return Ok(Step::Item(value));
        }
        if !input.is_at_end() || self.start.is_empty() {
            return Ok(input.starved());
        }
        match self.attempt(&[], true)? {
            Some((value, taken)) => {
                self.behind += taken as u64;
                self.start.advance(taken);
                Ok(Step::Item(value))
            }
            None => Ok(Step::Done),
        }
    }

    fn rest(&mut self) -> Vec<Bytes> {
        kept(&mut self.start)
    }
}
