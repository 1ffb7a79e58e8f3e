//! Whom a URL asks, and whether it may be sent.

use base64::prelude::{BASE64_STANDARD, Engine};
use http::header::{AUTHORIZATION, HeaderValue};
use http::uri::{Authority, PathAndQuery, Scheme};
use http::{Request, Uri};
use thrum_parse::uri::{decode, encode, is_host};
use thrum_rt::RuntimeId;

use super::{BadRequest, Error, Phase};
use crate::Body;

/// What requests have in common that can use the same connection.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Origin {
    /// A connection waits at the reactor of its runtime, and is of no use in another.
    pub(crate) runtime: RuntimeId,
    pub(crate) is_tls: bool,
    /// Host and port, as the URL has them.
    pub(crate) authority: Authority,
}

impl Origin {
    /// Whom a request asks. Its URL is made fit to be sent: user name and password become a field, and what is not visible
    /// ASCII is percent-encoded.
    pub(crate) fn of(request: &mut Request<Body>) -> Result<Self, Error> {
        let refuse =
            |why| Error::new(Phase::Request, why).with_url(&without_userinfo(request.uri()));
        let runtime = thrum_rt::runtime_id().ok_or_else(|| refuse(BadRequest::NoRuntime))?;
        let uri = request.uri();
        let is_tls = match uri.scheme() {
            Some(scheme) if *scheme == Scheme::HTTP => false,
            Some(scheme) if *scheme == Scheme::HTTPS && cfg!(feature = "tls") => true,
            Some(scheme) if *scheme == Scheme::HTTPS => return Err(refuse(BadRequest::NoTls)),
            _ => return Err(refuse(BadRequest::Scheme)),
        };
        let authority = uri.authority().ok_or_else(|| refuse(BadRequest::Host))?;
        let has_userinfo = authority.as_str().contains('@');
        if has_userinfo || needs_encoding(uri) {
            make_fit(request)?;
        }
        let authority = request.uri().authority().cloned();
        Ok(Self {
            runtime,
            is_tls,
            authority: authority.ok_or_else(|| Error::new(Phase::Request, BadRequest::Host))?,
        })
    }

    /// Whether it names a host that can be one.
    pub(crate) fn check(&self) -> Result<(), BadRequest> {
        if is_host(self.authority.as_str().as_bytes()) && !self.authority.host().is_empty() {
            Ok(())
        } else {
            Err(BadRequest::Host)
        }
    }

    /// The host, an IPv6 address without its brackets.
    pub(crate) fn host(&self) -> &str {
        let host = self.authority.host();
        let bare = host
            .strip_prefix('[')
            .and_then(|host| host.strip_suffix(']'));
        bare.unwrap_or(host)
    }

    pub(crate) fn port(&self) -> u16 {
        self.authority
            .port_u16()
            .unwrap_or(if self.is_tls { 443 } else { 80 })
    }
}

/// The scheme, host and port of a server that a URL names.
pub(crate) fn of_server<U>(url: U) -> Result<(Scheme, Authority), Error>
where
    U: TryInto<Uri>,
    U::Error: Into<http::Error>,
{
    let refuse = |why| Error::new(Phase::Request, why);
    let url: Uri = url
        .try_into()
        .map_err(|error| Error::new(Phase::Request, error.into()))?;
    let scheme = match url.scheme() {
        Some(scheme) if *scheme == Scheme::HTTPS && !cfg!(feature = "tls") => {
            return Err(refuse(BadRequest::NoTls));
        }
        Some(scheme) if [Scheme::HTTP, Scheme::HTTPS].contains(scheme) => scheme.clone(),
        _ => return Err(refuse(BadRequest::Scheme)),
    };
    let authority = url.authority().cloned();
    let authority = authority
        .filter(|authority| is_host(authority.as_str().as_bytes()) && !authority.host().is_empty());
    Ok((scheme, authority.ok_or_else(|| refuse(BadRequest::Host))?))
}

/// The part of a URL that is asked for.
pub(crate) fn target(uri: &Uri) -> &str {
    uri.path_and_query().map_or("/", PathAndQuery::as_str)
}

/// Whether there is something in it that is not visible ASCII.
pub(crate) fn needs_encoding(uri: &Uri) -> bool {
    !target(uri).bytes().all(|byte| matches!(byte, 0x21..=0x7e))
}

#[cold]
pub(crate) fn make_fit(request: &mut Request<Body>) -> Result<(), Error> {
    let mut parts = request.uri().clone().into_parts();
    if let Some((userinfo, host)) = request
        .uri()
        .authority()
        .and_then(|authority| authority.as_str().rsplit_once('@'))
    {
        let authority = Authority::try_from(host);
        let authority = authority.map_err(|_| Error::new(Phase::Request, BadRequest::Host))?;
        parts.authority = Some(authority);
        let credentials = decode(userinfo.as_bytes());
        let credentials = credentials.map_err(|error| Error::new(Phase::Request, error))?;
        let value = HeaderValue::try_from(basic(&credentials));
        let mut value = value.map_err(|error| Error::new(Phase::Request, error))?;
        value.set_sensitive(true);
        if !request.headers().contains_key(AUTHORIZATION) {
            request.headers_mut().insert(AUTHORIZATION, value);
        }
    }
    let mut encoded = String::new();
    for byte in target(request.uri()).bytes() {
        match byte {
            0x21..=0x7e => encoded.push(char::from(byte)),
            _ => encoded.push_str(&format!("%{byte:02X}")),
        }
    }
    let refused = |error: http::Error| Error::new(Phase::Request, error);
    let encoded = PathAndQuery::try_from(encoded).map_err(|error| refused(error.into()))?;
    parts.path_and_query = Some(encoded);
    *request.uri_mut() = Uri::from_parts(parts).map_err(|error| refused(error.into()))?;
    Ok(())
}

/// A URL that may be shown.
pub(crate) fn without_userinfo(uri: &Uri) -> Uri {
    let shown = || {
        let (_, host) = uri.authority()?.as_str().rsplit_once('@')?;
        let mut parts = uri.clone().into_parts();
        parts.authority = Some(Authority::try_from(host).ok()?);
        Uri::from_parts(parts).ok()
    };
    shown().unwrap_or_else(|| uri.clone())
}

/// A URL with one more pair in its query.
pub(crate) fn with_query(uri: &Uri, name: &str, value: &str) -> Result<Uri, http::Error> {
    let (name, value) = (encode(name), encode(value));
    let before = target(uri);
    let separator = match before.split_once('?') {
        None => "?",
        Some((_, "")) => "",
        Some(_) => "&",
    };
    let mut parts = uri.clone().into_parts();
    let target = format!("{before}{separator}{name}={value}");
    parts.path_and_query = Some(target.try_into()?);
    Ok(Uri::from_parts(parts)?)
}

/// The value of an Authorization field (RFC 7617).
pub(crate) fn basic(credentials: &[u8]) -> String {
    format!("Basic {}", BASE64_STANDARD.encode(credentials))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn prepared(url: &str) -> Result<(Origin, Request<Body>), Error> {
        thrum_rt::block_on(async {
            let request = Request::get(url).body(Body::empty());
            let mut request = request.map_err(|error| Error::new(Phase::Request, error))?;
            let origin = Origin::of(&mut request)?;
            origin
                .check()
                .map_err(|why| Error::new(Phase::Request, why))?;
            Ok((origin, request))
        })
    }

    #[test]
    fn urls_are_made_fit_or_refused() {
        for (url, expected) in [
            ("http://a", "http://a/"),
            ("http://a/b?c=d#e", "http://a/b?c=d"),
            ("HTTP://A:81/", "http://A:81/"),
            ("https://[::1]:8443/x", "https://[::1]:8443/x"),
            ("http://a/ü?ö", "http://a/%C3%BC?%C3%B6"),
            ("http://user:pass@a/", "http://a/"),
        ] {
            assert_eq!(prepared(url).unwrap().1.uri(), expected, "{url}");
        }
        for url in [
            "/a",
            "a:80",
            "ftp://a/",
            "ws://a/",
            "http://:80/",
            "http://a:b@/",
        ] {
            let error = prepared(url).unwrap_err();
            assert!(error.is_request(), "{url}: {error}");
        }
    }

    #[test]
    fn a_password_in_the_url_becomes_a_field_and_is_shown_nowhere() {
        let (origin, request) = prepared("http://Aladdin:open%20sesame@a/").unwrap();
        assert_eq!(origin.authority, "a");
        let field = &request.headers()[AUTHORIZATION];
        assert_eq!(field, "Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ==");
        assert!(field.is_sensitive());
        let error = prepared("ftp://Aladdin:sesame@a/").unwrap_err();
        assert!(!format!("{error} {error:?}").contains("sesame"), "{error}");
    }

    #[test]
    fn queries_grow() {
        let mut uri = Uri::from_static("http://a");
        for (name, value) in [("q", "a b"), ("&", "=")] {
            uri = with_query(&uri, name, value).unwrap();
        }
        assert_eq!(uri, "http://a/?q=a%20b&%26=%3D");
    }

    #[test]
    fn hosts_and_ports() {
        let of = |url| {
            let (origin, _) = prepared(url).unwrap();
            (origin.host().to_owned(), origin.port())
        };
        assert_eq!(of("http://[::1]/"), ("::1".to_owned(), 80));
        assert_eq!(of("https://a/"), ("a".to_owned(), 443));
        assert_eq!(of("https://a:80/"), ("a".to_owned(), 80));
    }
}
