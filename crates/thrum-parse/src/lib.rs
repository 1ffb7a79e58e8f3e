//! Incremental parser combinators over bytes, at hand-written speed.
//!
//! * [`Input`] is a cursor over one contiguous buffer. Parsers answer a value, [`Stop::Need`] when the buffer ends too early
//!   and more may come, or a failure; outputs are [`Span`]s, so nothing is copied and the buffer may move.
//! * The parsers that grammars are made of: [`byte`], [`tag`], [`take_while`], [`decimal`], [`many`], [`opt`], [`choice!`] ...
//! * [`ByteSet`] is a set of bytes built at compile time, scanned 32 bytes at a time where the CPU can ([`Level`]).
//! * [`http`] holds grammars that are ready to use: the HTTP/1.1 request head, chunk lines, trailers.
//!
//! ```
//! use thrum_parse::{ByteSet, Input, Level, Parsed, Portable, Span, byte, decimal, take_while1};
//!
//! /// `name=12`
//! fn setting<L: Level>(input: &mut Input<'_, L>) -> Parsed<(Span, u64)> {
//!     const LETTER: ByteSet = ByteSet::range(b'a', b'z');
//!     let name = take_while1(&LETTER)(input)?;
//!     byte(b'=')(input)?;
//!     Ok((name, decimal(input)?))
//! }
//!
//! let text = b"width=12";
//! let (name, value) = setting(&mut Input::complete(Portable, text)).unwrap();
//! assert_eq!((name.of(text), value), (&b"width"[..], 12));
//! ```
//!
//! # Incremental parsing
//! A grammar is run from its start again when more has come. What bounds the work is its driver, see
//! [`http::HeadParser`]: it tries once, then only looks for the terminator from where it stopped, then parses once more. So
//! every byte is examined at most twice, plus one scan, whatever the chunks.

mod byte_set;
mod combinators;
pub mod http;
mod input;
mod scan;

pub use byte_set::ByteSet;
pub use combinators::{
    byte, cut, decimal, end, hexadecimal, many, opt, or_else, recognize, tag, take, take_while,
    take_while1,
};
pub use input::{Expected, Input, Parsed, Span, Stop, What};
#[cfg(target_arch = "x86_64")]
pub use scan::Avx2;
#[cfg(target_arch = "aarch64")]
pub use scan::Neon;
pub use scan::{Level, Portable};
