//! Byte ranges, RFC 9110, 14.

use std::ops::Range;

use super::syntax::{fault, number, saturated, token, write_number};
use super::{Fault, FieldValue, List};
use crate::stop::Parsed;
use crate::{In, Parser, byte};

/// The value of `Range` in bytes: one or more ranges. A value in another unit is [`Fault::UnknownUnit`].
///
/// ```
/// use thrum_parse::http::value::{ByteRanges, FieldValue};
///
/// let ranges = ByteRanges::parse(b"bytes=0-99, -10").unwrap();
/// let resolved: Vec<_> = ranges.iter().filter_map(|range| range.of(1000)).collect();
/// assert_eq!(resolved, [0..100, 990..1000]);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ByteRanges<'a>(List<'a, ByteRange>);

/// A range as it is asked for. A number that is too large for 64 bits is as good as the largest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ByteRange {
    /// `first-last`, where the last byte is included and not before the first.
    Between {
        /// Offset of the first byte.
        first: u64,
        /// Offset of the last byte.
        last: u64,
    },
    /// `first-`: all from this offset on.
    From(u64),
    /// `-length`: so many bytes at the end.
    Last(u64),
}

impl<'a> ByteRanges<'a> {
    /// How many there are: at least one.
    pub fn count(&self) -> usize {
        self.0.len()
    }

    /// The ranges, in the order they are asked for in.
    pub fn iter(&self) -> impl Iterator<Item = ByteRange> + Clone + use<'a> {
        self.0.iter()
    }
}

impl ByteRange {
    /// What it is of something of `size` bytes; `None` if nothing is there.
    pub fn of(self, size: u64) -> Option<Range<u64>> {
        let range = match self {
            ByteRange::Between { first, last } => first..last.saturating_add(1).min(size),
            ByteRange::From(first) => first..size,
            ByteRange::Last(length) => size.saturating_sub(length)..size,
        };
        (!range.is_empty()).then_some(range)
    }
}

impl<'a> FieldValue<'a> for ByteRanges<'a> {
    fn read(i: &mut In<'a>) -> Parsed<Self> {
        let start = i.position();
        let unit = token(i)?;
        byte(b'=').must(Fault::BadRange).parse(i)?;
        if !unit.eq_ignore_ascii_case("bytes") {
            return Err(fault(i, start, Fault::UnknownUnit));
        }
        List::read_some(i).map(ByteRanges)
    }

    fn write(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(b"bytes=");
        self.0.write(out);
    }
}

impl<'a> FieldValue<'a> for ByteRange {
    fn read(i: &mut In<'a>) -> Parsed<Self> {
        let start = i.position();
        if i.next_byte() == Some(b'-') {
            i.advance(1);
            return saturated(i, Fault::BadRange).map(ByteRange::Last);
        }
        let first = saturated(i, Fault::BadRange)?;
        byte(b'-').must(Fault::BadRange).parse(i)?;
        if !i.next_byte().is_some_and(|byte| byte.is_ascii_digit()) {
            return Ok(ByteRange::From(first));
        }
        let last = saturated(i, Fault::BadRange)?;
        if first > last {
            return Err(fault(i, start, Fault::BadRange));
        }
        Ok(ByteRange::Between { first, last })
    }

    fn write(&self, out: &mut Vec<u8>) {
        match *self {
            ByteRange::Between { first, last } => {
                write_number(first, out);
                out.push(b'-');
                write_number(last, out);
            }
            ByteRange::From(first) => {
                write_number(first, out);
                out.push(b'-');
            }
            ByteRange::Last(length) => {
                out.push(b'-');
                write_number(length, out);
            }
        }
    }
}

/// The value of `Content-Range` in bytes. A value in another unit is [`Fault::UnknownUnit`], a number that is too large
/// for 64 bits [`Fault::Overflow`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ContentRange {
    /// `bytes first-last/size`: this is a part.
    Part {
        /// Offset of the first byte.
        first: u64,
        /// Offset of the last byte, which is included. It is not before the first.
        last: u64,
        /// How many bytes there are in all, if that is known. It is more than `last`.
        size: Option<u64>,
    },
    /// `bytes */size`: none of the ranges asked for is there.
    Unsatisfied {
        /// How many bytes there are in all.
        size: u64,
    },
}

impl<'a> FieldValue<'a> for ContentRange {
    fn read(i: &mut In<'a>) -> Parsed<Self> {
        let start = i.position();
        let unit = token(i)?;
        byte(b' ').must(Fault::BadRange).parse(i)?;
        if !unit.eq_ignore_ascii_case("bytes") {
            return Err(fault(i, start, Fault::UnknownUnit));
        }
        let start = i.position();
        if i.next_byte() == Some(b'*') {
            i.advance(1);
            byte(b'/').must(Fault::BadRange).parse(i)?;
            let size = number(i, Fault::BadRange)?;
            return Ok(ContentRange::Unsatisfied { size });
        }
        let first = number(i, Fault::BadRange)?;
        byte(b'-').must(Fault::BadRange).parse(i)?;
        let last = number(i, Fault::BadRange)?;
        byte(b'/').must(Fault::BadRange).parse(i)?;
        let size = if i.next_byte() == Some(b'*') {
            i.advance(1);
            None
        } else {
            Some(number(i, Fault::BadRange)?)
        };
        if first > last || size.is_some_and(|size| size <= last) {
            return Err(fault(i, start, Fault::BadRange));
        }
        Ok(ContentRange::Part { first, last, size })
    }

    fn write(&self, out: &mut Vec<u8>) {
        let text = match *self {
            ContentRange::Part { first, last, size } => match size {
                Some(size) => format!("bytes {first}-{last}/{size}"),
                None => format!("bytes {first}-{last}/*"),
            },
            ContentRange::Unsatisfied { size } => format!("bytes */{size}"),
        };
        out.extend_from_slice(text.as_bytes());
    }
}
