//! What a message says of one connection only, and so is not passed on (RFC 9110 section 7.6.1); and `Via`.

use http::header::{
    CONNECTION, HeaderMap, HeaderName, HeaderValue, PROXY_AUTHENTICATE, PROXY_AUTHORIZATION, TE,
    TRANSFER_ENCODING, UPGRADE, VIA,
};
use http::{Request, Version};
use thrum_http::Body;

const KEEP_ALIVE: HeaderName = HeaderName::from_static("keep-alive");
const PROXY_CONNECTION: HeaderName = HeaderName::from_static("proxy-connection");
const HTTP2_SETTINGS: HeaderName = HeaderName::from_static("http2-settings");
/// A CGI program would take it for the environment's `HTTP_PROXY` (CVE-2016-5385).
const PROXY: HeaderName = HeaderName::from_static("proxy");

/// Takes away what is not for the upstream. `Upgrade` stays out too: who upgrades puts it back.
pub(super) fn strip_request(headers: &mut HeaderMap) {
    let mut takes_trailers = false;
    let mut odd = false;
    let mut found = false;
    for (name, value) in &*headers {
        if *name == TE {
            takes_trailers |= has_word(value, "trailers");
        }
        // Whoever maps names to variables takes `X_Real_IP` for `X-Real-IP`.
        odd |= name.as_str().as_bytes().contains(&b'_');
        found |= is_of_connection(name) || is_private(name);
    }
    if odd {
        remove(headers, |name| name.as_str().contains('_'));
    }
    if found {
        strip(headers);
        remove(headers, is_private);
        if takes_trailers {
            headers.insert(TE, HeaderValue::from_static("trailers"));
        }
    }
}

/// Takes away what is not for the client.
pub(super) fn strip_response(headers: &mut HeaderMap) {
    if headers.keys().any(is_of_connection) {
        strip(headers);
    }
}

fn strip(headers: &mut HeaderMap) {
    let named: Vec<HeaderName> = headers
        .get_all(CONNECTION)
        .iter()
        .flat_map(|value| value.as_bytes().split(|&byte| byte == b','))
        .filter_map(|name| HeaderName::from_bytes(name.trim_ascii()).ok())
        .collect();
    for name in named {
        headers.remove(name);
    }
    remove(headers, is_of_connection);
}

fn remove(headers: &mut HeaderMap, is_unwanted: impl Fn(&HeaderName) -> bool) {
    let names = headers.keys().filter(|name| is_unwanted(name));
    let names: Vec<_> = names.cloned().collect();
    for name in names {
        headers.remove(name);
    }
}

fn is_of_connection(name: &HeaderName) -> bool {
    *name == CONNECTION
        || *name == TE
        || *name == TRANSFER_ENCODING
        || *name == UPGRADE
        || *name == KEEP_ALIVE
        || *name == PROXY_CONNECTION
        || *name == PROXY_AUTHENTICATE
}

/// What is this proxy's alone, or nobody's.
fn is_private(name: &HeaderName) -> bool {
    *name == PROXY_AUTHORIZATION || *name == HTTP2_SETTINGS || *name == PROXY
}

/// Notes that the request went through here (RFC 9110 section 7.6.3).
pub(super) fn add_via(request: &mut Request<Body>) {
    let received = match request.version() {
        Version::HTTP_10 => "1.0 thrum",
        Version::HTTP_2 => "2.0 thrum",
        _ => "1.1 thrum",
    };
    request
        .headers_mut()
        .append(VIA, HeaderValue::from_static(received));
}

pub(super) fn has_word(value: &HeaderValue, word: &str) -> bool {
    let mut words = value.as_bytes().split(|&byte| byte == b',');
    words.any(|found| found.trim_ascii().eq_ignore_ascii_case(word.as_bytes()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(fields: &[(&'static str, &'static str)]) -> HeaderMap {
        let mut headers = HeaderMap::new();
        for (name, value) in fields {
            headers.append(*name, HeaderValue::from_static(value));
        }
        headers
    }

    #[test]
    fn what_is_of_the_connection_is_not_passed_on() {
        let mut request = headers(&[
            ("connection", "close, X-One"),
            ("connection", "x-two"),
            ("x-one", "1"),
            ("x-two", "2"),
            ("keep-alive", "5"),
            ("proxy-connection", "keep-alive"),
            ("proxy-authorization", "Basic x"),
            ("te", "gzip, trailers"),
            ("upgrade", "h2c"),
            ("http2-settings", "x"),
            ("transfer-encoding", "chunked"),
            ("proxy", "http://evil"),
            ("x_real_ip", "127.0.0.1"),
            ("x-three", "3"),
        ]);
        strip_request(&mut request);
        let expected = headers(&[("te", "trailers"), ("x-three", "3")]);
        assert_eq!(request, expected);
        let mut response = headers(&[
            ("connection", "x-one, keep-alive"),
            ("x-one", "1"),
            ("keep-alive", "timeout=5"),
            ("trailer", "x-sum"),
        ]);
        strip_response(&mut response);
        assert_eq!(response, headers(&[("trailer", "x-sum")]));
    }

    #[test]
    fn nothing_is_named_that_can_be_no_name() {
        let mut request = headers(&[("connection", ",, ?;"), ("a", "1")]);
        strip_request(&mut request);
        assert_eq!(request, headers(&[("a", "1")]));
    }
}
