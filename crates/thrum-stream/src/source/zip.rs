//! The items of two sources in pairs.

use crate::{Result, Source};

/// The items of two sources in pairs: [`Source::zip`].
#[derive(Debug)]
pub struct Zip<A: Source, B> {
    one: A,
    other: B,
    /// An item of `one` that waits for its partner.
    waiting: Option<A::Item>,
}

impl<A: Source, B> Zip<A, B> {
    pub(super) fn new(one: A, other: B) -> Self {
        Zip {
            one,
            other,
            waiting: None,
        }
    }
}

impl<A: Source, B: Source> Source for Zip<A, B> {
    type Item = (A::Item, B::Item);

    async fn next(&mut self) -> Result<Option<(A::Item, B::Item)>> {
        if self.waiting.is_none() {
            self.waiting = self.one.next().await?;
        }
        if self.waiting.is_none() {
            return Ok(None);
        }
        let partner = self.other.next().await?;
        // Without a partner the item keeps waiting, so that none is read after the end.
        Ok(partner.and_then(|partner| Some((self.waiting.take()?, partner))))
    }

    async fn close(self) -> Result<()> {
        let (one, other) = thrum_rt::join!(self.one.close(), self.other.close());
        one.and(other)
    }
}
