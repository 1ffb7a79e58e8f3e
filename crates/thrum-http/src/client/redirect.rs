//! Redirects: what a response with a `Location` asks for next (RFC 9110, 15.4, and the Fetch standard, 4.4).

use std::fmt;
use std::sync::Arc;

use http::header::{self, HeaderMap, HeaderName};
use http::{Method, StatusCode, Uri};
use thiserror::Error;
use thrum_parse::uri::{parse_reference, parse_uri};

/// Redirects that are followed for one request, unless told otherwise.
const LIMIT: usize = 10;

/// Which redirects a client follows. Default: 10 for one request, and none that leads from `https` to `http`.
///
/// Only 301, 302, 303, 307 and 308 with a `Location` are redirects. POST becomes GET at 301 and 302, and everything but
/// HEAD at 303; otherwise method and body stay. A body that cannot be sent again (a stream) is not: the response is
/// handed out as it is, as is one without `Location`.
///
/// `Authorization`, `Cookie` and `Proxy-Authorization` of the request stay with the scheme, host and port that they were
/// meant for. There is no `Referer`. A name and a password in `Location` are not used.
///
/// Going around in a circle is not told from a site that answers differently the second time, once a cookie is set: the
/// limit ends both.
///
/// ```
/// use thrum_http::client::redirect::{Action, Policy};
///
/// let same_host = Policy::custom(|attempt| {
///     if attempt.previous().len() > 3 {
///         Action::Fail
///     } else if attempt.next().host() == attempt.previous()[0].host() {
///         Action::Follow
///     } else {
///         Action::Stop
///     }
/// });
/// # let _ = same_host;
/// ```
#[derive(Clone)]
pub struct Policy(Kind);

#[derive(Clone)]
enum Kind {
    Limit(usize),
    Custom(Arc<Custom>),
}

type Custom = dyn Fn(&Attempt<'_>) -> Action + Send + Sync;

impl Policy {
    /// Every response is handed out as it comes.
    pub fn none() -> Self {
        Self::custom(|_| Action::Stop)
    }

    /// At most `count` for one request, more are an error; and so is one from `https` to `http`.
    pub fn limit(count: usize) -> Self {
        Self(Kind::Limit(count))
    }

    /// Whatever `decide` says. It is asked for each redirect, and is to set a limit itself.
    pub fn custom(decide: impl Fn(&Attempt<'_>) -> Action + Send + Sync + 'static) -> Self {
        Self(Kind::Custom(Arc::new(decide)))
    }

    fn decide(&self, attempt: &Attempt<'_>) -> Result<bool, RedirectError> {
        let chain = || Chain(attempt.previous.to_vec());
        match &self.0 {
            Kind::Limit(limit) if attempt.previous.len() > *limit => {
                Err(RedirectError::TooMany(chain()))
            }
            Kind::Limit(_) if attempt.is_downgrade() => Err(RedirectError::Downgrade(chain())),
            Kind::Limit(_) => Ok(true),
            Kind::Custom(decide) => match decide(attempt) {
                Action::Follow => Ok(true),
                Action::Stop => Ok(false),
                Action::Fail => Err(RedirectError::Refused(chain())),
            },
        }
    }
}

impl Default for Policy {
    fn default() -> Self {
        Self::limit(LIMIT)
    }
}

impl fmt::Debug for Policy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Kind::Limit(limit) => f.debug_tuple("Limit").field(limit).finish(),
            Kind::Custom(_) => f.write_str("Custom"),
        }
    }
}

/// A redirect that could be followed.
#[derive(Debug)]
pub struct Attempt<'a> {
    status: StatusCode,
    next: &'a Uri,
    previous: &'a [Uri],
}

impl Attempt<'_> {
    /// The status that asks for it.
    pub fn status(&self) -> StatusCode {
        self.status
    }

    /// Where it leads.
    pub fn next(&self) -> &Uri {
        self.next
    }

    /// What was asked for so far, first things first: at least one.
    pub fn previous(&self) -> &[Uri] {
        self.previous
    }

    /// Whether it leads from `https` to `http`.
    pub fn is_downgrade(&self) -> bool {
        let from = self.previous.last().and_then(Uri::scheme_str);
        from == Some("https") && self.next.scheme_str() == Some("http")
    }
}

/// What a [custom policy](Policy::custom) wants of a redirect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// It is followed.
    Follow,
    /// The response is handed out as it is.
    Stop,
    /// The request fails.
    Fail,
}

/// Why a redirect is not followed. It tells the chain of what was asked for, without what follows `?` in it.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum RedirectError {
    /// There are more than the policy allows.
    #[error("too many redirects: {0}")]
    TooMany(Chain),
    /// It leads from `https` to `http`, and what is secret would be no more.
    #[error("a redirect leads from https to http, after {0}")]
    Downgrade(Chain),
    /// It is not a URL of `http` or `https`.
    #[error("a redirect leads nowhere: `Location` is malformed, or not http, after {0}")]
    BadLocation(Chain),
    /// The custom policy refuses it.
    #[error("the redirect was refused, after {0}")]
    Refused(Chain),
}

/// What was asked for, first things first.
#[derive(Debug)]
pub struct Chain(Vec<Uri>);

impl Chain {
    /// The URLs.
    pub fn urls(&self) -> &[Uri] {
        &self.0
    }
}

impl fmt::Display for Chain {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (n, url) in self.0.iter().enumerate() {
            let arrow = if n == 0 { "" } else { " -> " };
            let scheme = url.scheme_str().unwrap_or_default();
            let host = url.host().unwrap_or_default();
            write!(f, "{arrow}{scheme}://{host}")?;
            if let Some(port) = url.port() {
                write!(f, ":{port}")?;
            }
            f.write_str(url.path())?;
        }
        Ok(())
    }
}

/// The request that a redirect asks for.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Next {
    pub(crate) uri: Uri,
    pub(crate) method: Method,
    /// Whether the body is sent again.
    pub(crate) keeps_body: bool,
    is_other_origin: bool,
}

/// What a response asks for next; `None`: nothing that can or should be followed. `chain` is what was asked for so far,
/// this request last.
pub(crate) fn next(
    policy: &Policy,
    chain: &[Uri],
    method: &Method,
    can_send_again: bool,
    status: StatusCode,
    response: &HeaderMap,
) -> Result<Option<Next>, RedirectError> {
    let Some((method, keeps_body)) = method_after(status, method) else {
        return Ok(None);
    };
    let (Some(location), Some(current)) = (response.get(header::LOCATION), chain.last()) else {
        return Ok(None);
    };
    if keeps_body && !can_send_again {
        return Ok(None);
    }
    let uri = target(current, location.as_bytes());
    let Some(uri) = uri else {
        // A policy that follows nothing has nothing to say against a bad one either.
        let next = current;
        let previous = chain;
        let attempt = Attempt {
            status,
            next,
            previous,
        };
        return match policy.decide(&attempt)? {
            true => Err(RedirectError::BadLocation(Chain(chain.to_vec()))),
            false => Ok(None),
        };
    };
    let attempt = Attempt {
        status,
        next: &uri,
        previous: chain,
    };
    if !policy.decide(&attempt)? {
        return Ok(None);
    }
    let is_other_origin = origin(&uri) != origin(current);
    Ok(Some(Next {
        uri,
        method,
        keeps_body,
        is_other_origin,
    }))
}

impl Next {
    /// Takes out of the request's fields what is not to go along.
    pub(crate) fn strip(&self, request: &mut HeaderMap) {
        const CREDENTIALS: [HeaderName; 4] = [
            header::AUTHORIZATION,
            header::COOKIE,
            header::PROXY_AUTHORIZATION,
            header::HOST,
        ];
        const OF_BODY: [HeaderName; 7] = [
            header::CONTENT_ENCODING,
            header::CONTENT_LANGUAGE,
            header::CONTENT_LENGTH,
            header::CONTENT_LOCATION,
            header::CONTENT_TYPE,
            header::EXPECT,
            header::TRANSFER_ENCODING,
        ];
        request.remove(header::REFERER);
        if self.is_other_origin {
            CREDENTIALS
                .iter()
                .for_each(|name| drop(request.remove(name)));
        }
        if !self.keeps_body {
            OF_BODY.iter().for_each(|name| drop(request.remove(name)));
        }
    }
}

/// The method after a redirect, and whether the body stays; `None` if it is none.
fn method_after(status: StatusCode, method: &Method) -> Option<(Method, bool)> {
    let becomes_get = match status {
        StatusCode::MOVED_PERMANENTLY | StatusCode::FOUND => method == Method::POST,
        StatusCode::SEE_OTHER => method != Method::HEAD,
        StatusCode::TEMPORARY_REDIRECT | StatusCode::PERMANENT_REDIRECT => false,
        _ => return None,
    };
    Some(if becomes_get {
        (Method::GET, false)
    } else {
        (method.clone(), status != StatusCode::SEE_OTHER)
    })
}

/// The URL that `location` means at `base`.
fn target(base: &Uri, location: &[u8]) -> Option<Uri> {
    let location = tidied(location)?;
    let base = base.to_string();
    let base = parse_uri(&base).ok()?;
    let mut location = parse_reference(&location).ok()?;
    // The fragment is for whoever shows what comes; it is never sent.
    location.fragment = None;
    if let Some(authority) = &mut location.authority {
        authority.userinfo = None;
    }
    let uri: Uri = location.resolve(&base).parse().ok()?;
    let is_http = matches!(uri.scheme_str(), Some("http" | "https"));
    (is_http && uri.host().is_some_and(|host| !host.is_empty())).then_some(uri)
}

/// With all that no URI may have percent-encoded, as browsers do it: servers send spaces and UTF-8.
fn tidied(location: &[u8]) -> Option<String> {
    let mut text = String::with_capacity(location.len());
    for (at, &byte) in location.trim_ascii().iter().enumerate() {
        let escape = || location.trim_ascii().get(at + 1..at + 3);
        match byte {
            b'%' if !escape().is_some_and(|two| two.iter().all(u8::is_ascii_hexdigit)) => {
                text.push_str("%25");
            }
            0..0x20 | 0x7f => return None,
            b' ' | b'"' | b'<' | b'>' | b'\\' | b'^' | b'`' | b'{' | b'|' | b'}' | 0x80.. => {
                text.push_str(&format!("%{byte:02X}"));
            }
            _ => text.push(byte.into()),
        }
    }
    Some(text)
}

/// What credentials are meant for: scheme, host and port.
fn origin(uri: &Uri) -> (Option<&str>, Option<String>, Option<u16>) {
    let default = match uri.scheme_str() {
        Some("http") => Some(80),
        Some("https") => Some(443),
        _ => None,
    };
    let host = uri.host().map(str::to_ascii_lowercase);
    (uri.scheme_str(), host, uri.port_u16().or(default))
}

#[cfg(test)]
mod tests {
    use http::HeaderValue;

    use super::*;

    fn ask(
        policy: &Policy,
        chain: &[&str],
        method: &Method,
        status: u16,
        location: &str,
    ) -> Result<Option<Next>, RedirectError> {
        let chain: Vec<Uri> = chain.iter().map(|url| url.parse().unwrap()).collect();
        let mut headers = HeaderMap::new();
        let location = HeaderValue::from_bytes(location.as_bytes()).unwrap();
        headers.insert(header::LOCATION, location);
        let status = StatusCode::from_u16(status).unwrap();
        next(policy, &chain, method, true, status, &headers)
    }

    fn leads(base: &str, location: &str) -> String {
        let next = ask(&Policy::default(), &[base], &Method::GET, 302, location);
        next.unwrap().unwrap().uri.to_string()
    }

    #[test]
    fn method_and_body_follow_the_status() {
        let cases = [
            (301, Method::POST, Some((Method::GET, false))),
            (302, Method::POST, Some((Method::GET, false))),
            (302, Method::PUT, Some((Method::PUT, true))),
            (301, Method::HEAD, Some((Method::HEAD, true))),
            (303, Method::PUT, Some((Method::GET, false))),
            (303, Method::GET, Some((Method::GET, false))),
            (303, Method::HEAD, Some((Method::HEAD, false))),
            (307, Method::POST, Some((Method::POST, true))),
            (308, Method::PATCH, Some((Method::PATCH, true))),
            (300, Method::GET, None),
            (304, Method::GET, None),
            (305, Method::GET, None),
            (200, Method::GET, None),
        ];
        for (status, method, expected) in cases {
            let next = ask(&Policy::default(), &["http://a/"], &method, status, "/b").unwrap();
            let next = next.map(|next| (next.method, next.keeps_body));
            assert_eq!(next, expected, "{status} {method}");
        }
    }

    #[test]
    fn a_location_is_resolved() {
        assert_eq!(
            leads("http://a.example/b/c?d", "e?f"),
            "http://a.example/b/e?f"
        );
        assert_eq!(
            leads("http://a.example/b/c", "../../x"),
            "http://a.example/x"
        );
        assert_eq!(
            leads("http://a.example/b?q=1", "?q=2"),
            "http://a.example/b?q=2"
        );
        assert_eq!(
            leads("http://a.example/", "//b.example:81/c"),
            "http://b.example:81/c"
        );
        assert_eq!(
            leads("http://a.example/", "https://b.example"),
            "https://b.example/"
        );
        assert_eq!(leads("http://a.example/b", "/c#top"), "http://a.example/c");
        assert_eq!(leads("http://a.example/b", ""), "http://a.example/b");
    }

    #[test]
    fn what_servers_send_beyond_the_rfc_is_encoded() {
        assert_eq!(leads("http://a/", "/a b|c"), "http://a/a%20b%7Cc");
        assert_eq!(leads("http://a/", "/\u{fc}"), "http://a/%C3%BC");
        assert_eq!(leads("http://a/", "/50%"), "http://a/50%25");
        assert_eq!(leads("http://a/", " /a%20b "), "http://a/a%20b");
        assert_eq!(
            leads("http://a/", "\\\\evil.example/"),
            "http://a/%5C%5Cevil.example/"
        );
    }

    #[test]
    fn names_and_passwords_are_not_taken_from_a_location() {
        assert_eq!(
            leads("http://a/", "http://name:pass@b.example/c"),
            "http://b.example/c"
        );
    }

    #[test]
    fn only_http_is_followed() {
        for location in [
            "file:///etc/passwd",
            "gopher://a/",
            "javascript:1",
            "http:///x",
            "http://[::1",
        ] {
            let result = ask(
                &Policy::default(),
                &["http://a/"],
                &Method::GET,
                302,
                location,
            );
            assert!(
                matches!(result, Err(RedirectError::BadLocation(_))),
                "{location}"
            );
            let result = ask(&Policy::none(), &["http://a/"], &Method::GET, 302, location);
            assert_eq!(result.unwrap(), None, "{location}");
        }
    }

    #[test]
    fn the_limit_ends_a_circle_with_its_chain() {
        let chain = ["http://a/?secret", "http://b:81/x", "http://a/"];
        assert!(
            ask(&Policy::limit(3), &chain, &Method::GET, 302, "/")
                .unwrap()
                .is_some()
        );
        let error = ask(&Policy::limit(2), &chain, &Method::GET, 302, "/").unwrap_err();
        assert_eq!(
            error.to_string(),
            "too many redirects: http://a/ -> http://b:81/x -> http://a/"
        );
        let none = Policy::limit(0);
        assert!(ask(&none, &chain[..1], &Method::GET, 302, "/").is_err());
    }

    #[test]
    fn https_does_not_become_http_unless_a_custom_policy_says_so() {
        let result = ask(
            &Policy::default(),
            &["https://a/"],
            &Method::GET,
            302,
            "http://a/",
        );
        assert!(matches!(result, Err(RedirectError::Downgrade(_))));
        let policy = Policy::custom(|attempt| {
            assert!(attempt.is_downgrade() && attempt.status() == 302);
            Action::Follow
        });
        let result = ask(&policy, &["https://a/"], &Method::GET, 302, "http://a/");
        assert_eq!(result.unwrap().unwrap().uri, "http://a/");
        let policy = Policy::custom(|_| Action::Fail);
        let result = ask(&policy, &["http://a/"], &Method::GET, 302, "http://a/");
        assert!(matches!(result, Err(RedirectError::Refused(_))));
    }

    #[test]
    fn a_body_that_cannot_be_sent_again_is_not() {
        let chain = ["http://a/".parse().unwrap()];
        let mut headers = HeaderMap::new();
        headers.insert(header::LOCATION, HeaderValue::from_static("/b"));
        let ask = |status| {
            next(
                &Policy::default(),
                &chain,
                &Method::POST,
                false,
                status,
                &headers,
            )
        };
        assert_eq!(ask(StatusCode::TEMPORARY_REDIRECT).unwrap(), None);
        assert!(ask(StatusCode::SEE_OTHER).unwrap().is_some());
    }

    #[test]
    fn a_redirect_without_location_is_a_response() {
        let (chain, none) = (["http://a/".parse().unwrap()], HeaderMap::new());
        let policy = Policy::default();
        let next = next(
            &policy,
            &chain,
            &Method::GET,
            true,
            StatusCode::FOUND,
            &none,
        );
        assert_eq!(next.unwrap(), None);
    }

    #[test]
    fn credentials_stay_with_their_origin() {
        let strip = |from: &str, method: Method, status, location: &str| {
            let next = ask(&Policy::default(), &[from], &method, status, location);
            let mut fields = HeaderMap::new();
            for name in [
                "authorization",
                "cookie",
                "proxy-authorization",
                "host",
                "referer",
            ] {
                fields.insert(name, HeaderValue::from_static("x"));
            }
            fields.insert("content-type", HeaderValue::from_static("x"));
            next.unwrap().unwrap().strip(&mut fields);
            let mut left: Vec<_> = fields.keys().map(|name| name.to_string()).collect();
            left.sort();
            left.join(" ")
        };
        let same = "authorization content-type cookie host proxy-authorization";
        assert_eq!(strip("http://a/", Method::GET, 302, "/b"), same);
        assert_eq!(strip("http://a:80/", Method::GET, 302, "http://A/b"), same);
        for other in ["http://b/", "https://a/", "http://a:81/", "http://a.a/"] {
            assert_eq!(
                strip("http://a/", Method::GET, 302, other),
                "content-type",
                "{other}"
            );
        }
        let without_body = "authorization cookie host proxy-authorization";
        assert_eq!(strip("http://a/", Method::POST, 302, "/b"), without_body);
    }
}
