//! What is true of all grammars: no input makes them panic, and what they read, written, reads as equal.

use proptest::prelude::*;
use thrum_parse::http::value::*;

macro_rules! properties {
    ($($name:ident: $type:ty,)+) => {
        proptest! {
            $(#[test]
            fn $name(value in value()) {
                match <$type>::parse(&value) {
                    Ok(read) => {
                        let written = read.to_bytes();
                        let again = <$type>::parse(&written);
                        prop_assert_eq!(again.as_ref(), Ok(&read), "{:?}", written.escape_ascii());
                        prop_assert_eq!(again.map(|again| again.to_bytes()), Ok(written.clone()));
                    }
                    Err(error) => prop_assert!(error.at <= value.len()),
                }
            })+
        }
    };
}

properties! {
    token: Token<'_>,
    text: Text<'_>,
    tokens: Tokens<'_>,
    parameters: Parameters<'_>,
    media_type: MediaType<'_>,
    accept: Accept<'_>,
    accept_charset: AcceptCharset<'_>,
    accept_encoding: AcceptEncoding<'_>,
    accept_language: AcceptLanguage<'_>,
    date: HttpDate,
    entity_tags: EntityTags<'_>,
    if_range: IfRange<'_>,
    byte_ranges: ByteRanges<'_>,
    content_range: ContentRange,
    content_length: ContentLength,
    transfer_encoding: TransferEncoding<'_>,
    expect: Expect<'_>,
    upgrade: Upgrade<'_>,
    cache_control: CacheControl<'_>,
    cookies: Cookies<'_>,
    set_cookie: SetCookie<'_>,
    forwarded: Forwarded<'_>,
    x_forwarded_for: XForwardedFor<'_>,
    content_disposition: ContentDisposition<'_>,
    credentials: Credentials<'_>,
    challenges: Challenges<'_>,
}

/// Pieces of values, and bytes of any kind.
fn value() -> impl Strategy<Value = Vec<u8>> {
    const PIECES: &[&str] = &[
        "a",
        "b1",
        "text/html",
        "*",
        "*/*",
        "/",
        "\"",
        "\"a b\"",
        "\"\\\"\"",
        "\\",
        ";",
        "; ",
        "=",
        ",",
        ", ",
        " ",
        "\t",
        "q=",
        ";q=0.5",
        "0",
        "7",
        "42",
        "99999999999999999999",
        "-",
        "bytes=",
        "bytes ",
        "W/\"",
        "gzip",
        "chunked",
        "identity",
        "en",
        "en-GB",
        "-x-",
        "Sun, 06 Nov 1994 08:49:37 GMT",
        "Sunday, 06-Nov-94 08:49:37 GMT",
        "Sun Nov  6 08:49:37 1994",
        "max-age=",
        "Path=/",
        "Domain=.x",
        "Expires=",
        "; Secure",
        "SameSite=Lax",
        "for=",
        "by=",
        "host=",
        "proto=https",
        "unknown",
        "_hidden",
        "192.0.2.1",
        "\"[2001:db8::1]:80\"",
        "[::1]",
        ":80",
        "filename=",
        "filename*=",
        "UTF-8''%e2%82%ac",
        "inline",
        "Basic ",
        "QWxhZGRpbg==",
        "realm=\"x\"",
        "(",
        ")",
        "(a (b))",
        "HTTP/1.1 ",
    ];
    let piece = prop_oneof![
        6 => proptest::sample::select(PIECES).prop_map(|piece| piece.as_bytes().to_vec()),
        1 => proptest::collection::vec(any::<u8>(), 0..4),
    ];
    proptest::collection::vec(piece, 0..8).prop_map(|pieces| pieces.concat())
}
