//! Layers: what goes around an application.
//!
//! A layer makes a service of a service: `layer.layer(application)`. Several are a tuple, the outermost first:
//!
//! ```
//! use std::time::Duration;
//! use thrum_http::middleware::{ConcurrencyLimit, Layer, RateLimit, Timeout, TraceLayer};
//! use thrum_http::{Body, Request, Response, service_fn};
//!
//! let application = service_fn(async |_: Request<Body>| Response::new("hello"));
//! let layers = (
//!     TraceLayer::new_for_http(),
//!     RateLimit::new(100, Duration::from_secs(1)),
//!     Timeout::new(Duration::from_secs(10)),
//!     ConcurrencyLimit::new(200, 100),
//! );
//! let application = layers.layer(application);
//! # fn is_application(_: impl thrum_http::Application) {}
//! # is_application(application);
//! ```
//!
//! Ours count what they refuse (`refused()`, which clones of a layer share) and say so in an event of `tracing`, level debug:
//!
//! | layer | refuses | with |
//! |---|---|---|
//! | [`Timeout`] | a handler without a response in time; a response's body that does not come | 503; a cut body |
//! | [`ConcurrencyLimit`] | requests when too many are handled and wait | 503, `retry-after` |
//! | [`RateLimit`] | a client's requests that come too fast | 429, `retry-after`, `ratelimit` |
//! | [`BasicAuth`] | requests without the right name and password | 401, `www-authenticate` |
//! | [`BearerAuth`] | requests without a right token | 401, `www-authenticate` |
//!
//! From tower-http come those that need no clock and no other runtime. Its timeouts and its metrics, and the limits of tower,
//! need tokio's: they panic here.
//!
//! | layer | for |
//! |---|---|
//! | `compression()`, `decompression(limit)` (feature `compression`) | gzip, brotli and zstd, both ways |
//! | [`CatchPanicLayer`] | panics to 500, so that layers around it see a response (the server does it as well) |
//! | [`CorsLayer`] | scripts of other sites; goes outside of what refuses |
//! | [`NormalizePathLayer`] | `/a/` is `/a`; goes around a router |
//! | [`RequestBodyLimitLayer`] | 413 for bodies above a size; 0.25 MiB is `RequestBodyLimitLayer::new(256 * 1024)` |
//! | [`SetRequestIdLayer`], [`PropagateRequestIdLayer`] | a request's id, made ([`MakeRequestUuid`]) and given back |
//! | [`SetRequestHeaderLayer`], [`SetResponseHeaderLayer`], [`PropagateHeaderLayer`] | fields set, or handed from request to response |
//! | [`SetSensitiveHeadersLayer`] | fields that no log shows; goes outside of tracing |
//! | [`TraceLayer`] | a span and events of `tracing` for each request |
//! | [`ValidateRequestHeaderLayer`] | 406 or 403 for what a field says |
//!
//! The rest of what they need is in [`tower_http`].

mod auth;
#[cfg(feature = "compression")]
mod compression;
mod concurrency;
mod gate;
mod rate_limit;
mod refused;
mod secrets;
mod timeout;

pub use tower_http;
pub use tower_http::catch_panic::CatchPanicLayer;
pub use tower_http::cors::CorsLayer;
pub use tower_http::limit::RequestBodyLimitLayer;
pub use tower_http::normalize_path::NormalizePathLayer;
pub use tower_http::propagate_header::PropagateHeaderLayer;
pub use tower_http::request_id::{
    MakeRequestUuid, PropagateRequestIdLayer, RequestId, SetRequestIdLayer,
};
pub use tower_http::sensitive_headers::SetSensitiveHeadersLayer;
pub use tower_http::set_header::{SetRequestHeaderLayer, SetResponseHeaderLayer};
pub use tower_http::trace::TraceLayer;
pub use tower_http::validate_request::ValidateRequestHeaderLayer;
pub use tower_layer::Layer;

pub use self::auth::{BasicAuth, BearerAuth, User};
#[cfg(feature = "compression")]
pub use self::compression::{Compressible, compression, decompression};
pub use self::concurrency::{ConcurrencyFuture, ConcurrencyLimit, ConcurrencyLimited};
pub use self::gate::{Gated, GatedFuture};
pub use self::rate_limit::RateLimit;
pub use self::timeout::{Timed, TimedFuture, Timeout};
