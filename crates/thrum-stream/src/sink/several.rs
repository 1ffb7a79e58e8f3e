//! Several sinks over one pass.

use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::task::Poll;

use futures_lite::future::try_zip;

use crate::{Error, Result, Sink};

/// Each item to `a` and to `b`, at once: the slower one sets the pace. Their results come as a pair.
///
/// One that has enough gets no more; it is full when both have enough. What is left over is what the one left over that
/// wanted items last; if both did, `a`. (A stage that ends what both get, such as
/// [`take_bytes`](crate::stage::take_bytes), belongs before them, not in each.) Both are closed at the end, first `a`; if that fails, `b` is aborted. After an
/// error of one, both are aborted.
///
/// Buffer: one item, and those of `a` and `b`.
///
/// ```
/// use thrum_stream::{Source, sink, source};
///
/// # thrum_rt::block_on(async {
/// let numbers = source::iter([3, 1, 2]);
/// let (first, count) = numbers.run(sink::both(sink::head(), sink::count())).await?;
/// assert_eq!((first, count), (Some(3), 3));
/// # thrum_stream::Result::Ok(())
/// # }).unwrap();
/// ```
pub const fn both<A, B>(a: A, b: B) -> Both<A, B> {
    Both {
        a: Lane::new(a),
        b: Lane::new(b),
    }
}

/// See [`both`].
#[derive(Clone, Debug)]
pub struct Both<A, B> {
    a: Lane<A>,
    b: Lane<B>,
}

impl<I, A, B> Sink<I> for Both<A, B>
where
    I: Clone + Send,
    A: Sink<I>,
    B: Sink<I>,
{
    type Output = (A::Output, B::Output);

    async fn wants(&mut self) -> Result<bool> {
        try_zip(self.a.ask(), self.b.ask()).await?;
        Ok(self.a.wants || self.b.wants)
    }

    async fn push(&mut self, item: I) -> Result<()> {
        try_zip(self.a.push(item.clone()), self.b.push(item)).await?;
        Ok(())
    }

    async fn flush(&mut self) -> Result<()> {
        try_zip(self.a.sink.flush(), self.b.sink.flush()).await?;
        Ok(())
    }

    fn rest(&mut self) -> Vec<I> {
        if self.b.fed && !self.a.fed {
            self.b.sink.rest()
        } else {
            self.a.sink.rest()
        }
    }

    async fn close(self) -> Result<(A::Output, B::Output)> {
        match self.a.sink.close().await {
            Ok(a) => Ok((a, self.b.sink.close().await?)),
            Err(error) => {
                self.b.sink.abort(&error).await;
                Err(error)
            }
        }
    }

    async fn abort(self, error: &Error) {
        self.a.sink.abort(error).await;
        self.b.sink.abort(error).await;
    }
}

/// Each item to each of `sinks`, at once: the slowest one sets the pace. Their results come in the same order.
///
/// All that is said of [`both`] holds here, too: the first of several takes the part of `a`. Of no sinks it has enough from
/// the start.
///
/// It allocates a little for each item and sink: [`both`] does not.
///
/// Buffer: one item, and those of the sinks.
///
/// ```
/// use thrum_stream::{Source, Stage, sink, source, stage};
///
/// # thrum_rt::block_on(async {
/// let multiples = |of| stage::filter(move |n| n % of == 0).to(sink::count());
/// let counts = source::iter(1..=10).run(sink::all([2, 3, 5].map(multiples))).await?;
/// assert_eq!(counts, [5, 3, 2]);
/// # thrum_stream::Result::Ok(())
/// # }).unwrap();
/// ```
pub fn all<K>(sinks: impl IntoIterator<Item = K>) -> All<K> {
    All(sinks.into_iter().map(Lane::new).collect())
}

/// See [`all`].
#[derive(Clone, Debug)]
pub struct All<K>(Vec<Lane<K>>);

impl<I: Clone + Send, K: Sink<I>> Sink<I> for All<K> {
    type Output = Vec<K::Output>;

    async fn wants(&mut self) -> Result<bool> {
        let lanes = self.0.iter_mut();
        try_join(lanes.map(|lane| Box::pin(lane.ask())).collect()).await?;
        Ok(self.0.iter().any(|lane| lane.wants))
    }

    async fn push(&mut self, item: I) -> Result<()> {
        let lanes = self.0.iter_mut();
        let pushes = lanes.map(|lane| Box::pin(lane.push(item.clone())));
        try_join(pushes.collect()).await
    }

    async fn flush(&mut self) -> Result<()> {
        let lanes = self.0.iter_mut();
        try_join(lanes.map(|lane| Box::pin(lane.sink.flush())).collect()).await
    }

    fn rest(&mut self) -> Vec<I> {
        let last = self.0.iter().position(|lane| lane.fed).unwrap_or(0);
        let last = self.0.get_mut(last);
        last.map_or(Vec::new(), |lane| lane.sink.rest())
    }

    async fn close(self) -> Result<Vec<K::Output>> {
        let mut results = Vec::with_capacity(self.0.len());
        let mut lanes = self.0.into_iter();
        while let Some(lane) = lanes.next() {
            match lane.sink.close().await {
                Ok(result) => results.push(result),
                Err(error) => {
                    abort(lanes, &error).await;
                    return Err(error);
                }
            }
        }
        Ok(results)
    }

    async fn abort(self, error: &Error) {
        abort(self.0.into_iter(), error).await;
    }
}

async fn abort<I: Send, K: Sink<I>>(lanes: std::vec::IntoIter<Lane<K>>, error: &Error) {
    for lane in lanes {
        lane.sink.abort(error).await;
    }
}

/// One of several sinks.
#[derive(Clone, Debug)]
struct Lane<K> {
    sink: K,
    wants: bool,
    /// Whether it got the last item.
    fed: bool,
}

impl<K> Lane<K> {
    const fn new(sink: K) -> Self {
        Lane {
            sink,
            wants: true,
            fed: false,
        }
    }

    /// Asks whether it wants an item, unless it has said no.
    async fn ask<I: Send>(&mut self) -> Result<()>
    where
        K: Sink<I>,
    {
        self.wants = self.wants && self.sink.wants().await?;
        Ok(())
    }

    async fn push<I: Send>(&mut self, item: I) -> Result<()>
    where
        K: Sink<I>,
    {
        self.fed = self.wants;
        if self.wants {
            self.sink.push(item).await?;
        }
        Ok(())
    }
}

/// Waits for all, or for the first error.
async fn try_join<F: Future<Output = Result<()>>>(mut futures: Vec<Pin<Box<F>>>) -> Result<()> {
    poll_fn(|cx| {
        let mut done = Ok(());
        futures.retain_mut(|future: &mut Pin<Box<F>>| match future.as_mut().poll(cx) {
            Poll::Pending => true,
            Poll::Ready(Ok(())) => false,
            Poll::Ready(error) => {
                done = error;
                false
            }
        });
        if done.is_ok() && !futures.is_empty() {
            return Poll::Pending;
        }
        Poll::Ready(done)
    })
    .await
}
