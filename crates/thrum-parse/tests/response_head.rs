//! The response head parser: what it takes, what it refuses, and that the chunks in which the bytes come make no
//! difference.

use proptest::prelude::*;
use thrum_parse::http::{
    HeadError, HeadLimits, HeadParser, ResponseHead, Status, Version, explain_head,
};

mod heads;
use heads::{
    damaged_and_cut, every_split_gives_the_same, fields, is_taken_at_every_level,
    is_the_same_in_pieces,
};

fn whole(bytes: &[u8]) -> (Result<Status, HeadError>, ResponseHead) {
    heads::whole(bytes)
}

const SERVER: &[u8] = b"HTTP/1.1 404 Not Found\r\nDate: Sat, 21 Nov 2026 09:30:00 GMT\r\n\
Server: thrum\r\nContent-Type: text/html; charset=utf-8\r\nContent-Length: 18432\r\n\
Set-Cookie: a=b\r\nSet-Cookie: c=d\r\nX-Empty:\r\n\r\n";

#[test]
fn a_server_s_response() {
    let (result, head) = whole(SERVER);
    let consumed = SERVER.len();
    assert_eq!(result, Ok(Status::Complete { consumed }));
    assert_eq!((head.version, head.status), (Version::Http11, 404));
    assert_eq!(head.reason.of(SERVER), b"Not Found");
    let fields: Vec<_> = head
        .headers()
        .iter()
        .map(|field| (field.name.of(SERVER), field.value.of(SERVER)))
        .collect();
    assert_eq!(fields.len(), 7);
    assert_eq!(fields[3], (&b"Content-Length"[..], &b"18432"[..]));
    assert_eq!(fields[5], (&b"Set-Cookie"[..], &b"c=d"[..]));
    assert_eq!(fields[6], (&b"X-Empty"[..], &b""[..]));
}

/// Heads that are right, with status, reason and number of fields, and where it is said that they are. Sections are those
/// of RFC 9112 unless it says otherwise.
#[rustfmt::skip] // one case a line
const RIGHT: &[(&str, u16, &str, usize, &str)] = &[
    ("HTTP/1.1 200 OK\r\n\r\n", 200, "OK", 0, "4"),
    ("HTTP/1.0 200 OK\r\n\r\n", 200, "OK", 0, "2.3"),
    ("HTTP/1.1 200 \r\n\r\n", 200, "", 0, "4: no reason, but its space"),
    ("HTTP/1.1 200\r\n\r\n", 200, "", 0, "not in 4, but often sent"),
    ("HTTP/1.1 200\r\nA: b\r\n\r\n", 200, "", 1, "not in 4, but often sent"),
    ("HTTP/1.0 404\r\n\r\n", 404, "", 0, "not in 4, but often sent"),
    ("HTTP/1.1 100 Continue\r\n\r\n", 100, "Continue", 0, "RFC 9110, 15.2"),
    ("HTTP/1.1 101 Switching Protocols\r\n\r\n", 101, "Switching Protocols", 0, "RFC 9110, 15.2.2"),
    ("HTTP/1.1 204 No Content\r\n\r\n", 204, "No Content", 0, "RFC 9110, 15.3.5"),
    ("HTTP/1.1 404 Not Found\r\n\r\n", 404, "Not Found", 0, "RFC 9110, 15.5.5"),
    ("HTTP/1.1 599 ?\r\n\r\n", 599, "?", 0, "RFC 9110, 15: the last valid one"),
    ("HTTP/1.1 600 ?\r\n\r\n", 600, "?", 0, "RFC 9110, 15: invalid, to be taken for a 5xx"),
    ("HTTP/1.1 999 ?\r\n\r\n", 999, "?", 0, "RFC 9110, 15: invalid, to be taken for a 5xx"),
    ("HTTP/1.1 200  OK\r\n\r\n", 200, " OK", 0, "4: SP is part of a reason"),
    ("HTTP/1.1 200   \r\n\r\n", 200, "  ", 0, "4: SP is part of a reason"),
    ("HTTP/1.1 200 \tOK\t\r\n\r\n", 200, "\tOK\t", 0, "4: HTAB is part of a reason"),
    ("HTTP/1.1 200 404 500\r\n\r\n", 200, "404 500", 0, "4: VCHAR"),
    ("HTTP/1.1 200 !~:;\"\\\r\n\r\n", 200, "!~:;\"\\", 0, "4: VCHAR"),
    ("HTTP/1.1 200 d\u{e9}j\u{e0} vu\r\n\r\n", 200, "d\u{e9}j\u{e0} vu", 0, "4: obs-text"),
    ("HTTP/1.1 200 OK\r\nA:b\r\n\r\n", 200, "OK", 1, "5: OWS is optional"),
    ("HTTP/1.1 200 OK\r\nA: \t b \t\r\n\r\n", 200, "OK", 1, "5"),
    ("HTTP/1.1 200 OK\r\nA:\r\n\r\n", 200, "OK", 1, "5: an empty value"),
    ("HTTP/1.1 200 OK\r\nA: \t\r\n\r\n", 200, "OK", 1, "5: an empty value"),
    ("HTTP/1.1 200 OK\r\nA: 1\r\nA: 2\r\n\r\n", 200, "OK", 2, "RFC 9110, 5.3"),
    ("HTTP/1.1 200 OK\r\n!#$%&'*+-.^_`|~09azAZ: b\r\n\r\n", 200, "OK", 1, "RFC 9110, 5.6.2"),
    ("HTTP/1.1 200 OK\r\nA: b\tc d\r\n\r\n", 200, "OK", 1, "RFC 9110, 5.5"),
    ("HTTP/1.1 200 OK\r\nA: \u{e9}\r\n\r\n", 200, "OK", 1, "RFC 9110, 5.5: obs-text"),
    ("HTTP/1.1 200 OK\r\nA: b: c\r\n\r\n", 200, "OK", 1, "RFC 9110, 5.5"),
];

/// Heads that are wrong, and the section that says so.
#[rustfmt::skip] // one case a line
const WRONG: &[(&str, HeadError, &str)] = {
    use HeadError::*;
    &[
        ("\r\nHTTP/1.1 200 OK\r\n\r\n", BadVersion, "2.2: an empty line is for servers to skip"),
        (" HTTP/1.1 200 OK\r\n\r\n", BadVersion, "4"),
        ("200 OK\r\n\r\n", BadVersion, "4"),
        ("ICY 200 OK\r\n\r\n", BadVersion, "2.3"),
        ("http/1.1 200 OK\r\n\r\n", BadVersion, "2.3: case-sensitive"),
        ("HTTPS/1.1 200 OK\r\n\r\n", BadVersion, "2.3"),
        ("HTTP 200 OK\r\n\r\n", BadVersion, "2.3"),
        ("HTTP/ 200 OK\r\n\r\n", BadVersion, "2.3"),
        ("HTTP/1 200 OK\r\n\r\n", BadVersion, "2.3"),
        ("HTTP/1. 200 OK\r\n\r\n", BadVersion, "2.3"),
        ("HTTP/1.10 200 OK\r\n\r\n", BadVersion, "2.3: one digit"),
        ("HTTP/11.1 200 OK\r\n\r\n", BadVersion, "2.3: one digit"),
        ("HTTP/1,1 200 OK\r\n\r\n", BadVersion, "2.3"),
        ("HTTP/1.1\t200 OK\r\n\r\n", BadVersion, "4: SP"),
        ("HTTP/1.1\r\n\r\n", BadVersion, "4: no status"),
        ("HTTP/2.0x 200 OK\r\n\r\n", BadVersion, "2.3"),
        ("HTTP/2.0 200 OK\r\n\r\n", UnsupportedVersion, "2.3"),
        ("HTTP/0.9 200 OK\r\n\r\n", UnsupportedVersion, "2.3"),
        ("HTTP/1.2 200 OK\r\n\r\n", UnsupportedVersion, "2.3"),
        ("HTTP/1.1  200 OK\r\n\r\n", BadStatus, "4: one SP"),
        ("HTTP/1.1 \t200 OK\r\n\r\n", BadStatus, "4"),
        ("HTTP/1.1 \r\n\r\n", BadStatus, "4"),
        ("HTTP/1.1 OK\r\n\r\n", BadStatus, "4"),
        ("HTTP/1.1 2\r\n\r\n", BadStatus, "4: 3DIGIT"),
        ("HTTP/1.1 20 OK\r\n\r\n", BadStatus, "4: 3DIGIT"),
        ("HTTP/1.1 2000 OK\r\n\r\n", BadStatus, "4: 3DIGIT"),
        ("HTTP/1.1 20x OK\r\n\r\n", BadStatus, "4: 3DIGIT"),
        ("HTTP/1.1 x00 OK\r\n\r\n", BadStatus, "4: 3DIGIT"),
        ("HTTP/1.1 -20 OK\r\n\r\n", BadStatus, "4: 3DIGIT"),
        ("HTTP/1.1 +200 OK\r\n\r\n", BadStatus, "4: 3DIGIT"),
        ("HTTP/1.1 2e2 OK\r\n\r\n", BadStatus, "4: 3DIGIT"),
        ("HTTP/1.1 000 OK\r\n\r\n", BadStatus, "RFC 9110, 15: from 100"),
        ("HTTP/1.1 099 OK\r\n\r\n", BadStatus, "RFC 9110, 15: from 100"),
        ("HTTP/1.1 200OK\r\n\r\n", BadStatus, "4: SP"),
        ("HTTP/1.1 200\tOK\r\n\r\n", BadStatus, "4: SP"),
        ("HTTP/1.1 200.1 OK\r\n\r\n", BadStatus, "4: a subcode"),
        ("HTTP/1.1 \u{662}\u{660}\u{660} OK\r\n\r\n", BadStatus, "4: digits are ASCII"),
        ("HTTP/1.1 200 O\0K\r\n\r\n", BadReason, "4"),
        ("HTTP/1.1 200 O\x1bK\r\n\r\n", BadReason, "4"),
        ("HTTP/1.1 200 OK\x7f\r\n\r\n", BadReason, "4"),
        ("HTTP/1.1 200 \x0b\r\n\r\n", BadReason, "4"),
        ("HTTP/1.1 200 OK\n\n", BareLf, "2.2"),
        ("HTTP/1.1 200 OK\nA: b\r\n\r\n", BareLf, "2.2"),
        ("HTTP/1.1 200 \n\r\n", BareLf, "2.2"),
        ("HTTP/1.1 200\n\r\n", BareLf, "2.2"),
        ("HTTP/1.1 20\n\r\n", BareLf, "2.2"),
        ("HTTP/1.1\n\r\n", BareLf, "2.2"),
        ("HTTP/1.1 200 OK\r\n\n", BareLf, "2.2"),
        ("HTTP/1.1 200 OK\r\nA: b\n\r\n", BareLf, "2.2"),
        ("HTTP/1.1 200 OK\rA: b\r\n\r\n", BareCr, "2.2"),
        ("HTTP/1.1 200\rOK\r\n\r\n", BareCr, "2.2"),
        ("HTTP/1.1 200 OK\r\r\n\r\n", BareCr, "2.2"),
        ("HTTP/1.1 200 OK\r\nA: b\rc\r\n\r\n", BareCr, "2.2"),
        ("HTTP/1.1 200 OK\r\n\rc\r\n", BareCr, "2.2"),
        ("HTTP/1.1 200 OK\r\nA : b\r\n\r\n", SpaceBeforeColon, "5.1"),
        ("HTTP/1.1 200 OK\r\nA\t: b\r\n\r\n", SpaceBeforeColon, "5.1"),
        ("HTTP/1.1 200 OK\r\n A: b\r\n\r\n", ObsFold, "2.2"),
        ("HTTP/1.1 200 OK\r\nA: b\r\n c\r\n\r\n", ObsFold, "5.2"),
        ("HTTP/1.1 200 OK\r\nA: b\r\n\tc\r\n\r\n", ObsFold, "5.2"),
        ("HTTP/1.1 200 OK\r\n: b\r\n\r\n", BadName, "RFC 9110, 5.1"),
        ("HTTP/1.1 200 OK\r\nA\r\n\r\n", BadName, "5"),
        ("HTTP/1.1 200 OK\r\nA(b): c\r\n\r\n", BadName, "RFC 9110, 5.6.2"),
        ("HTTP/1.1 200 OK\r\nA\0: b\r\n\r\n", BadName, "RFC 9110, 5.6.2"),
        ("HTTP/1.1 200 OK\r\n\u{e9}: b\r\n\r\n", BadName, "RFC 9110, 5.6.2"),
        ("HTTP/1.1 200 OK\r\nA: b\0\r\n\r\n", BadValue, "RFC 9110, 5.5"),
        ("HTTP/1.1 200 OK\r\nA: \x08\r\n\r\n", BadValue, "RFC 9110, 5.5"),
        ("HTTP/1.1 200 OK\r\nA: b\x7f\r\n\r\n", BadValue, "RFC 9110, 5.5"),
        ("", Truncated, "8"),
        ("HTTP/1.1 2", Truncated, "8"),
        ("HTTP/1.1 200", Truncated, "8"),
        ("HTTP/1.1 200 OK\r", Truncated, "8"),
        ("HTTP/1.1 200 OK\r\n", Truncated, "8"),
        ("HTTP/1.1 200 OK\r\nA: b\r\n", Truncated, "8"),
    ]
};

#[test]
fn what_is_taken() {
    for &(bytes, status, reason, fields, section) in RIGHT {
        let (result, head) = whole(bytes.as_bytes());
        let consumed = bytes.len();
        assert_eq!(
            result,
            Ok(Status::Complete { consumed }),
            "{bytes:?}: {section}"
        );
        let found = (
            head.status,
            head.reason.of(bytes.as_bytes()),
            head.headers().len(),
        );
        assert_eq!(
            found,
            (status, reason.as_bytes(), fields),
            "{bytes:?}: {section}"
        );
    }
}

#[test]
fn what_is_refused() {
    for &(bytes, error, section) in WRONG {
        assert_eq!(
            whole(bytes.as_bytes()).0,
            Err(error),
            "{bytes:?}: {section}"
        );
        assert!(explain_head::<ResponseHead>(bytes.as_bytes(), HeadLimits::default()).is_some());
    }
}

#[test]
fn every_split_of_every_head_gives_the_same() {
    let right = RIGHT.iter().map(|right| right.0);
    let wrong = WRONG.iter().map(|wrong| wrong.0);
    for bytes in right.chain(wrong) {
        every_split_gives_the_same::<ResponseHead>(bytes.as_bytes());
    }
    every_split_gives_the_same::<ResponseHead>(SERVER);
}

#[test]
fn limits_are_kept_whole_and_byte_by_byte() {
    let limits = HeadLimits {
        head_bytes: 200,
        fields: 3,
        target_bytes: 5, // nothing to do with a response
    };
    let fields = "HTTP/1.1 200 OK\r\nA: 1\r\nB: 2\r\nC: 3\r\n";
    for (bytes, expected) in [
        (format!("{fields}\r\n"), None),
        (format!("{fields}D: 4\r\n"), Some(HeadError::TooManyFields)),
        (
            format!("HTTP/1.1 200 {}", "r".repeat(187)),
            Some(HeadError::HeadTooLarge),
        ),
        (
            format!("HTTP/1.1 200 OK\r\nA: {}", "b".repeat(180)),
            Some(HeadError::HeadTooLarge),
        ),
        (format!("HTTP/1.1 200 {}\r\n\r\n", "r".repeat(183)), None),
        (
            format!("HTTP/1.1 200 {}\r\n\r\n", "r".repeat(184)),
            Some(HeadError::HeadTooLarge),
        ),
    ] {
        let bytes = bytes.as_bytes();
        let whole = HeadParser::new(limits).parse(bytes, false, &mut ResponseHead::new());
        assert_eq!(whole.err(), expected, "{}", bytes.escape_ascii());
        let (mut parser, mut head) = (HeadParser::new(limits), ResponseHead::new());
        let fed =
            (1..=bytes.len()).find_map(|end| parser.parse(&bytes[..end], false, &mut head).err());
        assert_eq!(fed, expected, "{}", bytes.escape_ascii());
    }
}

#[test]
fn one_parser_reads_one_head_after_the_other() {
    let (mut parser, mut head) = (HeadParser::new(HeadLimits::default()), ResponseHead::new());
    let pipeline = [
        b"HTTP/1.1 100 Continue\r\n\r\n",
        SERVER,
        b"HTTP/1.0 200\r\n\r\n",
    ]
    .concat();
    let mut rest = &pipeline[..];
    for (status, fields) in [(100, 0), (404, 7), (200, 0)] {
        let Ok(Status::Complete { consumed }) = parser.parse(rest, false, &mut head) else {
            panic!("a head is missing");
        };
        assert_eq!((head.status, head.headers().len()), (status, fields));
        rest = &rest[consumed..];
    }
    assert_eq!(parser.parse(rest, false, &mut head), Ok(Status::Partial));
    assert_eq!(head, ResponseHead::new(), "nothing is left of the last one");
}

#[test]
fn a_fault_is_explained() {
    let explained = |bytes: &[u8]| {
        let explanation = explain_head::<ResponseHead>(bytes, HeadLimits::default());
        explanation.expect("it is wrong").to_string()
    };
    assert_eq!(
        explained(b"HTTP/1.1 2x0 OK\r\n\r\n"),
        "1:11: expected [0-9] in a status code, found 'x'\n  HTTP/1.1 2x0 OK\n            ^"
    );
    assert_eq!(
        explained(b"HTTP/1.1\r\n\r\n"),
        "1:9: expected \" \" in an HTTP version, found '\\r'\n  HTTP/1.1\n          ^"
    );
}

/// Heads of any shape, all of them right.
fn heads() -> impl Strategy<Value = Vec<u8>> {
    let reason = "( [\t -~\u{e9}]{0,40})?";
    ("1\\.[01]", 100..=999u16, reason, fields("\r\n")).prop_map(
        |(version, status, reason, fields)| {
            format!("HTTP/{version} {status}{reason}\r\n{fields}\r\n").into_bytes()
        },
    )
}

proptest! {
    /// What is right is taken, whatever instructions read it, and httparse agrees.
    #[test]
    fn right_heads_are_taken(bytes in heads()) {
        let mut storage = [httparse::EMPTY_HEADER; 100];
        let theirs = httparse::Response::new(&mut storage).parse(&bytes);
        prop_assert_eq!(theirs, Ok(httparse::Status::Complete(bytes.len())));
        is_taken_at_every_level::<ResponseHead>(&bytes)?;
    }

    /// However the bytes are split, the answer is that for the whole: value, error, and how much was consumed.
    #[test]
    fn splits_make_no_difference((bytes, ends) in damaged_and_cut(heads())) {
        is_the_same_in_pieces::<ResponseHead>(&bytes, ends)?;
    }

    /// What we take, httparse takes, and with the same parts. (It takes more: bare LF, for one.)
    #[test]
    fn agrees_with_httparse((bytes, _) in damaged_and_cut(heads())) {
        let (result, head) = whole(&bytes);
        if let Ok(Status::Complete { consumed }) = result {
            let mut storage = [httparse::EMPTY_HEADER; 100];
            let mut other = httparse::Response::new(&mut storage);
            prop_assert_eq!(other.parse(&bytes), Ok(httparse::Status::Complete(consumed)));
            prop_assert_eq!(other.code, Some(head.status));
            let reason = head.reason.of(&bytes);
            // It doesn't show a reason that is not ASCII.
            if reason.is_ascii() {
                prop_assert_eq!(other.reason.unwrap().as_bytes(), reason);
            }
            prop_assert_eq!(other.headers.len(), head.headers().len());
            for (ours, theirs) in head.headers().iter().zip(other.headers.iter()) {
                prop_assert_eq!(ours.name.of(&bytes), theirs.name.as_bytes());
                prop_assert_eq!(ours.value.of(&bytes), theirs.value);
            }
        }
    }

    #[test]
    fn anything_at_all_is_no_panic(bytes in any::<Vec<u8>>(), eof: bool) {
        let _ = HeadParser::new(HeadLimits::default()).parse(&bytes, eof, &mut ResponseHead::new());
    }
}
