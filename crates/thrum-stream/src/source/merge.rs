//! The items of several sources as they come.

use std::collections::VecDeque;
use std::future::poll_fn;
use std::pin::pin;
use std::task::Poll;

use futures_lite::future::poll_once;

use crate::{Result, Source};

/// The items of two sources as they come: [`Source::merge`].
#[derive(Debug)]
pub struct Merge<A, B> {
    one: A,
    other: B,
    one_ended: bool,
    other_ended: bool,
    /// Whether `other` is asked first.
    others_turn: bool,
}

impl<A, B> Merge<A, B> {
    pub(super) fn new(one: A, other: B) -> Self {
        Merge {
            one,
            other,
            one_ended: false,
            other_ended: false,
            others_turn: false,
        }
    }
}

impl<A: Source, B: Source<Item = A::Item>> Source for Merge<A, B> {
    type Item = A::Item;

    async fn next(&mut self) -> Result<Option<A::Item>> {
        let (mut one, mut other) = (pin!(self.one.next()), pin!(self.other.next()));
        let next = poll_fn(|cx| {
            for others in [self.others_turn, !self.others_turn] {
                let (polled, ended) = match others {
                    false if !self.one_ended => (one.as_mut().poll(cx), &mut self.one_ended),
                    true if !self.other_ended => (other.as_mut().poll(cx), &mut self.other_ended),
                    _ => continue,
                };
                match polled {
                    Poll::Ready(Ok(None)) => *ended = true,
                    Poll::Ready(next) => {
                        self.others_turn = !others;
                        return Poll::Ready(next);
                    }
                    Poll::Pending => {}
                }
            }
            if self.one_ended && self.other_ended {
                Poll::Ready(Ok(None))
            } else {
                Poll::Pending
            }
        });
        next.await
    }

    async fn close(self) -> Result<()> {
        let (one, other) = thrum_rt::join!(self.one.close(), self.other.close());
        one.and(other)
    }
}

/// The items of any number of sources as they come. It ends when all have, or with the first error.
///
/// Sources that have items take turns. Waiting asks all of them at each wake-up: for more than a few dozen, have tasks
/// send to a channel.
///
/// ```
/// use thrum_stream::{Source, sink, source};
///
/// # thrum_rt::block_on(async {
/// let all = source::merge_all([source::iter([1, 2]), source::iter([10, 20])]);
/// assert_eq!(all.run(sink::collect(9)).await?, [1, 10, 2, 20]);
/// # thrum_stream::Result::Ok(())
/// # }).unwrap();
/// ```
///
/// Buffer: none.
pub fn merge_all<S: Source>(sources: impl IntoIterator<Item = S>) -> MergeAll<S> {
    MergeAll {
        open: sources.into_iter().collect(),
        ended: Vec::new(),
    }
}

/// See [`merge_all`].
#[derive(Debug)]
pub struct MergeAll<S> {
    /// The next one whose turn it is first.
    open: VecDeque<S>,
    ended: Vec<S>,
}

impl<S: Source> MergeAll<S> {
    /// The next answer of any of them, and the place of that one.
    async fn any(&mut self) -> Option<(usize, Result<Option<S::Item>>)> {
        // Most often one is ready, and there is nothing to allocate.
        for (place, source) in self.open.iter_mut().enumerate() {
            if let Some(next) = poll_once(source.next()).await {
                return Some((place, next));
            }
        }
        let all = self.open.iter_mut().enumerate();
        thrum_rt::race_all(all.map(async |(place, source)| (place, source.next().await))).await
    }
}

impl<S: Source> Source for MergeAll<S> {
    type Item = S::Item;

    async fn next(&mut self) -> Result<Option<S::Item>> {
        while let Some((place, next)) = self.any().await {
            if let Some(item) = next? {
                self.open.rotate_left(place + 1);
                return Ok(Some(item));
            }
            self.ended.extend(self.open.remove(place));
        }
        Ok(None)
    }

    async fn close(self) -> Result<()> {
        let mut closed = Ok(());
        for source in self.open.into_iter().chain(self.ended) {
            closed = closed.and(source.close().await);
        }
        closed
    }
}
