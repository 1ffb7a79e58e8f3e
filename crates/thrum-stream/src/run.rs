//! Running a source into a sink.

use std::future::{Future, poll_fn};
use std::pin::pin;
use std::task::Poll;

use crate::{Result, Sink, Source, Step};

/// Runs until the source has ended or the sink has enough, then closes both.
pub(crate) async fn run<S, K>(mut source: S, mut sink: K) -> Result<K::Output>
where
    S: Source,
    K: Sink<S::Item>,
{
    let fed = feed(&mut source, &mut sink).await;
    finish(source.close(), sink, fed).await
}

/// Feeds the sink until it has enough, which is `true`, or the source has ended.
pub(crate) async fn feed<S, K>(source: &mut S, sink: &mut K) -> Result<bool>
where
    S: Source,
    K: Sink<S::Item>,
{
    while sink.wants().await? {
        let next = match source.ready()? {
            Step::Item(item) => Some(item),
            Step::Done => None,
            Step::Need => wait(source, sink).await?,
        };
        match next {
            Some(item) => sink.push(item).await?,
            None => return Ok(false),
        }
    }
    Ok(true)
}

/// Waits for the next item. What the sink has gathered is not to wait for what may be long in coming.
async fn wait<S, K>(source: &mut S, sink: &mut K) -> Result<Option<S::Item>>
where
    S: Source,
    K: Sink<S::Item>,
{
    let mut next = pin!(source.next());
    match poll_fn(|cx| Poll::Ready(next.as_mut().poll(cx))).await {
        Poll::Ready(next) => next,
        Poll::Pending => {
            sink.flush().await?;
            next.await
        }
    }
}

/// Ends a sink that was fed, and its source by `closing` it. The first error is the one that is told.
pub(crate) async fn finish<I: Send, K: Sink<I>>(
    closing: impl Future<Output = Result<()>>,
    sink: K,
    fed: Result<bool>,
) -> Result<K::Output> {
    // The source first: what it says at its end, such as that its process failed, decides whether what came was all.
    let closed = closing.await;
    match fed.and(closed) {
        Ok(()) => sink.close().await,
        Err(error) => {
            sink.abort(&error).await;
            Err(error)
        }
    }
}
