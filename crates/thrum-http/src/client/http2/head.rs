//! A request's head, as HTTP/2 has it (RFC 9113, 8.2 and 8.3.1).

use http::header::{
    CONNECTION, CONTENT_LENGTH, EXPECT, HOST, HeaderMap, HeaderName, HeaderValue, TE,
    TRANSFER_ENCODING, UPGRADE,
};
use http::uri::{Authority, PathAndQuery};
use http::{Method, Request, Uri, Version};

use super::super::BadRequest;
use super::super::origin::target;
use crate::Body;

const KEEP_ALIVE: HeaderName = HeaderName::from_static("keep-alive");
const PROXY_CONNECTION: HeaderName = HeaderName::from_static("proxy-connection");

/// The head; and whether the body waits for a 100. `defaults` are fields of every request that does not have them.
pub(super) fn head(
    request: &Request<Body>,
    defaults: &HeaderMap,
) -> Result<(Request<()>, bool), BadRequest> {
    let (method, size) = (request.method(), request.body().size());
    if matches!(*method, Method::CONNECT | Method::TRACE) && size != Some(0) {
        return Err(BadRequest::UnexpectedBody);
    }
    let mut fields = HeaderMap::with_capacity(request.headers().len() + defaults.len());
    let mut expects = false;
    for (name, value) in request.headers() {
        if *name == CONTENT_LENGTH {
            let given = value.to_str().ok().and_then(|text| text.parse().ok());
            if given.is_none() || given != size {
                return Err(BadRequest::ContentLength);
            }
        } else if *name == TRANSFER_ENCODING {
            return Err(BadRequest::TransferEncoding);
        } else if *name == EXPECT {
            if !value.as_bytes().eq_ignore_ascii_case(b"100-continue") {
                return Err(BadRequest::Expectation);
            }
            expects = size != Some(0);
            fields.insert(EXPECT, value.clone());
        } else if ![HOST, CONNECTION, UPGRADE, TE, KEEP_ALIVE, PROXY_CONNECTION].contains(name)
            || (*name == TE && value == "trailers")
        {
            fields.append(name, value.clone());
        }
    }
    for (name, value) in defaults {
        if !request.headers().contains_key(name) {
            fields.append(name, value.clone());
        }
    }
    let means_a_body = matches!(*method, Method::POST | Method::PUT | Method::PATCH);
    if let Some(size) = size.filter(|&size| size > 0 || means_a_body) {
        fields.insert(CONTENT_LENGTH, HeaderValue::from(size));
    }
    let mut head = Request::new(());
    *head.method_mut() = method.clone();
    *head.uri_mut() = uri(request)?;
    *head.version_mut() = Version::HTTP_2;
    *head.headers_mut() = fields;
    Ok((head, expects))
}

/// What becomes of `:scheme`, `:authority` and `:path`; a Host field is the authority.
fn uri(request: &Request<Body>) -> Result<Uri, BadRequest> {
    let mut parts = request.uri().clone().into_parts();
    if parts.authority.is_none() || parts.scheme.is_none() {
        return Err(BadRequest::Host);
    }
    let mut hosts = request.headers().get_all(HOST).iter();
    if let Some(host) = hosts.next() {
        let authority = Authority::try_from(host.as_bytes()).map_err(|_| BadRequest::HostField)?;
        if hosts.next().is_some() || authority.as_str().contains('@') {
            return Err(BadRequest::HostField);
        }
        parts.authority = Some(authority);
    }
    let target = target(request.uri());
    if !target.starts_with('/') && target != "*" {
        let path = PathAndQuery::try_from(format!("/{target}"));
        parts.path_and_query = Some(path.map_err(|_| BadRequest::Host)?);
    }
    Uri::from_parts(parts).map_err(|_| BadRequest::Host)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn make(
        method: Method,
        uri: &str,
        fields: &[(&str, &str)],
        body: Body,
    ) -> Result<Request<()>, BadRequest> {
        let mut request = Request::builder().method(method).uri(uri);
        for (name, value) in fields {
            request = request.header(*name, *value);
        }
        let mut defaults = HeaderMap::new();
        defaults.insert("user-agent", HeaderValue::from_static("default"));
        Ok(head(&request.body(body).unwrap(), &defaults)?.0)
    }

    #[test]
    fn fields_of_the_connection_are_left_out() {
        let fields = [
            ("connection", "close"),
            ("keep-alive", "1"),
            ("te", "gzip"),
            ("upgrade", "x"),
            ("proxy-connection", "x"),
            ("cookie", "a"),
            ("cookie", "b"),
            ("host", "b:81"),
        ];
        let head = make(Method::GET, "http://a", &fields, Body::empty()).unwrap();
        assert_eq!(head.uri(), "http://b:81/");
        assert_eq!(head.headers().get_all("cookie").iter().count(), 2);
        assert_eq!(head.headers()["user-agent"], "default");
        assert_eq!(head.headers().len(), 3);
        let head = make(
            Method::GET,
            "http://a?b",
            &[("te", "trailers")],
            Body::empty(),
        )
        .unwrap();
        assert_eq!(
            (head.uri().to_string().as_str(), &head.headers()["te"]),
            ("http://a/?b", &HeaderValue::from_static("trailers"))
        );
    }

    #[test]
    fn the_length_is_the_bodys() {
        let length = |method, body: Body| {
            let head = make(method, "http://a/", &[], body).unwrap();
            head.headers()
                .get("content-length")
                .map(|value| value.to_str().unwrap().to_owned())
        };
        assert_eq!(length(Method::GET, Body::empty()), None);
        assert_eq!(length(Method::POST, Body::empty()).as_deref(), Some("0"));
        assert_eq!(length(Method::GET, "abc".into()).as_deref(), Some("3"));
        let lie = [("content-length", "4")];
        assert_eq!(
            make(Method::POST, "http://a/", &lie, "abc".into()).unwrap_err(),
            BadRequest::ContentLength
        );
        let coded = [("transfer-encoding", "chunked")];
        assert_eq!(
            make(Method::POST, "http://a/", &coded, "abc".into()).unwrap_err(),
            BadRequest::TransferEncoding
        );
        let hosts = [("host", "a"), ("host", "b")];
        assert_eq!(
            make(Method::GET, "http://a/", &hosts, "".into()).unwrap_err(),
            BadRequest::HostField
        );
    }
}
