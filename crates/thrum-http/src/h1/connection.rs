//! One connection, from its first byte to its last.
//!
//! It reads what is there, answers all complete requests of it, and writes the answers at once (DESIGN D6). It waits
//! without a buffer. Requests are answered one after the other, in their order; while a handler is not done, nothing is read
//! but the body that it asks for.

use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::pin;
use std::sync::Arc;
use std::time::Instant;

use bytes::Bytes;
use http::header::{CONNECTION, HeaderValue};
use http::{Request, Response, StatusCode, Version};
use thrum_parse::http::{HeadParser, RequestHead, Status};
use thrum_rt::sync::oneshot;

use super::buffer::keep_head;
use super::encode::{self, Ending, Head};
use super::handler::{Hints, Pending, drive};
use super::request::{Framing, Terms, receive};
use super::transport::{Awaited, Transport};
use super::upload::Upload;
use crate::body::{Kind, incoming};
use crate::server::{
    Asked, ConnectionInfo, Context, Counters, Current, Exchange, Handled, Open, internal_error,
    poll_handler,
};
use crate::upgrade::{self, Upgraded};
use crate::wire::Wire;
use crate::{Application, Body, Reject, h2};

/// Answers that wait for more of the same buffer are written when they are this long.
const FLUSH_AT: usize = 64 * 1024;

/// What a client begins with that speaks HTTP/2 and knows that we do (RFC 9113 section 3.3).
const HTTP2_PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

/// Serves a connection until it ends.
pub(crate) async fn serve<A: Application>(
    open: Open,
    wire: Wire,
    context: Arc<Context>,
    application: A,
) {
    let current = Current::new(ConnectionInfo { peer: open.peer });
    let transport = Transport::new(open, wire, context.limits.head_bytes, context.timeouts);
    let parser = HeadParser::new(context.limits.head());
    let head = RequestHead::new();
    let mut connection = Connection {
        transport,
        context,
        application,
        current,
        parser,
        head,
        served: 0,
    };
    match connection.run().await {
        Ok(Ended::Clean) => {}
        Ok(Ended::Unread) => {
            let max_bytes = connection.context.limits.drain_bytes;
            connection.transport.linger(max_bytes).await;
        }
        Ok(Ended::Upgraded(promise)) => {
            let (open, wire, ahead) = connection.transport.into_parts();
            // Nobody waits for it any more: it closes.
            let _ = promise.send(Upgraded::new(wire, ahead, Some(open)));
        }
        Ok(Ended::Http2) => {
            let Connection {
                transport,
                context,
                application,
                ..
            } = connection;
            let (open, wire, ahead) = transport.into_parts();
            // Boxed, so that it does not make every connection larger.
            Box::pin(h2::serve(open, wire, ahead, context, application)).await;
        }
        // The client is gone, or does not take its answer. That is its right.
        Err(error) => {
            tracing::trace!(%error, peer = ?connection.transport.open.peer, "connection lost")
        }
    }
}

pub(super) struct Connection<A> {
    pub(super) transport: Transport,
    pub(super) context: Arc<Context>,
    application: A,
    pub(super) current: Current,
    parser: HeadParser,
    head: RequestHead,
    /// Requests so far.
    served: u64,
}

/// How a connection ends.
enum Ended {
    /// Nothing is left to read.
    Clean,
    /// The client may be sending still.
    Unread,
    /// It goes on in another protocol, for whoever waits for it.
    Upgraded(oneshot::Sender<Upgraded>),
    /// It is HTTP/2, from its first byte.
    Http2,
}

/// What comes next from the client.
enum Next {
    /// A head of so many bytes.
    Head(usize),
    Refused(Reject),
    Http2,
    End,
}

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

impl<A: Application> Connection<A> {
    async fn run(&mut self) -> io::Result<Ended> {
        loop {
            match self.next().await? {
                Next::Head(length) => {
                    if let Some(ended) = self.exchange(length).await? {
                        return Ok(ended);
                    }
                }
                Next::Refused(reject) => {
                    // What there is of the head cannot be trusted, so it is not told.
                    self.head.clear();
                    return self.refuse(reject, &Bytes::new()).await;
                }
                Next::Http2 => return Ok(Ended::Http2),
                Next::End => return Ok(Ended::Clean),
            }
        }
    }

    /// Reads until a head is complete.
    async fn next(&mut self) -> io::Result<Next> {
        let mut begun = false;
        let mut eof = false;
        loop {
            let transport = &mut self.transport;
            if !transport.input.is_empty() {
                match self
                    .parser
                    .parse(transport.input.bytes(), eof, &mut self.head)
                {
                    Ok(Status::Complete { consumed }) => return Ok(Next::Head(consumed)),
                    Ok(Status::Partial) => {}
                    Err(_)
                        if self.served == 0
                            && transport.input.bytes().starts_with(HTTP2_PREFACE) =>
                    {
                        return Ok(Next::Http2);
                    }
                    Err(_)
                        if self.served == 0
                            && !eof
                            && HTTP2_PREFACE.starts_with(transport.input.bytes()) => {}
                    // The empty line that some clients send behind a body (RFC 9112 section 2.2).
                    Err(_) if eof && transport.input.bytes() == b"\r\n" => return Ok(Next::End),
                    Err(error) => return Ok(Next::Refused(error.into())),
                }
            } else if eof {
                return Ok(Next::End);
            }
            transport.flush().await?;
            if transport.input.is_empty() {
                transport.release_buffers();
                transport.deadline.set(self.context.timeouts.idle);
            } else if !std::mem::replace(&mut begun, true) {
                transport.deadline.set(self.context.timeouts.head);
            }
            match transport.readable().await? {
                Awaited::Readable => eof = transport.read()? == Some(0),
                Awaited::Expired if begun => return Ok(Next::Refused(Reject::HeadTimeout)),
                Awaited::Expired | Awaited::Ending => return Ok(Next::End),
            }
        }
    }

    /// Answers the request whose head is parsed. `Some`: the connection ends.
    async fn exchange(&mut self, length: usize) -> io::Result<Option<Ended>> {
        // The one copy of the head; the request's values and the observer's are slices of it.
        let bytes = keep_head(&self.transport.input.bytes()[..length]);
        self.transport.input.consume(length);
        let mut request = Request::new(Body::empty());
        let terms = match receive(&self.head, &bytes, &mut request) {
            Ok(terms) => terms,
            Err(reject) => return self.refuse(reject, &bytes).await.map(Some),
        };
        if let Framing::Length(length) = terms.framing
            && length > self.context.limits.body_bytes
        {
            return self.refuse(Reject::BodyTooLarge, &bytes).await.map(Some);
        }
        let begin = self.context.observer.as_ref().map(|_| Instant::now());
        self.served += 1;
        Counters::count(&self.transport.open.counters().requests);
        let mut outcome = Outcome {
            status: StatusCode::INTERNAL_SERVER_ERROR,
            body_bytes: 0,
        };
        let answered = self.answer(request, terms, &mut outcome).await;
        if let (Some(observer), Some(begin)) = (&self.context.observer, begin) {
            observer.finished(&Exchange {
                peer: self.transport.open.peer,
                asked: Asked::Head {
                    head: &self.head,
                    bytes: &bytes,
                },
                status: outcome.status,
                body_bytes: outcome.body_bytes,
                duration: begin.elapsed(),
            });
        }
        let Answered {
            keep_alive,
            upload,
            upgraded,
        } = answered?;
        if let Some(promise) = upgraded {
            self.transport.flush().await?;
            return Ok(Some(Ended::Upgraded(promise)));
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
            let limit = self.context.limits.drain_bytes;
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
        Ok(Some(if unread { Ended::Unread } else { Ended::Clean }))
    }

    /// Has the handler answer, and sends what it says.
    async fn answer(
        &mut self,
        mut request: Request<Body>,
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
        let (version, method) = (request.version(), request.method().clone());
        let mut upload = self.attach_body(&mut request, framing, expects_continue);
        let mut upgraded = None;
        if upgrade && framing == Framing::None {
            let (sender, promise) = upgrade::promise();
            request.extensions_mut().insert(promise);
            upgraded = Some(sender);
        }

        // Errors become text at once: they need not be `Send`. The response is put in its place and not handed on from poll
        // to poll: it is large, and moving it shows.
        let mut handled = None;
        let mut ready = Ok(());
        let hints = Hints::new(version);
        drive(
            &mut self.transport,
            &mut self.current,
            &mut None,
            hints,
            |cx| {
                let polled = self.application.poll_ready(cx);
                polled.map(|result| ready = result.map_err(|error| error.to_string()))
            },
        )
        .await?;
        match ready {
            Err(error) => handled = Some(Handled::Failed(error)),
            Ok(()) => {
                let application = &mut self.application;
                let call = || catch_unwind(AssertUnwindSafe(|| application.call(request)));
                match self.current.enter(call) {
                    Err(_) => handled = Some(Handled::Panicked),
                    Ok(future) => {
                        let mut future = pin!(future);
                        drive(
                            &mut self.transport,
                            &mut self.current,
                            &mut upload,
                            hints,
                            |cx| {
                                poll_handler::<A>(future.as_mut(), cx)
                                    .map(|done| handled = Some(done))
                            },
                        )
                        .await?;
                    }
                }
            }
        }
        let (response, failed) = match handled {
            // An interim status is no answer: the client would take the next response for this one.
            Some(Handled::Response(response))
                if !response.status().is_informational()
                    || response.status() == StatusCode::SWITCHING_PROTOCOLS
                        && upgraded.is_some() =>
            {
                (response, false)
            }
            other => (internal_error(self.transport.open.counters(), other), true),
        };

        let (parts, body) = response.into_parts();
        outcome.status = parts.status;
        if parts.status == StatusCode::SWITCHING_PROTOCOLS {
            encode::switching_protocols(self.transport.output.buffer(), &parts.headers);
            return Ok(Answered {
                keep_alive: false,
                upload,
                upgraded,
            });
        }
        let size = body.size();
        let ending = encode::ending(version, &method, parts.status, size);
        let last = self
            .context
            .limits
            .requests
            .is_some_and(|limit| self.served >= limit);
        // A response that may be made of the request's body will ask for it, and then its own head is sent already.
        if ending != Ending::NoBody
            && matches!(body.kind, Kind::Incoming(_) | Kind::Stream(_))
            && let Some(upload) = &mut upload
        {
            upload.continue_if_held(&mut self.transport);
        }
        // Whether a body that a 100 was owed for comes or not, nobody can tell.
        let owes_continue = upload.as_ref().is_some_and(|upload| upload.owes_continue());
        let keep_alive = keep_alive
            && !failed
            && !last
            && !owes_continue
            && ending != Ending::Close
            && !parts.headers.get_all(CONNECTION).iter().any(says_close)
            && !self.transport.open.is_ending();
        let head = Head {
            version,
            status: parts.status,
            headers: &parts.headers,
            ending,
            size,
            keep_alive,
        };
        head.encode(self.transport.output.buffer());
        let trailers = takes_trailers && ending == Ending::Chunked;
        let sent = &mut outcome.body_bytes;
        let complete = self
            .send_body(body, ending, trailers, &mut upload, sent)
            .await?;
        Ok(Answered {
            keep_alive: keep_alive && complete,
            upload,
            upgraded: None,
        })
    }

    /// Gives the request its body, if one follows the head.
    fn attach_body(
        &self,
        request: &mut Request<Body>,
        framing: Framing,
        expects_continue: bool,
    ) -> Pending {
        let size = match framing {
            Framing::None => return None,
            Framing::Length(length) => Some(length),
            Framing::Chunked => None,
        };
        let (feed, incoming) = incoming::channel(size);
        *request.body_mut() = Body::incoming(incoming);
        Some(Box::new(Upload::new(
            feed,
            framing,
            expects_continue,
            &self.context,
        )))
    }

    /// Says why a request is refused, and ends the connection.
    async fn refuse(&mut self, reject: Reject, bytes: &Bytes) -> io::Result<Ended> {
        self.transport.open.counters().reject(reject);
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
        if let Some(observer) = &self.context.observer {
            observer.finished(&Exchange {
                peer: self.transport.open.peer,
                asked: Asked::Head {
                    head: &self.head,
                    bytes,
                },
                status,
                body_bytes: if is_head { 0 } else { length },
                duration: std::time::Duration::ZERO,
            });
        }
        flushed.map(|()| Ended::Unread)
    }
}

fn says_close(value: &HeaderValue) -> bool {
    let mut options = value
        .as_bytes()
        .split(|&byte| byte == b',')
        .map(<[u8]>::trim_ascii);
    options.any(|option| option.eq_ignore_ascii_case(b"close"))
}
