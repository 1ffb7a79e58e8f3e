//! Parsers made of parsers.

use crate::explanation::GIVEN_UP;
use crate::stop::{Parsed, Reason, Stop};
use crate::{In, Parser};

/// The first of these that does not fail. A cut, or a need for more input, is final.
///
/// Look-ahead is cheaper than trying: see [`dispatch`] where the next byte tells.
///
/// ```
/// use thrum_parse::{In, Parser, choice, tag};
///
/// let scheme = choice((tag(b"https:").value(443), tag(b"http:").value(80)));
/// assert_eq!(scheme.parse(&mut In::whole(b"http://x")), Ok(80));
/// ```
pub const fn choice<C>(alternatives: C) -> Choice<C> {
    Choice(alternatives)
}

/// See [`choice`].
#[derive(Clone, Copy, Debug)]
pub struct Choice<C>(C);

/// A tuple of parsers with one output.
pub trait Choices<'a> {
    /// What each of them gives.
    type Output;

    /// The value of the first that does not fail.
    ///
    /// # Errors
    /// The failure of the last one, or the first cut or need.
    fn first(&self, i: &mut In<'a>) -> Parsed<Self::Output>;
}

impl<'a, C: Choices<'a>> Parser<'a> for Choice<C> {
    type Output = C::Output;

    #[inline(always)]
    fn parse(&self, i: &mut In<'a>) -> Parsed<C::Output> {
        self.0.first(i)
    }
}

macro_rules! choices {
    ($($parser:ident)+ ; $last:ident) => {
        impl<'a, T, $($parser: Parser<'a, Output = T>,)+ $last: Parser<'a, Output = T>> Choices<'a>
            for ($($parser,)+ $last)
        {
            type Output = T;

            #[inline(always)]
            #[allow(non_snake_case)]
            fn first(&self, i: &mut In<'a>) -> Parsed<T> {
                let ($($parser,)+ $last) = self;
                let start = i.position();
                $(match $parser.parse(i) {
                    Ok(value) => return Ok(value),
                    Err(stop) => give_up(i, start, stop)?,
                })+
                $last.parse(i)
            }
        }
    };
}
choices!(A; B);
choices!(A B; C);
choices!(A B C; D);
choices!(A B C D; E);
choices!(A B C D E; F);
choices!(A B C D E F; G);
choices!(A B C D E F G; H);
choices!(A B C D E F G H; J);
choices!(A B C D E F G H J; K);

/// Picks the parser by the next byte, which stays ahead; no going back is needed.
///
/// ```
/// use thrum_parse::{In, Parsed, Parser, byte, decimal, dispatch};
///
/// let number = dispatch(|next, i| match next {
///     b'-' => (byte(b'-'), decimal::<i32>()).map(|(_, n)| -n).parse(i),
///     _ => decimal::<i32>().parse(i),
/// });
/// assert_eq!(number.parse(&mut In::whole(b"-7")), Ok(-7));
/// ```
pub const fn dispatch<'a, T, F: Fn(u8, &mut In<'a>) -> Parsed<T>>(pick: F) -> Dispatch<F> {
    Dispatch(pick)
}

/// See [`dispatch`].
#[derive(Clone, Copy, Debug)]
pub struct Dispatch<F>(F);

impl<'a, T, F: Fn(u8, &mut In<'a>) -> Parsed<T>> Parser<'a> for Dispatch<F> {
    type Output = T;

    #[inline(always)]
    fn parse(&self, i: &mut In<'a>) -> Parsed<T> {
        let next = crate::peek_byte().parse(i)?;
        (self.0)(next, i)
    }
}

/// The value of one of two parsers that differ in what they give.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Either<A, B> {
    /// The first matched.
    Left(A),
    /// The second matched, where the first failed.
    Right(B),
}

/// The first of two that does not fail, where they give different things. [`choice`] is for those that give the same.
///
/// ```
/// use thrum_parse::{Either, In, Parser, class, decimal, either, take_while1};
///
/// let word = either(decimal::<u16>(), take_while1(&class::ALPHA));
/// assert_eq!(word.parse(&mut In::whole(b"42")), Ok(Either::Left(42)));
/// assert_eq!(word.parse(&mut In::whole(b"ab")), Ok(Either::Right(&b"ab"[..])));
/// ```
pub const fn either<P, Q>(left: P, right: Q) -> EitherOf<P, Q> {
    EitherOf(left, right)
}

/// See [`either`].
#[derive(Clone, Copy, Debug)]
pub struct EitherOf<P, Q>(P, Q);

impl<'a, P: Parser<'a>, Q: Parser<'a>> Parser<'a> for EitherOf<P, Q> {
    type Output = Either<P::Output, Q::Output>;

    #[inline(always)]
    fn parse(&self, i: &mut In<'a>) -> Parsed<Self::Output> {
        let start = i.position();
        match self.0.parse(i) {
            Ok(value) => return Ok(Either::Left(value)),
            Err(stop) => give_up(i, start, stop)?,
        }
        self.1.parse(i).map(Either::Right)
    }
}

/// Its value, or `None` where it fails.
///
/// ```
/// use thrum_parse::{In, Parser, byte, opt};
///
/// assert_eq!(opt(byte(b'+')).parse(&mut In::whole(b"+1")), Ok(Some(b'+')));
/// assert_eq!(opt(byte(b'+')).parse(&mut In::whole(b"1")), Ok(None));
/// ```
pub const fn opt<P>(parser: P) -> Opt<P> {
    Opt(parser)
}

/// See [`opt`].
#[derive(Clone, Copy, Debug)]
pub struct Opt<P>(P);

impl<'a, P: Parser<'a>> Parser<'a> for Opt<P> {
    type Output = Option<P::Output>;

    #[inline(always)]
    fn parse(&self, i: &mut In<'a>) -> Parsed<Self::Output> {
        let start = i.position();
        match self.0.parse(i) {
            Ok(value) => Ok(Some(value)),
            Err(stop) => {
                give_up(i, start, stop)?;
                Ok(None)
            }
        }
    }
}

/// Its value; the input stays where it was.
///
/// ```
/// use thrum_parse::{In, Parser, peek, tag};
///
/// let mut i = In::whole(b"GET /");
/// assert!(peek(tag(b"GET")).parse(&mut i).is_ok());
/// assert_eq!(i.position(), 0);
/// ```
pub const fn peek<P>(parser: P) -> Peek<P> {
    Peek(parser)
}

/// See [`peek`].
#[derive(Clone, Copy, Debug)]
pub struct Peek<P>(P);

impl<'a, P: Parser<'a>> Parser<'a> for Peek<P> {
    type Output = P::Output;

    #[inline(always)]
    fn parse(&self, i: &mut In<'a>) -> Parsed<P::Output> {
        let (start, committed) = (i.position(), i.committed());
        let value = self.0.parse(i)?;
        i.rewind(start, committed);
        Ok(value)
    }
}

/// Nothing, where this parser fails; the input stays where it was.
///
/// ```
/// use thrum_parse::{In, Parser, class, not_followed_by, satisfy, tag, terminated};
///
/// let keyword = terminated(tag(b"let"), not_followed_by(satisfy(&class::ALPHA)));
/// assert!(keyword.parse(&mut In::whole(b"let x")).is_ok());
/// assert!(keyword.parse(&mut In::whole(b"letter")).is_err());
/// ```
pub const fn not_followed_by<P>(parser: P) -> NotFollowedBy<P> {
    NotFollowedBy(parser)
}

/// See [`not_followed_by`].
#[derive(Clone, Copy, Debug)]
pub struct NotFollowedBy<P>(P);

impl<'a, P: Parser<'a>> Parser<'a> for NotFollowedBy<P> {
    type Output = ();

    #[inline(always)]
    fn parse(&self, i: &mut In<'a>) -> Parsed<()> {
        let start = i.position();
        // What it would take is what is not expected.
        let mut ahead = i.unnoted();
        match self.0.parse(&mut ahead) {
            Ok(_) => {
                ahead.rewind(start, start);
                Err(i.fail(Reason::Unexpected))
            }
            Err(Stop::Need(need)) => {
                let need = ahead.soonest(need);
                Err(i.short_as(&ahead, need))
            }
            Err(stop) => ahead.backtrack(start, stop),
        }
    }
}

/// The second of two values, one after the other.
///
/// ```
/// use thrum_parse::{In, Parser, byte, decimal, preceded};
///
/// assert_eq!(preceded(byte(b'#'), decimal::<u8>()).parse(&mut In::whole(b"#7")), Ok(7));
/// ```
pub const fn preceded<P, Q>(before: P, parser: Q) -> Preceded<P, Q> {
    Preceded(before, parser)
}

/// See [`preceded`].
#[derive(Clone, Copy, Debug)]
pub struct Preceded<P, Q>(P, Q);

impl<'a, P: Parser<'a>, Q: Parser<'a>> Parser<'a> for Preceded<P, Q> {
    type Output = Q::Output;

    #[inline(always)]
    fn parse(&self, i: &mut In<'a>) -> Parsed<Q::Output> {
        self.0.parse(i)?;
        self.1.parse(i)
    }
}

/// The first of two values, one after the other.
///
/// ```
/// use thrum_parse::{In, Parser, byte, decimal, terminated};
///
/// assert_eq!(terminated(decimal::<u8>(), byte(b'%')).parse(&mut In::whole(b"7%")), Ok(7));
/// ```
pub const fn terminated<P, Q>(parser: P, after: Q) -> Terminated<P, Q> {
    Terminated(parser, after)
}

/// See [`terminated`].
#[derive(Clone, Copy, Debug)]
pub struct Terminated<P, Q>(P, Q);

impl<'a, P: Parser<'a>, Q: Parser<'a>> Parser<'a> for Terminated<P, Q> {
    type Output = P::Output;

    #[inline(always)]
    fn parse(&self, i: &mut In<'a>) -> Parsed<P::Output> {
        let value = self.0.parse(i)?;
        self.1.parse(i)?;
        Ok(value)
    }
}

/// The value between two others.
///
/// ```
/// use thrum_parse::{In, Parser, byte, decimal, delimited};
///
/// let inside = delimited(byte(b'('), decimal::<u8>(), byte(b')'));
/// assert_eq!(inside.parse(&mut In::whole(b"(7)")), Ok(7));
/// ```
pub const fn delimited<P, Q, R>(before: P, parser: Q, after: R) -> Delimited<P, Q, R> {
    Delimited(before, parser, after)
}

/// See [`delimited`].
#[derive(Clone, Copy, Debug)]
pub struct Delimited<P, Q, R>(P, Q, R);

impl<'a, P, Q, R> Parser<'a> for Delimited<P, Q, R>
where
    P: Parser<'a>,
    Q: Parser<'a>,
    R: Parser<'a>,
{
    type Output = Q::Output;

    #[inline(always)]
    fn parse(&self, i: &mut In<'a>) -> Parsed<Q::Output> {
        self.0.parse(i)?;
        let value = self.1.parse(i)?;
        self.2.parse(i)?;
        Ok(value)
    }
}

/// Two values with a separator between them.
///
/// ```
/// use thrum_parse::{In, Parser, byte, decimal, separated_pair};
///
/// let size = separated_pair(decimal::<u8>(), byte(b'x'), decimal::<u8>());
/// assert_eq!(size.parse(&mut In::whole(b"80x25")), Ok((80, 25)));
/// ```
pub const fn separated_pair<P, S, Q>(first: P, separator: S, second: Q) -> SeparatedPair<P, S, Q> {
    SeparatedPair(first, separator, second)
}

/// See [`separated_pair`].
#[derive(Clone, Copy, Debug)]
pub struct SeparatedPair<P, S, Q>(P, S, Q);

impl<'a, P, S, Q> Parser<'a> for SeparatedPair<P, S, Q>
where
    P: Parser<'a>,
    S: Parser<'a>,
    Q: Parser<'a>,
{
    type Output = (P::Output, Q::Output);

    #[inline(always)]
    fn parse(&self, i: &mut In<'a>) -> Parsed<Self::Output> {
        let first = self.0.parse(i)?;
        self.1.parse(i)?;
        let second = self.2.parse(i)?;
        Ok((first, second))
    }
}

/// Goes back to where an alternative started, to try another one. What was noted of its contexts is dropped.
///
/// # Errors
/// `stop`, if it is final. What it needs is made as little as an alternative may do with.
#[inline(always)]
pub(crate) fn give_up(i: &mut In<'_>, start: usize, stop: Stop) -> Parsed<()> {
    if let Stop::Need(need) = stop {
        return Err(Stop::Need(i.soonest(need)));
    }
    i.backtrack(start, stop)?;
    i.inside(GIVEN_UP, start, stop);
    Ok(())
}
