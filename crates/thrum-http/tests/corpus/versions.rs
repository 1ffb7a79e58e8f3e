//! Versions: RFC 9112, 2.3. 1.1 and 1.0 are spoken; another well-formed one is 505; anything else is no version.

use crate::case::{Case, case, line, next};

#[rustfmt::skip]
pub(crate) fn cases() -> Vec<Case> {
    vec![
        case("HTTP/1.0", "RFC 9112, 9.3", "GET / HTTP/1.0\r\n\r\n", &["GET /"]).closes(),
        case("HTTP/1.0 with Host", "RFC 9112, 3.2", line("GET / HTTP/1.0"), &["GET /"]).closes(),
        case("HTTP/1.0 with a body", "RFC 9112, 6.3", "POST / HTTP/1.0\r\nContent-Length: 5\r\n\r\nhello", &["POST / \"hello\""]).closes(),
        case("HTTP/1.0 behind HTTP/1.1", "RFC 9112, 9.3", format!("{}GET /b HTTP/1.0\r\n\r\n", next("/a")), &["GET /a", "GET /b"]).closes(),
        case("HTTP/0.9", "RFC 9112, 3; CVE-2017-7656 (Jetty)", "GET /\r\n", &["400 Head(BadVersion)"]),
        case("HTTP/0.9 with a field", "CVE-2017-7656 (Jetty)", "GET /\r\nHost: a\r\n\r\n", &["400 Head(BadVersion)"]),
        case("HTTP/0.9 by its number", "RFC 9112, 2.3", line("GET / HTTP/0.9"), &["505 Head(UnsupportedVersion)"]),
        case("HTTP/1.2", "RFC 9110, 15.6.6; HTTP Garden: aiohttp", line("GET / HTTP/1.2"), &["505 Head(UnsupportedVersion)"]),
        case("HTTP/1.9", "RFC 9110, 2.5 lets it be read as 1.1; refused rather than guessed", line("GET / HTTP/1.9"), &["505 Head(UnsupportedVersion)"]),
        case("HTTP/0.0", "RFC 9112, 2.3", line("GET / HTTP/0.0"), &["505 Head(UnsupportedVersion)"]),
        case("HTTP/2.0", "RFC 9110, 15.6.6", line("GET / HTTP/2.0"), &["505 Head(UnsupportedVersion)"]),
        case("HTTP/3.0", "RFC 9110, 15.6.6", line("GET / HTTP/3.0"), &["505 Head(UnsupportedVersion)"]),
        case("HTTP/9.9", "RFC 9110, 15.6.6", line("GET / HTTP/9.9"), &["505 Head(UnsupportedVersion)"]),
        case("no minor version", "RFC 9112, 2.3", line("GET / HTTP/1"), &["400 Head(BadVersion)"]),
        case("no minor version but a point", "RFC 9112, 2.3", line("GET / HTTP/1."), &["400 Head(BadVersion)"]),
        case("no numbers", "RFC 9112, 2.3", line("GET / HTTP/"), &["400 Head(BadVersion)"]),
        case("no point", "RFC 9112, 2.3", line("GET / HTTP/11"), &["400 Head(BadVersion)"]),
        case("a comma for a point", "RFC 9112, 2.3", line("GET / HTTP/1,1"), &["400 Head(BadVersion)"]),
        case("two minor digits", "RFC 9112, 2.3; HTTP Garden: aiohttp", line("GET / HTTP/1.10"), &["400 Head(BadVersion)"]),
        case("two major digits", "RFC 9112, 2.3", line("GET / HTTP/01.1"), &["400 Head(BadVersion)"]),
        case("a version that overflows", "HTTP Garden: libevent", line("GET / HTTP/4294967297.1"), &["400 Head(BadVersion)"]),
        case("a version of many points", "HTTP Garden: Waitress", line("GET / HTTP/............0596.7407."), &["400 Head(BadVersion)"]),
        case("three numbers", "RFC 9112, 2.3", line("GET / HTTP/1.1.1"), &["400 Head(BadVersion)"]),
        case("a version with plus", "RFC 9112, 2.3", line("GET / HTTP/+1.1"), &["400 Head(BadVersion)"]),
        case("a version in hexadecimal", "RFC 9112, 2.3", line("GET / HTTP/1.a"), &["400 Head(BadVersion)"]),
        case("a version and a letter", "RFC 9112, 2.3", line("GET / HTTP/1.1x"), &["400 Head(BadVersion)"]),
        case("a version and NUL", "RFC 9112, 2.3", line("GET / HTTP/1.1\0"), &["400 Head(BadVersion)"]),
        case("a version with space within", "RFC 9112, 2.3", line("GET / HTTP/ 1.1"), &["400 Head(BadVersion)"]),
        case("a version with space before the slash", "RFC 9112, 2.3", line("GET / HTTP /1.1"), &["400 Head(BadVersion)"]),
        case("a version in small letters", "RFC 9112, 2.3: case-sensitive", line("GET / http/1.1"), &["400 Head(BadVersion)"]),
        case("a version in full-width digits", "RFC 9112, 2.3", line("GET / HTTP/\u{ff11}.1"), &["400 Head(BadVersion)"]),
        case("another protocol", "RFC 9112, 2.3", line("GET / HTP/1.1"), &["400 Head(BadVersion)"]),
        case("HTTPS for HTTP", "RFC 9112, 2.3", line("GET / HTTPS/1.1"), &["400 Head(BadVersion)"]),
        case("XHTTP for HTTP", "RFC 9112, 2.3", line("GET / XHTTP/1.1"), &["400 Head(BadVersion)"]),
        case("a slash more", "RFC 9112, 2.3", line("GET / HTTP//1.1"), &["400 Head(BadVersion)"]),
        // The preface of HTTP/2 itself is for that part of the server; what is nearly it is HTTP/1.1, and wrong.
        case("the preface of HTTP/2 with a field", "RFC 9113, 3.4", "PRI * HTTP/2.0\r\nHost: a\r\n\r\nSM\r\n\r\n", &["505 Head(UnsupportedVersion)"]),
        case("the preface of HTTP/2 with a letter that differs", "RFC 9113, 3.4", "PRI * HTTP/2.0\r\n\r\nSN\r\n\r\n", &["505 Head(UnsupportedVersion)"]),
        case("the preface of HTTP/2 with another version", "RFC 9113, 3.4", "PRI * HTTP/1.1\r\n\r\nSM\r\n\r\n", &["400 BadTarget"]),
        case("the preface of HTTP/2 behind a request", "RFC 9113, 3.4", format!("{}PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", next("/a")), &["GET /a", "505 Head(UnsupportedVersion)"]),
    ]
}
