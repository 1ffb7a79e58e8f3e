//! From a parsed head to a request: what RFC 9110 and 9112 demand beyond the grammar. No I/O.

use bytes::Bytes;
use http::{HeaderName, HeaderValue, Method, Request, Uri};
use thrum_parse::Span;
use thrum_parse::http::value::{self, FieldValue};
use thrum_parse::http::{HeadError, RequestHead, Version};
use thrum_parse::uri::is_host;

use super::names::{self, known};
use crate::message::{has_word, words};
use crate::{Body, Reject};

/// What a request's head says of the connection.
#[derive(Clone, Copy)]
pub(crate) struct Terms {
    pub(crate) framing: Framing,
    /// The client waits for a 100 before it sends the body.
    pub(crate) expects_continue: bool,
    /// The client wants to go on with the connection.
    pub(crate) keep_alive: bool,
    /// The client asks for another protocol.
    pub(crate) upgrade: bool,
    /// The client takes trailer fields behind a chunked body.
    pub(crate) takes_trailers: bool,
}

/// How long the body is (RFC 9112 section 6.3).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Framing {
    None,
    Length(u64),
    Chunked,
}

/// What the fields say of the message itself.
#[derive(Default)]
struct Control {
    host: Option<Span>,
    length: Option<u64>,
    chunked: bool,
    close: bool,
    keep_alive: bool,
    expects_continue: bool,
    /// `Connection: upgrade`.
    connection_upgrade: bool,
    /// There is an `Upgrade` field.
    upgrade: bool,
    takes_trailers: bool,
}

/// Fills a request in from a head. `bytes` are those of the head; the request's values are slices of them. It is filled in
/// where it is, as moving it shows.
pub(crate) fn receive(
    head: &RequestHead,
    bytes: &Bytes,
    request: &mut Request<Body>,
) -> Result<Terms, Reject> {
    request.headers_mut().reserve(head.headers().len());
    let mut control = Control::default();
    for field in head.headers() {
        let name = field.name.of(bytes);
        let name = match known(name) {
            Some(known) => {
                if let Some(field_is) = known.control {
                    control.note(field_is, field.value.of(bytes), field.value, head.version)?;
                }
                known.name.clone()
            }
            None => HeaderName::from_bytes(name).map_err(|_| HeadError::BadName)?,
        };
        let value = HeaderValue::from_maybe_shared(slice(bytes, field.value))
            .map_err(|_| HeadError::BadValue)?;
        request.headers_mut().append(name, value);
    }
    let framing = control.framing()?;
    *request.method_mut() = method(head.method.of(bytes));
    *request.uri_mut() = target(request.method(), slice(bytes, head.target))?;
    control.check_host(head.version, bytes, request.uri())?;
    *request.version_mut() = match head.version {
        Version::Http10 => http::Version::HTTP_10,
        Version::Http11 => http::Version::HTTP_11,
    };
    Ok(Terms {
        framing,
        expects_continue: control.expects_continue && framing != Framing::None,
        keep_alive: match head.version {
            Version::Http11 => !control.close,
            Version::Http10 => control.keep_alive && !control.close,
        },
        upgrade: control.upgrade && control.connection_upgrade && head.version == Version::Http11,
        takes_trailers: control.takes_trailers && head.version == Version::Http11,
    })
}

impl Control {
    /// Notes what a field says.
    fn note(
        &mut self,
        field: names::Control,
        value: &[u8],
        span: Span,
        version: Version,
    ) -> Result<(), Reject> {
        use names::Control::*;
        match field {
            Host => set_once(&mut self.host, span, Reject::DuplicateHost),
            Connection => {
                for option in words(value) {
                    self.close |= option.eq_ignore_ascii_case(b"close");
                    self.keep_alive |= option.eq_ignore_ascii_case(b"keep-alive");
                    self.connection_upgrade |= option.eq_ignore_ascii_case(b"upgrade");
                }
                Ok(())
            }
            ContentLength => set_once(
                &mut self.length,
                content_length(value)?,
                Reject::DuplicateContentLength,
            ),
            TransferEncoding => {
                let repeated = std::mem::replace(&mut self.chunked, true);
                if repeated || version == Version::Http10 {
                    return Err(Reject::BadTransferEncoding);
                }
                transfer_encoding(value)
            }
            Expect => {
                // HTTP/1.0 does not know it (RFC 9110 section 10.1.1).
                self.expects_continue = version == Version::Http11;
                let known = value.eq_ignore_ascii_case(b"100-continue");
                if known {
                    Ok(())
                } else {
                    Err(Reject::UnsupportedExpectation)
                }
            }
            Te => {
                self.takes_trailers |= has_word(value, b"trailers");
                Ok(())
            }
            Upgrade => {
                self.upgrade = true;
                Ok(())
            }
        }
    }

    fn framing(&self) -> Result<Framing, Reject> {
        match (self.chunked, self.length) {
            (true, Some(_)) => Err(Reject::AmbiguousLength),
            (true, None) => Ok(Framing::Chunked),
            (false, None | Some(0)) => Ok(Framing::None),
            (false, Some(length)) => Ok(Framing::Length(length)),
        }
    }

    /// RFC 9112 section 3.2: one Host, which agrees with an absolute target.
    fn check_host(&self, version: Version, bytes: &Bytes, uri: &Uri) -> Result<(), Reject> {
        let Some(host) = self.host else {
            return if version == Version::Http11 {
                Err(Reject::MissingHost)
            } else {
                Ok(())
            };
        };
        let host = host.of(bytes);
        let agrees = uri
            .authority()
            .is_none_or(|authority| authority.as_str().as_bytes().eq_ignore_ascii_case(host));
        if agrees && is_host(host) {
            Ok(())
        } else {
            Err(Reject::BadHost)
        }
    }
}

/// Notes a value that there may be one of.
fn set_once<T>(place: &mut Option<T>, value: T, repeated: Reject) -> Result<(), Reject> {
    match place.replace(value) {
        None => Ok(()),
        Some(_) => Err(repeated),
    }
}

/// One number. RFC 9110 section 8.6 lets a repeated one be refused, and so it is.
fn content_length(value: &[u8]) -> Result<u64, Reject> {
    match value::ContentLength::parse(value) {
        Ok(length) if !length.is_repeated => Ok(length.bytes),
        _ => Err(Reject::BadContentLength),
    }
}

/// `chunked`, once, and nothing else.
fn transfer_encoding(value: &[u8]) -> Result<(), Reject> {
    match value::TransferEncoding::parse(value) {
        Ok(codings) if !codings.ends_in_chunked() => Err(Reject::BadTransferEncoding),
        Ok(codings) if codings.len() > 1 => Err(Reject::UnsupportedTransferEncoding),
        Ok(_) => Ok(()),
        Err(_) => Err(Reject::BadTransferEncoding),
    }
}

fn method(name: &[u8]) -> Method {
    match name {
        b"GET" => Method::GET,
        b"HEAD" => Method::HEAD,
        b"POST" => Method::POST,
        // The grammar allows nothing that a method may not have.
        _ => Method::from_bytes(name).unwrap_or_default(),
    }
}

/// RFC 9112 section 3.2: origin-form, absolute-form, or `*` for OPTIONS.
fn target(method: &Method, target: Bytes) -> Result<Uri, Reject> {
    if method == Method::CONNECT {
        return Err(Reject::Connect);
    }
    if &target[..] == b"*" {
        return if method == Method::OPTIONS {
            Ok(Uri::from_static("*"))
        } else {
            Err(Reject::BadTarget)
        };
    }
    if target.contains(&b'#') {
        return Err(Reject::BadTarget); // a fragment is never sent
    }
    let is_origin = target.first() == Some(&b'/');
    let uri = Uri::from_maybe_shared(target).map_err(|_| Reject::BadTarget)?;
    let is_absolute = matches!(uri.scheme_str(), Some("http" | "https"))
        // Of the form that a Host has: no user, no empty host, a port that there is (RFC 9110 section 4.2).
        && uri
            .authority()
            .is_some_and(|authority| is_host(authority.as_str().as_bytes()));
    if is_origin || is_absolute {
        Ok(uri)
    } else {
        Err(Reject::BadTarget)
    }
}

fn slice(bytes: &Bytes, span: Span) -> Bytes {
    bytes.slice(span.start as usize..span.end as usize)
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Received {
        request: Request<Body>,
        framing: Framing,
        keep_alive: bool,
    }

    fn parse(text: &str) -> Result<Received, Reject> {
        let bytes = Bytes::copy_from_slice(text.as_bytes());
        let mut head = RequestHead::new();
        let mut parser = thrum_parse::http::HeadParser::new(Default::default());
        parser.parse(&bytes, true, &mut head)?;
        let mut request = Request::new(Body::empty());
        let Terms {
            framing,
            keep_alive,
            ..
        } = receive(&head, &bytes, &mut request)?;
        Ok(Received {
            request,
            framing,
            keep_alive,
        })
    }

    #[test]
    fn a_request_is_what_was_sent() {
        let received =
            parse("POST /a?b HTTP/1.1\r\nHost: x:80\r\nA: 1\r\na: 2\r\nContent-Length: 5\r\n\r\n");
        let received = received.unwrap();
        assert_eq!(received.request.method(), Method::POST);
        assert_eq!(received.request.uri(), "/a?b");
        let values: Vec<_> = received.request.headers().get_all("a").iter().collect();
        assert_eq!(values, ["1", "2"]);
        assert_eq!(received.framing, Framing::Length(5));
        assert!(received.keep_alive);
    }

    #[test]
    fn framing_and_its_traps() {
        let framing = |fields: &str| {
            parse(&format!("POST / HTTP/1.1\r\nHost: x\r\n{fields}\r\n"))
                .map(|received| received.framing)
        };
        use Reject::*;
        for (fields, expected) in [
            ("", Ok(Framing::None)),
            ("Content-Length: 0\r\n", Ok(Framing::None)),
            (
                "Content-Length: 18446744073709551615\r\n",
                Ok(Framing::Length(u64::MAX)),
            ),
            (
                "Content-Length: 18446744073709551616\r\n",
                Err(BadContentLength),
            ),
            ("Content-Length: +5\r\n", Err(BadContentLength)),
            ("Content-Length: -5\r\n", Err(BadContentLength)),
            ("Content-Length: 5 5\r\n", Err(BadContentLength)),
            ("Content-Length: 5,5\r\n", Err(BadContentLength)),
            ("Content-Length: 0x5\r\n", Err(BadContentLength)),
            ("Content-Length:\r\n", Err(BadContentLength)),
            (
                "Content-Length: 5\r\nContent-Length: 5\r\n",
                Err(DuplicateContentLength),
            ),
            (
                "Content-Length: 5\r\ncontent-length: 6\r\n",
                Err(DuplicateContentLength),
            ),
            ("Transfer-Encoding: chunked\r\n", Ok(Framing::Chunked)),
            ("transfer-encoding: CHUNKED\r\n", Ok(Framing::Chunked)),
            (
                "Transfer-Encoding: chunked\r\nContent-Length: 5\r\n",
                Err(AmbiguousLength),
            ),
            (
                "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n",
                Err(AmbiguousLength),
            ),
            (
                "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n",
                Err(BadTransferEncoding),
            ),
            (
                "Transfer-Encoding: chunked, chunked\r\n",
                Err(BadTransferEncoding),
            ),
            ("Transfer-Encoding: ,chunked\r\n", Err(BadTransferEncoding)),
            ("Transfer-Encoding: chunked,\r\n", Err(BadTransferEncoding)),
            ("Transfer-Encoding: xchunked\r\n", Err(BadTransferEncoding)),
            (
                "Transfer-Encoding: chunked;q=1\r\n",
                Err(BadTransferEncoding),
            ),
            (
                "Transfer-Encoding: \"chunked\"\r\n",
                Err(BadTransferEncoding),
            ),
            ("Transfer-Encoding: identity\r\n", Err(BadTransferEncoding)),
            ("Transfer-Encoding:\r\n", Err(BadTransferEncoding)),
            ("Transfer-Encoding: gzip\r\n", Err(BadTransferEncoding)),
            (
                "Transfer-Encoding: gzip, chunked\r\n",
                Err(UnsupportedTransferEncoding),
            ),
        ] {
            assert_eq!(framing(fields), expected, "{fields:?}");
        }
        let old = parse("POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n");
        assert_eq!(
            old.map(|received| received.framing),
            Err(BadTransferEncoding)
        );
    }

    #[test]
    fn hosts_and_targets() {
        let uri = |line: &str, fields: &str| {
            parse(&format!("{line}\r\n{fields}\r\n"))
                .map(|received| received.request.uri().to_string())
        };
        use Reject::*;
        for (line, fields, expected) in [
            ("GET / HTTP/1.1", "", Err(MissingHost)),
            ("GET / HTTP/1.0", "", Ok("/")),
            (
                "GET / HTTP/1.1",
                "Host: a\r\nHost: a\r\n",
                Err(DuplicateHost),
            ),
            ("GET / HTTP/1.1", "Host: a/b\r\n", Err(BadHost)),
            ("GET / HTTP/1.1", "Host: u@a\r\n", Err(BadHost)),
            ("GET / HTTP/1.1", "Host: a b\r\n", Err(BadHost)),
            ("GET / HTTP/1.1", "Host: [::1]:80\r\n", Ok("/")),
            ("GET http://a/b HTTP/1.1", "Host: a\r\n", Ok("http://a/b")),
            ("GET http://a/b HTTP/1.1", "Host: c\r\n", Err(BadHost)),
            ("GET http://u:p@a/ HTTP/1.1", "Host: a\r\n", Err(BadTarget)),
            ("GET ftp://a/ HTTP/1.1", "Host: a\r\n", Err(BadTarget)),
            ("GET a HTTP/1.1", "Host: a\r\n", Err(BadTarget)),
            ("GET /a#b HTTP/1.1", "Host: a\r\n", Err(BadTarget)),
            ("OPTIONS * HTTP/1.1", "Host: a\r\n", Ok("*")),
            ("GET * HTTP/1.1", "Host: a\r\n", Err(BadTarget)),
            ("CONNECT a:443 HTTP/1.1", "Host: a\r\n", Err(Connect)),
            (
                "GET / HTTP/1.1",
                "Host: a\r\nExpect: magic\r\n",
                Err(UnsupportedExpectation),
            ),
        ] {
            assert_eq!(
                uri(line, fields),
                expected.map(String::from),
                "{line} {fields:?}"
            );
        }
    }

    #[test]
    fn who_keeps_the_connection() {
        let keep = |version: &str, connection: &str| {
            let text =
                format!("GET / HTTP/{version}\r\nHost: a\r\nConnection: {connection}\r\n\r\n");
            parse(&text).unwrap().keep_alive
        };
        assert!(keep("1.1", "x"));
        assert!(!keep("1.1", "x, Close"));
        assert!(!keep("1.0", "x"));
        assert!(keep("1.0", "Keep-Alive"));
        assert!(!keep("1.0", "keep-alive, close"));
    }
}
