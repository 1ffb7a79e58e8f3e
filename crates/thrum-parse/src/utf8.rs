//! UTF-8 text, character by character.
//!
//! Bytes that are no UTF-8 fail at the first byte of the sequence that is not. A character that the end of partial input
//! cuts in two needs one byte more. Parsers of bytes yield text through [`Parser::text`].

use std::str;

use crate::explanation::Expected;
use crate::run::too_long;
use crate::stop::{Need, Parsed, Reason, Stop};
use crate::{In, Parser};

/// This character.
///
/// ```
/// use thrum_parse::{In, Parser, char};
///
/// assert_eq!(char('ä').parse(&mut In::whole("äh".as_bytes())), Ok('ä'));
/// ```
pub const fn char(char: char) -> Char {
    Char(char)
}

/// See [`char`](char()).
#[derive(Clone, Copy, Debug)]
pub struct Char(char);

impl<'a> Parser<'a> for Char {
    type Output = char;

    #[inline(always)]
    fn parse(&self, i: &mut In<'a>) -> Parsed<char> {
        one(i, |char| char == self.0, || Expected::Char(self.0))
    }
}

/// The next character, whichever it is.
///
/// ```
/// use thrum_parse::{In, Parser, any_char};
///
/// assert_eq!(any_char().parse(&mut In::whole("日本".as_bytes())), Ok('日'));
/// assert!(any_char().parse(&mut In::partial(b"\xe6\x97")).unwrap_err().is_need());
/// assert!(!any_char().parse(&mut In::partial(b"\xe6.")).unwrap_err().is_need());
/// ```
pub const fn any_char() -> AnyChar {
    AnyChar(())
}

/// See [`any_char`].
#[derive(Clone, Copy, Debug)]
pub struct AnyChar(());

impl<'a> Parser<'a> for AnyChar {
    type Output = char;

    #[inline(always)]
    fn parse(&self, i: &mut In<'a>) -> Parsed<char> {
        one(i, |_| true, || Expected::Text("a character"))
    }
}

/// A character for which `matches` says yes.
///
/// ```
/// use thrum_parse::{In, Parser, satisfy_char};
///
/// let letter = satisfy_char(char::is_alphabetic);
/// assert_eq!(letter.parse(&mut In::whole("é".as_bytes())), Ok('é'));
/// assert!(letter.parse(&mut In::whole("1".as_bytes())).is_err());
/// ```
pub const fn satisfy_char<F: Fn(char) -> bool + Copy>(matches: F) -> SatisfyChar<F> {
    SatisfyChar(matches)
}

/// See [`satisfy_char`].
#[derive(Clone, Copy, Debug)]
pub struct SatisfyChar<F>(F);

impl<'a, F: Fn(char) -> bool + Copy> Parser<'a> for SatisfyChar<F> {
    type Output = char;

    #[inline(always)]
    fn parse(&self, i: &mut In<'a>) -> Parsed<char> {
        one(i, self.0, || Expected::Text("another character"))
    }
}

/// The characters for which `matches` says yes, possibly none. It ends at the first other one: while that has not come
/// and more input may, the answer is a [`Need`].
///
/// ```
/// use thrum_parse::{In, Parser, take_while_char};
///
/// let word = take_while_char(char::is_alphanumeric);
/// assert_eq!(word.parse(&mut In::whole("größe = 1".as_bytes())), Ok("größe"));
/// ```
pub const fn take_while_char<F: Fn(char) -> bool + Copy>(matches: F) -> TakeWhileChar<F> {
    TakeWhileChar {
        matches,
        least: 0,
        most: usize::MAX,
        too_long: Reason::TooLong,
    }
}

/// Like [`take_while_char`], but at least one character.
///
/// ```
/// use thrum_parse::{In, Parser, take_while_char1};
///
/// let word = take_while_char1(char::is_alphanumeric);
/// assert!(word.parse(&mut In::whole(b"= 1")).is_err());
/// ```
pub const fn take_while_char1<F: Fn(char) -> bool + Copy>(matches: F) -> TakeWhileChar<F> {
    TakeWhileChar {
        matches,
        least: 1,
        most: usize::MAX,
        too_long: Reason::TooLong,
    }
}

/// See [`take_while_char`].
#[derive(Clone, Copy, Debug)]
pub struct TakeWhileChar<F> {
    matches: F,
    /// In bytes, like the other.
    least: usize,
    most: usize,
    too_long: Reason,
}

impl<F: Fn(char) -> bool + Copy> TakeWhileChar<F> {
    /// At most `most` bytes. A longer run is cut for `reason`.
    pub fn up_to(self, most: usize, reason: impl Into<Reason>) -> Self {
        TakeWhileChar {
            most,
            too_long: reason.into(),
            ..self
        }
    }
}

impl<'a, F: Fn(char) -> bool + Copy> Parser<'a> for TakeWhileChar<F> {
    type Output = &'a str;

    #[inline(always)]
    fn parse(&self, i: &mut In<'a>) -> Parsed<&'a str> {
        let rest = i.rest();
        let mut count = 0;
        let stop = loop {
            match decode(&rest[count..]) {
                Decoded::Char(char, len) if (self.matches)(char) => {
                    if len > self.most - count {
                        return Err(too_long(i, count, self.too_long));
                    }
                    count += len;
                }
                Decoded::Char(..) if count < self.least => {
                    i.expected(i.position(), || Expected::Text("another character"));
                    return Err(i.fail(Reason::Unexpected));
                }
                Decoded::Char(..) => break None,
                Decoded::Short if count == rest.len() && i.is_whole() && count >= self.least => {
                    break None;
                }
                Decoded::Short if count == rest.len() => {
                    i.expected(i.buffer().len(), || Expected::Text("another character"));
                    break Some(i.short(Need::EndOfRun));
                }
                Decoded::Short => break Some(cut_short(i)),
                Decoded::Bad => break Some(bad(i, i.position() + count)),
            }
        };
        if let Some(stop) = stop {
            crate::input::examined(count);
            return Err(stop);
        }
        i.consume(count);
        // What was decoded is UTF-8: to check it again is cheaper than to decode it.
        str::from_utf8(&rest[..count]).or(Err(i.fail(Reason::Rejected)))
    }
}

/// Exactly this text. Fails as soon as it differs, before all is there.
///
/// ```
/// use thrum_parse::{In, Parser, string};
///
/// assert_eq!(string("größe").parse(&mut In::whole("größe=1".as_bytes())), Ok("größe"));
/// ```
pub const fn string(text: &'static str) -> StringOf {
    StringOf(text)
}

/// See [`string`].
#[derive(Clone, Copy, Debug)]
pub struct StringOf(&'static str);

impl<'a> Parser<'a> for StringOf {
    type Output = &'static str;

    #[inline(always)]
    fn parse(&self, i: &mut In<'a>) -> Parsed<&'static str> {
        let (rest, text) = (i.rest(), self.0.as_bytes());
        if rest.starts_with(text) {
            i.consume(text.len());
            return Ok(self.0);
        }
        if text.starts_with(rest) {
            crate::input::examined(rest.len());
            i.expected(i.buffer().len(), || Expected::String(self.0));
            return Err(i.short(Need::bytes(text.len() - rest.len())));
        }
        i.expected(i.position(), || Expected::String(self.0));
        Err(i.fail(Reason::Unexpected))
    }
}

#[inline(always)]
fn one(
    i: &mut In<'_>,
    matches: impl Fn(char) -> bool,
    expected: impl FnOnce() -> Expected,
) -> Parsed<char> {
    match decode(i.rest()) {
        Decoded::Char(char, len) if matches(char) => {
            i.consume(len);
            Ok(char)
        }
        Decoded::Char(..) => {
            i.expected(i.position(), expected);
            Err(i.fail(Reason::Unexpected))
        }
        Decoded::Short if i.rest().is_empty() => {
            i.expected(i.position(), expected);
            Err(i.short(Need::bytes(1)))
        }
        Decoded::Short => Err(cut_short(i)),
        Decoded::Bad => Err(bad(i, i.position())),
    }
}

#[cold]
fn cut_short(i: &In<'_>) -> Stop {
    i.expected(i.buffer().len(), || {
        Expected::Text("the rest of a character")
    });
    // It may be bad already at the next byte.
    i.short(Need::bytes(1))
}

/// The answer where a byte at `position` starts a sequence that is no UTF-8.
#[cold]
pub(crate) fn bad(i: &In<'_>, position: usize) -> Stop {
    i.expected(position, || Expected::Text("UTF-8 text"));
    i.fail_at(position, Reason::Unexpected)
}

enum Decoded {
    /// A character and how many bytes it has.
    Char(char, usize),
    /// The beginning of a character.
    Short,
    /// No UTF-8, whatever may follow.
    Bad,
}

/// The first character of `bytes`: Unicode 16, table 3-7, "Well-formed UTF-8 byte sequences".
#[inline(always)]
fn decode(bytes: &[u8]) -> Decoded {
    let Some(&first) = bytes.first() else {
        return Decoded::Short;
    };
    // The length, the bits that the first byte has, and what the second byte may be.
    let (len, bits, second) = match first {
        ..=0x7f => return Decoded::Char(first.into(), 1),
        0xc2..=0xdf => (2, first & 0x1f, 0x80..=0xbf),
        0xe0 => (3, 0, 0xa0..=0xbf),
        0xed => (3, 0xd, 0x80..=0x9f),
        0xe1..=0xef => (3, first & 0xf, 0x80..=0xbf),
        0xf0 => (4, 0, 0x90..=0xbf),
        0xf1..=0xf3 => (4, first & 0x7, 0x80..=0xbf),
        0xf4 => (4, 4, 0x80..=0x8f),
        _ => return Decoded::Bad,
    };
    let mut code = u32::from(bits);
    for at in 1..len {
        match bytes.get(at) {
            None => return Decoded::Short,
            Some(byte) if at == 1 && !second.contains(byte) => return Decoded::Bad,
            Some(byte) if byte & 0xc0 != 0x80 => return Decoded::Bad,
            Some(byte) => code = code << 6 | u32::from(byte & 0x3f),
        }
    }
    char::from_u32(code).map_or(Decoded::Bad, |char| Decoded::Char(char, len))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decodes_every_character_and_what_the_standard_library_calls_bad() {
        for char in '\0'..=char::MAX {
            let mut bytes = [0; 4];
            let bytes = char.encode_utf8(&mut bytes).as_bytes();
            assert!(
                matches!(decode(bytes), Decoded::Char(c, len) if c == char && len == bytes.len())
            );
            for end in 1..bytes.len() {
                assert!(matches!(decode(&bytes[..end]), Decoded::Short));
            }
        }
        for first in 0x80..=0xffu8 {
            for second in 0..=0xffu8 {
                let bytes = [first, second];
                let said = str::from_utf8(&bytes).map_err(|bad| bad.error_len());
                match decode(&bytes) {
                    Decoded::Char(..) => assert!(said.is_ok()),
                    Decoded::Short => assert_eq!(said, Err(None)),
                    Decoded::Bad => assert!(matches!(said, Err(Some(_)))),
                }
            }
        }
    }
}
