//! Parsers made of parsers.

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
                    Err(stop) => i.backtrack(start, stop)?,
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
                i.backtrack(start, stop)?;
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
        let start = i.position();
        let value = self.0.parse(i)?;
        i.rewind(start);
        Ok(value)
    }
}

/// See [`Parser::map`].
#[derive(Clone, Copy, Debug)]
pub struct Map<P, F>(pub(crate) P, pub(crate) F);

impl<'a, P: Parser<'a>, T, F: Fn(P::Output) -> T> Parser<'a> for Map<P, F> {
    type Output = T;

    #[inline(always)]
    fn parse(&self, i: &mut In<'a>) -> Parsed<T> {
        Ok((self.1)(self.0.parse(i)?))
    }
}

/// See [`Parser::try_map`].
#[derive(Clone, Copy, Debug)]
pub struct TryMap<P, F>(pub(crate) P, pub(crate) F);

impl<'a, P, T, R, F> Parser<'a> for TryMap<P, F>
where
    P: Parser<'a>,
    R: Into<Reason>,
    F: Fn(P::Output) -> Result<T, R>,
{
    type Output = T;

    #[inline(always)]
    fn parse(&self, i: &mut In<'a>) -> Parsed<T> {
        let start = i.position();
        let value = self.0.parse(i)?;
        match (self.1)(value) {
            Ok(value) => Ok(value),
            Err(reason) => Err(i.fail_at(start, reason.into())),
        }
    }
}

/// See [`Parser::value`].
#[derive(Clone, Copy, Debug)]
pub struct Value<P, T>(pub(crate) P, pub(crate) T);

impl<'a, P: Parser<'a>, T: Clone> Parser<'a> for Value<P, T> {
    type Output = T;

    #[inline(always)]
    fn parse(&self, i: &mut In<'a>) -> Parsed<T> {
        self.0.parse(i)?;
        Ok(self.1.clone())
    }
}

/// See [`Parser::spanned`].
#[derive(Clone, Copy, Debug)]
pub struct Spanned<P>(pub(crate) P);

impl<'a, P: Parser<'a>> Parser<'a> for Spanned<P> {
    type Output = crate::Span;

    #[inline(always)]
    fn parse(&self, i: &mut In<'a>) -> Parsed<crate::Span> {
        let start = i.position();
        self.0.parse(i)?;
        Ok(i.span_from(start))
    }
}

/// See [`Parser::recognize`].
#[derive(Clone, Copy, Debug)]
pub struct Recognize<P>(pub(crate) P);

impl<'a, P: Parser<'a>> Parser<'a> for Recognize<P> {
    type Output = &'a [u8];

    #[inline(always)]
    fn parse(&self, i: &mut In<'a>) -> Parsed<&'a [u8]> {
        let start = i.position();
        self.0.parse(i)?;
        Ok(i.slice_from(start))
    }
}

/// See [`Parser::cut`].
#[derive(Clone, Copy, Debug)]
pub struct Cut<P>(pub(crate) P);

impl<'a, P: Parser<'a>> Parser<'a> for Cut<P> {
    type Output = P::Output;

    #[inline(always)]
    fn parse(&self, i: &mut In<'a>) -> Parsed<P::Output> {
        self.0.parse(i).map_err(Stop::into_cut)
    }
}

/// See [`Parser::must`].
#[derive(Clone, Copy, Debug)]
pub struct Must<P>(pub(crate) P, pub(crate) Reason);

impl<'a, P: Parser<'a>> Parser<'a> for Must<P> {
    type Output = P::Output;

    #[inline(always)]
    fn parse(&self, i: &mut In<'a>) -> Parsed<P::Output> {
        self.0.parse(i).map_err(|stop| match stop {
            // The end of the input speaks for itself.
            Stop::Fail { at, reason } if reason != Reason::EndOfInput => {
                Stop::Cut { at, reason: self.1 }
            }
            other => other.into_cut(),
        })
    }
}

/// See [`Parser::context`].
#[derive(Clone, Copy, Debug)]
pub struct Context<P>(pub(crate) P, pub(crate) &'static str);

impl<'a, P: Parser<'a>> Parser<'a> for Context<P> {
    type Output = P::Output;

    #[inline(always)]
    fn parse(&self, i: &mut In<'a>) -> Parsed<P::Output> {
        let start = i.position();
        let parsed = self.0.parse(i);
        if let Err(stop) = parsed {
            i.inside(self.1, start, stop);
        }
        parsed
    }
}
