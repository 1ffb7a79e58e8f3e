//! RFC 9110, 12.4 and 12.5; RFC 4647.

use thrum_parse::http::value::Fault::*;
use thrum_parse::http::value::{
    Accept, AcceptCharset, AcceptEncoding, AcceptLanguage, FieldValue, MediaType, ValueError,
    Weight, best,
};

#[test]
fn weights() {
    good!(
        Weight,
        [
            ("0", "0"),
            ("1", "1"),
            ("0.", "0"),
            ("1.", "1"),
            ("0.0", "0"),
            ("0.000", "0"),
            ("1.0", "1"),
            ("1.000", "1"),
            ("0.5", "0.5"),
            ("0.50", "0.5"),
            ("0.05", "0.05"),
            ("0.001", "0.001"),
            ("0.010", "0.01"),
            ("0.999", "0.999"),
            ("0.123", "0.123"),
        ]
    );
    bad!(
        Weight,
        [
            ("", Truncated, 0),
            (".5", BadWeight, 0),
            ("1.1", BadWeight, 0),
            ("1.001", BadWeight, 0),
            ("2", BadWeight, 0),
            ("9.999", BadWeight, 0),
            ("0.1234", BadWeight, 5),
            ("1.0000", BadWeight, 5),
            ("01", Unexpected, 1),
            ("-0", BadWeight, 0),
            ("+1", BadWeight, 0),
            ("0,5", Unexpected, 1),
            ("0 .5", Unexpected, 2),
            ("1e0", Unexpected, 1),
            ("x", BadWeight, 0),
        ]
    );
}

#[test]
fn accept() {
    good!(
        Accept<'_>,
        [
            ("", ""),
            ("*/*", "*/*"),
            ("text/*", "text/*"),
            ("text/html;q=0.5", "text/html;q=0.5"),
            ("text/html; Q=0.50", "text/html;q=0.5"),
            ("text/html;q=1.0", "text/html"),
            ("text/html;q=0", "text/html;q=0"),
            ("text/html;level=1;q=0.5", "text/html;level=1;q=0.5"),
            ("text/html;q=0.5;level=1", "text/html;level=1;q=0.5"),
            ("text/html;q=\"0.5\"", "text/html;q=0.5"),
            ("a/b,c/d", "a/b, c/d"),
            ("a/b;x=\"y,z\", c/d", "a/b;x=\"y,z\", c/d"),
            (
                "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8",
                "text/html, application/xhtml+xml, application/xml;q=0.9, */*;q=0.8"
            ),
            (
                "application/signed-exchange;v=b3;q=0.7",
                "application/signed-exchange;v=b3;q=0.7"
            ),
            (",a/b,", "a/b"),
        ]
    );
    bad!(
        Accept<'_>,
        [
            ("*", Truncated, 1),
            ("text", Truncated, 4),
            ("*/html", BadMediaType, 0),
            ("a/b, */c", BadMediaType, 5),
            ("a/b;q", Truncated, 5),
            ("a/b;q=", Truncated, 6),
            ("a/b;q=2", BadWeight, 0),
            ("a/b;q=0.1234", BadWeight, 0),
            ("a/b;q=x", BadWeight, 0),
            ("a/b;q=1;q=1", DuplicateParameter, 7),
            ("a/b c/d", Unseparated, 4),
            ("a/b;q= 1", BadToken, 6),
            ("a/b;c", Truncated, 5),
            ("a/b;;;c=d;q=1,c", Truncated, 15),
            (
                "text/html, image/gif, image/jpeg, *; q=.2, */*; q=.2",
                BadMediaType,
                35
            ),
        ]
    );
}

/// The example of RFC 9110, 12.5.1.
#[test]
fn the_most_specific_media_range_counts() {
    let accepted = b"text/*;q=0.3, text/plain;q=0.7, text/plain;format=flowed, \
        text/plain;format=fixed;q=0.4, */*;q=0.5";
    let accepted = Accept::parse(accepted).unwrap();
    for (offered, weight) in [
        ("text/plain;format=flowed", 1000),
        ("text/plain", 700),
        ("text/html", 300),
        ("image/jpeg", 500),
        ("text/plain;format=fixed", 400),
        ("TEXT/PLAIN; FORMAT=\"Fixed\"; x=y", 400),
        ("text/html;level=3", 300),
    ] {
        let offered = MediaType::parse(offered.as_bytes()).unwrap();
        assert_eq!(
            accepted.weight_of(&offered).thousandths(),
            weight,
            "{offered:?}"
        );
    }
    let order: Vec<_> = accepted
        .by_preference()
        .iter()
        .map(|range| range.to_bytes())
        .collect();
    assert_eq!(order[0], b"text/plain;format=flowed");
    assert_eq!(order[1], b"text/plain;q=0.7");
    assert_eq!(order[4], b"text/*;q=0.3");
}

#[test]
fn nothing_or_all_is_accepted() {
    let json = MediaType::parse(b"application/json").unwrap();
    let weight = |accept: &str| Accept::parse(accept.as_bytes()).unwrap().weight_of(&json);
    assert_eq!(weight(""), Weight::FULL);
    assert_eq!(weight("text/html"), Weight::ZERO);
    assert_eq!(weight("application/json;q=0, */*"), Weight::ZERO);
    assert_eq!(weight("application/json;v=1"), Weight::ZERO);
    let accepted = Accept::parse(b"application/json;q=0").unwrap();
    assert_eq!(best([json], |offer| accepted.weight_of(offer)), None);
}

#[test]
fn accept_encoding() {
    good!(
        AcceptEncoding<'_>,
        [
            ("", ""),
            ("*", "*"),
            ("gzip", "gzip"),
            ("compress, gzip", "compress, gzip"),
            ("compress;q=0.5, gzip;q=1.0", "compress;q=0.5, gzip"),
            (
                "gzip;q=1.0, identity; q=0.5, *;q=0",
                "gzip, identity;q=0.5, *;q=0"
            ),
            ("gzip ; q=0.5", "gzip;q=0.5"),
            ("gzip;Q=0.5", "gzip;q=0.5"),
        ]
    );
    bad!(
        AcceptEncoding<'_>,
        [
            ("gzip;", Truncated, 5),
            ("gzip;q", Truncated, 6),
            ("gzip;x=1", BadWeight, 5),
            ("gzip;q=0.5;x=1", Unseparated, 10),
            ("gzip;q =1", BadWeight, 6),
            ("gzip;q= 1", BadWeight, 7),
            ("gzip q=1", Unseparated, 5),
            ("gzip;q=1.5", BadWeight, 7),
            ("\"gzip\"", BadToken, 0),
        ]
    );
}

#[test]
fn codings() {
    for (accepted, gzip, br, identity) in [
        ("", 0, 0, 1),
        ("gzip", 1000, 0, 1),
        ("gzip;q=0", 0, 0, 1),
        ("GZip;q=0.5", 500, 0, 1),
        ("x-gzip", 1000, 0, 1),
        ("*", 1000, 1000, 1000),
        ("*;q=0", 0, 0, 0),
        ("*;q=0, gzip", 1000, 0, 0),
        ("identity;q=0", 0, 0, 0),
        ("identity;q=0, *", 1000, 1000, 0),
        ("identity, *;q=0", 0, 0, 1000),
        ("gzip;q=0.5, identity;q=0.8", 500, 0, 800),
        ("br;q=0.1, *;q=0.2", 200, 100, 200),
    ] {
        let list = AcceptEncoding::parse(accepted.as_bytes()).unwrap();
        let weights = ["gzip", "br", "identity"].map(|name| list.weight_of(name).thousandths());
        assert_eq!(weights, [gzip, br, identity], "{accepted}");
    }
    let list = AcceptEncoding::parse(b"gzip;q=0.1").unwrap();
    assert_eq!(
        best(["identity", "br", "gzip"], |name| list.weight_of(name)),
        Some("gzip")
    );
}

#[test]
fn charsets() {
    let list = AcceptCharset::parse(b"iso-8859-5, unicode-1-1;q=0.8").unwrap();
    assert_eq!(list.weight_of("ISO-8859-5"), Weight::FULL);
    assert_eq!(list.weight_of("utf-8"), Weight::ZERO);
    assert_eq!(
        AcceptCharset::parse(b"*;q=0.1")
            .unwrap()
            .weight_of("utf-8")
            .thousandths(),
        100
    );
    assert_eq!(
        AcceptCharset::parse(b"").unwrap().weight_of("utf-8"),
        Weight::FULL
    );
}

#[test]
fn accept_language() {
    good!(
        AcceptLanguage<'_>,
        [
            ("", ""),
            ("da, en-gb;q=0.8, en;q=0.7", "da, en-gb;q=0.8, en;q=0.7"),
            ("*", "*"),
            ("*;q=0.5", "*;q=0.5"),
            (
                "zh-Hant-CN-x-private1-private2",
                "zh-Hant-CN-x-private1-private2"
            ),
            ("en-1694acad", "en-1694acad"),
            ("i-klingon", "i-klingon"),
        ]
    );
    bad!(
        AcceptLanguage<'_>,
        [
            ("en_GB", Unseparated, 2),
            ("en-", Truncated, 3),
            ("-en", BadLanguage, 0),
            ("en--gb", BadLanguage, 3),
            ("1en", BadLanguage, 0),
            ("abcdefghi", BadLanguage, 8),
            ("en-abcdefghi", BadLanguage, 11),
            ("en-*", BadLanguage, 3),
            ("*-en", Unseparated, 1),
            ("en;q=2", BadWeight, 5),
            ("a-b-c-d-e-f-g-h-i-j-k-l-m-n-o-p-q", TooMany, 31),
        ]
    );
}

#[test]
fn language_ranges() {
    let known = AcceptLanguage::parse(b"de;q=0.8, de-CH, *;q=0.1, fr;q=0").unwrap();
    for (tag, weight) in [
        ("de", 800),
        ("DE-at", 800),
        ("de-CH", 1000),
        ("de-CH-1996", 1000),
        ("deu", 100),
        ("d", 100),
        ("fr-CA", 0),
        ("en", 100),
    ] {
        assert_eq!(known.weight_of(tag).thousandths(), weight, "{tag}");
    }
}

#[test]
fn language_lookup() {
    for (accepted, offered, found) in [
        (
            "zh-Hant-CN-x-private1-private2",
            &["zh", "zh-Hant-CN"][..],
            Some("zh-Hant-CN"),
        ),
        (
            "zh-Hant-CN-x-private1-private2",
            &["zh-Hant-CN-x", "zh"],
            Some("zh"),
        ),
        ("zh-Hant-CN", &["zh-hant", "zh"], Some("zh-hant")),
        ("de;q=0.5, en-GB", &["de", "en"], Some("en")),
        ("de, en", &["en", "de"], Some("de")),
        ("en", &["en-GB"], None),
        ("*", &["en"], None),
        ("fr, *", &["en"], None),
        ("fr-CA, fr;q=0", &["fr"], None),
        ("i-klingon", &["i"], None),
        ("x-y-z", &["x"], None),
        ("", &["en"], None),
        ("en;q=0", &["en"], None),
    ] {
        let list = AcceptLanguage::parse(accepted.as_bytes()).unwrap();
        assert_eq!(list.lookup(offered.iter().copied()), found, "{accepted}");
    }
}
