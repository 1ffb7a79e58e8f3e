//! A stream of the ecosystem as a source.

use std::error::Error as StdError;
use std::pin::Pin;

use futures_core::Stream;
use futures_lite::StreamExt;

use crate::{Cause, Error, Result, Source};

/// What a stream of results gives; its first error ends it. Buffer: what the stream has.
///
/// ```
/// use futures_lite::stream;
/// use thrum_stream::{Source, sink, source};
///
/// # thrum_rt::block_on(async {
/// let parts = stream::iter([Ok(1), Ok(2), Err("enough")]);
/// let error = source::stream(parts).run(sink::count()).await.unwrap_err();
/// assert_eq!(error.to_string(), "stream: enough");
/// # });
/// ```
pub fn stream<S: Stream>(stream: S) -> FromStream<S> {
    FromStream(Some(Box::pin(stream)))
}

/// See [`stream`].
#[derive(Debug)]
pub struct FromStream<S>(Option<Pin<Box<S>>>);

impl<S, T, E> Source for FromStream<S>
where
    S: Stream<Item = std::result::Result<T, E>> + Send,
    T: Send,
    E: Into<Box<dyn StdError + Send + Sync>>,
{
    type Item = T;

    async fn next(&mut self) -> Result<Option<T>> {
        let Some(stream) = &mut self.0 else {
            return Ok(None);
        };
        match stream.next().await {
            Some(Ok(item)) => Ok(Some(item)),
            Some(Err(error)) => {
                self.0 = None;
                Err(Error::new("stream", Cause::Other(error.into())))
            }
            None => {
                self.0 = None;
                Ok(None)
            }
        }
    }
}
