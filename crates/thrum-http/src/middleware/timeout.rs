//! A time limit for handlers, and for the bodies of their responses.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use bytes::Bytes;
use http::{Request, Response, StatusCode};
use http_body::{Body as HttpBody, Frame, SizeHint};
use pin_project_lite::pin_project;
use thrum_rt::time::Deadline;
use tower_layer::Layer;
use tower_service::Service;

use super::refused::{Refused, answer};
use crate::body::Kind;
use crate::{Body, BodyError};

/// Limits how long a handler may take until it has a response: then its future is dropped, and the answer is 503.
///
/// It is not 408, which blames the client and has browsers ask once more, nor 504, which blames a server behind this one.
///
/// The time ends with the response's head. How long its body may pause is [`body_idle`](Self::body_idle). A plain function, or
/// any code that blocks, cannot be interrupted: the answer waits for it.
///
/// ```
/// use std::time::Duration;
/// use thrum_http::middleware::Timeout;
///
/// let layer = Timeout::new(Duration::from_secs(10)).body_idle(Duration::from_secs(30));
/// ```
#[derive(Clone, Debug)]
pub struct Timeout {
    after: Duration,
    body_idle: Option<Duration>,
    refused: Refused,
}

impl Timeout {
    /// A limit until the response's head, in steps of 10 ms.
    pub fn new(after: Duration) -> Self {
        Self {
            after,
            body_idle: None,
            refused: Refused::default(),
        }
    }

    /// Limits also how long the response's body may have nothing to send; then it is cut, and the client can tell. The time in
    /// which the client does not read is not counted. Default: no limit.
    #[must_use]
    pub fn body_idle(mut self, after: Duration) -> Self {
        self.body_idle = Some(after);
        self
    }

    /// Handlers and bodies given up so far.
    pub fn refused(&self) -> u64 {
        self.refused.total()
    }
}

impl<S> Layer<S> for Timeout {
    type Service = Timed<S>;

    fn layer(&self, service: S) -> Timed<S> {
        Timed {
            service,
            limits: self.clone(),
        }
    }
}

/// A service with a [`Timeout`].
#[derive(Clone, Debug)]
pub struct Timed<S> {
    service: S,
    limits: Timeout,
}

impl<S, R, B> Service<Request<R>> for Timed<S>
where
    S: Service<Request<R>, Response = Response<B>>,
    B: HttpBody<Data = Bytes> + Send + 'static,
    B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
{
    type Response = Response<Body>;
    type Error = S::Error;
    type Future = TimedFuture<S::Future>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), S::Error>> {
        self.service.poll_ready(cx)
    }

    fn call(&mut self, request: Request<R>) -> Self::Future {
        let mut deadline = Deadline::new();
        deadline.set(self.limits.after);
        TimedFuture {
            future: self.service.call(request),
            deadline,
            limits: self.limits.clone(),
        }
    }
}

pin_project! {
    /// The future of a [`Timed`] service.
    pub struct TimedFuture<F> {
        #[pin]
        future: F,
        deadline: Deadline,
        limits: Timeout,
    }
}

impl<F, B, E> Future for TimedFuture<F>
where
    F: Future<Output = Result<Response<B>, E>>,
    B: HttpBody<Data = Bytes> + Send + 'static,
    B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
{
    type Output = Result<Response<Body>, E>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let this = self.project();
        if let Poll::Ready(result) = this.future.poll(cx) {
            return Poll::Ready(
                result.map(|response| response.map(|body| idle(Body::wrap(body), this.limits))),
            );
        }
        ready!(this.deadline.poll_expired(cx));
        this.limits.refused.count("timeout");
        Poll::Ready(Ok(answer(StatusCode::SERVICE_UNAVAILABLE)))
    }
}

/// Watches a body, if it is one that may pause.
fn idle(body: Body, limits: &Timeout) -> Body {
    match (&body.kind, limits.body_idle) {
        (Kind::Incoming(_) | Kind::Stream(_), Some(after)) => Body::wrap(Idle {
            body,
            after,
            deadline: Deadline::new(),
            refused: limits.refused.clone(),
        }),
        _ => body,
    }
}

struct Idle {
    body: Body,
    after: Duration,
    deadline: Deadline,
    refused: Refused,
}

impl HttpBody for Idle {
    type Data = Bytes;
    type Error = BodyError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, BodyError>>> {
        let this = &mut *self;
        let polled = Pin::new(&mut this.body).poll_frame(cx);
        if polled.is_ready() {
            this.deadline.clear();
            return polled;
        }
        if !this.deadline.is_set() {
            this.deadline.set(this.after);
        }
        ready!(this.deadline.poll_expired(cx));
        this.refused.count("timeout");
        Poll::Ready(Some(Err(BodyError::TooSlow)))
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
