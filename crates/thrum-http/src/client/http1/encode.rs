//! A request's head, rendered straight into the output buffer.

use http::header::{
    CONNECTION, CONTENT_LENGTH, EXPECT, HOST, HeaderMap, TE, TRANSFER_ENCODING, UPGRADE,
};
use http::{Method, Request, Uri};
use thrum_parse::http::value::{ContentLength, FieldValue};
use thrum_parse::uri::is_host;

use super::super::BadRequest;
use super::super::origin::target;
use crate::Body;
use crate::message::{field, words};

/// How a request's body is framed, and what the head says of the connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Terms {
    pub(crate) framing: Framing,
    /// The body waits for a 100.
    pub(crate) expects_continue: bool,
    /// Another protocol is asked for, or a tunnel.
    pub(crate) upgrade: bool,
    /// This is the last request of the connection.
    pub(crate) close: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Framing {
    None,
    Length(u64),
    Chunked,
}

/// Appends a head. `defaults` are fields of every request that does not have them; `absolute`: the other end is a proxy,
/// which wants the whole URL.
///
/// Where the message ends and what becomes of the connection is decided here; what the caller says of it is left out where
/// it agrees, and refused where it does not. Names, values and URL are of types that cannot hold a line end.
pub(crate) fn head(
    output: &mut Vec<u8>,
    request: &Request<Body>,
    defaults: &HeaderMap,
    absolute: bool,
) -> Result<Terms, BadRequest> {
    let (method, headers) = (request.method(), request.headers());
    let begin = output.len();
    output.extend_from_slice(method.as_str().as_bytes());
    output.push(b' ');
    let written = append_target(output, method, request.uri(), absolute)
        .and_then(|()| append_fields(output, request, defaults));
    let (options, expects) = match written {
        Ok(written) => written,
        Err(why) => {
            output.truncate(begin);
            return Err(why);
        }
    };
    let upgrade = headers.contains_key(UPGRADE);
    let framing = match request.body().size() {
        Some(0) => {
            // A method that means to have a body says that it is empty (RFC 9110 section 8.6).
            if matches!(*method, Method::POST | Method::PUT | Method::PATCH) {
                output.extend_from_slice(b"content-length: 0\r\n");
            }
            Framing::None
        }
        Some(size) => {
            output.extend_from_slice(b"content-length: ");
            output.extend_from_slice(itoa::Buffer::new().format(size).as_bytes());
            output.extend_from_slice(b"\r\n");
            Framing::Length(size)
        }
        None => {
            output.extend_from_slice(b"transfer-encoding: chunked\r\n");
            Framing::Chunked
        }
    };
    if options.close || upgrade || options.te {
        let mut separator = "connection: ";
        for (wanted, option) in [
            (options.close, "close"),
            (upgrade, "upgrade"),
            (options.te, "te"),
        ] {
            if wanted {
                output.extend_from_slice(separator.as_bytes());
                output.extend_from_slice(option.as_bytes());
                separator = ", ";
            }
        }
        output.extend_from_slice(b"\r\n");
    }
    let expects_continue = expects && framing != Framing::None;
    if expects_continue {
        output.extend_from_slice(b"expect: 100-continue\r\n");
    }
    output.extend_from_slice(b"\r\n");
    Ok(Terms {
        framing,
        expects_continue,
        upgrade: upgrade || *method == Method::CONNECT,
        close: options.close,
    })
}

/// RFC 9112 section 3.2
fn append_target(
    output: &mut Vec<u8>,
    method: &Method,
    uri: &Uri,
    absolute: bool,
) -> Result<(), BadRequest> {
    let authority = || uri.authority().ok_or(BadRequest::Host);
    if *method == Method::CONNECT {
        output.extend_from_slice(authority()?.as_str().as_bytes());
    } else {
        if absolute {
            output.extend_from_slice(uri.scheme_str().ok_or(BadRequest::Scheme)?.as_bytes());
            output.extend_from_slice(b"://");
            output.extend_from_slice(authority()?.as_str().as_bytes());
        }
        let target = target(uri);
        if target.starts_with('?') {
            output.push(b'/');
        }
        output.extend_from_slice(target.as_bytes());
    }
    output.extend_from_slice(b" HTTP/1.1\r\n");
    Ok(())
}

/// What the caller's Connection field asks for.
#[derive(Clone, Copy, Default)]
struct Options {
    close: bool,
    te: bool,
}

/// Appends the fields that are the request's; what it says of the connection, and whether it expects a 100.
fn append_fields(
    output: &mut Vec<u8>,
    request: &Request<Body>,
    defaults: &HeaderMap,
) -> Result<(Options, bool), BadRequest> {
    let headers = request.headers();
    let mut options = Options::default();
    let mut expects = false;
    let bodiless = matches!(*request.method(), Method::CONNECT | Method::TRACE);
    if bodiless && request.body().size() != Some(0) {
        return Err(BadRequest::UnexpectedBody);
    }
    append_host(output, request)?;
    for (name, value) in headers {
        let bytes = value.as_bytes();
        if *name == HOST {
            continue;
        } else if *name == CONTENT_LENGTH {
            let given = ContentLength::parse(bytes).ok();
            if given.map(|given| (given.is_repeated, Some(given.bytes)))
                != Some((false, request.body().size()))
            {
                return Err(BadRequest::ContentLength);
            }
            continue;
        } else if *name == TRANSFER_ENCODING {
            return Err(BadRequest::TransferEncoding);
        } else if *name == CONNECTION {
            for option in words(bytes) {
                match option.to_ascii_lowercase().as_slice() {
                    b"close" => options.close = true,
                    b"" | b"keep-alive" | b"upgrade" | b"te" => {}
                    _ => return Err(BadRequest::Connection),
                }
            }
            continue;
        } else if *name == EXPECT {
            if !bytes.eq_ignore_ascii_case(b"100-continue") {
                return Err(BadRequest::Expectation);
            }
            expects = true;
            continue;
        }
        options.te |= *name == TE;
        field(output, name.as_str().as_bytes(), bytes);
    }
    for (name, value) in defaults {
        if !headers.contains_key(name) {
            field(output, name.as_str().as_bytes(), value.as_bytes());
        }
    }
    Ok((options, expects))
}

/// The caller's, or the URL's. It comes first (RFC 9110 section 7.2).
fn append_host(output: &mut Vec<u8>, request: &Request<Body>) -> Result<(), BadRequest> {
    let mut given = request.headers().get_all(HOST).iter();
    match (given.next(), given.next()) {
        (None, _) => {
            let authority = request.uri().authority().ok_or(BadRequest::Host)?;
            field(output, b"host", authority.as_str().as_bytes());
        }
        (Some(host), None) if is_host(host.as_bytes()) => {
            field(output, b"host", host.as_bytes());
        }
        _ => return Err(BadRequest::HostField),
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use http::HeaderValue;
    use http::header::USER_AGENT;

    use super::*;

    fn render(request: &Request<Body>, absolute: bool) -> Result<(String, Terms), BadRequest> {
        let mut output = b"before".to_vec();
        let rendered = head(&mut output, request, &HeaderMap::new(), absolute);
        if rendered.is_err() {
            assert_eq!(output, b"before");
        }
        rendered.map(|terms| (String::from_utf8(output.split_off(6)).unwrap(), terms))
    }

    fn request(method: Method, uri: &str, fields: &[(&str, &str)], body: Body) -> Request<Body> {
        let mut builder = Request::builder().method(method).uri(uri);
        for (name, value) in fields {
            builder = builder.header(*name, *value);
        }
        builder.body(body).unwrap()
    }

    #[test]
    fn forms_of_the_target() {
        for (method, uri, absolute, line) in [
            (
                Method::GET,
                "http://a",
                false,
                "GET / HTTP/1.1\r\nhost: a\r\n",
            ),
            (
                Method::GET,
                "http://a?b",
                false,
                "GET /?b HTTP/1.1\r\nhost: a\r\n",
            ),
            (
                Method::GET,
                "http://a:81/b?c",
                true,
                "GET http://a:81/b?c HTTP/1.1\r\nhost: a:81\r\n",
            ),
            (
                Method::CONNECT,
                "http://a:443",
                false,
                "CONNECT a:443 HTTP/1.1\r\nhost: a:443\r\n",
            ),
        ] {
            let (text, _) = render(&request(method, uri, &[], Body::empty()), absolute).unwrap();
            assert_eq!(text, format!("{line}\r\n"));
        }
    }

    #[test]
    fn framing_follows_from_the_body() {
        let framed = |method, body: Body, fields: &[(&str, &str)]| {
            render(&request(method, "http://a/", fields, body), false).map(|(text, terms)| {
                (
                    text.split_once("host: a\r\n").unwrap().1.to_owned(),
                    terms.framing,
                )
            })
        };
        let none = ("\r\n".to_owned(), Framing::None);
        assert_eq!(framed(Method::GET, Body::empty(), &[]), Ok(none));
        let zero = ("content-length: 0\r\n\r\n".to_owned(), Framing::None);
        assert_eq!(framed(Method::POST, Body::empty(), &[]), Ok(zero));
        let five = ("content-length: 5\r\n\r\n".to_owned(), Framing::Length(5));
        assert_eq!(framed(Method::POST, "hello".into(), &[]), Ok(five.clone()));
        let agrees = [("content-length", "5")];
        assert_eq!(framed(Method::POST, "hello".into(), &agrees), Ok(five));
        for lies in ["4", "6", "5, 5", "+5", ""] {
            let lie = framed(Method::POST, "hello".into(), &[("content-length", lies)]);
            assert_eq!(lie, Err(BadRequest::ContentLength), "{lies:?}");
        }
        let coded = framed(
            Method::POST,
            "hello".into(),
            &[("transfer-encoding", "chunked")],
        );
        assert_eq!(coded, Err(BadRequest::TransferEncoding));
        let traced = framed(Method::TRACE, "hello".into(), &[]);
        assert_eq!(traced, Err(BadRequest::UnexpectedBody));
    }

    #[test]
    fn fields_of_the_connection_are_ours() {
        let render = |fields: &[(&str, &str)]| {
            render(
                &request(Method::POST, "http://a/", fields, "x".into()),
                false,
            )
            .map(|(text, _)| text.split_once("host: a\r\n").unwrap().1.to_owned())
        };
        let with = |fields| Ok(format!("{fields}\r\n"));
        let length = "content-length: 1\r\n";
        assert_eq!(
            render(&[("connection", "Keep-Alive")]),
            with(length.to_owned())
        );
        let close = format!("{length}connection: close\r\n");
        assert_eq!(render(&[("connection", "keep-alive, close")]), with(close));
        let upgrade = format!("upgrade: x\r\n{length}connection: upgrade\r\n");
        assert_eq!(
            render(&[("connection", "upgrade"), ("upgrade", "x")]),
            with(upgrade)
        );
        let te = format!("te: trailers\r\n{length}connection: te\r\n");
        assert_eq!(render(&[("te", "trailers")]), with(te));
        assert_eq!(
            render(&[("connection", "x-secret")]),
            Err(BadRequest::Connection)
        );
        let expect = format!("{length}expect: 100-continue\r\n");
        assert_eq!(render(&[("expect", "100-Continue")]), with(expect));
        assert_eq!(render(&[("expect", "magic")]), Err(BadRequest::Expectation));
    }

    #[test]
    fn one_host_and_the_defaults() {
        let defaults = HeaderMap::from_iter([(USER_AGENT, HeaderValue::from_static("thrum"))]);
        let render = |fields: &[(&str, &str)]| {
            let mut output = Vec::new();
            let request = request(Method::GET, "http://a/", fields, Body::empty());
            head(&mut output, &request, &defaults, false)
                .map(|_| String::from_utf8(output).unwrap())
        };
        let own = "GET / HTTP/1.1\r\nhost: b:8\r\nuser-agent: me\r\n\r\n";
        assert_eq!(
            render(&[("user-agent", "me"), ("host", "b:8")]),
            Ok(own.to_owned())
        );
        let ours = "GET / HTTP/1.1\r\nhost: a\r\nuser-agent: thrum\r\n\r\n";
        assert_eq!(render(&[]), Ok(ours.to_owned()));
        assert_eq!(
            render(&[("host", "b"), ("host", "c")]),
            Err(BadRequest::HostField)
        );
        assert_eq!(render(&[("host", "b/c")]), Err(BadRequest::HostField));
    }
}
