//! An end to waiting.

use std::future::poll_fn;
use std::pin::pin;
use std::task::Poll;
use std::time::Duration;

use thrum_rt::time::Deadline;

use crate::{Cause, Error, Result, Source};

/// A source that is waited for only so long: [`Source::timeout`].
#[derive(Debug)]
pub struct Timeout<S> {
    source: S,
    duration: Duration,
    /// Set while an item is waited for. It is kept here so that a wait that is given up and begun anew counts as one.
    deadline: Deadline,
}

impl<S> Timeout<S> {
    pub(super) fn new(source: S, duration: Duration) -> Self {
        Timeout {
            source,
            duration,
            deadline: Deadline::new(),
        }
    }
}

impl<S: Source> Source for Timeout<S> {
    type Item = S::Item;

    async fn next(&mut self) -> Result<Option<S::Item>> {
        let mut next = pin!(self.source.next());
        let next = poll_fn(|cx| {
            if let Poll::Ready(next) = next.as_mut().poll(cx) {
                self.deadline.clear();
                return Poll::Ready(next);
            }
            if !self.deadline.is_set() {
                self.deadline.set(self.duration);
            }
            let expired = self.deadline.poll_expired(cx);
            expired.map(|()| Err(Error::new("timeout", Cause::TimedOut(self.duration))))
        });
        next.await
    }

    async fn close(self) -> Result<()> {
        self.source.close().await
    }
}
