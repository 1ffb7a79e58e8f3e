//! A sink of the ecosystem as one of ours.

use std::error::Error as StdError;
use std::future::poll_fn;
use std::pin::Pin;

use futures_sink::Sink as FuturesSink;

use crate::{Cause, Error, Result, Sink};

/// Sends to a sink of `futures`. It is flushed when the source has nothing ready, and closed at the end. Buffer: what the
/// sink has.
pub fn futures<K>(sink: K) -> FromSink<K> {
    FromSink(Box::pin(sink))
}

/// See [`futures()`].
#[derive(Debug)]
pub struct FromSink<K>(Pin<Box<K>>);

impl<K, I> Sink<I> for FromSink<K>
where
    K: FuturesSink<I> + Send,
    K::Error: Into<Box<dyn StdError + Send + Sync>>,
    I: Send,
{
    type Output = ();

    async fn push(&mut self, item: I) -> Result<()> {
        poll_fn(|cx| self.0.as_mut().poll_ready(cx))
            .await
            .map_err(failed)?;
        self.0.as_mut().start_send(item).map_err(failed)
    }

    async fn flush(&mut self) -> Result<()> {
        poll_fn(|cx| self.0.as_mut().poll_flush(cx))
            .await
            .map_err(failed)
    }

    async fn close(mut self) -> Result<()> {
        poll_fn(|cx| self.0.as_mut().poll_close(cx))
            .await
            .map_err(failed)
    }
}

fn failed(error: impl Into<Box<dyn StdError + Send + Sync>>) -> Error {
    Error::new("sink", Cause::Other(error.into()))
}
