//! What answers a request: an asynchronous function, a plain one, a service.

use std::future::{Future, poll_fn};
use std::pin::Pin;

use bytes::Bytes;
use http::uri::PathAndQuery;
use http::{Request, Response, StatusCode, Uri};

use super::{IntoResponse, Params};
use crate::{Application, Body};

/// A handler's answer on its way.
pub(crate) type Answer = Pin<Box<dyn Future<Output = Response<Body>> + Send>>;

/// What a route leads to: an asynchronous function of nothing, of the request, or of the request and its path's
/// [`Params`]; or a [`plain`](super::plain) one. `Args` is there to tell these from one another.
///
/// A closure that has state must hand each of its futures a share of its own:
///
/// ```
/// use std::sync::Arc;
/// use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
/// use thrum_http::router::Router;
///
/// let visits = Arc::new(AtomicU64::new(0));
/// let router = Router::new().get("/", move || {
///     let visits = visits.clone();
///     async move { format!("visit {}\n", visits.fetch_add(1, Relaxed)) }
/// });
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a handler",
    note = "a handler is `async fn() -> R`, `async fn(Request<Body>) -> R` or `async fn(Request<Body>, Params) -> R`, where \
            `R: IntoResponse` and the future is `Send`; or `plain(f)` of a function that is not async"
)]
pub trait Handler<Args>: Send + Sync + 'static {
    /// Begins to answer.
    fn handle(
        &self,
        request: Request<Body>,
        params: Params,
    ) -> impl Future<Output = Response<Body>> + Send + 'static;
}

macro_rules! handler {
    ($(fn($($type:ty),*) |$f:ident, $request:ident, $params:ident| $call:expr;)+) => {$(
        impl<F, R> Handler<($($type,)*)> for F
        where
            F: Fn($($type),*) -> R + Send + Sync + 'static,
            R: Future<Output: IntoResponse> + Send + 'static,
        {
            fn handle(
                &self,
                $request: Request<Body>,
                $params: Params,
            ) -> impl Future<Output = Response<Body>> + Send + 'static {
                let $f = self;
                let future = $call;
                async { future.await.into_response() }
            }
        }
    )+};
}

handler! {
    fn() |f, _request, _params| f();
    fn(Request<Body>) |f, request, _params| f(request);
    fn(Request<Body>, Params) |f, request, params| f(request, params);
}

/// A handler or a service without its type.
pub(crate) trait Endpoint: Send + Sync {
    fn call(&self, request: Request<Body>, params: Params) -> Answer;
}

/// A handler as an endpoint.
pub(crate) struct Handled<H, Args> {
    handler: H,
    args: std::marker::PhantomData<fn(Args)>,
}

impl<H, Args> Handled<H, Args> {
    pub(crate) fn new(handler: H) -> Self {
        Self {
            handler,
            args: std::marker::PhantomData,
        }
    }
}

impl<H: Handler<Args>, Args> Endpoint for Handled<H, Args> {
    fn call(&self, request: Request<Body>, params: Params) -> Answer {
        Box::pin(self.handler.handle(request, params))
    }
}

/// The parameter that holds what follows the prefix of a mounted service.
pub(crate) const REST: &str = "thrum.rest";

/// A service that answers all that is below a prefix, and does not see the prefix.
pub(crate) struct Mounted<S>(pub(crate) S);

impl<S: Application + Sync> Endpoint for Mounted<S> {
    fn call(&self, mut request: Request<Body>, params: Params) -> Answer {
        let rest = params.raw(REST).map_or(0, str::len);
        *request.uri_mut() = below_prefix(request.uri(), rest);
        if params.iter().any(|(name, _)| name != REST) {
            request.extensions_mut().insert(params);
        }
        let mut service = self.0.clone();
        Box::pin(async move {
            // As text, since the error itself need not be `Send`.
            let ready = poll_fn(|cx| service.poll_ready(cx).map_err(|error| error.to_string()));
            let answered = match ready.await {
                Ok(()) => service
                    .call(request)
                    .await
                    .map_err(|error| error.to_string()),
                Err(error) => Err(error),
            };
            match answered {
                Ok(response) => response.map(Body::wrap),
                Err(error) => {
                    tracing::error!(error, "a mounted service failed");
                    StatusCode::INTERNAL_SERVER_ERROR.into_response()
                }
            }
        })
    }
}

/// The URI with the last `rest` bytes of its path, after a slash.
fn below_prefix(uri: &Uri, rest: usize) -> Uri {
    let path = uri.path();
    let query = uri
        .query()
        .map_or_else(String::new, |query| format!("?{query}"));
    let below = format!("/{}{query}", &path[path.len() - rest..]);
    let mut parts = uri.clone().into_parts();
    // Part of a path that has been accepted is one too.
    parts.path_and_query = PathAndQuery::from_maybe_shared(Bytes::from(below)).ok();
    Uri::from_parts(parts).unwrap_or_default()
}
