//! Guards: who may ask, how often and how much; and what fields responses have.
//!
//! Each goes around a handler, by itself or with others: `allow` and `deny`, `limit-rate`, `limit-concurrency`, `max-body`, `auth-basic`,
//! `auth-jwt`, `cors`, `security-headers` and `header` in the configuration, for a route or all routes of a site.
//!
//! | guard | refuses | with |
//! |---|---|---|
//! | [`AllowDeny`] | addresses | 403 |
//! | [`RateLimits`] | requests that come too fast | 429, `retry-after`, `ratelimit` |
//! | [`Concurrency`] | requests beyond those that are answered and that wait | 503, `retry-after` |
//! | [`BodyLimit`] | larger bodies | 413 |
//! | [`BasicAuth`] | unknown users | 401 |
//! | [`JwtAuth`] | bad tokens; good ones that lack a claim | 401; 403 |
//! | [`Cors`] | nothing: browsers refuse what it does not allow | |
//! | [`SecurityHeaders`], [`HeaderRules`] | nothing | |
//!
//! A guard refuses before its handler is asked, so what it says is the same whether or not there is anything at the path.

pub(crate) mod addresses;
pub(crate) mod basic;
pub(crate) mod body_limit;
pub(crate) mod concurrency;
pub(crate) mod cors;
pub(crate) mod headers;
pub(crate) mod jwt;
mod keys;
pub mod passwords;
pub(crate) mod rate;
mod remembered;
pub(crate) mod security;
#[cfg(test)]
mod tests;
mod watched;

pub use addresses::AllowDeny;
pub use basic::{BasicAuth, UserFile, UserLimits};
pub use body_limit::BodyLimit;
pub use concurrency::Concurrency;
pub use cors::{Cors, InvalidOrigin};
pub use headers::HeaderRules;
pub use jwt::JwtAuth;
pub use keys::KeyFile;
pub use rate::RateLimits;
pub use security::{Level, SecurityHeaders};
pub use watched::Unreadable;

use std::sync::atomic::{AtomicU64, Ordering};

use http::header::RETRY_AFTER;
use http::{HeaderValue, Response, StatusCode};
use thrum_http::Body;

use crate::config::Entry;
use crate::metrics::Registry;
use crate::site::{Visit, reply};

/// Who refuses requests.
#[derive(Clone, Copy)]
enum Guard {
    Address,
    Rate,
    Concurrency,
    Body,
    Basic,
    Jwt,
}

/// The guards by what they are called in the configuration, in the order of [`Guard`].
const NAMES: [&str; 6] = [
    "allow/deny",
    "limit-rate",
    "limit-concurrency",
    "max-body",
    "auth-basic",
    "auth-jwt",
];

/// How many requests each has refused, in this process.
static REFUSED: [AtomicU64; NAMES.len()] = [const { AtomicU64::new(0) }; NAMES.len()];

/// Has read how many requests were refused.
pub(crate) fn observe_guards(registry: &Registry) {
    registry.source("guards", |sample| {
        for (guard, refused) in NAMES.iter().zip(&REFUSED) {
            sample.counter(
                "thrum_guard_refused_requests_total",
                "Requests that a guard refused.",
                &[("guard", guard)],
                refused.load(Ordering::Relaxed),
            );
        }
    });
}

/// Notes that a guard has refused a request.
fn refused(guard: Guard, visit: &Visit) {
    REFUSED[guard as usize].fetch_add(1, Ordering::Relaxed);
    let route = &visit.route;
    tracing::debug!(
        guard = NAMES[guard as usize],
        site = route.site,
        route = route.pattern,
        client = visit.client.map(tracing::field::display),
        "refused"
    );
}

/// Too much at once: come again.
fn busy() -> Response<Body> {
    let mut response = reply::status(StatusCode::SERVICE_UNAVAILABLE);
    let fields = response.headers_mut();
    fields.insert(RETRY_AFTER, HeaderValue::from_static("1"));
    response
}

/// By what the state of a statement is kept over reloads: its place, with all that it says.
fn kept_name(entry: &Entry, says: &dyn std::fmt::Debug) -> String {
    let span = entry.span();
    format!(
        "{}@{:?}:{} {says:?}",
        entry.setting.name, span.file, span.start
    )
}

#[cfg(test)]
mod testing {
    use std::sync::Arc;

    use http::{Request, Response};
    use thrum_http::Body;

    use crate::site::{Answer, Handler, Visit};

    /// A handler that is a function.
    pub(super) struct Inner<F>(pub(super) F);

    impl<F> Handler for Inner<F>
    where
        F: Fn(Request<Body>, Visit) -> Answer + Send + Sync + 'static,
    {
        fn handle(&self, request: Request<Body>, visit: Visit) -> Answer {
            (self.0)(request, visit)
        }
    }

    /// Answers with the user's name, or `nobody`.
    pub(super) fn hello() -> Arc<dyn Handler> {
        Arc::new(Inner(|_: Request<Body>, visit: Visit| {
            let user = visit.user.as_deref().unwrap_or("nobody").to_owned();
            Response::new(Body::from(user)).into()
        }))
    }

    pub(super) fn get(fields: &[(&str, &str)]) -> Request<Body> {
        let mut request = Request::get("/");
        for (name, value) in fields {
            request = request.header(*name, *value);
        }
        request.body(Body::empty()).unwrap()
    }

    pub(super) fn from(address: &str) -> Visit {
        Visit::new(Some(address.parse().unwrap()), false)
    }

    pub(super) fn now(answer: Answer) -> Response<Body> {
        match answer {
            Answer::Now(response) => response,
            other => panic!("not there yet: {other:?}"),
        }
    }

    pub(super) async fn text(response: Response<Body>) -> String {
        let bytes = response.into_body().bytes(1 << 20).await.unwrap();
        String::from_utf8(bytes.to_vec()).unwrap()
    }
}
