//! Expect: RFC 9110, 10.1.1. One value is known; a body that is there already is not waited for.

use crate::case::{Case, case, get, next, post};

#[rustfmt::skip]
pub(crate) fn cases() -> Vec<Case> {
    vec![
        case("an expectation and no body", "RFC 9110, 10.1.1: nothing is waited for", get("Expect: 100-continue"), &["GET /"]),
        case("an expectation and a length of nothing", "RFC 9110, 10.1.1", post("Content-Length: 0\r\nExpect: 100-continue", ""), &["POST /"]),
        case("an expectation in any case", "RFC 9110, 10.1.1", get("Expect: 100-Continue"), &["GET /"]),
        case("an expectation in HTTP/1.0", "RFC 9110, 10.1.1: ignored", "GET / HTTP/1.0\r\nExpect: 100-continue\r\n\r\n", &["GET /"]).closes(),
        case("an expectation in HTTP/1.0 with a body", "RFC 9110, 10.1.1: ignored", "POST / HTTP/1.0\r\nContent-Length: 5\r\nExpect: 100-continue\r\n\r\nhello", &["POST / \"hello\""]).closes(),
        case("an unknown expectation", "RFC 9110, 10.1.1", post("Content-Length: 5\r\nExpect: tea", "hello"), &["417 UnsupportedExpectation"]),
        case("an unknown expectation without a body", "RFC 9110, 10.1.1", get("Expect: tea"), &["417 UnsupportedExpectation"]),
        case("an expectation and another", "RFC 9110, 10.1.1", get("Expect: 100-continue, x"), &["417 UnsupportedExpectation"]),
        case("an expectation with a parameter", "RFC 9110, 10.1.1", get("Expect: 100-continue;q=1"), &["417 UnsupportedExpectation"]),
        case("an expectation with a value", "RFC 9110, 10.1.1", get("Expect: 100-continue=x"), &["417 UnsupportedExpectation"]),
        case("an expectation in words", "Kettle, HTTP/1.1 must die: Expect: y 100-continue", post("Content-Length: 5\r\nExpect: y 100-continue", "hello"), &["417 UnsupportedExpectation"]),
        case("an expectation in quotes", "RFC 9110, 10.1.1", get("Expect: \"100-continue\""), &["417 UnsupportedExpectation"]),
        case("another status expected", "RFC 9110, 10.1.1", get("Expect: 200-ok"), &["417 UnsupportedExpectation"]),
        case("an empty expectation", "RFC 9110, 10.1.1", get("Expect:"), &["417 UnsupportedExpectation"]),
        case("two expectations, the second unknown", "RFC 9110, 10.1.1", get("Expect: 100-continue\r\nExpect: tea"), &["417 UnsupportedExpectation"]),
        case("two expectations, the first unknown", "RFC 9110, 10.1.1", get("Expect: tea\r\nExpect: 100-continue"), &["417 UnsupportedExpectation"]),
        case("an expectation behind a bare LF", "Kettle, HTTP/1.1 must die", post("Content-Length: 5\r\nX: b\nExpect: 100-continue", "hello"), &["400 Head(BareLf)"]),
        case("a folded expectation", "Kettle, HTTP/1.1 must die; RFC 9112, 5.2", post("Content-Length: 5\r\nExpect:\r\n 100-continue", "hello"), &["400 Head(ObsFold)"]),
        case("an expectation and both lengths", "RFC 9112, 6.3", post("Expect: 100-continue\r\nContent-Length: 5\r\nTransfer-Encoding: chunked", "0\r\n\r\n"), &["400 AmbiguousLength"]),
        case("an expectation and a body that is too large", "RFC 9110, 10.1.1: a final status at once", post("Expect: 100-continue\r\nContent-Length: 2000", ""), &["413 BodyTooLarge"]),

        // Whether the body comes, when nobody asked for it with a 100, is not known: so the connection ends.
        case("an expectation that nobody meets", "RFC 9110, 10.1.1; Kettle, HTTP/1.1 must die: 0.CL by Expect", format!("POST /ignore HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\nExpect: 100-continue\r\n\r\n{}", next("/never")), &["POST /ignore"]).closes(),
        case("an expectation of chunks that nobody meets", "Kettle, HTTP/1.1 must die", format!("POST /ignore HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\nExpect: 100-continue\r\n\r\n{}", next("/never")), &["POST /ignore"]).closes(),
    ]
}
