//! The parser of what CGI programs answer: what it takes, what it refuses, what the answer means, and that the chunks in
//! which the bytes come make no difference. Sections are those of RFC 3875 unless it says otherwise.

use proptest::prelude::*;
use thrum_parse::http::{
    CgiError, CgiHead, CgiResponse, HeadError, HeadLimits, HeadParser, Status, explain_head,
};

mod heads;
use heads::{
    damaged_and_cut, every_split_gives_the_same, fed, fields, is_taken_at_every_level,
    is_the_same_in_pieces,
};

fn whole(bytes: &[u8]) -> (Result<Status, HeadError>, CgiHead) {
    heads::whole(bytes)
}

/// A response in words: its kind and its parts.
fn said(response: CgiResponse, bytes: &[u8]) -> String {
    let text = |span: thrum_parse::Span| String::from_utf8_lossy(span.of(bytes)).into_owned();
    match response {
        CgiResponse::Document {
            content_type,
            status,
        } => match status {
            None => format!("document {}", text(content_type)),
            Some(status) => {
                let reason = text(status.reason);
                format!("document {} {} [{reason}]", text(content_type), status.code)
            }
        },
        CgiResponse::LocalRedirect { target } => format!("local {}", text(target)),
        CgiResponse::ClientRedirect { uri } => format!("client {}", text(uri)),
        CgiResponse::ClientRedirectDocument {
            uri,
            status,
            content_type,
        } => {
            format!(
                "client {} {} {}",
                text(uri),
                status.code,
                text(content_type)
            )
        }
    }
}

/// Heads that are an answer, which one, and how many other fields there are.
#[rustfmt::skip] // one case a line
const RIGHT: &[(&str, &str, usize, &str)] = &[
    ("Content-Type: text/plain\n\n", "document text/plain", 0, "6.2.1"),
    ("Content-Type: text/plain\r\n\r\n", "document text/plain", 0, "7.2: CR LF"),
    ("Content-Type: text/plain\r\n\n", "document text/plain", 0, "7.2: either, line by line"),
    ("Content-Type: text/plain\n\r\n", "document text/plain", 0, "7.2: either, line by line"),
    ("content-TYPE: text/plain\n\n", "document text/plain", 0, "6.3: case makes no difference"),
    ("Content-Type:text/plain\n\n", "document text/plain", 0, "6.3: space is allowed, not asked for"),
    ("Content-Type: \t text/plain \t\n\n", "document text/plain", 0, "6.3"),
    ("Content-Type: text/html; charset=utf-8\n\n", "document text/html; charset=utf-8", 0, "6.3.1"),
    ("Content-Type: a/b\nStatus: 200 OK\n\n", "document a/b 200 [OK]", 0, "6.3.3"),
    ("Status: 404 Not Found\nContent-Type: a/b\n\n", "document a/b 404 [Not Found]", 0, "6.3: in any order"),
    ("STATUS: 501 No\r\nContent-Type: a/b\r\n\r\n", "document a/b 501 [No]", 0, "6.3.3"),
    ("Content-Type: a/b\nStatus: 200 \n\n", "document a/b 200 []", 0, "6.3.3: an empty reason"),
    ("Content-Type: a/b\nStatus: 200\n\n", "document a/b 200 []", 0, "not in 6.3.3, but often sent"),
    ("Content-Type: a/b\nStatus: 200\r\n\n", "document a/b 200 []", 0, "not in 6.3.3, but often sent"),
    ("Content-Type: a/b\nStatus:200 a b \t\n\n", "document a/b 200 [a b]", 0, "6.3.3"),
    ("Content-Type: a/b\nStatus: 299 \u{e9}\n\n", "document a/b 299 [\u{e9}]", 0, "6.3.3: TEXT"),
    ("Content-Type: a/b\nStatus: 999 x\n\n", "document a/b 999 [x]", 0, "6.3.3: extension-code"),
    ("Content-Type: a/b\nStatus:\n\n", "document a/b", 0, "6.3: NULL is as not sent"),
    ("Content-Type: a/b\nStatus: \t\r\n\n", "document a/b", 0, "6.3: NULL is as not sent"),
    ("Content-Type:\nContent-Type: a/b\n\n", "document a/b", 0, "6.3: NULL is as not sent"),
    ("Content-Type: a/b\nStatus: 200 OK\nStatus:\n\n", "document a/b 200 [OK]", 0, "6.3: NULL is as not sent"),
    ("Content-Type: a/b\nLocation:\n\n", "document a/b", 0, "6.3: NULL is as not sent"),
    ("Content-Type: a/b\nX:\n\n", "document a/b", 0, "6.3: NULL is as not sent"),
    ("Content-Type: a/b\nX: y\n\n", "document a/b", 1, "6.3.4"),
    ("X: y\nSet-Cookie: a=b\nSet-Cookie: c=d\nContent-Type: a/b\n\n", "document a/b", 3, "6.3.4"),
    ("Content-Type: a/b\nX-CGI-Y: z\n\n", "document a/b", 1, "6.3.5"),
    ("Content-Type: a/b\nX: \u{e9}\n\n", "document a/b", 1, "RFC 9110, 5.5: obs-text"),
    ("Location: /a\n\n", "local /a", 0, "6.2.2"),
    ("LOCATION:/\r\n\r\n", "local /", 0, "6.2.2"),
    ("Location: /a/b%20c?d=e&f=/?\n\n", "local /a/b%20c?d=e&f=/?", 0, "6.3.2: local-pathquery"),
    ("Location: //a/b\n\n", "local //a/b", 0, "3.3: a segment may be empty"),
    ("Location: /a\nStatus:\nX:\n\n", "local /a", 0, "6.3: NULL is as not sent"),
    ("Location: http://a/\n\n", "client http://a/", 0, "6.2.3"),
    ("Location: https://a.example/b?c#d\n\n", "client https://a.example/b?c#d", 0, "6.3.2: fragment-URI"),
    ("Location: mailto:a@b\n\n", "client mailto:a@b", 0, "6.3.2: any scheme"),
    ("Location: x-a.b+1:c\n\n", "client x-a.b+1:c", 0, "RFC 3986, 3.1"),
    ("Location: http://a/\nx-cgi-b: c\n\n", "client http://a/", 1, "6.2.3: extension-field"),
    ("Location: http://a/\nStatus: 302 Found\nContent-Type: a/b\n\n", "client http://a/ 302 a/b", 0, "6.2.4"),
    ("Status: 301 x\nX: y\nContent-Type: a/b\nLocation: http://a/\n\n", "client http://a/ 301 a/b", 1, "6.2.4"),
    ("Location: http://a/\nStatus: 308\nContent-Type: a/b\n\n", "client http://a/ 308 a/b", 0, "6.2.4: extension-code"),
];

/// Heads whose fields are right, but no answer together.
#[rustfmt::skip]
const NO_ANSWER: &[(&str, CgiError, &str)] = {
    use CgiError::*;
    &[
        ("\n", NoContentType, "6.2: at least one field"),
        ("\r\n", NoContentType, "6.2: at least one field"),
        ("X: y\n\n", NoContentType, "6.2.1"),
        ("Status: 204 No Content\n\n", NoContentType, "6.2.1"),
        ("Content-Type:\n\n", NoContentType, "6.3: NULL is as not sent"),
        ("Location: a\n\n", BadLocation, "6.3.2: neither / nor a scheme"),
        ("Location: a/b:c\n\n", BadLocation, "6.3.2"),
        ("Location: 1a:b\n\n", BadLocation, "RFC 3986, 3.1"),
        ("Location: :b\n\n", BadLocation, "RFC 3986, 3.1"),
        ("Location: http:\n\n", BadLocation, "6.3.2: nothing behind the scheme"),
        ("Location: ?a\n\n", BadLocation, "6.3.2"),
        ("Location: /a#b\n\n", BadLocation, "6.3.2: a local one has no fragment"),
        ("Location: /a b\n\n", BadLocation, "6.3.2: a space"),
        ("Location: http://a/ b\n\n", BadLocation, "6.3.2: a space"),
        ("Location: /\u{e9}\n\n", BadLocation, "6.3.2: not ASCII"),
        ("Location: http://\u{e9}/\n\n", BadLocation, "6.3.2: not ASCII"),
        ("Location: /a\nStatus: 302 Found\n\n", LocalRedirectWithFields, "6.2.2"),
        ("Location: /a\nContent-Type: a/b\n\n", LocalRedirectWithFields, "6.2.2"),
        ("Location: /a\nX: y\n\n", LocalRedirectWithFields, "6.2.2"),
        ("Location: /a\nX-CGI-Y: z\n\n", LocalRedirectWithFields, "6.2.2"),
        ("Location: http://a/\nSet-Cookie: b=c\n\n", ClientRedirectWithFields, "6.2.3"),
        ("Location: http://a/\nX-CGI-B: c\nX-CG: d\n\n", ClientRedirectWithFields, "6.2.3"),
        ("Location: http://a/\nStatus: 302 Found\n\n", ClientRedirectWithoutContentType, "6.2.4"),
        ("Location: http://a/\nContent-Type: a/b\n\n", ClientRedirectWithoutStatus, "6.2.4"),
        ("Location: http://a/\nContent-Type: a/b\nStatus: 200 OK\n\n", StatusIsNoRedirection, "6.2.4"),
        ("Location: http://a/\nContent-Type: a/b\nStatus: 299\n\n", StatusIsNoRedirection, "6.2.4"),
        ("Location: http://a/\nContent-Type: a/b\nStatus: 400\n\n", StatusIsNoRedirection, "6.2.4"),
    ]
};

/// Heads that are refused.
#[rustfmt::skip]
const WRONG: &[(&str, HeadError, &str)] = {
    use HeadError::*;
    &[
        ("Status: 20 OK\n\n", BadStatus, "6.3.3: 3digit"),
        ("Status: 20\n\n", BadStatus, "6.3.3: 3digit"),
        ("Status: 2000 OK\n\n", BadStatus, "6.3.3: 3digit"),
        ("Status: OK\n\n", BadStatus, "6.3.3"),
        ("Status: HTTP/1.1 200 OK\n\n", BadStatus, "6.3.3"),
        ("Status: 200OK\n\n", BadStatus, "6.3.3: SP"),
        ("Status: 200\tOK\n\n", BadStatus, "6.3.3: SP"),
        ("Status: 099 x\n\n", BadStatus, "RFC 9110, 15: from 100"),
        ("Status: 200 O\0K\n\n", BadReason, "6.3.3: TEXT"),
        ("Status: 200 O\x7fK\n\n", BadReason, "6.3.3: TEXT"),
        ("Status: 200 OK\rX: y\n\n", BareCr, "7.2"),
        ("Status: 200\r: y\n\n", BareCr, "7.2"),
        ("Status: 200 OK\nStatus: 200 OK\n\n", DuplicateField, "6.3"),
        ("Content-Type: a/b\ncontent-type: a/b\n\n", DuplicateField, "6.3"),
        ("Location: /a\nX: y\nLocation: /b\n\n", DuplicateField, "6.3"),
        ("X : y\n\n", SpaceBeforeColon, "6.3: no space before the colon"),
        ("X\t: y\n\n", SpaceBeforeColon, "6.3: no space before the colon"),
        (" X: y\n\n", ObsFold, "6.3: no continuation lines"),
        ("X: y\n z\n\n", ObsFold, "6.3: no continuation lines"),
        ("X: y\r\n\tz\r\n\r\n", ObsFold, "6.3: no continuation lines"),
        (": y\n\n", BadName, "6.3"),
        ("X\n\n", BadName, "6.3"),
        ("X\r\n\r\n", BadName, "6.3"),
        ("<html>\n\n", BadName, "6.3: a document without a head"),
        ("HTTP/1.1 200 OK\n\n", BadName, "5: that is for nph- programs"),
        ("\u{e9}: y\n\n", BadName, "6.3: token"),
        ("X: y\0\n\n", BadValue, "6.3"),
        ("X: \x1b[1m\n\n", BadValue, "6.3"),
        ("X: y\x7f\n\n", BadValue, "6.3"),
        ("X: y\rz\n\n", BareCr, "7.2"),
        ("X: y\r\r\n\n", BareCr, "7.2"),
        ("X: y\n\rz", BareCr, "7.2"),
        ("Status:\rX\n\n", BareCr, "7.2"),
        ("", Truncated, "6.2"),
        ("X", Truncated, "6.2"),
        ("Content-Type: a/b\n", Truncated, "6.2: the empty line is missing"),
        ("Content-Type: a/b\n\r", Truncated, "6.2: the empty line is missing"),
        ("Status: 200", Truncated, "6.2: the empty line is missing"),
    ]
};

#[test]
fn answers() {
    for &(text, expected, others, section) in RIGHT {
        let bytes = text.as_bytes();
        let (result, head) = whole(bytes);
        let consumed = bytes.len();
        assert_eq!(
            result,
            Ok(Status::Complete { consumed }),
            "{text:?}: {section}"
        );
        let response = head.response(bytes).map(|response| said(response, bytes));
        assert_eq!(response.as_deref(), Ok(expected), "{text:?}: {section}");
        assert_eq!(head.headers().len(), others, "{text:?}: {section}");
    }
}

#[test]
fn fields_that_are_no_answer_together() {
    for &(text, error, section) in NO_ANSWER {
        let (result, head) = whole(text.as_bytes());
        assert!(result.is_ok(), "{text:?}: {section}");
        assert_eq!(
            head.response(text.as_bytes()),
            Err(error),
            "{text:?}: {section}"
        );
    }
}

#[test]
fn what_is_refused() {
    for &(text, error, section) in WRONG {
        assert_eq!(whole(text.as_bytes()).0, Err(error), "{text:?}: {section}");
        assert!(explain_head::<CgiHead>(text.as_bytes(), HeadLimits::default()).is_some());
    }
}

#[test]
fn every_split_of_every_head_gives_the_same() {
    let right = RIGHT.iter().map(|right| right.0);
    let no_answer = NO_ANSWER.iter().map(|no_answer| no_answer.0);
    let wrong = WRONG.iter().map(|wrong| wrong.0);
    for bytes in right.chain(no_answer).chain(wrong) {
        every_split_gives_the_same::<CgiHead>(bytes.as_bytes());
    }
}

#[test]
fn the_document_is_left_alone() {
    let bytes = b"Content-Type: text/plain\r\n\r\n\nX: y\n\n";
    let (result, head) = whole(bytes);
    assert_eq!(result, Ok(Status::Complete { consumed: 28 }));
    assert!(head.headers().is_empty());
}

#[test]
fn a_program_that_s_been_read_leaves_nothing_to_the_next() {
    let (mut parser, mut head) = (HeadParser::new(HeadLimits::default()), CgiHead::new());
    let first = b"Content-Type: a/b\nStatus: 200 OK\nX: y\n\n";
    assert!(parser.parse(first, true, &mut head).is_ok());
    assert!(parser.parse(b"Location: /a\n\n", true, &mut head).is_ok());
    assert_eq!(
        (head.content_type, head.status, head.headers()),
        (None, None, &[][..])
    );
}

#[test]
fn limits_are_kept_whole_and_byte_by_byte() {
    let limits = HeadLimits {
        head_bytes: 100,
        fields: 3,
        target_bytes: 5, // nothing to do with a program's answer
    };
    use HeadError::*;
    for (bytes, expected) in [
        ("Content-Type: a/b\nA: 1\nB: 2\n\n".to_owned(), None),
        (
            "Content-Type: a/b\nA: 1\nB: 2\nC: 3\n".to_owned(),
            Some(TooManyFields),
        ),
        (
            "Status: 200\nLocation: a\nA: 1\nB: 2\n".to_owned(),
            Some(TooManyFields),
        ),
        (format!("A: {}\n\n", "b".repeat(95)), None),
        (format!("A: {}\n\n", "b".repeat(96)), Some(HeadTooLarge)),
        (format!("A: {}", "b".repeat(100)), Some(HeadTooLarge)),
        ("A:\n".repeat(40), Some(HeadTooLarge)),
    ] {
        let bytes = bytes.as_bytes();
        let whole = HeadParser::new(limits).parse(bytes, false, &mut CgiHead::new());
        assert_eq!(whole.err(), expected, "{}", bytes.escape_ascii());
        let (mut parser, mut head) = (HeadParser::new(limits), CgiHead::new());
        let fed =
            (1..=bytes.len()).find_map(|end| parser.parse(&bytes[..end], false, &mut head).err());
        assert_eq!(fed, expected, "{}", bytes.escape_ascii());
    }
}

/// Heads of any shape, all of them right.
fn heads() -> impl Strategy<Value = Vec<u8>> {
    let location = "(Location: (/|http://)[!-~]{0,40}\r?\n)?";
    let status = "(Status: [1-9][0-9]{2}( [ -~]{0,20})?\r?\n)?";
    let content_type = "(Content-Type: [a-z]{1,9}/[a-z]{1,9}\r?\n)?";
    let other = (fields("\n"), fields("\r\n"));
    let unlike = |fields: &str| {
        let names = ["location:", "status:", "content-type:"];
        !names
            .iter()
            .any(|name| fields.to_ascii_lowercase().contains(name))
    };
    (location, other, status, content_type)
        .prop_filter("CGI fields occur once", move |(_, (a, b), ..)| {
            unlike(a) && unlike(b)
        })
        .prop_map(|(location, (a, b), status, content_type)| {
            format!("{location}{a}{status}{b}{content_type}\n").into_bytes()
        })
}

proptest! {
    /// What is right is taken, whatever instructions read it.
    #[test]
    fn right_heads_are_taken(bytes in heads()) {
        is_taken_at_every_level::<CgiHead>(&bytes)?;
    }

    /// However the bytes are split, the answer is that for the whole: value, error, and how much was consumed.
    #[test]
    fn splits_make_no_difference((bytes, ends) in damaged_and_cut(heads())) {
        is_the_same_in_pieces::<CgiHead>(&bytes, ends.clone())?;
        let (result, head) = fed::<CgiHead>(&bytes, ends);
        if matches!(result, Ok(Status::Complete { .. })) {
            prop_assert_eq!(head.response(&bytes), whole(&bytes).1.response(&bytes));
        }
    }

    /// Line ends make no difference to what is said.
    #[test]
    fn line_ends_make_no_difference((bytes, _) in damaged_and_cut(heads())) {
        let text = String::from_utf8_lossy(&bytes).replace("\r\n", "\n");
        let crlf = text.replace('\n', "\r\n");
        let answer = |text: &str| {
            let (result, head) = whole(text.as_bytes());
            let response = head.response(text.as_bytes());
            (result.map(|_| ()), response.map(|response| said(response, text.as_bytes())))
        };
        prop_assert_eq!(answer(&text).0, answer(&crlf).0);
        if answer(&text).0.is_ok() {
            prop_assert_eq!(answer(&text).1, answer(&crlf).1);
        }
    }

    #[test]
    fn anything_at_all_is_no_panic(bytes in any::<Vec<u8>>(), eof: bool) {
        let mut head = CgiHead::new();
        let _ = HeadParser::new(HeadLimits::default()).parse(&bytes, eof, &mut head);
        let _ = head.response(&bytes);
    }
}
