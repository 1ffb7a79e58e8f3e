//! From a parsed head to a response: what RFC 9112 section 6.3 demands beyond the grammar. No I/O.

use bytes::Bytes;
use http::{HeaderMap, HeaderName, HeaderValue, Method, Response, StatusCode};
use thrum_parse::Span;
use thrum_parse::http::value::{ContentLength, FieldValue, TransferEncoding};
use thrum_parse::http::{HeadError, ResponseHead, Version};

use super::super::BadResponse;
use crate::message::words;

/// What a response's head says of its body and of the connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Terms {
    pub(crate) framing: Framing,
    /// The server goes on with the connection.
    pub(crate) keep_alive: bool,
}

/// Where a response's body ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Framing {
    None,
    Length(u64),
    Chunked,
    /// With the connection.
    Close,
    /// There is none, and the connection speaks another protocol from here on.
    Upgraded,
}

/// Makes a response of a head, and says how its body is framed. `bytes` are those of the head; the values are slices of them.
/// `upgrade`: another protocol, or a tunnel, was asked for.
pub(crate) fn receive<B>(
    head: &ResponseHead,
    bytes: &Bytes,
    method: &Method,
    upgrade: bool,
    response: &mut Response<B>,
) -> Result<Terms, BadResponse> {
    let mut control = Control::default();
    *response.headers_mut() = HeaderMap::with_capacity(head.headers().len());
    for field in head.headers() {
        let (name, value) = (field.name.of(bytes), field.value.of(bytes));
        control.note(name, value, head.version)?;
        let name = HeaderName::from_bytes(name).map_err(|_| HeadError::BadName)?;
        let value = HeaderValue::from_maybe_shared(slice(bytes, field.value))
            .map_err(|_| HeadError::BadValue)?;
        response.headers_mut().append(name, value);
    }
    *response.status_mut() = status(head)?;
    *response.version_mut() = match head.version {
        Version::Http10 => http::Version::HTTP_10,
        Version::Http11 => http::Version::HTTP_11,
    };
    control.terms(head, method, upgrade)
}

/// As [`receive`], for those who need no response.
pub(crate) fn terms(
    head: &ResponseHead,
    bytes: &[u8],
    method: &Method,
) -> Result<Terms, BadResponse> {
    let mut control = Control::default();
    for field in head.headers() {
        control.note(field.name.of(bytes), field.value.of(bytes), head.version)?;
    }
    control.terms(head, method, false)
}

/// The fields of an interim response.
pub(crate) fn interim(head: &ResponseHead, bytes: &[u8]) -> Result<HeaderMap, BadResponse> {
    let mut headers = HeaderMap::with_capacity(head.headers().len());
    for field in head.headers() {
        let name = HeaderName::from_bytes(field.name.of(bytes)).map_err(|_| HeadError::BadName)?;
        let value =
            HeaderValue::from_bytes(field.value.of(bytes)).map_err(|_| HeadError::BadValue)?;
        headers.append(name, value);
    }
    Ok(headers)
}

pub(crate) fn status(head: &ResponseHead) -> Result<StatusCode, BadResponse> {
    StatusCode::from_u16(head.status).map_err(|_| HeadError::BadStatus.into())
}

/// What the fields say that concern the message itself.
#[derive(Default)]
struct Control {
    length: Option<u64>,
    chunked: bool,
    close: bool,
    keep_alive: bool,
}

impl Control {
    /// Notes a field, if it is one of those that matter here. They are told by their length first.
    fn note(&mut self, name: &[u8], value: &[u8], version: Version) -> Result<(), BadResponse> {
        match name.len() {
            10 if name.eq_ignore_ascii_case(b"connection") => {
                for option in words(value) {
                    self.close |= option.eq_ignore_ascii_case(b"close");
                    self.keep_alive |= option.eq_ignore_ascii_case(b"keep-alive");
                }
            }
            14 if name.eq_ignore_ascii_case(b"content-length") => {
                // The same number several times is that number (RFC 9112 section 6.3).
                let length = ContentLength::parse(value)
                    .map_err(|_| BadResponse::BadContentLength)?
                    .bytes;
                if self
                    .length
                    .replace(length)
                    .is_some_and(|before| before != length)
                {
                    return Err(BadResponse::BadContentLength);
                }
            }
            17 if name.eq_ignore_ascii_case(b"transfer-encoding") => {
                let repeated = std::mem::replace(&mut self.chunked, true);
                let known = matches!(TransferEncoding::parse(value),
                    Ok(codings) if codings.ends_in_chunked() && codings.len() == 1);
                if repeated || !known || version == Version::Http10 {
                    return Err(BadResponse::BadTransferEncoding);
                }
            }
            _ => {}
        }
        Ok(())
    }

    fn terms(
        &self,
        head: &ResponseHead,
        method: &Method,
        upgrade: bool,
    ) -> Result<Terms, BadResponse> {
        let status = status(head)?;
        let framing = self.framing(status, method, upgrade)?;
        // A body where there may be none is the next response to whoever believes it.
        let stray = status == StatusCode::NO_CONTENT && (self.chunked || self.length > Some(0));
        let keep_alive = match head.version {
            Version::Http11 => !self.close,
            Version::Http10 => self.keep_alive && !self.close,
        };
        Ok(Terms {
            framing,
            keep_alive: keep_alive && !stray && framing != Framing::Close,
        })
    }

    fn framing(
        &self,
        status: StatusCode,
        method: &Method,
        upgrade: bool,
    ) -> Result<Framing, BadResponse> {
        if self.chunked && self.length.is_some() {
            return Err(BadResponse::AmbiguousLength);
        }
        Ok(match status {
            StatusCode::SWITCHING_PROTOCOLS if upgrade => Framing::Upgraded,
            StatusCode::SWITCHING_PROTOCOLS => return Err(BadResponse::UnexpectedUpgrade),
            _ if *method == Method::CONNECT && status.is_success() => Framing::Upgraded,
            _ if *method == Method::HEAD => Framing::None,
            StatusCode::NO_CONTENT | StatusCode::NOT_MODIFIED => Framing::None,
            _ if self.chunked => Framing::Chunked,
            _ => match self.length {
                Some(0) => Framing::None,
                Some(length) => Framing::Length(length),
                None => Framing::Close,
            },
        })
    }
}

fn slice(bytes: &Bytes, span: Span) -> Bytes {
    bytes.slice(span.start as usize..span.end as usize)
}

#[cfg(test)]
mod tests {
    use thrum_parse::http::HeadParser;

    use super::*;

    fn terms(method: Method, upgrade: bool, text: &str) -> Result<Terms, BadResponse> {
        let bytes = Bytes::from(format!("HTTP/1.1 {text}\r\n\r\n").replace('|', "\r\n"));
        let bytes = match text.strip_prefix("1.0 ") {
            Some(text) => Bytes::from(format!("HTTP/1.0 {text}\r\n\r\n").replace('|', "\r\n")),
            None => bytes,
        };
        let mut head = ResponseHead::new();
        HeadParser::new(Default::default()).parse(&bytes, true, &mut head)?;
        receive(&head, &bytes, &method, upgrade, &mut Response::new(()))
    }

    #[test]
    fn framing_and_its_traps() {
        use BadResponse::*;
        for (text, expected) in [
            ("200 OK", Ok(Framing::Close)),
            ("200 OK|Content-Length: 5", Ok(Framing::Length(5))),
            ("200 OK|Content-Length: 0", Ok(Framing::None)),
            (
                "200 OK|Content-Length: 5|content-length: 5",
                Ok(Framing::Length(5)),
            ),
            ("200 OK|Content-Length: 5, 5", Ok(Framing::Length(5))),
            ("200 OK|Content-Length: 5, 6", Err(BadContentLength)),
            (
                "200 OK|Content-Length: 5|Content-Length: 6",
                Err(BadContentLength),
            ),
            ("200 OK|Content-Length: +5", Err(BadContentLength)),
            ("200 OK|Content-Length:", Err(BadContentLength)),
            (
                "200 OK|Content-Length: 18446744073709551616",
                Err(BadContentLength),
            ),
            ("200 OK|Transfer-Encoding: chunked", Ok(Framing::Chunked)),
            ("200 OK|Transfer-Encoding: Chunked", Ok(Framing::Chunked)),
            ("200 OK|Transfer-Encoding: gzip", Err(BadTransferEncoding)),
            (
                "200 OK|Transfer-Encoding: gzip, chunked",
                Err(BadTransferEncoding),
            ),
            (
                "200 OK|Transfer-Encoding: chunked|Transfer-Encoding: chunked",
                Err(BadTransferEncoding),
            ),
            (
                "200 OK|Transfer-Encoding: identity",
                Err(BadTransferEncoding),
            ),
            (
                "1.0 200 OK|Transfer-Encoding: chunked",
                Err(BadTransferEncoding),
            ),
            (
                "200 OK|Transfer-Encoding: chunked|Content-Length: 5",
                Err(AmbiguousLength),
            ),
            (
                "200 OK|Content-Length: 5|Transfer-Encoding: chunked",
                Err(AmbiguousLength),
            ),
            ("204 No Content", Ok(Framing::None)),
            ("204 No Content|Content-Length: 5", Ok(Framing::None)),
            ("304 Not Modified|Content-Length: 5", Ok(Framing::None)),
            ("205 Reset Content|Content-Length: 0", Ok(Framing::None)),
            ("999 What|Content-Length: 1", Ok(Framing::Length(1))),
            ("101 Switching|Upgrade: x", Err(UnexpectedUpgrade)),
        ] {
            let framing = terms(Method::GET, false, text).map(|terms| terms.framing);
            assert_eq!(framing, expected, "{text}");
        }
        let framing =
            |method, upgrade, text| terms(method, upgrade, text).map(|terms| terms.framing);
        let long = "200 OK|Content-Length: 5";
        assert_eq!(framing(Method::HEAD, false, long), Ok(Framing::None));
        assert_eq!(framing(Method::CONNECT, true, long), Ok(Framing::Upgraded));
        let denied = "407 No|Content-Length: 5";
        assert_eq!(
            framing(Method::CONNECT, true, denied),
            Ok(Framing::Length(5))
        );
        let switched = "101 Switching|Upgrade: x";
        assert_eq!(framing(Method::GET, true, switched), Ok(Framing::Upgraded));
    }

    #[test]
    fn who_keeps_the_connection() {
        let keeps = |text| terms(Method::GET, false, text).unwrap().keep_alive;
        assert!(keeps("200 OK|Content-Length: 5"));
        assert!(keeps("204 None"));
        assert!(keeps("1.0 200 OK|Content-Length: 5|Connection: Keep-Alive"));
        assert!(!keeps("200 OK"), "it ends with the connection");
        assert!(!keeps("200 OK|Content-Length: 5|Connection: x, Close"));
        assert!(!keeps("1.0 200 OK|Content-Length: 5"));
        assert!(
            !keeps("204 None|Content-Length: 5"),
            "a body that may follow"
        );
        assert!(!keeps("204 None|Transfer-Encoding: chunked"));
    }
}
