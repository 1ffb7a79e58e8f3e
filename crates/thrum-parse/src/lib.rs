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
//! | `bytes` | [`byte`], [`tag`], [`take`], [`take_while`], [`peek_byte`], [`end_of_input`] ... |
//! | `number` | [`decimal`], [`hexadecimal`], with overflow an error |
//! | `parser`, `combine`, `repeat` | [`Parser`] and its adapters; [`choice`], [`dispatch`], [`opt`], [`peek`]; [`many`] |
//! | `explanation` | [`explain`]: runs a parser that failed once more, to say where, what was expected, and inside what |
//! | `simd` | scanning runs of bytes 16 or 32 at a time; [`Level`] |
//! | [`http`] | HTTP/1.1 heads, chunk lines and trailers |
//! | [`json`] | JSON, whole or in pieces |
//! | [`log_line`] | lines of an access log, Common and Combined |
//! | [`uri`] | URIs, request targets, `Host`; percent-encoding, paths, queries |
//!
//! # Input that arrives in pieces
//! Whether more may come is a property of the input ([`In::whole`], [`In::partial`]), never of the parser. A grammar
//! calls [`In::commit`] after each step: a restart goes back no further, what lies before may be released, and no
//! alternative reaches behind it. What a grammar found so far belongs into the caller's storage; nothing of a parser
//! survives a restart. [`http::HeadParser`] shows the whole pattern in one screen, and keeps its promise by a test:
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

mod bytes;
mod combine;
mod explanation;
pub mod http;
mod input;
pub mod json;
pub mod log_line;
mod number;
mod parser;
mod repeat;
mod set;
pub mod simd;
mod stop;
pub mod uri;

pub use bytes::{
    Byte, EndOfInput, PeekByte, Satisfy, SkipWhile, Tag, Take, TakeWhile, byte, end_of_input,
    peek_byte, satisfy, skip_while, tag, take, take_while, take_while1,
};
pub use combine::{
    Choice, Choices, Context, Cut, Dispatch, Map, Must, Opt, Peek, Recognize, Spanned, TryMap,
    Value, choice, dispatch, opt, peek,
};
pub use explanation::{Expected, Explanation, explain};
pub use input::{In, Span};
pub use number::{Decimal, Hexadecimal, Unsigned, decimal, hexadecimal};
pub use parser::Parser;
pub use repeat::{Many, ManyCount, many, many_count};
pub use set::ByteSet;
pub use simd::Level;
pub use stop::{Need, Parsed, Reason, Stop};
