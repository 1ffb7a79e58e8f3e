//! RFC 9110, 7.8, 8.6 and 10.1.1; RFC 9111, 5.2; RFC 9112, 6.1.

use thrum_parse::http::value::Fault::*;
use thrum_parse::http::value::{
    CacheControl, ContentLength, Expect, FieldValue, TransferEncoding, Upgrade, ValueError,
};

#[test]
fn content_lengths() {
    good!(
        ContentLength,
        [
            ("0", "0"),
            ("5", "5"),
            (" 5 ", "5"),
            ("005", "5"),
            ("18446744073709551615", "18446744073709551615"),
            ("5,5", "5, 5"),
            ("5, 5", "5, 5"),
            ("5 ,\t5", "5, 5"),
            ("5, 05, 005", "5, 5"),
        ]
    );
    bad!(
        ContentLength,
        [
            ("", Truncated, 0),
            ("-1", BadLength, 0),
            ("+1", BadLength, 0),
            ("0x5", Unexpected, 1),
            ("5 5", Unexpected, 2),
            ("5.0", Unexpected, 1),
            ("5,", Truncated, 2),
            (",5", BadLength, 0),
            ("5,,5", BadLength, 2),
            ("5, 6", ConflictingLengths, 3),
            ("5, 5, 6", ConflictingLengths, 6),
            ("5;5", Unexpected, 1),
            ("18446744073709551616", Overflow, 0),
            ("5, 99999999999999999999", Overflow, 3),
            ("\u{661}", BadLength, 0),
            ("five", BadLength, 0),
        ]
    );
    let many = ["5"; 129].join(",");
    assert_eq!(
        ContentLength::parse(many.as_bytes()).unwrap_err().fault,
        TooMany
    );
}

#[test]
fn transfer_encodings() {
    good!(
        TransferEncoding<'_>,
        [
            ("chunked", "chunked"),
            ("Chunked", "Chunked"),
            (" chunked ", "chunked"),
            ("gzip", "gzip"),
            ("gzip, chunked", "gzip, chunked"),
            ("gzip,chunked", "gzip, chunked"),
            ("gzip;a=b, chunked", "gzip; a=b, chunked"),
            ("gzip ; a=b , chunked", "gzip; a=b, chunked"),
            ("gzip;a=\"b,c\", chunked", "gzip; a=\"b,c\", chunked"),
            ("gzip, gzip, chunked", "gzip, gzip, chunked"),
            ("xchunked", "xchunked"),
            ("chunked-x, chunked", "chunked-x, chunked"),
        ]
    );
    bad!(
        TransferEncoding<'_>,
        [
            ("", BadTransferCoding, 0),
            (",", BadTransferCoding, 0),
            (",chunked", BadTransferCoding, 0),
            ("chunked,", BadTransferCoding, 8),
            ("gzip,,chunked", BadTransferCoding, 5),
            ("gzip, ,chunked", BadTransferCoding, 6),
            ("chunked, chunked", BadTransferCoding, 9),
            ("chunked, gzip", BadTransferCoding, 9),
            ("chunked, identity", BadTransferCoding, 9),
            ("chunked;q=1", BadTransferCoding, 0),
            ("chunked;", BadTransferCoding, 0),
            ("chunked ;", BadTransferCoding, 0),
            ("chunked gzip", Unseparated, 8),
            ("gzip chunked", Unseparated, 5),
            ("\"chunked\"", BadToken, 0),
            ("\x0bchunked", BadToken, 0),
            ("chunked\x0b", Unseparated, 7),
            ("chunked\0", Unseparated, 7),
            ("chunked=1", Unseparated, 7),
            ("gzip;a, chunked", BadParameter, 6),
        ]
    );
    let ends = |value: &str| {
        TransferEncoding::parse(value.as_bytes())
            .unwrap()
            .ends_in_chunked()
    };
    assert!(ends("CHUNKED") && ends("gzip, chunked") && !ends("gzip") && !ends("xchunked"));
}

#[test]
fn expectations() {
    good!(
        Expect<'_>,
        [
            ("100-continue", "100-continue"),
            ("100-Continue", "100-Continue"),
            ("a=b", "a=b"),
            (
                "a=\"b c\";d=e, 100-continue",
                "a=\"b c\"; d=e, 100-continue"
            ),
        ]
    );
    bad!(
        Expect<'_>,
        [
            ("100 continue", Unseparated, 4),
            ("a=", Truncated, 2),
            ("a;b=c", Unseparated, 1),
            ("=a", BadToken, 0),
        ]
    );
    let first = |value: &'static str| {
        Expect::parse(value.as_bytes())
            .unwrap()
            .iter()
            .next()
            .unwrap()
    };
    assert!(first("100-CONTINUE").is_continue());
    assert!(!first("100-continue=1").is_continue() && !first("100-continued").is_continue());
}

#[test]
fn upgrades() {
    good!(
        Upgrade<'_>,
        [
            ("websocket", "websocket"),
            (
                "HTTP/2.0, SHTTP/1.3, IRC/6.9, RTA/x11",
                "HTTP/2.0, SHTTP/1.3, IRC/6.9, RTA/x11"
            ),
            ("h2c", "h2c"),
        ]
    );
    bad!(
        Upgrade<'_>,
        [
            ("a/", Truncated, 2),
            ("/a", BadToken, 0),
            ("a/b/c", Unseparated, 3),
            ("a /b", Unseparated, 2),
        ]
    );
}

#[test]
fn cache_control() {
    good!(
        CacheControl<'_>,
        [
            ("", ""),
            ("no-cache", "no-cache"),
            ("No-Store", "No-Store"),
            ("max-age=0", "max-age=0"),
            ("max-age=\"60\"", "max-age=60"),
            ("private, max-age=60", "private, max-age=60"),
            ("private=\"set-cookie, x\"", "private=\"set-cookie, x\""),
            ("max-stale", "max-stale"),
            ("a=b,,c", "a=b, c"),
            ("immutable , public", "immutable, public"),
            ("max-age=x", "max-age=x"),
            ("community=\"UCI\"", "community=UCI"),
        ]
    );
    bad!(
        CacheControl<'_>,
        [
            ("max-age=", Truncated, 8),
            ("max-age = 5", Unseparated, 8),
            ("max-age=5 6", Unseparated, 10),
            ("=5", BadToken, 0),
            ("a;b", Unseparated, 1),
            ("a=\"b", Truncated, 4),
            ("\"a\"", BadToken, 0),
            ("a=b=c", Unseparated, 3),
        ]
    );
}

#[test]
fn seconds() {
    let seconds = |value: &str| {
        CacheControl::parse(value.as_bytes())
            .unwrap()
            .seconds("max-age")
    };
    for (value, expected) in [
        ("no-cache", None),
        ("max-age=0", Some(0)),
        ("Max-Age=60", Some(60)),
        ("max-age=\"60\"", Some(60)),
        ("max-age=2147483647", Some(2_147_483_647)),
        ("max-age=2147483648", Some(1 << 31)),
        ("max-age=4294967296", Some(1 << 31)),
        ("max-age=99999999999999999999999", Some(1 << 31)),
        ("max-age=1, max-age=2", Some(1)),
        ("max-age", Some(0)),
        ("max-age=-1", Some(0)),
        ("max-age=1.5", Some(0)),
        ("max-age=x", Some(0)),
        ("max-age=\"\"", Some(0)),
        ("s-maxage=5", None),
    ] {
        assert_eq!(seconds(value), expected, "{value}");
    }
}
