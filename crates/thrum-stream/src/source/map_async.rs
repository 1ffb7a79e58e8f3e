//! Items changed by code that waits.

use std::error::Error as StdError;
use std::future::Future;
use std::pin::Pin;

use crate::{Error, Result, Source};

/// A source whose items are changed by an async function, one after the other: [`Source::map_async`].
pub struct MapAsync<S, F, Fut> {
    source: S,
    change: F,
    /// The item in work. It is kept here, so that a `next` that is dropped does not drop it.
    working: Pin<Box<Option<Fut>>>,
}

impl<S, F, Fut> MapAsync<S, F, Fut> {
    pub(super) fn new(source: S, change: F) -> Self {
        MapAsync {
            source,
            change,
            working: Box::pin(None),
        }
    }
}

impl<S, T, E, F, Fut> Source for MapAsync<S, F, Fut>
where
    S: Source,
    T: Send,
    E: Into<Box<dyn StdError + Send + Sync>> + Send,
    F: FnMut(S::Item) -> Fut + Send,
    Fut: Future<Output = std::result::Result<T, E>> + Send,
{
    type Item = T;

    async fn next(&mut self) -> Result<Option<T>> {
        loop {
            if let Some(working) = self.working.as_mut().as_pin_mut() {
                let made = working.await;
                self.working.set(None);
                return made
                    .map(Some)
                    .map_err(|error| Error::of_user("map_async", error));
            }
            let Some(item) = self.source.next().await? else {
                return Ok(None);
            };
            self.working.set(Some((self.change)(item)));
        }
    }

    /// Drops the item in work.
    async fn close(self) -> Result<()> {
        let MapAsync {
            source, working, ..
        } = self;
        drop(working);
        source.close().await
    }
}

impl<S: std::fmt::Debug, F, Fut> std::fmt::Debug for MapAsync<S, F, Fut> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:?} | map_async", self.source)
    }
}
