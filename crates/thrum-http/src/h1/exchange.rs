//! One exchange of a connection: a request, the application's answer to it, and what is left behind.

use std::io;
use std::pin::pin;
use std::sync::Arc;
use std::task::Context;
use std::time::Instant;

use bytes::Bytes;
use http::header::HeaderValue;
use http::{Method, Request, Response, StatusCode, Version};
use thrum_rt::sync::oneshot;

use super::buffer::keep_head;
use super::connection::{Active, Ended};
use super::encode::{self, Ending, Head};
use super::handler::{Hints, Pending, drive};
use super::request::{Framing, Terms, receive};
use super::upload::Upload;
use crate::body::{Kind, incoming};
use crate::server::{
    Asked, Context as Served, Counters, Exchange, Handled, internal_error, poll_call,
};
use crate::upgrade::{self, Upgraded};
use crate::{Application, Body, Reject};

/// Answers that wait for more of the same buffer are written when they are this long.
const FLUSH_AT: usize = 64 * 1024;

/// What an exchange came to, for whoever is told of it. True at any time, should the connection be lost.
struct Outcome {
    status: StatusCode,
    body_bytes: u64,
}

/// What an answer leaves behind.
struct Answered {
    keep_alive: bool,
    /// What is left of the request's body.
    upload: Pending,
    /// Who gets the connection now.
    upgraded: Option<oneshot::Sender<Upgraded>>,
}

impl<A: Application> Active<'_, A> {
    /// Answers the request whose head is parsed. `Some`: the connection ends.
    pub(super) async fn exchange(&mut self, length: usize) -> io::Result<Option<Ended>> {
        // The one copy of the head; the request's values and the observer's are slices of it.
        let bytes = keep_head(&self.transport.input.bytes()[..length]);
        self.transport.input.consume(length);
        let mut asked = None;
        let request = asked.insert(Request::new(Body::empty()));
        std::mem::swap(request.headers_mut(), &mut self.spare);
        let terms = match receive(&self.head, &bytes, request) {
            Ok(terms) => terms,
            Err(reject) => return self.refuse(reject, &bytes).await.map(Some),
        };
        if let Framing::Length(length) = terms.framing
            && length > self.transport.line.context.limits.body_bytes
        {
            return self.refuse(Reject::BodyTooLarge, &bytes).await.map(Some);
        }
        let begin = self
            .transport
            .line
            .context
            .observer
            .as_ref()
            .map(|_| Instant::now());
        let line = &mut *self.transport.line;
        line.served = line.served.saturating_add(1);
        Counters::count(&self.transport.line.open.counters().requests);
        let mut outcome = Outcome {
            status: StatusCode::INTERNAL_SERVER_ERROR,
            body_bytes: 0,
        };
        let answered = self.answer(&mut asked, terms, &mut outcome).await;
        if let (Some(observer), Some(begin)) = (&self.transport.line.context.observer, begin) {
            observer.finished(&Exchange {
                peer: self.transport.line.open.peer,
                asked: Asked::Head {
                    head: &self.head,
                    bytes: &bytes,
                },
                status: outcome.status,
                body_bytes: outcome.body_bytes,
                duration: begin.elapsed(),
                told: self.current.told(),
            });
        }
        self.current.clear_notes();
        let Answered {
            keep_alive,
            upload,
            upgraded,
        } = answered?;
        if let Some(promise) = upgraded {
            self.transport.flush().await?;
            let ahead = self.transport.ahead();
            return Ok(Some(Ended::Upgraded { promise, ahead }));
        }
        if keep_alive && upload.is_none() && self.transport.output.pending().len() < FLUSH_AT {
            return Ok(None); // nearly always
        }
        self.finish(keep_alive, upload).await
    }

    /// What follows an answer: the rest of the request's body, and the next request or the end.
    async fn finish(&mut self, mut keep_alive: bool, upload: Pending) -> io::Result<Option<Ended>> {
        let mut unread = false;
        if let Some(mut upload) = upload
            && !upload.is_done()
        {
            let limit = self.transport.line.context.limits.drain_bytes;
            let drained = keep_alive && upload.drain(&mut self.transport, limit).await?;
            unread = !drained;
            keep_alive &= drained;
        }
        if keep_alive {
            if self.transport.output.pending().len() >= FLUSH_AT {
                self.transport.flush().await?;
            }
            return Ok(None);
        }
        self.transport.flush().await?;
        // Requests that came with the last one or since are not answered, and must not destroy its answer.
        let unread = unread
            || !self.transport.input.is_empty()
            || matches!(self.transport.read(), Ok(Some(1..)));
        if unread {
            self.transport.linger().await;
        }
        Ok(Some(Ended::Closed))
    }

    /// Has the handler answer, and sends what it says.
    async fn answer(
        &mut self,
        request: &mut Option<Request<Body>>,
        terms: Terms,
        outcome: &mut Outcome,
    ) -> io::Result<Answered> {
        let Terms {
            framing,
            expects_continue,
            keep_alive,
            upgrade,
            takes_trailers,
        } = terms;
        let Active {
            transport, current, ..
        } = self;
        let (mut version, mut is_head) = (Version::HTTP_11, false);
        let (mut upload, mut upgraded) = (None, None);
        if let Some(request) = request {
            (version, is_head) = (request.version(), request.method() == Method::HEAD);
            upload = attach_body(request, framing, expects_continue, &transport.line.context);
            if upgrade && framing == Framing::None {
                let (sender, promise) = upgrade::promise();
                request.extensions_mut().insert(promise);
                upgraded = Some(sender);
            }
        }
        let mut handled = None;
        let mut future = pin!(None);
        let poll = |cx: &mut Context<'_>| {
            poll_call(self.application, request, future.as_mut(), &mut handled, cx)
        };
        drive(transport, current, &mut upload, Hints::new(version), poll).await?;
        future.set(None);
        if upload.as_ref().is_some_and(|upload| upload.is_too_large()) {
            handled = handled.map(unless_well);
        }
        let (mut error, mut failed) = (None, false);
        let response = match &mut handled {
            // An interim status is no answer: the client would take the next response for this one.
            Some(Handled::Response(response))
                if !response.status().is_informational()
                    || response.status() == StatusCode::SWITCHING_PROTOCOLS
                        && upgraded.is_some() =>
            {
                response
            }
            other => {
                failed = true;
                let counters = self.transport.line.open.counters();
                error.insert(internal_error(counters, other.as_ref()))
            }
        };

        let status = response.status();
        outcome.status = status;
        if status == StatusCode::SWITCHING_PROTOCOLS {
            encode::switching_protocols(self.transport.output.buffer(), response.headers());
            return Ok(Answered {
                keep_alive: false,
                upload,
                upgraded,
            });
        }
        let size = response.body().size();
        let ending = encode::ending(version, is_head, status, size);
        let last = self
            .transport
            .line
            .context
            .limits
            .requests
            .is_some_and(|limit| u64::from(self.transport.line.served) >= limit);
        // A response that may be made of the request's body will ask for it, and then its own head is sent already.
        if ending != Ending::NoBody
            && matches!(response.body().kind, Kind::Incoming(_) | Kind::Stream(_))
            && let Some(upload) = &mut upload
        {
            upload.continue_if_held(&mut self.transport);
        }
        // Whether a body that a 100 was owed for comes or not, nobody can tell; nor where one that broke off ends.
        let lost = upload
            .as_ref()
            .is_some_and(|upload| upload.owes_continue() || upload.is_broken());
        let keep_alive = keep_alive
            && !failed
            && !last
            && !lost
            && ending != Ending::Close
            && !self.transport.line.open.is_ending();
        let head = Head {
            version,
            status,
            headers: response.headers(),
            ending,
            size,
            keep_alive,
        };
        let keep_alive = head.encode(self.transport.output.buffer());
        response.headers_mut().clear();
        std::mem::swap(response.headers_mut(), &mut self.spare);
        let sent = &mut outcome.body_bytes;
        let complete = match self.transport.copy_body(response.body(), ending) {
            Some(copied) => {
                *sent = copied;
                true
            }
            None => {
                let body = std::mem::take(response.body_mut());
                let trailers = takes_trailers && ending == Ending::Chunked;
                self.send_body(body, ending, trailers, &mut upload, sent)
                    .await?
            }
        };
        Ok(Answered {
            keep_alive: keep_alive && complete,
            upload,
            upgraded: None,
        })
    }

    /// Says why a request is refused, and ends the connection.
    pub(super) async fn refuse(&mut self, reject: Reject, bytes: &Bytes) -> io::Result<Ended> {
        self.transport.line.open.counters().reject(reject);
        let status = reject.status();
        let text = format!("{status}\n{reject}\n");
        let mut response = Response::new(());
        let content_type = HeaderValue::from_static("text/plain; charset=utf-8");
        response
            .headers_mut()
            .insert(http::header::CONTENT_TYPE, content_type);
        let is_head = self.head.method.of(bytes) == b"HEAD";
        let length = text.len() as u64;
        let head = Head {
            version: Version::HTTP_11,
            status,
            headers: response.headers(),
            ending: if is_head {
                Ending::NoBody
            } else {
                Ending::Length(length)
            },
            size: Some(length),
            keep_alive: false,
        };
        let output = self.transport.output.buffer();
        head.encode(output);
        if !is_head {
            output.extend_from_slice(text.as_bytes());
        }
        let flushed = self.transport.flush().await;
        if let Some(observer) = &self.transport.line.context.observer {
            observer.finished(&Exchange {
                peer: self.transport.line.open.peer,
                asked: Asked::Head {
                    head: &self.head,
                    bytes,
                },
                status,
                body_bytes: if is_head { 0 } else { length },
                duration: std::time::Duration::ZERO,
                told: self.current.told(),
            });
        }
        flushed?;
        self.transport.linger().await;
        Ok(Ended::Closed)
    }
}

/// What becomes of an answer to a body that was larger than the limit: 413, unless the handler has answered well all the same.
fn unless_well(handled: Handled) -> Handled {
    match handled {
        Handled::Response(response)
            if !response.status().is_client_error() && !response.status().is_server_error() =>
        {
            Handled::Response(response)
        }
        Handled::Response(_) | Handled::Failed(_) => {
            let reject = Reject::BodyTooLarge;
            let text = format!("{}\n{reject}\n", reject.status());
            let mut response = Response::new(Body::from(text));
            *response.status_mut() = reject.status();
            Handled::Response(response)
        }
        Handled::Panicked => Handled::Panicked,
    }
}

/// Gives the request its body, if one follows the head.
fn attach_body(
    request: &mut Request<Body>,
    framing: Framing,
    expects_continue: bool,
    context: &Arc<Served>,
) -> Pending {
    let size = match framing {
        Framing::None => return None,
        Framing::Length(length) => Some(length),
        Framing::Chunked => None,
    };
    let (feed, incoming) = incoming::channel(size);
    *request.body_mut() = Body::incoming(incoming);
    let upload = Upload::new(feed, framing, expects_continue, context);
    Some(Box::new(upload))
}
