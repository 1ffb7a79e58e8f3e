//! Content-Length: what is a number, and what if there are two.

use crate::case::{Case, case, next, post};

#[rustfmt::skip]
pub(crate) fn cases() -> Vec<Case> {
    vec![
        case("a length", "RFC 9112, 6.3", post("Content-Length: 5", "hello"), &["POST / \"hello\""]),
        case("a length of nothing", "RFC 9112, 6.3", post("Content-Length: 0", ""), &["POST /"]),
        case("no length", "RFC 9112, 6.3: a request without either field has no body", post("X: 1", ""), &["POST / [1]"]),
        case("a length in any case", "RFC 9110, 5.1", post("cOnTeNt-LeNgTh: 5", "hello"), &["POST / \"hello\""]),
        case("a length with space around it", "RFC 9112, 5", post("Content-Length: \t 5\t ", "hello"), &["POST / \"hello\""]),
        case("a length without space before it", "RFC 9112, 5", post("Content-Length:5", "hello"), &["POST / \"hello\""]),
        case("a length with zeros before it", "RFC 9110, 8.6: 1*DIGIT", post("Content-Length: 0005", "hello"), &["POST / \"hello\""]),
        case("a length is not octal", "RFC 9110, 8.6; HTTP Garden: OpenLiteSpeed", post("Content-Length: 010", "0123456789"), &["POST / \"0123456789\""]),
        case("a length of zeros only", "RFC 9110, 8.6", post("Content-Length: 000", ""), &["POST /"]),
        case("a body is bytes", "RFC 9110, 6.4", post("Content-Length: 6", b"\r\n\0\xff\n\r"), &["POST / \"\\r\\n\\x00\\xff\\n\\r\""]),
        case("a body that looks like a request", "RFC 9112, 6.3", post("Content-Length: 35", "GET /smuggled HTTP/1.1\r\nHost: a\r\n\r\n"), &["POST / \"GET /smuggled HTTP/1.1\\r\\nHost: a\\r\\n\\r\\n\""]),
        case("a body that looks like chunks", "RFC 9112, 6.3", post("Content-Length: 5", "0\r\n\r\n"), &["POST / \"0\\r\\n\\r\\n\""]),
        case("a length as large as is allowed", "RFC 9110, 15.5.14", post("Content-Length: 1000", "x".repeat(1000)), &["POST / 1000 bytes"]),

        // What is no number: RFC 9110, 8.6 has digits only.
        case("a length with plus", "RUSTSEC-2021-0078 (hyper), CVE-2023-40167 (Jetty), CVE-2022-24761 (Waitress)", post("Content-Length: +5", "hello"), &["400 BadContentLength"]),
        case("plus zero", "HTTP Garden: OpenBSD relayd", post("Content-Length: +0", ""), &["400 BadContentLength"]),
        case("a negative length", "CVE-2023-34188 (Mongoose looped)", post("Content-Length: -48", ""), &["400 BadContentLength"]),
        case("minus zero", "RFC 9110, 8.6", post("Content-Length: -0", ""), &["400 BadContentLength"]),
        case("a length in hexadecimal", "HTTP Garden: Akamai; CVE-2023-38697 (Falcon)", post("Content-Length: 0x5", "hello"), &["400 BadContentLength"]),
        case("a length in letters of hexadecimal", "RFC 9110, 8.6", post("Content-Length: a", "0123456789"), &["400 BadContentLength"]),
        case("a length with underscore", "HTTP Garden: CPython, gunicorn, Tornado, Werkzeug", post("Content-Length: 1_0", "0123456789"), &["400 BadContentLength"]),
        case("a length and letters", "HTTP Garden: OpenLiteSpeed, Mongoose", post("Content-Length: 5abc", "hello"), &["400 BadContentLength"]),
        case("a length after letters", "RFC 9110, 8.6", post("Content-Length: x5", "hello"), &["400 BadContentLength"]),
        case("two lengths with space between", "RFC 9110, 8.6", post("Content-Length: 5 \t6", "hello"), &["400 BadContentLength"]),
        case("a length with space within", "RFC 9110, 8.6", post("Content-Length: 1 0", "0123456789"), &["400 BadContentLength"]),
        case("a length with a semicolon", "RFC 9110, 8.6", post("Content-Length: 5;", "hello"), &["400 BadContentLength"]),
        case("a length with a parameter", "RFC 9110, 8.6", post("Content-Length: 5;q=1", "hello"), &["400 BadContentLength"]),
        case("a length with a fraction", "RFC 9110, 8.6", post("Content-Length: 5.0", "hello"), &["400 BadContentLength"]),
        case("a length with an exponent", "RFC 9110, 8.6", post("Content-Length: 1e1", "0123456789"), &["400 BadContentLength"]),
        case("a length in quotes", "RFC 9110, 8.6", post("Content-Length: \"5\"", "hello"), &["400 BadContentLength"]),
        case("a length in words", "HTTP Garden: what stands beside chunked is not looked at", post("Content-Length: blahblahblah", ""), &["400 BadContentLength"]),
        case("an empty length", "HTTP Garden: Go, lighttpd, Puma; GHSA-68xg-gqqm-vgj8 (Puma took all that followed)", post("Content-Length:", ""), &["400 BadContentLength"]),
        case("a length of spaces", "HTTP Garden: Apache Traffic Server", post("Content-Length: \t ", ""), &["400 BadContentLength"]),
        case("a length behind a vertical tab", "CVE-2019-16789 (Waitress stripped it)", post("Content-Length: \x0b5", "hello"), &["400 Head(BadValue)"]),
        case("a length before a vertical tab", "CVE-2019-16789 (Waitress stripped it)", post("Content-Length: 5\x0b", "hello"), &["400 Head(BadValue)"]),
        case("a length behind a form feed", "RFC 9112, 5: OWS is space and tab", post("Content-Length: \x0c5", "hello"), &["400 Head(BadValue)"]),
        case("a length behind a no-break space", "RFC 9112, 5; HTTP Garden: gunicorn, of names", post(b"Content-Length: \xa05", "hello"), &["400 BadContentLength"]),
        case("a length before 0x85", "RFC 9112, 5; HTTP Garden: gunicorn, of names", post(b"Content-Length: 5\x85", "hello"), &["400 BadContentLength"]),
        case("a length with NUL", "RFC 9110, 5.5", post("Content-Length: 5\0", "hello"), &["400 Head(BadValue)"]),
        case("a length with NUL within", "RFC 9110, 5.5", post("Content-Length: 1\x000", "0123456789"), &["400 Head(BadValue)"]),
        case("a length in full-width digits", "RFC 9110, 8.6: DIGIT is ASCII", post("Content-Length: \u{ff15}", "hello"), &["400 BadContentLength"]),
        case("a length in Arabic digits", "RFC 9110, 8.6: DIGIT is ASCII", post("Content-Length: \u{665}", "hello"), &["400 BadContentLength"]),
        case("a length with an escape", "RFC 9110, 8.6: nothing is decoded", post("Content-Length: %35", "hello"), &["400 BadContentLength"]),
        case("a length and a comment", "RFC 9110, 8.6", post("Content-Length: 5 (bytes)", "hello"), &["400 BadContentLength"]),
        case("a length folded", "RFC 9112, 5.2", post("Content-Length:\r\n 5", "hello"), &["400 Head(ObsFold)"]),

        // How large.
        case("a length beyond what is allowed", "RFC 9110, 15.5.14", post("Content-Length: 1001", ""), &["413 BodyTooLarge"]),
        case("a length of 2^32 + 5", "RFC 9110, 8.6: no overflow", post("Content-Length: 4294967301", "hello"), &["413 BodyTooLarge"]),
        case("a length of 2^63", "RFC 9110, 8.6: no overflow", post("Content-Length: 9223372036854775808", "hello"), &["413 BodyTooLarge"]),
        case("a length of 2^64 - 1", "RFC 9110, 8.6: no overflow", post("Content-Length: 18446744073709551615", "hello"), &["413 BodyTooLarge"]),
        case("a length of 2^64 + 5", "RFC 9110, 8.6: no overflow", post("Content-Length: 18446744073709551621", "hello"), &["400 BadContentLength"]),
        case("a length of twenty nines", "RFC 9110, 8.6: no overflow", post("Content-Length: 99999999999999999999", "hello"), &["400 BadContentLength"]),
        case("a length of 300 digits", "RFC 9110, 8.6: no overflow", post(format!("Content-Length: {}", "9".repeat(300)), "hello"), &["400 BadContentLength"]),

        // More than one. RFC 9110, 8.6 lets one that is repeated be refused, and RFC 9112, 6.3 wants different ones to be.
        case("two lengths that agree", "RFC 9110, 8.6", post("Content-Length: 5\r\nContent-Length: 5", "hello"), &["400 DuplicateContentLength"]),
        case("two lengths that differ", "RFC 9112, 6.3; CVE-2017-7658 (Jetty), CVE-2020-10108 (Twisted), CVE-2019-16792 (Waitress)", post("Content-Length: 5\r\nContent-Length: 6", "hello"), &["400 DuplicateContentLength"]),
        case("a length of nothing and a longer one", "HTTP Garden: OpenBSD relayd, H2O", post("Content-Length: 0\r\nContent-Length: 31", next("/evil")), &["400 DuplicateContentLength"]),
        case("two lengths in two cases", "RFC 9110, 5.1", post("Content-Length: 5\r\ncontent-length: 6", "hello"), &["400 DuplicateContentLength"]),
        case("two lengths far apart", "RFC 9112, 6.3", post("Content-Length: 5\r\nA: 1\r\nB: 2\r\nC: 3\r\nContent-Length: 0", "hello"), &["400 DuplicateContentLength"]),
        case("an empty length and another", "CVE-2023-40225 (HAProxy); HTTP Garden: WEBrick", post("Content-Length:\r\nContent-Length: 5", "hello"), &["400 BadContentLength"]),
        case("a length and an empty one", "CVE-2023-40225 (HAProxy)", post("Content-Length: 5\r\nContent-Length:", "hello"), &["400 BadContentLength"]),
        case("a list of lengths that agree", "RFC 9110, 8.6", post("Content-Length: 5, 5", "hello"), &["400 BadContentLength"]),
        case("a list of lengths that differ", "RFC 9112, 6.3", post("Content-Length: 5,6", "hello"), &["400 BadContentLength"]),
        case("a list with nothing first", "RFC 9110, 5.6.1.2 does not hold for what is no list", post("Content-Length: ,5", "hello"), &["400 BadContentLength"]),
        case("a list with nothing last", "RFC 9110, 5.6.1.2 does not hold for what is no list", post("Content-Length: 5,", "hello"), &["400 BadContentLength"]),

        // What looks like it.
        case("an underscore is no hyphen", "CVE-2024-45614 (Puma)", post("Content_Length: 5", ""), &["POST /"]),
        case("a name that goes on", "RFC 9110, 5.1", post("Content-Length-X: 5", ""), &["POST /"]),
        case("a name that starts before", "RFC 9110, 5.1", post("X-Content-Length: 5", ""), &["POST /"]),
        case("a name of the same length", "CVE-2021-40346 (HAProxy confused them by overflow)", post("Content-Length0: 5\r\nContent.Length: 5", ""), &["POST /"]),
        case("a name of 256 bytes more", "CVE-2021-40346 (HAProxy kept a name's length in 8 bits)", post(format!("Content-Length0{}: 5\r\nContent-Length: 0", "a".repeat(255)), ""), &["POST /"]),
        case("a length in a value", "RFC 9112, 5", post("X: Content-Length: 5", ""), &["POST / [Content-Length: 5]"]),
        case("a length named as an option", "RFC 9110, 7.6.1: a recipient that is the last goes by it still", post("Connection: Content-Length\r\nContent-Length: 5", "hello"), &["POST / \"hello\""]),

        // Where the body ends.
        case("a body of a GET", "RFC 9110, 9.3.1; RUSTSEC-2020-0008 (hyper), HTTP Garden: OpenBSD relayd", "GET / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nhello", &["GET / \"hello\""]),
        case("a body of a DELETE", "RFC 9110, 9.3.5", "DELETE / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nhello", &["DELETE / \"hello\""]),
        case("a body of an OPTIONS", "RFC 9110, 9.3.7", "OPTIONS / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nhello", &["OPTIONS / \"hello\""]),
        case("a body of a method that nobody knows", "RFC 9110, 9.1", "FROB / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nhello", &["FROB / \"hello\""]),
        case("a body that is cut off", "RFC 9112, 8; CVE-2022-22720 (Apache went on)", post("Content-Length: 6", "hello"), &["400 Truncated"]).unfinished(),
        case("a body that does not come", "RFC 9112, 8", post("Content-Length: 5", ""), &["400 Truncated"]).unfinished(),
        case("more than the length", "RFC 9112, 6.3: what follows is the next request", post("Content-Length: 5", format!("hello{}", next("/own"))), &["POST / \"hello\"", "GET /own"]),
        case("more than the length, and not a request", "RFC 9112, 3", post("Content-Length: 5", "helloX"), &["POST / \"hello\"", "400 Head(Truncated)"]).unfinished(),
        case("an empty line behind a body", "RFC 9112, 2.2", post("Content-Length: 5", "hello\r\n"), &["POST / \"hello\""]).with_empty_line(),
    ]
}
