//! The responses, read by no more than the grammar of thrum-parse and RFC 9112, 6.3: the answers are what the rules give.

use std::collections::HashSet;

use thrum_parse::http::value::{ContentLength, FieldValue, TransferEncoding};
use thrum_parse::http::{
    ChunkParser, HeadError, HeadLimits, HeadParser, ResponseHead, Status, TrailerParser, Version,
};

use crate::responses::{Response, responses};

/// More interim responses than that are not waited for.
const INTERIM: usize = 100;

/// Of a chunk line, and of trailers.
const LINE_BYTES: usize = 4096;

#[test]
fn responses_have_names_and_sources() {
    let responses = responses();
    assert!(responses.len() >= 150, "{} responses", responses.len());
    let mut names = HashSet::new();
    for response in &responses {
        assert!(names.insert(response.name), "{} twice", response.name);
        assert!(!response.source.is_empty(), "{}", response.name);
    }
}

#[test]
fn by_the_grammar() {
    let mut wrong = Vec::new();
    for response in responses() {
        let (answer, again) = read(&response);
        if (answer.as_str(), again) != (response.answer, response.again) {
            let (name, expected) = (response.name, response.answer);
            wrong.push(format!(
                "{name}: {answer} {again}, not {expected} {}",
                response.again
            ));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// A head that comes in two pieces is what it is in one, at the latest when its line is over.
#[test]
fn heads_cut_anywhere() {
    for response in responses()
        .iter()
        .filter(|response| response.bytes.len() < 1000)
    {
        let bytes = &response.bytes[..];
        let mut head = ResponseHead::new();
        let whole = HeadParser::new(HeadLimits::default()).parse(bytes, response.ends, &mut head);
        for cut in 0..bytes.len() {
            let (mut parser, mut head) =
                (HeadParser::new(HeadLimits::default()), ResponseHead::new());
            let mut found = parser.parse(&bytes[..cut], false, &mut head);
            if found == Ok(Status::Partial) {
                found = parser.parse(bytes, response.ends, &mut head);
            }
            // In pieces, a fault may be told at the end of its line only.
            if found == Ok(Status::Partial) && whole.is_err() {
                found = parser.parse(bytes, true, &mut head);
            }
            assert_eq!(found, whole, "{} cut at {cut}", response.name);
        }
    }
}

/// What a client makes of a response, and whether its connection can be used again.
fn read(response: &Response) -> (String, bool) {
    let mut bytes = &response.bytes[..];
    let mut statuses = Vec::new();
    let (head, head_bytes) = loop {
        let mut head = ResponseHead::new();
        match HeadParser::new(HeadLimits::default()).parse(bytes, response.ends, &mut head) {
            Err(error) => return (format!("Head({error:?})"), false),
            Ok(Status::Partial) => return ("waits".to_owned(), false),
            Ok(Status::Complete { consumed }) => {
                let before = bytes;
                bytes = &bytes[consumed..];
                statuses.push(head.status.to_string());
                match head.status {
                    101 => return ("UnexpectedUpgrade".to_owned(), false),
                    100..=199 if statuses.len() > INTERIM => {
                        return ("TooManyInterim".to_owned(), false);
                    }
                    100..=199 => {}
                    _ => break (head, before),
                }
            }
        }
    };
    let framing = match framing(&head, head_bytes, response.method) {
        Ok(framing) => framing,
        Err(error) => return (error.to_owned(), false),
    };
    let status = statuses.join(", ");
    match body(framing, bytes) {
        Err(error) => (format!("{status} then {error}"), false),
        Ok((body, rest)) => {
            let quoted = if body.is_empty() {
                String::new()
            } else {
                format!(" \"{}\"", body.escape_ascii())
            };
            let again = framing != Framing::UntilEnd && rest.is_empty() && stays(&head, head_bytes);
            (status + &quoted, again)
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Framing {
    Length(u64),
    Chunked,
    UntilEnd,
}

/// RFC 9112, 6.3.
fn framing(head: &ResponseHead, bytes: &[u8], method: &str) -> Result<Framing, &'static str> {
    if method == "HEAD" || matches!(head.status, 204 | 304) {
        return Ok(Framing::Length(0));
    }
    let (mut length, mut codings) = (None, 0);
    for field in head.headers() {
        let (name, value) = (field.name.of(bytes), field.value.of(bytes));
        if name.eq_ignore_ascii_case(b"content-length") {
            let bytes = ContentLength::parse(value)
                .map_err(|_| "BadContentLength")?
                .bytes;
            if length.replace(bytes).is_some_and(|before| before != bytes) {
                return Err("BadContentLength");
            }
        } else if name.eq_ignore_ascii_case(b"transfer-encoding") {
            codings += TransferEncoding::parse(value)
                .ok()
                .filter(TransferEncoding::ends_in_chunked)
                .ok_or("BadTransferEncoding")?
                .len();
        }
    }
    match (codings, length) {
        (0, None) => Ok(Framing::UntilEnd),
        (0, Some(length)) => Ok(Framing::Length(length)),
        (1, None) if head.version == Version::Http11 => Ok(Framing::Chunked),
        (_, None) => Err("BadTransferEncoding"),
        (_, Some(_)) => Err("AmbiguousLength"),
    }
}

/// A body, and what is behind it.
fn body(framing: Framing, mut bytes: &[u8]) -> Result<(Vec<u8>, &[u8]), String> {
    let truncated = || "Truncated".to_owned();
    match framing {
        Framing::UntilEnd => return Ok((bytes.to_vec(), &[])),
        Framing::Length(length) => {
            let length = usize::try_from(length).unwrap_or(usize::MAX);
            let (body, rest) = bytes.split_at_checked(length).ok_or_else(truncated)?;
            return Ok((body.to_vec(), rest));
        }
        Framing::Chunked => {}
    }
    let mut body = Vec::new();
    loop {
        let line = ChunkParser::new(LINE_BYTES).parse(bytes);
        let line = line.map_err(|error| format!("Malformed(Chunk({error:?}))"))?;
        let line = line.ok_or_else(truncated)?;
        bytes = &bytes[line.consumed..];
        if line.size == 0 {
            let trailers = |error: HeadError| format!("Malformed(Trailers({error:?}))");
            let mut parser = TrailerParser::new(LINE_BYTES, 32);
            return match parser.parse(bytes, &mut Vec::new()).map_err(trailers)? {
                Status::Complete { consumed } => Ok((body, &bytes[consumed..])),
                Status::Partial => Err(truncated()),
            };
        }
        let size = usize::try_from(line.size).map_err(|_| truncated())?;
        let (data, rest) = bytes.split_at_checked(size).ok_or_else(truncated)?;
        body.extend_from_slice(data);
        bytes = match rest.strip_prefix(b"\r\n") {
            Some(rest) => rest,
            None if b"\r\n".starts_with(rest) => return Err(truncated()),
            None => return Err("Malformed(Chunk(BadEnd))".to_owned()),
        };
    }
}

/// RFC 9112, 9.3.
fn stays(head: &ResponseHead, bytes: &[u8]) -> bool {
    let says = |option: &[u8]| {
        let mut fields = head.headers().iter();
        fields.any(|field| {
            let mut options = field.value.of(bytes).split(|&byte| byte == b',');
            field.name.of(bytes).eq_ignore_ascii_case(b"connection")
                && options.any(|found| found.trim_ascii().eq_ignore_ascii_case(option))
        })
    };
    !says(b"close") && (head.version == Version::Http11 || says(b"keep-alive"))
}
