//! CR LF and nothing else: bare LF, bare CR, NUL and other bytes where a line ends, or does not; and what may stand before a
//! request line.
//!
//! RFC 9112, 2.2 allows a recipient to take LF for the end of a line. Nobody should: the next one down the line may not.

use crate::case::{Case, case, get, next};

#[rustfmt::skip]
pub(crate) fn cases() -> Vec<Case> {
    vec![
        // Before the request line: one empty line, as RFC 9112, 2.2 asks.
        case("an empty line before the first request", "RFC 9112, 2.2", "\r\nGET / HTTP/1.1\r\nHost: a\r\n\r\n", &["GET /"]),
        case("an empty line between requests", "RFC 9112, 2.2", format!("{}\r\n{}", next("/a"), next("/b")), &["GET /a", "GET /b"]),
        case("two empty lines", "RFC 9112, 2.2: at least one", "\r\n\r\nGET / HTTP/1.1\r\nHost: a\r\n\r\n", &["400 Head(BadMethod)"]),
        case("two empty lines between requests", "RFC 9112, 2.2: at least one", format!("{}\r\n\r\n{}", next("/a"), next("/b")), &["GET /a", "400 Head(BadMethod)"]),
        case("an empty line and no more", "RFC 9112, 2.2", "\r\n", &[]).with_empty_line(),
        case("LF before the request line", "RFC 9112, 2.2", "\nGET / HTTP/1.1\r\nHost: a\r\n\r\n", &["400 Head(BareLf)"]),
        case("CR before the request line", "RFC 9112, 2.2", "\rGET / HTTP/1.1\r\nHost: a\r\n\r\n", &["400 Head(BadMethod)"]),
        case("CR CR LF before the request line", "RFC 9112, 2.2", "\r\r\nGET / HTTP/1.1\r\nHost: a\r\n\r\n", &["400 Head(BadMethod)"]),
        case("LF between requests", "RFC 9112, 2.2", format!("{}\n{}", next("/a"), next("/b")), &["GET /a", "400 Head(BareLf)"]),
        case("NUL before the request line", "CVE-2026-50020 (Netty skipped it)", "\0GET / HTTP/1.1\r\nHost: a\r\n\r\n", &["400 Head(BadMethod)"]),
        case("a control byte before the request line", "CVE-2026-50020 (Netty skipped it)", "\x01GET / HTTP/1.1\r\nHost: a\r\n\r\n", &["400 Head(BadMethod)"]),
        case("DEL before the request line", "CVE-2026-50020 (Netty skipped it)", "\x7fGET / HTTP/1.1\r\nHost: a\r\n\r\n", &["400 Head(BadMethod)"]),
        case("space before the request line", "RFC 9112, 3", " GET / HTTP/1.1\r\nHost: a\r\n\r\n", &["400 Head(BadMethod)"]),
        case("tab before the request line", "RFC 9112, 3", "\tGET / HTTP/1.1\r\nHost: a\r\n\r\n", &["400 Head(BadMethod)"]),
        case("a byte order mark before the request line", "RFC 9112, 2.2: octets, not text", "\u{feff}GET / HTTP/1.1\r\nHost: a\r\n\r\n", &["400 Head(BadMethod)"]),
        case("a line of space before the request line", "RFC 9112, 2.2", " \r\nGET / HTTP/1.1\r\nHost: a\r\n\r\n", &["400 Head(BadMethod)"]),
        case("a field before the request line", "RFC 9112, 2.1", "Host: a\r\nGET / HTTP/1.1\r\n\r\n", &["400 Head(BadMethod)"]),

        // Bare LF.
        case("LF behind every line", "RFC 9112, 2.2; CVE-2019-16785 (Waitress); HTTP Garden: OpenLiteSpeed", "GET / HTTP/1.1\nHost: a\n\n", &["400 Head(BareLf)"]),
        case("LF behind the request line", "CVE-2019-16785 (Waitress)", "GET / HTTP/1.1\nHost: a\r\n\r\n", &["400 Head(BareLf)"]),
        case("LF behind Host", "CVE-2019-16785 (Waitress)", "GET / HTTP/1.1\r\nHost: a\n\r\n", &["400 Head(BareLf)"]),
        case("LF behind a field", "CVE-2021-41136 (Puma)", get("X: b\n"), &["400 Head(BareLf)"]),
        case("LF within a value", "CVE-2019-16785 (Waitress); CVE-2021-37147 (Apache Traffic Server)", get("X: b\nC: d"), &["400 Head(BareLf)"]),
        case("LF within a name", "HTTP Garden: OpenLiteSpeed", get("Te\nst: b"), &["400 Head(BareLf)"]),
        case("two LF behind a colon", "HTTP Garden: gunicorn", "GET / HTTP/1.1\r\nHost: a\r\nX:\n\nGET /smuggled HTTP/1.1\r\nHost: a\r\n\r\n", &["400 Head(BareLf)"]),
        case("LF for the last line", "RFC 9112, 2.2", "GET / HTTP/1.1\r\nHost: a\r\n\n", &["400 Head(BareLf)"]),
        case("LF LF in place of CR LF CR LF", "RFC 9112, 2.2", "GET / HTTP/1.1\r\nHost: a\n\nGET /smuggled HTTP/1.1\r\nHost: a\r\n\r\n", &["400 Head(BareLf)"]),
        case("LF within the request line", "HTTP Garden: aiohttp", "GET /\nHTTP/1.1\r\nHost: a\r\n\r\n", &["400 Head(BareLf)"]),
        case("LF CR", "RFC 9112, 2.2", "GET / HTTP/1.1\n\rHost: a\n\r\n\r", &["400 Head(BareLf)"]),

        // Bare CR.
        case("CR behind every line", "RFC 9112, 2.2", "GET / HTTP/1.1\rHost: a\r\r", &["400 Head(BadVersion)"]),
        case("CR behind the request line", "RFC 9112, 2.2", "GET / HTTP/1.1\rHost: a\r\n\r\n", &["400 Head(BadVersion)"]),
        case("CR CR LF behind the request line", "RFC 9112, 2.2", "GET / HTTP/1.1\r\r\nHost: a\r\n\r\n", &["400 Head(BadVersion)"]),
        case("CR within a value", "CVE-2015-8852 (Varnish); HTTP Garden: CPython, Mongoose; CVE-2023-30589 (Node.js)", get("X: b\rC: d"), &["400 Head(BareCr)"]),
        case("CR at the end of a value", "RFC 9112, 2.2", get("X: b\r"), &["400 Head(BareCr)"]),
        case("CR at the start of a value", "RFC 9112, 2.2", get("X: \rb"), &["400 Head(BareCr)"]),
        case("CR within a name", "CVE-2022-32214 (Node.js)", get("Te\rst: b"), &["400 Head(BadName)"]),
        case("CR at the start of a name", "CVE-2025-23167 (Node.js ended the head); HTTP Garden: Node.js", "GET / HTTP/1.1\r\nHost: a\r\n\rZGET /evil: HTTP/1.1\r\nHost: a\r\n\r\n", &["400 Head(BareCr)"]),
        case("CR and something for the last line", "CVE-2025-23167 (Node.js)", "GET / HTTP/1.1\r\nHost: a\r\nA: b\r\n\rGET /smuggled HTTP/1.1\r\nHost: a\r\n\r\n", &["400 Head(BareCr)"]),
        case("CR CR CR for the end", "CVE-2026-28367 (Undertow)", "GET / HTTP/1.1\r\nHost: a\r\r\rGET /smuggled HTTP/1.1\r\nHost: a\r\n\r\n", &["400 Head(BareCr)"]),
        case("CR within a target", "RFC 9112, 3.2", "GET /a\rb HTTP/1.1\r\nHost: a\r\n\r\n", &["400 Head(BadVersion)"]),
        case("CR within a method", "RFC 9112, 3.1", "GE\rT / HTTP/1.1\r\nHost: a\r\n\r\n", &["400 Head(BadMethod)"]),

        // Other ends.
        case("NUL for a line's end", "RFC 9112, 2.2", "GET / HTTP/1.1\0Host: a\r\n\r\n", &["400 Head(BadVersion)"]),
        case("0x85 for a line's end", "RFC 9112, 2.2: what Unicode calls one", b"GET / HTTP/1.1\x85Host: a\r\n\r\n", &["400 Head(BadVersion)"]),
        case("0x85 within a value is a byte like others", "RFC 9110, 5.5: obs-text", get(b"X: b\x85C: d"), &["GET / [b\\x85C: d]"]),
        case("U+2028 within a value is bytes like others", "RFC 9110, 5.5: obs-text", get("X: b\u{2028}C: d"), &["GET / [b\\xe2\\x80\\xa8C: d]"]),
        case("vertical tab for a line's end", "RFC 9112, 2.2", get("X: b\x0bC: d"), &["400 Head(BadValue)"]),
        case("form feed for a line's end", "RFC 9112, 2.2", get("X: b\x0cC: d"), &["400 Head(BadValue)"]),
        case("an escaped line end is none", "RFC 9110, 5.5: nothing is decoded", get("X: b%0d%0aC: d"), &["GET / [b%0d%0aC: d]"]),
        case("a line end in words is none", "RFC 9110, 5.5: nothing is decoded", get("X: b\\r\\nC: d"), &["GET / [b\\\\r\\\\nC: d]"]),

        // The end of the stream within a head.
        case("one byte", "RFC 9112, 8", "G", &["400 Head(Truncated)"]).unfinished(),
        case("a method and no more", "RFC 9112, 8", "GET ", &["400 Head(Truncated)"]).unfinished(),
        case("a request line without its end", "RFC 9112, 8", "GET / HTTP/1.1", &["400 Head(Truncated)"]).unfinished(),
        case("a request line and no more", "RFC 9112, 8", "GET / HTTP/1.1\r\n", &["400 Head(Truncated)"]).unfinished(),
        case("a head that ends within a field", "RFC 9112, 8", "GET / HTTP/1.1\r\nHost: a", &["400 Head(Truncated)"]).unfinished(),
        case("a head that ends behind a field", "RFC 9112, 8", "GET / HTTP/1.1\r\nHost: a\r\n", &["400 Head(Truncated)"]).unfinished(),
        case("a head that lacks a byte", "RFC 9112, 8; CVE-2022-35256 (Node.js)", "GET / HTTP/1.1\r\nHost: a\r\n\r", &["400 Head(Truncated)"]).unfinished(),
        case("part of a second request", "RFC 9112, 8", format!("{}GET", next("/a")), &["GET /a", "400 Head(Truncated)"]).unfinished(),
        case("nothing at all", "RFC 9112, 9.3", "", &[]),
    ]
}
