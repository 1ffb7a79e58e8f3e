//! What a server serves.

use std::fmt::Display;
use std::future::Future;
use std::task::{Context, Poll};

use bytes::Bytes;
use http::{Request, Response};
use http_body::Body as HttpBody;
use tower_service::Service;

use crate::Body;

/// What a server serves: every [`tower_service::Service`] that takes a `Request<Body>` and gives a response with any
/// [`http_body::Body`] of [`Bytes`]: an axum router, a service with layers of tower-http around it, a
/// [`service_fn`](crate::service_fn). It is cloned for each connection.
///
/// It has this name so that what is asked of a service is written down once. Implement `Service`.
pub trait Application: Clone + Send + 'static {
    /// The body of its responses.
    type Body: HttpBody<Data = Bytes, Error: Into<Box<dyn std::error::Error + Send + Sync>>>
        + Send
        + 'static;
    /// Why it has no response. The client is told 500, the log what it says.
    type Error: Display;
    /// The response to come.
    type Future: Future<Output = Result<Response<Self::Body>, Self::Error>> + Send + 'static;

    /// Ready when a request may be handed to it.
    ///
    /// # Errors
    /// When it can take none.
    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Self::Error>>;

    /// Hands a request to it.
    fn call(&mut self, request: Request<Body>) -> Self::Future;
}

impl<S, B> Application for S
where
    S: Service<Request<Body>, Response = Response<B>, Error: Display, Future: Send>
        + Clone
        + Send
        + 'static,
    B: HttpBody<Data = Bytes, Error: Into<Box<dyn std::error::Error + Send + Sync>>>
        + Send
        + 'static,
{
    type Body = B;
    type Error = S::Error;
    type Future = S::Future;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), S::Error>> {
        Service::poll_ready(self, cx)
    }

    fn call(&mut self, request: Request<Body>) -> S::Future {
        Service::call(self, request)
    }
}
