//! A service behind a gate: what decides on a request's head alone whether it may pass.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::Bytes;
use http::request::Parts;
use http::{Request, Response};
use pin_project_lite::pin_project;
use tower_service::Service;

use crate::Body;

/// An answer to who may not pass. Boxed, as most may.
pub(crate) type Refusal = Box<Response<Body>>;

/// Who decides.
pub(crate) trait Gate {
    /// Lets a request pass, or answers it.
    fn admit(&self, head: &mut Parts) -> Result<(), Refusal>;
}

/// A service behind a gate, such as [`RateLimit`](super::RateLimit).
#[derive(Clone, Debug)]
pub struct Gated<S, G> {
    service: S,
    gate: G,
}

impl<S, G> Gated<S, G> {
    pub(crate) fn new(service: S, gate: G) -> Self {
        Self { service, gate }
    }
}

impl<S, G, R, B> Service<Request<R>> for Gated<S, G>
where
    G: Gate,
    S: Service<Request<R>, Response = Response<B>>,
    B: http_body::Body<Data = Bytes> + Send + 'static,
    B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
{
    type Response = Response<Body>;
    type Error = S::Error;
    type Future = GatedFuture<S::Future>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), S::Error>> {
        self.service.poll_ready(cx)
    }

    fn call(&mut self, request: Request<R>) -> Self::Future {
        let (mut head, body) = request.into_parts();
        let state = match self.gate.admit(&mut head) {
            Ok(()) => State::Passed {
                future: self.service.call(Request::from_parts(head, body)),
            },
            Err(response) => State::Refused {
                response: Some(response),
            },
        };
        GatedFuture { state }
    }
}

pin_project! {
    /// The future of a [`Gated`] service.
    pub struct GatedFuture<F> {
        #[pin]
        state: State<F>,
    }
}

pin_project! {
    #[project = StateProjected]
    enum State<F> {
        Passed { #[pin] future: F },
        Refused { response: Option<Refusal> },
    }
}

impl<F, B, E> Future for GatedFuture<F>
where
    F: Future<Output = Result<Response<B>, E>>,
    B: http_body::Body<Data = Bytes> + Send + 'static,
    B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
{
    type Output = Result<Response<Body>, E>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        match self.project().state.project() {
            StateProjected::Passed { future } => {
                future.poll(cx).map_ok(|response| response.map(Body::wrap))
            }
            StateProjected::Refused { response } => match response.take() {
                Some(response) => Poll::Ready(Ok(*response)),
                None => panic!("polled after it was done"),
            },
        }
    }
}
