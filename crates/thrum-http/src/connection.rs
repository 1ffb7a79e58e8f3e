//! One connection, from its first byte to its last.
//!
//! It reads what is there, answers all complete requests of it, and writes the answers at once (DESIGN D6). It waits
//! without a buffer. Requests are answered one after the other, in their order; while a handler is not done, nothing is read
//! but the body that it asks for.

use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::Poll;
use std::time::Instant;

use bytes::Bytes;
use http::header::{CONNECTION, HeaderValue};
use http::{Request, Response, StatusCode, Version};
use http_body::Body as HttpBody;
use thrum_parse::http::{HeadParser, RequestHead, Status};
use tower_service::Service;

use crate::body::{FilePart, Kind};
use crate::buffer::keep_head;
use crate::encode::{self, Ending, Head};
use crate::handler::{Handled, Pending, drive, poll_handler};
use crate::incoming;
use crate::observer::Exchange;
use crate::request::{Framing, Terms, receive};
use crate::server::{Counters, Open};
use crate::transport::{Awaited, Transport};
use crate::upload::Upload;
use crate::{Body, Limits, Observer, Reject, Timeouts, chunked};

/// Answers that wait for more of the same buffer are written when they are this long.
const FLUSH_AT: usize = 64 * 1024;

/// A body up to this length is copied behind its head, so that one plain write takes both.
const COPY_UP_TO: usize = 16 * 1024;

/// What the connections of a server share.
pub(crate) struct Context {
    pub(crate) limits: Limits,
    pub(crate) timeouts: Timeouts,
    pub(crate) observer: Option<Arc<dyn Observer>>,
}

/// Serves a connection until it ends.
pub(crate) async fn serve<S, B>(open: Arc<Open>, context: Arc<Context>, service: S)
where
    S: Service<Request<Body>, Response = Response<B>>,
    S::Error: std::fmt::Display,
    B: Into<Body>,
{
    let transport = Transport::new(open, context.limits.head_bytes, context.timeouts);
    let parser = HeadParser::new(context.limits.head());
    let head = RequestHead::new();
    let mut connection = Connection {
        transport,
        context,
        service,
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
        // The client is gone, or does not take its answer. That is its right.
        Err(error) => {
            tracing::trace!(%error, peer = %connection.transport.open.peer, "connection lost")
        }
    }
}

struct Connection<S> {
    transport: Transport,
    context: Arc<Context>,
    service: S,
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
}

/// What comes next from the client.
enum Next {
    /// A head of so many bytes.
    Head(usize),
    Refused(Reject),
    End,
}

/// What an exchange came to, for whoever is told of it. True at any time, should the connection be lost.
struct Outcome {
    status: StatusCode,
    body_bytes: u64,
}

impl<S, B> Connection<S>
where
    S: Service<Request<Body>, Response = Response<B>>,
    S::Error: std::fmt::Display,
    B: Into<Body>,
{
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
                bytes: &bytes,
                head: &self.head,
                status: outcome.status,
                body_bytes: outcome.body_bytes,
                duration: begin.elapsed(),
            });
        }
        let (keep_alive, upload) = answered?;
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

    /// Has the handler answer, and sends what it says. Whether the connection can go on, and what is left of the body.
    async fn answer(
        &mut self,
        mut request: Request<Body>,
        terms: Terms,
        outcome: &mut Outcome,
    ) -> io::Result<(bool, Pending)> {
        let Terms {
            framing,
            expects_continue,
            keep_alive,
        } = terms;
        let (version, method) = (request.version(), request.method().clone());
        let mut upload = self.attach_body(&mut request, framing, expects_continue);

        // Errors become text at once: they need not be `Send`. The response is put in its place and not handed on from poll
        // to poll: it is large, and moving it shows.
        let mut handled = None;
        let mut ready = Ok(());
        drive(&mut self.transport, &mut None, |cx| {
            let polled = self.service.poll_ready(cx);
            polled.map(|result| ready = result.map_err(|error| error.to_string()))
        })
        .await?;
        match ready {
            Err(error) => handled = Some(Handled::Failed(error)),
            Ok(()) => match catch_unwind(AssertUnwindSafe(|| self.service.call(request))) {
                Err(_) => handled = Some(Handled::Panicked),
                Ok(future) => {
                    let mut future = pin!(future);
                    drive(&mut self.transport, &mut upload, |cx| {
                        poll_handler(future.as_mut(), cx).map(|done| handled = Some(done))
                    })
                    .await?;
                }
            },
        }
        let (response, failed) = match handled {
            // An interim status is no answer: the client would take the next response for this one.
            Some(Handled::Response(response)) if !response.status().is_informational() => {
                (response, false)
            }
            other => (self.internal_error(other), true),
        };

        let (parts, body) = response.into_parts();
        outcome.status = parts.status;
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
        // Whether a body that a 100 was owed for comes or not, nobody can tell; nor where one that broke off ends.
        let lost = upload
            .as_ref()
            .is_some_and(|upload| upload.owes_continue() || upload.is_broken());
        let keep_alive = keep_alive
            && !failed
            && !last
            && !lost
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
        let complete = match body.kind {
            _ if ending == Ending::NoBody => true,
            Kind::Empty => true,
            // Its head must not wait for more (MSG_MORE) that does not come.
            Kind::File(part) if part.length == 0 => true,
            Kind::Bytes(bytes) if bytes.len() <= COPY_UP_TO => {
                self.transport.output.buffer().extend_from_slice(&bytes);
                outcome.body_bytes += bytes.len() as u64;
                true
            }
            Kind::Bytes(bytes) => {
                self.transport.flush_with(&bytes).await?;
                outcome.body_bytes += bytes.len() as u64;
                true
            }
            Kind::File(part) => self.send_file(part, &mut outcome.body_bytes).await?,
            kind @ (Kind::Incoming(_) | Kind::Stream(_)) => {
                // Boxed, as it is rare and would make every connection larger.
                let sent = &mut outcome.body_bytes;
                Box::pin(self.send_stream(Body { kind }, ending, &mut upload, sent)).await?
            }
        };
        Ok((keep_alive && complete, upload))
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

    /// What the client is told when its handler has no response.
    fn internal_error(&self, handled: Option<Handled>) -> Response<Body> {
        let counters = self.transport.open.counters();
        match handled {
            Some(Handled::Failed(error)) => {
                Counters::count(&counters.errors);
                tracing::error!(error, "a handler failed");
            }
            Some(Handled::Response(response)) => {
                Counters::count(&counters.errors);
                let status = response.status().as_u16();
                tracing::error!(status, "a handler answered with an interim status");
            }
            _ => {
                Counters::count(&counters.panics);
                tracing::error!("a handler panicked");
            }
        }
        let mut response = Response::new(Body::from("500 Internal Server Error\n"));
        *response.status_mut() = StatusCode::INTERNAL_SERVER_ERROR;
        response
    }

    /// Sends part of a file; whether it was all there.
    async fn send_file(&mut self, part: FilePart, sent: &mut u64) -> io::Result<bool> {
        let FilePart {
            file,
            mut offset,
            mut length,
        } = part;
        self.transport.flush_before_more().await?;
        while length > 0 {
            let moved = self.transport.send_file(&*file, offset, length).await? as u64;
            if moved == 0 {
                return Ok(false); // it has shrunk: the promised length cannot be kept
            }
            offset += moved;
            length -= moved;
            *sent += moved;
        }
        Ok(true)
    }

    /// Sends a body as it comes; whether it came in full.
    async fn send_stream(
        &mut self,
        mut body: Body,
        ending: Ending,
        upload: &mut Pending,
        sent: &mut u64,
    ) -> io::Result<bool> {
        let mut left = match ending {
            Ending::Length(length) => length,
            _ => u64::MAX,
        };
        loop {
            let mut next = Ok(None);
            drive(&mut self.transport, upload, |cx| {
                let poll = AssertUnwindSafe(|| Pin::new(&mut body).poll_frame(cx));
                match catch_unwind(poll) {
                    Ok(polled) => polled.map(|frame| next = Ok(frame)),
                    Err(panic) => {
                        next = Err(panic);
                        Poll::Ready(())
                    }
                }
            })
            .await?;
            let Ok(next) = next else {
                Counters::count(&self.transport.open.counters().panics);
                tracing::error!("a response body panicked");
                return Ok(false);
            };
            let data = match next {
                None => break,
                Some(Ok(frame)) => frame.into_data().unwrap_or_default(),
                Some(Err(error)) => {
                    tracing::debug!(%error, "a response body ended early");
                    self.transport.flush().await?;
                    return Ok(false);
                }
            };
            if data.len() as u64 > left {
                tracing::error!("a response body is longer than its size says");
                return Ok(false);
            }
            left -= data.len() as u64;
            *sent += data.len() as u64;
            let output = self.transport.output.buffer();
            match ending {
                Ending::Chunked => chunked::encode(output, &data),
                _ => output.extend_from_slice(&data),
            }
            if output.len() >= COPY_UP_TO {
                self.transport.flush().await?;
            }
        }
        if ending == Ending::Chunked {
            self.transport
                .output
                .buffer()
                .extend_from_slice(chunked::LAST);
        }
        Ok(!matches!(ending, Ending::Length(_)) || left == 0)
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
                bytes,
                head: &self.head,
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
