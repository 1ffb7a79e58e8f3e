//! Where items come from.
//!
//! | source | gives |
//! |---|---|
//! | [`iter()`], [`try_iter`], [`once`], [`empty`] | what an iterator gives; one item; none |
//! | [`unfold`] | what an asynchronous function gives |
//! | [`reader`] | bytes from whatever can be read: sockets, pipes, slices |
//! | [`file()`], [`file_range`] | bytes of a file or a part of it |
//! | [`process`] | what a child process writes |
//! | [`channel`] | what other tasks send |

use std::borrow::Cow;
use std::future::Future;

mod buffers;
mod channel;
mod file;
mod items;
mod process;
mod reader;
mod unfold;

pub use self::channel::{Channel, channel};
pub use self::file::{File, file, file_range};
pub use self::items::{Iter, TryIter, empty, iter, once, try_iter};
pub use self::process::{Process, process};
pub use self::reader::{Reader, reader};
pub use self::unfold::{Unfold, unfold};
use crate::stage::Pipe;
use crate::{Named, Result, Resumable, Sink, Stage, run};

/// Something that gives one item after the other.
///
/// Implement it with `async fn next`. It is to be cancel safe: a `next` that is dropped before it is done has lost no
/// item.
pub trait Source: Send {
    /// What it gives. Bytes come as [`Bytes`](bytes::Bytes), in pieces that are as large as they came.
    type Item: Send;

    /// The next item; `None` at the end, and from then on.
    ///
    /// # Errors
    /// Whatever keeps it from giving one. It has ended then.
    fn next(&mut self) -> impl Future<Output = Result<Option<Self::Item>>> + Send;

    /// Ends it: what it holds is released and waited for. Called once, after the end, after an error, or while there
    /// would be more. By default there is nothing to do that dropping it does not.
    ///
    /// # Errors
    /// What is known only at the end, such as that the process that was read has failed.
    fn close(self) -> impl Future<Output = Result<()>> + Send
    where
        Self: Sized,
    {
        async { Ok(()) }
    }

    /// This source with `stage` behind it.
    fn pipe<T: Stage<Self::Item>>(self, stage: T) -> Pipe<Self, T>
    where
        Self: Sized,
    {
        Pipe::new(self, stage)
    }

    /// Runs it into `sink` until it has ended or the sink has enough; closes both and gives the sink's result.
    ///
    /// Dropping the future before it is done drops both: what they hold is lost.
    ///
    /// # Errors
    /// The first one of the source, a stage or the sink. The sink was aborted then, and the source closed.
    fn run<K: Sink<Self::Item>>(self, sink: K) -> impl Future<Output = Result<K::Output>> + Send
    where
        Self: Sized,
    {
        run::run(self, sink)
    }

    /// A source that can be read by one sink after the other.
    fn resumable(self) -> Resumable<Self>
    where
        Self: Sized,
    {
        Resumable::new(self)
    }

    /// The same with a name of your own in its errors.
    fn named(self, name: impl Into<Cow<'static, str>>) -> Named<Self>
    where
        Self: Sized,
    {
        Named::new(self, name)
    }
}

/// A source that is lent: [`close`](Source::close) leaves it open.
impl<S: Source> Source for &mut S {
    type Item = S::Item;

    fn next(&mut self) -> impl Future<Output = Result<Option<S::Item>>> + Send {
        (**self).next()
    }
}
