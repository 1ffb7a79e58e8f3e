//! The request head parser: what it takes, what it refuses, and that the chunks in which the bytes come make no difference.

use proptest::prelude::*;
use thrum_parse::http::{HeadError, HeadLimits, HeadParser, RequestHead, Status, Version};

mod heads;
use heads::{
    damaged_and_cut, every_split_gives_the_same, fields, is_taken_at_every_level,
    is_the_same_in_pieces,
};

fn whole(bytes: &[u8]) -> (Result<Status, HeadError>, RequestHead) {
    heads::whole(bytes)
}

const BROWSER: &[u8] = b"GET /search?q=thrum&lang=en HTTP/1.1\r\nHost: www.example.org\r\n\
User-Agent: Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0\r\n\
Accept: text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8\r\n\
Accept-Language: en-US,en;q=0.5\r\nAccept-Encoding: gzip, deflate, br, zstd\r\n\
Connection: keep-alive\r\nCookie: session=0123456789abcdef; theme=dark\r\n\r\n";

#[test]
fn a_browser_s_request() {
    let (result, head) = whole(BROWSER);
    assert_eq!(
        result,
        Ok(Status::Complete {
            consumed: BROWSER.len()
        })
    );
    assert_eq!(head.method.of(BROWSER), b"GET");
    assert_eq!(head.target.of(BROWSER), b"/search?q=thrum&lang=en");
    assert_eq!(head.version, Version::Http11);
    let names: Vec<_> = head
        .headers()
        .iter()
        .map(|field| field.name.of(BROWSER))
        .collect();
    assert_eq!(names[0], b"Host");
    assert_eq!(names.len(), 7);
    assert_eq!(
        head.headers()[6].value.of(BROWSER),
        b"session=0123456789abcdef; theme=dark"
    );
}

#[test]
fn what_is_taken_and_what_is_refused() {
    let complete = |bytes: &str| {
        Ok(Status::Complete {
            consumed: bytes.len(),
        })
    };
    for ok in [
        "GET / HTTP/1.1\r\n\r\n",
        "\r\nGET / HTTP/1.1\r\n\r\n",
        "GET / HTTP/1.0\r\nA:\r\n\r\n",
        "GET / HTTP/1.1\r\nA: \t b \t\r\n\r\n",
        "!#$%&'*+-.^_`|~09azAZ * HTTP/1.1\r\n\r\n",
        "GET / HTTP/1.1\r\nA: \u{e9}\r\n\r\n",
    ] {
        assert_eq!(whole(ok.as_bytes()).0, complete(ok), "{ok:?}");
    }
    use HeadError::*;
    for (bad, error) in [
        ("\r\n\r\nGET / HTTP/1.1\r\n\r\n", BadMethod),
        (" GET / HTTP/1.1\r\n\r\n", BadMethod),
        ("G(T / HTTP/1.1\r\n\r\n", BadMethod),
        ("GET\t/ HTTP/1.1\r\n\r\n", BadMethod),
        ("GET  / HTTP/1.1\r\n\r\n", BadTarget),
        ("GET /\u{e9} HTTP/1.1\r\n\r\n", BadTarget),
        ("GET /a\0b HTTP/1.1\r\n\r\n", BadTarget),
        ("GET / \r\n\r\n", BadVersion),
        ("GET / http/1.1\r\n\r\n", BadVersion),
        ("GET / HTTP/1.1 \r\n\r\n", BadVersion),
        ("GET / HTTP/11.1\r\n\r\n", BadVersion),
        ("GET /\r\n\r\n", BadVersion),
        ("GET / HTTP/2.0\r\n\r\n", UnsupportedVersion),
        ("GET / HTTP/1.2\r\n\r\n", UnsupportedVersion),
        ("GET / HTTP/1.1\n\n", BareLf),
        ("GET / HTTP/1.1\r\nA: b\n\r\n", BareLf),
        ("GET / HTTP/1.1\r\nA: b\rc\r\n\r\n", BareCr),
        ("GET / HTTP/1.1\r\nA: b\r\n\rc\r\n", BareCr),
        ("GET / HTTP/1.1\r\nA : b\r\n\r\n", SpaceBeforeColon),
        ("GET / HTTP/1.1\r\n: b\r\n\r\n", BadName),
        ("GET / HTTP/1.1\r\nA\r\n\r\n", BadName),
        ("GET / HTTP/1.1\r\nA(: b\r\n\r\n", BadName),
        ("GET / HTTP/1.1\r\nA: b\r\n c\r\n\r\n", ObsFold),
        ("GET / HTTP/1.1\r\n A: b\r\n\r\n", ObsFold),
        ("GET / HTTP/1.1\r\nA: b\0\r\n\r\n", BadValue),
        ("GET / HTTP/1.1\r\nA: b\x7f\r\n\r\n", BadValue),
    ] {
        assert_eq!(whole(bad.as_bytes()).0, Err(error), "{bad:?}");
    }
}

#[test]
fn limits_are_kept_before_the_head_is_complete() {
    let limits = HeadLimits {
        head_bytes: 200,
        fields: 3,
        target_bytes: 50,
    };
    let parse = |bytes: &[u8]| HeadParser::new(limits).parse(bytes, false, &mut RequestHead::new());
    let long_target = format!("GET /{}", "a".repeat(60));
    assert_eq!(parse(long_target.as_bytes()), Err(HeadError::TargetTooLong));
    assert_eq!(
        parse(format!("{long_target} HTTP/1.1\r\n\r\n").as_bytes()),
        Err(HeadError::TargetTooLong)
    );
    let long_value = format!("GET / HTTP/1.1\r\nA: {}", "a".repeat(300));
    assert_eq!(parse(long_value.as_bytes()), Err(HeadError::HeadTooLarge));
    assert_eq!(
        parse(format!("{long_value}\r\n\r\n").as_bytes()),
        Err(HeadError::HeadTooLarge)
    );
    let fields = "GET / HTTP/1.1\r\nA: 1\r\nB: 2\r\nC: 3\r\n";
    assert!(parse(format!("{fields}\r\n").as_bytes()).is_ok());
    assert_eq!(
        parse(format!("{fields}D: 4\r\n").as_bytes()),
        Err(HeadError::TooManyFields)
    );
}

#[test]
fn limits_are_kept_byte_by_byte() {
    let limits = HeadLimits {
        head_bytes: 200,
        fields: 3,
        target_bytes: 50,
    };
    let feed = |bytes: &[u8]| {
        let (mut parser, mut head) = (HeadParser::new(limits), RequestHead::new());
        (1..=bytes.len()).find_map(|end| parser.parse(&bytes[..end], false, &mut head).err())
    };
    assert_eq!(
        feed(format!("GET /{}", "a".repeat(300)).as_bytes()),
        Some(HeadError::TargetTooLong)
    );
    let long_value = format!("GET / HTTP/1.1\r\nA: {}", "a".repeat(300));
    assert_eq!(feed(long_value.as_bytes()), Some(HeadError::HeadTooLarge));
}

#[test]
fn a_limit_that_is_just_kept_is_kept_byte_by_byte() {
    let bytes = b"GET /234567 HTTP/1.1\r\nA: 1\r\nB: 2\r\n\r\n";
    let limits = HeadLimits {
        head_bytes: bytes.len(),
        fields: 2,
        target_bytes: 7,
    };
    let (mut parser, mut head) = (HeadParser::new(limits), RequestHead::new());
    for end in 0..bytes.len() {
        let status = parser.parse(&bytes[..end], false, &mut head);
        assert_eq!(status, Ok(Status::Partial), "after {end} bytes");
    }
    assert!(matches!(
        parser.parse(bytes, false, &mut head),
        Ok(Status::Complete { .. })
    ));
}

#[test]
fn the_end_of_the_input_within_a_head_is_an_error() {
    let mut head = RequestHead::new();
    for end in 1..BROWSER.len() - 1 {
        let mut parser = HeadParser::new(HeadLimits::default());
        assert_eq!(
            parser.parse(&BROWSER[..end], true, &mut head),
            Err(HeadError::Truncated)
        );
    }
}

#[test]
fn every_split_in_two_gives_the_same() {
    every_split_gives_the_same::<RequestHead>(BROWSER);
}

/// Heads of any shape, all of them right.
fn heads() -> impl Strategy<Value = Vec<u8>> {
    ("[A-Z]{1,8}", "/[!-~]{0,80}", "1\\.[01]", fields("\r\n")).prop_map(
        |(method, target, version, fields)| {
            format!("{method} {target} HTTP/{version}\r\n{fields}\r\n").into_bytes()
        },
    )
}

#[test]
fn one_parser_reads_one_head_after_the_other() {
    let (mut parser, mut head) = (HeadParser::new(HeadLimits::default()), RequestHead::new());
    let pipeline = [BROWSER, b"GET / HTTP/1.0\r\n\r\n", BROWSER, b"GET"].concat();
    let mut rest = &pipeline[..];
    for fields in [7, 0, 7] {
        let Ok(Status::Complete { consumed }) = parser.parse(rest, false, &mut head) else {
            panic!("a head is missing");
        };
        assert_eq!(head.headers().len(), fields);
        rest = &rest[consumed..];
    }
    assert_eq!(parser.parse(rest, false, &mut head), Ok(Status::Partial));
    // A connection that is given up may leave its parser to the next one, after an error or after the end.
    assert_eq!(
        parser.parse(rest, true, &mut head),
        Err(HeadError::Truncated)
    );
    assert_eq!(
        parser.parse(b"\n", false, &mut head),
        Err(HeadError::BareLf)
    );
    assert!(matches!(
        parser.parse(BROWSER, false, &mut head),
        Ok(Status::Complete { .. })
    ));
}

#[test]
fn a_method_may_have_32_bytes() {
    let head = |bytes| format!("{} / HTTP/1.1\r\n\r\n", "M".repeat(bytes));
    assert!(whole(head(32).as_bytes()).0.is_ok());
    assert_eq!(whole(head(33).as_bytes()).0, Err(HeadError::MethodTooLong));
}

#[test]
fn a_fault_is_told_when_its_line_is_complete() {
    let (mut parser, mut head) = (HeadParser::new(HeadLimits::default()), RequestHead::new());
    let bytes = b"GET / HTTP/1.1\r\nA: b\nC: d";
    for end in 0..=20 {
        assert_eq!(
            parser.parse(&bytes[..end], false, &mut head),
            Ok(Status::Partial)
        );
    }
    assert_eq!(
        parser.parse(&bytes[..21], false, &mut head),
        Err(HeadError::BareLf)
    );
}

proptest! {
    /// What is right is taken, whatever instructions read it, and httparse agrees.
    #[test]
    fn right_heads_are_taken(bytes in heads()) {
        let mut storage = [httparse::EMPTY_HEADER; 100];
        let theirs = httparse::Request::new(&mut storage).parse(&bytes);
        prop_assert_eq!(theirs, Ok(httparse::Status::Complete(bytes.len())));
        is_taken_at_every_level::<RequestHead>(&bytes)?;
    }

    /// However the bytes are split, the answer is that for the whole: value, error, and how much was consumed.
    #[test]
    fn splits_make_no_difference((bytes, ends) in damaged_and_cut(heads())) {
        is_the_same_in_pieces::<RequestHead>(&bytes, ends)?;
    }

    /// What we take, httparse takes, and with the same parts. (It takes more: bare LF, for one.)
    #[test]
    fn agrees_with_httparse((bytes, _) in damaged_and_cut(heads())) {
        let (result, head) = whole(&bytes);
        if let Ok(Status::Complete { consumed }) = result {
            let mut storage = [httparse::EMPTY_HEADER; 100];
            let mut other = httparse::Request::new(&mut storage);
            prop_assert_eq!(other.parse(&bytes), Ok(httparse::Status::Complete(consumed)));
            prop_assert_eq!(other.method.unwrap().as_bytes(), head.method.of(&bytes));
            prop_assert_eq!(other.path.unwrap().as_bytes(), head.target.of(&bytes));
            prop_assert_eq!(other.headers.len(), head.headers().len());
            for (ours, theirs) in head.headers().iter().zip(other.headers.iter()) {
                prop_assert_eq!(ours.name.of(&bytes), theirs.name.as_bytes());
                prop_assert_eq!(ours.value.of(&bytes), theirs.value);
            }
        }
    }

    #[test]
    fn anything_at_all_is_no_panic(bytes in any::<Vec<u8>>(), eof: bool) {
        let _ = HeadParser::new(HeadLimits::default()).parse(&bytes, eof, &mut RequestHead::new());
    }
}
