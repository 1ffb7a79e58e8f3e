//! Bytes up to a mark: a tag, the end of the line, the end of the input.

use memchr::{memchr, memmem};

use crate::class::{ANY, NOT_LF};
use crate::explanation::Expected;
use crate::run::too_long;
use crate::stop::{Need, Parsed, Reason, Stop};
use crate::{ByteSet, In, Parser};

/// The bytes before the first `tag`, which stays ahead: at most `most` of them, more are cut for [`Reason::TooLong`].
/// Fails where the input ends without it.
///
/// ```
/// use thrum_parse::{In, Parser, take_until};
///
/// let comment = take_until(b"-->", 1000);
/// assert_eq!(comment.parse(&mut In::whole(b"a -- b-->")), Ok(&b"a -- b"[..]));
/// assert!(comment.parse(&mut In::partial(b"a -- b--")).unwrap_err().is_need());
/// assert!(comment.parse(&mut In::whole(b"a -- b--")).is_err());
/// ```
pub const fn take_until<const N: usize>(tag: &'static [u8; N], most: usize) -> TakeUntil<N> {
    TakeUntil { tag, most }
}

/// See [`take_until`].
#[derive(Clone, Copy, Debug)]
pub struct TakeUntil<const N: usize> {
    tag: &'static [u8; N],
    most: usize,
}

impl<'a, const N: usize> Parser<'a> for TakeUntil<N> {
    type Output = &'a [u8];

    #[inline(always)]
    fn parse(&self, i: &mut In<'a>) -> Parsed<&'a [u8]> {
        let rest = i.rest();
        let within = self.most.saturating_add(N);
        if let Some(found) = memmem::find(&rest[..rest.len().min(within)], self.tag) {
            i.consume(found);
            return Ok(&rest[..found]);
        }
        if rest.len() >= within {
            return Err(too_long(i, self.most, Reason::TooLong));
        }
        crate::input::examined(rest.len());
        i.expected(i.buffer().len(), || Expected::Tag(self.tag));
        match self.tag.last() {
            Some(&last) => Err(i.short_of_run(&ALL_BUT[usize::from(last)])),
            // Nothing is found at once.
            None => Err(i.short(Need::EndOfRun)),
        }
    }
}

/// For each byte, all the others. No tag is complete before its last byte has come, and who waits for the tag need not
/// try again before that: so waiting for a tag costs one scan, however small the pieces.
static ALL_BUT: [ByteSet; 256] = {
    let mut sets = [const { ByteSet::new() }; 256];
    let mut byte = 0;
    while byte < 256 {
        sets[byte] = ByteSet::new().with(&[byte as u8]).not();
        byte += 1;
    }
    sets
};

/// The end of a line: LF, or CR LF.
///
/// ```
/// use thrum_parse::{In, Parser, end_of_line};
///
/// assert_eq!(end_of_line().parse(&mut In::whole(b"\r\n")), Ok(()));
/// assert_eq!(end_of_line().parse(&mut In::whole(b"\n")), Ok(()));
/// assert!(end_of_line().parse(&mut In::whole(b"\r")).is_err());
/// ```
pub const fn end_of_line() -> EndOfLine {
    EndOfLine(())
}

/// See [`end_of_line`].
#[derive(Clone, Copy, Debug)]
pub struct EndOfLine(());

impl<'a> Parser<'a> for EndOfLine {
    type Output = ();

    #[inline(always)]
    fn parse(&self, i: &mut In<'a>) -> Parsed<()> {
        match i.rest() {
            [b'\n', ..] => i.consume(1),
            [b'\r', b'\n', ..] => i.consume(2),
            [] | [b'\r'] => {
                i.expected(i.buffer().len(), || Expected::Text("the end of the line"));
                return Err(i.short(Need::bytes(1)));
            }
            _ => {
                i.expected(i.position(), || Expected::Text("the end of the line"));
                return Err(i.fail(Reason::Unexpected));
            }
        }
        Ok(())
    }
}

/// The rest of the line, without the LF or CR LF that ends it, which is taken off too: at most `most` bytes, more are cut
/// for [`Reason::TooLong`]. The last line needs no end, but it does not exist if it is empty.
///
/// ```
/// use thrum_parse::{In, Parser, line, many};
///
/// let lines = many(0..=9, line(80));
/// let mut i = In::whole(b"one\n\r\nthree");
/// assert_eq!(lines.parse(&mut i), Ok(vec![&b"one"[..], b"", b"three"]));
/// ```
pub const fn line(most: usize) -> Line {
    Line { most }
}

/// See [`line()`].
#[derive(Clone, Copy, Debug)]
pub struct Line {
    most: usize,
}

impl<'a> Parser<'a> for Line {
    type Output = &'a [u8];

    #[inline(always)]
    fn parse(&self, i: &mut In<'a>) -> Parsed<&'a [u8]> {
        let rest = i.rest();
        let within = self.most.saturating_add(2);
        let (line, taken) = match memchr(b'\n', &rest[..rest.len().min(within)]) {
            Some(lf) => {
                let line = &rest[..lf];
                (line.strip_suffix(b"\r").unwrap_or(line), lf + 1)
            }
            None if rest.len() >= within => return Err(too_long(i, self.most, Reason::TooLong)),
            None if i.is_whole() && !rest.is_empty() => (rest, rest.len()),
            None => {
                crate::input::examined(rest.len());
                i.expected(i.buffer().len(), || Expected::Text("the end of the line"));
                return Err(i.short_of_run(&NOT_LF));
            }
        };
        if line.len() > self.most {
            return Err(too_long(i, self.most, Reason::TooLong));
        }
        i.consume(taken);
        Ok(line)
    }
}

/// All that is left of the input. While more may come, the answer is [`Need::EndOfRun`]: the end is not known. To take
/// what there is of it, look at [`In::rest`].
///
/// ```
/// use thrum_parse::{In, Parser, take_rest};
///
/// assert_eq!(take_rest().parse(&mut In::whole(b"abc")), Ok(&b"abc"[..]));
/// assert!(take_rest().parse(&mut In::partial(b"abc")).unwrap_err().is_need());
/// ```
pub const fn take_rest() -> TakeRest {
    TakeRest(())
}

/// See [`take_rest`].
#[derive(Clone, Copy, Debug)]
pub struct TakeRest(());

impl<'a> Parser<'a> for TakeRest {
    type Output = &'a [u8];

    #[inline(always)]
    fn parse(&self, i: &mut In<'a>) -> Parsed<&'a [u8]> {
        let rest = i.rest();
        if !i.is_whole() {
            i.expected(i.buffer().len(), || Expected::Text("the end of the input"));
            return Err(i.short_of_run(&ANY));
        }
        i.consume(rest.len());
        Ok(rest)
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
        if at_end().parse(i)? {
            return Ok(());
        }
        i.expected(i.position(), || Expected::Text("the end of the input"));
        Err(i.fail(Reason::Unexpected))
    }
}

/// Whether this is the end of the input.
///
/// ```
/// use thrum_parse::{In, Parser, at_end};
///
/// assert_eq!(at_end().parse(&mut In::whole(b"")), Ok(true));
/// assert_eq!(at_end().parse(&mut In::partial(b"x")), Ok(false));
/// assert!(at_end().parse(&mut In::partial(b"")).unwrap_err().is_need());
/// ```
pub const fn at_end() -> AtEnd {
    AtEnd(())
}

/// See [`at_end`].
#[derive(Clone, Copy, Debug)]
pub struct AtEnd(());

impl<'a> Parser<'a> for AtEnd {
    type Output = bool;

    #[inline(always)]
    fn parse(&self, i: &mut In<'a>) -> Parsed<bool> {
        if !i.rest().is_empty() {
            return Ok(false);
        }
        if i.is_whole() {
            return Ok(true);
        }
        i.expected(i.position(), || Expected::Text("the end of the input"));
        Err(Stop::Need(Need::EndOfRun))
    }
}
