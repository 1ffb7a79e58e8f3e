//! The parsers that grammars are made of.
//!
//! A parser is a function from an [`Input`] to a value: `impl FnMut(&mut Input<L>) -> Parsed<T, E>`. When it fails, the input
//! may have moved; who goes on with an alternative goes back first, as [`choice`](crate::choice) and [`opt`] do.

use crate::input::{Expected, Input, Parsed, Span, Stop, What};
use crate::{ByteSet, Level};

/// One byte.
#[inline(always)]
pub fn byte<L: Level>(wanted: u8) -> impl Fn(&mut Input<'_, L>) -> Parsed<()> {
    move |input| match input.first() {
        Some(byte) if byte == wanted => {
            input.advance(1);
            Ok(())
        }
        Some(_) => input.fail(What::Byte(wanted)),
        None => input.too_short(1, What::Byte(wanted)),
    }
}

/// A fixed text. A wrong byte fails at once, though the rest is still to come.
#[inline(always)]
pub fn tag<L: Level>(wanted: &'static [u8]) -> impl Fn(&mut Input<'_, L>) -> Parsed<()> {
    move |input| {
        let rest = input.rest();
        if rest.starts_with(wanted) {
            input.advance(wanted.len());
            return Ok(());
        }
        if wanted.starts_with(rest) {
            return input.too_short(wanted.len() - rest.len(), What::Text);
        }
        input.fail(What::Text)
    }
}

/// All bytes of a set from here on; perhaps none. It needs to see the byte after them, or the end.
#[inline(always)]
pub fn take_while<L: Level>(set: &'static ByteSet) -> impl Fn(&mut Input<'_, L>) -> Parsed<Span> {
    move |input| {
        let start = input.consumed();
        let run = input.level().run(set, input.rest());
        input.advance(run);
        if input.rest().is_empty() {
            // At the end of a complete input this is all there is.
            if let Err(need @ Stop::Need(_)) = input.too_short::<()>(1, What::OneOfASet) {
                return Err(need);
            }
        }
        Ok(input.since(start))
    }
}

/// As [`take_while`], but at least one.
#[inline(always)]
pub fn take_while1<L: Level>(set: &'static ByteSet) -> impl Fn(&mut Input<'_, L>) -> Parsed<Span> {
    move |input| {
        let start = input.consumed();
        let span = take_while(set)(input)?;
        if span.is_empty() {
            input.go_back(start);
            return input.fail(What::OneOfASet);
        }
        Ok(span)
    }
}

/// A number of bytes, whatever they are.
#[inline(always)]
pub fn take<L: Level>(count: usize) -> impl Fn(&mut Input<'_, L>) -> Parsed<Span> {
    move |input| {
        let start = input.consumed();
        let missing = count.saturating_sub(input.rest().len());
        if missing > 0 {
            return input.too_short(missing, What::OneOfASet);
        }
        input.advance(count);
        Ok(input.since(start))
    }
}

/// A whole number in decimal, at least one digit.
///
/// # Errors
/// [`What::Number`] where it does not fit 64 bits.
#[inline]
pub fn decimal<L: Level>(input: &mut Input<'_, L>) -> Parsed<u64> {
    const DIGIT: ByteSet = ByteSet::range(b'0', b'9');
    digits(input, &DIGIT, 10)
}

/// A whole number in hexadecimal, in either case, at least one digit.
///
/// # Errors
/// [`What::Number`] where it does not fit 64 bits.
#[inline]
pub fn hexadecimal<L: Level>(input: &mut Input<'_, L>) -> Parsed<u64> {
    const DIGIT: ByteSet = ByteSet::range(b'0', b'9')
        .or(ByteSet::range(b'a', b'f'))
        .or(ByteSet::range(b'A', b'F'));
    digits(input, &DIGIT, 16)
}

#[inline(always)]
fn digits<L: Level>(input: &mut Input<'_, L>, set: &'static ByteSet, radix: u32) -> Parsed<u64> {
    let before = *input;
    take_while1(set)(input)?;
    let run = &before.rest()[..input.consumed() - before.consumed()];
    let number = run.iter().try_fold(0u64, |number, &digit| {
        let digit = (digit as char).to_digit(radix)?;
        number
            .checked_mul(u64::from(radix))?
            .checked_add(u64::from(digit))
    });
    number.map_or_else(|| before.fail(What::Number), Ok)
}

/// The end of a complete input.
#[inline]
pub fn end<L: Level>(input: &mut Input<'_, L>) -> Parsed<()> {
    match input.first() {
        Some(_) => input.fail(What::End),
        None => match input.too_short::<()>(1, What::End) {
            Err(need @ Stop::Need(_)) => Err(need),
            _ => Ok(()),
        },
    }
}

/// What a parser matches, as a span.
#[inline(always)]
pub fn recognize<L: Level, T, E>(
    mut parser: impl FnMut(&mut Input<'_, L>) -> Parsed<T, E>,
) -> impl FnMut(&mut Input<'_, L>) -> Parsed<Span, E> {
    move |input| {
        let start = input.consumed();
        parser(input)?;
        Ok(input.since(start))
    }
}

/// A parser, or nothing.
#[inline(always)]
pub fn opt<L: Level, T, E>(
    mut parser: impl FnMut(&mut Input<'_, L>) -> Parsed<T, E>,
) -> impl FnMut(&mut Input<'_, L>) -> Parsed<Option<T>, E> {
    move |input| {
        let start = input.consumed();
        match parser(input) {
            Ok(value) => Ok(Some(value)),
            Err(Stop::Fail(_)) => {
                input.go_back(start);
                Ok(None)
            }
            Err(stop) => Err(stop),
        }
    }
}

/// A parser as often as it matches, but at most `limit` times: a grammar is never without a bound. Each match is handed to
/// `each`.
///
/// # Errors
/// [`What::Fewer`], as a cut, when it matches once more.
#[inline(always)]
pub fn many<L: Level, T>(
    limit: usize,
    mut parser: impl FnMut(&mut Input<'_, L>) -> Parsed<T>,
    mut each: impl FnMut(T),
) -> impl FnMut(&mut Input<'_, L>) -> Parsed<usize> {
    move |input| {
        let mut count = 0;
        loop {
            let start = input.consumed();
            match parser(input) {
                Ok(_) if count == limit => {
                    return Err(Stop::Cut(Expected {
                        at: start as u32,
                        what: What::Fewer,
                    }));
                }
                // A parser that matches nothing would match for ever.
                Ok(value) if input.consumed() > start => each(value),
                Ok(_) | Err(Stop::Fail(_)) => {
                    input.go_back(start);
                    return Ok(count);
                }
                Err(stop) => return Err(stop),
            }
            count += 1;
        }
    }
}

/// Makes a failure final: no alternative is tried.
#[inline(always)]
pub fn cut<L: Level, T, E>(
    mut parser: impl FnMut(&mut Input<'_, L>) -> Parsed<T, E>,
) -> impl FnMut(&mut Input<'_, L>) -> Parsed<T, E> {
    move |input| match parser(input) {
        Err(Stop::Fail(error)) => Err(Stop::Cut(error)),
        result => result,
    }
}

/// Names what went wrong in the grammar's own terms.
#[inline(always)]
pub fn or_else<L: Level, T, E, F: Copy>(
    mut parser: impl FnMut(&mut Input<'_, L>) -> Parsed<T, E>,
    error: F,
) -> impl FnMut(&mut Input<'_, L>) -> Parsed<T, F> {
    move |input| parser(input).map_err(|stop| stop.map(|_| error))
}

/// The first of some parsers that matches.
///
/// ```
/// use thrum_parse::{Input, Portable, choice, tag};
///
/// let mut input = Input::complete(Portable, b"no");
/// let yes = choice!(&mut input, |i| tag(b"yes")(i).map(|()| true), |i| tag(b"no")(i).map(|()| false));
/// assert_eq!(yes, Ok(false));
/// ```
#[macro_export]
macro_rules! choice {
    ($input:expr, $last:expr $(,)?) => { ($last)($input) };
    ($input:expr, $first:expr, $($others:expr),+ $(,)?) => {{
        let input: &mut $crate::Input<'_, _> = $input;
        let start = input.consumed();
        match ($first)(&mut *input) {
            Err($crate::Stop::Fail(_)) => {
                input.go_back(start);
                $crate::choice!(input, $($others),+)
            }
            result => result,
        }
    }};
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Portable;

    fn complete(bytes: &[u8]) -> Input<'_, Portable> {
        Input::complete(Portable, bytes)
    }

    fn partial(bytes: &[u8]) -> Input<'_, Portable> {
        Input::partial(Portable, bytes)
    }

    #[test]
    fn an_end_is_a_need_only_where_more_may_come() {
        assert_eq!(byte(b'a')(&mut partial(b"")), Err(Stop::Need(1)));
        assert!(matches!(byte(b'a')(&mut complete(b"")), Err(Stop::Fail(_))));
        assert_eq!(tag(b"abc")(&mut partial(b"a")), Err(Stop::Need(2)));
        assert!(matches!(
            tag(b"abc")(&mut partial(b"x")),
            Err(Stop::Fail(_))
        ));
        assert_eq!(take(3)(&mut partial(b"a")), Err(Stop::Need(2)));
        assert_eq!(end(&mut partial(b"")), Err(Stop::Need(1)));
        assert_eq!(end(&mut complete(b"")), Ok(()));
    }

    #[test]
    fn numbers_are_checked() {
        assert_eq!(
            decimal(&mut complete(b"18446744073709551615")),
            Ok(u64::MAX)
        );
        assert!(decimal(&mut complete(b"18446744073709551616")).is_err());
        assert_eq!(hexadecimal(&mut complete(b"fFfF")), Ok(0xffff));
        assert!(hexadecimal(&mut complete(b"10000000000000000")).is_err());
        assert!(decimal(&mut complete(b"+5")).is_err());
    }

    #[test]
    fn many_keeps_its_limit_and_needs_progress() {
        let mut seen = 0;
        assert_eq!(
            many(5, byte(b'a'), |()| seen += 1)(&mut complete(b"aaab")),
            Ok(3)
        );
        assert!(matches!(
            many(2, byte(b'a'), |()| ())(&mut complete(b"aaab")),
            Err(Stop::Cut(_))
        ));
        const NONE: ByteSet = ByteSet::EMPTY;
        assert_eq!(
            many(9, take_while(&NONE), |_| ())(&mut complete(b"aaa")),
            Ok(0)
        );
        assert_eq!(seen, 3);
    }

    #[test]
    fn alternatives_start_where_the_first_one_did() {
        let mut input = complete(b"abd");
        let parsed = choice!(
            &mut input,
            |i: &mut Input<'_, _>| {
                tag(b"ab")(i)?;
                byte(b'c')(i)?;
                Ok(1)
            },
            |i: &mut Input<'_, _>| tag(b"abd")(i).map(|()| 2),
        );
        assert_eq!(parsed, Ok(2));
        assert_eq!(opt(byte(b'x'))(&mut complete(b"y")), Ok(None));
        assert!(matches!(
            opt(cut(byte(b'x')))(&mut complete(b"y")),
            Err(Stop::Cut(_))
        ));
    }
}
