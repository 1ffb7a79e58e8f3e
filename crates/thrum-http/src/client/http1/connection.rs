//! One connection: it sends a request while it listens for the response.
//!
//! The server may answer before it has taken all of a request's body. A refusal ends the upload; else it goes on while the
//! response is read, so that bodies can flow both ways at once.

use std::future::poll_fn;
use std::io::{self, ErrorKind};
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use http::{Method, Request, Response, StatusCode};
use thiserror::Error as ThisError;
use thrum_parse::http::{HeadError, HeadParser, ResponseHead, Status};
use thrum_rt::time::{Deadline, Instant};

use super::super::exchange::Clock;
use super::super::request::Options;
use super::super::{BadResponse, Config, Error, Phase};
use super::receive::{self, Framing, receive};
use super::upload::{Broken, Upload};
use super::{encode, receive::interim};
use crate::Body;
use crate::h1::{Input, Output, keep_head};
use crate::wire::{Wire, would_block};

/// Bytes that are read at a time. A larger head gets more memory.
pub(super) const READ_BYTES: usize = 16 * 1024;

pub(crate) struct Connection {
    pub(super) wire: Wire,
    pub(super) input: Input,
    pub(super) output: Output,
    pub(super) deadline: Deadline,
    pub(super) config: Arc<Config>,
    /// The other end is a proxy, which wants the whole URL of what is asked for.
    whole_urls: bool,
    parser: HeadParser,
    head: ResponseHead,
    born: Instant,
}

/// A response whose body is to come.
pub(crate) struct Answer {
    pub(super) response: Response<Body>,
    pub(super) framing: Framing,
    /// The connection can be used again after the body.
    pub(super) reusable: bool,
    /// What is left of the request's body.
    pub(super) upload: Option<Upload>,
}

/// A request that came to nothing.
pub(crate) struct Failure {
    pub(crate) error: Error,
    /// How far it had come when the connection was lost; `None` if that is not what happened.
    pub(crate) lost: Option<Lost>,
    /// The request still has all of its body.
    pub(crate) is_replayable: bool,
}

impl Failure {
    /// One for want of a connection.
    pub(crate) fn unsent(error: Error) -> Self {
        Self {
            error,
            lost: None,
            is_replayable: true,
        }
    }
}

/// How far a request had come when the connection was lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Lost {
    /// Nothing of it had been written.
    Unsent,
    /// The server says that it has done nothing about it. HTTP/1.1 has no words for that.
    Refused,
    /// No byte of an answer had come.
    Unanswered,
}

/// The server closed the connection instead of answering.
#[derive(Debug, ThisError)]
#[error("the server closed the connection without answering")]
pub(super) struct NoAnswer;

/// A request under way.
struct Sending<'a> {
    upload: Upload,
    /// The body waits to be asked for.
    holds: bool,
    sent: bool,
    /// Why not all of the request was sent. The server may have said why.
    broken: Option<io::Error>,
    wrote: bool,
    answered: bool,
    lost: bool,
    eof: bool,
    interim: u32,
    upgrade: bool,
    /// What the deadline is for, if it is set.
    waits_for: Option<WaitsFor>,
    options: &'a Options,
    clock: &'a Clock,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum WaitsFor {
    Room,
    /// The caller's body: that is not the server's time.
    Body,
    Continue,
    Response,
}

impl Connection {
    pub(crate) fn new(wire: Wire, config: Arc<Config>, whole_urls: bool) -> Self {
        Self {
            wire,
            input: Input::new(READ_BYTES),
            output: Output::default(),
            deadline: Deadline::new(),
            parser: HeadParser::new(config.limits.head()),
            config,
            whole_urls,
            head: ResponseHead::new(),
            born: Instant::now(),
        }
    }

    pub(crate) fn age(&self) -> Duration {
        self.born.elapsed()
    }

    /// Gives back what an idle connection does not need.
    pub(crate) fn rest(&mut self) {
        self.input.release();
        self.output.release();
        self.deadline.clear();
    }

    /// Whether a connection that idled can take a request: the server has neither closed it nor sent anything. What it sends
    /// unasked would be taken for the next response.
    pub(crate) fn is_usable(&mut self, cx: &mut Context<'_>) -> bool {
        is_silent(&mut self.wire, &mut self.input, cx)
    }

    /// The connection for another protocol, and what has come of that.
    pub(crate) fn into_parts(self) -> (Wire, bytes::Bytes) {
        let ahead = bytes::Bytes::copy_from_slice(self.input.bytes());
        (self.wire, ahead)
    }

    /// Sends a request and waits for the head of its response. After a failure the connection is of no use. A body in
    /// memory stays with the request.
    pub(crate) async fn send(
        &mut self,
        request: &mut Request<Body>,
        options: &Options,
        clock: &Clock,
    ) -> Result<Answer, Failure> {
        let defaults = &self.config.headers;
        let encoded = encode::head(self.output.buffer(), request, defaults, self.whole_urls);
        let terms = encoded.map_err(|why| Failure {
            error: Error::new(Phase::Request, why),
            lost: None,
            is_replayable: true,
        })?;
        let waits = terms.expects_continue;
        let upload = Upload::new(request.body_mut(), terms.framing, waits, &mut self.output);
        let mut sending = Sending {
            upload,
            holds: waits,
            sent: false,
            broken: None,
            wrote: false,
            answered: false,
            lost: false,
            eof: false,
            interim: 0,
            upgrade: terms.upgrade,
            waits_for: None,
            options,
            clock,
        };
        let received = poll_fn(|cx| self.poll_head(&mut sending, cx)).await;
        let answered = received.and_then(|length| self.answer(request.method(), &sending, length));
        let (response, received) = match answered {
            Ok(answered) => answered,
            Err(error) => {
                let lost = match (sending.lost, sending.wrote) {
                    (true, false) => Some(Lost::Unsent),
                    (true, true) if !sending.answered => Some(Lost::Unanswered),
                    _ => None,
                };
                let is_replayable = sending.upload.restore(request.body_mut());
                return Err(Failure {
                    error,
                    lost,
                    is_replayable,
                });
            }
        };
        let refused = response.status().is_client_error() || response.status().is_server_error();
        let complete = sending.sent && sending.broken.is_none();
        let goes_on = !complete && !refused && !sending.holds && sending.broken.is_none();
        Ok(Answer {
            response,
            framing: received.framing,
            reusable: received.keep_alive && !terms.close && (complete || goes_on) && !sending.eof,
            upload: goes_on.then_some(sending.upload),
        })
    }

    /// Makes the response of a head of so many bytes.
    fn answer(
        &mut self,
        method: &Method,
        sending: &Sending<'_>,
        length: usize,
    ) -> Result<(Response<Body>, receive::Terms), Error> {
        // The one copy of the head; the response's values are slices of it.
        let bytes = keep_head(&self.input.bytes()[..length]);
        self.input.consume(length);
        let mut response = Response::new(Body::empty());
        let terms = receive(&self.head, &bytes, method, sending.upgrade, &mut response)
            .map_err(|bad| Error::new(Phase::Head, bad))?;
        Ok((response, terms))
    }

    /// Sends what can be sent, and reads until there is the head of a final response, of so many bytes.
    fn poll_head(
        &mut self,
        sending: &mut Sending<'_>,
        cx: &mut Context<'_>,
    ) -> Poll<Result<usize, Error>> {
        loop {
            if !sending.sent {
                self.poll_send(sending, cx)?;
            }
            if let Some(length) = self.next_head(sending)? {
                return Poll::Ready(Ok(length));
            }
            match self.wire.poll_readable(cx) {
                Poll::Ready(Ok(())) => self.read(sending)?,
                Poll::Ready(Err(error)) => return Poll::Ready(Err(sending.lose(error))),
                Poll::Pending => {
                    if self.deadline.poll_expired(cx).is_pending() {
                        return Poll::Pending;
                    }
                    self.expire(sending)?;
                }
            }
        }
    }

    /// Sends what can be sent, and sets the deadline for what is waited for.
    fn poll_send(&mut self, sending: &mut Sending<'_>, cx: &mut Context<'_>) -> Result<(), Error> {
        let (wire, output) = (&mut self.wire, &mut self.output);
        let polled = if sending.holds {
            sending.upload.poll_head(wire, output, cx)
        } else {
            sending.upload.poll(wire, output, cx)
        };
        let progress = std::mem::take(&mut sending.upload.wrote);
        sending.wrote |= progress;
        let waits_for = match polled {
            Poll::Pending if sending.upload.starves => WaitsFor::Body,
            Poll::Pending => WaitsFor::Room,
            Poll::Ready(Ok(())) if sending.holds => WaitsFor::Continue,
            Poll::Ready(Ok(())) => {
                sending.sent = true;
                WaitsFor::Response
            }
            // The server may have answered before it closed.
            Poll::Ready(Err(Broken::Wire(error))) => {
                sending.sent = true;
                sending.broken = Some(error);
                WaitsFor::Response
            }
            Poll::Ready(Err(Broken::Body(error))) => return Err(Error::new(Phase::Send, error)),
        };
        if progress || sending.waits_for != Some(waits_for) {
            self.wait_for(sending, waits_for)?;
        }
        Ok(())
    }

    fn wait_for(&mut self, sending: &mut Sending<'_>, what: WaitsFor) -> Result<(), Error> {
        sending.waits_for = Some(what);
        let timeouts = &self.config.timeouts;
        let (phase, patience) = match what {
            WaitsFor::Room => (Phase::Send, timeouts.write),
            WaitsFor::Continue => (Phase::Send, timeouts.expect_continue),
            WaitsFor::Response => (Phase::Head, timeouts.head),
            WaitsFor::Body => {
                match sending.clock.left() {
                    Some(left) => self.deadline.set(left),
                    None => self.deadline.clear(),
                }
                return Ok(());
            }
        };
        self.deadline.set(sending.clock.at_most(patience, phase)?);
        Ok(())
    }

    /// What was waited for did not come in time.
    fn expire(&mut self, sending: &mut Sending<'_>) -> Result<(), Error> {
        let timeouts = &self.config.timeouts;
        let clock = sending.clock;
        match sending.waits_for {
            Some(WaitsFor::Continue) if clock.left() != Some(Duration::ZERO) => {
                sending.holds = false;
                Ok(())
            }
            Some(WaitsFor::Room) => Err(clock.expired(Phase::Send, timeouts.write)),
            Some(WaitsFor::Body | WaitsFor::Continue) => {
                Err(clock.expired(Phase::Send, timeouts.expect_continue))
            }
            Some(WaitsFor::Response) | None => Err(clock.expired(Phase::Head, timeouts.head)),
        }
    }

    /// Reads what is there.
    fn read(&mut self, sending: &mut Sending<'_>) -> Result<(), Error> {
        if self.input.space().is_empty() && !self.input.grow(self.config.limits.head_bytes) {
            let bad = BadResponse::Head(HeadError::HeadTooLarge);
            return Err(Error::new(Phase::Head, bad));
        }
        match self.wire.try_read(self.input.space()) {
            Ok(0) => sending.eof = true,
            Ok(read) => {
                sending.answered = true;
                self.input.filled(read);
            }
            Err(error) if would_block(&error) => {}
            Err(error) => return Err(sending.lose(error)),
        }
        Ok(())
    }

    /// The length of a final response's head, once it is there. Interim responses are dealt with.
    fn next_head(&mut self, sending: &mut Sending<'_>) -> Result<Option<usize>, Error> {
        loop {
            let bytes = self.input.bytes();
            if bytes.is_empty() {
                if sending.eof {
                    return Err(sending.lose(io::Error::new(ErrorKind::UnexpectedEof, NoAnswer)));
                }
                return Ok(None);
            }
            let bad = |error: BadResponse| Error::new(Phase::Head, error);
            let parsed = self.parser.parse(bytes, sending.eof, &mut self.head);
            let length = match parsed.map_err(|error| bad(error.into()))? {
                Status::Partial => return Ok(None),
                Status::Complete { consumed } => consumed,
            };
            let status = receive::status(&self.head).map_err(bad)?;
            if !status.is_informational() || status == StatusCode::SWITCHING_PROTOCOLS {
                return Ok(Some(length));
            }
            sending.interim += 1;
            if sending.interim > self.config.limits.interim_responses {
                return Err(bad(BadResponse::TooManyInterim));
            }
            if let Some(call) = &sending.options.on_interim {
                call(status, &interim(&self.head, bytes).map_err(bad)?);
            }
            self.input.consume(length);
            sending.holds &= status != StatusCode::CONTINUE;
            if sending.sent {
                self.wait_for(sending, WaitsFor::Response)?;
            }
        }
    }
}

/// Whether the other end has neither closed the connection nor sent anything.
pub(super) fn is_silent(wire: &mut Wire, input: &mut Input, cx: &mut Context<'_>) -> bool {
    match wire.poll_readable(cx) {
        Poll::Pending => true,
        // Perhaps only because nobody has tried.
        Poll::Ready(Ok(())) => {
            let nothing = matches!(wire.try_read(input.space()),
                Err(error) if would_block(&error));
            input.release();
            nothing
        }
        Poll::Ready(Err(_)) => false,
    }
}

impl Sending<'_> {
    /// The connection is lost. If sending failed before, that says more.
    fn lose(&mut self, error: io::Error) -> Error {
        self.lost = true;
        match self.broken.take() {
            Some(error) => Error::new(Phase::Send, error),
            None => Error::new(Phase::Head, error),
        }
    }
}
