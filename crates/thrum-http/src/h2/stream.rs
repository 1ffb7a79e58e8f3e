//! One request, from its handler's first step to the last byte of its response.

use std::future::{Future, poll_fn};
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Instant;

use bytes::Bytes;
use h2::server::SendResponse;
use http::request::Parts;
use http::{HeaderMap, HeaderValue, Method, Request, Response, StatusCode, Uri, header};

use super::connection::Shared;
use super::response;
use crate::server::{Asked, Current, Exchange, Handled, Told, internal_error, poll_call};
use crate::{Application, Body, Reject};

/// What an observer is told of a request.
pub(super) struct Observed {
    method: Method,
    uri: Uri,
    headers: HeaderMap,
    begin: Instant,
}

impl Observed {
    pub(super) fn new(parts: &Parts) -> Self {
        Self {
            method: parts.method.clone(),
            uri: parts.uri.clone(),
            headers: parts.headers.clone(),
            begin: Instant::now(),
        }
    }

    fn tell(&self, shared: &Shared, status: StatusCode, body_bytes: u64, told: Told<'_>) {
        if let Some(observer) = &shared.context.observer {
            observer.finished(&Exchange {
                peer: shared.open.peer,
                asked: Asked::Decoded {
                    method: &self.method,
                    uri: &self.uri,
                    headers: &self.headers,
                },
                status,
                body_bytes,
                duration: self.begin.elapsed(),
                told,
            });
        }
    }
}

/// Has the application answer a request, and sends what it says.
///
/// Requests and responses are large, and moving them shows: the future begins with the request in its place, and the response
/// is put in its place and not handed on from poll to poll.
pub(super) fn serve<A: Application>(
    shared: Arc<Shared>,
    request: Request<Body>,
    mut respond: SendResponse<Bytes>,
    mut application: A,
    observed: Option<Box<Observed>>,
) -> impl Future<Output = ()> + Send {
    let method = request.method().clone();
    let mut request = Some(request);
    async move {
        shared.started();
        let running = Running(&shared);
        let mut current = Current::new(shared.info.clone());
        let mut handled = None;
        {
            let mut future = pin!(None);
            poll_fn(|cx| {
                drive(&mut current, &mut respond, cx, |cx| {
                    poll_call(
                        &mut application,
                        &mut request,
                        future.as_mut(),
                        &mut handled,
                        cx,
                    )
                })
            })
            .await;
        }
        let mut sent = 0;
        let status = match handled {
            None => taken_back(),
            Some(handled) => {
                let response = match handled {
                    Handled::Response(response) if !response.status().is_informational() => {
                        response
                    }
                    other => internal_error(shared.open.counters(), Some(&other)),
                };
                let status = response.status();
                let rest = response::send_at_once(respond, &method, response, &mut sent);
                if let Some((stream, body)) = rest {
                    // Boxed, as it is rare and would make every stream larger.
                    Box::pin(response::send(
                        &shared,
                        &mut current,
                        stream,
                        body,
                        &mut sent,
                    ))
                    .await;
                }
                status
            }
        };
        drop(running);
        if let Some(observed) = observed {
            observed.tell(&shared, status, sent, current.told());
        }
    }
}

/// What an observer is told of a request that the client took back before it was answered.
fn taken_back() -> StatusCode {
    // nginx's number for it. It is in the range, so it is one.
    StatusCode::from_u16(499).unwrap_or(StatusCode::REQUEST_TIMEOUT)
}

/// Counts a stream out, however it ends.
struct Running<'a>(&'a Shared);

impl Drop for Running<'_> {
    fn drop(&mut self) {
        self.0.finished();
    }
}

/// Polls what is the application's, sends the early hints that it gave, and looks whether the client still waits. Ready: one
/// of the two is over.
fn drive(
    current: &mut Current,
    respond: &mut SendResponse<Bytes>,
    cx: &mut Context<'_>,
    poll: impl FnOnce(&mut Context<'_>) -> Poll<()>,
) -> Poll<()> {
    let polled = current.enter(|| poll(cx));
    if current.has_hints() {
        for fields in current.take_hints() {
            send_interim(respond, StatusCode::EARLY_HINTS, fields);
        }
    }
    match polled {
        Poll::Ready(()) => Poll::Ready(()),
        Poll::Pending => respond.poll_reset(cx).map(|_| ()),
    }
}

/// Sends an interim response. If it cannot be sent, neither can the response, and that is where it is seen.
pub(super) fn send_interim(
    respond: &mut SendResponse<Bytes>,
    status: StatusCode,
    fields: HeaderMap,
) {
    let mut response = Response::new(());
    *response.status_mut() = status;
    *response.headers_mut() = fields;
    response::drop_connection_fields(response.headers_mut());
    let _ = respond.send_informational(response);
}

/// Says why a request is refused.
pub(super) fn refuse(
    shared: &Shared,
    reject: Reject,
    method: &Method,
    respond: SendResponse<Bytes>,
    observed: Option<Box<Observed>>,
) {
    shared.open.counters().reject(reject);
    let status = reject.status();
    let mut response = Response::new(Body::from(format!("{status}\n{reject}\n")));
    *response.status_mut() = status;
    let text = HeaderValue::from_static("text/plain; charset=utf-8");
    response.headers_mut().insert(header::CONTENT_TYPE, text);
    let mut sent = 0;
    response::send_at_once(respond, method, response, &mut sent);
    if let Some(observed) = observed {
        let told = Told {
            connection: Some(&shared.info),
            notes: None,
        };
        observed.tell(shared, status, sent, told);
    }
}
