//! A request, or a few, with the one right answer to each.

/// Bytes that a client sends, and what has to come of them.
#[derive(Clone, Debug)]
pub(crate) struct Case {
    pub(crate) name: &'static str,
    /// Where the rule stands, and which advisory or paper tells of somebody who did not keep it.
    pub(crate) source: &'static str,
    pub(crate) bytes: Vec<u8>,
    /// In their order. One that is handled is what the handler saw: method, target, the values of `X` in brackets, the body
    /// in quotes. One that is not is its status and why.
    pub(crate) answers: &'static [&'static str],
    pub(crate) then: Then,
}

/// What becomes of a request behind a case's bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Then {
    /// It is answered.
    Answered,
    /// It is answered, and the one empty line that may stand before it was there already.
    BehindEmptyLine,
    /// It is never seen: the connection ends.
    Closed,
    /// It would be part of the case: the bytes end within a message, and with them the stream.
    Within,
}

/// A case. Behind a refusal the connection ends, behind anything else it goes on.
pub(crate) fn case(
    name: &'static str,
    source: &'static str,
    bytes: impl AsRef<[u8]>,
    answers: &'static [&'static str],
) -> Case {
    let refused = answers
        .last()
        .is_some_and(|last| last.starts_with(['4', '5']));
    Case {
        name,
        source,
        bytes: bytes.as_ref().to_vec(),
        answers,
        then: if refused {
            Then::Closed
        } else {
            Then::Answered
        },
    }
}

impl Case {
    /// The connection ends although nothing was refused.
    pub(crate) fn closes(mut self) -> Self {
        self.then = Then::Closed;
        self
    }

    /// The last of the bytes are an empty line.
    pub(crate) fn with_empty_line(mut self) -> Self {
        self.then = Then::BehindEmptyLine;
        self
    }

    /// The bytes end within a message.
    pub(crate) fn unfinished(mut self) -> Self {
        self.then = Then::Within;
        self
    }
}

/// All of them.
pub(crate) fn cases() -> Vec<Case> {
    [
        crate::chunks::cases(),
        crate::connections::cases(),
        crate::content_length::cases(),
        crate::expectations::cases(),
        crate::fields::cases(),
        crate::hosts::cases(),
        crate::line_ends::cases(),
        crate::methods::cases(),
        crate::sequences::cases(),
        crate::sizes::cases(),
        crate::targets::cases(),
        crate::transfer_encoding::cases(),
        crate::versions::cases(),
    ]
    .concat()
}

/// A request with this request line.
pub(crate) fn line(line: impl AsRef<[u8]>) -> Vec<u8> {
    [line.as_ref(), b"\r\nHost: a\r\n\r\n"].concat()
}

/// A GET with this Host.
pub(crate) fn host(value: impl AsRef<[u8]>) -> Vec<u8> {
    [b"GET / HTTP/1.1\r\nHost: ", value.as_ref(), b"\r\n\r\n"].concat()
}

/// A GET with these field lines.
pub(crate) fn get(fields: impl AsRef<[u8]>) -> Vec<u8> {
    let head: &[u8] = b"GET / HTTP/1.1\r\nHost: a\r\n";
    [head, fields.as_ref(), b"\r\n\r\n"].concat()
}

/// A POST with these field lines, and what follows its head.
pub(crate) fn post(fields: impl AsRef<[u8]>, body: impl AsRef<[u8]>) -> Vec<u8> {
    let head: &[u8] = b"POST / HTTP/1.1\r\nHost: a\r\n";
    [head, fields.as_ref(), b"\r\n\r\n", body.as_ref()].concat()
}

/// A POST with a chunked body.
pub(crate) fn chunked(body: impl AsRef<[u8]>) -> Vec<u8> {
    post("Transfer-Encoding: chunked", body)
}

/// A GET of this target, to stand behind something.
pub(crate) fn next(target: &str) -> String {
    format!("GET {target} HTTP/1.1\r\nHost: a\r\n\r\n")
}
