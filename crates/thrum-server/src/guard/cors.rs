//! `cors`: which other sites' scripts may use this one (the fetch standard's CORS protocol).
//!
//! It goes outside of what asks for a user: a browser asks first (a preflight) without saying who.

use std::sync::Arc;
use std::time::Duration;

use http::header::{
    ACCESS_CONTROL_ALLOW_CREDENTIALS, ACCESS_CONTROL_ALLOW_HEADERS, ACCESS_CONTROL_ALLOW_METHODS,
    ACCESS_CONTROL_ALLOW_ORIGIN, ACCESS_CONTROL_EXPOSE_HEADERS, ACCESS_CONTROL_MAX_AGE,
    ACCESS_CONTROL_REQUEST_HEADERS, ACCESS_CONTROL_REQUEST_METHOD, ORIGIN, VARY,
};
use http::{HeaderMap, HeaderName, HeaderValue, Method, Request, Response, StatusCode};
use thiserror::Error;
use thrum_http::Body;

use crate::config::{Arity, Kind, Problem, Setting, Settings};
use crate::site::{Answer, Building, Handler, Layer, Visit};

/// `cors`.
pub(crate) static SETTINGS: &[Setting] = &[Setting {
    arity: Arity::Many,
    block: BLOCK,
    ..Setting::new(
        "cors",
        &[Kind::Text("ORIGIN")],
        "Other sites whose scripts may use this one: https://app.example.com, https://*.example.com for all hosts beneath, or \
         * for all. `cors off` in a route undoes its site's.",
        "cors https://app.example.com { credentials on }",
    )
}];

static BLOCK: &[Setting] = &[
    Setting {
        arity: Arity::Many,
        default: "GET HEAD POST",
        ..Setting::new(
            "methods",
            &[Kind::Text("METHOD")],
            "What they may do.",
            "methods GET PUT DELETE",
        )
    },
    Setting {
        arity: Arity::Many,
        ..Setting::new(
            "headers",
            &[Kind::Text("NAME")],
            "The fields that they may send, besides those that any page may; * is all.",
            "headers Content-Type Authorization",
        )
    },
    Setting {
        arity: Arity::Many,
        ..Setting::new(
            "expose",
            &[Kind::Header],
            "The fields of responses that they may read, besides those that any page may.",
            "expose X-Total",
        )
    },
    Setting {
        default: "off",
        ..Setting::new(
            "credentials",
            &[Kind::Switch],
            "Whether they act for the user: with cookies and passwords.",
            "credentials on",
        )
    },
    Setting {
        default: "1h",
        ..Setting::new(
            "max-age",
            &[Kind::Duration],
            "How long a browser need not ask again.",
            "max-age 1d",
        )
    },
];

pub(crate) static LAYER: Layer = Layer {
    settings: SETTINGS,
    build,
};

/// Which other sites' scripts may use this one.
///
/// ```
/// use http::Method;
/// use thrum_server::guard::Cors;
///
/// let cors = Cors::new(["https://app.example.com", "https://*.example.org"])
///     .unwrap()
///     .methods([Method::GET, Method::PUT])
///     .headers(["content-type".parse().unwrap()])
///     .credentials();
/// # let _ = cors;
/// ```
#[derive(Clone, Debug)]
pub struct Cors {
    origins: Vec<Origin>,
    methods: HeaderValue,
    headers: Headers,
    expose: Option<HeaderValue>,
    credentials: bool,
    max_age: Duration,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Origin {
    Any,
    Exact(String),
    /// `https://`, `.example.com` and what follows: a port.
    Beneath(String, String),
}

#[derive(Clone, Debug)]
enum Headers {
    /// What is asked for.
    Any,
    These(Option<HeaderValue>),
}

/// What is no origin.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{0:?} is not an origin, such as https://example.com, https://*.example.com:8443 or *")]
pub struct InvalidOrigin(String);

impl Cors {
    /// Scripts of these origins may send `GET`, `HEAD` and `POST`, without credentials, and ask again after an hour.
    ///
    /// # Errors
    /// For what is no origin.
    pub fn new<O: AsRef<str>>(origins: impl IntoIterator<Item = O>) -> Result<Self, InvalidOrigin> {
        let origins = origins
            .into_iter()
            .map(|origin| Origin::parse(origin.as_ref()));
        Ok(Self {
            origins: origins.collect::<Result<_, _>>()?,
            methods: HeaderValue::from_static("GET, HEAD, POST"),
            headers: Headers::These(None),
            expose: None,
            credentials: false,
            max_age: Duration::from_secs(3600),
        })
    }

    /// What they may do.
    #[must_use]
    pub fn methods(mut self, methods: impl IntoIterator<Item = Method>) -> Self {
        self.methods = list(methods).unwrap_or(HeaderValue::from_static(""));
        self
    }

    /// The fields that they may send, besides those that any page may.
    #[must_use]
    pub fn headers(mut self, names: impl IntoIterator<Item = HeaderName>) -> Self {
        self.headers = Headers::These(list(names));
        self
    }

    /// They may send any field.
    #[must_use]
    pub fn any_headers(mut self) -> Self {
        self.headers = Headers::Any;
        self
    }

    /// The fields of responses that they may read, besides those that any page may.
    #[must_use]
    pub fn expose(mut self, names: impl IntoIterator<Item = HeaderName>) -> Self {
        self.expose = list(names);
        self
    }

    /// They act for the user: with cookies and passwords. Never for the origin `*`, which is everybody: that one stays
    /// without.
    #[must_use]
    pub fn credentials(mut self) -> Self {
        self.credentials = true;
        self
    }

    /// How long a browser need not ask again.
    #[must_use]
    pub fn max_age(mut self, time: Duration) -> Self {
        self.max_age = time;
        self
    }

    /// Says so in a handler's responses, and answers preflights itself.
    pub fn around(self, handler: Arc<dyn Handler>) -> Arc<dyn Handler> {
        Arc::new(Open {
            cors: Arc::new(self),
            handler,
        })
    }

    fn is_for_all(&self) -> bool {
        self.origins.contains(&Origin::Any)
    }

    /// What is said to an origin in every response.
    fn say(&self, origin: Option<&HeaderValue>, fields: &mut HeaderMap) {
        // Not what the handler may say: this is the place that decides.
        fields.remove(ACCESS_CONTROL_ALLOW_CREDENTIALS);
        fields.remove(ACCESS_CONTROL_ALLOW_ORIGIN);
        if self.is_for_all() {
            fields.insert(ACCESS_CONTROL_ALLOW_ORIGIN, HeaderValue::from_static("*"));
            return;
        }
        // Also where there is none: a cache must not give that response to another origin.
        let _ = fields.try_append(VARY, HeaderValue::from_static("origin"));
        let allowed = |origin: &&HeaderValue| {
            let text = origin.to_str().unwrap_or_default();
            self.origins.iter().any(|one| one.is(text))
        };
        let Some(origin) = origin.filter(allowed) else {
            return;
        };
        fields.insert(ACCESS_CONTROL_ALLOW_ORIGIN, origin.clone());
        if self.credentials {
            fields.insert(
                ACCESS_CONTROL_ALLOW_CREDENTIALS,
                HeaderValue::from_static("true"),
            );
        }
    }

    fn preflight(&self, asked: &HeaderMap) -> Response<Body> {
        let mut response = Response::new(Body::empty());
        *response.status_mut() = StatusCode::NO_CONTENT;
        let fields = response.headers_mut();
        self.say(asked.get(ORIGIN), fields);
        if !fields.contains_key(ACCESS_CONTROL_ALLOW_ORIGIN) {
            return response;
        }
        fields.insert(ACCESS_CONTROL_ALLOW_METHODS, self.methods.clone());
        let headers = match &self.headers {
            Headers::These(headers) => headers.as_ref(),
            Headers::Any => {
                let vary = HeaderValue::from_static("access-control-request-headers");
                let _ = fields.try_append(VARY, vary);
                asked.get(ACCESS_CONTROL_REQUEST_HEADERS)
            }
        };
        if let Some(headers) = headers {
            fields.insert(ACCESS_CONTROL_ALLOW_HEADERS, headers.clone());
        }
        fields.insert(ACCESS_CONTROL_MAX_AGE, self.max_age.as_secs().into());
        response
    }
}

impl Origin {
    fn parse(text: &str) -> Result<Self, InvalidOrigin> {
        if text == "*" {
            return Ok(Self::Any);
        }
        let wrong = || InvalidOrigin(text.to_owned());
        let (scheme, host) = text.split_once("://").ok_or_else(wrong)?;
        let is_scheme = scheme
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte));
        let host = host.strip_prefix("*.").unwrap_or(host);
        let authority: http::uri::Authority = host.parse().map_err(|_| wrong())?;
        let is_plain = !host.contains(['@', '*']) && !authority.host().is_empty();
        if scheme.is_empty() || !is_scheme || !is_plain {
            return Err(wrong());
        }
        // Browsers send it in lower case and without the port that the scheme implies.
        let text = text.to_ascii_lowercase();
        let implied = match scheme.to_ascii_lowercase().as_str() {
            "https" => ":443",
            "http" => ":80",
            _ => "",
        };
        let text = text.strip_suffix(implied).unwrap_or(&text);
        Ok(match text.split_once("://*") {
            Some((scheme, end)) => Self::Beneath(format!("{scheme}://"), end.to_owned()),
            None => Self::Exact(text.to_owned()),
        })
    }

    fn is(&self, origin: &str) -> bool {
        match self {
            Self::Any => true,
            Self::Exact(exact) => exact == origin,
            Self::Beneath(scheme, end) => {
                let inside = origin.strip_prefix(&**scheme);
                let label = inside.and_then(|host| host.strip_suffix(&**end));
                let is_label = |byte: u8| byte.is_ascii_alphanumeric() || b"-._".contains(&byte);
                label.is_some_and(|label| !label.is_empty() && label.bytes().all(is_label))
            }
        }
    }
}

struct Open {
    cors: Arc<Cors>,
    handler: Arc<dyn Handler>,
}

impl Handler for Open {
    fn handle(&self, request: Request<Body>, visit: Visit) -> Answer {
        let asked = request.headers();
        let is_preflight = request.method() == Method::OPTIONS
            && asked.contains_key(ORIGIN)
            && asked.contains_key(ACCESS_CONTROL_REQUEST_METHOD);
        if is_preflight {
            return self.cors.preflight(asked).into();
        }
        let (cors, origin) = (self.cors.clone(), asked.get(ORIGIN).cloned());
        let answer = self.handler.handle(request, visit);
        answer.map(move |response| {
            let fields = response.headers_mut();
            cors.say(origin.as_ref(), fields);
            if let Some(expose) = &cors.expose {
                fields.insert(ACCESS_CONTROL_EXPOSE_HEADERS, expose.clone());
            }
        })
    }
}

/// `None` if there are none.
fn list<T: ToString>(all: impl IntoIterator<Item = T>) -> Option<HeaderValue> {
    let all: Vec<_> = all.into_iter().map(|one| one.to_string()).collect();
    let list = HeaderValue::try_from(all.join(", ")).ok()?;
    (!list.is_empty()).then_some(list)
}

fn build(
    settings: &Settings,
    handler: Arc<dyn Handler>,
    building: &mut Building<'_>,
) -> Arc<dyn Handler> {
    match settings.text("cors") {
        None | Some("off") => handler,
        Some(_) => match cors(settings, building) {
            Some(cors) => cors.around(handler),
            None => handler,
        },
    }
}

fn cors(settings: &Settings, building: &mut Building<'_>) -> Option<Cors> {
    let entry = settings.written("cors")?;
    let block = entry.block()?;
    let mut origins = Vec::new();
    for value in entry.values() {
        origins.extend(
            building
                .problems
                .check(value.span(), Origin::parse(value.text())),
        );
    }
    let credentials = block.is_on("credentials");
    if credentials && origins.contains(&Origin::Any) {
        let span = block
            .written("credentials")
            .map_or(entry.span(), |entry| entry.span());
        building.problem(
            Problem::new(span, "scripts of all sites would act for the user")
                .label("not together with the origin *")
                .help("write the origins that may"),
        );
        return None;
    }
    let span = |name| {
        block
            .written(name)
            .map_or(entry.span(), |entry| entry.span())
    };
    let methods = block.texts("methods").into_iter();
    let methods: Result<Vec<Method>, _> = methods.map(str::parse).collect();
    let methods = building.problems.check(span("methods"), methods)?;
    let headers = block.texts("headers");
    let all_headers = headers.contains(&"*");
    let headers = headers
        .into_iter()
        .filter(|&name| name != "*")
        .map(str::parse);
    let headers: Result<Vec<HeaderName>, _> = headers.collect();
    let headers = building.problems.check(span("headers"), headers)?;
    let expose = block.texts("expose").into_iter().map(str::parse);
    let expose: Result<Vec<HeaderName>, _> = expose.collect();
    let expose = building.problems.check(span("expose"), expose)?;
    Some(Cors {
        origins,
        methods: list(methods).unwrap_or(HeaderValue::from_static("")),
        headers: match all_headers {
            true => Headers::Any,
            false => Headers::These(list(headers)),
        },
        expose: list(expose),
        credentials,
        max_age: block.duration("max-age"),
    })
}

#[cfg(test)]
mod tests {
    use super::super::testing::{from, get, hello, now};
    use super::*;

    fn preflight(cors: &Cors, origin: &str) -> Response<Body> {
        let mut request = get(&[
            ("origin", origin),
            ("access-control-request-method", "PUT"),
            ("access-control-request-headers", "x-a,x-b"),
        ]);
        *request.method_mut() = Method::OPTIONS;
        now(cors.clone().around(hello()).handle(request, from("::1")))
    }

    #[test]
    fn preflights_are_answered() {
        let cors = Cors::new(["https://app.example.com"])
            .unwrap()
            .credentials();
        let cors = cors.methods([Method::PUT, Method::GET]).any_headers();
        let response = preflight(&cors, "https://app.example.com");
        assert_eq!(response.status(), 204);
        let said = |name| {
            response
                .headers()
                .get(name)
                .map(|value| value.to_str().unwrap())
        };
        assert_eq!(
            said("access-control-allow-origin"),
            Some("https://app.example.com")
        );
        assert_eq!(said("access-control-allow-credentials"), Some("true"));
        assert_eq!(said("access-control-allow-methods"), Some("PUT, GET"));
        assert_eq!(said("access-control-allow-headers"), Some("x-a,x-b"));
        assert_eq!(said("access-control-max-age"), Some("3600"));
        assert_eq!(said("vary"), Some("origin"));
        let evil = preflight(&cors, "https://evil.example");
        assert_eq!(
            (evil.status(), evil.headers().len()),
            (StatusCode::NO_CONTENT, 1)
        );
    }

    #[test]
    fn responses_say_who_may_read_them() {
        let cors = Cors::new(["https://*.example.org"]).unwrap();
        let cors = cors.expose([HeaderName::from_static("x-total")]);
        let guarded = cors.around(hello());
        let ask = |fields: &[(&str, &str)]| now(guarded.handle(get(fields), from("::1")));
        let response = ask(&[("origin", "https://a.example.org")]);
        assert_eq!(
            response.headers()["access-control-allow-origin"],
            "https://a.example.org"
        );
        assert_eq!(
            response.headers()["access-control-expose-headers"],
            "x-total"
        );
        for fields in [&[][..], &[("origin", "https://example.org")]] {
            let response = ask(fields);
            assert_eq!(response.status(), 200);
            assert!(
                !response
                    .headers()
                    .contains_key("access-control-allow-origin")
            );
            assert_eq!(response.headers()["vary"], "origin");
        }
        // A plain OPTIONS is the handler's.
        let mut request = get(&[("origin", "https://a.example.org")]);
        *request.method_mut() = Method::OPTIONS;
        assert_eq!(now(guarded.handle(request, from("::1"))).status(), 200);
    }

    #[test]
    fn origins() {
        let is = |rule: &str, origin: &str| Origin::parse(rule).unwrap().is(origin);
        assert!(is("https://a.example", "https://a.example"));
        assert!(is("HTTPS://A.example:443", "https://a.example"));
        assert!(!is("https://a.example", "http://a.example"));
        assert!(!is("https://a.example", "https://a.example.evil"));
        assert!(!is("https://a.example", "https://a.example:8443"));
        assert!(is("https://*.a.example:8443", "https://x.y.a.example:8443"));
        assert!(!is("https://*.a.example", "https://evila.example"));
        assert!(!is("https://*.a.example", "https://evil/.a.example"));
        assert!(!is("https://*.a.example", "https://.a.example"));
        assert!(is("chrome-extension://abc", "chrome-extension://abc"));
        for wrong in [
            "a.example",
            "https://",
            "https://a/b",
            "https://a.*.b",
            "https://x@a",
            "",
            "null",
        ] {
            assert!(Origin::parse(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn everybody_never_has_credentials() {
        let cors = Cors::new(["*"]).unwrap().credentials();
        let response = preflight(&cors, "https://evil.example");
        assert_eq!(response.headers()["access-control-allow-origin"], "*");
        assert!(
            !response
                .headers()
                .contains_key("access-control-allow-credentials")
        );
    }
}
