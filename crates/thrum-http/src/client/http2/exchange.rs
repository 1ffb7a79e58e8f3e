//! One request on a shared connection, until the head of its response has come.

use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use h2::Reason;
use h2::client::ResponseFuture;
use http::header::CONTENT_LENGTH;
use http::{Method, Request, Response, StatusCode};
use thrum_parse::http::HeadError;
use thrum_rt::time::{Deadline, timeout};

use super::super::exchange::Clock;
use super::super::http1::{Failure, Lost};
use super::super::request::Options;
use super::super::{BadResponse, Error, Phase};
use super::connection::{Active, Connection};
use super::download::Download;
use super::head::head;
use super::upload::{Broken, Upload};
use crate::Body;
use crate::body::Kind;

impl Connection {
    /// Sends a request and waits for the head of its response. A body in memory stays with the request, others only until
    /// they are begun.
    ///
    /// Dropping the future resets the stream, if there is one already.
    pub(crate) async fn send(
        &self,
        request: &mut Request<Body>,
        options: &Options,
        clock: Clock,
    ) -> Result<Response<Body>, Failure> {
        let whole = |error, lost| Failure {
            error,
            lost,
            is_replayable: true,
        };
        let config = &self.shared.config;
        let (head, expects) = head(request, &config.headers)
            .map_err(|why| whole(Error::new(Phase::Request, why), None))?;
        let method = head.method().clone();
        let Some(active) = self.shared.begin() else {
            return Err(whole(Error::new(Phase::Send, Retired), Some(Lost::Unsent)));
        };
        let has_body = request.body().size() != Some(0);
        // A clone has no request that waits to be opened, so it is ready.
        let mut sender = self.sender.clone();
        let (response, stream) = match sender.send_request(head, !has_body) {
            Ok(opened) => opened,
            Err(error) => {
                self.shared.retire();
                return Err(whole(Error::new(Phase::Send, error), Some(Lost::Unsent)));
            }
        };
        let patience = clock.at_most(config.timeouts.queue, Phase::Queue);
        let patience = patience.map_err(|error| whole(error, None))?;
        // The server allows only so many at once.
        match timeout(patience, poll_fn(|cx| sender.poll_ready(cx))).await {
            Ok(Ok(())) => {}
            Ok(Err(error)) => {
                self.shared.retire();
                return Err(whole(Error::new(Phase::Send, error), Some(Lost::Unsent)));
            }
            Err(_) => return Err(whole(clock.expired(Phase::Queue, patience), None)),
        }
        let (body, kept) = match (has_body, request.body().try_clone()) {
            (false, _) => (None, true),
            (true, Some(again)) => (Some(again), true),
            (true, None) => (Some(std::mem::take(request.body_mut())), false),
        };
        let mut sending = Sending {
            heard: self.shared.heard(),
            response,
            upload: body.map(|body| Upload::new(stream, body)),
            has_begun: false,
            active,
            holds: expects,
            interim: 0,
            deadline: Deadline::new(),
            waits_for: None,
            options,
            clock,
        };
        match poll_fn(|cx| sending.poll(cx)).await {
            Ok(response) => Ok(sending.respond(&method, response)),
            Err((error, lost)) => {
                let has_begun = sending.has_begun;
                if !kept
                    && !has_begun
                    && let Some(upload) = sending.upload.take()
                {
                    *request.body_mut() = upload.into_body();
                }
                Err(Failure {
                    error,
                    lost,
                    is_replayable: kept || !has_begun,
                })
            }
        }
    }
}

/// The connection takes no more requests.
#[derive(Debug, thiserror::Error)]
#[error("the connection has ended")]
struct Retired;

type Answer = Response<h2::RecvStream>;

struct Sending<'a> {
    response: ResponseFuture,
    upload: Option<Upload>,
    has_begun: bool,
    active: Active,
    /// What had come of the server when this began.
    heard: u64,
    /// The body waits to be asked for.
    holds: bool,
    interim: u32,
    deadline: Deadline,
    waits_for: Option<WaitsFor>,
    options: &'a Options,
    clock: Clock,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum WaitsFor {
    Continue,
    /// Room for the body, of which so much was sent.
    Room(u64),
    /// The caller's body: that is not the server's time.
    Body,
    /// The response, or another after so many that are interim.
    Response(u32),
}

impl Sending<'_> {
    fn poll(&mut self, cx: &mut Context<'_>) -> Poll<Result<Answer, (Error, Option<Lost>)>> {
        loop {
            while let Poll::Ready(Some(Ok(interim))) = self.response.poll_informational(cx) {
                self.interim += 1;
                if self.interim > self.active.0.config.limits.interim_responses {
                    return Poll::Ready(Err(bad(BadResponse::TooManyInterim)));
                }
                self.holds &= interim.status() != StatusCode::CONTINUE;
                if let Some(call) = &self.options.on_interim {
                    call(interim.status(), interim.headers());
                }
            }
            if !self.holds
                && let Some(upload) = &mut self.upload
            {
                let end = upload.poll(cx);
                self.has_begun |= upload.has_begun;
                match end {
                    Poll::Pending => {}
                    Poll::Ready(Err(Broken::Body(error))) => {
                        return Poll::Ready(Err((Error::new(Phase::Send, error), None)));
                    }
                    // It is over, or the response tells why it is.
                    Poll::Ready(_) => self.upload = None,
                }
            }
            if let Poll::Ready(response) = Pin::new(&mut self.response).poll(cx) {
                return Poll::Ready(self.judge(response));
            }
            let waits_for = self.waits_for();
            if self.waits_for != Some(waits_for) {
                self.waits_for = Some(waits_for);
                match self.patience(waits_for) {
                    Ok(Some(patience)) => self.deadline.set(patience),
                    Ok(None) => self.deadline.clear(),
                    Err(error) => return Poll::Ready(Err((error, None))),
                }
            }
            match self.deadline.poll_expired(cx) {
                Poll::Pending => return Poll::Pending,
                Poll::Ready(()) if self.holds && self.clock.left() != Some(Duration::ZERO) => {
                    self.holds = false; // regardless, as RFC 9110 section 10.1.1 wants it
                }
                Poll::Ready(()) => return Poll::Ready(Err((self.expired(waits_for), None))),
            }
        }
    }

    fn waits_for(&self) -> WaitsFor {
        match &self.upload {
            Some(_) if self.holds => WaitsFor::Continue,
            Some(upload) if upload.waits_for_room() => WaitsFor::Room(upload.sent),
            Some(_) => WaitsFor::Body,
            None => WaitsFor::Response(self.interim),
        }
    }

    fn patience(&self, waits_for: WaitsFor) -> Result<Option<Duration>, Error> {
        let timeouts = &self.active.0.config.timeouts;
        let (patience, phase) = match waits_for {
            WaitsFor::Continue => (timeouts.expect_continue, Phase::Send),
            WaitsFor::Room(_) => (timeouts.write, Phase::Send),
            WaitsFor::Body => return Ok(self.clock.left()),
            WaitsFor::Response(_) => (timeouts.head, Phase::Head),
        };
        self.clock.at_most(patience, phase).map(Some)
    }

    /// A time limit has passed. A connection that was silent all the while is not to be used again.
    fn expired(&self, waits_for: WaitsFor) -> Error {
        let shared = &self.active.0;
        if shared.heard() == self.heard {
            shared.retire();
        }
        match waits_for {
            WaitsFor::Response(_) => self.clock.expired(Phase::Head, shared.config.timeouts.head),
            _ => self
                .clock
                .expired(Phase::Send, shared.config.timeouts.write),
        }
    }

    fn judge(&self, response: Result<Answer, h2::Error>) -> Result<Answer, (Error, Option<Lost>)> {
        match response {
            Ok(response) if response.headers().len() > self.active.0.config.limits.fields => {
                Err(bad(BadResponse::Head(HeadError::TooManyFields)))
            }
            Ok(response) => Ok(response),
            Err(error) => {
                let lost = lost(&error);
                if !error.is_reset() {
                    self.active.0.retire();
                }
                Err((Error::new(Phase::Head, error), lost))
            }
        }
    }

    fn respond(self, method: &Method, response: Answer) -> Response<Body> {
        let (head, stream) = response.into_parts();
        if stream.is_end_stream() && self.upload.is_none() {
            return Response::from_parts(head, Body::empty());
        }
        let length = head
            .headers
            .get(CONTENT_LENGTH)
            .filter(|_| method != Method::HEAD);
        let length = length.and_then(|value| value.to_str().ok()?.parse().ok());
        let body = Download::new(stream, self.upload, self.active, length, self.clock);
        let mut whole = Body::empty();
        whole.kind = Kind::Stream(Box::pin(body));
        Response::from_parts(head, whole)
    }
}

fn bad(why: BadResponse) -> (Error, Option<Lost>) {
    (Error::new(Phase::Head, why), None)
}

/// How far a request had come. A server says so: it has done nothing about what it refuses, nor about what came after the
/// last stream that its GOAWAY names (RFC 9113, 6.8 and 8.7).
fn lost(error: &h2::Error) -> Option<Lost> {
    if error.is_remote() && (error.is_go_away() || error.reason() == Some(Reason::REFUSED_STREAM)) {
        Some(Lost::Refused)
    } else if error.is_io() || error.is_go_away() {
        Some(Lost::Unanswered)
    } else {
        None
    }
}
