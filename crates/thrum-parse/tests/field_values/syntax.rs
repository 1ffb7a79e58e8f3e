//! RFC 9110, 5.6: lists, tokens, quoted strings, parameters.

use thrum_parse::http::value::Fault::*;
use thrum_parse::http::value::{FieldValue, Parameters, Text, Tokens, ValueError};

#[test]
fn lists() {
    good!(
        Tokens<'_>,
        [
            ("", ""),
            ("close", "close"),
            (" close\t", "close"),
            ("a,b", "a, b"),
            ("a, b", "a, b"),
            ("a ,b", "a, b"),
            ("a\t,\tb", "a, b"),
            (",a", "a"),
            ("a,", "a"),
            (" , a , , b , ", "a, b"),
            (",", ""),
            (", ,", ""),
            ("!#$%&'*+-.^_`|~09azAZ", "!#$%&'*+-.^_`|~09azAZ"),
            ("keep-alive, Upgrade", "keep-alive, Upgrade"),
            (",,,,,,,,,,,,,,,,a", "a"),
        ]
    );
    bad!(
        Tokens<'_>,
        [
            ("a b", Unseparated, 2),
            ("a;b", Unseparated, 1),
            ("a,b c", Unseparated, 4),
            ("\"a\"", BadToken, 0),
            ("a, \"b\"", BadToken, 3),
            ("a, ;", BadToken, 3),
            ("(a)", BadToken, 0),
            ("a/b", Unseparated, 1),
            ("a=b", Unseparated, 1),
            ("a, b@", Unseparated, 4),
            ("\u{e9}", BadToken, 0),
            ("a\0", Unseparated, 1),
            ("a\r\n b", Unseparated, 1),
            ("a,\nb", BadToken, 2),
            ("\u{7f}", BadToken, 0),
            ("{a}", BadToken, 0),
            (",,,,,,,,,,,,,,,,,a", TooMany, 16),
        ]
    );
}

#[test]
fn a_list_has_a_limit() {
    let full = ["a"; 128].join(",");
    assert_eq!(Tokens::parse(full.as_bytes()).unwrap().len(), 128);
    let (at, fault) = (full.len() + 1, TooMany);
    let over = full + ",a";
    assert_eq!(
        Tokens::parse(over.as_bytes()),
        Err(ValueError { fault, at })
    );
}

#[test]
fn list_elements() {
    let tokens = Tokens::parse(b"Close,, upgrade ,").unwrap();
    assert_eq!((tokens.len(), tokens.iter().len()), (2, 2));
    assert!(tokens.contains("close") && tokens.contains("UPGRADE") && !tokens.contains("clos"));
    let names: Vec<_> = tokens.iter().map(|token| token.as_str()).collect();
    assert_eq!(names, ["Close", "upgrade"]);
}

#[test]
fn texts() {
    good!(
        Text<'_>,
        [
            ("a", "a"),
            ("a.b-c", "a.b-c"),
            (r#""a""#, "a"),
            (r#""""#, r#""""#),
            (r#""a b""#, r#""a b""#),
            (r#""a,b;c=d""#, r#""a,b;c=d""#),
            (r#""a\b""#, "ab"),
            (r#""a\"b""#, r#""a\"b""#),
            (r#""\\""#, r#""\\""#),
            (r#""\a\b\c""#, "abc"),
            ("\"a\tb\"", "\"a\tb\""),
            ("\"a\\\tb\"", "\"a\tb\""),
            ("\"\u{fc}\"", "\"\u{fc}\""),
            (r#""[::1]:80""#, r#""[::1]:80""#),
            (r#" "a" "#, "a"),
        ]
    );
    bad!(
        Text<'_>,
        [
            ("", Truncated, 0),
            ("\"", Truncated, 1),
            ("\"a", Truncated, 2),
            (r#""a\"#, Truncated, 3),
            (r#""a\""#, Truncated, 4),
            (r#""a"b"#, Unexpected, 3),
            (r#""a" "b""#, Unexpected, 4),
            ("a b", Unexpected, 2),
            ("a\"b\"", Unexpected, 1),
            ("\"a\0\"", BadQuotedString, 2),
            ("\"a\n\"", BadQuotedString, 2),
            ("\"a\r\"", BadQuotedString, 2),
            ("\"\u{7f}\"", BadQuotedString, 1),
            ("\"\\\0\"", BadQuotedString, 2),
            ("\"\\\u{7f}\"", BadQuotedString, 2),
            ("'a b'", Unexpected, 3),
            ("=", BadToken, 0),
        ]
    );
}

#[test]
fn what_a_text_says() {
    let text = Text::parse(br#""A\"b""#).unwrap();
    assert!(text.is("a\"B") && !text.is("a\"") && !text.is("a\"bc"));
    assert_eq!(text.to_text().as_deref(), Some("A\"b"));
    assert_eq!(Text::parse(b"\"\xff\"").unwrap().to_text(), None);
}

#[test]
fn parameters() {
    good!(
        Parameters<'_>,
        [
            ("", ""),
            (";a=b", "; a=b"),
            ("; a=b", "; a=b"),
            (" ;a=b", "; a=b"),
            (" ; a=b ; c=d ", "; a=b; c=d"),
            (";", ""),
            (";;;a=b;;", "; a=b"),
            ("; ; a=b", "; a=b"),
            (r#";a="b""#, "; a=b"),
            (r#";a="b;c""#, r#"; a="b;c""#),
            (r#";a="";b=c"#, r#"; a=""; b=c"#),
            (";A=B", "; A=B"),
            (";a*=b", "; a*=b"),
            (";a=b;b=b", "; a=b; b=b"),
            ("\t;\ta=b", "; a=b"),
        ]
    );
    bad!(
        Parameters<'_>,
        [
            ("a=b", Unexpected, 0),
            (";a", Truncated, 2),
            (";a;b=c", BadParameter, 2),
            (";a =b", BadParameter, 2),
            (";a= b", BadToken, 3),
            (";a=", Truncated, 3),
            (";a=;", BadToken, 3),
            (";=b", BadToken, 1),
            (";a=b c=d", Unexpected, 5),
            (";a=b,", Unexpected, 4),
            (";a=\"b", Truncated, 5),
            (";a=\"b\"c", Unexpected, 6),
            (";a=b;a=c", DuplicateParameter, 4),
            (";a=b;A=b", DuplicateParameter, 4),
            (";a=b;c=d;a=b", DuplicateParameter, 8),
            (";\"a\"=b", BadToken, 1),
            (";;;;;;;;;;;;;;;;;;;;;;;;;;;;;;;;;", TooMany, 32),
        ]
    );
}
