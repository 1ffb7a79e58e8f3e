//! Repetition. Every one has a limit, so that no grammar can be written that grows without bound.
//!
//! The limits are a range: `many(1..=9, ..)` wants at least one and takes no more than nine. More are cut for
//! [`Reason::TooLong`]. What comes of it is a `Vec`, or whatever [`Repeat::fold`] makes of the values.

use std::ops::RangeInclusive;

use crate::combine::give_up;
use crate::stop::{Parsed, Reason, Stop};
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
pub const fn many<P>(limits: RangeInclusive<usize>, parser: P) -> Repeat<Many<P>> {
    Repeat(Many { limits, parser })
}

/// Like [`many`], but only counts them.
///
/// ```
/// use thrum_parse::{In, Parser, byte, many_count};
///
/// assert_eq!(many_count(0..=9, byte(b'.')).parse(&mut In::whole(b"...")), Ok(3));
/// ```
pub const fn many_count<P>(limits: RangeInclusive<usize>, parser: P) -> ManyCount<P> {
    ManyCount(Many { limits, parser })
}

/// Exactly `count` of them; what follows is left alone. A parser that matches nothing fails it: so a count that came with
/// the input is held to the size of the input.
///
/// ```
/// use thrum_parse::{In, Parser, count, word};
///
/// let pixel = count(3, word::be::<u8>());
/// assert_eq!(pixel.parse(&mut In::whole(&[1, 2, 3, 4])), Ok(vec![1, 2, 3]));
/// ```
pub const fn count<P>(count: usize, parser: P) -> Repeat<Count<P>> {
    Repeat(Count { count, parser })
}

/// Values with a separator between them. A separator that no value follows is left alone.
///
/// ```
/// use thrum_parse::{In, Parser, byte, decimal, sep_by};
///
/// let list = sep_by(0..=9, decimal::<u8>(), byte(b','));
/// let mut i = In::whole(b"1,2,3,");
/// assert_eq!(list.parse(&mut i), Ok(vec![1, 2, 3]));
/// assert_eq!(i.rest(), b",");
/// ```
pub const fn sep_by<P, S>(
    limits: RangeInclusive<usize>,
    parser: P,
    separator: S,
) -> Repeat<SepBy<P, S, false>> {
    Repeat(SepBy {
        limits,
        parser,
        separator,
    })
}

/// Like [`sep_by`], but a separator behind the last value is taken off too.
///
/// ```
/// use thrum_parse::{In, Parser, byte, decimal, sep_end_by};
///
/// let list = sep_end_by(0..=9, decimal::<u8>(), byte(b';'));
/// let mut i = In::whole(b"1;2;.");
/// assert_eq!(list.parse(&mut i), Ok(vec![1, 2]));
/// assert_eq!(i.rest(), b".");
/// ```
pub const fn sep_end_by<P, S>(
    limits: RangeInclusive<usize>,
    parser: P,
    separator: S,
) -> Repeat<SepBy<P, S, true>> {
    Repeat(SepBy {
        limits,
        parser,
        separator,
    })
}

/// Values up to the first `end`, which is taken off too. Where neither matches, it fails as the value does.
///
/// ```
/// use thrum_parse::{In, Parser, any_byte, many_till, tag};
///
/// let comment = many_till(0..=99, any_byte(), tag(b"*/"));
/// assert_eq!(comment.parse(&mut In::whole(b"a*b*/c")), Ok(b"a*b".to_vec()));
/// ```
pub const fn many_till<P, E>(
    limits: RangeInclusive<usize>,
    parser: P,
    end: E,
) -> Repeat<ManyTill<P, E>> {
    Repeat(ManyTill {
        limits,
        parser,
        end,
    })
}

/// A repetition: [`many`], [`count`], [`sep_by`], [`sep_end_by`], [`many_till`]. It gives a `Vec` of the values.
#[derive(Clone, Debug)]
pub struct Repeat<R>(R);

impl<R> Repeat<R> {
    /// Makes one value of all of them, from left to right, without storing them.
    ///
    /// ```
    /// use thrum_parse::{In, Parser, byte, decimal, sep_by};
    ///
    /// let sum = sep_by(1..=9, decimal::<u32>(), byte(b'+')).fold(|| 0, |sum, n| sum + n);
    /// assert_eq!(sum.parse(&mut In::whole(b"1+2+3")), Ok(6));
    /// ```
    pub fn fold<'a, A, I, F>(self, initial: I, step: F) -> Fold<R, I, F>
    where
        R: Repetition<'a>,
        I: Fn() -> A,
        F: Fn(A, R::Item) -> A,
    {
        Fold {
            repetition: self.0,
            initial,
            step,
        }
    }
}

impl<'a, R: Repetition<'a>> Parser<'a> for Repeat<R> {
    type Output = Vec<R::Item>;

    #[inline(always)]
    fn parse(&self, i: &mut In<'a>) -> Parsed<Self::Output> {
        let mut values = Vec::new();
        self.0.each(i, |value| values.push(value))?;
        Ok(values)
    }
}

/// See [`Repeat::fold`].
#[derive(Clone, Debug)]
pub struct Fold<R, I, F> {
    repetition: R,
    initial: I,
    step: F,
}

impl<'a, R, A, I, F> Parser<'a> for Fold<R, I, F>
where
    R: Repetition<'a>,
    I: Fn() -> A,
    F: Fn(A, R::Item) -> A,
{
    type Output = A;

    #[inline(always)]
    fn parse(&self, i: &mut In<'a>) -> Parsed<A> {
        let mut folded = Some((self.initial)());
        self.repetition.each(i, |value| {
            folded = folded.take().map(|before| (self.step)(before, value));
        })?;
        // It is taken only to be put back.
        folded.ok_or_else(|| i.fail(Reason::Rejected))
    }
}

/// How a kind of repetition goes on and ends.
pub trait Repetition<'a> {
    /// The value that is repeated.
    type Item;

    /// Hands each value to `sink`, and says how many there were.
    ///
    /// # Errors
    /// As the repetition says.
    fn each(&self, i: &mut In<'a>, sink: impl FnMut(Self::Item)) -> Parsed<usize>;
}

/// See [`many`].
#[derive(Clone, Debug)]
pub struct Many<P> {
    limits: RangeInclusive<usize>,
    parser: P,
}

impl<'a, P: Parser<'a>> Repetition<'a> for Many<P> {
    type Item = P::Output;

    #[inline(always)]
    fn each(&self, i: &mut In<'a>, mut sink: impl FnMut(P::Output)) -> Parsed<usize> {
        let mut count = 0;
        loop {
            let start = i.position();
            let value = match self.parser.parse(i) {
                Ok(value) => value,
                Err(stop) => return ended(i, &self.limits, count, start, stop),
            };
            if i.position() == start {
                // It would match nothing for ever.
                return enough(&self.limits, count, i.fail(Reason::Unexpected));
            }
            if count == *self.limits.end() {
                return Err(too_many(i, start));
            }
            sink(value);
            count += 1;
        }
    }
}

/// See [`many_count`].
#[derive(Clone, Debug)]
pub struct ManyCount<P>(Many<P>);

impl<'a, P: Parser<'a>> Parser<'a> for ManyCount<P> {
    type Output = usize;

    #[inline(always)]
    fn parse(&self, i: &mut In<'a>) -> Parsed<usize> {
        self.0.each(i, |_| {})
    }
}

/// See [`count`].
#[derive(Clone, Copy, Debug)]
pub struct Count<P> {
    count: usize,
    parser: P,
}

impl<'a, P: Parser<'a>> Repetition<'a> for Count<P> {
    type Item = P::Output;

    #[inline(always)]
    fn each(&self, i: &mut In<'a>, mut sink: impl FnMut(P::Output)) -> Parsed<usize> {
        for _ in 0..self.count {
            let start = i.position();
            let value = self.parser.parse(i)?;
            if i.position() == start {
                return Err(i.fail(Reason::Unexpected));
            }
            sink(value);
        }
        Ok(self.count)
    }
}

/// See [`sep_by`] and [`sep_end_by`].
#[derive(Clone, Debug)]
pub struct SepBy<P, S, const AT_END: bool> {
    limits: RangeInclusive<usize>,
    parser: P,
    separator: S,
}

impl<'a, P, S, const AT_END: bool> Repetition<'a> for SepBy<P, S, AT_END>
where
    P: Parser<'a>,
    S: Parser<'a>,
{
    type Item = P::Output;

    #[inline(always)]
    fn each(&self, i: &mut In<'a>, mut sink: impl FnMut(P::Output)) -> Parsed<usize> {
        let mut count = 0;
        // Behind the last value that was taken.
        let mut end = i.position();
        loop {
            let start = i.position();
            match self.parser.parse(i) {
                Ok(_) if count == *self.limits.end() => return Err(too_many(i, start)),
                Ok(value) => sink(value),
                Err(stop) => {
                    let end = if AT_END { start } else { end };
                    return ended(i, &self.limits, count, end, stop);
                }
            }
            count += 1;
            end = i.position();
            if let Err(stop) = self.separator.parse(i) {
                return ended(i, &self.limits, count, end, stop);
            }
            if i.position() == start {
                // Neither took anything, and they would not for ever.
                return enough(&self.limits, count, i.fail(Reason::Unexpected));
            }
        }
    }
}

/// See [`many_till`].
#[derive(Clone, Debug)]
pub struct ManyTill<P, E> {
    limits: RangeInclusive<usize>,
    parser: P,
    end: E,
}

impl<'a, P: Parser<'a>, E: Parser<'a>> Repetition<'a> for ManyTill<P, E> {
    type Item = P::Output;

    #[inline(always)]
    fn each(&self, i: &mut In<'a>, mut sink: impl FnMut(P::Output)) -> Parsed<usize> {
        let mut count = 0;
        loop {
            let start = i.position();
            match self.end.parse(i) {
                Ok(_) => {
                    let too_few = i.fail_at(start, Reason::Unexpected);
                    return enough(&self.limits, count, too_few);
                }
                Err(stop) => give_up(i, start, stop)?,
            }
            if count == *self.limits.end() {
                return Err(too_many(i, start));
            }
            let value = self.parser.parse(i)?;
            if i.position() == start {
                return Err(i.fail(Reason::Unexpected));
            }
            sink(value);
            count += 1;
        }
    }
}

/// The answer where what would have come next failed for `stop`: the repetition ends at `end`, if that is enough.
#[inline(always)]
fn ended(
    i: &mut In<'_>,
    limits: &RangeInclusive<usize>,
    count: usize,
    end: usize,
    stop: Stop,
) -> Parsed<usize> {
    let count = enough(limits, count, stop)?;
    give_up(i, end, stop)?;
    Ok(count)
}

#[inline(always)]
fn enough(limits: &RangeInclusive<usize>, count: usize, stop: Stop) -> Parsed<usize> {
    if count < *limits.start() {
        Err(stop)
    } else {
        Ok(count)
    }
}

#[inline(always)]
fn too_many(i: &In<'_>, start: usize) -> Stop {
    i.fail_at(start, Reason::TooLong).into_cut()
}
