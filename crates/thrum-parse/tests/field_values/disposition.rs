//! RFC 6266 and RFC 8187.

use thrum_parse::http::value::Fault::*;
use thrum_parse::http::value::{ContentDisposition, FieldValue, ValueError};

#[test]
fn dispositions() {
    good!(
        ContentDisposition<'_>,
        [
            ("inline", "inline"),
            ("Attachment", "Attachment"),
            ("attachment; filename=a.txt", "attachment; filename=a.txt"),
            (
                "attachment;filename=\"a b.txt\"",
                "attachment; filename=\"a b.txt\""
            ),
            (
                "attachment; filename*=UTF-8''a%20b",
                "attachment; filename*=UTF-8''a%20b"
            ),
            (
                "form-data; name=\"a\"; filename=\"b\"",
                "form-data; name=a; filename=b"
            ),
        ]
    );
    bad!(
        ContentDisposition<'_>,
        [
            ("", Truncated, 0),
            ("\"inline\"", BadToken, 0),
            ("attachment filename=a", Unexpected, 11),
            ("attachment; filename", Truncated, 20),
            ("attachment; filename=", Truncated, 21),
            ("attachment; filename=a b", Unexpected, 23),
            ("attachment; filename=a; filename=b", DuplicateParameter, 22),
            ("attachment; filename=\"a", Truncated, 23),
            ("attachment; filename =a", BadParameter, 20),
            ("attachment, inline", Unexpected, 10),
        ]
    );
}

#[test]
fn filenames() {
    let filename = |parameters: &[u8]| {
        let value = [b"attachment; ", parameters].concat();
        ContentDisposition::parse(&value).unwrap().filename()
    };
    for (parameters, expected) in [
        ("filename=a.txt", Some("a.txt")),
        ("FILENAME=a.txt", Some("a.txt")),
        ("filename=\"a \\\"b\\\"\"", Some("a \"b\"")),
        ("filename=\"\u{20ac}\"", Some("\u{20ac}")),
        ("filename=a; filename*=UTF-8''%e2%82%ac", Some("\u{20ac}")),
        ("filename*=utf-8'en'%E2%82%AC; filename=a", Some("\u{20ac}")),
        ("filename*=iso-8859-1''%A3", Some("\u{a3}")),
        ("filename*=UTF-8''%ff; filename=a", Some("a")),
        ("filename*=UTF-8''%e; filename=a", Some("a")),
        ("filename*=UTF-8''%zz; filename=a", Some("a")),
        ("filename*=UTF-16''a; filename=b", Some("b")),
        ("filename*=UTF-8'a; filename=b", Some("b")),
        ("filename*=\"UTF-8''a b\"; filename=b", Some("b")),
        ("filename=\"/etc/passwd\"", Some("passwd")),
        ("filename=\"..\\\\..\\\\x.exe\"", Some("x.exe")),
        ("filename*=UTF-8''..%2F..%2Fx", Some("x")),
        ("filename=\"..\"", None),
        ("filename=\"a/\"", None),
        ("filename=\"\"", None),
        ("filename=\".\"", None),
        ("filename*=UTF-8''a%00b", None),
        ("filename=\"a\tb\"", None),
        ("x=y", None),
    ] {
        assert_eq!(
            filename(parameters.as_bytes()).as_deref(),
            expected,
            "{parameters}"
        );
    }
    assert_eq!(filename(b"filename=\"\xa3\"").as_deref(), Some("\u{a3}"));
}

#[test]
fn attachments_read_the_same() {
    for name in [
        "a",
        "a b",
        "\"a\"",
        "a;b=c",
        "\u{20ac} 5%",
        "it's",
        "\u{1f600}",
    ] {
        let value = ContentDisposition::attachment(name);
        let read = ContentDisposition::parse(value.as_bytes()).unwrap();
        assert!(read.is("attachment"));
        assert_eq!(read.filename().as_deref(), Some(name), "{value}");
    }
    let value = ContentDisposition::attachment("a\r\nb\u{e9}");
    assert_eq!(
        value,
        "attachment; filename=\"a__b_\"; filename*=UTF-8''a__b%C3%A9"
    );
}
