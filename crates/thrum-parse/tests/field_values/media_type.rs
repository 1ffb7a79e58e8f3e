//! RFC 9110, 8.3.1.

use thrum_parse::http::value::Fault::*;
use thrum_parse::http::value::{FieldValue, MediaType, ValueError};

#[test]
fn media_types() {
    good!(
        MediaType<'_>,
        [
            ("text/html", "text/html"),
            ("text/html;charset=utf-8", "text/html; charset=utf-8"),
            ("Text/HTML;Charset=\"utf-8\"", "Text/HTML; Charset=utf-8"),
            ("text/html; charset=\"utf-8\"", "text/html; charset=utf-8"),
            ("text/html ; charset=utf-8", "text/html; charset=utf-8"),
            ("text/html;", "text/html"),
            ("text/html; ;a=b;", "text/html; a=b"),
            ("application/problem+json", "application/problem+json"),
            (
                "multipart/form-data; boundary=\"a b\"",
                "multipart/form-data; boundary=\"a b\""
            ),
            (
                "multipart/mixed; boundary=x;b=\"\"",
                "multipart/mixed; boundary=x; b=\"\""
            ),
            ("x/y", "x/y"),
            ("application/vnd.ms-excel", "application/vnd.ms-excel"),
            (
                "text/plain; format=flowed; delsp=yes",
                "text/plain; format=flowed; delsp=yes"
            ),
            ("  text/css\t", "text/css"),
            (
                "video/mp4; codecs=\"avc1.640028, mp4a\"",
                "video/mp4; codecs=\"avc1.640028, mp4a\""
            ),
        ]
    );
    bad!(
        MediaType<'_>,
        [
            ("", Truncated, 0),
            ("text", Truncated, 4),
            ("text/", Truncated, 5),
            ("/html", BadToken, 0),
            ("text /html", BadMediaType, 4),
            ("text/ html", BadToken, 5),
            ("text/html/x", Unexpected, 9),
            ("text;a=b", BadMediaType, 4),
            ("text/html charset=utf-8", Unexpected, 10),
            ("text/html, text/plain", Unexpected, 9),
            ("text/html; charset", Truncated, 18),
            ("text/html; charset=", Truncated, 19),
            ("text/html; charset = utf-8", BadParameter, 18),
            ("text/html; charset=a; charset=b", DuplicateParameter, 20),
            ("text/html; charset=\"a", Truncated, 21),
            ("text/html; charset='a b'", Unexpected, 22),
            ("text/h\u{fc}", Unexpected, 6),
        ]
    );
}

#[test]
fn helpers() {
    let form = MediaType::parse(b"Multipart/Form-Data; Boundary=\"a'b c\"; charset=\"\\utf-8\"");
    let form = form.unwrap();
    assert_eq!(form.essence(), "multipart/form-data");
    assert!(form.is("multipart/FORM-data") && !form.is("multipart/form") && !form.is("multipart"));
    assert_eq!(form.boundary().as_deref(), Some(&b"a'b c"[..]));
    assert_eq!(form.charset().as_deref(), Some("utf-8"));
    let suffix = |value: &'static str| MediaType::parse(value.as_bytes()).unwrap().suffix();
    assert_eq!(suffix("application/a+b+json"), Some("json"));
    assert_eq!(suffix("application/json"), None);
}

#[test]
fn boundaries() {
    let long = |length| format!("a/b; boundary={}", "x".repeat(length));
    let boundary = |value: &str| {
        let media_type = MediaType::parse(value.as_bytes()).unwrap();
        media_type.boundary().map(|boundary| boundary.into_owned())
    };
    assert_eq!(boundary(&long(70)), Some(vec![b'x'; 70]));
    assert_eq!(boundary(&long(71)), None);
    for bad in ["", "\"\"", "\"a \"", "\"a;b\"", "\"a\\\"b\"", "a_b#"] {
        let value = format!("a/b; boundary={bad}");
        let found = MediaType::parse(value.as_bytes()).map(|found| found.boundary().is_some());
        assert_ne!(found, Ok(true), "{bad}");
    }
}
