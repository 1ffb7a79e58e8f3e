//! A page without code: how to write a grammar.
//!
//! # Terminals, rules, values
//! Keep each set of bytes in a `static`, named as the protocol's text names it: [`ByteSet`], or one of [`class`]. A rule
//! is a function from [`In`] to [`Parsed`], with `?` for "and then"; inside it, combinators. Limits are part of the
//! rules: every repetition and every number that becomes a size has one.
//!
//! Here is a value of Redis' protocol, RESP. Arrays hold values, so the rule calls itself; how deep, it is told.
//!
//! ```
//! use thrum_parse::{
//!     Feed, In, Parsed, Parser, any_byte, byte, choice, count, decimal, dispatch, signed, tag, take, take_until,
//! };
//!
//! #[derive(Clone, Debug, PartialEq)]
//! enum Reply {
//!     Status(String),
//!     Integer(i64),
//!     Bulk(Vec<u8>),
//!     Null,
//!     Array(Vec<Reply>),
//! }
//!
//! fn reply(depth: u8) -> impl Fn(&mut In<'_>) -> Parsed<Reply> {
//!     move |i| {
//!         let crlf = tag(b"\r\n");
//!         dispatch(|kind, i| match kind {
//!             b':' => (any_byte(), signed(), crlf).map(|(_, n, _)| Reply::Integer(n)).parse(i),
//!             b'$' => choice((tag(b"$-1\r\n").value(Reply::Null), bulk)).parse(i),
//!             b'*' if depth > 0 => {
//!                 let length = decimal::<usize>().verify(|&n| n <= 1000).context("a length");
//!                 let (_, length, _) = (any_byte(), length, crlf).parse(i)?;
//!                 count(length, reply(depth - 1)).map(Reply::Array).context("an array").parse(i)
//!             }
//!             _ => (byte(b'+').label("a value"), take_until(b"\r\n", 512).text(), crlf)
//!                 .map(|(_, text, _)| Reply::Status(text.to_owned()))
//!                 .parse(i),
//!         })
//!         .parse(i)
//!     }
//! }
//!
//! fn bulk(i: &mut In<'_>) -> Parsed<Reply> {
//!     let length = decimal::<usize>().verify(|&n| n <= 65536).context("a length");
//!     let (_, length, _) = (any_byte(), length, tag(b"\r\n")).parse(i)?;
//!     let (bytes, _) = (take(length), tag(b"\r\n")).context("a bulk string").parse(i)?;
//!     Ok(Reply::Bulk(bytes.to_vec()))
//! }
//!
//! // It comes in whatever pieces the network likes.
//! let reply = reply(8);
//! let mut feed = Feed::new(100_000);
//! feed.push(b"*2\r\n$3\r\nfo");
//! assert_eq!(feed.next(&reply).unwrap(), None);
//! feed.push(b"o\r\n:-7\r\n$3\r\nbart\r\n");
//! let array = Reply::Array(vec![Reply::Bulk(b"foo".to_vec()), Reply::Integer(-7)]);
//! assert_eq!(feed.next(&reply).unwrap(), Some(array));
//! assert_eq!(
//!     feed.next(&reply).unwrap_err().to_string(),
//!     "byte 25: 2:4: expected \"\\r\\n\" in a bulk string, found 't'\n  bart\n     ^"
//! );
//! ```
//!
//! # Alternatives
//! [`choice`] tries one after the other, from the same place. Where the next byte tells, [`dispatch`] needs not try.
//! Once it is clear which rule it is, [`cut`](Parser::cut) what must follow, or [`must`](Parser::must) with a reason of
//! your own: the error is then where the author of the input went wrong, and not at the start of the last alternative.
//! Left-associative operators are a first operand and a repetition: `many(0..=99, (operator, operand)).fold(|| first, ..)`.
//!
//! # Errors
//! [`explain`] says where, what was expected there, and inside what. Give it words: [`context`](Parser::context) for what
//! has begun, [`label`](Parser::label) for what has not, most of all where a closure decides.
//!
//! # Pieces
//! While more may come, a parser that meets the end of the buffer answers [`Stop::Need`]. Rules of combinators do so by
//! themselves. A rule that looks at [`In::next_byte`] has to think of `None`: it is the end of the input only if the input
//! [is whole](In::is_whole); `opt(peek_byte())` tells the two apart.
//!
//! [`Feed`] starts a value over when more of it has come. That is right for values that are small or end with a known byte
//! ([`Feed::until`]). One of many parts, such as an array above, is gone over again for each part that is cut in two: a
//! limit that is tight bounds the work. Where values are large, keep what was found in a struct, [commit](In::commit)
//! after each part, and let [`Resume`] go on at the last commit. So do the events of `text/event-stream`, line by line:
//!
//! ```
//! use thrum_parse::{In, Parsed, Parser, Resume, line};
//!
//! /// Fields up to an empty line; what they say is put together in `data`.
//! fn event(i: &mut In<'_>, data: &mut String) -> Parsed<()> {
//!     loop {
//!         let field = line(8192).text().parse(i)?;
//!         match field.split_once(':') {
//!             Some(("data", value)) => {
//!                 data.push_str(value.strip_prefix(' ').unwrap_or(value));
//!                 data.push('\n');
//!             }
//!             _ if field.is_empty() => return Ok(()),
//!             _ => {}
//!         }
//!         i.commit(); // it is in `data`, and is not to be put there again
//!     }
//! }
//!
//! let (mut resume, mut data) = (Resume::new().until(b'\n'), String::new());
//! let input = b"id: 7\ndata: one\ndata: two\n\n";
//! for end in 0..input.len() {
//!     assert_eq!(resume.parse(&input[..end], false, 16384, |i| event(i, &mut data)), Ok(None));
//! }
//! let taken = resume.parse(input, false, 16384, |i| event(i, &mut data));
//! assert_eq!((taken, data.as_str()), (Ok(Some(((), input.len()))), "one\ntwo\n"));
//! ```
//!
//! # Speed
//! - Runs of a set are scanned by blocks, those of a closure byte by byte. `take_while(const { &STOP.not() })` is faster
//!   than `take_till(&STOP)`.
//! - [`simd::fastest`] and [`Resume`] compile a grammar once for each instruction set, as far as it is inlined. A function
//!   that is handed to an adapter (`rule.context(..)`) is called through a shim of the compiler's that is not. So write a
//!   hot rule as a unit struct that implements [`Parser`] with `#[inline(always)]`, or call the function:
//!   `#[inline(always)] fn rule` and `rule(i)?`. `log_line` does both.
//! - Give out slices or [`Span`]s, and fold instead of collecting.

#[allow(unused_imports, reason = "for the links above")]
use crate::*;
