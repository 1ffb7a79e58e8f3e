//! What [`Parser`]'s own methods make of a parser.

use std::str;

use crate::stop::{Parsed, Reason, Stop};
use crate::{In, Parser, Span};

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
    type Output = Span;

    #[inline(always)]
    fn parse(&self, i: &mut In<'a>) -> Parsed<Span> {
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

/// See [`Parser::label`].
#[derive(Clone, Copy, Debug)]
pub struct Label<P>(pub(crate) P, pub(crate) &'static str);

impl<'a, P: Parser<'a>> Parser<'a> for Label<P> {
    type Output = P::Output;

    #[inline(always)]
    fn parse(&self, i: &mut In<'a>) -> Parsed<P::Output> {
        let (start, before) = (i.position(), i.expectations());
        let parsed = self.0.parse(i);
        if parsed.is_err() {
            i.label(start, before, self.1);
        }
        parsed
    }
}

/// See [`Parser::verify`].
#[derive(Clone, Copy, Debug)]
pub struct Verify<P, F>(pub(crate) P, pub(crate) F);

impl<'a, P: Parser<'a>, F: Fn(&P::Output) -> bool> Parser<'a> for Verify<P, F> {
    type Output = P::Output;

    #[inline(always)]
    fn parse(&self, i: &mut In<'a>) -> Parsed<P::Output> {
        let start = i.position();
        let value = self.0.parse(i)?;
        if (self.1)(&value) {
            Ok(value)
        } else {
            Err(i.fail_at(start, Reason::Rejected))
        }
    }
}

/// See [`Parser::flat_map`].
#[derive(Clone, Copy, Debug)]
pub struct FlatMap<P, F>(pub(crate) P, pub(crate) F);

impl<'a, P, Q, F> Parser<'a> for FlatMap<P, F>
where
    P: Parser<'a>,
    Q: Parser<'a>,
    F: Fn(P::Output) -> Q,
{
    type Output = Q::Output;

    #[inline(always)]
    fn parse(&self, i: &mut In<'a>) -> Parsed<Q::Output> {
        let value = self.0.parse(i)?;
        (self.1)(value).parse(i)
    }
}

/// See [`Parser::with_span`].
#[derive(Clone, Copy, Debug)]
pub struct WithSpan<P>(pub(crate) P);

impl<'a, P: Parser<'a>> Parser<'a> for WithSpan<P> {
    type Output = (P::Output, Span);

    #[inline(always)]
    fn parse(&self, i: &mut In<'a>) -> Parsed<Self::Output> {
        let start = i.position();
        let value = self.0.parse(i)?;
        Ok((value, i.span_from(start)))
    }
}

/// See [`Parser::text`].
#[derive(Clone, Copy, Debug)]
pub struct Text<P>(pub(crate) P);

impl<'a, P: Parser<'a, Output = &'a [u8]>> Parser<'a> for Text<P> {
    type Output = &'a str;

    #[inline(always)]
    fn parse(&self, i: &mut In<'a>) -> Parsed<&'a str> {
        let bytes = self.0.parse(i)?;
        str::from_utf8(bytes).map_err(|error| {
            let start = i.span_of(bytes).start as usize;
            crate::utf8::bad(i, start + error.valid_up_to())
        })
    }
}

/// See [`Parser::fail_with`].
#[derive(Clone, Copy, Debug)]
pub struct FailWith<P>(pub(crate) P, pub(crate) Reason);

impl<'a, P: Parser<'a>> Parser<'a> for FailWith<P> {
    type Output = P::Output;

    #[inline(always)]
    fn parse(&self, i: &mut In<'a>) -> Parsed<P::Output> {
        self.0.parse(i).map_err(|stop| match stop {
            // The end of the input speaks for itself.
            Stop::Fail { at, reason } if reason != Reason::EndOfInput => {
                Stop::Fail { at, reason: self.1 }
            }
            other => other,
        })
    }
}
