//! What a server may send to a client, and what the client has to make of it.
//!
//! RFC 9112, 6.3 says where a response ends. What is behind that end was asked for by nobody: it is dropped with its
//! connection, and never taken for the answer to the next request.

/// Bytes that a server sends, and what has to come of them.
#[derive(Clone, Debug)]
pub(crate) struct Response {
    pub(crate) name: &'static str,
    /// Where the rule stands, and who did not keep it.
    pub(crate) source: &'static str,
    /// Of the request that this answers.
    pub(crate) method: &'static str,
    pub(crate) bytes: Vec<u8>,
    /// The statuses, the final one last, with the body in quotes; `then` stands before why a body broke off. Or why there is
    /// no response.
    pub(crate) answer: &'static str,
    /// The server closes behind the bytes. Otherwise it waits.
    pub(crate) ends: bool,
    /// Whether the connection may be used for another request.
    pub(crate) again: bool,
}

/// The answer to a GET by which the connection is not over.
fn good(
    name: &'static str,
    source: &'static str,
    bytes: impl AsRef<[u8]>,
    answer: &'static str,
) -> Response {
    let bytes = bytes.as_ref().to_vec();
    Response {
        name,
        source,
        method: "GET",
        bytes,
        answer,
        ends: false,
        again: true,
    }
}

/// The answer to a GET behind which the connection can't be used.
fn last(
    name: &'static str,
    source: &'static str,
    bytes: impl AsRef<[u8]>,
    answer: &'static str,
) -> Response {
    Response {
        again: false,
        ..good(name, source, bytes, answer)
    }
}

/// What is cut off by the server's end.
fn ends(
    name: &'static str,
    source: &'static str,
    bytes: impl AsRef<[u8]>,
    answer: &'static str,
) -> Response {
    Response {
        ends: true,
        ..last(name, source, bytes, answer)
    }
}

impl Response {
    fn to(self, method: &'static str) -> Self {
        Self { method, ..self }
    }
}

/// A response of status 200 with these field lines, and what follows its head.
fn ok(fields: impl AsRef<[u8]>, body: impl AsRef<[u8]>) -> Vec<u8> {
    [
        b"HTTP/1.1 200 OK\r\n",
        fields.as_ref(),
        b"\r\n\r\n",
        body.as_ref(),
    ]
    .concat()
}

/// A response of status 200 with a chunked body.
fn chunked(body: impl AsRef<[u8]>) -> Vec<u8> {
    ok("Transfer-Encoding: chunked", body)
}

/// A response of nothing with this status line.
fn line(line: impl AsRef<[u8]>) -> Vec<u8> {
    [line.as_ref(), b"\r\nContent-Length: 0\r\n\r\n"].concat()
}

/// All of them.
#[rustfmt::skip]
pub(crate) fn responses() -> Vec<Response> {
    vec![
        // Status lines: RFC 9112, 4.
        good("a response", "RFC 9112, 4", ok("Content-Length: 5", "hello"), "200 \"hello\""),
        good("no reason", "RFC 9112, 4", line("HTTP/1.1 200 "), "200"),
        good("no reason and no space", "RFC 9112, 4 wants the space; many leave it out", line("HTTP/1.1 200"), "200"),
        good("a reason of words", "RFC 9112, 4", line("HTTP/1.1 200 It is  fine: \t(really)"), "200"),
        good("a reason beyond ASCII", "RFC 9112, 4: obs-text", line(b"HTTP/1.1 200 \xe9\xff"), "200"),
        good("a reason that says otherwise", "RFC 9112, 4: a comment", line("HTTP/1.1 200 Not Found"), "200"),
        good("a status of a class that is known", "RFC 9110, 15", line("HTTP/1.1 299 x"), "299"),
        good("a status of a class that is not", "RFC 9110, 15: as 5xx", line("HTTP/1.1 700 x"), "700"),
        good("the largest status", "RFC 9110, 15", line("HTTP/1.1 999 x"), "999"),
        last("a status of two digits", "RFC 9112, 4", line("HTTP/1.1 20 OK"), "Head(BadStatus)"),
        last("a status of four digits", "RFC 9112, 4", line("HTTP/1.1 2000 OK"), "Head(BadStatus)"),
        last("a status below 100", "RFC 9110, 15", line("HTTP/1.1 099 x"), "Head(BadStatus)"),
        last("a status of nothing", "RFC 9110, 15", line("HTTP/1.1 000 x"), "Head(BadStatus)"),
        last("a status of letters", "RFC 9112, 4", line("HTTP/1.1 abc OK"), "Head(BadStatus)"),
        last("a status with plus", "RFC 9112, 4", line("HTTP/1.1 +20 OK"), "Head(BadStatus)"),
        last("a status with minus", "RFC 9112, 4", line("HTTP/1.1 -200 OK"), "Head(BadStatus)"),
        last("a status in full-width digits", "RFC 9112, 4", line("HTTP/1.1 \u{ff12}00 OK"), "Head(BadStatus)"),
        last("no status", "RFC 9112, 4", line("HTTP/1.1 OK"), "Head(BadStatus)"),
        last("a version alone", "RFC 9112, 4", line("HTTP/1.1"), "Head(BadVersion)"),
        last("tab for a space", "RFC 9112, 4", line("HTTP/1.1\t200 OK"), "Head(BadVersion)"),
        last("two spaces behind the version", "RFC 9112, 4", line("HTTP/1.1  200 OK"), "Head(BadStatus)"),
        last("tab behind the status", "RFC 9112, 4", line("HTTP/1.1 200\tOK"), "Head(BadStatus)"),
        last("a reason with NUL", "RFC 9112, 4", line("HTTP/1.1 200 O\0K"), "Head(BadReason)"),
        last("a reason with an escape sequence", "RFC 9112, 4", line("HTTP/1.1 200 \x1b[31m"), "Head(BadReason)"),
        last("a reason with CR", "RFC 9112, 2.2", line("HTTP/1.1 200 O\rK"), "Head(BareCr)"),
        last("a reason with LF", "RFC 9112, 2.2", line("HTTP/1.1 200 O\nSet-Cookie: a=b"), "Head(BareLf)"),

        // Versions: RFC 9112, 2.3.
        ends("HTTP/1.0", "RFC 9112, 6.3", "HTTP/1.0 200 OK\r\n\r\nhello", "200 \"hello\""),
        last("HTTP/1.0 with a length", "RFC 9112, 9.3", "HTTP/1.0 200 OK\r\nContent-Length: 5\r\n\r\nhello", "200 \"hello\""),
        good("HTTP/1.0 with a length that stays", "RFC 9112, 9.3", "HTTP/1.0 200 OK\r\nConnection: keep-alive\r\nContent-Length: 5\r\n\r\nhello", "200 \"hello\""),
        last("HTTP/2.0", "RFC 9112, 2.3", line("HTTP/2.0 200 OK"), "Head(UnsupportedVersion)"),
        last("HTTP/2", "RFC 9112, 2.3", line("HTTP/2 200"), "Head(BadVersion)"),
        last("HTTP/1.2", "RFC 9112, 2.3", line("HTTP/1.2 200 OK"), "Head(UnsupportedVersion)"),
        last("HTTP/0.9", "RFC 9112, 2.3", "<html>hello</html>\r\n", "Head(BadVersion)"),
        last("ICY", "RFC 9112, 2.3: what SHOUTcast says", line("ICY 200 OK"), "Head(BadVersion)"),
        last("a version in small letters", "RFC 9112, 2.3", line("http/1.1 200 OK"), "Head(BadVersion)"),
        last("a version of two digits", "RFC 9112, 2.3", line("HTTP/1.10 200 OK"), "Head(BadVersion)"),
        last("no version", "RFC 9112, 4", line("200 OK"), "Head(BadVersion)"),
        last("an empty line first", "RFC 9112, 2.2 has it for requests only", format!("\r\n{}", "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"), "Head(BadVersion)"),
        last("space first", "RFC 9112, 4", line(" HTTP/1.1 200 OK"), "Head(BadVersion)"),
        last("a byte order mark first", "RFC 9112, 4", line("\u{feff}HTTP/1.1 200 OK"), "Head(BadVersion)"),
        last("a request", "RFC 9112, 2.1", "GET / HTTP/1.1\r\nHost: a\r\n\r\n", "Head(BadVersion)"),
        last("a greeting of SSH", "RFC 9112, 4", "SSH-2.0-OpenSSH_9.7\r\n", "Head(BadVersion)"),
        last("an alert of TLS", "RFC 9112, 4", b"\x15\x03\x01\x00\x02\x02\x46", "Head(BadVersion)"),

        // Line ends and fields: as of requests.
        last("LF behind every line", "RFC 9112, 2.2", "HTTP/1.1 200 OK\nContent-Length: 0\n\n", "Head(BareLf)"),
        last("LF within a value", "RFC 9112, 2.2; CVE-2022-32214 (Node.js)", ok("X: a\nContent-Length: 0", ""), "Head(BareLf)"),
        last("LF for the last line", "RFC 9112, 2.2", "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\n", "Head(BareLf)"),
        last("CR within a value", "RFC 9112, 2.2; CVE-2023-30589 (Node.js)", ok("X: a\rContent-Length: 0", ""), "Head(BareCr)"),
        last("CR and something for the last line", "CVE-2025-23167 (Node.js)", "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\rX", "Head(BareCr)"),
        last("NUL within a value", "RFC 9110, 5.5", ok("X: a\0b\r\nContent-Length: 0", ""), "Head(BadValue)"),
        last("NUL within a name", "RFC 9110, 5.1", ok("X\0: a\r\nContent-Length: 0", ""), "Head(BadName)"),
        last("a fold", "RFC 9112, 5.2: replaced by a user agent, or refused", ok("X: a\r\n b\r\nContent-Length: 0", ""), "Head(ObsFold)"),
        last("a folded length", "RFC 9112, 5.2; CVE-2022-32215 (Node.js)", ok("Content-Length:\r\n 0", ""), "Head(ObsFold)"),
        last("space before the first field", "RFC 9112, 2.2", ok(" X: a\r\nContent-Length: 0", ""), "Head(ObsFold)"),
        last("space before the colon", "RFC 9112, 5.1; CVE-2019-16276 (Go)", ok("Content-Length : 0", ""), "Head(SpaceBeforeColon)"),
        last("an empty name", "CVE-2023-25725 (HAProxy); HTTP Garden: Node.js", ok(": a\r\nContent-Length: 0", ""), "Head(BadName)"),
        last("no colon", "CVE-2019-20444 (Netty)", ok("hello\r\nContent-Length: 0", ""), "Head(BadName)"),
        good("values beyond ASCII", "RFC 9110, 5.5: obs-text", ok(b"X: \x80\xff\r\nContent-Length: 0", ""), "200"),
        good("an empty value", "RFC 9110, 5.5", ok("X:\r\nContent-Length: 0", ""), "200"),
        last("too many fields", "CVE-2023-38039 (curl)", ok("A: b\r\n".repeat(200) + "Content-Length: 0", ""), "Head(TooManyFields)"),
        last("fields that are never over", "CVE-2023-38039 (curl)", format!("HTTP/1.1 200 OK\r\n{}", "A: b\r\n".repeat(20_000)), "Head(TooManyFields)"),
        last("a value that is never over", "CVE-2023-38039 (curl)", format!("HTTP/1.1 200 OK\r\nA: {}", "b".repeat(200_000)), "Head(HeadTooLarge)"),
        last("a reason that is never over", "RFC 9112, 4: sizes are limited", format!("HTTP/1.1 200 {}", "b".repeat(200_000)), "Head(HeadTooLarge)"),

        // Where the stream ends too early, and where nothing comes.
        ends("nothing", "RFC 9112, 8", "", "Head(Truncated)"),
        ends("part of a version", "RFC 9112, 8", "HTTP/1", "Head(Truncated)"),
        ends("part of a status line", "RFC 9112, 8", "HTTP/1.1 200 O", "Head(Truncated)"),
        ends("part of the fields", "RFC 9112, 8", "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n", "Head(Truncated)"),
        ends("a head that lacks a byte", "RFC 9112, 8", "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r", "Head(Truncated)"),

        // Interim responses: RFC 9110, 15.2.
        good("100 without a wish for it", "RFC 9110, 15.2.1: skipped", format!("HTTP/1.1 100 Continue\r\n\r\n{}", "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello"), "100, 200 \"hello\""),
        good("103 with fields", "RFC 8297, 2", "HTTP/1.1 103 Early Hints\r\nLink: </a>; rel=preload\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", "103, 200"),
        good("three interim responses", "RFC 9110, 15.2", "HTTP/1.1 102 x\r\n\r\nHTTP/1.1 103 x\r\n\r\nHTTP/1.1 100 x\r\n\r\nHTTP/1.1 204 x\r\n\r\n", "102, 103, 100, 204"),
        good("an interim status that nobody knows", "RFC 9110, 15.2", "HTTP/1.1 199 x\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", "199, 200"),
        good("an interim response with a length", "RFC 9112, 6.3: no body all the same", "HTTP/1.1 103 x\r\nContent-Length: 5\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", "103, 200"),
        good("an interim response with chunks", "RFC 9112, 6.3: no body all the same", "HTTP/1.1 103 x\r\nTransfer-Encoding: chunked\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", "103, 200"),
        last("an interim response with a body", "RFC 9112, 6.3: what follows is a head", "HTTP/1.1 103 x\r\nContent-Length: 5\r\n\r\nhelloHTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", "Head(BadVersion)"),
        ends("an interim response and no more", "RFC 9110, 15.2", "HTTP/1.1 100 Continue\r\n\r\n", "Head(Truncated)"),
        last("interim responses that are never over", "CVE-2021-3737 (CPython)", "HTTP/1.1 100 Continue\r\n\r\n".repeat(2000), "TooManyInterim"),
        last("a head of 100 that is never over", "CVE-2021-3737 (CPython)", format!("HTTP/1.1 100 Continue\r\n{}", "A: b\r\n".repeat(20_000)), "Head(TooManyFields)"),
        last("101 that nobody asked for", "RFC 9110, 15.2.2; CVE-2026-2833 (Pingora)", "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n", "UnexpectedUpgrade"),
        last("101 that nobody asked for, with a length", "RFC 9110, 15.2.2", "HTTP/1.1 101 x\r\nContent-Length: 5\r\n\r\nhello", "UnexpectedUpgrade"),

        // No body, whatever the fields say: RFC 9112, 6.3, rule 1.
        good("204", "RFC 9112, 6.3", "HTTP/1.1 204 No Content\r\n\r\n", "204"),
        good("204 with a length", "RFC 9112, 6.3; RFC 9110, 8.6: not to be sent", "HTTP/1.1 204 x\r\nContent-Length: 5\r\n\r\n", "204"),
        last("204 with a body", "RFC 9112, 6.3: it is not one", "HTTP/1.1 204 x\r\nContent-Length: 5\r\n\r\nhello", "204"),
        last("204 with chunks", "RFC 9112, 6.1: not to be sent", "HTTP/1.1 204 x\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", "204"),
        good("304 with the length of what is not sent", "RFC 9110, 8.6", "HTTP/1.1 304 x\r\nContent-Length: 1000\r\n\r\n", "304"),
        last("304 with a body", "RFC 9112, 6.3: it is not one", "HTTP/1.1 304 x\r\nContent-Length: 5\r\n\r\nhello", "304"),
        good("304 without a length", "RFC 9112, 6.3", "HTTP/1.1 304 x\r\n\r\n", "304"),
        good("HEAD", "RFC 9112, 6.3", ok("Content-Length: 5", ""), "200").to("HEAD"),
        good("HEAD of chunks", "RFC 9112, 6.1: may be sent", chunked(""), "200").to("HEAD"),
        good("HEAD without a length", "RFC 9112, 6.3", ok("X: 1", ""), "200").to("HEAD"),
        last("HEAD with a body", "RFC 9112, 6.3; Kettle, Browser-Powered Desync: the answer to the next request", ok("Content-Length: 5", "hello"), "200").to("HEAD"),
        last("HEAD with a response for a body", "RFC 9112, 9.2; response queue poisoning", ok("Content-Length: 40", "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"), "200").to("HEAD"),
        good("HEAD refused without a body", "RFC 9110, 9.3.2", "HTTP/1.1 404 x\r\nContent-Length: 5\r\n\r\n", "404").to("HEAD"),
        good("205 is as others", "RFC 9110, 15.3.6", "HTTP/1.1 205 x\r\nContent-Length: 0\r\n\r\n", "205"),

        // Content-Length: RFC 9112, 6.3, rules 5 and 6.
        good("a length of nothing", "RFC 9112, 6.3", ok("Content-Length: 0", ""), "200"),
        good("a length with zeros before it", "RFC 9110, 8.6", ok("Content-Length: 0005", "hello"), "200 \"hello\""),
        good("two lengths that agree", "RFC 9112, 6.3: as one", ok("Content-Length: 5\r\nContent-Length: 5", "hello"), "200 \"hello\""),
        good("a list of lengths that agree", "RFC 9112, 6.3: as one", ok("Content-Length: 5, 5", "hello"), "200 \"hello\""),
        last("two lengths that differ", "RFC 9112, 6.3", ok("Content-Length: 5\r\nContent-Length: 6", "hello"), "BadContentLength"),
        last("a list of lengths that differ", "RFC 9112, 6.3", ok("Content-Length: 5, 6", "hello"), "BadContentLength"),
        last("an empty length", "RFC 9110, 8.6; CVE-2023-40225 (HAProxy)", ok("Content-Length:", ""), "BadContentLength"),
        last("an empty length and another", "CVE-2023-40225 (HAProxy)", ok("Content-Length:\r\nContent-Length: 5", "hello"), "BadContentLength"),
        last("a length with plus", "RUSTSEC-2021-0078 (hyper)", ok("Content-Length: +5", "hello"), "BadContentLength"),
        last("a negative length", "RFC 9110, 8.6", ok("Content-Length: -5", "hello"), "BadContentLength"),
        last("a length in hexadecimal", "RFC 9110, 8.6", ok("Content-Length: 0x5", "hello"), "BadContentLength"),
        last("a length and letters", "RFC 9110, 8.6", ok("Content-Length: 5 bytes", "hello"), "BadContentLength"),
        last("a length that overflows", "RFC 9110, 8.6", ok("Content-Length: 18446744073709551621", "hello"), "BadContentLength"),
        ends("a length beyond what comes", "RFC 9112, 8", ok("Content-Length: 6", "hello"), "200 then Truncated"),
        ends("a length and nothing", "RFC 9112, 8", ok("Content-Length: 5", ""), "200 then Truncated"),
        ends("a length of 2^64 - 1", "RFC 9112, 8: nothing is set aside for it", ok("Content-Length: 18446744073709551615", "hello"), "200 then Truncated"),
        last("more than the length", "RFC 9112, 9.2: dropped", ok("Content-Length: 5", "helloX"), "200 \"hello\""),
        last("a response behind a response", "RFC 9112, 9.2: nobody asked for it", ok("Content-Length: 5", "helloHTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nevil"), "200 \"hello\""),
        last("an empty line behind a response", "RFC 9112, 9.2", ok("Content-Length: 5", "hello\r\n"), "200 \"hello\""),

        // Until the server closes: RFC 9112, 6.3, rule 8.
        ends("until the end", "RFC 9112, 6.3", ok("X: 1", "hello"), "200 \"hello\""),
        ends("until the end, and nothing", "RFC 9112, 6.3", ok("X: 1", ""), "200"),
        ends("until the end, though it would stay", "RFC 9112, 6.3", ok("Connection: keep-alive", "hello"), "200 \"hello\""),
        ends("until the end, what looks like a response", "RFC 9112, 6.3", ok("X: 1", "HTTP/1.1 200 OK\r\n\r\n"), "200 \"HTTP/1.1 200 OK\\r\\n\\r\\n\""),
        ends("until the end, what looks like chunks", "RFC 9112, 6.3", ok("X: 1", "5\r\nhello\r\n0\r\n\r\n"), "200 \"5\\r\\nhello\\r\\n0\\r\\n\\r\\n\""),

        // Connection: RFC 9112, 9.3.
        last("close", "RFC 9112, 9.6", ok("Connection: close\r\nContent-Length: 5", "hello"), "200 \"hello\""),
        last("close in a list in any case", "RFC 9112, 9.6", ok("Connection: x, Close\r\nContent-Length: 5", "hello"), "200 \"hello\""),
        last("close in a second field", "RFC 9112, 9.6", ok("Connection: x\r\nConnection: close\r\nContent-Length: 5", "hello"), "200 \"hello\""),
        last("close and keep-alive", "RFC 9112, 9.3", ok("Connection: keep-alive, close\r\nContent-Length: 5", "hello"), "200 \"hello\""),
        last("close with chunks", "RFC 9112, 9.6", ok("Connection: close\r\nTransfer-Encoding: chunked", "0\r\n\r\n"), "200"),
        good("closed is another word", "RFC 9110, 7.6.1", ok("Connection: closed\r\nContent-Length: 5", "hello"), "200 \"hello\""),

        // Transfer-Encoding: RFC 9112, 6.1 and 6.3, rules 3 and 4.
        good("chunked", "RFC 9112, 7.1", chunked("5\r\nhello\r\n0\r\n\r\n"), "200 \"hello\""),
        good("chunked in any case", "RFC 9112, 7", ok("transfer-encoding: CHUNKED", "0\r\n\r\n"), "200"),
        last("both lengths", "RFC 9112, 6.3: handled as an error", ok("Content-Length: 5\r\nTransfer-Encoding: chunked", "0\r\n\r\n"), "AmbiguousLength"),
        last("both lengths the other way", "RFC 9112, 6.3", ok("Transfer-Encoding: chunked\r\nContent-Length: 5", "0\r\n\r\n"), "AmbiguousLength"),
        last("chunked in HTTP/1.0", "RFC 9112, 6.1: faulty", "HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", "BadTransferEncoding"),
        last("gzip, then chunked", "RFC 9112, 7.4: not asked for", ok("Transfer-Encoding: gzip, chunked", "0\r\n\r\n"), "BadTransferEncoding"),
        last("chunked, then gzip", "RFC 9112, 6.3", ok("Transfer-Encoding: chunked, gzip", "0\r\n\r\n"), "BadTransferEncoding"),
        last("gzip alone", "RFC 9112, 6.3", ok("Transfer-Encoding: gzip", ""), "BadTransferEncoding"),
        last("identity", "RFC 9112, 7: gone", ok("Transfer-Encoding: identity", ""), "BadTransferEncoding"),
        last("chunked twice", "RFC 9112, 7.1", ok("Transfer-Encoding: chunked, chunked", "0\r\n\r\n"), "BadTransferEncoding"),
        last("chunked in two fields", "RFC 9112, 7.1; CVE-2020-8287 (Node.js)", ok("Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked", "0\r\n\r\n"), "BadTransferEncoding"),
        last("xchunked", "CVE-2022-1705 (Go, of its client)", ok("Transfer-Encoding: xchunked", "0\r\n\r\n"), "BadTransferEncoding"),
        last("a comma, then chunked", "HTTP Garden: gunicorn and others", ok("Transfer-Encoding: ,chunked", "0\r\n\r\n"), "BadTransferEncoding"),
        last("chunked behind a vertical tab", "CVE-2019-16789 (Waitress)", ok("Transfer-Encoding: \x0bchunked", "0\r\n\r\n"), "Head(BadValue)"),
        last("space before the colon of chunked", "CVE-2022-1705 (Go, of its client)", ok("Transfer-Encoding : chunked", "0\r\n\r\n"), "Head(SpaceBeforeColon)"),

        // Chunks: RFC 9112, 7.1.
        good("chunks with extensions", "RFC 9112, 7.1.1", chunked("5;a;b=c;d=\"e\"\r\nhello\r\n0;f\r\n\r\n"), "200 \"hello\""),
        good("chunks with trailers", "RFC 9112, 7.1.2", chunked("5\r\nhello\r\n0\r\nA: b\r\nContent-Length: 9\r\n\r\n"), "200 \"hello\""),
        last("chunks and more behind", "RFC 9112, 9.2", chunked("0\r\n\r\nX"), "200"),
        last("no size", "HTTP Garden: Go, hyper", chunked("\r\n\r\n"), "200 then Malformed(Chunk(BadSize))"),
        last("a size that is no number", "RFC 9112, 7.1", chunked("x\r\n"), "200 then Malformed(Chunk(BadSize))"),
        last("a size with 0x", "HTTP Garden: H2O", chunked("0x5\r\nhello\r\n0\r\n\r\n"), "200 then Malformed(Chunk(BadExtension))"),
        last("a negative size", "CVE-2013-2028 (nginx)", chunked("-5\r\nhello\r\n0\r\n\r\n"), "200 then Malformed(Chunk(BadSize))"),
        last("a size that overflows", "RUSTSEC-2021-0079 (hyper)", chunked("10000000000000005\r\nhello\r\n0\r\n\r\n"), "200 then Malformed(Chunk(BadSize))"),
        last("a size and LF", "CVE-2025-22871 (Go)", chunked("5\nhello\r\n0\r\n\r\n"), "200 then Malformed(Chunk(BadEnd))"),
        last("an extension with LF", "CVE-2025-55315 (Kestrel)", chunked("5;\nhello\r\n0\r\n\r\n"), "200 then Malformed(Chunk(BadEnd))"),
        last("an extension that is too long", "CVE-2023-39326 (Go)", chunked(format!("5;{}\r\nhello\r\n0\r\n\r\n", "a".repeat(100_000))), "200 then Malformed(Chunk(TooLong))"),
        last("one byte too many", "CVE-2025-43859 (h11)", chunked("5\r\nhelloX\r\n0\r\n\r\n"), "200 then Malformed(Chunk(BadEnd))"),
        last("LF behind the data", "CVE-2025-43859 (h11)", chunked("5\r\nhello\n0\r\n\r\n"), "200 then Malformed(Chunk(BadEnd))"),
        last("a folded trailer", "RFC 9112, 5.2", chunked("0\r\nA: b\r\n c\r\n\r\n"), "200 then Malformed(Trailers(ObsFold))"),
        last("a trailer without a colon", "CVE-2023-45648 (Tomcat)", chunked("0\r\nabc\r\n\r\n"), "200 then Malformed(Trailers(BadName))"),
        last("trailers that are never over", "RFC 9112, 7.1.2", chunked(format!("0\r\n{}", "A: b\r\n".repeat(20_000))), "200 then Malformed(Trailers(TooManyFields))"),
        ends("chunks without a last one", "RFC 9112, 8", chunked("5\r\nhello\r\n"), "200 then Truncated"),
        ends("chunks that end within data", "RFC 9112, 8", chunked("5\r\nhel"), "200 then Truncated"),
        ends("chunks that end before the trailers do", "RFC 9112, 8: not complete", chunked("5\r\nhello\r\n0\r\n"), "200 then Truncated"),
        ends("chunks that do not come", "RFC 9112, 8", chunked(""), "200 then Truncated"),
        ends("a size of 2^64 - 1", "RUSTSEC-2021-0079 (hyper)", chunked("ffffffffffffffff\r\nhello"), "200 then Truncated"),
    ]
}
