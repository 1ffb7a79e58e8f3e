//! Transfer-Encoding in every disguise, and next to Content-Length.
//!
//! `chunked`, once and alone, is what is taken. A request whose framing somebody else may see otherwise is refused, and what
//! follows it is never looked at.

use crate::case::{Case, case, next, post};

/// What is a chunked body of nothing, and five bytes by Content-Length.
const LAST: &str = "0\r\n\r\n";

#[rustfmt::skip]
pub(crate) fn cases() -> Vec<Case> {
    vec![
        case("chunked", "RFC 9112, 7.1", post("Transfer-Encoding: chunked", LAST), &["POST /"]),
        case("chunked in capitals", "RFC 9112, 7: case-insensitive", post("Transfer-Encoding: CHUNKED", LAST), &["POST /"]),
        case("chunked in any case", "RFC 9112, 7: case-insensitive", post("tRANSFER-eNCODING: cHuNkEd", LAST), &["POST /"]),
        case("chunked between tabs", "RFC 9112, 5; Kettle, HTTP Desync Attacks", post("Transfer-Encoding:\tchunked\t", LAST), &["POST /"]),
        case("chunked without space", "RFC 9112, 5", post("Transfer-Encoding:chunked", LAST), &["POST /"]),
        case("chunked of a GET", "RFC 9110, 9.3.1", "GET / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n", &["GET / \"hello\""]),
        case("chunked of a HEAD", "RFC 9110, 9.3.2", "HEAD / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n", &["HEAD / \"hello\""]),

        // Both lengths: RFC 9112, 6.1 has the connection closed at least; 6.3 lets it be refused.
        case("CL.TE", "RFC 9112, 6.3; Kettle, HTTP Desync Attacks; CVE-2024-47220 (WEBrick), CVE-2024-6827 (gunicorn)", post("Content-Length: 5\r\nTransfer-Encoding: chunked", LAST), &["400 AmbiguousLength"]),
        case("TE.CL", "RFC 9112, 6.3; Kettle, HTTP Desync Attacks; CVE-2019-20445 (Netty)", post("Transfer-Encoding: chunked\r\nContent-Length: 5", LAST), &["400 AmbiguousLength"]),
        case("CL.TE with a request behind the chunks", "CVE-2020-10109 (Twisted); Kettle, HTTP Desync Attacks", post("Content-Length: 40\r\nTransfer-Encoding: chunked", format!("{LAST}{}", next("/smuggled"))), &["400 AmbiguousLength"]),
        case("TE.CL with a request within the chunk", "Kettle, HTTP Desync Attacks", post("Transfer-Encoding: chunked\r\nContent-Length: 4", "23\r\nGET /smuggled HTTP/1.1\r\nHost: a\r\n\r\n\r\n0\r\n\r\n"), &["400 AmbiguousLength"]),
        case("CL.0 with chunks", "Kettle, Browser-Powered Desync Attacks", post("Content-Length: 0\r\nTransfer-Encoding: chunked", LAST), &["400 AmbiguousLength"]),
        case("a length in words with chunks", "HTTP Garden: Go, H2O, Squid did not look at it", post("Content-Length: blahblahblah\r\nTransfer-Encoding: chunked", LAST), &["400 BadContentLength"]),
        case("a length in words behind chunks", "HTTP Garden: Apache Traffic Server", post("Transfer-Encoding: chunked\r\nContent-Length: blahblahblah", LAST), &["400 BadContentLength"]),
        case("two lengths with chunks", "CVE-2020-10108 (Twisted)", post("Content-Length: 5\r\nTransfer-Encoding: chunked\r\nContent-Length: 6", LAST), &["400 DuplicateContentLength"]),
        case("both, with CL named as an option", "RFC 9110, 7.6.1", post("Connection: Content-Length\r\nContent-Length: 5\r\nTransfer-Encoding: chunked", LAST), &["400 AmbiguousLength"]),
        case("chunked named as an option", "RFC 9112, 7.4 names TE, not this", post("Connection: Transfer-Encoding\r\nTransfer-Encoding: chunked", LAST), &["POST /"]),
        case("TE asks, it does not frame", "RFC 9110, 10.1.4", post("TE: chunked\r\nConnection: TE", ""), &["POST /"]),

        // More than one field.
        case("chunked in two fields", "HTTP Garden: Pound; CVE-2020-8287 (Node.js)", post("Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked", LAST), &["400 BadTransferEncoding"]),
        case("chunked and identity", "RUSTSEC-2021-0020 (hyper); CVE-2020-8287 (Node.js)", post("Transfer-Encoding: chunked\r\nTransfer-Encoding: identity", LAST), &["400 BadTransferEncoding"]),
        case("identity and chunked", "RFC 9112, 7: identity is gone; CVE-2021-33037 (Tomcat)", post("Transfer-Encoding: identity\r\nTransfer-Encoding: chunked", LAST), &["400 BadTransferEncoding"]),
        case("chunked and something", "CVE-2020-8287 (Node.js)", post("Transfer-Encoding: chunked\r\ntransfer-encoding: x", LAST), &["400 BadTransferEncoding"]),
        case("something and chunked", "Kettle, HTTP Desync Attacks", post("Transfer-Encoding: x\r\nTransfer-Encoding: chunked", LAST), &["400 BadTransferEncoding"]),
        case("nothing and chunked", "RFC 9112, 6.1", post("Transfer-Encoding:\r\nTransfer-Encoding: chunked", LAST), &["400 BadTransferEncoding"]),
        case("chunked and nothing", "RFC 9112, 6.1", post("Transfer-Encoding: chunked\r\nTransfer-Encoding:", LAST), &["400 BadTransferEncoding"]),
        case("gzip and chunked", "RFC 9112, 6.1; RUSTSEC-2021-0020 (hyper)", post("Transfer-Encoding: gzip\r\nTransfer-Encoding: chunked", LAST), &["400 BadTransferEncoding"]),

        // More than one coding.
        case("gzip, then chunked", "RFC 9112, 6.1: a coding that is not understood is 501", post("Transfer-Encoding: gzip, chunked", LAST), &["501 UnsupportedTransferEncoding"]),
        case("gzip and deflate, then chunked", "RFC 9112, 6.1", post("Transfer-Encoding: gzip,deflate ,\tchunked", LAST), &["501 UnsupportedTransferEncoding"]),
        case("a coding with a parameter, then chunked", "RFC 9112, 7", post("Transfer-Encoding: x;a=b, chunked", LAST), &["501 UnsupportedTransferEncoding"]),
        case("identity, then chunked", "RFC 9112, 7: identity is gone; CVE-2021-33037 (Tomcat)", post("Transfer-Encoding: identity, chunked", LAST), &["501 UnsupportedTransferEncoding"]),
        case("chunked, then gzip", "RFC 9112, 6.3: not the last, so the length is unknown", post("Transfer-Encoding: chunked, gzip", LAST), &["400 BadTransferEncoding"]),
        case("chunked, then identity", "CVE-2024-1135 (gunicorn); Kettle, HTTP Desync Attacks", post("Transfer-Encoding: chunked, identity", LAST), &["400 BadTransferEncoding"]),
        case("chunked twice", "RFC 9112, 7.1: not more than once", post("Transfer-Encoding: chunked, chunked", LAST), &["400 BadTransferEncoding"]),
        case("gzip alone", "RFC 9112, 6.3", post("Transfer-Encoding: gzip", LAST), &["400 BadTransferEncoding"]),
        case("identity alone", "RFC 9112, 7: identity is gone", post("Transfer-Encoding: identity", ""), &["400 BadTransferEncoding"]),
        case("identity with a length", "RFC 9112, 7: identity is gone; CVE-2021-33037 (Tomcat)", post("Transfer-Encoding: identity\r\nContent-Length: 5", "hello"), &["400 BadTransferEncoding"]),
        case("a comma, then chunked", "HTTP Garden: Azure, nghttpx, gunicorn, Mongoose, Passenger, relayd", post("Transfer-Encoding: ,chunked", LAST), &["400 BadTransferEncoding"]),
        case("a comma, then chunked, with a length", "HTTP Garden: OpenLiteSpeed passed both on", post("Transfer-Encoding: ,chunked\r\nContent-Length: 5", LAST), &["400 BadTransferEncoding"]),
        case("chunked, then a comma", "RFC 9112, 6.1", post("Transfer-Encoding: chunked,", LAST), &["400 BadTransferEncoding"]),
        case("chunked between commas", "RFC 9112, 6.1", post("Transfer-Encoding: , chunked ,", LAST), &["400 BadTransferEncoding"]),
        case("two commas between codings", "RFC 9112, 6.1", post("Transfer-Encoding: gzip,, chunked", LAST), &["400 BadTransferEncoding"]),
        case("an empty coding", "RFC 9112, 6.1", post("Transfer-Encoding:", LAST), &["400 BadTransferEncoding"]),

        // What is not chunked, but was taken for it.
        case("xchunked", "RUSTSEC-2020-0031 (tiny_http); Kettle, HTTP Desync Attacks", post("Transfer-Encoding: xchunked", LAST), &["400 BadTransferEncoding"]),
        case("chunkedx", "CVE-2022-32213 (Node.js)", post("Transfer-Encoding: chunkedx", LAST), &["400 BadTransferEncoding"]),
        case("chunked with a letter that folds to k", "RFC 9112, 7: ASCII only", post("Transfer-Encoding: chun\u{212a}ed", LAST), &["400 BadTransferEncoding"]),
        case("cow", "Kettle, HTTP Desync Attacks", post("Transfer-Encoding: cow", LAST), &["400 BadTransferEncoding"]),
        case("chunked with a parameter", "RFC 9112, 7.1: parameters are an error", post("Transfer-Encoding: chunked;q=1", LAST), &["400 BadTransferEncoding"]),
        case("chunked with a semicolon", "RFC 9112, 7", post("Transfer-Encoding: chunked;", LAST), &["400 BadTransferEncoding"]),
        case("chunked chunked", "RFC 9112, 6.1", post("Transfer-Encoding: chunked chunked", LAST), &["400 BadTransferEncoding"]),
        case("a word before chunked", "CVE-2022-1705 (Go)", post("Transfer-Encoding: x chunked", LAST), &["400 BadTransferEncoding"]),
        case("chunked in single quotes", "RFC 9112, 7", post("Transfer-Encoding: 'chunked'", LAST), &["400 BadTransferEncoding"]),
        case("chunked in quotes", "RFC 9112, 7; Kettle, HTTP Desync Attacks", post("Transfer-Encoding: \"chunked\"", LAST), &["400 BadTransferEncoding"]),
        case("chunked in brackets", "RFC 9112, 7", post("Transfer-Encoding: [chunked]", LAST), &["400 BadTransferEncoding"]),
        case("chunked with a comment", "RFC 9112, 7", post("Transfer-Encoding: chunked (yes)", LAST), &["400 BadTransferEncoding"]),
        case("chunked as a value", "RFC 9112, 7", post("Transfer-Encoding: coding=chunked", LAST), &["400 BadTransferEncoding"]),
        case("chunked with an escape", "RFC 9112, 7: nothing is decoded", post("Transfer-Encoding: %63hunked", LAST), &["400 BadTransferEncoding"]),
        case("chunked behind a colon", "RFC 9112, 5", post("Transfer-Encoding:: chunked", LAST), &["400 BadTransferEncoding"]),
        case("chunked encoded as a word", "RFC 9110, 5.5: no RFC 2047", post("Transfer-Encoding: =?iso-8859-1?B?Y2h1bmtlZA==?=", LAST), &["400 BadTransferEncoding"]),
        case("chunked behind a no-break space", "RFC 9112, 5: OWS is space and tab", post(b"Transfer-Encoding: \xa0chunked", LAST), &["400 BadTransferEncoding"]),
        case("chunked behind 0x85", "RFC 9112, 5: OWS is space and tab", post(b"Transfer-Encoding: \x85chunked", LAST), &["400 BadTransferEncoding"]),
        case("chunked before 0xff", "RFC 9112, 7", post(b"Transfer-Encoding: chunked\xff", LAST), &["400 BadTransferEncoding"]),
        case("chunked behind a vertical tab", "CVE-2019-16789 (Waitress); Kettle, HTTP Desync Attacks", post("Transfer-Encoding: \x0bchunked", LAST), &["400 Head(BadValue)"]),
        case("chunked before a vertical tab", "CVE-2019-16789 (Waitress)", post("Transfer-Encoding: chunked\x0b", LAST), &["400 Head(BadValue)"]),
        case("chunked behind a form feed", "CVE-2019-16789 (Waitress)", post("Transfer-Encoding: \x0cchunked", LAST), &["400 Head(BadValue)"]),
        case("chunked and NUL", "RFC 9110, 5.5", post("Transfer-Encoding: chunked\0", LAST), &["400 Head(BadValue)"]),
        case("chunked and NUL and more", "RFC 9110, 5.5", post("Transfer-Encoding: chunked\0identity", LAST), &["400 Head(BadValue)"]),
        case("chunked behind a bare CR", "RFC 9112, 2.2; Kettle, HTTP Desync Attacks", post("Transfer-Encoding: \rchunked", LAST), &["400 Head(BareCr)"]),
        case("chunked behind a bare LF", "RFC 9112, 2.2; Kettle, HTTP Desync Attacks", post("Transfer-Encoding: \nchunked", LAST), &["400 Head(BareLf)"]),

        // A name that is not quite it, by RFC 9112, 5.1 and 5.2.
        case("space before the colon of chunked", "CVE-2019-16276 (Go), CVE-2019-16869 (Netty), CVE-2021-22959 (Node.js)", post("Transfer-Encoding : chunked", LAST), &["400 Head(SpaceBeforeColon)"]),
        case("space before the colon of chunked, with a length", "CVE-2019-16869 (Netty); Kettle, HTTP Desync Attacks", post("Content-Length: 5\r\nTransfer-Encoding : chunked", LAST), &["400 Head(SpaceBeforeColon)"]),
        case("tab before the colon of chunked", "RFC 9112, 5.1", post("Transfer-Encoding\t: chunked", LAST), &["400 Head(SpaceBeforeColon)"]),
        case("vertical tab before the colon of chunked", "RFC 9112, 5.1", post("Transfer-Encoding\x0b: chunked", LAST), &["400 Head(BadName)"]),
        case("NUL before the colon of chunked", "RFC 9110, 5.1", post("Transfer-Encoding\0: chunked", LAST), &["400 Head(BadName)"]),
        case("0x85 before the colon of chunked", "HTTP Garden: gunicorn stripped it, relayd passed it on", post(b"Transfer-Encoding\x85: chunked", LAST), &["400 Head(BadName)"]),
        case("space before the name of chunked", "CVE-2020-7238 (Netty); Kettle, HTTP Desync Attacks", post(" Transfer-Encoding: chunked", LAST), &["400 Head(ObsFold)"]),
        case("chunked folded", "RFC 9112, 5.2; CVE-2022-32215 (Node.js)", post("Transfer-Encoding:\r\n chunked", LAST), &["400 Head(ObsFold)"]),
        case("chunked folded with tab", "RFC 9112, 5.2; Kettle, HTTP Desync Attacks", post("Transfer-Encoding:\r\n\tchunked", LAST), &["400 Head(ObsFold)"]),
        case("chunked, folded, then identity", "RFC 9112, 5.2; CVE-2022-32215 (Node.js)", post("Transfer-Encoding: chunked,\r\n identity", LAST), &["400 Head(ObsFold)"]),
        case("a name over two lines", "HTTP Garden: Passenger", post("Transfer-\r\nEncoding: chunked\r\nContent-Length: 5", LAST), &["400 Head(BadName)"]),
        case("chunked without a colon", "CVE-2019-20444 (Netty); HTTP Garden: Mongoose", post("Transfer-Encoding chunked", LAST), &["400 Head(SpaceBeforeColon)"]),
        case("an underscore in the name of chunked", "CVE-2024-45614 (Puma)", post("Transfer_Encoding: chunked\r\nContent-Length: 5", LAST), &["POST / \"0\\r\\n\\r\\n\""]),
        case("chunked behind X and a bare LF", "CVE-2019-16785 (Waitress); Kettle, HTTP Desync Attacks", post("X: x\nTransfer-Encoding: chunked", LAST), &["400 Head(BareLf)"]),
        case("chunked behind X and a bare CR", "CVE-2015-8852 (Varnish), CVE-2023-30589 (Node.js); HTTP Garden: Mongoose", post("X: x\rTransfer-Encoding: chunked", LAST), &["400 Head(BareCr)"]),
        case("chunked in the second of two heads", "RFC 9112, 2.1", post("Content-Length: 0\r\n\r\nTransfer-Encoding: chunked", LAST), &["POST /", "400 Head(BadMethod)"]),

        // Of versions that do not have it: RFC 9112, 6.1.
        case("chunked in HTTP/1.0", "RFC 9112, 6.1; CVE-2026-2835 (Pingora), CVE-2021-33037 (Tomcat)", "POST / HTTP/1.0\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", &["400 BadTransferEncoding"]),
        case("chunked in HTTP/1.0 with a length", "CVE-2026-2835 (Pingora), CVE-2026-42581 (Netty)", "POST / HTTP/1.0\r\nHost: a\r\nTransfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n0\r\n\r\n", &["400 BadTransferEncoding"]),
        case("chunked in HTTP/1.0 that stays", "CVE-2026-2835 (Pingora)", "POST / HTTP/1.0\r\nHost: a\r\nConnection: keep-alive\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", &["400 BadTransferEncoding"]),
    ]
}
