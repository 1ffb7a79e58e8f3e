//! Where items go, and what comes of them.
//!
//! | sink | its result |
//! |---|---|
//! | [`futures`](futures()) | none: a sink of `futures` |
//! | [`fold`], [`try_fold`], [`count`], [`head`], [`last`] | one value |
//! | [`collect`], [`concat()`], [`text`] | all items, all bytes, all text, up to a limit |
//! | [`hash()`] | the hash of the bytes |
//! | [`for_each`], [`for_each_async`], [`drain`] | nothing: something is done with each item |
//! | [`writer`] | how many bytes were written to whatever can be written: sockets, pipes |
//! | [`file()`], [`file_atomic`] | how many bytes were written to a file, as they come or all or nothing |
//! | [`process`] | what a child process made of the bytes |
//! | [`channel`] | how many items were sent to other tasks |
//! | [`both`], [`all`] | those of several sinks over one pass |

use std::borrow::Cow;
use std::future::Future;

mod channel;
mod each;
mod file;
mod file_atomic;
mod gather;
mod hash;
mod process;
mod several;
mod writer;

pub use self::channel::{Channel, channel};
pub use self::each::{Drain, ForEach, ForEachAsync, drain, for_each, for_each_async};
pub use self::file::{File, file};
pub use self::file_atomic::{FileAtomic, file_atomic};
pub use self::gather::{
    Collect, Concat, Count, Fold, Head, Last, Text, TryFold, collect, concat, count, fold, head,
    last, text, try_fold,
};
pub use self::hash::{Hash, hash};
pub use self::process::{Process, process};
pub use self::several::{All, Both, all, both};
pub use self::writer::{Writer, writer};
use crate::adapt::IntoSink;
pub use crate::adapt::{FromSink, futures};
use crate::{Error, Named, Result};

/// Something that takes one item after the other and has a result at the end.
///
/// Implement it with `async fn push` and `async fn close`; the rest has defaults.
pub trait Sink<I: Send>: Send {
    /// What comes of it.
    type Output: Send;

    /// Whether it wants another item. Asked before each; a sink that has enough is not fed any more, and nothing is read
    /// for it in vain. By default it always does.
    ///
    /// Nobody asks while an item is waited for: that the other side of a sink has gone is seen with the next item.
    ///
    /// # Errors
    /// As [`push`](Sink::push).
    fn wants(&mut self) -> impl Future<Output = Result<bool>> + Send {
        async { Ok(true) }
    }

    /// Takes an item. It is waited for before the next one comes.
    ///
    /// # Errors
    /// Whatever keeps it from being taken. The sink gets nothing more but [`abort`](Sink::abort).
    fn push(&mut self, item: I) -> impl Future<Output = Result<()>> + Send;

    /// Passes on what was gathered. Called when there is nothing to push for now. By default nothing is gathered.
    ///
    /// # Errors
    /// As [`push`](Sink::push).
    fn flush(&mut self) -> impl Future<Output = Result<()>> + Send {
        async { Ok(()) }
    }

    /// What was pushed and not used, first things first: for whoever reads on. Asked at most once, when it wants no more;
    /// then comes the close. At the end of the source it is not asked.
    fn rest(&mut self) -> Vec<I> {
        Vec::new()
    }

    /// Ends it well: what was gathered is passed on, what it holds is closed and waited for.
    ///
    /// # Errors
    /// Whatever keeps it from ending well.
    fn close(self) -> impl Future<Output = Result<Self::Output>> + Send
    where
        Self: Sized;

    /// Ends it after an error, its own or that of another: what was half made is taken away. By default it is only dropped.
    fn abort(self, error: &Error) -> impl Future<Output = ()> + Send
    where
        Self: Sized,
    {
        let _ = error;
        async {}
    }

    /// A sink of `futures`. That has no way to say that it has enough: what is sent to it then is dropped.
    fn into_futures<'a>(self) -> IntoSink<'a, Self, Self::Output>
    where
        Self: Sized,
    {
        IntoSink::new(self)
    }

    /// The same with a name of your own in its errors.
    fn named(self, name: impl Into<Cow<'static, str>>) -> Named<Self>
    where
        Self: Sized,
    {
        Named::new(self, name)
    }
}
