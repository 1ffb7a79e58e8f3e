//! One source after the other.

use crate::{Result, Source};

/// Two sources, one after the other: [`Source::chain`].
#[derive(Debug)]
pub struct Chain<A, B> {
    first: A,
    second: B,
    first_ended: bool,
}

impl<A, B> Chain<A, B> {
    pub(super) fn new(first: A, second: B) -> Self {
        Chain {
            first,
            second,
            first_ended: false,
        }
    }
}

impl<A: Source, B: Source<Item = A::Item>> Source for Chain<A, B> {
    type Item = A::Item;

    async fn next(&mut self) -> Result<Option<A::Item>> {
        if !self.first_ended {
            if let Some(item) = self.first.next().await? {
                return Ok(Some(item));
            }
            self.first_ended = true;
        }
        self.second.next().await
    }

    async fn close(self) -> Result<()> {
        let (first, second) = thrum_rt::join!(self.first.close(), self.second.close());
        first.and(second)
    }
}
