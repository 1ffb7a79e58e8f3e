//! Field lines: names, colons, values, folds.

use crate::case::{Case, case, get};

#[rustfmt::skip]
pub(crate) fn cases() -> Vec<Case> {
    vec![
        case("a value with space around it", "RFC 9112, 5: OWS is no part of it", get("X: \t b \t "), &["GET / [b]"]),
        case("a value with space within", "RFC 9110, 5.5", get("X: b  c\td"), &["GET / [b  c\\td]"]),
        case("an empty value", "RFC 9110, 5.5", get("X:"), &["GET / []"]),
        case("a value of space", "RFC 9112, 5", get("X: \t"), &["GET / []"]),
        case("a value with colons", "RFC 9112, 5: the first one counts", get("X:: b: c:"), &["GET / [: b: c:]"]),
        case("a value beyond ASCII", "RFC 9110, 5.5: obs-text", get(b"X: \x80\xe9\xff"), &["GET / [\\x80\\xe9\\xff]"]),
        case("a value with no-break space around it", "RFC 9112, 5: OWS is space and tab", get(b"X: \xa0b\xa0"), &["GET / [\\xa0b\\xa0]"]),
        case("a value with 0x85 around it", "RFC 9112, 5: OWS is space and tab", get(b"X: \x85b\x85"), &["GET / [\\x85b\\x85]"]),
        case("a value of quotes and brackets", "RFC 9110, 5.5", get("X: \"a{}<>\\"), &["GET / [\\\"a{}<>\\\\]"]),
        case("a value that looks like a request", "RFC 9110, 5.5", get("X: GET /smuggled HTTP/1.1"), &["GET / [GET /smuggled HTTP/1.1]"]),
        case("two fields of one name", "RFC 9110, 5.2: in their order", get("X: b\r\nY: c\r\nx: d"), &["GET / [b] [d]"]),
        case("a name of every byte that a token has", "RFC 9110, 5.6.2; HTTP Garden: Bun refused them", get("!#$%&'*+-.^_`|~09azAZ: b"), &["GET /"]),
        case("names with underscores are left", "RFC 9110, 5.1; CVE-2024-45614 (Puma made one of them)", get("X_Y: b\r\nX-Y: c"), &["GET /"]),
        case("no fields but Host", "RFC 9112, 2.1", "GET / HTTP/1.1\r\nHost: a\r\n\r\n\r\n", &["GET /"]),

        // Names.
        case("an empty name", "CVE-2023-25725 (HAProxy dropped what followed); HTTP Garden: Go, gunicorn, Node.js, Tornado", get(": b"), &["400 Head(BadName)"]),
        case("an empty name and an empty value", "HTTP Garden: Mongoose took it for the end", get(":\r\nX: am chopped off"), &["400 Head(BadName)"]),
        case("an empty name first", "CVE-2023-25725 (HAProxy)", "GET / HTTP/1.1\r\n: b\r\nHost: a\r\n\r\n", &["400 Head(BadName)"]),
        case("no colon", "CVE-2019-20444 (Netty); HTTP Garden: OpenLiteSpeed ignored it", get("Test"), &["400 Head(BadName)"]),
        case("no colon but a space", "CVE-2019-20444 (Netty); HTTP Garden: Mongoose", get("Content-Length 10"), &["400 Head(SpaceBeforeColon)"]),
        case("a semicolon for a colon", "RFC 9112, 5", get("X; b"), &["400 Head(BadName)"]),
        case("an equals sign for a colon", "RFC 9112, 5", get("X=b"), &["400 Head(BadName)"]),
        case("space before the colon", "RFC 9112, 5.1: 400", get("X : b"), &["400 Head(SpaceBeforeColon)"]),
        case("tab before the colon", "RFC 9112, 5.1: 400", get("X\t: b"), &["400 Head(SpaceBeforeColon)"]),
        case("space within a name", "RFC 9110, 5.1", get("X Y: b"), &["400 Head(SpaceBeforeColon)"]),
        case("vertical tab before the colon", "RFC 9110, 5.1", get("X\x0b: b"), &["400 Head(BadName)"]),
        case("form feed before the colon", "RFC 9110, 5.1", get("X\x0c: b"), &["400 Head(BadName)"]),
        case("no-break space before the colon", "HTTP Garden: gunicorn stripped it", get(b"X\xa0: b"), &["400 Head(BadName)"]),
        case("0x85 before the colon", "HTTP Garden: Apache Traffic Server, relayd passed it on", get(b"X\x85: b"), &["400 Head(BadName)"]),
        case("NUL within a name", "HTTP Garden: OpenLiteSpeed, Tornado; CVE-2021-43797 (Netty)", get("X\0Y: b"), &["400 Head(BadName)"]),
        case("NUL before a name", "HTTP Garden: relayd made it part of the value before; CVE-2021-43797 (Netty)", get("A: b\r\n\0X: c"), &["400 Head(BadName)"]),
        case("a control byte within a name", "CVE-2021-43797 (Netty)", get("X\x1fY: b"), &["400 Head(BadName)"]),
        case("DEL within a name", "RFC 9110, 5.6.2", get("X\x7fY: b"), &["400 Head(BadName)"]),
        case("a name beyond ASCII", "HTTP Garden: aiohttp", get(b"\xffoo: b"), &["400 Head(BadName)"]),
        case("a name in UTF-8", "RFC 9110, 5.1", get("\u{e9}: b"), &["400 Head(BadName)"]),
        case("a name with a letter that folds to ASCII", "RFC 9110, 5.1", get("\u{212a}eep-Alive: b"), &["400 Head(BadName)"]),
        case("a name with brackets", "RFC 9110, 5.6.2", get("A(: b"), &["400 Head(BadName)"]),
        case("a name of separators", "HTTP Garden: Mongoose, Apache Traffic Server; CVE-2026-28368 (Undertow)", get("\"(),/;<=>?@[/]{}: yep"), &["400 Head(BadName)"]),
        case("a name with a slash", "RFC 9110, 5.6.2", get("A/B: c"), &["400 Head(BadName)"]),
        case("a name with a comma", "RFC 9110, 5.6.2", get("A,B: c"), &["400 Head(BadName)"]),
        case("a name in quotes", "RFC 9110, 5.6.2", get("\"A\": b"), &["400 Head(BadName)"]),
        case("a pseudo-header", "RFC 9113, 8.3 has them, RFC 9112 has not", get(":method: POST"), &["400 Head(BadName)"]),
        case("JSON for a field", "RFC 9112, 5", get("{\"a\": 1}"), &["400 Head(BadName)"]),

        // Values.
        case("NUL within a value", "HTTP Garden: aiohttp, HAProxy, OpenLiteSpeed, Tornado, WEBrick; CVE-2019-9900 (Envoy)", get("X: b\0c"), &["400 Head(BadValue)"]),
        case("NUL at the end of a value", "HTTP Garden: WEBrick stripped it; CVE-2019-9900 (Envoy)", get("X: b\0"), &["400 Head(BadValue)"]),
        case("NUL at the start of a value", "HTTP Garden: Tornado", get("X: \0b"), &["400 Head(BadValue)"]),
        case("backspace in a value", "RFC 9110, 5.5", get("X: b\x08"), &["400 Head(BadValue)"]),
        case("an escape sequence in a value", "RFC 9110, 5.5", get("X: \x1b[31m"), &["400 Head(BadValue)"]),
        case("DEL in a value", "RFC 9110, 5.5", get("X: b\x7f"), &["400 Head(BadValue)"]),
        case("vertical tab at the start of a value", "CVE-2019-16789 (Waitress)", get("X: \x0bb"), &["400 Head(BadValue)"]),
        case("form feed at the end of a value", "RFC 9110, 5.5", get("X: b\x0c"), &["400 Head(BadValue)"]),
        case("NUL, CR and LF in a value", "HTTP Garden: aiohttp, gunicorn", get("X: v\n\0\ralue"), &["400 Head(BareLf)"]),

        // Folds: RFC 9112, 5.2.
        case("a fold", "RFC 9112, 5.2: 400, or spaces", get("X: b\r\n c"), &["400 Head(ObsFold)"]),
        case("a fold with tab", "RFC 9112, 5.2", get("X: b\r\n\tc"), &["400 Head(ObsFold)"]),
        case("a fold of an empty value", "RFC 9112, 5.2", get("X:\r\n b"), &["400 Head(ObsFold)"]),
        case("a fold of spaces", "RFC 9112, 5.2", get("X: b\r\n  "), &["400 Head(ObsFold)"]),
        case("a fold that looks like a field", "RFC 9112, 5.2", get("X: b\r\n Content-Length: 5"), &["400 Head(ObsFold)"]),
        case("a fold behind the request line", "RFC 9112, 2.2: before the first field", "GET / HTTP/1.1\r\n X: b\r\nHost: a\r\n\r\n", &["400 Head(ObsFold)"]),
        case("a tab behind the request line", "RFC 9112, 2.2; HTTP Garden: aiohttp stripped it", "GET / HTTP/1.1\r\n\tX: b\r\nHost: a\r\n\r\n", &["400 Head(ObsFold)"]),
        case("a line of space at the end", "RFC 9112, 5.2", "GET / HTTP/1.1\r\nHost: a\r\n \r\n\r\n", &["400 Head(ObsFold)"]),
    ]
}
