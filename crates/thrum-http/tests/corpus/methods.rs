//! The request line: its method and its spaces.

use crate::case::{Case, case, line};

#[rustfmt::skip]
pub(crate) fn cases() -> Vec<Case> {
    vec![
        case("GET", "RFC 9110, 9.3.1", line("GET / HTTP/1.1"), &["GET /"]),
        case("HEAD", "RFC 9110, 9.3.2: no body comes back", line("HEAD / HTTP/1.1"), &["HEAD /"]),
        case("PATCH", "RFC 9110, 9.1", line("PATCH / HTTP/1.1"), &["PATCH /"]),
        case("TRACE", "RFC 9110, 9.3.8: the handler decides", line("TRACE / HTTP/1.1"), &["TRACE /"]),
        case("get is another method", "RFC 9110, 9.1: case-sensitive", line("get / HTTP/1.1"), &["get /"]),
        case("a method of every byte that a token has", "RFC 9110, 5.6.2", line("A!#$%&'*+-.^_`|~9 / HTTP/1.1"), &["A!#$%&'*+-.^_`|~9 /"]),
        case("a method of one digit", "RFC 9110, 5.6.2", line("0 / HTTP/1.1"), &["0 /"]),
        case("a method of 32 bytes", "RFC 9112, 3", line(format!("{} / HTTP/1.1", "M".repeat(32))), &["MMMMMMMMMMMMMMMMMMMMMMMMMMMMMMMM /"]),
        case("a method of 33 bytes", "RFC 9112, 3: 501", line(format!("{} / HTTP/1.1", "M".repeat(33))), &["501 Head(MethodTooLong)"]),
        case("a method that is never over", "RFC 9112, 3: 501", "M".repeat(5000), &["501 Head(MethodTooLong)"]),
        case("a method with a comma", "RFC 9110, 9.1", line("GET, / HTTP/1.1"), &["400 Head(BadMethod)"]),
        case("a method with an at sign", "RFC 9110, 9.1", line("G@T / HTTP/1.1"), &["400 Head(BadMethod)"]),
        case("a method with a colon", "RFC 9110, 9.1", line("GET: / HTTP/1.1"), &["400 Head(BadMethod)"]),
        case("a method with a slash", "RFC 9110, 9.1", line("GET/ / HTTP/1.1"), &["400 Head(BadMethod)"]),
        case("a method of separators", "HTTP Garden: aiohttp took its first letter", line("G=\":<>(e),[T];?\" /get HTTP/1.1"), &["400 Head(BadMethod)"]),
        case("a method beyond ASCII", "RFC 9110, 9.1", line(b"GE\xe9 / HTTP/1.1"), &["400 Head(BadMethod)"]),
        case("a method with NUL", "HTTP Garden: Waitress", line("GET\0 / HTTP/1.1"), &["400 Head(BadMethod)"]),
        case("a method of NUL", "HTTP Garden: Waitress", line("\0 / HTTP/1.1"), &["400 Head(BadMethod)"]),
        case("a method in quotes", "RFC 9110, 9.1", line("\"GET\" / HTTP/1.1"), &["400 Head(BadMethod)"]),
        case("no method", "RFC 9112, 3", line("/ HTTP/1.1"), &["400 Head(BadMethod)"]),
        case("a method alone", "RFC 9112, 3", "GET\r\n\r\n", &["400 Head(BadMethod)"]),
        case("a method and a space", "RFC 9112, 3", "GET \r\n\r\n", &["400 Head(BadVersion)"]),
        case("a request line in one word", "RFC 9112, 3", line("GET/HTTP/1.1"), &["400 Head(BadMethod)"]),

        // One space in each place: RFC 9112, 3 allows more to be taken, and says what comes of it.
        case("two spaces behind the method", "RFC 9112, 3; CVE-2016-8743 (Apache)", line("GET  / HTTP/1.1"), &["400 Head(BadTarget)"]),
        case("two spaces behind the target", "RFC 9112, 3; CVE-2016-8743 (Apache)", line("GET /  HTTP/1.1"), &["400 Head(BadVersion)"]),
        case("space behind the version", "RFC 9112, 3", line("GET / HTTP/1.1 "), &["400 Head(BadVersion)"]),
        case("tab behind the method", "CVE-2016-8743 (Apache)", line("GET\t/ HTTP/1.1"), &["400 Head(BadMethod)"]),
        case("tab behind the target", "CVE-2016-8743 (Apache)", line("GET /\tHTTP/1.1"), &["400 Head(BadTarget)"]),
        case("vertical tab behind the method", "CVE-2016-8743 (Apache); RFC 9112, 3", line("GET\x0b/ HTTP/1.1"), &["400 Head(BadMethod)"]),
        case("form feed behind the target", "RFC 9112, 3", line("GET /\x0cHTTP/1.1"), &["400 Head(BadTarget)"]),
        case("no-break space behind the target", "RFC 9112, 3", line(b"GET /\xa0HTTP/1.1"), &["400 Head(BadTarget)"]),
        case("a folded request line", "RFC 9112, 3", line("GET /\r\n HTTP/1.1"), &["400 Head(BadVersion)"]),
        case("a request line and a word", "RFC 9112, 3", line("GET / HTTP/1.1 x"), &["400 Head(BadVersion)"]),
        case("two request lines", "RFC 9112, 3", "GET / HTTP/1.1\r\nGET / HTTP/1.1\r\nHost: a\r\n\r\n", &["400 Head(SpaceBeforeColon)"]),
        case("two request lines in one", "RFC 9112, 3", line("GET / HTTP/1.1 GET /smuggled HTTP/1.1"), &["400 Head(BadVersion)"]),

        // Other protocols.
        case("a status line", "RFC 9112, 2.1", "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", &["400 Head(BadMethod)"]),
        case("the start of a TLS connection", "RFC 9112, 3", b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03", &["400 Head(BadMethod)"]),
        case("a PROXY line", "RFC 9112, 3; the PROXY protocol is not spoken", "PROXY TCP4 1.2.3.4 5.6.7.8 9 10\r\nGET / HTTP/1.1\r\nHost: a\r\n\r\n", &["400 Head(BadVersion)"]),
        case("a greeting of SMTP", "RFC 9112, 3", "EHLO a\r\nMAIL FROM:<a@b>\r\n", &["400 Head(BadVersion)"]),
    ]
}
