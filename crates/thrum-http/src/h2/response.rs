//! Sending a response: its head, its body as fast as the client takes it, its trailers.

use std::future::poll_fn;
use std::task::{Context, Poll};

use bytes::Bytes;
use h2::server::SendResponse;
use h2::{Reason, SendStream};
use http::header::{
    CONNECTION, CONTENT_LENGTH, DATE, HeaderName, HeaderValue, TE, TRANSFER_ENCODING, UPGRADE,
};
use http::response::Parts;
use http::{HeaderMap, Method, Response, StatusCode};
use http_body::Body as HttpBody;
use thrum_rt::time::Deadline;

use super::connection::Shared;
use crate::Body;
use crate::body::{Kind, Next, poll_frame};
use crate::h1::date_value;
use crate::message::is_bodiless;
use crate::server::{Counters, Current};

/// A body up to this length is handed over whole, without asking whether the client takes it now.
const AT_ONCE: usize = 16 * 1024;

/// Why a response ended early.
struct Broken(&'static str);

/// Sends the head, and the body if it is there and short. Else it is given back, with the stream that it is to go to.
pub(super) fn send_at_once(
    mut respond: SendResponse<Bytes>,
    method: &Method,
    response: Response<Body>,
    sent: &mut u64,
) -> Option<(SendStream<Bytes>, Body)> {
    let (mut parts, body) = response.into_parts();
    let has_body = !is_bodiless(parts.status) && method != Method::HEAD;
    finish_head(&mut parts, has_body, body.size());
    let ends = !has_body || body.is_end_stream();
    // It fails if the client has taken the request back or is gone. Then the body is not wanted either.
    let mut stream = respond
        .send_response(Response::from_parts(parts, ()), ends)
        .ok()?;
    if ends {
        return None;
    }
    match body.kind {
        Kind::Bytes(bytes) if bytes.len() <= AT_ONCE => {
            *sent += bytes.len() as u64;
            let _ = stream.send_data(bytes, true);
            None
        }
        kind => Some((stream, Body { kind })),
    }
}

/// Sends what [`send_at_once`] has given back, counting the bytes. A response that ends early is reset.
pub(super) async fn send(
    shared: &Shared,
    current: &mut Current,
    stream: SendStream<Bytes>,
    body: Body,
    sent: &mut u64,
) {
    let mut sending = Sending {
        left: body.size(),
        stream,
        shared,
        deadline: Deadline::new(),
    };
    if let Err(Broken(why)) = sending.body(body, current, sent).await {
        tracing::debug!(why, "a response ended early");
        sending.stream.send_reset(Reason::INTERNAL_ERROR);
    }
}

/// What is added to a head, and what is left out.
fn finish_head(parts: &mut Parts, has_body: bool, size: Option<u64>) {
    let Parts {
        status, headers, ..
    } = parts;
    drop_connection_fields(headers);
    if !headers.contains_key(DATE)
        && let Some(date) = date_value()
    {
        headers.insert(DATE, date);
    }
    if has_body {
        // A body's own size is what counts.
        match size {
            Some(size) => headers.insert(CONTENT_LENGTH, HeaderValue::from(size)),
            None => headers.remove(CONTENT_LENGTH),
        };
    } else if *status == StatusCode::NO_CONTENT {
        headers.remove(CONTENT_LENGTH);
    } else if let Some(size @ 1..) = size
        && !is_bodiless(*status)
        && !headers.contains_key(CONTENT_LENGTH)
    {
        headers.insert(CONTENT_LENGTH, HeaderValue::from(size));
    }
}

/// Leaves out the fields that HTTP/2 forbids (RFC 9113 section 8.2.2).
pub(super) fn drop_connection_fields(headers: &mut HeaderMap) {
    let is_of_connection = |name: &HeaderName| {
        *name == CONNECTION
            || *name == TRANSFER_ENCODING
            || *name == UPGRADE
            || *name == TE
            || *name == "keep-alive"
            || *name == "proxy-connection"
    };
    while let Some(name) = headers.keys().find(|name| is_of_connection(name)).cloned() {
        headers.remove(name);
    }
}

/// A body on its way.
struct Sending<'a> {
    stream: SendStream<Bytes>,
    /// What is left of the size that was told.
    left: Option<u64>,
    shared: &'a Shared,
    deadline: Deadline,
}

impl Sending<'_> {
    async fn body(
        &mut self,
        mut body: Body,
        current: &mut Current,
        sent: &mut u64,
    ) -> Result<(), Broken> {
        loop {
            let stream = &mut self.stream;
            let next = poll_fn(|cx| match current.enter(|| poll_frame(&mut body, cx)) {
                Poll::Ready(next) => Poll::Ready(Ok(next)),
                Poll::Pending => stream.poll_reset(cx).map(|_| Err(GONE)),
            });
            let frame = match next.await? {
                Next::Frame(frame) => frame,
                Next::End => break,
                Next::Failed(error) => {
                    tracing::debug!(%error, "a response body ended early");
                    return Err(Broken("its body failed"));
                }
                Next::Panicked => {
                    Counters::count(&self.shared.open.counters().panics);
                    tracing::error!("a response body panicked");
                    return Err(Broken("its body panicked"));
                }
            };
            match frame.into_data() {
                Ok(data) => {
                    self.note(&data)?;
                    let is_last = body.is_end_stream();
                    if is_last && self.left.unwrap_or(0) > 0 {
                        return Err(SHORT);
                    }
                    self.data(data, is_last, sent).await?;
                    if is_last {
                        return Ok(());
                    }
                }
                Err(frame) => {
                    let Ok(mut trailers) = frame.into_trailers() else {
                        continue; // of a kind that there is not yet
                    };
                    if self.left.unwrap_or(0) > 0 {
                        return Err(SHORT);
                    }
                    drop_connection_fields(&mut trailers);
                    return self.stream.send_trailers(trailers).map_err(|_| GONE);
                }
            }
        }
        if self.left.unwrap_or(0) > 0 {
            return Err(SHORT);
        }
        self.stream.send_data(Bytes::new(), true).map_err(|_| GONE)
    }

    /// Takes data off what is left.
    fn note(&mut self, data: &Bytes) -> Result<(), Broken> {
        if let Some(left) = &mut self.left {
            *left = left.checked_sub(data.len() as u64).ok_or_else(|| {
                tracing::error!("a response body is longer than its size says");
                Broken("its body is longer than its size")
            })?;
        }
        Ok(())
    }

    /// Sends data as the client takes it.
    async fn data(&mut self, mut data: Bytes, is_last: bool, sent: &mut u64) -> Result<(), Broken> {
        if data.is_empty() && is_last {
            return self.stream.send_data(data, true).map_err(|_| GONE);
        }
        while !data.is_empty() {
            self.stream.reserve_capacity(data.len());
            let room = self.capacity().await?;
            let piece = data.split_to(room.min(data.len()));
            *sent += piece.len() as u64;
            let ends = is_last && data.is_empty();
            self.stream.send_data(piece, ends).map_err(|_| GONE)?;
        }
        Ok(())
    }

    /// Waits until the client takes more, but no longer than the write timeout.
    async fn capacity(&mut self) -> Result<usize, Broken> {
        let mut waits = false;
        poll_fn(|cx| self.poll_capacity(cx, &mut waits)).await
    }

    fn poll_capacity(
        &mut self,
        cx: &mut Context<'_>,
        waits: &mut bool,
    ) -> Poll<Result<usize, Broken>> {
        let capacity = self.stream.capacity();
        if capacity > 0 {
            return Poll::Ready(Ok(capacity));
        }
        match self.stream.poll_capacity(cx) {
            Poll::Ready(Some(Ok(capacity))) => return Poll::Ready(Ok(capacity)),
            Poll::Ready(_) => return Poll::Ready(Err(GONE)),
            Poll::Pending => {}
        }
        if !std::mem::replace(waits, true) {
            self.deadline.set(self.shared.context.timeouts.write);
        }
        self.deadline.poll_expired(cx).map(|()| {
            Counters::count(&self.shared.open.counters().write_timeouts);
            Err(Broken("the client does not take it"))
        })
    }
}

const GONE: Broken = Broken("the client does not want it any more");
const SHORT: Broken = Broken("its body is shorter than its size");
