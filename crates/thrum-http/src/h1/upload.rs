//! The connection's side of a request's body: reads it when the handler asks for it, within limits of size and pace.

use std::future::poll_fn;
use std::io;
use std::sync::Arc;
use std::task::{Context as TaskContext, Poll, ready};
use std::time::{Duration, Instant};

use bytes::Bytes;
use http::HeaderMap;
use thrum_rt::time::Deadline;

use super::chunked::{Decoder, Piece};
use super::request::Framing;
use super::transport::Transport;
use crate::body::incoming::Feed;
use crate::server::{Context, Counters};
use crate::{BodyError, Reject};

pub(crate) struct Upload {
    feed: Feed,
    rest: Rest,
    /// What stood behind the body.
    trailers: Option<HeaderMap>,
    /// The client waits for a 100 before it sends anything.
    owes_continue: bool,
    received: u64,
    /// Since when the handler and the connection wait for data. Time that the handler takes is not the client's.
    waiting: Option<Instant>,
    /// How long they have waited before that.
    waited: Duration,
    deadline: Deadline,
    context: Arc<Context>,
}

/// What is still to come.
enum Rest {
    Length(u64),
    Chunked(Box<Decoder>),
    /// It has all come.
    Done,
    /// It broke off, and the connection with it.
    Broken,
    /// As broken, because it is larger than the limit.
    TooLarge,
}

/// The next of a body.
enum Step {
    Data(Bytes),
    Need,
    Done,
}

impl Upload {
    pub(crate) fn new(
        feed: Feed,
        framing: Framing,
        owes_continue: bool,
        context: &Arc<Context>,
    ) -> Self {
        let rest = match framing {
            Framing::None => Rest::Done,
            Framing::Length(length) => Rest::Length(length),
            Framing::Chunked => {
                Rest::Chunked(Box::new(Decoder::new(context.limits.chunk_line_bytes)))
            }
        };
        let deadline = Deadline::new();
        Self {
            feed,
            rest,
            trailers: None,
            owes_continue,
            received: 0,
            waiting: None,
            waited: Duration::ZERO,
            deadline,
            context: context.clone(),
        }
    }

    /// Whether the whole body has been read off the connection.
    pub(crate) fn is_done(&self) -> bool {
        matches!(self.rest, Rest::Done)
    }

    /// Whether it broke off: where the next request starts is not known.
    pub(crate) fn is_broken(&self) -> bool {
        matches!(self.rest, Rest::Broken | Rest::TooLarge)
    }

    /// Whether the handler was told that it is larger than the limit.
    pub(crate) fn is_too_large(&self) -> bool {
        matches!(self.rest, Rest::TooLarge)
    }

    pub(crate) fn owes_continue(&self) -> bool {
        self.owes_continue
    }

    /// Sends the 100 that is owed while it can be sent, if somebody holds the body and may still ask for it.
    pub(crate) fn continue_if_held(&mut self, transport: &mut Transport<'_>) {
        if self.owes_continue && !self.feed.is_abandoned() {
            self.owes_continue = false;
            transport.output.buffer().extend_from_slice(CONTINUE);
        }
    }

    /// Gives the handler more, if it waits for more. Ready: it has been given something.
    pub(crate) fn poll(
        &mut self,
        transport: &mut Transport<'_>,
        cx: &mut TaskContext<'_>,
    ) -> Poll<()> {
        if self.is_done() || self.is_broken() {
            return Poll::Pending;
        }
        ready!(self.feed.poll_wanted(cx));
        match ready!(self.poll_step(transport, cx)) {
            Ok(Some(data)) => self.feed.chunk(data),
            Ok(None) => {
                if let Some(trailers) = self.trailers.take() {
                    self.feed.trailers(trailers);
                }
                self.feed.end(Ok(()));
            }
            Err(error) => {
                self.rest = match error {
                    BodyError::TooLarge => Rest::TooLarge,
                    _ => Rest::Broken,
                };
                self.feed.end(Err(error));
            }
        }
        Poll::Ready(())
    }

    /// The next data; `None` at the end.
    fn poll_step(
        &mut self,
        transport: &mut Transport<'_>,
        cx: &mut TaskContext<'_>,
    ) -> Poll<Result<Option<Bytes>, BodyError>> {
        loop {
            match self.take(transport)? {
                Step::Data(data) => {
                    self.received += data.len() as u64;
                    self.owes_continue = false; // the client has not waited for it
                    if let Some(since) = self.waiting.take() {
                        self.waited += since.elapsed();
                    }
                    return Poll::Ready(Ok(Some(data)));
                }
                Step::Done => {
                    if let Rest::Chunked(decoder) = &mut self.rest {
                        self.trailers = decoder.take_trailers();
                    }
                    self.rest = Rest::Done;
                    return Poll::Ready(Ok(None));
                }
                Step::Need => {}
            }
            if std::mem::take(&mut self.owes_continue) {
                transport.output.buffer().extend_from_slice(CONTINUE);
            }
            ready!(transport.poll_flush(cx)).map_err(lost)?;
            ready!(self.poll_read(transport, cx))?;
        }
    }

    /// Reads more off the connection.
    fn poll_read(
        &mut self,
        transport: &mut Transport<'_>,
        cx: &mut TaskContext<'_>,
    ) -> Poll<Result<(), BodyError>> {
        let since = *self.waiting.get_or_insert_with(|| {
            self.deadline.set(self.context.timeouts.body);
            Instant::now()
        });
        if transport
            .line
            .wire
            .poll_readable(cx)
            .map_err(lost)?
            .is_pending()
        {
            ready!(self.deadline.poll_expired(cx));
            return Poll::Ready(Err(self.too_slow(transport)));
        }
        let timeouts = &self.context.timeouts;
        let elapsed = self.waited + since.elapsed();
        let due = elapsed.as_secs().saturating_mul(timeouts.body_rate);
        if elapsed > timeouts.body_grace && self.received < due {
            return Poll::Ready(Err(self.too_slow(transport)));
        }
        match transport.read().map_err(lost)? {
            Some(0) => Poll::Ready(Err(BodyError::Truncated)),
            _ => Poll::Ready(Ok(())),
        }
    }

    fn too_slow(&self, transport: &Transport<'_>) -> BodyError {
        Counters::count(&transport.line.open.counters().body_timeouts);
        BodyError::TooSlow
    }

    /// Takes the next piece out of what has been read.
    fn take(&mut self, transport: &mut Transport<'_>) -> Result<Step, BodyError> {
        let input = &mut transport.input;
        match &mut self.rest {
            Rest::Done | Rest::Broken | Rest::TooLarge | Rest::Length(0) => Ok(Step::Done),
            Rest::Length(_) if input.is_empty() => Ok(Step::Need),
            Rest::Length(left) => {
                let count = (*left).min(input.bytes().len() as u64);
                *left -= count;
                let data = Bytes::copy_from_slice(&input.bytes()[..count as usize]);
                input.consume(count as usize);
                Ok(Step::Data(data))
            }
            Rest::Chunked(decoder) => loop {
                match decoder.next(input.bytes()) {
                    Ok(Piece::Framing(count)) => input.consume(count),
                    Ok(Piece::Data(count)) => {
                        if self.received + count as u64 > self.context.limits.body_bytes {
                            transport.line.open.counters().reject(Reject::BodyTooLarge);
                            return Err(BodyError::TooLarge);
                        }
                        let data = Bytes::copy_from_slice(&input.bytes()[..count]);
                        input.consume(count);
                        return Ok(Step::Data(data));
                    }
                    Ok(Piece::Need) => return Ok(Step::Need),
                    Ok(Piece::Done) => return Ok(Step::Done),
                    Err(reject) => {
                        transport.line.open.counters().reject(reject);
                        return Err(BodyError::Malformed(reject));
                    }
                }
            },
        }
    }

    /// Reads what the handler left, so that the next request can be found. False: it is too much, or broken.
    pub(crate) async fn drain(
        &mut self,
        transport: &mut Transport<'_>,
        limit: u64,
    ) -> io::Result<bool> {
        if self.is_broken() || self.owes_continue {
            return Ok(false);
        }
        if let Rest::Length(left) = self.rest
            && left > limit
        {
            return Ok(false);
        }
        // Nobody waits for this: the client gets its answer before it is asked for the rest.
        transport.flush().await?;
        let until = self.received.saturating_add(limit);
        while self.received <= until {
            match poll_fn(|cx| self.poll_step(transport, cx)).await {
                Ok(Some(_)) => {}
                Ok(None) => return Ok(true),
                Err(_) => return Ok(false),
            }
        }
        Ok(false)
    }
}

const CONTINUE: &[u8] = b"HTTP/1.1 100 Continue\r\n\r\n";

fn lost(error: io::Error) -> BodyError {
    match error.kind() {
        io::ErrorKind::TimedOut => BodyError::TooSlow,
        _ => BodyError::Truncated,
    }
}
