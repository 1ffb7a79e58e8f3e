//! From what the h2 crate decoded to a request: what RFC 9110 and 9113 demand beyond what that crate checks. No I/O.
//!
//! Applications find the same request whatever its protocol is: `Host` is there, made of `:authority`, which stays in the URI
//! too; the cookies are in one field.

use bytes::Bytes;
use http::header::{CONTENT_LENGTH, COOKIE, EXPECT, HOST, HeaderValue};
use http::request::Parts;
use http::{HeaderMap, Method};
use thrum_parse::http::HeadError;
use thrum_parse::uri::is_host;

use crate::{Limits, Reject};

/// What a request's head says of its body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Terms {
    /// From Content-Length.
    pub(super) length: Option<u64>,
    /// The client waits for a 100 before it sends the body.
    pub(super) expects_continue: bool,
}

/// The Host of the last request, as all requests of a connection mostly have the same.
#[derive(Debug, Default)]
pub(super) struct LastHost(Option<HeaderValue>);

/// Checks a request, and makes it what applications expect.
pub(super) fn receive(
    parts: &mut Parts,
    limits: &Limits,
    last: &mut LastHost,
) -> Result<Terms, Reject> {
    if parts.headers.len() > limits.fields {
        return Err(HeadError::TooManyFields.into());
    }
    if parts.method == Method::CONNECT {
        return Err(Reject::Connect);
    }
    check_target(parts, limits)?;
    // RFC 9113 section 8.2.1.
    let is_padded = |value: &HeaderValue| {
        let is_blank = |byte: Option<&u8>| matches!(byte, Some(b' ' | b'\t'));
        is_blank(value.as_bytes().first()) || is_blank(value.as_bytes().last())
    };
    if parts.headers.values().any(is_padded) {
        return Err(HeadError::BadValue.into());
    }
    settle_host(parts, last)?;
    join_cookies(&mut parts.headers);
    let length = match parts.headers.get(CONTENT_LENGTH) {
        None => None,
        Some(value) => Some(number(value).ok_or(Reject::BadContentLength)?),
    };
    if length.is_some_and(|length| length > limits.body_bytes) {
        return Err(Reject::BodyTooLarge);
    }
    let expects_continue = match parts.headers.get(EXPECT) {
        None => false,
        Some(value) if value.as_bytes().eq_ignore_ascii_case(b"100-continue") => true,
        Some(_) => return Err(Reject::UnsupportedExpectation),
    };
    Ok(Terms {
        length,
        expects_continue,
    })
}

/// A path, or `*` for OPTIONS (RFC 9113 section 8.3.1).
fn check_target(parts: &Parts, limits: &Limits) -> Result<(), Reject> {
    if !matches!(parts.uri.scheme_str(), None | Some("http" | "https")) {
        return Err(Reject::BadTarget);
    }
    let target = parts
        .uri
        .path_and_query()
        .map_or("", |target| target.as_str());
    if target.len() > limits.target_bytes {
        return Err(HeadError::TargetTooLong.into());
    }
    // The http crate lets bytes beyond ASCII pass.
    if !target.bytes().all(|byte| byte.is_ascii_graphic()) {
        return Err(HeadError::BadTarget.into());
    }
    if target.starts_with('/') || target == "*" && parts.method == Method::OPTIONS {
        Ok(())
    } else {
        Err(Reject::BadTarget)
    }
}

/// RFC 9113 section 8.3.1: `:authority` stands for Host, and where there are both they agree.
fn settle_host(parts: &mut Parts, last: &mut LastHost) -> Result<(), Reject> {
    let mut hosts = parts.headers.get_all(HOST).iter();
    let (host, second) = (hosts.next(), hosts.next());
    if second.is_some() {
        return Err(Reject::DuplicateHost);
    }
    match (parts.uri.authority(), host) {
        (None, None) => Err(Reject::MissingHost),
        (None, Some(host)) => check_host(host.as_bytes()),
        (Some(authority), Some(host)) => {
            if !authority
                .as_str()
                .as_bytes()
                .eq_ignore_ascii_case(host.as_bytes())
            {
                return Err(Reject::BadHost);
            }
            check_host(host.as_bytes())
        }
        (Some(authority), None) => {
            let value = match &last.0 {
                Some(value) if value.as_bytes() == authority.as_str().as_bytes() => value.clone(),
                _ => {
                    check_host(authority.as_str().as_bytes())?;
                    let bytes = Bytes::copy_from_slice(authority.as_str().as_bytes());
                    HeaderValue::from_maybe_shared(bytes).map_err(|_| Reject::BadHost)?
                }
            };
            last.0 = Some(value.clone());
            parts.headers.insert(HOST, value);
            Ok(())
        }
    }
}

fn check_host(host: &[u8]) -> Result<(), Reject> {
    if is_host(host) {
        Ok(())
    } else {
        Err(Reject::BadHost)
    }
}

/// RFC 9113 section 8.2.3: clients may send cookies in many fields, applications expect one.
fn join_cookies(headers: &mut HeaderMap) {
    if headers.get_all(COOKIE).iter().nth(1).is_none() {
        return;
    }
    let crumbs: Vec<&[u8]> = headers
        .get_all(COOKIE)
        .iter()
        .map(HeaderValue::as_bytes)
        .collect();
    if let Ok(joined) = HeaderValue::from_bytes(&crumbs.join(&b"; "[..])) {
        headers.insert(COOKIE, joined);
    }
}

/// Digits, and no more of them than there can be. The h2 crate refuses several that differ.
fn number(value: &HeaderValue) -> Option<u64> {
    let digits = value.to_str().ok()?;
    let are_digits = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    are_digits.then(|| digits.parse().ok()).flatten()
}

#[cfg(test)]
mod tests {
    use http::Request;

    use super::*;

    fn check(uri: &str, fields: &[(&str, &str)]) -> Result<(Parts, Terms), Reject> {
        let mut request = Request::builder().uri(uri);
        for (name, value) in fields {
            request = request.header(*name, *value);
        }
        let (mut parts, ()) = request.body(()).unwrap().into_parts();
        let terms = receive(&mut parts, &Limits::default(), &mut LastHost::default())?;
        Ok((parts, terms))
    }

    #[test]
    fn hosts() {
        let (parts, _) = check("http://a:80/x?y", &[]).unwrap();
        assert_eq!(parts.headers[HOST], "a:80");
        assert_eq!(parts.uri, "http://a:80/x?y");
        let (parts, _) = check("/x", &[("host", "b")]).unwrap();
        assert_eq!(parts.headers[HOST], "b");
        assert!(check("http://a/", &[("host", "A")]).is_ok());
        for (uri, fields, expected) in [
            ("/", &[][..], Reject::MissingHost),
            ("http://a/", &[("host", "b")], Reject::BadHost),
            (
                "http://a/",
                &[("host", "a"), ("host", "a")],
                Reject::DuplicateHost,
            ),
            ("http://me@a/", &[], Reject::BadHost),
            ("/", &[("host", "a b")], Reject::BadHost),
        ] {
            assert_eq!(
                check(uri, fields).unwrap_err(),
                expected,
                "{uri} {fields:?}"
            );
        }
    }

    #[test]
    fn the_last_host_is_told_from_the_next() {
        let mut last = LastHost::default();
        for host in ["a", "a", "b", "a"] {
            let uri = format!("http://{host}/");
            let (mut parts, ()) = Request::get(uri).body(()).unwrap().into_parts();
            receive(&mut parts, &Limits::default(), &mut last).unwrap();
            assert_eq!(parts.headers[HOST], host);
        }
    }

    #[test]
    fn fields() {
        let (parts, terms) = check(
            "http://a/",
            &[
                ("cookie", "a=1"),
                ("content-length", "7"),
                ("cookie", "b=2"),
                ("expect", "100-Continue"),
            ],
        )
        .unwrap();
        let cookies: Vec<_> = parts.headers.get_all(COOKIE).iter().collect();
        assert_eq!(cookies, ["a=1; b=2"]);
        assert_eq!(terms.length, Some(7));
        assert!(terms.expects_continue);
        for (fields, expected) in [
            (("content-length", "+7"), Reject::BadContentLength),
            (("content-length", "99999999999"), Reject::BodyTooLarge),
            (("expect", "more"), Reject::UnsupportedExpectation),
            (("x", " y"), HeadError::BadValue.into()),
            (("x", "y\t"), HeadError::BadValue.into()),
        ] {
            assert_eq!(
                check("http://a/", &[fields]).unwrap_err(),
                expected,
                "{fields:?}"
            );
        }
        let many = vec![("x", "y"); 101];
        assert_eq!(
            check("http://a/", &many).unwrap_err(),
            HeadError::TooManyFields.into()
        );
        let long = format!("http://a/{}", "x".repeat(9000));
        assert_eq!(
            check(&long, &[]).unwrap_err(),
            HeadError::TargetTooLong.into()
        );
    }
}
