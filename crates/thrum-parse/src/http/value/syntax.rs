//! What all field values are made of (RFC 9110, 5.6): tokens, quoted strings, space.

use std::borrow::Cow;
use std::fmt;

use super::{Fault, ValueError};
use crate::class::DIGIT;
use crate::http::terminals::{OWS, QDTEXT, TCHAR, VALUE};
use crate::stop::{Parsed, Reason};
use crate::{In, Parser, byte, end_of_input, satisfy, skip_while, take_while, take_while1};

/// A value of one of HTTP's header or trailer fields, or an element of one: what it is read by and written by.
///
/// A value is whole and without the field's name. Several fields of one name whose grammar is a [`List`](super::List)
/// are one value: join them with a comma, as RFC 9110 section 5.3 has it.
pub trait FieldValue<'a>: Sized {
    /// How many of these a [`List`](super::List) holds at most.
    const MOST_IN_LIST: usize = 128;

    /// The grammar: takes one off the input. An element of a list stops before the comma.
    ///
    /// # Errors
    /// Where the input does not match.
    fn read(i: &mut In<'a>) -> Parsed<Self>;

    /// Appends it to `out` in its plainest form. What is written reads as equal to this.
    fn write(&self, out: &mut Vec<u8>);

    /// Reads a whole value. Space around it is not part of it.
    ///
    /// # Errors
    /// What is wrong with it, and where.
    fn parse(value: &'a [u8]) -> Result<Self, ValueError> {
        whole(value, Self::read)
    }

    /// It, written.
    fn to_bytes(&self) -> Vec<u8> {
        let mut out = Vec::new();
        self.write(&mut out);
        out
    }
}

/// Reads all of a value, with space around it.
pub(super) fn whole<'a, T>(
    value: &'a [u8],
    read: impl FnOnce(&mut In<'a>) -> Parsed<T>,
) -> Result<T, ValueError> {
    let mut i = In::whole(value);
    let all = || -> Parsed<T> {
        ows(&mut i)?;
        let value = read(&mut i)?;
        ows(&mut i)?;
        end_of_input().parse(&mut i)?;
        Ok(value)
    };
    all().map_err(ValueError::from)
}

/// A token (RFC 9110, 5.6.2): one or more letters, digits and most marks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Token<'a>(&'a str);

impl<'a> Token<'a> {
    /// It, in the case it was written in.
    pub fn as_str(self) -> &'a str {
        self.0
    }

    /// Whether it is `name` in any case.
    pub fn is(self, name: &str) -> bool {
        self.0.eq_ignore_ascii_case(name)
    }
}

impl<'a> FieldValue<'a> for Token<'a> {
    fn read(i: &mut In<'a>) -> Parsed<Self> {
        token(i).map(Token)
    }

    fn write(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(self.0.as_bytes());
    }
}

impl fmt::Display for Token<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)
    }
}

/// A token or a quoted string (RFC 9110, 5.6.4), which stand for the same when they say the same.
///
/// ```
/// use thrum_parse::http::value::{FieldValue, Text};
///
/// let quoted = Text::parse(br#""a \"b\"""#).unwrap();
/// assert_eq!(quoted.to_bytes_unescaped(), &br#"a "b""#[..]);
/// assert_eq!(Text::parse(b"utf-8"), Text::parse(br#""utf-8""#));
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Text<'a> {
    /// Without the quotes, with the backslashes.
    raw: &'a [u8],
    escaped: bool,
}

impl<'a> Text<'a> {
    /// What it says: a part of the value, unless backslashes have to be taken out.
    pub fn to_bytes_unescaped(self) -> Cow<'a, [u8]> {
        match self.plain() {
            Some(plain) => Cow::Borrowed(plain),
            None => Cow::Owned(self.bytes().collect()),
        }
    }

    /// What it says, if that is UTF-8.
    pub fn to_text(self) -> Option<Cow<'a, str>> {
        match self.to_bytes_unescaped() {
            Cow::Borrowed(bytes) => std::str::from_utf8(bytes).ok().map(Cow::Borrowed),
            Cow::Owned(bytes) => String::from_utf8(bytes).ok().map(Cow::Owned),
        }
    }

    /// Whether it says `text`, in any case of ASCII letters.
    pub fn is(self, text: &str) -> bool {
        let same = |(a, b): (u8, u8)| a.eq_ignore_ascii_case(&b);
        self.bytes().count() == text.len() && self.bytes().zip(text.bytes()).all(same)
    }

    /// What it says, byte by byte.
    pub fn bytes(self) -> impl Iterator<Item = u8> + 'a {
        let mut raw = self.raw.iter().copied();
        std::iter::from_fn(move || match raw.next()? {
            b'\\' => raw.next(),
            byte => Some(byte),
        })
    }

    /// What it says, where nothing is escaped.
    pub(super) fn plain(self) -> Option<&'a [u8]> {
        (!self.escaped).then_some(self.raw)
    }
}

impl<'a> FieldValue<'a> for Text<'a> {
    fn read(i: &mut In<'a>) -> Parsed<Self> {
        match i.next_byte() {
            Some(b'"') => quoted_string(i),
            _ => token(i).map(|token| Text {
                raw: token.as_bytes(),
                escaped: false,
            }),
        }
    }

    fn write(&self, out: &mut Vec<u8>) {
        if !self.raw.is_empty() && self.bytes().all(|byte| TCHAR.contains(byte)) {
            out.extend(self.bytes());
        } else {
            write_quoted(self.bytes(), out);
        }
    }
}

impl PartialEq for Text<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.bytes().eq(other.bytes())
    }
}

impl Eq for Text<'_> {}

/// Appends a quoted string that says `bytes`, which are of [`VALUE`].
pub(super) fn write_quoted(bytes: impl IntoIterator<Item = u8>, out: &mut Vec<u8>) {
    out.push(b'"');
    for byte in bytes {
        if matches!(byte, b'"' | b'\\') {
            out.push(b'\\');
        }
        out.push(byte);
    }
    out.push(b'"');
}

/// OWS = *( SP / HTAB )
#[inline]
pub(super) fn ows(i: &mut In<'_>) -> Parsed<()> {
    skip_while(&OWS).parse(i)
}

/// token = 1*tchar
#[inline]
pub(super) fn token<'a>(i: &mut In<'a>) -> Parsed<&'a str> {
    take_while1(&TCHAR)
        .must(Fault::BadToken)
        .map(ascii)
        .parse(i)
}

/// quoted-string = DQUOTE *( qdtext / quoted-pair ) DQUOTE
pub(super) fn quoted_string<'a>(i: &mut In<'a>) -> Parsed<Text<'a>> {
    byte(b'"').must(Fault::BadQuotedString).parse(i)?;
    let start = i.position();
    let mut escaped = false;
    loop {
        take_while(&QDTEXT).parse(i)?;
        if i.next_byte() != Some(b'\\') {
            break;
        }
        i.advance(1);
        satisfy(&VALUE).must(Fault::BadQuotedString).parse(i)?;
        escaped = true;
    }
    let raw = i.slice_from(start);
    byte(b'"').must(Fault::BadQuotedString).parse(i)?;
    Ok(Text { raw, escaped })
}

/// 1*DIGIT, as a number.
pub(super) fn number(i: &mut In<'_>, fault: Fault) -> Parsed<u64> {
    let start = i.position();
    let digits = take_while1(&DIGIT).must(fault).parse(i)?;
    checked(digits).ok_or_else(|| i.fail_at(start, Reason::Overflow).into_cut())
}

/// 1*DIGIT, as a number; one too large for 64 bits is as good as the largest.
pub(super) fn saturated(i: &mut In<'_>, fault: Fault) -> Parsed<u64> {
    let digits = take_while1(&DIGIT).must(fault).parse(i)?;
    Ok(checked(digits).unwrap_or(u64::MAX))
}

/// What digits add up to, if there is such a number.
pub(super) fn checked(digits: &[u8]) -> Option<u64> {
    let digit = |number: u64, byte: &u8| {
        number
            .checked_mul(10)?
            .checked_add(u64::from(byte.wrapping_sub(b'0')))
    };
    digits.iter().try_fold(0, digit)
}

/// A failure here that ends the parse.
#[cold]
pub(super) fn fault(i: &In<'_>, at: usize, fault: Fault) -> crate::Stop {
    i.fail_at(at, fault.into()).into_cut()
}

/// Bytes of a set that is ASCII, as text.
#[inline]
pub(super) fn ascii(bytes: &[u8]) -> &str {
    std::str::from_utf8(bytes).unwrap_or_default()
}

/// Appends a number in decimal.
pub(super) fn write_number(number: impl fmt::Display, out: &mut Vec<u8>) {
    out.extend_from_slice(number.to_string().as_bytes());
}
