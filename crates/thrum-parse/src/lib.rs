//! Incremental parser combinators over bytes, at hand-written speed.
//!
//! A parser runs over one contiguous buffer, from left to right, and answers one of four things: *done*, with a value;
//! *need*, because the buffer ends before the answer does; *fail*, so that an alternative may be tried; or *cut*, so
//! that none is. Outputs are slices of the caller's buffer, or [`Span`]s that stay right when the buffer moves.
//!
//! ```
//! use thrum_parse::{ByteSet, In, Parsed, Parser, byte, decimal, take_while1};
//!
//! static WORD: ByteSet = ByteSet::new().range(b'a', b'z');
//!
//! /// `name=42;`
//! fn setting<'a>(i: &mut In<'a>) -> Parsed<(&'a [u8], u16)> {
//!     let name = take_while1(&WORD).parse(i)?;
//!     byte(b'=').parse(i)?;
//!     let value = decimal::<u16>().parse(i)?;
//!     byte(b';').parse(i)?;
//!     Ok((name, value))
//! }
//!
//! assert_eq!(setting(&mut In::whole(b"answer=42;")), Ok((&b"answer"[..], 42)));
//! // More of the input may come: this is not an error yet.
//! assert!(setting(&mut In::partial(b"answer=4")).unwrap_err().is_need());
//! ```
//!
//! | module | what is in it |
//! |---|---|
//! | `input` | [`In`], the input and the place in it; [`Span`] |
//! | `stop` | [`Stop`], [`Need`], [`Reason`]: why there is no value, in 8 bytes |
//! | `set` | [`ByteSet`], a set of bytes known to the compiler |
//! | [`class`] | [`Class`]: a set or a closure; the classes of ASCII by name |
//! | `bytes` | [`byte`], [`satisfy`], [`any_byte`], [`peek_byte`], [`tag`], [`tag_no_case`], [`take`], [`skip`] |
//! | `run` | [`take_while`], [`take_while1`], [`take_till`], [`take_till1`], [`skip_while`], [`skip_while1`], [`scan()`] |
//! | `until` | [`take_until`], [`line()`], [`end_of_line`], [`take_rest`], [`end_of_input`], [`at_end`] |
//! | `utf8` | [`char()`], [`any_char`], [`satisfy_char`], [`take_while_char`], [`take_while_char1`], [`string`] |
//! | `number` | [`decimal`], [`signed`], [`hexadecimal`], [`octal`], [`binary`], with overflow an error |
//! | `float` | [`float()`], [`scientific`] |
//! | [`word`] | [`word::be`], [`word::le`]: integers and floats of a fixed size |
//! | `parser`, `adapter` | [`Parser`] and what its methods make of one |
//! | `combine` | [`choice`], [`either`], [`dispatch`], [`opt`], [`peek`], [`not_followed_by`], [`preceded`], [`terminated`], [`delimited`], [`separated_pair`] |
//! | `repeat` | [`many`], [`many_count`], [`count`], [`sep_by`], [`sep_end_by`], [`many_till`]; [`Repeat::fold`] |
//! | `window` | [`within`], [`length_prefixed`], [`length_value`] |
//! | `outcome` | [`run()`]: a value, what is needed, or what is wrong in words |
//! | `explanation` | [`explain`]: runs a parser that failed once more, to say where, what was expected, and inside what |
//! | `resume`, `feed` | [`Resume`], [`Feed`]: running a parser over input that arrives in pieces |
//! | `simd` | scanning runs of bytes 16 or 32 at a time; [`Level`] |
//! | [`http`] | HTTP/1.1 request and response heads, chunk lines and trailers; CGI response heads |
//! | [`json`] | JSON, whole or in pieces |
//! | [`log_line`] | lines of an access log, Common and Combined |
//! | [`uri`] | URIs, request targets, `Host`; percent-encoding, paths, queries |
//! | [`guide`] | a page: how to write a grammar |
//! | [`from_attoparsec`] | a page without code: where each of attoparsec's names went |
//!
//! # Input that arrives in pieces
//! Whether more may come is a property of the input ([`In::whole`], [`In::partial`]), never of the parser. A grammar
//! calls [`In::commit`] after each step: a restart goes back no further, what lies before may be released, and no
//! alternative reaches behind it. What a grammar found so far belongs into the caller's storage; nothing of a parser
//! survives a restart. A parser that keeps nothing is run by [`Feed`] or [`Resume::value`], which start it over. [`http::HeadParser`] shows the whole pattern in one screen, and keeps its promise by a test:
//! *every byte is passed over at most twice, however the input is cut into pieces.*
//!
//! Keeping the state of every combinator instead, so that each could go on in the middle, was rejected: it makes whole
//! input pay for pieces. Starting over at the first byte was rejected too: it lets a client that sends one byte a time
//! spend the server's time by the square.
//!
//! # Speed
//! A [`ByteSet`] is built by the compiler in the forms that the scanners want. A parser that is marked
//! `#[inline(always)]` throughout and is started through [`simd::fastest`] is compiled once for each instruction set,
//! with the scanners inside; any other parser works as well and calls them. The error is 8 bytes; making it friendly is
//! left to [`explain`].
#![deny(unsafe_code)]

mod adapter;
mod bytes;
pub mod class;
mod combine;
mod explanation;
mod feed;
mod float;
pub mod from_attoparsec;
pub mod guide;
pub mod http;
mod input;
pub mod json;
pub mod log_line;
mod number;
mod outcome;
mod parser;
mod repeat;
mod resume;
mod run;
mod set;
pub mod simd;
mod stop;
mod until;
pub mod uri;
mod utf8;
mod window;
pub mod word;

pub use adapter::{
    Context, Cut, FailWith, FlatMap, Label, Map, Must, Recognize, Spanned, Text, TryMap, Value,
    Verify, WithSpan,
};
pub use bytes::{
    AnyByte, Byte, PeekByte, Satisfy, Skip, Tag, TagNoCase, Take, any_byte, byte, peek_byte,
    satisfy, skip, tag, tag_no_case, take,
};
pub use class::Class;
pub use combine::{
    Choice, Choices, Delimited, Dispatch, Either, EitherOf, NotFollowedBy, Opt, Peek, Preceded,
    SeparatedPair, Terminated, choice, delimited, dispatch, either, not_followed_by, opt, peek,
    preceded, separated_pair, terminated,
};
pub use explanation::{Expected, Explanation, explain, explain_partial};
pub use feed::{Fault, Feed};
pub use float::{Float, FloatOf, Scientific, float, scientific};
pub use input::{In, Span};
pub use number::{Digits, Integer, Signed, binary, decimal, hexadecimal, octal, signed};
pub use outcome::{Needed, Outcome, run};
pub use parser::Parser;
pub use repeat::{
    Count, Fold, Many, ManyCount, ManyTill, Repeat, Repetition, SepBy, count, many, many_count,
    many_till, sep_by, sep_end_by,
};
pub use resume::Resume;
pub use run::{
    Scan, ScanState, SkipWhile, TakeWhile, scan, skip_while, skip_while1, take_till, take_till1,
    take_while, take_while1,
};
pub use set::ByteSet;
pub use simd::Level;
pub use stop::{Need, Parsed, Reason, Stop};
pub use until::{
    AtEnd, EndOfInput, EndOfLine, Line, TakeRest, TakeUntil, at_end, end_of_input, end_of_line,
    line, take_rest, take_until,
};
pub use utf8::{
    AnyChar, Char, SatisfyChar, StringOf, TakeWhileChar, any_char, char, satisfy_char, string,
    take_while_char, take_while_char1,
};
pub use window::{LengthPrefixed, LengthValue, Within, length_prefixed, length_value, within};
