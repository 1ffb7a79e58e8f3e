//! The admin page: what the server does right now, for whoever looks after it, at an address of its own.
//!
//! ```text
//! admin localhost:9900
//! ```
//!
//! | path | what is there |
//! |---|---|
//! | `/` | the page; it polls the numbers each second, and asks nobody else for anything |
//! | `/data.json` | the numbers; with `?since=SECONDS` only the seconds after that one |
//! | `/metrics` | all that is counted, as Prometheus reads it |
//!
//! | module | what is in it |
//! |---|---|
//! | `config` | where it is listened, and who may connect |
//! | `host` | which hosts a browser may call it by |
//! | `snapshot` | the numbers as JSON |
//!
//! Whoever can connect can read it, so it is listened at a loopback address or a Unix socket, unless the configuration says
//! that it is open. Nothing can be changed with it.

mod config;
mod host;
mod snapshot;

use std::sync::{Arc, LazyLock};

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use http::header::{CACHE_CONTROL, CONTENT_SECURITY_POLICY, CONTENT_TYPE};
use http::header::{REFERRER_POLICY, X_CONTENT_TYPE_OPTIONS};
use http::{HeaderName, HeaderValue, Method, Request, Response, StatusCode};
use sha2::{Digest, Sha256};
use thrum_http::Body;

pub use self::config::AdminConfig;
pub(crate) use self::config::{ADMIN, at};
use crate::error_log::Tail;
use crate::metrics::verbs::{metrics, registry};
use crate::metrics::{Readiness, Registry};
use crate::observe::Watcher;
use crate::site::{Answer, Building, Handler, Visit, reply};

static PAGE: &str = include_str!("page.html");

/// The page may run and show what is in it, and ask where it came from: nothing else.
static POLICY: LazyLock<HeaderValue> = LazyLock::new(|| {
    let hash = |tag: &str| {
        let (open, close) = (format!("<{tag}>"), format!("</{tag}>"));
        let inside = PAGE
            .split_once(&open)
            .and_then(|(_, rest)| rest.split_once(&close));
        let (inside, _) = inside.expect("the page has one of it");
        BASE64_STANDARD.encode(Sha256::digest(inside))
    };
    let policy = format!(
        "default-src 'none'; script-src 'sha256-{}'; style-src 'sha256-{}'; connect-src 'self'; img-src data:; \
         base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
        hash("script"),
        hash("style"),
    );
    HeaderValue::try_from(policy).expect("it is plain text")
});

/// The admin page of a server.
///
/// ```
/// use std::sync::Arc;
/// use http::{Request, StatusCode};
/// use thrum_http::Body;
/// use thrum_server::admin::Admin;
///
/// let admin = Admin::new(Arc::default(), Arc::default(), Arc::default());
/// let ask = |host: &str| Request::get("/").header("host", host).body(Body::empty()).unwrap();
/// assert_eq!(admin.answer(&ask("localhost:9900")).status(), StatusCode::OK);
/// assert_eq!(admin.answer(&ask("example.com")).status(), StatusCode::FORBIDDEN);
/// ```
#[derive(Debug)]
pub struct Admin {
    watcher: Arc<Watcher>,
    registry: Arc<Registry>,
    readiness: Arc<Readiness>,
    tail: Tail,
}

impl Admin {
    /// What the watcher saw, the registry has and the readiness says, with the last lines of [`Tail::of_process`].
    pub fn new(watcher: Arc<Watcher>, registry: Arc<Registry>, readiness: Arc<Readiness>) -> Self {
        Self {
            watcher,
            registry,
            readiness,
            tail: Tail::of_process(),
        }
    }

    /// Answers a request. To be called in the runtime whose numbers are shown.
    ///
    /// A request that calls the server by a name other than `localhost` is refused with 403: a browser would send one for a
    /// page elsewhere, whose name was made to lead here (DNS rebinding).
    pub fn answer(&self, request: &Request<Body>) -> Response<Body> {
        if !host::is_allowed(request) {
            let why = "The admin page is asked for by an address or as localhost.\n";
            return reply::text(StatusCode::FORBIDDEN, why);
        }
        if !matches!(*request.method(), Method::GET | Method::HEAD) {
            return reply::status(StatusCode::METHOD_NOT_ALLOWED);
        }
        let mut response = match request.uri().path() {
            "/" => of_kind("text/html; charset=utf-8", PAGE.into()),
            "/data.json" => {
                let data = snapshot::json(self, since(request.uri().query().unwrap_or_default()));
                of_kind("application/json", data.into())
            }
            "/metrics" => metrics(&self.registry, request),
            _ => return reply::status(StatusCode::NOT_FOUND),
        };
        let fixed: [(HeaderName, HeaderValue); 5] = [
            (CACHE_CONTROL, HeaderValue::from_static("no-store")),
            (CONTENT_SECURITY_POLICY, POLICY.clone()),
            (REFERRER_POLICY, HeaderValue::from_static("no-referrer")),
            (X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff")),
            (
                HeaderName::from_static("cross-origin-resource-policy"),
                HeaderValue::from_static("same-origin"),
            ),
        ];
        response.headers_mut().extend(fixed);
        response
    }
}

impl Handler for Admin {
    fn handle(&self, request: Request<Body>, _: Visit) -> Answer {
        self.answer(&request).into()
    }
}

/// The page for a configuration's server.
pub(crate) fn handler(to: &Building<'_>) -> Arc<dyn Handler> {
    Arc::new(Admin::new(
        to.kept.get("", Watcher::default),
        registry(to),
        to.kept.get("", Readiness::default),
    ))
}

fn of_kind(kind: &'static str, body: Body) -> Response<Body> {
    let mut response = Response::new(body);
    let kind = HeaderValue::from_static(kind);
    response.headers_mut().insert(CONTENT_TYPE, kind);
    response
}

fn since(query: &str) -> u64 {
    let mut fields = query.split('&');
    let since = fields.find_map(|field| field.strip_prefix("since="));
    since.and_then(|since| since.parse().ok()).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_asks_nobody_else() {
        let outside = PAGE
            .match_indices("//")
            .map(|(at, _)| &PAGE[..at])
            .filter(|before| before.ends_with("http:") || before.ends_with("https:"));
        // The one address is the name of SVG, which nobody asks.
        for before in outside {
            let rest = &PAGE[before.len()..];
            assert!(rest.starts_with("//www.w3.org/"), "{rest:.60}");
        }
        for word in ["src=\"//", "@import", "url(", " style=\"", " onclick="] {
            assert!(!PAGE.contains(word), "{word}");
        }
    }

    #[test]
    fn the_policy_knows_the_page() {
        let policy = POLICY.to_str().unwrap();
        assert!(policy.contains("script-src 'sha256-"), "{policy}");
        assert!(!policy.contains("unsafe"), "{policy}");
        assert_eq!(PAGE.matches("<script>").count(), 1);
        assert_eq!(PAGE.matches("<style>").count(), 1);
    }

    #[test]
    fn only_what_is_there_is_answered() {
        let admin = Admin::new(Arc::default(), Arc::default(), Arc::default());
        let status = |method: Method, path: &str| {
            let request = Request::builder().method(method).uri(path);
            let request = request.header("host", "[::1]:9900");
            admin.answer(&request.body(Body::empty()).unwrap()).status()
        };
        assert_eq!(status(Method::GET, "/"), 200);
        assert_eq!(status(Method::HEAD, "/metrics"), 200);
        assert_eq!(status(Method::POST, "/"), 405);
        assert_eq!(status(Method::GET, "/other"), 404);
    }

    #[test]
    fn since_is_a_number_or_nothing() {
        assert_eq!(since("a=1&since=17"), 17);
        assert_eq!(since("since=x"), 0);
        assert_eq!(since(""), 0);
    }
}
