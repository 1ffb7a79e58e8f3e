//! Bodies that are made while they are sent: from a stream, or by another task.

use std::error::Error as StdError;
use std::fmt;
use std::pin::Pin;
use std::sync::{Arc, OnceLock};
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use futures_core::Stream;
use http_body::{Body as HttpBody, Frame};
use pin_project_lite::pin_project;
use thrum_rt::sync::channel::{Receiver, Sender, bounded};
use thrum_rt::sync::{Closed, SendError};

use crate::{Body, BodyError};

/// Pieces that wait between a [`BodySender`] and the connection.
const PIECES: usize = 4;

impl Body {
    /// A body of the pieces that a stream gives, sent as they come. Its first error ends the body before its end, and the
    /// client is told: its connection is closed, or its stream reset.
    ///
    /// A [source](https://docs.rs/thrum-stream) of bytes is one by its `into_stream`.
    ///
    /// ```
    /// use futures_lite::stream;
    /// use thrum_http::Body;
    ///
    /// let pieces = stream::iter(["Hello, ", "world"]).map(Ok::<_, std::io::Error>);
    /// let body = Body::from_stream(pieces);
    /// # use futures_lite::StreamExt;
    /// # thrum_rt::block_on(async {
    /// assert_eq!(body.bytes(100).await.unwrap(), "Hello, world");
    /// # });
    /// ```
    pub fn from_stream<S, T, E>(stream: S) -> Self
    where
        S: Stream<Item = Result<T, E>> + Send + 'static,
        T: Into<Bytes>,
        E: Into<Box<dyn StdError + Send + Sync>>,
    {
        Self::wrap(StreamBody { stream })
    }

    /// A body, and the end where another task puts it in. At most four pieces wait between the two; then the sender waits.
    ///
    /// ```
    /// use thrum_http::{Body, Request, Response};
    ///
    /// async fn countdown(_: Request<Body>) -> Response<Body> {
    ///     let (mut sender, body) = Body::channel();
    ///     thrum_rt::spawn(async move {
    ///         for n in (0..10).rev() {
    ///             // An error: the client has gone, so nobody waits for the rest.
    ///             sender.send(format!("{n}\n")).await?;
    ///         }
    ///         sender.finish();
    ///         Ok::<_, thrum_rt::sync::Closed>(())
    ///     });
    ///     Response::new(body)
    /// }
    /// # thrum_rt::block_on(async {
    /// # let body = countdown(Request::default()).await.into_body();
    /// # assert_eq!(body.bytes(100).await.unwrap().len(), 20);
    /// # });
    /// ```
    pub fn channel() -> (BodySender, Self) {
        let (pieces, waiting) = bounded(PIECES);
        let end = End::default();
        let sender = BodySender {
            end: end.clone(),
            pieces,
        };
        (sender, Self::wrap(ChannelBody { waiting, end }))
    }
}

/// How a sender has ended: with an error, or in full. Empty, once the channel is closed: it was dropped.
type End = Arc<OnceLock<Option<Box<dyn StdError + Send + Sync>>>>;

/// Where the pieces of a body are put in: see [`Body::channel`].
///
/// A sender that is dropped without [`finish`](Self::finish), by a panic or by `?`, cuts the body, and the client can tell.
pub struct BodySender {
    /// Dropped first, so that the body has the only share of it once the channel is closed.
    end: End,
    pieces: Sender<Bytes>,
}

impl BodySender {
    /// Sends a piece, waiting while four others have not been taken.
    ///
    /// Dropping the future before it is done sends nothing.
    ///
    /// # Errors
    /// [`Closed`], if nobody wants the body: the client has gone, or the response was dropped.
    pub async fn send(&mut self, piece: impl Into<Bytes>) -> Result<(), Closed> {
        let piece = piece.into();
        if piece.is_empty() {
            return Ok(());
        }
        self.pieces.send(piece).await.map_err(|SendError(_)| Closed)
    }

    /// Whether nobody wants the body any more.
    pub fn is_closed(&self) -> bool {
        self.pieces.is_closed()
    }

    /// The body is complete.
    pub fn finish(self) {
        let _ = self.end.set(None); // the one place but `abort`, and both take the sender
    }

    /// The body ends before its end, and who reads it gets the error. A client's connection is closed, or its stream reset.
    pub fn abort(self, error: impl Into<Box<dyn StdError + Send + Sync>>) {
        let _ = self.end.set(Some(error.into()));
    }
}

impl fmt::Debug for BodySender {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BodySender").finish_non_exhaustive()
    }
}

struct ChannelBody {
    waiting: Receiver<Bytes>,
    end: End,
}

impl HttpBody for ChannelBody {
    type Data = Bytes;
    type Error = BodyError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, BodyError>>> {
        if let Some(piece) = ready!(Pin::new(&mut self.waiting).poll_next(cx)) {
            return Poll::Ready(Some(Ok(Frame::data(piece))));
        }
        Poll::Ready(
            match Arc::get_mut(&mut self.end).and_then(OnceLock::get_mut) {
                Some(end) => end.take().map(|error| Err(BodyError::Other(error))),
                None => Some(Err(BodyError::Truncated)),
            },
        )
    }
}

pin_project! {
    /// The pieces of a stream as a body.
    struct StreamBody<S> {
        #[pin]
        stream: S,
    }
}

impl<S, T, E> HttpBody for StreamBody<S>
where
    S: Stream<Item = Result<T, E>>,
    T: Into<Bytes>,
{
    type Data = Bytes;
    type Error = E;

    fn poll_frame(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, E>>> {
        let next = self.project().stream.poll_next(cx);
        next.map_ok(|piece| Frame::data(piece.into()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_channel_carries_pieces_and_how_they_end() {
        thrum_rt::block_on(async {
            let (mut sender, body) = Body::channel();
            let sending = thrum_rt::spawn(async move {
                for n in 0..100 {
                    sender.send(format!("{n};")).await.unwrap();
                }
                sender.send("").await.unwrap();
                sender.finish();
            });
            let all = body.bytes(1000).await.unwrap();
            assert!(all.starts_with(b"0;1;") && all.ends_with(b"98;99;"));
            sending.await.unwrap();

            let (sender, mut body) = Body::channel();
            sender.finish();
            assert!(body.chunk().await.is_none());
            assert!(body.chunk().await.is_none(), "it stays at its end");

            let (mut sender, mut body) = Body::channel();
            sender.send("part").await.unwrap();
            drop(sender);
            assert_eq!(body.chunk().await.unwrap().unwrap(), "part");
            let error = body.chunk().await.unwrap().unwrap_err();
            assert!(error.to_string().contains("too early"), "{error}");

            let (sender, mut body) = Body::channel();
            sender.abort("broken");
            let error = body.chunk().await.unwrap().unwrap_err();
            assert_eq!(error.to_string(), "broken");
        });
    }

    #[test]
    fn a_sender_waits_and_learns_that_nobody_reads() {
        thrum_rt::block_on(async {
            let (mut sender, mut body) = Body::channel();
            for _ in 0..PIECES {
                sender.send("x").await.unwrap();
            }
            let fifth = sender.send("x");
            let waited = thrum_rt::time::timeout(std::time::Duration::from_millis(20), fifth);
            assert!(waited.await.is_err(), "a fifth piece waits");
            body.chunk().await.unwrap().unwrap();
            sender.send("x").await.unwrap();
            assert!(!sender.is_closed());
            drop(body);
            assert!(sender.is_closed());
            assert!(sender.send("x").await.is_err());
        });
    }

    #[test]
    fn an_error_of_a_stream_is_the_bodys() {
        thrum_rt::block_on(async {
            let pieces = futures_lite::stream::iter([Ok("a"), Err("broken")]);
            let mut body = Body::from_stream(pieces);
            assert_eq!(body.chunk().await.unwrap().unwrap(), "a");
            let error = body.chunk().await.unwrap().unwrap_err();
            assert_eq!(error.to_string(), "broken");
        });
    }
}
