//! Pipelines: a *source* gives items, *stages* change them on their way, a *sink* takes them and has a result.
//!
//! ```
//! use thrum_stream::{Bytes, Source, sink, source, stage};
//!
//! # thrum_rt::block_on(async {
//! let log = source::reader(&b"GET /\nPUT /a\nGET /b\n"[..]);
//! let gets = log
//!     .pipe(stage::lines(80))
//!     .pipe(stage::filter(|line: &Bytes| line.starts_with(b"GET ")))
//!     .run(sink::count())
//!     .await?;
//! assert_eq!(gets, 2);
//! # thrum_stream::Result::Ok(())
//! # }).unwrap();
//! ```
//!
//! | module | what is in it |
//! |---|---|
//! | [`source`] | [`Source`], and where items come from |
//! | [`stage`] | [`Stage`], and what may happen to them: plain code without I/O, before any sink or after any source |
//! | [`sink`] | [`Sink`], and where they go |
//! | [`Resumable`] | a source that is read by one sink after the other: parse a head, keep the rest for the body |
//! | [`Codec`], [`Framed`] | a parser and an encoder on a connection: values one way, values the other way |
//! | [`adapt`] | to and from the traits of `futures` |
//! | [`Error`], [`Cause`], [`ProcessFailed`] | what went wrong; in which stage, by a [name of your own](Named) or ours |
//! | [`Bytes`] | what most sources give: bytes whose parts are no copies |
//!
//! # How a pipeline runs
//! * **In one task.** [`Source::run`] takes an item, pushes it through the stages into the sink, and takes the next one
//!   when the sink wants one. Nothing is read ahead and nothing waits in a queue, so a slow sink slows its source down, and
//!   memory is what the stages hold: each says how much that is at most.
//! * **Written when there is nothing to read.** A sink may gather what it gets. It is told to [flush](Sink::flush) when the
//!   source has nothing ready, so answers to what came together leave together, and none waits.
//! * **Closed by name.** When the source has ended or the sink is full, both are closed, and the close of the sink gives
//!   the result. After an error the sink is [aborted](Sink::abort) and the source closed, and then the error is returned.
//!   Dropping a pipeline that runs is the bare abort: nothing is flushed, nobody is waited for.
//! * **Leftovers.** A sink that has enough hands back what it did not use; [`Resumable`] gives it to the next sink. Of stages
//!   before a sink it is the first one that does so; what is on the way behind it is lost.
#![forbid(unsafe_code)]

pub mod adapt;
mod child;
mod error;
mod framed;
mod named;
mod resumable;
mod run;
pub mod sink;
pub mod source;
pub mod stage;

pub use bytes::Bytes;
pub use child::ProcessFailed;
pub use error::{Cause, Error, Result};
pub use framed::{Codec, Framed};
pub use named::Named;
pub use resumable::Resumable;
pub use sink::Sink;
pub use source::Source;
pub use stage::{Input, Stage, Step};
