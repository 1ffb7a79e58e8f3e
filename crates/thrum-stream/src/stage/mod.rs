//! What may happen to items on their way.
//!
//! | stage | makes |
//! |---|---|
//! | [`map`], [`filter`] | other items; fewer items |
//! | [`try_map`], [`filter_map`], [`flat_map`], [`scan`] | other items: or an error; some or none; several; with a state |
//! | [`take`], [`take_while`], [`skip`], [`skip_while`] | the first items; all but those |
//! | [`batch`], [`window`] | groups; each with those before it |
//! | [`dedup`], [`intersperse`], [`enumerate`] | without repetitions; with separators; with numbers |
//! | [`inspect`], [`Tally`], [`hash()`] | the same items, seen, counted, hashed |
//! | [`lines`], [`split`], [`blocks`] | bytes cut at a byte |
//! | [`chunks`], [`take_bytes`] | bytes in pieces of one size; the first so many bytes |
//! | [`parse()`] | values that a parser finds in bytes |
//! | `compress::`, `decompress::` | gzip, zlib, deflate, Zstandard and Brotli; features `gzip`, `zstd`, `brotli` |
//! | `decode`, `encode`, `text_lines` | text of bytes in any encoding, and back; feature `encoding` |
//!
//! A stage is written before the compiler knows what it is given. So a closure whose code has to know says the type of its
//! parameter: `stage::map(|line: Bytes| line.len())`.

use std::borrow::Cow;

#[cfg(any(feature = "brotli", feature = "gzip", feature = "zstd"))]
mod coding;
#[cfg(any(feature = "brotli", feature = "gzip", feature = "zstd"))]
pub mod compress;
#[cfg(feature = "encoding")]
mod decode;
#[cfg(any(feature = "brotli", feature = "gzip", feature = "zstd"))]
pub mod decompress;
#[cfg(feature = "encoding")]
mod encode;
mod group;
mod hash;
mod items;
mod lines;
mod neighbors;
mod parse;
mod pieces;
mod pipe;
#[cfg(any(
    feature = "brotli",
    feature = "encoding",
    feature = "gzip",
    feature = "zstd"
))]
mod prefix;
mod split;
mod take;
mod take_bytes;
mod tally;
#[cfg(feature = "encoding")]
mod text_lines;
mod transform;

#[cfg(feature = "encoding")]
pub use self::decode::{Bom, Decode, decode};
#[cfg(feature = "encoding")]
pub use self::encode::{Encode, encode};
pub use self::group::{Batch, Window, batch, window};
pub use self::hash::{Hash, hash};
pub use self::items::{Filter, Map, filter, map};
pub use self::lines::{Lines, lines};
pub use self::neighbors::{Dedup, Intersperse, dedup, intersperse};
pub use self::parse::{Parse, parse};
pub use self::pipe::{Pipe, Staged, Then};
pub use self::split::{Blocks, Chunks, Split, blocks, chunks, split};
pub use self::take::{Skip, SkipWhile, Take, TakeWhile, skip, skip_while, take, take_while};
pub use self::take_bytes::{TakeBytes, take_bytes};
pub use self::tally::{Tallied, Tally};
#[cfg(feature = "encoding")]
pub use self::text_lines::text_lines;
pub use self::transform::{
    Enumerate, FilterMap, FlatMap, Inspect, Scan, TryMap, enumerate, filter_map, flat_map, inspect,
    scan, try_map,
};
use crate::{Named, Result, Sink};

/// Something that makes items of items: plain code that knows nothing of tasks or I/O. It takes an item of its [`Input`]
/// and gives what comes of it, one at a time, so that nothing queues up behind it.
///
/// ```
/// use thrum_stream::{Input, Result, Stage, Step};
///
/// /// Every number twice.
/// #[derive(Default)]
/// struct Twice(Option<u32>);
///
/// impl Stage<u32> for Twice {
///     type Item = u32;
///
///     fn step(&mut self, input: &mut Input<u32>) -> Result<Step<u32>> {
///         if let Some(again) = self.0.take() {
///             return Ok(Step::Item(again));
///         }
///         self.0 = input.take();
///         Ok(self.0.map_or(input.starved(), Step::Item))
///     }
/// }
/// ```
pub trait Stage<I>: Send {
    /// What it makes.
    type Item: Send;

    /// The next item that it can make of `input` and of what it keeps. It is asked again and again; [`Step::Need`] is
    /// right only while the input may still [be given more](Input::starved).
    ///
    /// # Errors
    /// Whatever is wrong with the input. It is not asked again then.
    fn step(&mut self, input: &mut Input<I>) -> Result<Step<Self::Item>>;

    /// What it has taken from the input and not used, first things first: for whoever reads on when this one has stopped.
    fn rest(&mut self) -> Vec<I> {
        Vec::new()
    }

    /// This stage and `next` behind it, as one.
    ///
    /// Left over is what this one has not used. What it has made and `next` has not used is not, even if both have items
    /// of one type: it is lost.
    fn then<T: Stage<Self::Item>>(self, next: T) -> Then<Self, T, Self::Item>
    where
        Self: Sized,
    {
        Then::new(self, next)
    }

    /// `sink` with this stage before it.
    ///
    /// Left over is what the stage has not used. What it has made and the sink has not used is lost.
    fn to<K: Sink<Self::Item>>(self, sink: K) -> Staged<Self, K, I>
    where
        Self: Sized,
    {
        Staged::new(self, sink)
    }

    /// The same with a name of your own in its errors.
    fn named(self, name: impl Into<Cow<'static, str>>) -> Named<Self>
    where
        Self: Sized,
    {
        Named::new(self, name)
    }
}

/// What a stage says when it is asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step<T> {
    /// An item.
    Item(T),
    /// It has to be given more first.
    Need,
    /// There will be no more: the input has ended, or the stage has had enough of it.
    Done,
}

/// What a stage is given: one item at a time, then the end.
#[derive(Clone, Debug)]
pub struct Input<I> {
    item: Option<I>,
    ended: bool,
}

impl<I> Input<I> {
    /// An input that has nothing yet.
    pub const fn new() -> Self {
        Input {
            item: None,
            ended: false,
        }
    }

    /// The item, if one was given and not yet taken.
    #[inline]
    pub fn take(&mut self) -> Option<I> {
        self.item.take()
    }

    /// Puts back what is left of an item that was taken, to be taken again.
    #[inline]
    pub fn put_back(&mut self, item: I) {
        self.item = Some(item);
    }

    /// Whether there is nothing to take and never will be.
    #[inline]
    pub fn is_at_end(&self) -> bool {
        self.ended && self.item.is_none()
    }

    /// What a stage answers that has nothing to go on: [`Step::Done`] at the end, else [`Step::Need`].
    #[inline]
    pub fn starved<T>(&self) -> Step<T> {
        if self.is_at_end() {
            Step::Done
        } else {
            Step::Need
        }
    }

    /// Gives an item to a stage that said [`Step::Need`].
    #[inline]
    pub fn give(&mut self, item: I) {
        self.item = Some(item);
    }

    /// Says that no item will follow.
    #[inline]
    pub fn end(&mut self) {
        self.ended = true;
    }
}

impl<I> Default for Input<I> {
    fn default() -> Self {
        Self::new()
    }
}
