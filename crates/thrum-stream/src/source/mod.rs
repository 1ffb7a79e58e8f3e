//! Where items come from.
//!
//! | source | gives |
//! |---|---|
//! | [`iter`](iter()) | what an iterator gives |
//! | [`stream`](stream()) | what a stream of `futures` gives |
//! | [`reader`](reader()) | bytes from whatever can be read: sockets, pipes, files, slices |

use std::borrow::Cow;
use std::future::Future;

use bytes::Bytes;
use futures_core::Stream;

mod items;
mod reader;

pub use self::items::{Iter, iter};
pub use self::reader::{Reader, reader};
use crate::adapt::{self, IntoReader};
pub use crate::adapt::{FromStream, stream};
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

    /// A stream of `futures`. After the end the source is closed; if that fails, its error comes last.
    fn into_stream(self) -> impl Stream<Item = Result<Self::Item>> + Send
    where
        Self: Sized,
    {
        adapt::into_stream(self)
    }

    /// Something to read the bytes from.
    ///
    /// ```
    /// use thrum_rt::io::AsyncReadExt;
    /// use thrum_stream::{Source, source};
    ///
    /// # thrum_rt::block_on(async {
    /// let pieces = source::iter([b"one, ".as_slice(), b"two"]).pipe(thrum_stream::stage::map(bytes::Bytes::from));
    /// let mut text = String::new();
    /// pieces.into_reader().read_to_string(&mut text).await?;
    /// assert_eq!(text, "one, two");
    /// # std::io::Result::Ok(())
    /// # }).unwrap();
    /// ```
    fn into_reader<'a>(self) -> IntoReader<'a>
    where
        Self: Source<Item = Bytes> + Sized + 'a,
    {
        IntoReader::new(self)
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
