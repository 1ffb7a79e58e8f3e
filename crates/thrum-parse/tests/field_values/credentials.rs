//! RFC 9110, 11.

use thrum_parse::http::value::Fault::*;
use thrum_parse::http::value::{Challenges, Credentials, FieldValue, ValueError};

#[test]
fn credentials() {
    good!(
        Credentials<'_>,
        [
            (
                "Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ==",
                "Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ=="
            ),
            ("Bearer mF_9.B5f-4.1JqM", "Bearer mF_9.B5f-4.1JqM"),
            ("Bearer  a", "Bearer a"),
            ("Negotiate", "Negotiate"),
            ("Negotiate ", "Negotiate"),
            ("Negotiate a+/=", "Negotiate a+/="),
            ("x realm", "x realm"),
            ("x a=", "x a="),
            ("x a==", "x a=="),
            ("x a=b", "x a=b"),
            ("x a=\"b c\"", "x a=\"b c\""),
            ("x a = b , c=d", "x a=b, c=d"),
            (
                "Digest qop=auth,nc=00000001",
                "Digest qop=auth, nc=00000001"
            ),
            (
                "Digest username=\"a, b\", uri=\"/\"",
                "Digest username=\"a, b\", uri=\"/\""
            ),
            ("x a=\"\"", "x a=\"\""),
        ]
    );
    bad!(
        Credentials<'_>,
        [
            ("", Truncated, 0),
            ("=a", BadToken, 0),
            ("Basic a b", BadCredentials, 8),
            ("Basic a=b c=d", Unexpected, 10),
            ("Basic a=b, c", Unexpected, 9),
            ("Basic a=b; c=d", Unexpected, 9),
            ("Basic a===b", BadToken, 8),
            ("Basic =", BadToken, 6),
            ("Basic a=\"b", Truncated, 10),
            ("Basic a=b, a=c", DuplicateParameter, 11),
            ("Basic a=b, A=c", DuplicateParameter, 11),
            ("Basic\ta=b", Unexpected, 6),
            ("Basic a=b,c=", Truncated, 12),
            ("Basic \u{e9}", BadToken, 6),
            ("Basic a, b=c", Unexpected, 7),
            ("\"Basic\" a", BadToken, 0),
        ]
    );
    let many = |count| {
        let names: Vec<_> = (0..count).map(|n| format!("a{n}=b")).collect();
        format!("x {}", names.join(","))
    };
    assert_eq!(
        Credentials::parse(many(32).as_bytes())
            .unwrap()
            .parameters()
            .count(),
        32
    );
    assert_eq!(
        Credentials::parse(many(33).as_bytes()).unwrap_err().fault,
        TooMany
    );
}

#[test]
fn challenges() {
    good!(
        Challenges<'_>,
        [
            (
                "Basic realm=\"simple\", Newauth realm=\"apps\", type=1, title=\"Login to \\\"apps\\\"\"",
                "Basic realm=simple, Newauth realm=apps, type=1, title=\"Login to \\\"apps\\\"\""
            ),
            ("Negotiate, NTLM", "Negotiate, NTLM"),
            (
                "Negotiate abc==, Basic realm=x",
                "Negotiate abc==, Basic realm=x"
            ),
            ("Basic realm=x,,NTLM", "Basic realm=x, NTLM"),
            ("", ""),
        ]
    );
    bad!(
        Challenges<'_>,
        [
            ("Basic, realm=x", Unseparated, 12),
            ("Basic realm=x NTLM", Unseparated, 14),
            ("Basic realm=x, realm=y", DuplicateParameter, 15),
        ]
    );
}

#[test]
fn a_secret_is_not_shown() {
    let basic = Credentials::parse(b"Basic c2VjcmV0").unwrap();
    assert_eq!(
        format!("{basic:?}"),
        "Credentials { scheme: \"Basic\", .. }"
    );
}
