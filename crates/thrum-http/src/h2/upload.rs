//! A request's body as its handler reads it. What the handler has taken the client may send more of: that is the flow control
//! of HTTP/2.

use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::{Duration, Instant};

use bytes::Bytes;
use h2::RecvStream;
use http_body::Frame;
use thrum_rt::time::Deadline;

use super::connection::Shared;
use crate::server::Counters;
use crate::{BodyError, Reject};

pub(crate) struct Upload {
    stream: RecvStream,
    /// What is left by Content-Length.
    size: Option<u64>,
    received: u64,
    /// Since when the handler waits. Time that it takes itself is not the client's.
    waiting: Option<Instant>,
    /// How long it has waited before that.
    waited: Duration,
    deadline: Deadline,
    state: State,
    shared: Arc<Shared>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    Data,
    Trailers,
    Over,
}

impl Upload {
    pub(super) fn new(stream: RecvStream, size: Option<u64>, shared: Arc<Shared>) -> Self {
        Self {
            stream,
            size,
            received: 0,
            waiting: None,
            waited: Duration::ZERO,
            deadline: Deadline::new(),
            state: State::Data,
            shared,
        }
    }

    pub(crate) fn size(&self) -> Option<u64> {
        self.size
    }

    /// The next of the body. An error is told once.
    pub(crate) fn poll_frame(
        &mut self,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, BodyError>>> {
        let frame = match self.state {
            State::Data => ready!(self.poll_data(cx)),
            State::Trailers => ready!(self.poll_trailers(cx)),
            State::Over => None,
        };
        if !matches!(frame, Some(Ok(_))) {
            self.state = State::Over;
        }
        Poll::Ready(frame)
    }

    fn poll_data(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, BodyError>>> {
        let Poll::Ready(data) = self.stream.poll_data(cx) else {
            return self.poll_too_slow(cx).map(|error| Some(Err(error)));
        };
        if let Some(since) = self.waiting.take() {
            self.waited += since.elapsed();
        }
        let data = match data {
            Some(Ok(data)) => data,
            Some(Err(error)) => return Poll::Ready(Some(Err(lost(&error)))),
            None => {
                self.state = State::Trailers;
                return self.poll_trailers(cx);
            }
        };
        self.received += data.len() as u64;
        if self.received > self.shared.context.limits.body_bytes {
            self.shared.open.counters().reject(Reject::BodyTooLarge);
            return Poll::Ready(Some(Err(BodyError::TooLarge)));
        }
        if self.is_behind(self.waited) {
            return Poll::Ready(Some(Err(self.too_slow())));
        }
        // It fails only if the stream is gone.
        let _ = self.stream.flow_control().release_capacity(data.len());
        self.size = self.size.map(|size| size.saturating_sub(data.len() as u64));
        Poll::Ready(Some(Ok(Frame::data(data))))
    }

    fn poll_trailers(
        &mut self,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, BodyError>>> {
        let Poll::Ready(trailers) = self.stream.poll_trailers(cx) else {
            return self.poll_too_slow(cx).map(|error| Some(Err(error)));
        };
        self.state = State::Over;
        Poll::Ready(match trailers {
            Ok(Some(trailers)) => Some(Ok(Frame::trailers(trailers))),
            Ok(None) => None,
            Err(error) => Some(Err(lost(&error))),
        })
    }

    /// Ready when the client takes too long.
    fn poll_too_slow(&mut self, cx: &mut Context<'_>) -> Poll<BodyError> {
        if self.waiting.is_none() {
            self.waiting = Some(Instant::now());
            self.deadline.set(self.shared.context.timeouts.body);
        }
        ready!(self.deadline.poll_expired(cx));
        Poll::Ready(self.too_slow())
    }

    /// Whether it comes at less than the rate that it must come at.
    fn is_behind(&self, elapsed: Duration) -> bool {
        let timeouts = &self.shared.context.timeouts;
        let due = elapsed.as_secs().saturating_mul(timeouts.body_rate);
        elapsed > timeouts.body_grace && self.received < due
    }

    fn too_slow(&self) -> BodyError {
        Counters::count(&self.shared.open.counters().body_timeouts);
        BodyError::TooSlow
    }
}

fn lost(error: &h2::Error) -> BodyError {
    tracing::trace!(%error, "a request body broke off");
    BodyError::Truncated
}
