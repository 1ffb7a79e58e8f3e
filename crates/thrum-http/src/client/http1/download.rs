//! A response's body on its way to whoever reads it, who drives the connection.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use http::{HeaderMap, Response};
use http_body::{Body as HttpBody, Frame, SizeHint};

use super::super::Phase;
use super::super::exchange::Clock;
use super::super::pool::Lease;
use super::connection::{Answer, Connection};
use super::rest::Rest;
use super::upload::{Broken, Upload};
use crate::body::Kind;
use crate::h1::chunked::Piece;
use crate::upgrade::{self, Upgraded};
use crate::wire::would_block;
use crate::{Body, BodyError};

/// Gives a response its body, and the connection back once that has been read.
pub(crate) fn respond(answer: Answer, mut lease: Lease, clock: Clock) -> Response<Body> {
    let Answer {
        mut response,
        framing,
        reusable,
        upload,
    } = answer;
    let Some(connection) = &mut lease.connection else {
        return response;
    };
    let Some(rest) = Rest::of(framing, connection.config.limits.chunk_line_bytes) else {
        if let Some(connection) = lease.connection.take() {
            let (sender, promise) = upgrade::promise();
            response.extensions_mut().insert(promise);
            let (wire, ahead) = connection.into_parts();
            // The promise has just been made, so somebody waits.
            let _ = sender.send(Upgraded::new(wire, ahead, None));
        }
        return response;
    };
    // Mostly all of it has come with the head.
    if let Rest::Length(length) = rest
        && upload.is_none()
        && length <= connection.input.bytes().len() as u64
    {
        let length = length as usize;
        if length > 0 {
            let bytes = Bytes::copy_from_slice(&connection.input.bytes()[..length]);
            connection.input.consume(length);
            *response.body_mut() = bytes.into();
        }
        finish(lease, reusable);
        return response;
    }
    let download = Download {
        lease: Some(lease),
        rest,
        trailers: None,
        upload,
        reusable,
        waits: false,
        clock,
    };
    response.body_mut().kind = Kind::Stream(Box::pin(download));
    response
}

/// Gives a connection back whose response has been read, if it can be used again. What follows a response answers nothing.
fn finish(lease: Lease, reusable: bool) {
    let is_clean =
        |connection: &Connection| connection.input.is_empty() && connection.output.is_empty();
    if reusable && lease.connection.as_deref().is_some_and(is_clean) {
        lease.give_back();
    }
}

struct Download {
    /// `None` once the body is over.
    lease: Option<Lease>,
    rest: Rest,
    /// What stood behind the body.
    trailers: Option<HeaderMap>,
    /// The request's body, which goes on while this one is read.
    upload: Option<Upload>,
    reusable: bool,
    /// The deadline is set for what is waited for.
    waits: bool,
    clock: Clock,
}

/// The next of a body.
enum Step {
    Data(Bytes),
    Need,
    Done,
}

impl HttpBody for Download {
    type Data = Bytes;
    type Error = BodyError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, BodyError>>> {
        let this = &mut *self;
        match ready!(this.poll_step(cx)) {
            Ok(Some(data)) => Poll::Ready(Some(Ok(Frame::data(data)))),
            Ok(None) => Poll::Ready(this.trailers.take().map(Frame::trailers).map(Ok)),
            Err(error) => {
                this.lease = None; // an error is told once
                Poll::Ready(Some(Err(error)))
            }
        }
    }

    fn is_end_stream(&self) -> bool {
        self.lease.is_none() && self.trailers.is_none()
    }

    fn size_hint(&self) -> SizeHint {
        match (&self.rest, &self.lease) {
            (Rest::Length(left), Some(_)) => SizeHint::with_exact(*left),
            (_, None) => SizeHint::with_exact(0),
            _ => SizeHint::default(),
        }
    }
}

impl Download {
    /// The next data; `None` at the end.
    fn poll_step(&mut self, cx: &mut Context<'_>) -> Poll<Result<Option<Bytes>, BodyError>> {
        loop {
            let Some(lease) = &mut self.lease else {
                return Poll::Ready(Ok(None));
            };
            let Some(connection) = &mut lease.connection else {
                return Poll::Ready(Ok(None));
            };
            if let Some(upload) = &mut self.upload {
                match upload.poll(&mut connection.wire, &mut connection.output, cx) {
                    Poll::Pending => {}
                    Poll::Ready(Ok(())) => self.upload = None,
                    Poll::Ready(Err(broken)) => {
                        self.upload = None;
                        self.reusable = false;
                        if let Broken::Body(error) = broken {
                            return Poll::Ready(Err(error));
                        }
                    }
                }
            }
            match take(&mut self.rest, connection)? {
                Step::Data(data) => {
                    self.waits = false;
                    return Poll::Ready(Ok(Some(data)));
                }
                Step::Done => {
                    if let Rest::Chunked(decoder) = &mut self.rest {
                        self.trailers = decoder.take_trailers();
                    }
                    let reusable = self.reusable && self.upload.is_none();
                    if let Some(lease) = self.lease.take() {
                        finish(lease, reusable);
                    }
                    return Poll::Ready(Ok(None));
                }
                Step::Need => {}
            }
            if !self.waits {
                self.waits = true;
                let patience = connection.config.timeouts.body;
                let patience = self.clock.at_most(patience, Phase::Body);
                connection
                    .deadline
                    .set(patience.map_err(|_| BodyError::TooSlow)?);
            }
            if connection
                .wire
                .poll_readable(cx)
                .map_err(lost)?
                .is_pending()
            {
                ready!(connection.deadline.poll_expired(cx));
                return Poll::Ready(Err(BodyError::TooSlow));
            }
            match connection.wire.try_read(connection.input.space()) {
                Ok(0) if matches!(self.rest, Rest::Close) => {
                    self.lease = None;
                    return Poll::Ready(Ok(None));
                }
                Ok(0) => return Poll::Ready(Err(BodyError::Truncated)),
                Ok(read) => connection.input.filled(read),
                Err(error) if would_block(&error) => {}
                Err(error) => return Poll::Ready(Err(lost(error))),
            }
        }
    }

    /// Reads what is left of a body that nobody wants, if that is little and there.
    fn drain(&mut self) {
        let Some(connection) = self
            .lease
            .as_mut()
            .and_then(|lease| lease.connection.as_mut())
        else {
            return;
        };
        let mut left = connection.config.limits.drain_bytes;
        let too_much = matches!(self.rest, Rest::Length(length) if length > left);
        if !self.reusable || self.upload.is_some() || too_much || matches!(self.rest, Rest::Close) {
            return;
        }
        loop {
            match take(&mut self.rest, connection) {
                Ok(Step::Data(data)) if data.len() as u64 <= left => left -= data.len() as u64,
                Ok(Step::Need) => match connection.wire.try_read(connection.input.space()) {
                    Ok(read @ 1..) => connection.input.filled(read),
                    _ => return,
                },
                Ok(Step::Done) => {
                    if let Some(lease) = self.lease.take() {
                        finish(lease, true);
                    }
                    return;
                }
                Ok(Step::Data(_)) | Err(_) => return,
            }
        }
    }
}

impl Drop for Download {
    fn drop(&mut self) {
        self.drain();
    }
}

/// Takes the next piece out of what has been read.
fn take(rest: &mut Rest, connection: &mut Connection) -> Result<Step, BodyError> {
    let input = &mut connection.input;
    loop {
        match rest.next(input.bytes()).map_err(BodyError::Malformed)? {
            Piece::Framing(count) => input.consume(count),
            Piece::Data(count) => {
                let data = Bytes::copy_from_slice(&input.bytes()[..count]);
                input.consume(count);
                return Ok(Step::Data(data));
            }
            Piece::Need => return Ok(Step::Need),
            Piece::Done => return Ok(Step::Done),
        }
    }
}

fn lost(error: io::Error) -> BodyError {
    match error.kind() {
        io::ErrorKind::TimedOut => BodyError::TooSlow,
        _ => BodyError::Truncated,
    }
}
