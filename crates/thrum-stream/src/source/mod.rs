//! Where items come from.
//!
//! | source | gives |
//! |---|---|
//! | [`stream`](stream()) | what a stream of `futures` gives |
//! | [`iter()`], [`try_iter`], [`once`], [`empty`] | what an iterator gives; one item; none |
//! | [`unfold`] | what an asynchronous function gives |
//! | [`reader`] | bytes from whatever can be read: sockets, pipes, slices |
//! | [`file()`], [`file_range`] | bytes of a file or a part of it |
//! | [`process`] | what a child process writes |
//! | [`channel`] | what other tasks send |
//! | [`merge_all`] | what any of several sources gives |
//!
//! What waits or joins is a method of a source:
//!
//! | method | what becomes of the items |
//! |---|---|
//! | [`chain`](Source::chain), [`merge`](Source::merge), [`zip`](Source::zip) | those of two sources: after each other, as they come, in pairs |
//! | [`tee`](Source::tee) | a copy of each goes into a sink |
//! | [`map_async`](Source::map_async), [`map_concurrent`](Source::map_concurrent) | changed by code that waits: one by one, several at a time |
//! | [`ahead`](Source::ahead) | made in a task of its own, before they are wanted |
//! | [`timeout`](Source::timeout), [`throttle`](Source::throttle) | waited for only so long; given only so often |
//! | [`batch_timeout`](Source::batch_timeout) | put in groups that don't wait for long |
//!
//! All of these are cancel safe, as every source is, and their close closes all of their sources.

use std::borrow::Cow;
use std::error::Error as StdError;
use std::future::Future;
use std::time::Duration;

use bytes::Bytes;
use futures_core::Stream;

mod ahead;
mod batch_timeout;
mod buffers;
mod chain;
mod channel;
mod file;
mod items;
mod map_async;
mod map_concurrent;
mod merge;
mod process;
mod reader;
mod task;
mod tee;
mod throttle;
mod timeout;
mod unfold;
mod zip;

pub use self::ahead::Ahead;
pub use self::batch_timeout::BatchTimeout;
pub use self::chain::Chain;
pub use self::channel::{Channel, channel};
pub use self::file::{File, file, file_range};
pub use self::items::{Iter, TryIter, empty, iter, once, try_iter};
pub use self::map_async::MapAsync;
pub use self::map_concurrent::MapConcurrent;
pub use self::merge::{Merge, MergeAll, merge_all};
pub use self::process::{Process, process};
pub use self::reader::{Reader, reader};
pub use self::tee::Tee;
pub use self::throttle::Throttle;
pub use self::timeout::Timeout;
pub use self::unfold::{Unfold, unfold};
pub use self::zip::Zip;
use crate::adapt::{self, IntoReader};
pub use crate::adapt::{FromStream, stream};
use crate::stage::Pipe;
use crate::{Named, Result, Resumable, Sink, Stage, Step, run};

/// Something that gives one item after the other.
///
/// Implement it with `async fn next`. It is to be cancel safe: a `next` that is dropped before it is done has lost no
/// item.
pub trait Source: Send {
    /// What it gives. Bytes come as [`Bytes`], in pieces that are as large as they came.
    type Item: Send;

    /// The next item; `None` at the end, and from then on.
    ///
    /// # Errors
    /// Whatever keeps it from giving one. It has ended then, and is not to be asked again.
    fn next(&mut self) -> impl Future<Output = Result<Option<Self::Item>>> + Send;

    /// The next item if it is at hand, and nobody has to be asked or waited for: what is left of a piece that came before.
    /// [`Step::Need`], the default, says that only [`next`](Source::next) can tell. It is what makes many small items of a
    /// large one cheap.
    ///
    /// # Errors
    /// As [`next`](Source::next).
    fn ready(&mut self) -> Result<Step<Self::Item>> {
        Ok(Step::Need)
    }

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
    ///
    /// ```
    /// use std::pin::pin;
    ///
    /// use futures_lite::StreamExt;
    /// use thrum_stream::{Source, source};
    ///
    /// # thrum_rt::block_on(async {
    /// let mut numbers = pin!(source::iter(1..=3).into_stream());
    /// while let Some(number) = numbers.next().await {
    ///     println!("{}", number?);
    /// }
    /// # thrum_stream::Result::Ok(())
    /// # }).unwrap();
    /// ```
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
    /// use thrum_stream::{Bytes, Source, source};
    ///
    /// # thrum_rt::block_on(async {
    /// let pieces = source::iter(["one, ", "two"].map(Bytes::from));
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

    /// The items of this source, then those of `other`. Both stay open until the close. Buffer: none.
    ///
    /// ```
    /// use thrum_stream::{Source, sink, source};
    ///
    /// # thrum_rt::block_on(async {
    /// let all = source::iter([1, 2]).chain(source::iter([3]));
    /// assert_eq!(all.run(sink::collect(10)).await?, [1, 2, 3]);
    /// # thrum_stream::Result::Ok(())
    /// # }).unwrap();
    /// ```
    fn chain<B: Source<Item = Self::Item>>(self, other: B) -> Chain<Self, B>
    where
        Self: Sized,
    {
        Chain::new(self, other)
    }

    /// The items of this source and of `other` as they come; while both have some, they take turns. It ends when both
    /// have, or with the first error. Buffer: none.
    ///
    /// For more than two see [`merge_all`].
    ///
    /// ```
    /// use thrum_stream::{Source, sink, source};
    ///
    /// # thrum_rt::block_on(async {
    /// let all = source::iter([1, 2, 3]).merge(source::iter([10]));
    /// assert_eq!(all.run(sink::collect(10)).await?, [1, 10, 2, 3]);
    /// # thrum_stream::Result::Ok(())
    /// # }).unwrap();
    /// ```
    fn merge<B: Source<Item = Self::Item>>(self, other: B) -> Merge<Self, B>
    where
        Self: Sized,
    {
        Merge::new(self, other)
    }

    /// Pairs of an item of this source and one of `other`. It ends with the shorter one.
    ///
    /// This one is read first: when it has ended, nothing was read of `other` in vain; when `other` has ended before, one
    /// item of this one was, and is lost. To wait for both at the same time, have them read [`ahead`](Source::ahead).
    ///
    /// Buffer: one item.
    ///
    /// ```
    /// use thrum_stream::{Source, sink, source};
    ///
    /// # thrum_rt::block_on(async {
    /// let pairs = source::iter(1..).zip(source::iter(["one", "two"]));
    /// assert_eq!(pairs.run(sink::collect(10)).await?, [(1, "one"), (2, "two")]);
    /// # thrum_stream::Result::Ok(())
    /// # }).unwrap();
    /// ```
    fn zip<B: Source>(self, other: B) -> Zip<Self, B>
    where
        Self: Sized,
    {
        Zip::new(self, other)
    }

    /// The same items; a copy of each goes into `sink`, which runs in a task of its own, and `done` gets its result. The
    /// slower of the two readers sets the pace.
    ///
    /// When the source has ended, its close closes the sink and waits for it. In any other case the sink has not seen all,
    /// and is aborted: after an error, and when what is behind has had enough and the source is closed before its end.
    /// (Behind a [`take`](crate::stage::take) or [`take_bytes`](crate::stage::take_bytes), what these let through is all.)
    /// A sink that has had enough itself is closed there and then, and the items go on without it.
    ///
    /// Buffer: two items, and what the sink holds.
    ///
    /// ```
    /// use thrum_stream::{Source, sink, source};
    ///
    /// # thrum_rt::block_on(async {
    /// let mut sum = 0;
    /// let numbers = source::iter(1..=4).tee(sink::fold(0, |sum, n| *sum += n), |all| sum = all);
    /// assert_eq!(numbers.run(sink::count()).await?, 4);
    /// assert_eq!(sum, 10);
    /// # thrum_stream::Result::Ok(())
    /// # }).unwrap();
    /// ```
    ///
    /// Dropping it aborts the task: nothing more is done for the sink.
    ///
    /// # Errors
    /// Those of the sink end it, at the next item or at the close.
    ///
    /// # Panics
    /// Outside a runtime. A panic of the sink goes on in whoever reads.
    #[track_caller]
    fn tee<K, F>(self, sink: K, done: F) -> Tee<Self, K::Output, F>
    where
        Self: Sized,
        Self::Item: Clone + 'static,
        K: Sink<Self::Item, Output: 'static> + 'static,
        F: FnOnce(K::Output) + Send,
    {
        Tee::new(self, sink, done)
    }

    /// The items changed by an async function, one after the other, in their order. Buffer: the item in work.
    ///
    /// A `next` that is dropped does not drop the item in work: it goes on with the following `next`. The close drops it.
    ///
    /// ```
    /// use std::time::Duration;
    /// use thrum_rt::time::sleep;
    /// use thrum_stream::{Result, Source, sink, source};
    ///
    /// # thrum_rt::block_on(async {
    /// let slow = source::iter([1, 2]).map_async(async |n| {
    ///     sleep(Duration::from_millis(n)).await;
    ///     Result::Ok(2 * n)
    /// });
    /// assert_eq!(slow.run(sink::collect(10)).await?, [2, 4]);
    /// # thrum_stream::Result::Ok(())
    /// # }).unwrap();
    /// ```
    ///
    /// # Errors
    /// The first one of `change`: an [`Error`](crate::Error) as it is, any other one in the stage `"map_async"`.
    fn map_async<T, E, F, Fut>(self, change: F) -> MapAsync<Self, F, Fut>
    where
        Self: Sized,
        E: Into<Box<dyn StdError + Send + Sync>>,
        F: FnMut(Self::Item) -> Fut,
        Fut: Future<Output = std::result::Result<T, E>>,
    {
        MapAsync::new(self, change)
    }

    /// The items changed by an async function, up to `limit` at a time (at least one), each in a task of its own. They
    /// come in their order. Buffer: `limit` items, in work or done.
    ///
    /// The tasks run on while nobody reads. The close aborts those that run; dropping the source does too.
    ///
    /// ```
    /// use std::time::Duration;
    /// use thrum_rt::time::sleep;
    /// use thrum_stream::{Result, Source, sink, source};
    ///
    /// # thrum_rt::block_on(async {
    /// let slow = source::iter([20, 10]).map_concurrent(2, |ms| async move {
    ///     sleep(Duration::from_millis(ms)).await;
    ///     Result::Ok(ms)
    /// });
    /// assert_eq!(slow.run(sink::collect(10)).await?, [20, 10]);
    /// # thrum_stream::Result::Ok(())
    /// # }).unwrap();
    /// ```
    ///
    /// # Errors
    /// Those of `change`, in the order of the items: an [`Error`](crate::Error) as it is, any other one in the stage
    /// `"map_concurrent"`. One of the source comes after the items before it.
    ///
    /// # Panics
    /// When it is read outside a runtime. A panic of `change` goes on in whoever reads, in the place of its item.
    fn map_concurrent<T, E, F, Fut>(
        self,
        limit: usize,
        change: F,
    ) -> MapConcurrent<Self, F, Fut::Output>
    where
        Self: Sized,
        E: Into<Box<dyn StdError + Send + Sync>>,
        F: FnMut(Self::Item) -> Fut,
        Fut: Future<Output = std::result::Result<T, E>>,
    {
        MapConcurrent::new(self, limit, change)
    }

    /// Runs this source, with the stages behind it, in a task of its own that starts at once and reads up to `items` ahead
    /// (at least one). Buffer: `items` items, and the one that waits for room.
    ///
    /// Errors come in their place, from the stage in which they were. The task closes the source when it has ended; the
    /// close stops the task wherever it waits, has it close the source, and waits for it. Dropping it aborts the task.
    ///
    /// ```
    /// use thrum_stream::{Source, sink, source, stage};
    ///
    /// # thrum_rt::block_on(async {
    /// let log = source::reader(&b"GET /\nPUT /a\n"[..]);
    /// let lines = log.ahead(4).pipe(stage::lines(80)); // reading here, cutting into lines there
    /// assert_eq!(lines.run(sink::count()).await?, 2);
    /// # thrum_stream::Result::Ok(())
    /// # }).unwrap();
    /// ```
    ///
    /// # Panics
    /// Outside a runtime. A panic of the source goes on in whoever reads or closes, after the items before it.
    #[track_caller]
    fn ahead(self, items: usize) -> Ahead<Self>
    where
        Self: Sized + 'static,
        Self::Item: 'static,
    {
        Ahead::new(self, items)
    }

    /// The same items, each waited for no longer than `duration` (and up to 11 ms more). The time of whoever reads does not
    /// count: the clock runs from the first `next` that has to wait until the item comes, also when a `next` is dropped
    /// and begun anew. Buffer: none.
    ///
    /// ```
    /// use std::time::Duration;
    /// use thrum_stream::{Cause, Source, sink, source};
    ///
    /// # thrum_rt::block_on(async {
    /// let (_near, far) = thrum_rt::io::duplex(10);
    /// let silent = source::reader(far).timeout(Duration::from_millis(5));
    /// let error = silent.run(sink::count()).await.unwrap_err();
    /// assert!(matches!(error.cause(), Cause::TimedOut(_)));
    /// # });
    /// ```
    ///
    /// # Errors
    /// [`Cause::TimedOut`](crate::Cause::TimedOut) when the time is over.
    fn timeout(self, duration: Duration) -> Timeout<Self>
    where
        Self: Sized,
    {
        Timeout::new(self, duration)
    }

    /// The same items, `per_second` of them in a second; after a pause up to `burst` at once. None is read before it may
    /// pass. Buffer: none.
    ///
    /// ```
    /// use std::time::{Duration, Instant};
    /// use thrum_stream::{Source, sink, source};
    ///
    /// # thrum_rt::block_on(async {
    /// let begin = Instant::now();
    /// source::iter(0..5).throttle(100, 3).run(sink::count()).await?;
    /// assert!(begin.elapsed() >= Duration::from_millis(20));
    /// # thrum_stream::Result::Ok(())
    /// # }).unwrap();
    /// ```
    ///
    /// # Panics
    /// If `per_second` or `burst` is zero.
    fn throttle(self, per_second: u64, burst: u64) -> Throttle<Self, fn(&Self::Item) -> u64>
    where
        Self: Sized,
    {
        Throttle::new(self, per_second, burst, |_| 1)
    }

    /// As [`throttle`](Source::throttle), with the cost of each item told by `cost`; bytes cost their length:
    /// `throttle_by(1_000_000, 65_536, |piece: &Bytes| piece.len() as u64)`.
    ///
    /// An item passes when a cost of 1 may, and what it costs above is waited for after it. So none is too large, and in
    /// any time the most that passes is `burst`, what `per_second` gives, and the rest of one item.
    ///
    /// # Panics
    /// If `per_second` or `burst` is zero.
    fn throttle_by<F>(self, per_second: u64, burst: u64, cost: F) -> Throttle<Self, F>
    where
        Self: Sized,
        F: FnMut(&Self::Item) -> u64 + Send,
    {
        Throttle::new(self, per_second, burst, cost)
    }

    /// Items in groups of `size`; a group goes before it is full when its first item is `duration` old (and up to 11 ms
    /// more), and at the end. None is empty. Buffer: `size` items.
    ///
    /// Dropping a `next` before it is done keeps the group that has begun. An error of the source drops it.
    ///
    /// ```
    /// use std::time::Duration;
    /// use thrum_stream::{Source, sink, source};
    ///
    /// # thrum_rt::block_on(async {
    /// let rows = source::iter(1..=3).batch_timeout(2, Duration::from_secs(1));
    /// assert_eq!(rows.run(sink::collect(10)).await?, [vec![1, 2], vec![3]]);
    /// # thrum_stream::Result::Ok(())
    /// # }).unwrap();
    /// ```
    ///
    /// # Panics
    /// If `size` is zero.
    fn batch_timeout(self, size: usize, duration: Duration) -> BatchTimeout<Self>
    where
        Self: Sized,
    {
        BatchTimeout::new(self, size, duration)
    }
}

/// A source that is lent: [`close`](Source::close) leaves it open.
impl<S: Source> Source for &mut S {
    type Item = S::Item;

    fn next(&mut self) -> impl Future<Output = Result<Option<S::Item>>> + Send {
        (**self).next()
    }

    fn ready(&mut self) -> Result<Step<S::Item>> {
        (**self).ready()
    }
}
