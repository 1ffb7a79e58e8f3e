//! Single bytes, and fixed numbers of them.

use crate::class::Class;
use crate::explanation::Expected;
use crate::input::examined;
use crate::stop::{Need, Parsed, Reason};
use crate::{In, Parser};

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
        one(i, |byte| byte == self.0, || Expected::Byte(self.0))
    }
}

/// A byte of this [class](Class): a set or a closure.
///
/// ```
/// use thrum_parse::{ByteSet, In, Parser, satisfy};
///
/// static SIGN: ByteSet = ByteSet::new().with(b"+-");
/// assert_eq!(satisfy(&SIGN).parse(&mut In::whole(b"-1")), Ok(b'-'));
/// assert_eq!(satisfy(|byte: u8| byte != b'+').parse(&mut In::whole(b"-1")), Ok(b'-'));
/// ```
pub const fn satisfy<C: Class>(class: C) -> Satisfy<C> {
    Satisfy(class)
}

/// See [`satisfy`].
#[derive(Clone, Copy, Debug)]
pub struct Satisfy<C>(C);

impl<'a, C: Class> Parser<'a> for Satisfy<C> {
    type Output = u8;

    #[inline(always)]
    fn parse(&self, i: &mut In<'a>) -> Parsed<u8> {
        one(i, |byte| self.0.contains(byte), || self.0.expected())
    }
}

/// The next byte, whatever it is.
///
/// ```
/// use thrum_parse::{In, Parser, any_byte};
///
/// assert_eq!(any_byte().parse(&mut In::whole(b"\xff")), Ok(0xff));
/// assert!(any_byte().parse(&mut In::partial(b"")).unwrap_err().is_need());
/// ```
pub const fn any_byte() -> AnyByte {
    AnyByte(())
}

/// See [`any_byte`].
#[derive(Clone, Copy, Debug)]
pub struct AnyByte(());

impl<'a> Parser<'a> for AnyByte {
    type Output = u8;

    #[inline(always)]
    fn parse(&self, i: &mut In<'a>) -> Parsed<u8> {
        one(i, |_| true, || Expected::Text("a byte"))
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
            examined(i.rest().len());
            i.expected(i.buffer().len(), || Expected::Tag(self.0));
            return Err(i.short(Need::bytes(N - i.rest().len())));
        }
        i.expected(i.position(), || Expected::Tag(self.0));
        Err(i.fail(Reason::Unexpected))
    }
}

/// Like [`tag`], with ASCII letters of either case. The value is what the input has.
///
/// ```
/// use thrum_parse::{In, Parser, tag_no_case};
///
/// assert_eq!(tag_no_case(b"close").parse(&mut In::whole(b"Close")), Ok(&b"Close"[..]));
/// assert!(tag_no_case(b"close").parse(&mut In::partial(b"CL")).unwrap_err().is_need());
/// ```
pub const fn tag_no_case<const N: usize>(text: &'static [u8; N]) -> TagNoCase<N> {
    TagNoCase(text)
}

/// See [`tag_no_case`].
#[derive(Clone, Copy, Debug)]
pub struct TagNoCase<const N: usize>(&'static [u8; N]);

impl<'a, const N: usize> Parser<'a> for TagNoCase<N> {
    type Output = &'a [u8];

    #[inline(always)]
    fn parse(&self, i: &mut In<'a>) -> Parsed<&'a [u8]> {
        if let Some(next) = i.next_bytes::<N>() {
            if next.eq_ignore_ascii_case(self.0) {
                i.consume(N);
                return Ok(next);
            }
        } else if self.0[..i.rest().len()].eq_ignore_ascii_case(i.rest()) {
            examined(i.rest().len());
            i.expected(i.buffer().len(), || Expected::Tag(self.0));
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
            i.expected(i.buffer().len(), || Expected::Text("more bytes"));
            return Err(i.short(Need::bytes(self.0 - rest.len())));
        };
        i.consume(self.0);
        Ok(taken)
    }
}

/// Goes on by `count` bytes, whatever they are. They have to be there: nothing is skipped that has yet to come.
///
/// ```
/// use thrum_parse::{In, Parser, skip};
///
/// let mut i = In::whole(b"abc");
/// assert_eq!(skip(2).parse(&mut i), Ok(()));
/// assert_eq!(i.rest(), b"c");
/// ```
pub const fn skip(count: usize) -> Skip {
    Skip(count)
}

/// See [`skip`].
#[derive(Clone, Copy, Debug)]
pub struct Skip(usize);

impl<'a> Parser<'a> for Skip {
    type Output = ();

    #[inline(always)]
    fn parse(&self, i: &mut In<'a>) -> Parsed<()> {
        take(self.0).parse(i).map(|_| ())
    }
}

#[inline(always)]
fn one(
    i: &mut In<'_>,
    matches: impl Fn(u8) -> bool,
    expected: impl FnOnce() -> Expected,
) -> Parsed<u8> {
    if let Some(byte) = i.next_byte()
        && matches(byte)
    {
        i.consume(1);
        return Ok(byte);
    }
    i.expected(i.position(), expected);
    match i.next_byte() {
        Some(_) => Err(i.fail(Reason::Unexpected)),
        None => Err(i.short(Need::bytes(1))),
    }
}
