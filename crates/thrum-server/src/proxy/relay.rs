//! A response's body on its way from an upstream to a client: at the client's pace, or read ahead so far.

use std::pin::Pin;
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use futures_core::Stream;
use http_body::{Body as HttpBody, Frame, SizeHint};
use thrum_http::{Body, BodyError};
use thrum_rt::sync::channel::{Receiver, Sender, bounded};

use super::room::Place;
use super::upstream::count;

/// Bytes of the largest piece that bodies come in.
const PIECE_BYTES: u64 = 16 * 1024;

/// The body, which holds its place at the upstream until it is over.
pub(super) fn watched(body: Body, place: Place) -> Body {
    if body.is_in_memory() {
        return body; // the upstream is done with it
    }
    Body::wrap(Watched {
        body,
        place: Some(place),
    })
}

/// The body, of which `bytes` are read before the client takes them, so that the upstream is soon done.
pub(super) fn read_ahead(body: Body, bytes: u64) -> Body {
    if body.is_in_memory() {
        return body;
    }
    let left = body.size();
    let (sender, waiting) = bounded(bytes.div_ceil(PIECE_BYTES).clamp(1, 65_536) as usize);
    thrum_rt::spawn_named("proxy: reading ahead", pump(body, sender));
    Body::wrap(Ahead {
        waiting,
        left,
        is_over: false,
    })
}

struct Watched {
    body: Body,
    /// `None` once it is over.
    place: Option<Place>,
}

impl HttpBody for Watched {
    type Data = Bytes;
    type Error = BodyError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, BodyError>>> {
        let frame = ready!(Pin::new(&mut self.body).poll_frame(cx));
        match &frame {
            None => self.place = None,
            Some(Err(error)) => {
                if let Some(place) = self.place.take() {
                    broke_off(&place, error);
                }
            }
            Some(Ok(_)) => {}
        }
        Poll::Ready(frame)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

/// The client sees it too: its connection is closed, or its stream reset.
fn broke_off(place: &Place, error: &BodyError) {
    let upstream = &place.peer().upstream;
    count(&upstream.counters.broken);
    tracing::warn!(upstream = %upstream.name, %error, "an upstream's response broke off");
    if upstream.health.failed(&place.shared().passive) {
        count(&upstream.counters.ejections);
        tracing::warn!(upstream = %upstream.name, "an upstream is taken to be down");
    }
}

type Piece = Result<Frame<Bytes>, BodyError>;

/// Reads a body into a channel. `None` there: that was all.
async fn pump(mut body: Body, sender: Sender<Option<Piece>>) {
    loop {
        let piece = std::future::poll_fn(|cx| Pin::new(&mut body).poll_frame(cx)).await;
        let is_last = !matches!(piece, Some(Ok(_)));
        // An error: the client has gone.
        if sender.send(piece).await.is_err() || is_last {
            return;
        }
    }
}

struct Ahead {
    waiting: Receiver<Option<Piece>>,
    /// If the upstream has said how much it is.
    left: Option<u64>,
    is_over: bool,
}

impl HttpBody for Ahead {
    type Data = Bytes;
    type Error = BodyError;

    fn poll_frame(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Piece>> {
        if self.is_over {
            return Poll::Ready(None);
        }
        match ready!(Pin::new(&mut self.waiting).poll_next(cx)) {
            Some(Some(Ok(frame))) => {
                let read = frame.data_ref().map_or(0, |data| data.len() as u64);
                self.left = self.left.map(|left| left.saturating_sub(read));
                Poll::Ready(Some(Ok(frame)))
            }
            Some(last) => {
                self.is_over = true;
                Poll::Ready(last)
            }
            // Who reads has gone without a word: its runtime ends.
            None => {
                self.is_over = true;
                Poll::Ready(Some(Err(BodyError::Truncated)))
            }
        }
    }

    fn size_hint(&self) -> SizeHint {
        self.left
            .map_or_else(SizeHint::default, SizeHint::with_exact)
    }
}

/// What of a request's body is collected before an upstream is asked: all of it, if it is not longer than `most`, so that it
/// can be sent again; else the body as it would have come.
pub(super) async fn collect(mut body: Body, most: u64) -> Result<Body, BodyError> {
    if body.is_in_memory() || body.size().is_some_and(|size| size > most) {
        return Ok(body);
    }
    let size = body.size();
    let mut collected = Vec::new();
    let mut frames = std::collections::VecDeque::new();
    let mut length = 0;
    loop {
        let frame = std::future::poll_fn(|cx| Pin::new(&mut body).poll_frame(cx)).await;
        match frame.transpose()? {
            None => return Ok(collected.into()),
            Some(frame) => match frame.into_data() {
                Ok(data) => {
                    length += data.len() as u64;
                    if length > most {
                        frames.extend([Bytes::from(std::mem::take(&mut collected)), data]);
                        break;
                    }
                    collected.extend_from_slice(&data);
                }
                // Trailers would be lost: the body goes on as frames.
                Err(trailers) => {
                    let collected = Bytes::from(collected);
                    return Ok(Body::wrap(Resumed {
                        begun: [Frame::data(collected), trailers].into(),
                        body,
                        size,
                    }));
                }
            },
        }
    }
    Ok(Body::wrap(Resumed {
        begun: frames.into_iter().map(Frame::data).collect(),
        body,
        size,
    }))
}

/// A body some of which has been read.
struct Resumed {
    begun: std::collections::VecDeque<Frame<Bytes>>,
    body: Body,
    /// How much was to come, in all.
    size: Option<u64>,
}

impl HttpBody for Resumed {
    type Data = Bytes;
    type Error = BodyError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, BodyError>>> {
        let frame = match self.begun.pop_front() {
            Some(frame) => Some(Ok(frame)),
            None => ready!(Pin::new(&mut self.body).poll_frame(cx)),
        };
        if let Some(Ok(frame)) = &frame {
            let read = frame.data_ref().map_or(0, |data| data.len() as u64);
            self.size = self.size.map(|size| size.saturating_sub(read));
        }
        Poll::Ready(frame)
    }

    fn size_hint(&self) -> SizeHint {
        self.size
            .map_or_else(SizeHint::default, SizeHint::with_exact)
    }
}
