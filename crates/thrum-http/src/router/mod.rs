//! A small router: method and path to handler.
//!
//! ```
//! use thrum_http::router::{ParamError, Params, Router};
//! use thrum_http::{Body, Request, StatusCode};
//!
//! async fn index() -> &'static str {
//!     "Hello!\n"
//! }
//!
//! async fn user(_request: Request<Body>, params: Params) -> Result<String, ParamError> {
//!     Ok(format!("user {}\n", params.parse::<u64>("id")?))
//! }
//!
//! async fn create(request: Request<Body>) -> Result<StatusCode, thrum_http::BodyError> {
//!     let name = request.into_body().bytes(1000).await?;
//!     Ok(if name.is_empty() { StatusCode::BAD_REQUEST } else { StatusCode::CREATED })
//! }
//!
//! let users = Router::new().post("/", create).get("/{id}", user);
//! let router = Router::new().get("/", index).nest("/users", users);
//! # let _ = router;
//! ```
//!
//! # Paths
//! * A segment is literal, a parameter `{name}`, or one with text around it, such as `{name}.png`; the last one may be
//!   `{*rest}`, which takes what is left, slashes and all, but not nothing. A literal beats a parameter, and that beats the
//!   rest. At most 8 parameters.
//! * **A path matches as a whole, its last slash included**: `/users` and `/users/` are two paths. Whoever wants them to be
//!   one puts `NormalizePathLayer` around the router.
//! * Literals are compared with what the client sends, before percent-decoding: write `/caf%C3%A9`. [`Params`] decode.
//!
//! # Methods
//! HEAD goes to GET's handler if it has none (the server sends no body), and OPTIONS is answered with `Allow`. A path that
//! has only other methods is answered with 405 and `Allow`; an unknown path goes to the [fallback](Router::fallback), which
//! is 404 if nothing else is said.
//!
//! # Middleware
//! A router is a [`Service`], so a layer goes around it, or around part of it that is then mounted:
//! `router.mount("/admin", auth.layer(admin))`.

mod handler;
mod params;
mod plain;
mod response;
mod route;
#[cfg(test)]
mod tests;

use std::convert::Infallible;
use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use bytes::Bytes;
use http::header::ALLOW;
use http::{HeaderValue, Method, Request, Response, StatusCode};
use tower_service::Service;

use self::handler::{Answer, Handled, Mounted, REST};
use self::route::{Methods, Table};
use crate::{Application, Body};

pub use self::handler::Handler;
pub use self::params::{ParamError, Params};
pub use self::plain::{Plain, PlainFn, PlainFuture, plain};
pub use self::response::IntoResponse;
#[cfg(feature = "json")]
pub use self::response::Json;

/// Leads requests to handlers by method and path. See the [module](self).
///
/// It is cheap to clone: clones share their routes. Routes are added before it is served.
#[derive(Clone, Default)]
pub struct Router {
    table: Arc<Table>,
}

impl Router {
    /// A router without routes: all is 404.
    pub fn new() -> Self {
        Self::default()
    }

    /// Leads GET, and HEAD, to a handler.
    ///
    /// # Panics
    /// As [`route`](Self::route).
    #[must_use]
    pub fn get<Args: 'static>(self, path: &str, handler: impl Handler<Args>) -> Self {
        self.route(Method::GET, path, handler)
    }

    /// Leads POST to a handler.
    ///
    /// # Panics
    /// As [`route`](Self::route).
    #[must_use]
    pub fn post<Args: 'static>(self, path: &str, handler: impl Handler<Args>) -> Self {
        self.route(Method::POST, path, handler)
    }

    /// Leads PUT to a handler.
    ///
    /// # Panics
    /// As [`route`](Self::route).
    #[must_use]
    pub fn put<Args: 'static>(self, path: &str, handler: impl Handler<Args>) -> Self {
        self.route(Method::PUT, path, handler)
    }

    /// Leads PATCH to a handler.
    ///
    /// # Panics
    /// As [`route`](Self::route).
    #[must_use]
    pub fn patch<Args: 'static>(self, path: &str, handler: impl Handler<Args>) -> Self {
        self.route(Method::PATCH, path, handler)
    }

    /// Leads DELETE to a handler.
    ///
    /// # Panics
    /// As [`route`](Self::route).
    #[must_use]
    pub fn delete<Args: 'static>(self, path: &str, handler: impl Handler<Args>) -> Self {
        self.route(Method::DELETE, path, handler)
    }

    /// Leads a method to a handler.
    ///
    /// # Panics
    /// If the path does not begin with a slash, is malformed, has more than 8 parameters, or means what another route's means;
    /// if it has a handler for this method already.
    #[must_use]
    pub fn route<Args: 'static>(
        mut self,
        method: Method,
        path: &str,
        handler: impl Handler<Args>,
    ) -> Self {
        let endpoint = Arc::new(Handled::new(handler));
        self.methods(path).insert(method, endpoint, path);
        self
    }

    /// Leads all methods to a handler that have none of their own.
    ///
    /// # Panics
    /// As [`route`](Self::route).
    #[must_use]
    pub fn any<Args: 'static>(mut self, path: &str, handler: impl Handler<Args>) -> Self {
        let endpoint = Arc::new(Handled::new(handler));
        self.methods(path).insert_any(endpoint, path);
        self
    }

    /// Adds all routes of another router below a prefix. Its `/` becomes the prefix itself, without a slash at the end. The
    /// prefix may have parameters, which the handlers get with the others.
    ///
    /// # Panics
    /// If the prefix does not begin with a slash or ends with one; if the other router has a [fallback](Self::fallback), which
    /// would be lost (mount it instead); as [`route`](Self::route).
    #[must_use]
    pub fn nest(mut self, prefix: &str, other: Router) -> Self {
        check_prefix(prefix);
        assert!(
            other.table.fallback.is_none(),
            "a router with a fallback is mounted, not nested"
        );
        for route in &other.table.routes {
            let below = if route.path == "/" { "" } else { &*route.path };
            let path = format!("{prefix}{below}");
            self.methods(&path).extend(&route.methods, &path);
        }
        self
    }

    /// Leads all that is at a prefix or below it to a service, which sees the path without the prefix, and at least a slash.
    /// That may be another router, one of axum, or any of these with layers around it. `/` is all that has no other route.
    ///
    /// If the prefix has parameters, the request's extensions have the [`Params`]. An error of the service is answered with
    /// 500 and noted in the log.
    ///
    /// # Panics
    /// If the prefix does not begin with a slash, or ends with one and is not `/`; as [`route`](Self::route).
    #[must_use]
    pub fn mount(mut self, prefix: &str, service: impl Application + Sync) -> Self {
        let prefix = if prefix == "/" { "" } else { prefix };
        if !prefix.is_empty() {
            check_prefix(prefix);
            self.mount_at(prefix, &service);
        }
        self.mount_at(&format!("{prefix}/"), &service);
        self.mount_at(&format!("{prefix}/{{*{REST}}}"), &service);
        self
    }

    /// Leads what no route matches to a handler.
    #[must_use]
    pub fn fallback<Args: 'static>(mut self, handler: impl Handler<Args>) -> Self {
        Arc::make_mut(&mut self.table).fallback = Some(Arc::new(Handled::new(handler)));
        self
    }

    fn mount_at(&mut self, path: &str, service: &(impl Application + Sync)) {
        let endpoint = Arc::new(Mounted(service.clone()));
        self.methods(path).insert_any(endpoint, path);
    }

    fn methods(&mut self, path: &str) -> &mut Methods {
        Arc::make_mut(&mut self.table).methods(path)
    }

    fn answer(&self, request: Request<Body>) -> State {
        let table = &*self.table;
        let Some((route, params)) = table.find(request.uri()) else {
            // The whole server is asked for (RFC 9110, 9.3.7).
            if request.uri().path() == "*" && request.method() == Method::OPTIONS {
                return State::ready(StatusCode::NO_CONTENT, None);
            }
            return match &table.fallback {
                Some(endpoint) => State::Waiting(endpoint.call(request, Params::default())),
                None => State::ready(StatusCode::NOT_FOUND, None),
            };
        };
        match route.methods.find(request.method()) {
            Some(endpoint) => State::Waiting(endpoint.call(request, params)),
            None => {
                let status = match *request.method() {
                    Method::OPTIONS => StatusCode::NO_CONTENT,
                    _ => StatusCode::METHOD_NOT_ALLOWED,
                };
                State::ready(status, Some(route.methods.allow.clone()))
            }
        }
    }
}

fn check_prefix(prefix: &str) {
    assert!(
        prefix.starts_with('/') && !prefix.ends_with('/'),
        "the prefix {prefix:?} does not begin with a slash, or ends with one"
    );
}

impl fmt::Debug for Router {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let paths = self.table.routes.iter().map(|route| &route.path);
        f.debug_set().entries(paths).finish()
    }
}

/// Bodies other than [`Body`], such as layers give, are wrapped.
impl<B> Service<Request<B>> for Router
where
    B: http_body::Body<Data = Bytes> + Send + 'static,
    B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
{
    type Response = Response<Body>;
    type Error = Infallible;
    type Future = RouterFuture;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<B>) -> RouterFuture {
        RouterFuture {
            state: self.answer(request.map(Body::wrap)),
        }
    }
}

/// The future of a [`Router`].
pub struct RouterFuture {
    state: State,
}

#[allow(
    clippy::large_enum_variant,
    reason = "boxing the answer is what this is to save"
)]
enum State {
    /// The router's own answer.
    Ready(StatusCode, Option<HeaderValue>),
    Waiting(Answer),
}

impl State {
    fn ready(status: StatusCode, allow: Option<HeaderValue>) -> Self {
        Self::Ready(status, allow)
    }
}

impl Future for RouterFuture {
    type Output = Result<Response<Body>, Infallible>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        match &mut self.state {
            State::Waiting(answer) => answer.as_mut().poll(cx).map(Ok),
            State::Ready(status, allow) => {
                let mut response = Response::new(Body::empty());
                *response.status_mut() = *status;
                if let Some(allow) = allow.take() {
                    response.headers_mut().insert(ALLOW, allow);
                }
                Poll::Ready(Ok(response))
            }
        }
    }
}
