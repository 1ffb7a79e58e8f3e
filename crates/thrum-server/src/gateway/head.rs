//! From the head that a program writes to that of a response (RFC 3875 section 6).

use http::header::{
    CONNECTION, CONTENT_LENGTH, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue, LOCATION, TE,
    TRAILER, TRANSFER_ENCODING, UPGRADE,
};
use http::uri::PathAndQuery;
use http::{Response, StatusCode};
use thiserror::Error;
use thrum_parse::http::{CgiHead, HeadError, HeadLimits, HeadParser, Status};

/// Among the [extensions](Response::extensions) of a response: the program wants another path of this server to answer in
/// its stead, as if it had been asked for with GET (RFC 3875 section 6.2.2).
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct LocalRedirect(pub(crate) PathAndQuery);

/// What a program answers, as far as its head tells.
#[derive(Debug)]
pub(super) struct Answered {
    pub(super) response: Response<()>,
    /// Bytes of the document, if the head says so.
    pub(super) length: Option<u64>,
}

/// Why what a program writes is no answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub(crate) enum HeadProblem {
    /// Its grammar.
    #[error("{0}")]
    Grammar(#[from] HeadError),
    /// There is neither of the fields that make it an answer.
    #[error("it has neither a Content-Type nor a Location nor a Status")]
    Nothing,
    /// The status is none that a response can have in the end.
    #[error("its status is not one of 200 to 599")]
    Status,
    /// A field of that value cannot be sent, or two lengths differ.
    #[error("a field has a value that cannot be sent")]
    Field,
    /// A program that writes the whole response has to begin it with `HTTP/1.1 200 OK`.
    #[error("it does not begin with a status line")]
    StatusLine,
    /// A program that writes the whole response divides its body by itself.
    #[error("it has a Transfer-Encoding: the server divides the body")]
    TransferEncoding,
}

/// Reads a head from a buffer that grows.
pub(super) struct HeadReader {
    parser: HeadParser,
    head: CgiHead,
    /// The program writes a status line first (RFC 3875 section 5: NPH).
    whole: bool,
    /// What the status line said, and how long it is.
    line: Option<(StatusCode, usize)>,
    limits: HeadLimits,
}

impl HeadReader {
    pub(super) fn new(limits: HeadLimits, whole: bool) -> Self {
        Self {
            parser: HeadParser::new(limits),
            head: CgiHead::new(),
            whole,
            line: None,
            limits,
        }
    }

    /// The answer, and how many bytes its head takes; `None` until all of it is there.
    pub(super) fn read(
        &mut self,
        buffer: &[u8],
        eof: bool,
    ) -> Result<Option<(Answered, usize)>, HeadProblem> {
        if self.whole && self.line.is_none() {
            self.line = status_line(buffer, eof, self.limits.target_bytes)?;
            if self.line.is_none() {
                return Ok(None);
            }
        }
        let before = self.line.map_or(0, |(_, length)| length);
        let buffer = &buffer[before..];
        match self.parser.parse(buffer, eof, &mut self.head)? {
            Status::Partial => Ok(None),
            Status::Complete { consumed } => {
                let answered = match self.line {
                    Some((status, _)) => whole(&self.head, buffer, status)?,
                    None => answered(&self.head, buffer)?,
                };
                Ok(Some((answered, before + consumed)))
            }
        }
    }
}

/// The status that the first line of a whole response tells, and the bytes of the line.
fn status_line(
    buffer: &[u8],
    eof: bool,
    limit: usize,
) -> Result<Option<(StatusCode, usize)>, HeadProblem> {
    let Some(end) = buffer.iter().position(|&byte| byte == b'\n') else {
        if eof || buffer.len() > limit {
            return Err(HeadProblem::StatusLine);
        }
        return Ok(None);
    };
    let mut words = buffer[..end]
        .trim_ascii_end()
        .splitn(3, |&byte| byte == b' ');
    let version = words.next().unwrap_or_default();
    if !version.starts_with(b"HTTP/") {
        return Err(HeadProblem::StatusLine);
    }
    let code = words.next().ok_or(HeadProblem::StatusLine)?;
    let code = StatusCode::from_bytes(code).or(Err(HeadProblem::Status))?;
    Ok(Some((final_status(code.as_u16())?, end + 1)))
}

/// What a head without a status line says. The RFC's four kinds of answers, and what programs make of them.
fn answered(head: &CgiHead, buffer: &[u8]) -> Result<Answered, HeadProblem> {
    if head.content_type.is_none() && head.location.is_none() && head.status.is_none() {
        return Err(HeadProblem::Nothing);
    }
    let location = head.location.map(|location| location.of(buffer));
    let status = match (head.status, location) {
        (Some(status), _) => final_status(status.code)?,
        (None, Some(_)) => StatusCode::FOUND,
        (None, None) => StatusCode::OK,
    };
    let (mut response, length) = with_fields(head, buffer, status)?;
    // A cookie, or whatever else it has to say, would be lost on another path: then the client goes there.
    if let Some(location) = location
        && location.starts_with(b"/")
        && head.status.is_none()
        && head.headers().is_empty()
    {
        let target = PathAndQuery::try_from(location).or(Err(HeadProblem::Field))?;
        response.extensions_mut().insert(LocalRedirect(target));
    }
    Ok(Answered { response, length })
}

/// What a head behind a status line says.
fn whole(head: &CgiHead, buffer: &[u8], status: StatusCode) -> Result<Answered, HeadProblem> {
    let (response, length) = with_fields(head, buffer, status)?;
    Ok(Answered { response, length })
}

fn with_fields(
    head: &CgiHead,
    buffer: &[u8],
    status: StatusCode,
) -> Result<(Response<()>, Option<u64>), HeadProblem> {
    let mut response = Response::new(());
    *response.status_mut() = status;
    let fields = response.headers_mut();
    let value = |bytes: &[u8]| HeaderValue::from_bytes(bytes).or(Err(HeadProblem::Field));
    if let Some(kind) = head.content_type {
        fields.insert(CONTENT_TYPE, value(kind.of(buffer))?);
    }
    if let Some(location) = head.location {
        fields.insert(LOCATION, value(location.of(buffer))?);
    }
    for field in head.headers() {
        let name = HeaderName::from_bytes(field.name.of(buffer)).or(Err(HeadProblem::Field))?;
        if name == TRANSFER_ENCODING {
            return Err(HeadProblem::TransferEncoding);
        }
        if !is_of_connection(&name) {
            fields.append(name, value(field.value.of(buffer))?);
        }
    }
    let length = length(fields)?;
    Ok((response, length))
}

/// The one length that the fields tell.
fn length(fields: &HeaderMap) -> Result<Option<u64>, HeadProblem> {
    let mut lengths = fields.get_all(CONTENT_LENGTH).iter().map(|value| {
        let digits = value
            .to_str()
            .ok()
            .filter(|text| text.bytes().all(|byte| byte.is_ascii_digit()));
        digits
            .and_then(|digits| digits.parse().ok())
            .ok_or(HeadProblem::Field)
    });
    let first: Option<u64> = lengths.next().transpose()?;
    match lengths.next() {
        Some(_) => Err(HeadProblem::Field),
        None => Ok(first),
    }
}

fn is_of_connection(name: &HeaderName) -> bool {
    [CONNECTION, TE, TRAILER, UPGRADE].contains(name) || *name == "keep-alive"
}

/// An interim status is no answer, and 101 would hand the connection over.
fn final_status(code: u16) -> Result<StatusCode, HeadProblem> {
    match StatusCode::from_u16(code) {
        Ok(status) if (200..600).contains(&code) => Ok(status),
        _ => Err(HeadProblem::Status),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str, whole: bool) -> Result<(u16, String, Option<String>, usize), HeadProblem> {
        let mut reader = HeadReader::new(HeadLimits::default(), whole);
        for end in 0..text.len() {
            if let Some((_, consumed)) = reader.read(&text.as_bytes()[..end], false)? {
                assert_eq!(consumed, end, "no byte behind the head is needed");
                break;
            }
        }
        let mut reader = HeadReader::new(HeadLimits::default(), whole);
        let (answered, consumed) = reader.read(text.as_bytes(), true)?.unwrap();
        let fields = answered.response.headers().iter();
        let fields = fields.map(|(name, value)| format!("{name}: {}", value.to_str().unwrap()));
        let local = answered.response.extensions().get::<LocalRedirect>();
        Ok((
            answered.response.status().as_u16(),
            fields.collect::<Vec<_>>().join(", "),
            local.map(|local| local.0.to_string()),
            consumed,
        ))
    }

    #[test]
    fn answers_of_programs() {
        let none = || None::<String>;
        for (text, expected) in [
            ("Content-Type: a/b\n\nx", (200, "content-type: a/b", none())),
            (
                "Content-Type: a/b\r\nStatus: 404 No\r\n\r\n",
                (404, "content-type: a/b", none()),
            ),
            ("Status: 204\n\n", (204, "", none())),
            (
                "Location: /a?b\n\n",
                (302, "location: /a?b", Some("/a?b".to_owned())),
            ),
            (
                "Content-Type: a/b\nLocation: /a\n\n",
                (
                    302,
                    "content-type: a/b, location: /a",
                    Some("/a".to_owned()),
                ),
            ),
            (
                "Location: /a\nSet-Cookie: a=b\n\n",
                (302, "location: /a, set-cookie: a=b", none()),
            ),
            (
                "Status: 303 See\nLocation: /a\n\n",
                (303, "location: /a", none()),
            ),
            (
                "Location: https://a.example/\n\n",
                (302, "location: https://a.example/", none()),
            ),
            (
                "Content-Type: a/b\nConnection: close\nKeep-Alive: 5\nX-A: 1\nX-A: 2\n\n",
                (200, "content-type: a/b, x-a: 1, x-a: 2", none()),
            ),
        ] {
            let (status, fields, local, _) = read(text, false).unwrap();
            assert_eq!((status, fields.as_str(), local), expected, "{text:?}");
        }
    }

    #[test]
    fn whole_responses() {
        let (status, fields, _, consumed) = read(
            "HTTP/1.1 404 Not Found\r\nContent-Type: a/b\r\n\r\nbody",
            true,
        )
        .unwrap();
        assert_eq!(
            (status, fields.as_str(), consumed),
            (404, "content-type: a/b", 45)
        );
        let (status, fields, ..) = read("HTTP/1.0 200\nX: y\n\n", true).unwrap();
        assert_eq!((status, fields.as_str()), (200, "x: y"));
        assert_eq!(
            read("Content-Type: a/b\n\n", true),
            Err(HeadProblem::StatusLine)
        );
        assert_eq!(
            read("HTTP/1.1 100 Go\r\n\r\n", true),
            Err(HeadProblem::Status)
        );
    }

    #[test]
    fn what_is_no_answer() {
        for (text, expected) in [
            ("X-A: b\n\n", HeadProblem::Nothing),
            ("\n", HeadProblem::Nothing),
            ("Status: 101 Switch\n\n", HeadProblem::Status),
            ("Status: 700\n\n", HeadProblem::Status),
            ("Status: 200\nContent-Length: x\n\n", HeadProblem::Field),
            (
                "Status: 200\nContent-Length: 1\nContent-Length: 2\n\n",
                HeadProblem::Field,
            ),
            (
                "Status: 200\nTransfer-Encoding: chunked\n\n",
                HeadProblem::TransferEncoding,
            ),
            ("Hello\n", HeadProblem::Grammar(HeadError::SpaceBeforeColon)),
            (
                "Content-Type: a/b\n",
                HeadProblem::Grammar(HeadError::Truncated),
            ),
        ] {
            match read(text, false) {
                Err(HeadProblem::Grammar(_)) if matches!(expected, HeadProblem::Grammar(_)) => {}
                other => assert_eq!(other.unwrap_err(), expected, "{text:?}"),
            }
        }
    }
}
