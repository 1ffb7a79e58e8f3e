//! RFC 9110, 8.8.3 and 13.1, entity tags; and 14, ranges.

use thrum_parse::http::value::Fault::*;
use thrum_parse::http::value::{
    ByteRange, ByteRanges, ContentRange, EntityTag, EntityTags, FieldValue, HttpDate, IfRange,
    ValueError,
};

#[test]
fn entity_tags() {
    good!(
        EntityTags<'_>,
        [
            ("*", "*"),
            (" * ", "*"),
            (r#""a""#, r#""a""#),
            (r#"W/"a""#, r#"W/"a""#),
            (r#""""#, r#""""#),
            (r#"W/"""#, r#"W/"""#),
            (r#""a,b""#, r#""a,b""#),
            (r#""a","b""#, r#""a", "b""#),
            (r#""a" , W/"b""#, r#""a", W/"b""#),
            (r#",, "a",,"#, r#""a""#),
            (r#""a\b""#, r#""a\b""#),
            (
                r#""!#$%&'()*+-./:;<=>?@[]^_`{|}~""#,
                r#""!#$%&'()*+-./:;<=>?@[]^_`{|}~""#
            ),
            ("\"\u{fc}\"", "\"\u{fc}\""),
            (r#""W/""#, r#""W/""#),
            (r#""*""#, r#""*""#),
        ]
    );
    bad!(
        EntityTags<'_>,
        [
            ("", Empty, 0),
            (",", Empty, 1),
            ("a", BadEntityTag, 0),
            ("\"a", Truncated, 2),
            ("a\"", BadEntityTag, 0),
            ("'a'", BadEntityTag, 0),
            (r#"w/"a""#, BadEntityTag, 0),
            (r#"W"a""#, BadEntityTag, 0),
            (r#"W/ "a""#, BadEntityTag, 2),
            ("W/a", BadEntityTag, 2),
            (r#""a b""#, BadEntityTag, 2),
            ("\"a\tb\"", BadEntityTag, 2),
            (r#""a\"b""#, Unseparated, 4),
            (r#""a" "b""#, Unseparated, 4),
            (r#""a", *"#, BadEntityTag, 5),
            (r#"*, "a""#, Unexpected, 1),
            ("\"\u{7f}\"", BadEntityTag, 1),
            ("\"\0\"", BadEntityTag, 1),
        ]
    );
}

/// The table of RFC 9110, 8.8.3.2.
#[test]
fn comparison() {
    for (one, other, strong, weak) in [
        (r#"W/"1""#, r#"W/"1""#, false, true),
        (r#"W/"1""#, r#"W/"2""#, false, false),
        (r#"W/"1""#, r#""1""#, false, true),
        (r#""1""#, r#""1""#, true, true),
    ] {
        let ours = EntityTag::parse(one.as_bytes()).unwrap();
        let theirs = EntityTag::parse(other.as_bytes()).unwrap();
        let list = EntityTags::parse(other.as_bytes()).unwrap();
        assert_eq!(ours.matches_strongly(theirs), strong);
        assert_eq!(ours.matches_weakly(theirs), weak);
        assert_eq!(list.any_matches_strongly(ours), strong);
        assert_eq!(list.any_matches_weakly(ours), weak);
        assert!(EntityTags::Any.any_matches_strongly(ours));
    }
}

#[test]
fn if_range() {
    let modified = HttpDate::parse(b"Sun, 06 Nov 1994 08:49:37 GMT").ok();
    let ours = EntityTag::parse(br#""a""#).ok();
    let applies = |value: &str| {
        Some(
            IfRange::parse(value.as_bytes())
                .ok()?
                .applies(ours, modified),
        )
    };
    assert_eq!(applies(r#""a""#), Some(true));
    assert_eq!(applies(r#"W/"a""#), Some(false));
    assert_eq!(applies(r#""b""#), Some(false));
    assert_eq!(applies("Sun, 06 Nov 1994 08:49:37 GMT"), Some(true));
    assert_eq!(applies("Sunday, 06-Nov-94 08:49:37 GMT"), Some(true));
    assert_eq!(applies("Sun, 06 Nov 1994 08:49:38 GMT"), Some(false));
    for none in ["", "*", "a", r#""a", "b""#, "W", "Wxy"] {
        assert_eq!(applies(none), None, "{none}");
    }
    assert!(!IfRange::parse(br#""a""#).unwrap().applies(None, modified));
}

#[test]
fn ranges() {
    good!(
        ByteRanges<'_>,
        [
            ("bytes=0-0", "bytes=0-0"),
            ("bytes=0-499", "bytes=0-499"),
            ("bytes=500-", "bytes=500-"),
            ("bytes=-500", "bytes=-500"),
            ("bytes=-0", "bytes=-0"),
            ("Bytes=1-2", "bytes=1-2"),
            ("bytes= 1-2", "bytes=1-2"),
            ("bytes=0-0,-1", "bytes=0-0, -1"),
            ("bytes=0-0 , 5-6\t,7-", "bytes=0-0, 5-6, 7-"),
            ("bytes=,0-0,,", "bytes=0-0"),
            ("bytes=00-007", "bytes=0-7"),
            ("bytes=5-5,5-5", "bytes=5-5, 5-5"),
            (
                "bytes=9-99999999999999999999",
                "bytes=9-18446744073709551615"
            ),
            ("bytes=99999999999999999999-", "bytes=18446744073709551615-"),
            ("bytes=-99999999999999999999", "bytes=-18446744073709551615"),
        ]
    );
    bad!(
        ByteRanges<'_>,
        [
            ("", Truncated, 0),
            ("bytes", Truncated, 5),
            ("bytes=", Empty, 6),
            ("bytes=,", Empty, 7),
            ("bytes =0-0", BadRange, 5),
            ("items=0-0", UnknownUnit, 0),
            ("none", Truncated, 4),
            ("0-0", Truncated, 3),
            ("bytes=-", Truncated, 7),
            ("bytes=a-b", BadRange, 6),
            ("bytes=1", Truncated, 7),
            ("bytes=+1-2", BadRange, 6),
            ("bytes=1-2-3", Unseparated, 9),
            ("bytes=1--2", Unseparated, 8),
            ("bytes=--2", BadRange, 7),
            ("bytes=5-4", BadRange, 6),
            ("bytes=0-1,5-4", BadRange, 10),
            ("bytes=1 -2", BadRange, 7),
            ("bytes=1- 2", Unseparated, 9),
            ("bytes=0x1-2", BadRange, 7),
            ("bytes=1-2;3-4", Unseparated, 9),
            ("bytes:1-2", BadRange, 5),
        ]
    );
}

#[test]
fn what_a_range_is_of_something() {
    let between = |first, last| ByteRange::Between { first, last };
    for (range, size, expected) in [
        (between(0, 0), 10, Some(0..1)),
        (between(0, 99), 10, Some(0..10)),
        (between(9, 9), 10, Some(9..10)),
        (between(10, 10), 10, None),
        (between(0, u64::MAX), u64::MAX, Some(0..u64::MAX)),
        (between(0, 0), 0, None),
        (ByteRange::From(0), 10, Some(0..10)),
        (ByteRange::From(9), 10, Some(9..10)),
        (ByteRange::From(10), 10, None),
        (ByteRange::From(u64::MAX), 10, None),
        (ByteRange::From(0), 0, None),
        (ByteRange::Last(1), 10, Some(9..10)),
        (ByteRange::Last(10), 10, Some(0..10)),
        (ByteRange::Last(u64::MAX), 10, Some(0..10)),
        (ByteRange::Last(0), 10, None),
        (ByteRange::Last(1), 0, None),
    ] {
        assert_eq!(range.of(size), expected, "{range:?} of {size}");
    }
}

#[test]
fn content_ranges() {
    good!(
        ContentRange,
        [
            ("bytes 0-0/1", "bytes 0-0/1"),
            ("bytes 0-499/1234", "bytes 0-499/1234"),
            ("bytes 734-1233/1234", "bytes 734-1233/1234"),
            ("bytes 42-1233/*", "bytes 42-1233/*"),
            ("bytes */1234", "bytes */1234"),
            ("bytes */0", "bytes */0"),
            ("BYTES 1-2/3", "bytes 1-2/3"),
            ("bytes 00-01/02", "bytes 0-1/2"),
            (
                "bytes 0-18446744073709551614/18446744073709551615",
                "bytes 0-18446744073709551614/18446744073709551615"
            ),
        ]
    );
    bad!(
        ContentRange,
        [
            ("", Truncated, 0),
            ("bytes", Truncated, 5),
            ("bytes=0-0/1", BadRange, 5),
            ("bytes  0-0/1", BadRange, 6),
            ("bytes 0-0", Truncated, 9),
            ("bytes 0-0/", Truncated, 10),
            ("bytes 0-/1", BadRange, 8),
            ("bytes -1/1", BadRange, 6),
            ("bytes */*", BadRange, 8),
            ("bytes 1-0/5", BadRange, 6),
            ("bytes 0-5/5", BadRange, 6),
            ("bytes 0-0/0", BadRange, 6),
            ("bytes 0 - 0/1", BadRange, 7),
            ("bytes 0-0/1, bytes 0-0/1", Unexpected, 11),
            ("items 0-0/1", UnknownUnit, 0),
            ("bytes 0-18446744073709551616/*", Overflow, 8),
        ]
    );
}
