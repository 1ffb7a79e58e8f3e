//! Groups of items that don't wait for long.

use std::future::poll_fn;
use std::pin::pin;
use std::task::Poll;
use std::time::Duration;

use thrum_rt::time::Deadline;

use crate::{Result, Source};

/// Items in groups that don't wait for long: [`Source::batch_timeout`].
#[derive(Debug)]
pub struct BatchTimeout<S: Source> {
    source: S,
    size: usize,
    duration: Duration,
    items: Vec<S::Item>,
    /// Set while there are items.
    deadline: Deadline,
}

impl<S: Source> BatchTimeout<S> {
    pub(super) fn new(source: S, size: usize, duration: Duration) -> Self {
        assert!(size > 0, "a batch has at least one item");
        BatchTimeout {
            source,
            size,
            duration,
            items: Vec::new(),
            deadline: Deadline::new(),
        }
    }
}

impl<S: Source> Source for BatchTimeout<S> {
    type Item = Vec<S::Item>;

    async fn next(&mut self) -> Result<Option<Vec<S::Item>>> {
        while self.items.len() < self.size {
            let mut next = pin!(self.source.next());
            let deadline = &mut self.deadline;
            let next = poll_fn(|cx| match next.as_mut().poll(cx) {
                Poll::Ready(next) => Poll::Ready(next),
                // Too old: as at the end, what there is goes.
                Poll::Pending => deadline.poll_expired(cx).map(|()| Ok(None)),
            });
            let Some(item) = next.await? else {
                break;
            };
            if self.items.is_empty() {
                self.deadline.set(self.duration);
            }
            self.items.push(item);
        }
        self.deadline.clear();
        let items = std::mem::take(&mut self.items);
        Ok(Some(items).filter(|items| !items.is_empty()))
    }

    async fn close(self) -> Result<()> {
        self.source.close().await
    }
}
