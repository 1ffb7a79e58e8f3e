//! RFC 6265 and its successor.

use thrum_parse::http::value::Fault::*;
use thrum_parse::http::value::{Cookies, FieldValue, HttpDate, SameSite, SetCookie, ValueError};

#[test]
fn cookies() {
    good!(
        Cookies<'_>,
        [
            ("", ""),
            ("a=b", "a=b"),
            ("a=b; c=d", "a=b; c=d"),
            ("a=b;c=d", "a=b; c=d"),
            (" a = b ;\tc=d ", "a=b; c=d"),
            ("a=b;", "a=b"),
            (";;a=b; ;", "a=b"),
            ("a=", "a="),
            ("a", "=a"),
            ("=a", "=a"),
            ("=a=b", "=a=b"),
            ("a=b=c", "a=b=c"),
            ("a=\"b c\"", "a=\"b c\""),
            ("a=b,c", "a=b,c"),
            ("a=\u{fc}\\{}", "a=\u{fc}\\{}"),
            ("=", ""),
            ("a=1; a=2", "a=1; a=2"),
        ]
    );
    bad!(
        Cookies<'_>,
        [
            ("a=\0", BadCookie, 2),
            ("a=b\r\nc", BadCookie, 3),
            ("a=b; c=\x01", BadCookie, 7),
            ("\x7f", BadCookie, 0),
        ]
    );
    let many = |count| ["a=b"; 257][..count].join(";");
    assert_eq!(
        Cookies::parse(many(256).as_bytes()).unwrap().iter().count(),
        256
    );
    assert_eq!(
        Cookies::parse(many(257).as_bytes()).unwrap_err().fault,
        TooMany
    );
}

#[test]
fn the_first_of_a_name() {
    let cookies = Cookies::parse(b"A=0; a=\"1\"; a=2; \"").unwrap();
    let found = cookies.get(b"a").unwrap();
    assert_eq!((found.value, found.unquoted()), (&b"\"1\""[..], &b"1"[..]));
    assert_eq!(cookies.get(b"").unwrap().unquoted(), b"\"");
    assert_eq!(cookies.get(b"b"), None);
}

#[test]
fn set_cookies() {
    good!(
        SetCookie<'_>,
        [
            ("a=b", "a=b"),
            ("a=", "a="),
            ("=b", "=b"),
            ("b", "=b"),
            (" a = b ", "a=b"),
            ("a=b=c", "a=b=c"),
            ("a=\"b c\"", "a=\"b c\""),
            ("a=b;", "a=b"),
            ("a=b; secure; HTTPONLY", "a=b; Secure; HttpOnly"),
            ("a=b; Secure=no", "a=b; Secure"),
            ("a=b; Domain=.Example.com", "a=b; Domain=Example.com"),
            ("a=b; Domain=", "a=b"),
            ("a=b; Domain=x; Domain=", "a=b"),
            ("a=b; Path=/x; path=/y", "a=b; Path=/y"),
            ("a=b; Path=/x; path=y", "a=b"),
            ("a=b; Max-Age=60", "a=b; Max-Age=60"),
            ("a=b; Max-Age=-60", "a=b; Max-Age=-60"),
            ("a=b; Max-Age=60s; max-age=", "a=b"),
            (
                "a=b; max-age=99999999999999999999",
                "a=b; Max-Age=9223372036854775807"
            ),
            (
                "a=b; max-age=-99999999999999999999",
                "a=b; Max-Age=-9223372036854775808"
            ),
            ("a=b; SameSite=lax", "a=b; SameSite=Lax"),
            ("a=b; SameSite=Strict; SameSite=x", "a=b"),
            (
                "a=b; SameSite=none; Partitioned",
                "a=b; SameSite=None; Partitioned"
            ),
            ("a=b; x=y; ; =; Priority=High", "a=b"),
            (
                "a=b; Expires=Sun, 06-Nov-94 08:49:37 GMT; Secure",
                "a=b; Expires=Sun, 06 Nov 1994 08:49:37 GMT; Secure"
            ),
            ("a=b; Expires=never", "a=b"),
        ]
    );
    bad!(
        SetCookie<'_>,
        [
            ("", BadCookie, 0),
            ("=", BadCookie, 0),
            (";", BadCookie, 0),
            ("; Path=/", BadCookie, 0),
            ("a=b\0", BadCookie, 3),
            ("a=b\r\nSet-Cookie: x", BadCookie, 3),
            ("a=b; Path=/\x1f", BadCookie, 11),
            ("a=b; Domain=..x", BadCookie, 4),
            ("a=b; Domain=. x", BadCookie, 4),
        ]
    );
    let long = |length| format!("a={}", "b".repeat(length));
    assert!(SetCookie::parse(long(4095).as_bytes()).is_ok());
    assert_eq!(
        SetCookie::parse(long(4096).as_bytes()).unwrap_err().fault,
        TooLong
    );
    let long = |length| format!("a=b; Path=/{}", "b".repeat(length));
    assert!(
        SetCookie::parse(long(1023).as_bytes())
            .unwrap()
            .path()
            .is_some()
    );
    assert!(
        SetCookie::parse(long(1024).as_bytes())
            .unwrap()
            .path()
            .is_none()
    );
    let many = format!("a=b{}", ";x".repeat(65));
    assert_eq!(
        SetCookie::parse(many.as_bytes()).unwrap_err().fault,
        TooMany
    );
}

#[test]
fn dates_in_cookies() {
    let expires = |text: &str| {
        let value = format!("a=b; Expires={text}");
        SetCookie::parse(value.as_bytes())
            .unwrap()
            .expires
            .map(HttpDate::unix_seconds)
    };
    for (text, expected) in [
        ("Sun, 06 Nov 1994 08:49:37 GMT", Some(784_111_777)),
        ("Sunday, 06-Nov-94 08:49:37 GMT", Some(784_111_777)),
        ("Sun Nov  6 08:49:37 1994", Some(784_111_777)),
        ("Mon, 06-Nov-1994 08:49:37 GMT", Some(784_111_777)),
        ("6 november 94 8:49:37", Some(784_111_777)),
        ("1994 Nov 6 08:49:37", Some(784_111_777)),
        ("94 nov 06 8:49:37 1994", None),
        ("Thu, 01-Jan-1970 00:00:00 GMT", Some(0)),
        ("01 Jan 70 00:00:00", Some(0)),
        ("01 Jan 69 00:00:00", Some(3_124_224_000)),
        ("01 Jan 1601 00:00:00", Some(-11_644_473_600)),
        ("01 Jan 1600 00:00:00", None),
        ("30 Feb 2000 00:00:00", None),
        ("00 Jan 2000 00:00:00", None),
        ("01 Jan 2000 24:00:00", None),
        ("01 Jan 2000 00:60:00", None),
        ("01 Jan 2000 00:00:60", None),
        ("01 Jan 2000", None),
        ("", None),
    ] {
        assert_eq!(expires(text), expected, "{text}");
    }
}

#[test]
fn what_a_server_may_set() {
    let (name, value) = (&b"a"[..], &b"b"[..]);
    for bad in ["", "a b", "a=", "a;", "\u{e9}", "a\n"] {
        assert!(SetCookie::new(bad.as_bytes(), value).is_err(), "{bad:?}");
    }
    for bad in ["a b", "a;", "\"a\"", "a,", "a\\", "\u{e9}", "a\n"] {
        assert!(SetCookie::new(name, bad.as_bytes()).is_err(), "{bad:?}");
    }
    let cookie = SetCookie::new(name, value).unwrap();
    for bad in ["", ".a", "a b", "a;b", "a\r\nb"] {
        assert!(cookie.with_domain(bad.as_bytes()).is_err(), "{bad:?}");
    }
    for bad in ["", "a", "/;", "/\n", "/ "] {
        assert!(cookie.with_path(bad.as_bytes()).is_err(), "{bad:?}");
    }
    let mut cookie = cookie
        .with_domain(b"example.com")
        .unwrap()
        .with_path(b"/x y")
        .unwrap();
    cookie.expires = HttpDate::from_unix_seconds(0);
    cookie.is_secure = true;
    cookie.is_partitioned = true;
    cookie.same_site = Some(SameSite::None);
    let written = "a=b; Domain=example.com; Path=/x y; Expires=Thu, 01 Jan 1970 00:00:00 GMT; Secure; \
                   SameSite=None; Partitioned";
    assert_eq!(String::from_utf8(cookie.to_bytes()).unwrap(), written);
    assert_eq!(SetCookie::parse(written.as_bytes()), Ok(cookie));
    assert_eq!((cookie.name(), cookie.value()), (name, value));
    assert_eq!(cookie.domain(), Some(&b"example.com"[..]));
}
