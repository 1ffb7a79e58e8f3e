//! What a route can answer of the server itself: `metrics`, `health`, `ready`.

use std::sync::Arc;

use http::header::{ACCEPT, CACHE_CONTROL, CONTENT_TYPE};
use http::{HeaderValue, Method, Request, Response, StatusCode};
use thrum_http::Body;

use super::{Readiness, Registry, text};
use crate::config::{Arity, RouteConfig, Verb};
use crate::site::{Answer, Building, Handler, HandlerKind, Visit, reply};

/// `metrics`.
pub(crate) static METRICS: Verb = Verb {
    word: "metrics",
    name: "metrics",
    values: &[],
    arity: Arity::Exact,
    settings: &[],
    help: "What the server counts, as Prometheus reads it; as OpenMetrics for who asks for that.",
    example: "/metrics metrics { allow 10.0.0.0/8 }",
};
/// `health`.
pub(crate) static HEALTH: Verb = Verb {
    word: "health",
    name: "health",
    values: &[],
    arity: Arity::Exact,
    settings: &[],
    help: "Says 200 as long as the server answers at all.",
    example: "/healthz health",
};
/// `ready`.
pub(crate) static READY: Verb = Verb {
    word: "ready",
    name: "ready",
    values: &[],
    arity: Arity::Exact,
    settings: &[],
    help: "Says 200 when the server is ready for requests, else 503 and why: it is starting or going down, or something that it \
           needs is not there.",
    example: "/readyz ready",
};

/// `metrics`.
pub(crate) static METRICS_KIND: HandlerKind = HandlerKind {
    verb: &METRICS,
    build: |_, to| handler(Page::Metrics(registry(to))),
};
/// `health`.
pub(crate) static HEALTH_KIND: HandlerKind = HandlerKind {
    verb: &HEALTH,
    build: |_, _| handler(Page::Health),
};
/// `ready`.
pub(crate) static READY_KIND: HandlerKind = HandlerKind {
    verb: &READY,
    build: |_: &RouteConfig, to| handler(Page::Ready(to.kept.get("", Readiness::default))),
};

/// The registry of the server.
pub(crate) fn registry(to: &Building<'_>) -> Arc<Registry> {
    to.kept.get("", Registry::default)
}

enum Page {
    Metrics(Arc<Registry>),
    Health,
    Ready(Arc<Readiness>),
}

fn handler(page: Page) -> Option<Arc<dyn Handler>> {
    Some(Arc::new(page))
}

impl Handler for Page {
    fn handle(&self, request: Request<Body>, _: Visit) -> Answer {
        if !matches!(*request.method(), Method::GET | Method::HEAD) {
            return reply::status(StatusCode::METHOD_NOT_ALLOWED).into();
        }
        let mut response = match self {
            Self::Metrics(registry) => metrics(registry, &request),
            Self::Health => reply::text(StatusCode::OK, "ok\n"),
            Self::Ready(readiness) => {
                let reasons = readiness.reasons();
                if reasons.is_empty() {
                    reply::text(StatusCode::OK, "ready\n")
                } else {
                    let reasons = reasons.join("\n") + "\n";
                    reply::text(StatusCode::SERVICE_UNAVAILABLE, reasons)
                }
            }
        };
        let fresh = HeaderValue::from_static("no-store");
        response.headers_mut().insert(CACHE_CONTROL, fresh);
        response.into()
    }
}

/// All that is counted, in the format that is asked for.
pub(crate) fn metrics(registry: &Registry, request: &Request<Body>) -> Response<Body> {
    let accepts = request.headers().get_all(ACCEPT).iter();
    let open = accepts
        .filter_map(|value| value.to_str().ok())
        .any(|value| value.contains("application/openmetrics-text"));
    let (body, kind) = match open {
        true => (registry.open_metrics(), text::OPEN_METRICS),
        false => (registry.prometheus(), text::PROMETHEUS),
    };
    let mut response = Response::new(Body::from(body));
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(kind));
    headers.insert(http::header::VARY, HeaderValue::from_static("accept"));
    response
}
