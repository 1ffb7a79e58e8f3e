//! A response's body on its way to whoever reads it. The server may send as much ahead as the window allows.

use std::pin::Pin;
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use h2::{Reason, RecvStream};
use http_body::{Body as HttpBody, Frame, SizeHint};
use thrum_rt::time::Deadline;

use super::super::Phase;
use super::super::exchange::Clock;
use super::connection::Active;
use super::upload::{Broken, Upload};
use crate::BodyError;

pub(super) struct Download {
    stream: RecvStream,
    /// The request's body, which goes on while this one is read.
    upload: Option<Upload>,
    /// `None` once the body is over.
    active: Option<Active>,
    /// How much is still to come, if the server has said it.
    left: Option<u64>,
    had_data: bool,
    deadline: Deadline,
    clock: Clock,
}

impl Download {
    pub(super) fn new(
        stream: RecvStream,
        upload: Option<Upload>,
        active: Active,
        left: Option<u64>,
        clock: Clock,
    ) -> Self {
        Self {
            stream,
            upload,
            active: Some(active),
            left,
            had_data: false,
            deadline: Deadline::new(),
            clock,
        }
    }

    fn poll(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, BodyError>>> {
        let Some(active) = &self.active else {
            return Poll::Ready(None);
        };
        if let Some(upload) = &mut self.upload
            && let Poll::Ready(end) = upload.poll(cx)
        {
            self.upload = None;
            if let Err(Broken::Body(error)) = end {
                return Poll::Ready(Some(Err(error)));
            }
        }
        if !self.had_data {
            match self.stream.poll_data(cx) {
                Poll::Ready(Some(Ok(data))) => {
                    // What was given out makes room for as much.
                    let released = self.stream.flow_control().release_capacity(data.len());
                    released.map_err(broken)?;
                    self.left = self.left.map(|left| left.saturating_sub(data.len() as u64));
                    self.deadline.clear();
                    return Poll::Ready(Some(Ok(Frame::data(data))));
                }
                Poll::Ready(Some(Err(error)))
                    if is_enough(&error) && self.left.unwrap_or(0) == 0 =>
                {
                    self.active = None;
                    return Poll::Ready(None);
                }
                Poll::Ready(Some(Err(error))) => return Poll::Ready(Some(Err(broken(error)))),
                Poll::Ready(None) => self.had_data = true,
                Poll::Pending => {}
            }
        }
        if self.had_data {
            match self.stream.poll_trailers(cx) {
                Poll::Ready(Ok(trailers)) => {
                    self.active = None;
                    return Poll::Ready(trailers.map(|trailers| Ok(Frame::trailers(trailers))));
                }
                Poll::Ready(Err(error)) => return Poll::Ready(Some(Err(broken(error)))),
                Poll::Pending => {}
            }
        }
        if !self.deadline.is_set() {
            let patience = self
                .clock
                .at_most(active.0.config.timeouts.body, Phase::Body);
            self.deadline.set(patience.map_err(|_| BodyError::TooSlow)?);
        }
        ready!(self.deadline.poll_expired(cx));
        Poll::Ready(Some(Err(BodyError::TooSlow)))
    }
}

/// Whether the server has said all and only wants no more of the request (RFC 9113, 8.1).
fn is_enough(error: &h2::Error) -> bool {
    error.is_reset() && error.is_remote() && error.reason() == Some(Reason::NO_ERROR)
}

/// A stream that was reset, or whose connection is gone, ends too early.
fn broken(error: h2::Error) -> BodyError {
    match error.is_io() {
        true => BodyError::Truncated,
        false => BodyError::Other(error.into()),
    }
}

impl HttpBody for Download {
    type Data = Bytes;
    type Error = BodyError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, BodyError>>> {
        let frame = ready!(self.poll(cx));
        if matches!(frame, Some(Err(_))) {
            self.active = None; // an error is told once
        }
        Poll::Ready(frame)
    }

    fn is_end_stream(&self) -> bool {
        self.active.is_none()
    }

    fn size_hint(&self) -> SizeHint {
        match (self.left, &self.active) {
            (_, None) => SizeHint::with_exact(0),
            (Some(left), _) => SizeHint::with_exact(left),
            (None, _) => SizeHint::default(),
        }
    }
}
