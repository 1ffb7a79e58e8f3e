//! Handlers that are plain functions, and may compute or block.

use std::convert::Infallible;
use std::future::Future;
use std::marker::PhantomData;
use std::sync::Arc;
use std::task::{Context, Poll};

use bytes::Bytes;
use http::{Request, Response};
use tower_service::Service;

use super::handler::Answer;
use super::{Handler, IntoResponse, Params};
use crate::{Body, BodyError};

/// Bytes that the body of a request to a plain function may have, if nothing else is said.
const BODY_LIMIT: usize = 1024 * 1024;

/// Makes a handler of a plain function of `Request<Bytes>`, or of that and [`Params`]: it is called when the request's body
/// has come.
///
/// It may compute for seconds, wait for a lock, query a database or call a C library: the runtime notices within a few
/// milliseconds and moves all other work of its worker to another thread. See [`thrum_rt`].
///
/// It is an application by itself, too: [`serve`](crate::serve) takes it.
///
/// ```
/// use bytes::Bytes;
/// use thrum_http::Request;
/// use thrum_http::router::{Router, plain};
///
/// fn checksum(request: Request<Bytes>) -> String {
///     let sum = request.body().iter().map(|&byte| u64::from(byte)).sum::<u64>();
///     format!("{sum}\n")
/// }
///
/// let router = Router::new().post("/checksum", plain(checksum));
/// ```
pub fn plain<F: PlainFn<Args>, Args>(f: F) -> Plain<F, Args> {
    Plain {
        f: Arc::new(f),
        limit: BODY_LIMIT,
        args: PhantomData,
    }
}

/// What [`plain`] makes.
pub struct Plain<F, Args> {
    f: Arc<F>,
    limit: usize,
    args: PhantomData<fn(Args)>,
}

impl<F, Args> Plain<F, Args> {
    /// Limits the request's body to so many bytes; larger ones are answered with 413. Default: 1 MiB.
    #[must_use]
    pub fn body_limit(mut self, bytes: usize) -> Self {
        self.limit = bytes;
        self
    }
}

impl<F, Args> Clone for Plain<F, Args> {
    fn clone(&self) -> Self {
        Self {
            f: self.f.clone(),
            ..*self
        }
    }
}

/// A plain function that can be a handler: of the request, or of the request and the [`Params`].
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a plain handler",
    note = "a plain handler is `fn(Request<Bytes>) -> R` or `fn(Request<Bytes>, Params) -> R`, where `R: IntoResponse`"
)]
pub trait PlainFn<Args>: Send + Sync + 'static {
    /// Answers.
    fn call(&self, request: Request<Bytes>, params: Params) -> Response<Body>;
}

impl<F, R> PlainFn<(Request<Bytes>,)> for F
where
    F: Fn(Request<Bytes>) -> R + Send + Sync + 'static,
    R: IntoResponse,
{
    fn call(&self, request: Request<Bytes>, _: Params) -> Response<Body> {
        self(request).into_response()
    }
}

impl<F, R> PlainFn<(Request<Bytes>, Params)> for F
where
    F: Fn(Request<Bytes>, Params) -> R + Send + Sync + 'static,
    R: IntoResponse,
{
    fn call(&self, request: Request<Bytes>, params: Params) -> Response<Body> {
        self(request, params).into_response()
    }
}

impl<F: PlainFn<Args>, Args: 'static> Handler<Args> for Plain<F, Args> {
    fn handle(
        &self,
        request: Request<Body>,
        params: Params,
    ) -> impl Future<Output = Response<Body>> + Send + 'static {
        let (f, limit) = (self.f.clone(), self.limit);
        async move {
            let (parts, body) = request.into_parts();
            // What says to be too large is not even asked for.
            let body = match body.size() {
                Some(size) if size > limit as u64 => Err(BodyError::TooLarge),
                _ => body.bytes(limit).await,
            };
            match body {
                Ok(body) => f.call(Request::from_parts(parts, body), params),
                Err(error) => error.into_response(),
            }
        }
    }
}

impl<F: PlainFn<(Request<Bytes>,)>> Service<Request<Body>> for Plain<F, (Request<Bytes>,)> {
    type Response = Response<Body>;
    type Error = Infallible;
    type Future = PlainFuture;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<Body>) -> PlainFuture {
        PlainFuture(Box::pin(self.handle(request, Params::default())))
    }
}

/// The future of a [`Plain`] function that is a whole application.
pub struct PlainFuture(Answer);

impl Future for PlainFuture {
    type Output = Result<Response<Body>, Infallible>;

    fn poll(mut self: std::pin::Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        self.0.as_mut().poll(cx).map(Ok)
    }
}
