//! Repetition. Every one has a limit, so that no grammar can be written that grows without bound.

use std::ops::RangeInclusive;

use crate::stop::{Parsed, Reason};
use crate::{In, Parser};

/// As many of them as come, collected: at least the first number, or it fails; more than the second are cut for
/// [`Reason::TooLong`]. A parser that matches nothing ends the repetition.
///
/// ```
/// use thrum_parse::{In, Parser, byte, decimal, many};
///
/// let list = many(1..=3, (decimal::<u8>(), byte(b',')).map(|(n, _)| n));
/// assert_eq!(list.parse(&mut In::whole(b"1,2,.")), Ok(vec![1, 2]));
/// assert!(list.parse(&mut In::whole(b".")).is_err());
/// assert!(list.parse(&mut In::whole(b"1,2,3,4,")).is_err());
/// ```
pub const fn many<P>(limits: RangeInclusive<usize>, parser: P) -> Many<P> {
    Many { limits, parser }
}

/// See [`many`].
#[derive(Clone, Debug)]
pub struct Many<P> {
    limits: RangeInclusive<usize>,
    parser: P,
}

impl<'a, P: Parser<'a>> Parser<'a> for Many<P> {
    type Output = Vec<P::Output>;

    #[inline(always)]
    fn parse(&self, i: &mut In<'a>) -> Parsed<Self::Output> {
        let mut values = Vec::new();
        repeat(i, &self.limits, &self.parser, |value| values.push(value))?;
        Ok(values)
    }
}

/// Like [`many`], but only counts them.
///
/// ```
/// use thrum_parse::{In, Parser, byte, many_count};
///
/// assert_eq!(many_count(0..=9, byte(b'.')).parse(&mut In::whole(b"...")), Ok(3));
/// ```
pub const fn many_count<P>(limits: RangeInclusive<usize>, parser: P) -> ManyCount<P> {
    ManyCount { limits, parser }
}

/// See [`many_count`].
#[derive(Clone, Debug)]
pub struct ManyCount<P> {
    limits: RangeInclusive<usize>,
    parser: P,
}

impl<'a, P: Parser<'a>> Parser<'a> for ManyCount<P> {
    type Output = usize;

    #[inline(always)]
    fn parse(&self, i: &mut In<'a>) -> Parsed<usize> {
        repeat(i, &self.limits, &self.parser, |_| {})
    }
}

#[inline(always)]
fn repeat<'a, P: Parser<'a>>(
    i: &mut In<'a>,
    limits: &RangeInclusive<usize>,
    parser: &P,
    mut each: impl FnMut(P::Output),
) -> Parsed<usize> {
    let mut count = 0;
    loop {
        let start = i.position();
        let value = match parser.parse(i) {
            Ok(value) => value,
            Err(stop) => {
                i.backtrack(start, stop)?;
                return if count < *limits.start() {
                    Err(stop)
                } else {
                    Ok(count)
                };
            }
        };
        if i.position() == start {
            // It would match nothing for ever.
            let enough = count >= *limits.start();
            return if enough {
                Ok(count)
            } else {
                Err(i.fail(Reason::Unexpected))
            };
        }
        if count == *limits.end() {
            return Err(i.fail_at(start, Reason::TooLong).into_cut());
        }
        each(value);
        count += 1;
    }
}
