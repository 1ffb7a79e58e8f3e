//! `security-headers`: what browsers are told to be careful with.

use std::sync::Arc;
use std::time::Duration;

use http::header::{
    CONTENT_SECURITY_POLICY, REFERRER_POLICY, STRICT_TRANSPORT_SECURITY, X_CONTENT_TYPE_OPTIONS,
    X_FRAME_OPTIONS,
};
use http::{HeaderMap, HeaderName, HeaderValue, Request};
use thrum_http::Body;

use crate::config::{Kind, Setting, Settings};
use crate::site::{Answer, Building, Handler, Layer, Visit};

/// `security-headers`.
pub(crate) static SETTINGS: &[Setting] = &[Setting {
    default: "off",
    block: BLOCK,
    ..Setting::new(
        "security-headers",
        &[Kind::Choice(&["off", "basic", "strict"])],
        "Fields that make browsers careful, where a response has none of its own. `basic` is what hardly any site minds: \
         types are not guessed, other sites may not frame it and learn the origin only of where a link was, and for 180 days \
         it is asked for over TLS only (said over TLS only). `strict` also forbids scripts, styles and frames of other \
         origins, inline scripts, any frame around it, referrers, and windows of other origins; and TLS holds for two years, \
         for all hosts beneath.",
        "security-headers strict { csp \"default-src 'self' https://cdn.example.com\" }",
    )
}];

static BLOCK: &[Setting] = &[
    Setting::new(
        "csp",
        &[Kind::Text("POLICY")],
        "The Content-Security-Policy.",
        "csp \"default-src 'self'\"",
    ),
    Setting::new(
        "frame-options",
        &[Kind::Choice(&["deny", "sameorigin", "off"])],
        "Who may show it in a frame (X-Frame-Options).",
        "frame-options deny",
    ),
    Setting::new(
        "referrer-policy",
        &[Kind::Text("POLICY")],
        "What other sites are told of the page that led to them (Referrer-Policy).",
        "referrer-policy no-referrer",
    ),
    Setting::new(
        "hsts",
        &[Kind::DurationOrOff],
        "How long browsers ask over TLS only (Strict-Transport-Security).",
        "hsts 365d",
    ),
];

pub(crate) static LAYER: Layer = Layer {
    settings: SETTINGS,
    build,
};

const DAY: u64 = 86_400;
const STRICT_POLICY: &str = "default-src 'self'; base-uri 'self'; form-action 'self'; frame-ancestors 'none'; object-src 'none'";

/// Fields that make browsers careful. A response's own take precedence.
///
/// ```
/// use thrum_server::guard::{Level, SecurityHeaders};
///
/// let careful = SecurityHeaders::new(Level::Strict)
///     .content_security_policy("default-src 'self' https://cdn.example.com".parse().unwrap());
/// # let _ = careful;
/// ```
#[derive(Clone, Debug)]
pub struct SecurityHeaders {
    fields: HeaderMap,
    /// Said over TLS only.
    hsts: Option<HeaderValue>,
    subdomains: bool,
}

/// How much is forbidden.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Level {
    /// What hardly any site minds.
    Basic,
    /// Everything that a site can do without.
    Strict,
}

impl SecurityHeaders {
    /// All fields of a level.
    pub fn new(level: Level) -> Self {
        let fields: &[(HeaderName, &'static str)] = match level {
            Level::Basic => &[
                (X_CONTENT_TYPE_OPTIONS, "nosniff"),
                (X_FRAME_OPTIONS, "SAMEORIGIN"),
                (REFERRER_POLICY, "strict-origin-when-cross-origin"),
            ],
            Level::Strict => &[
                (X_CONTENT_TYPE_OPTIONS, "nosniff"),
                (X_FRAME_OPTIONS, "DENY"),
                (REFERRER_POLICY, "no-referrer"),
                (CONTENT_SECURITY_POLICY, STRICT_POLICY),
                (
                    HeaderName::from_static("cross-origin-opener-policy"),
                    "same-origin",
                ),
                (
                    HeaderName::from_static("cross-origin-resource-policy"),
                    "same-origin",
                ),
                (
                    HeaderName::from_static("permissions-policy"),
                    "camera=(), geolocation=(), microphone=()",
                ),
            ],
        };
        let fields = fields.iter().cloned();
        let headers = Self {
            fields: fields
                .map(|(name, value)| (name, HeaderValue::from_static(value)))
                .collect(),
            hsts: None,
            subdomains: level == Level::Strict,
        };
        let days = match level {
            Level::Basic => 180,
            Level::Strict => 730,
        };
        headers.strict_transport_security(Some(Duration::from_secs(days * DAY)))
    }

    /// What scripts, styles, frames and the rest may come from.
    #[must_use]
    pub fn content_security_policy(mut self, policy: HeaderValue) -> Self {
        self.fields.insert(CONTENT_SECURITY_POLICY, policy);
        self
    }

    /// Who may show it in a frame: `DENY`, `SAMEORIGIN`; `None`: anybody.
    #[must_use]
    pub fn frame_options(mut self, options: Option<HeaderValue>) -> Self {
        match options {
            Some(options) => drop(self.fields.insert(X_FRAME_OPTIONS, options)),
            None => drop(self.fields.remove(X_FRAME_OPTIONS)),
        }
        self
    }

    /// What other sites are told of the page that led to them.
    #[must_use]
    pub fn referrer_policy(mut self, policy: HeaderValue) -> Self {
        self.fields.insert(REFERRER_POLICY, policy);
        self
    }

    /// How long browsers ask over TLS only; `None`: nothing is said. It is said over TLS only.
    #[must_use]
    pub fn strict_transport_security(mut self, time: Option<Duration>) -> Self {
        let beneath = if self.subdomains {
            "; includeSubDomains"
        } else {
            ""
        };
        self.hsts = time.and_then(|time| {
            let value = format!("max-age={}{beneath}", time.as_secs());
            HeaderValue::try_from(value).ok()
        });
        self
    }

    /// Puts them into a handler's responses.
    pub fn around(self, handler: Arc<dyn Handler>) -> Arc<dyn Handler> {
        Arc::new(Careful {
            headers: Arc::new(self),
            handler,
        })
    }

    fn apply(&self, fields: &mut HeaderMap, secure: bool) {
        for (name, value) in &self.fields {
            fields.entry(name).or_insert_with(|| value.clone());
        }
        if let Some(hsts) = self.hsts.as_ref().filter(|_| secure) {
            let field = fields.entry(STRICT_TRANSPORT_SECURITY);
            field.or_insert_with(|| hsts.clone());
        }
    }
}

struct Careful {
    headers: Arc<SecurityHeaders>,
    handler: Arc<dyn Handler>,
}

impl Handler for Careful {
    fn handle(&self, request: Request<Body>, visit: Visit) -> Answer {
        let (headers, secure) = (self.headers.clone(), visit.secure);
        let answer = self.handler.handle(request, visit);
        answer.map(move |response| headers.apply(response.headers_mut(), secure))
    }
}

fn build(
    settings: &Settings,
    handler: Arc<dyn Handler>,
    building: &mut Building<'_>,
) -> Arc<dyn Handler> {
    let level = match settings.text("security-headers") {
        Some("basic") => Level::Basic,
        Some("strict") => Level::Strict,
        _ => return handler,
    };
    let mut headers = SecurityHeaders::new(level);
    let entry = settings.written("security-headers");
    let Some(block) = entry.and_then(|entry| entry.block()) else {
        return headers.around(handler);
    };
    let mut value = |name| {
        let written = block.written(name)?.values().first()?;
        let text = HeaderValue::from_str(written.text());
        building.problems.check(written.span(), text)
    };
    if let Some(policy) = value("csp") {
        headers = headers.content_security_policy(policy);
    }
    if let Some(policy) = value("referrer-policy") {
        headers = headers.referrer_policy(policy);
    }
    headers = match block.text("frame-options") {
        Some("deny") => headers.frame_options(Some(HeaderValue::from_static("DENY"))),
        Some("sameorigin") => headers.frame_options(Some(HeaderValue::from_static("SAMEORIGIN"))),
        Some(_) => headers.frame_options(None),
        None => headers,
    };
    if block.written("hsts").is_some() {
        headers = headers.strict_transport_security(block.duration_or_off("hsts"));
    }
    headers.around(handler)
}

#[cfg(test)]
mod tests {
    use http::Response;

    use super::super::testing::{Inner, from, get, hello, now};
    use super::*;

    fn fields(headers: SecurityHeaders, handler: Arc<dyn Handler>, secure: bool) -> HeaderMap {
        let mut visit = from("192.0.2.1");
        visit.secure = secure;
        let answer = headers.around(handler).handle(get(&[]), visit);
        now(answer).headers().clone()
    }

    #[test]
    fn levels() {
        let basic = fields(SecurityHeaders::new(Level::Basic), hello(), true);
        assert_eq!(basic["x-content-type-options"], "nosniff");
        assert_eq!(basic["x-frame-options"], "SAMEORIGIN");
        assert_eq!(basic["strict-transport-security"], "max-age=15552000");
        assert!(!basic.contains_key("content-security-policy"));
        let strict = fields(SecurityHeaders::new(Level::Strict), hello(), true);
        assert_eq!(strict["x-frame-options"], "DENY");
        assert_eq!(
            strict["strict-transport-security"],
            "max-age=63072000; includeSubDomains"
        );
        assert_eq!(strict["content-security-policy"], STRICT_POLICY);
    }

    #[test]
    fn tls_is_asked_for_over_tls_only() {
        let open = fields(SecurityHeaders::new(Level::Strict), hello(), false);
        assert!(!open.contains_key("strict-transport-security"));
        let headers = SecurityHeaders::new(Level::Strict).strict_transport_security(None);
        assert!(!fields(headers, hello(), true).contains_key("strict-transport-security"));
    }

    #[test]
    fn a_response_has_the_last_word() {
        let inner = Inner(|_: Request<Body>, _: Visit| {
            let response = Response::builder().header("content-security-policy", "own");
            response.body(Body::empty()).unwrap().into()
        });
        let fields = fields(SecurityHeaders::new(Level::Strict), Arc::new(inner), true);
        assert_eq!(fields["content-security-policy"], "own");
        assert_eq!(fields["referrer-policy"], "no-referrer");
    }
}
