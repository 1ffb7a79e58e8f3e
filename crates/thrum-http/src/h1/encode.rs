//! A response's head, rendered straight into the output buffer.

use http::header::{
    CONNECTION, CONTENT_LENGTH, DATE, HeaderName, TE, TRAILER, TRANSFER_ENCODING, UPGRADE,
};
use http::{HeaderMap, StatusCode, Version};

use super::date::date_line;
use crate::message::{field, has_word, is_bodiless};

/// How the end of a response's body is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ending {
    /// There is no body: the status or the method has none.
    NoBody,
    /// By Content-Length.
    Length(u64),
    /// By the last chunk.
    Chunked,
    /// By closing the connection.
    Close,
}

/// Decides how a body is sent (RFC 9112 section 6.3).
pub(crate) fn ending(
    version: Version,
    is_head: bool,
    status: StatusCode,
    size: Option<u64>,
) -> Ending {
    match size {
        _ if is_bodiless(status) || is_head => Ending::NoBody,
        Some(size) => Ending::Length(size),
        None if version == Version::HTTP_11 => Ending::Chunked,
        None => Ending::Close,
    }
}

/// Fields that belong to the connection, not to the response: what a handler says of them is left out.
fn is_of_connection(name: &HeaderName) -> bool {
    *name == CONNECTION || *name == TRANSFER_ENCODING || *name == UPGRADE || *name == TE
}

/// Appends the head of a response that hands the connection to another protocol.
pub(crate) fn switching_protocols(output: &mut Vec<u8>, headers: &HeaderMap) {
    output.extend_from_slice(b"HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\n");
    for (name, value) in headers {
        if *name == UPGRADE || *name != CONTENT_LENGTH && !is_of_connection(name) {
            field(output, name.as_str().as_bytes(), value.as_bytes());
        }
    }
    output.extend_from_slice(b"\r\n");
}

/// Appends an interim response (RFC 8297).
pub(crate) fn early_hints(output: &mut Vec<u8>, headers: &HeaderMap) {
    output.extend_from_slice(b"HTTP/1.1 103 Early Hints\r\n");
    for (name, value) in headers {
        if *name != CONTENT_LENGTH && !is_of_connection(name) {
            field(output, name.as_str().as_bytes(), value.as_bytes());
        }
    }
    output.extend_from_slice(b"\r\n");
}

/// The head of a response.
pub(crate) struct Head<'a> {
    pub(crate) version: Version,
    pub(crate) status: StatusCode,
    pub(crate) headers: &'a HeaderMap,
    pub(crate) ending: Ending,
    /// The body's size, to be told even where it is not sent: in an answer to HEAD.
    pub(crate) size: Option<u64>,
    /// The connection goes on, unless the fields say otherwise.
    pub(crate) keep_alive: bool,
}

impl Head<'_> {
    /// Appends it, and says whether the connection goes on. Names and values are of types that cannot hold a line end.
    pub(crate) fn encode(&self, output: &mut Vec<u8>) -> bool {
        status_line(output, self.status);
        let mut told_length = false;
        let mut told_date = false;
        let mut keep_alive = self.keep_alive;
        for (name, value) in self.headers {
            keep_alive &= *name != CONNECTION || !has_word(value.as_bytes(), b"close");
            // Who asks for an upgrade says to what (RFC 9110 section 15.5.22).
            if *name == UPGRADE && self.status == StatusCode::UPGRADE_REQUIRED {
                output.extend_from_slice(b"connection: upgrade\r\n");
                field(output, b"upgrade", value.as_bytes());
            }
            if is_of_connection(name) || *name == TRAILER && self.ending != Ending::Chunked {
                continue;
            }
            if *name == CONTENT_LENGTH {
                // Where a body is sent, its own size is what counts.
                if self.ending != Ending::NoBody
                    || self.status == StatusCode::NO_CONTENT
                    || told_length
                {
                    continue;
                }
                told_length = true;
            }
            told_date |= *name == DATE;
            field(output, name.as_str().as_bytes(), value.as_bytes());
        }
        if !told_date {
            output.extend_from_slice(&date_line());
        }
        match (self.ending, self.size) {
            (Ending::Length(length), _) => length_field(output, length),
            // An empty body of an answer to HEAD tells nothing of what GET would send.
            (Ending::NoBody, Some(size @ 1..)) if !told_length && !is_bodiless(self.status) => {
                length_field(output, size);
            }
            (Ending::Chunked, _) => output.extend_from_slice(b"transfer-encoding: chunked\r\n"),
            (Ending::NoBody | Ending::Close, _) => {}
        }
        match (self.version, keep_alive) {
            (Version::HTTP_11, true) => {}
            (_, true) => output.extend_from_slice(b"connection: keep-alive\r\n"),
            (_, false) => output.extend_from_slice(b"connection: close\r\n"),
        }
        output.extend_from_slice(b"\r\n");
        keep_alive
    }
}

/// A response's version is always ours (RFC 9110 section 6.2).
fn status_line(output: &mut Vec<u8>, status: StatusCode) {
    if status == StatusCode::OK {
        return output.extend_from_slice(b"HTTP/1.1 200 OK\r\n");
    }
    output.extend_from_slice(b"HTTP/1.1 ");
    output.extend_from_slice(status.as_str().as_bytes());
    output.push(b' ');
    output.extend_from_slice(status.canonical_reason().unwrap_or("Unknown").as_bytes());
    output.extend_from_slice(b"\r\n");
}

fn length_field(output: &mut Vec<u8>, length: u64) {
    output.extend_from_slice(b"content-length: ");
    output.extend_from_slice(itoa::Buffer::new().format(length).as_bytes());
    output.extend_from_slice(b"\r\n");
}

#[cfg(test)]
mod tests {
    use http::HeaderValue;

    use super::*;

    fn render(
        status: u16,
        fields: &[(&'static str, &'static str)],
        ending: Ending,
        size: Option<u64>,
    ) -> String {
        let mut headers = HeaderMap::new();
        for (name, value) in fields {
            headers.append(*name, HeaderValue::from_static(value));
        }
        headers.insert(DATE, HeaderValue::from_static("now"));
        let status = StatusCode::from_u16(status).unwrap();
        let mut output = Vec::new();
        Head {
            version: Version::HTTP_11,
            status,
            headers: &headers,
            ending,
            size,
            keep_alive: true,
        }
        .encode(&mut output);
        String::from_utf8(output).unwrap()
    }

    #[test]
    fn a_body_s_own_size_counts() {
        let text = render(200, &[("content-length", "99")], Ending::Length(5), Some(5));
        assert_eq!(
            text,
            "HTTP/1.1 200 OK\r\ndate: now\r\ncontent-length: 5\r\n\r\n"
        );
        let text = render(
            200,
            &[("transfer-encoding", "gzip"), ("connection", "x")],
            Ending::Chunked,
            None,
        );
        assert_eq!(
            text,
            "HTTP/1.1 200 OK\r\ndate: now\r\ntransfer-encoding: chunked\r\n\r\n"
        );
    }

    #[test]
    fn an_upgrade_is_asked_for_by_name() {
        let fields = [("upgrade", "websocket")];
        let text = render(426, &fields, Ending::Length(0), Some(0));
        assert!(
            text.contains("\r\nconnection: upgrade\r\nupgrade: websocket\r\n"),
            "{text}"
        );
        assert!(!render(200, &fields, Ending::Length(0), Some(0)).contains("upgrade"));
    }

    #[test]
    fn an_answer_to_head_may_tell_a_length_without_a_body() {
        let text = render(200, &[("content-length", "99")], Ending::NoBody, Some(0));
        assert_eq!(
            text,
            "HTTP/1.1 200 OK\r\ncontent-length: 99\r\ndate: now\r\n\r\n"
        );
        assert!(render(200, &[], Ending::NoBody, Some(7)).contains("content-length: 7\r\n"));
        assert!(
            !render(204, &[("content-length", "9")], Ending::NoBody, Some(0)).contains("length")
        );
        assert!(!render(304, &[], Ending::NoBody, Some(7)).contains("length"));
    }

    #[test]
    fn endings() {
        let get = |version, size| ending(version, false, StatusCode::OK, size);
        assert_eq!(get(Version::HTTP_11, Some(3)), Ending::Length(3));
        assert_eq!(get(Version::HTTP_11, None), Ending::Chunked);
        assert_eq!(get(Version::HTTP_10, None), Ending::Close);
        let head = ending(Version::HTTP_11, true, StatusCode::OK, None);
        assert_eq!(head, Ending::NoBody);
        let none = ending(Version::HTTP_11, false, StatusCode::NOT_MODIFIED, Some(3));
        assert_eq!(none, Ending::NoBody);
    }
}
