//! Several requests on a connection: each is answered, in order, and nothing of one is taken for part of another.

use crate::case::{Case, case, chunked, next, post};

#[rustfmt::skip]
pub(crate) fn cases() -> Vec<Case> {
    vec![
        case("two requests", "RFC 9112, 9.3.2", format!("{}{}", next("/a"), next("/b")), &["GET /a", "GET /b"]),
        case("five requests", "RFC 9112, 9.3.2: in their order; CVE-2024-41671 (Twisted)", ["/a", "/b", "/c", "/d", "/e"].map(next).concat(), &["GET /a", "GET /b", "GET /c", "GET /d", "GET /e"]),
        case("a request, one with a body, a request", "RFC 9112, 9.3.2; CVE-2023-46137 (Twisted)", [next("/a").into_bytes(), post("Content-Length: 5", "hello"), next("/b").into_bytes()].concat(), &["GET /a", "POST / \"hello\"", "GET /b"]),
        case("two with bodies", "RFC 9112, 9.3.2", [post("Content-Length: 5", "hello"), post("Content-Length: 2", "ho")].concat(), &["POST / \"hello\"", "POST / \"ho\""]),
        case("a length, chunks, a length", "RFC 9112, 6.3: of each by itself", [post("Content-Length: 5", "hello"), chunked("2\r\nab\r\n0\r\n\r\n"), post("Content-Length: 2", "ho")].concat(), &["POST / \"hello\"", "POST / \"ab\"", "POST / \"ho\""]),
        case("HEAD between others", "RFC 9110, 9.3.2", format!("{}HEAD /h HTTP/1.1\r\nHost: a\r\n\r\n{}", next("/a"), next("/b")), &["GET /a", "HEAD /h", "GET /b"]),
        case("fields are of their request only", "RFC 9112, 9.3", format!("GET / HTTP/1.1\r\nHost: a\r\nX: 1\r\n\r\n{}", next("/b")), &["GET / [1]", "GET /b"]),
        case("Host is of its request only", "RFC 9112, 3.2", format!("{}GET /b HTTP/1.1\r\n\r\n", next("/a")), &["GET /a", "400 MissingHost"]),
        case("a length is of its request only", "RFC 9112, 6.3", format!("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nhelloPOST /b HTTP/1.1\r\nHost: a\r\n\r\n{}", next("/c")), &["POST / \"hello\"", "POST /b", "GET /c"]),
        case("close on the second of three", "RFC 9112, 9.6", format!("{}GET /b HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n{}", next("/a"), next("/never")), &["GET /a", "GET /b"]).closes(),
        case("a bad one between good ones", "RFC 9112, 9.6: what follows is not looked at", format!("{}GET /b HTTP/1.1\r\n\r\n{}", next("/a"), next("/never")), &["GET /a", "400 MissingHost"]),
        case("words behind a request", "RFC 9112, 3", format!("{}hello\r\n\r\n", next("/a")), &["GET /a", "400 Head(BadMethod)"]),

        // Bodies that the handler does not read.
        case("a body that nobody reads", "RUSTSEC-2020-0093 (async-h1 took it for requests)", format!("POST /ignore HTTP/1.1\r\nHost: a\r\nContent-Length: 32\r\n\r\n{}", next("/never")), &["POST /ignore"]),
        case("a body of a GET that nobody reads", "Kettle, Browser-Powered Desync: CL.0; RUSTSEC-2020-0008 (hyper), CVE-2025-4366 (Pingora)", format!("GET /ignore HTTP/1.1\r\nHost: a\r\nContent-Length: 32\r\n\r\n{}{}", next("/never"), next("/own")), &["GET /ignore", "GET /own"]),
        case("a body of a HEAD that nobody reads", "Kettle, Browser-Powered Desync: CL.0", format!("HEAD /ignore HTTP/1.1\r\nHost: a\r\nContent-Length: 32\r\n\r\n{}{}", next("/never"), next("/own")), &["HEAD /ignore", "GET /own"]),
        case("a large body that nobody reads", "CVE-2025-4366 (Pingora)", format!("POST /ignore HTTP/1.1\r\nHost: a\r\nContent-Length: 640\r\n\r\n{}", next("/never").repeat(20)), &["POST /ignore"]).closes(),
        case("a body that nobody reads and that is cut off", "RFC 9112, 8", format!("POST /ignore HTTP/1.1\r\nHost: a\r\nContent-Length: 100\r\n\r\n{}", next("/never")), &["POST /ignore"]).unfinished(),
        case("a body behind a refusal", "Kettle, HTTP/1.1 must die: 0.CL", format!("POST / HTTP/1.1\r\nContent-Length: 32\r\n\r\n{}", next("/never")), &["400 MissingHost"]),
        case("a body behind a target that is refused", "Kettle, Browser-Powered Desync: CL.0; CVE-2019-20372 (nginx)", format!("POST /#a HTTP/1.1\r\nHost: a\r\nContent-Length: 32\r\n\r\n{}", next("/never")), &["400 BadTarget"]),
        case("chunks behind a refusal", "RFC 9112, 6.1; what is called TE.0", format!("OPTIONS ** HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n20\r\n{}\r\n0\r\n\r\n", next("/never")), &["400 BadTarget"]),
        case("chunks of an OPTIONS", "RFC 9112, 6.1; what is called TE.0", format!("OPTIONS / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nab\r\n0\r\n\r\n{}", next("/own")), &["OPTIONS / \"ab\"", "GET /own"]),
        case("half a request as a body", "Kettle, HTTP/1.1 must die: 0.CL", format!("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 25\r\n\r\nGET /a HTTP/1.1\r\nX: yGET /{}", next("/own")), &["POST / \"GET /a HTTP/1.1\\r\\nX: yGET \"", "400 Head(BadMethod)"]),
    ]
}
