//! A connection of the server, HTTP/1.1: no bytes make it panic, go on for ever, or say what is no response; and however they
//! are cut, the responses are the same.
//!
//! The first byte of the input says how it is cut.
#![no_main]

use std::time::Duration;

use http::Method;
use libfuzzer_sys::fuzz_target;
use thrum_parse::http::{ChunkParser, HeadLimits, HeadParser, ResponseHead, Status, TrailerParser};

mod connections;

use connections::{Heard, talk};

fuzz_target!(|input: &[u8]| {
    let Some((&size, bytes)) = input.split_first() else {
        return;
    };
    if bytes.starts_with(b"PRI ") {
        return; // HTTP/2 has a target of its own
    }
    let size = usize::from(size).max(1);
    let whole = responses(&talk(bytes, bytes.len().max(1), Duration::ZERO));
    // Too short for any timeout.
    let pieces = responses(&talk(bytes, size, Duration::from_millis(1)));
    // A client that waits for a 100 but has sent the body all the same gets none, and other clients that do not wait.
    if !contains(bytes, b"100-continue") {
        assert_eq!(whole, pieces, "in pieces of {size}");
    }
    // Too long for some.
    responses(&talk(bytes, size, Duration::from_secs(9)));
});

fn contains(bytes: &[u8], word: &[u8]) -> bool {
    bytes
        .windows(word.len())
        .any(|window| window.eq_ignore_ascii_case(word))
}

/// A response that is not interim.
#[derive(Debug, PartialEq)]
struct Answer {
    status: u16,
    fields: Vec<(Vec<u8>, Vec<u8>)>,
    /// `None`: it is cut short, or ends with the connection, and then nobody can tell.
    body: Option<Vec<u8>>,
}

/// Takes apart what a server has said, which must be responses and nothing else.
fn responses(heard: &Heard) -> Vec<Answer> {
    let mut rest = &heard.bytes[..];
    let mut answers = Vec::new();
    while !rest.is_empty() {
        let mut head = ResponseHead::new();
        let parsed = HeadParser::new(HeadLimits::default()).parse(rest, true, &mut head);
        let Ok(Status::Complete { consumed }) = parsed else {
            panic!("{parsed:?} of {}", rest.escape_ascii());
        };
        let (bytes, behind) = rest.split_at(consumed);
        rest = behind;
        let fields = head.headers().iter();
        let mut fields: Vec<_> = fields
            .map(|field| {
                let name = field.name.of(bytes).to_ascii_lowercase();
                (name, field.value.of(bytes).to_vec())
            })
            .collect();
        fields.retain(|(name, _)| name != b"date");
        if head.status == 101 {
            assert!(rest.is_empty());
        }
        if head.status < 200 {
            continue;
        }
        // There is none of a request that was refused.
        let method = heard.methods.get(answers.len());
        let body = body(&mut rest, head.status, &fields, method);
        assert!(body.is_some() || rest.is_empty(), "bytes behind the end");
        answers.push(Answer {
            status: head.status,
            fields,
            body,
        });
    }
    let handled = heard.methods.len();
    assert!(answers.len() <= handled + 1, "more responses than requests");
    answers
}

fn body(
    rest: &mut &[u8],
    status: u16,
    fields: &[(Vec<u8>, Vec<u8>)],
    method: Option<&Method>,
) -> Option<Vec<u8>> {
    let field = |wanted: &[u8]| {
        let mut values = fields.iter().filter(|(name, _)| name == wanted);
        let value = values.next().map(|(_, value)| &value[..]);
        assert!(values.next().is_none(), "twice: {}", wanted.escape_ascii());
        value
    };
    let (length, coding) = (field(b"content-length"), field(b"transfer-encoding"));
    assert!(length.is_none() || coding.is_none(), "two lengths");
    let is_head = method == Some(&Method::HEAD);
    // A HEAD that is refused is the last.
    if is_head || status == 204 || status == 304 || (method.is_none() && rest.is_empty()) {
        return Some(Vec::new());
    }
    if let Some(coding) = coding {
        assert_eq!(coding, b"chunked");
        return chunks(rest);
    }
    let Some(length) = length else {
        assert_eq!(field(b"connection"), Some(&b"close"[..]));
        *rest = &[];
        return None;
    };
    let length: usize = str::from_utf8(length).unwrap().parse().unwrap();
    let Some((body, behind)) = rest.split_at_checked(length) else {
        *rest = &[];
        return None;
    };
    *rest = behind;
    Some(body.to_vec())
}

fn chunks(rest: &mut &[u8]) -> Option<Vec<u8>> {
    let mut all = Vec::new();
    loop {
        let line = ChunkParser::new(64).parse(rest).expect("a chunk line");
        let Some(line) = line else {
            *rest = &[];
            return None;
        };
        *rest = &rest[line.consumed..];
        if line.size == 0 {
            break;
        }
        let Some((data, behind)) = rest.split_at_checked(line.size as usize) else {
            *rest = &[];
            return None;
        };
        all.extend_from_slice(data);
        *rest = behind;
        match rest.strip_prefix(b"\r\n") {
            Some(behind) => *rest = behind,
            None => {
                assert!(b"\r\n".starts_with(rest));
                *rest = &[];
                return None;
            }
        }
    }
    let mut fields = Vec::new();
    match TrailerParser::new(256, 8).parse(rest, &mut fields) {
        Ok(Status::Complete { consumed }) => *rest = &rest[consumed..],
        other => panic!("{other:?} of {}", rest.escape_ascii()),
    }
    Some(all)
}
