//! What a parser is, and what can be made of one.

use crate::In;
use crate::adapter::{
    Context, Cut, FailWith, FlatMap, Label, Map, Must, Recognize, Spanned, Text, TryMap, Value,
    Verify, WithSpan,
};
use crate::stop::{Parsed, Reason};

/// Something that takes a value off the front of the input.
///
/// Functions are parsers: `fn(&mut In<'a>) -> Parsed<T>`. A parser that fails leaves the input anywhere; those that try
/// an alternative go back by themselves.
///
/// ```
/// use thrum_parse::{In, Parsed, Parser, byte, decimal};
///
/// fn ratio(i: &mut In<'_>) -> Parsed<(u32, u32)> {
///     let above = decimal::<u32>().parse(i)?;
///     byte(b'/').parse(i)?;
///     let below = decimal::<u32>().parse(i)?;
///     Ok((above, below))
/// }
///
/// assert_eq!(ratio.map(|(a, b)| a * b).parse(&mut In::whole(b"6/7")), Ok(42));
/// ```
pub trait Parser<'a> {
    /// What it gives.
    type Output;

    /// Takes the value off the input.
    ///
    /// # Errors
    /// The [`Stop`](crate::Stop) that says why there is none.
    fn parse(&self, i: &mut In<'a>) -> Parsed<Self::Output>;

    /// The value changed by `change`.
    ///
    /// ```
    /// use thrum_parse::{In, Parser, take};
    ///
    /// assert_eq!(take(3).map(<[u8]>::len).parse(&mut In::whole(b"abc")), Ok(3));
    /// ```
    fn map<T, F: Fn(Self::Output) -> T>(self, change: F) -> Map<Self, F>
    where
        Self: Sized,
    {
        Map(self, change)
    }

    /// The value changed by `change`, which may say no: that fails for the reason it gives.
    ///
    /// ```
    /// use std::str;
    /// use thrum_parse::{In, Parser, Reason, take};
    ///
    /// let text = take(2).try_map(|bytes| str::from_utf8(bytes).or(Err(Reason::Rejected)));
    /// assert_eq!(text.parse(&mut In::whole(b"ok")), Ok("ok"));
    /// assert!(text.parse(&mut In::whole(b"\xff\xff")).is_err());
    /// ```
    fn try_map<T, R: Into<Reason>, F>(self, change: F) -> TryMap<Self, F>
    where
        Self: Sized,
        F: Fn(Self::Output) -> Result<T, R>,
    {
        TryMap(self, change)
    }

    /// The value, if `check` says yes to it; else it fails for [`Reason::Rejected`].
    ///
    /// ```
    /// use thrum_parse::{In, Parser, decimal};
    ///
    /// let month = decimal::<u8>().verify(|month| (1..=12).contains(month));
    /// assert_eq!(month.parse(&mut In::whole(b"12")), Ok(12));
    /// assert!(month.parse(&mut In::whole(b"13")).is_err());
    /// ```
    fn verify<F: Fn(&Self::Output) -> bool>(self, check: F) -> Verify<Self, F>
    where
        Self: Sized,
    {
        Verify(self, check)
    }

    /// Goes on with the parser that `next` makes of the value. A number that came with the input needs a limit before it
    /// becomes a size.
    ///
    /// ```
    /// use thrum_parse::{In, Parser, decimal, take};
    ///
    /// let digits = decimal::<usize>().verify(|&n| n < 100).flat_map(take);
    /// assert_eq!(digits.parse(&mut In::whole(b"2abc")), Ok(&b"ab"[..]));
    /// ```
    fn flat_map<Q: Parser<'a>, F: Fn(Self::Output) -> Q>(self, next: F) -> FlatMap<Self, F>
    where
        Self: Sized,
    {
        FlatMap(self, next)
    }

    /// The bytes as text, if they are UTF-8; else it fails at the first that is not.
    ///
    /// ```
    /// use thrum_parse::{In, Parser, take_till};
    ///
    /// let name = take_till(|byte: u8| byte == b'=').text();
    /// assert_eq!(name.parse(&mut In::whole("größe=1".as_bytes())), Ok("größe"));
    /// assert_eq!(name.parse(&mut In::whole(b"ab\xff=")).unwrap_err().at(), Some(2));
    /// ```
    fn text(self) -> Text<Self>
    where
        Self: Sized + Parser<'a, Output = &'a [u8]>,
    {
        Text(self)
    }

    /// This value in place of its own.
    ///
    /// ```
    /// use thrum_parse::{In, Parser, tag};
    ///
    /// assert_eq!(tag(b"on").value(true).parse(&mut In::whole(b"on")), Ok(true));
    /// ```
    fn value<T: Clone>(self, value: T) -> Value<Self, T>
    where
        Self: Sized,
    {
        Value(self, value)
    }

    /// Where it matched, as offsets.
    ///
    /// ```
    /// use thrum_parse::{In, Parser, Span, decimal};
    ///
    /// let span = decimal::<u8>().spanned().parse(&mut In::whole(b"42"));
    /// assert_eq!(span, Ok(Span { start: 0, end: 2 }));
    /// ```
    fn spanned(self) -> Spanned<Self>
    where
        Self: Sized,
    {
        Spanned(self)
    }

    /// The value, and where it matched, as offsets.
    ///
    /// ```
    /// use thrum_parse::{In, Parser, Span, decimal};
    ///
    /// let number = decimal::<u8>().with_span().parse(&mut In::whole(b"42"));
    /// assert_eq!(number, Ok((42, Span { start: 0, end: 2 })));
    /// ```
    fn with_span(self) -> WithSpan<Self>
    where
        Self: Sized,
    {
        WithSpan(self)
    }

    /// The bytes that it matched.
    ///
    /// ```
    /// use thrum_parse::{In, Parser, byte, decimal};
    ///
    /// let time = (decimal::<u8>(), byte(b':'), decimal::<u8>()).recognize();
    /// assert_eq!(time.parse(&mut In::whole(b"23:59.")), Ok(&b"23:59"[..]));
    /// ```
    fn recognize(self) -> Recognize<Self>
    where
        Self: Sized,
    {
        Recognize(self)
    }

    /// No alternative is tried when it fails.
    ///
    /// ```
    /// use thrum_parse::{In, Parser, byte, choice};
    ///
    /// // After a backslash there must be an n.
    /// let escaped = choice(((byte(b'\\'), byte(b'n').cut()).value(b'\n'), byte(b'\\')));
    /// assert_eq!(escaped.parse(&mut In::whole(b"\\t")).unwrap_err().at(), Some(1));
    /// ```
    fn cut(self) -> Cut<Self>
    where
        Self: Sized,
    {
        Cut(self)
    }

    /// No alternative is tried when it fails, and the reason is the grammar's own: an enum of yours that turns into
    /// [`Reason::Grammar`].
    ///
    /// ```
    /// use thrum_parse::{In, Parser, Reason, Stop, byte};
    ///
    /// const NO_COLON: Reason = Reason::Grammar(1);
    /// let stop = byte(b':').must(NO_COLON).parse(&mut In::whole(b"x"));
    /// assert_eq!(stop, Err(Stop::Cut { at: 0, reason: NO_COLON }));
    /// ```
    fn must(self, reason: impl Into<Reason>) -> Must<Self>
    where
        Self: Sized,
    {
        Must(self, reason.into())
    }

    /// Fails for a reason of the grammar's own; alternatives are still tried.
    ///
    /// ```
    /// use thrum_parse::{In, Parser, Reason, Stop, byte};
    ///
    /// const NO_COLON: Reason = Reason::Grammar(1);
    /// let stop = byte(b':').fail_with(NO_COLON).parse(&mut In::whole(b"x"));
    /// assert_eq!(stop, Err(Stop::Fail { at: 0, reason: NO_COLON }));
    /// ```
    fn fail_with(self, reason: impl Into<Reason>) -> FailWith<Self>
    where
        Self: Sized,
    {
        FailWith(self, reason.into())
    }

    /// Says what it is, for the explanation where not even its first byte matched: in place of the bytes that would have,
    /// or of nothing much, as for a closure.
    ///
    /// ```
    /// use thrum_parse::{Parser, choice, explain, satisfy, tag};
    ///
    /// let digit = satisfy(|byte: u8| byte.is_ascii_digit()).label("a digit");
    /// let explanation = explain(choice((digit, tag(b"none").value(0))), b"x").unwrap();
    /// assert_eq!(explanation.to_string(), "1:1: expected a digit or \"none\", found 'x'\n  x\n  ^");
    /// ```
    fn label(self, what: &'static str) -> Label<Self>
    where
        Self: Sized,
    {
        Label(self, what)
    }

    /// Names it, for the explanation of what went wrong inside.
    ///
    /// ```
    /// use thrum_parse::{Parser, byte, decimal, explain};
    ///
    /// let port = (byte(b':'), decimal::<u16>()).context("a port");
    /// let explanation = explain(port, b":http").unwrap();
    /// assert!(explanation.to_string().contains("in a port"));
    /// ```
    fn context(self, name: &'static str) -> Context<Self>
    where
        Self: Sized,
    {
        Context(self, name)
    }
}

impl<'a, F, T> Parser<'a> for F
where
    F: Fn(&mut In<'a>) -> Parsed<T>,
{
    type Output = T;

    #[inline(always)]
    fn parse(&self, i: &mut In<'a>) -> Parsed<T> {
        self(i)
    }
}

/// One after the other, all of their values.
macro_rules! sequence {
    ($($parser:ident)+) => {
        impl<'a, $($parser: Parser<'a>),+> Parser<'a> for ($($parser,)+) {
            type Output = ($($parser::Output,)+);

            #[inline(always)]
            #[allow(non_snake_case)]
            fn parse(&self, i: &mut In<'a>) -> Parsed<Self::Output> {
                let ($($parser,)+) = self;
                Ok(($($parser.parse(i)?,)+))
            }
        }
    };
}
sequence!(A B);
sequence!(A B C);
sequence!(A B C D);
sequence!(A B C D E);
sequence!(A B C D E F);
sequence!(A B C D E F G);
sequence!(A B C D E F G H);
sequence!(A B C D E F G H J);
sequence!(A B C D E F G H J K);
