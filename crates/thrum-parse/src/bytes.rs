//! Parsers of bytes: the terminals of a grammar.

use crate::explanation::Expected;
use crate::stop::{Need, Parsed, Reason, Stop};
use crate::{ByteSet, In, Parser};

/// This byte.
///
/// ```
/// use thrum_parse::{In, Parser, byte};
///
/// let mut i = In::whole(b":)");
/// assert_eq!(byte(b':').parse(&mut i), Ok(b':'));
/// assert!(byte(b':').parse(&mut i).is_err());
/// ```
pub const fn byte(byte: u8) -> Byte {
    Byte(byte)
}

/// See [`byte`].
#[derive(Clone, Copy, Debug)]
pub struct Byte(u8);

impl<'a> Parser<'a> for Byte {
    type Output = u8;

    #[inline(always)]
    fn parse(&self, i: &mut In<'a>) -> Parsed<u8> {
        let expected = Expected::Byte(self.0);
        one(i, |byte| byte == self.0, expected)
    }
}

/// A byte of this set.
///
/// ```
/// use thrum_parse::{ByteSet, In, Parser, satisfy};
///
/// static SIGN: ByteSet = ByteSet::new().with(b"+-");
/// assert_eq!(satisfy(&SIGN).parse(&mut In::whole(b"-1")), Ok(b'-'));
/// ```
pub const fn satisfy(set: &'static ByteSet) -> Satisfy {
    Satisfy(set)
}

/// See [`satisfy`].
#[derive(Clone, Copy, Debug)]
pub struct Satisfy(&'static ByteSet);

impl<'a> Parser<'a> for Satisfy {
    type Output = u8;

    #[inline(always)]
    fn parse(&self, i: &mut In<'a>) -> Parsed<u8> {
        let expected = Expected::OneOf(self.0);
        one(i, |byte| self.0.contains(byte), expected)
    }
}

/// The next byte, which stays ahead.
///
/// ```
/// use thrum_parse::{In, Parser, peek_byte};
///
/// let mut i = In::whole(b"x");
/// assert_eq!(peek_byte().parse(&mut i), Ok(b'x'));
/// assert_eq!(i.position(), 0);
/// ```
pub const fn peek_byte() -> PeekByte {
    PeekByte(())
}

/// See [`peek_byte`].
#[derive(Clone, Copy, Debug)]
pub struct PeekByte(());

impl<'a> Parser<'a> for PeekByte {
    type Output = u8;

    #[inline(always)]
    fn parse(&self, i: &mut In<'a>) -> Parsed<u8> {
        if let Some(byte) = i.next_byte() {
            return Ok(byte);
        }
        i.expected(i.position(), || Expected::Text("a byte"));
        Err(i.short(Need::bytes(1)))
    }
}

/// Exactly these bytes. Fails as soon as they differ, before all are there.
///
/// ```
/// use thrum_parse::{In, Parser, Stop, Need, tag};
///
/// assert_eq!(tag(b"HTTP/").parse(&mut In::partial(b"HTTP/1.1")), Ok(&b"HTTP/"[..]));
/// assert_eq!(tag(b"HTTP/").parse(&mut In::partial(b"HT")), Err(Stop::Need(Need::bytes(3))));
/// assert!(!tag(b"HTTP/").parse(&mut In::partial(b"HX")).unwrap_err().is_need());
/// ```
pub const fn tag<const N: usize>(text: &'static [u8; N]) -> Tag<N> {
    Tag(text)
}

/// See [`tag`].
#[derive(Clone, Copy, Debug)]
pub struct Tag<const N: usize>(&'static [u8; N]);

impl<'a, const N: usize> Parser<'a> for Tag<N> {
    type Output = &'a [u8];

    #[inline(always)]
    fn parse(&self, i: &mut In<'a>) -> Parsed<&'a [u8]> {
        if let Some(next) = i.next_bytes::<N>() {
            if next == self.0 {
                i.consume(N);
                return Ok(next);
            }
        } else if self.0.starts_with(i.rest()) {
            i.expected(i.position(), || Expected::Tag(self.0));
            return Err(i.short(Need::bytes(N - i.rest().len())));
        }
        i.expected(i.position(), || Expected::Tag(self.0));
        Err(i.fail(Reason::Unexpected))
    }
}

/// The next `count` bytes, whatever they are.
///
/// ```
/// use thrum_parse::{In, Parser, take};
///
/// assert_eq!(take(2).parse(&mut In::whole(b"abc")), Ok(&b"ab"[..]));
/// assert!(take(2).parse(&mut In::partial(b"a")).unwrap_err().is_need());
/// ```
pub const fn take(count: usize) -> Take {
    Take(count)
}

/// See [`take`].
#[derive(Clone, Copy, Debug)]
pub struct Take(usize);

impl<'a> Parser<'a> for Take {
    type Output = &'a [u8];

    #[inline(always)]
    fn parse(&self, i: &mut In<'a>) -> Parsed<&'a [u8]> {
        let rest = i.rest();
        let Some(taken) = rest.get(..self.0) else {
            i.expected(i.position() + rest.len(), || Expected::Text("more bytes"));
            return Err(i.short(Need::bytes(self.0 - rest.len())));
        };
        i.consume(self.0);
        Ok(taken)
    }
}

/// The bytes of `set` that come next, possibly none. It ends at the first other byte: while that has not come and more
/// input may, the answer is [`Need::EndOfRun`].
///
/// ```
/// use thrum_parse::{ByteSet, In, Parser, take_while};
///
/// static SPACE: ByteSet = ByteSet::new().with(b" \t");
/// assert_eq!(take_while(&SPACE).parse(&mut In::whole(b"  x")), Ok(&b"  "[..]));
/// assert_eq!(take_while(&SPACE).parse(&mut In::whole(b"x")), Ok(&b""[..]));
/// ```
pub const fn take_while(set: &'static ByteSet) -> TakeWhile {
    TakeWhile {
        set,
        least: 0,
        most: usize::MAX,
        too_long: Reason::TooLong,
    }
}

/// Like [`take_while`], but at least one byte.
///
/// ```
/// use thrum_parse::{ByteSet, In, Parser, take_while1};
///
/// static DIGIT: ByteSet = ByteSet::new().range(b'0', b'9');
/// assert_eq!(take_while1(&DIGIT).parse(&mut In::whole(b"42 ")), Ok(&b"42"[..]));
/// assert!(take_while1(&DIGIT).parse(&mut In::whole(b"x")).is_err());
/// ```
pub const fn take_while1(set: &'static ByteSet) -> TakeWhile {
    TakeWhile {
        least: 1,
        ..take_while(set)
    }
}

/// See [`take_while`].
#[derive(Clone, Copy, Debug)]
pub struct TakeWhile {
    set: &'static ByteSet,
    least: usize,
    most: usize,
    too_long: Reason,
}

impl TakeWhile {
    /// At most `most` bytes. A longer run is cut for `reason`, as soon as it is too long.
    ///
    /// ```
    /// use thrum_parse::{ByteSet, In, Parser, Reason, take_while};
    ///
    /// static ANY: ByteSet = ByteSet::new().not();
    /// let stop = take_while(&ANY).up_to(3, Reason::TooLong).parse(&mut In::partial(b"abcd"));
    /// assert_eq!(stop.unwrap_err().at(), Some(3));
    /// ```
    pub fn up_to(self, most: usize, reason: impl Into<Reason>) -> Self {
        TakeWhile {
            most,
            too_long: reason.into(),
            ..self
        }
    }
}

impl<'a> Parser<'a> for TakeWhile {
    type Output = &'a [u8];

    #[inline(always)]
    fn parse(&self, i: &mut In<'a>) -> Parsed<&'a [u8]> {
        let start = i.position();
        let run = i.run(self.set);
        if run.len() > self.most {
            i.expected(start + self.most, || {
                Expected::Text("the end of a run that is too long")
            });
            return Err(i.fail_at(start + self.most, self.too_long).into_cut());
        }
        if start + run.len() == i.buffer().len() && !(i.is_whole() && run.len() >= self.least) {
            crate::input::examined(run.len());
            i.expected(start + run.len(), || Expected::OneOf(self.set));
            return Err(i.short_of_run(self.set));
        }
        if run.len() < self.least {
            i.expected(start, || Expected::OneOf(self.set));
            return Err(i.fail(Reason::Unexpected));
        }
        i.consume(run.len());
        Ok(run)
    }
}

/// Like [`take_while`] with nothing to show for it, and byte by byte: for runs that are nearly always short, such as the
/// space behind a colon.
///
/// ```
/// use thrum_parse::{ByteSet, In, Parser, skip_while};
///
/// static SPACE: ByteSet = ByteSet::new().with(b" \t");
/// let mut i = In::whole(b" x");
/// assert_eq!(skip_while(&SPACE).parse(&mut i), Ok(()));
/// assert_eq!(i.rest(), b"x");
/// ```
pub const fn skip_while(set: &'static ByteSet) -> SkipWhile {
    SkipWhile(set)
}

/// See [`skip_while`].
#[derive(Clone, Copy, Debug)]
pub struct SkipWhile(&'static ByteSet);

impl<'a> Parser<'a> for SkipWhile {
    type Output = ();

    #[inline(always)]
    fn parse(&self, i: &mut In<'a>) -> Parsed<()> {
        while let Some(byte) = i.next_byte() {
            if !self.0.contains(byte) {
                return Ok(());
            }
            i.consume(1);
        }
        if i.is_whole() {
            return Ok(());
        }
        Err(i.short_of_run(self.0))
    }
}

/// The end of the input.
///
/// ```
/// use thrum_parse::{In, Parser, end_of_input};
///
/// assert!(end_of_input().parse(&mut In::whole(b"")).is_ok());
/// assert!(end_of_input().parse(&mut In::whole(b"x")).is_err());
/// assert!(end_of_input().parse(&mut In::partial(b"")).unwrap_err().is_need());
/// ```
pub const fn end_of_input() -> EndOfInput {
    EndOfInput(())
}

/// See [`end_of_input`].
#[derive(Clone, Copy, Debug)]
pub struct EndOfInput(());

impl<'a> Parser<'a> for EndOfInput {
    type Output = ();

    #[inline(always)]
    fn parse(&self, i: &mut In<'a>) -> Parsed<()> {
        if !i.rest().is_empty() {
            i.expected(i.position(), || Expected::Text("the end of the input"));
            return Err(i.fail(Reason::Unexpected));
        }
        if i.is_whole() {
            return Ok(());
        }
        Err(Stop::Need(Need::EndOfRun))
    }
}

#[inline(always)]
fn one(i: &mut In<'_>, matches: impl Fn(u8) -> bool, expected: Expected) -> Parsed<u8> {
    if let Some(byte) = i.next_byte()
        && matches(byte)
    {
        i.consume(1);
        return Ok(byte);
    }
    i.expected(i.position(), || expected);
    match i.next_byte() {
        Some(_) => Err(i.fail(Reason::Unexpected)),
        None => Err(i.short(Need::bytes(1))),
    }
}
