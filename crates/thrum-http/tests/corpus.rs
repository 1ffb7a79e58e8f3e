//! Requests as data: each has one right outcome, whole, cut at every byte, byte by byte, and behind another one.
//!
//! `refusals.rs` has the heads that are refused. Here is what is just within the rules, what is just beyond them, and
//! bodies: where one message ends and the next begins is what smuggling is about. To add a case, add a line.

mod support;

use std::net::SocketAddr;

use support::{connect, exchange, read_to_end, short, statuses, with_server};
use thrum_rt::net::Shutdown;

/// What is sent before the end of the stream, and the statuses that come back. A request to `/echo` whose body is broken
/// is answered with 400 by the handler; what stands behind the break is never a request.
#[rustfmt::skip]
const CASES: &[(&str, &[u16])] = &[
    // One after the other, and what may stand between them: RFC 9112 section 2.2.
    ("GET / HTTP/1.1\r\nHost: a\r\n\r\n", &[200]),
    ("GET / HTTP/1.1\r\nHost: a\r\n\r\nGET / HTTP/1.1\r\nHost: a\r\n\r\n", &[200, 200]),
    ("\r\nGET / HTTP/1.1\r\nHost: a\r\n\r\n", &[200]),
    ("GET / HTTP/1.1\r\nHost: a\r\n\r\n\r\nGET / HTTP/1.1\r\nHost: a\r\n\r\n", &[200, 200]),
    ("\r\n\r\nGET / HTTP/1.1\r\nHost: a\r\n\r\n", &[400]),
    ("\nGET / HTTP/1.1\r\nHost: a\r\n\r\n", &[400]),
    ("\rGET / HTTP/1.1\r\nHost: a\r\n\r\n", &[400]),
    ("\0GET / HTTP/1.1\r\nHost: a\r\n\r\n", &[400]),
    // The end of the stream within a head.
    ("G", &[400]),
    ("GET / HTTP/1.1\r\nHost: a", &[400]),
    ("GET / HTTP/1.1\r\nHost: a\r\n", &[400]),
    ("GET / HTTP/1.1\r\nHost: a\r\n\r", &[400]),
    ("GET / HTTP/1.1\r\nHost: a\r\n\r\nGET", &[200, 400]),
    // Methods and targets: sections 3.1 and 3.2.
    ("PATCH / HTTP/1.1\r\nHost: a\r\n\r\n", &[200]),
    ("get / HTTP/1.1\r\nHost: a\r\n\r\n", &[200]),
    ("A!#$%&'*+-.^_`|~9 / HTTP/1.1\r\nHost: a\r\n\r\n", &[200]),
    ("GET, / HTTP/1.1\r\nHost: a\r\n\r\n", &[400]),
    ("GE\u{e9}T / HTTP/1.1\r\nHost: a\r\n\r\n", &[400]),
    ("OPTIONS * HTTP/1.1\r\nHost: a\r\n\r\n", &[200]),
    ("OPTIONS / HTTP/1.1\r\nHost: a\r\n\r\n", &[200]),
    ("OPTIONS ** HTTP/1.1\r\nHost: a\r\n\r\n", &[400]),
    ("GET /%00%2e%2e%2f?a=b&c=%zz HTTP/1.1\r\nHost: a\r\n\r\n", &[200]),
    ("GET //b/c HTTP/1.1\r\nHost: a\r\n\r\n", &[200]),
    ("GET /\u{e9} HTTP/1.1\r\nHost: a\r\n\r\n", &[400]),
    ("GET ?a HTTP/1.1\r\nHost: a\r\n\r\n", &[400]),
    ("GET \\a HTTP/1.1\r\nHost: a\r\n\r\n", &[400]),
    ("GET a:80 HTTP/1.1\r\nHost: a:80\r\n\r\n", &[400]),
    ("GET http://a HTTP/1.1\r\nHost: a\r\n\r\n", &[200]),
    ("GET http://a/b HTTP/1.1\r\nHost: A\r\n\r\n", &[200]),
    ("GET HTTP://a/b HTTP/1.1\r\nHost: a\r\n\r\n", &[200]),
    ("GET http:///b HTTP/1.1\r\nHost: a\r\n\r\n", &[400]),
    ("GET http:b HTTP/1.1\r\nHost: a\r\n\r\n", &[400]),
    ("GET file:///etc HTTP/1.1\r\nHost: a\r\n\r\n", &[400]),
    ("GET http://a:80/ HTTP/1.1\r\nHost: a:81\r\n\r\n", &[400]),
    ("CONNECT / HTTP/1.1\r\nHost: a\r\n\r\n", &[501]),
    // Versions: section 2.3.
    ("GET / HTTP/1.0\r\n\r\n", &[200]),
    ("GET / HTTP/1.0\r\n\r\nGET / HTTP/1.0\r\n\r\n", &[200]),
    ("GET / HTTP/0.9\r\n\r\n", &[505]),
    ("GET / HTTP/3.0\r\nHost: a\r\n\r\n", &[505]),
    ("GET / HTTP/1\r\nHost: a\r\n\r\n", &[400]),
    ("GET / HTTP/11\r\nHost: a\r\n\r\n", &[400]),
    ("GET / HTTP/1.10\r\nHost: a\r\n\r\n", &[400]),
    ("GET / HTTP/ 1.1\r\nHost: a\r\n\r\n", &[400]),
    ("GET / HTP/1.1\r\nHost: a\r\n\r\n", &[400]),
    ("GET / HTTPS/1.1\r\nHost: a\r\n\r\n", &[400]),
    // Fields: section 5.
    ("GET / HTTP/1.1\r\nHost:a\r\n\r\n", &[200]),
    ("GET / HTTP/1.1\r\nHost: \t a \t \r\n\r\n", &[200]),
    ("GET / HTTP/1.1\r\nHOST: a\r\n\r\n", &[200]),
    ("GET / HTTP/1.1\r\nHost: a\r\nA:\r\nB: \r\n\r\n", &[200]),
    ("GET / HTTP/1.1\r\nHost: a\r\nA: \u{e9}\t\"{}\r\n\r\n", &[200]),
    ("GET / HTTP/1.1\r\nHost: a\r\nA: b: c\r\n\r\n", &[200]),
    ("GET / HTTP/1.1\r\nHost: a\r\n!#$%&'*+-.^_`|~: b\r\n\r\n", &[200]),
    ("GET / HTTP/1.1\r\nHost: a\r\nA\u{e9}: b\r\n\r\n", &[400]),
    ("GET / HTTP/1.1\r\nHost: a\r\nA b: c\r\n\r\n", &[400]),
    ("GET / HTTP/1.1\r\nHost: a\r\nA\0: c\r\n\r\n", &[400]),
    ("GET / HTTP/1.1\r\nHost: a\r\nA: \x7f\r\n\r\n", &[400]),
    ("GET / HTTP/1.1\r\nHost: a\r\nA: \x1b[31m\r\n\r\n", &[400]),
    ("GET / HTTP/1.1\r\nHost: a\r\nA: b\r\r\n\r\n", &[400]),
    ("GET / HTTP/1.1\r\nHost: a\r\n\tA: b\r\n\r\n", &[400]),
    ("GET / HTTP/1.1\r\nHost: a\r\nA:\r\n\tb\r\n\r\n", &[400]),
    ("GET / HTTP/1.1\r\nHost: a\r\n\n", &[400]),
    ("GET / HTTP/1.1\r\nHost: a\r\n{\"a\": 1}\r\n\r\n", &[400]),
    // Host: section 3.2.
    ("GET / HTTP/1.1\r\nHost: \r\n\r\n", &[200]),
    ("GET / HTTP/1.1\r\nHost: [::1]:8080\r\n\r\n", &[200]),
    ("GET / HTTP/1.1\r\nHost: a.b-c_d.:80\r\n\r\n", &[200]),
    ("GET / HTTP/1.1\r\nHost: a,b\r\nHost: c\r\n\r\n", &[400]),
    ("GET / HTTP/1.1\r\nHost: a?b\r\n\r\n", &[400]),
    ("GET / HTTP/1.1\r\nHost: a#b\r\n\r\n", &[400]),
    ("GET / HTTP/1.1\r\nHost: a\\b\r\n\r\n", &[400]),
    ("GET / HTTP/1.1\r\nHost: http://a\r\n\r\n", &[400]),
    ("GET / HTTP/1.1\r\nHost: \u{e9}\r\n\r\n", &[400]),
    ("GET / HTTP/1.0\r\nHost: a\r\nHost: b\r\n\r\n", &[400]),
    // Who goes on: section 9.3.
    ("GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\nGET / HTTP/1.1\r\nHost: a\r\n\r\n", &[200]),
    ("GET / HTTP/1.1\r\nHost: a\r\nConnection: x, CLOSE\r\n\r\nGET / HTTP/1.1\r\nHost: a\r\n\r\n", &[200]),
    ("GET / HTTP/1.1\r\nHost: a\r\nConnection: x\r\nConnection: close\r\n\r\nGET / HTTP/1.1\r\nHost: a\r\n\r\n", &[200]),
    ("GET / HTTP/1.1\r\nHost: a\r\nConnection: closed\r\n\r\nGET / HTTP/1.1\r\nHost: a\r\n\r\n", &[200, 200]),
    ("GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\nGET / HTTP/1.0\r\n\r\n", &[200, 200]),
    ("GET / HTTP/1.0\r\nConnection: keep-alive, close\r\n\r\nGET / HTTP/1.0\r\n\r\n", &[200]),
    // Content-Length: RFC 9110 section 8.6.
    ("POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nhelloGET / HTTP/1.1\r\nHost: a\r\n\r\n", &[200, 200]),
    ("POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n\r\nGET / HTTP/1.1\r\nHost: a\r\n\r\n", &[200, 200]),
    ("POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 0005\r\n\r\nhelloGET / HTTP/1.1\r\nHost: a\r\n\r\n", &[200, 200]),
    ("POST /echo HTTP/1.1\r\nHost: a\r\n\r\nGET / HTTP/1.1\r\nHost: a\r\n\r\n", &[200, 200]),
    ("GET /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nhelloGET / HTTP/1.1\r\nHost: a\r\n\r\n", &[200, 200]),
    ("GET /ignore HTTP/1.1\r\nHost: a\r\nContent-Length: 32\r\n\r\nGET /never HTTP/1.1\r\nHost: a\r\n\r\n", &[200]),
    ("POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 6\r\n\r\nhello", &[400]),
    ("POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 5;\r\n\r\nhello", &[400]),
    ("POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 5.0\r\n\r\nhello", &[400]),
    ("POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 1e1\r\n\r\nhello", &[400]),
    ("POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: \"5\"\r\n\r\nhello", &[400]),
    ("POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 5_0\r\n\r\nhello", &[400]),
    ("POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 5\x0b\r\n\r\nhello", &[400]),
    ("POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: ,5\r\n\r\nhello", &[400]),
    ("POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 18446744073709551621\r\n\r\nhello", &[400]),
    ("POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 18446744073709551615\r\n\r\nhello", &[413]),
    ("POST /echo HTTP/1.1\r\nHost: a\r\nContent_Length: 5\r\n\r\nGET / HTTP/1.1\r\nHost: a\r\n\r\n", &[200, 200]),
    // Transfer-Encoding: section 6.1.
    ("POST /echo HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\nGET / HTTP/1.1\r\nHost: a\r\n\r\n", &[200, 200]),
    ("POST /echo HTTP/1.1\r\nHost: a\r\nTransfer-Encoding:\tChunked \r\n\r\n0\r\n\r\nGET / HTTP/1.1\r\nHost: a\r\n\r\n", &[200, 200]),
    ("POST /echo HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked, gzip\r\n\r\n0\r\n\r\n", &[400]),
    ("POST /echo HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked chunked\r\n\r\n0\r\n\r\n", &[400]),
    ("POST /echo HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: 'chunked'\r\n\r\n0\r\n\r\n", &[400]),
    ("POST /echo HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\x00\r\n\r\n0\r\n\r\n", &[400]),
    ("POST /echo HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: \r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", &[400]),
    ("POST /echo HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\ntransfer-encoding: x\r\n\r\n0\r\n\r\n", &[400]),
    ("POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", &[400]),
    ("POST /echo HTTP/1.1\r\nHost: a\r\nTransfer_Encoding: chunked\r\nContent-Length: 5\r\n\r\n0\r\n\r\n", &[200]),
    ("POST /echo HTTP/1.1\r\nHost: a\r\nTE: trailers\r\nConnection: Transfer-Encoding\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\nGET / HTTP/1.1\r\nHost: a\r\n\r\n", &[200, 200]),
    // Chunks: section 7.1.
    ("POST /echo HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\nGET / HTTP/1.1\r\nHost: a\r\n\r\n", &[200, 200]),
    ("POST /echo HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n00A\r\n0123456789\r\n000\r\n\r\nGET / HTTP/1.1\r\nHost: a\r\n\r\n", &[200, 200]),
    ("POST /echo HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n5;a;b=c;d=\"e;\\\"f\" ; g\r\nhello\r\n0;z\r\n\r\nGET / HTTP/1.1\r\nHost: a\r\n\r\n", &[200, 200]),
    ("POST /echo HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n0\r\nA: b\r\nContent-Length: 9\r\nTransfer-Encoding: x\r\nHost: c\r\n\r\nGET / HTTP/1.1\r\nHost: a\r\n\r\n", &[200, 200]),
    ("POST /echo HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello0\r\n\r\n", &[400]),
    ("POST /echo HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\n0\r\n\r\n", &[400]),
    ("POST /echo HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r0\r\n\r\n", &[400]),
    ("POST /echo HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n5\rhello\r\n0\r\n\r\n", &[400]),
    ("POST /echo HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n 5\r\nhello\r\n0\r\n\r\n", &[400]),
    ("POST /echo HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n5 \r\nhello\r\n0\r\n\r\n", &[400]),
    ("POST /echo HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n0x5\r\nhello\r\n0\r\n\r\n", &[400]),
    ("POST /echo HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n+5\r\nhello\r\n0\r\n\r\n", &[400]),
    ("POST /echo HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n5_0\r\nhello\r\n0\r\n\r\n", &[400]),
    ("POST /echo HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n;a\r\nhello\r\n0\r\n\r\n", &[400]),
    ("POST /echo HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n\r\nhello\r\n0\r\n\r\n", &[400]),
    ("POST /echo HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n10000000000000005\r\nhello\r\n0\r\n\r\n", &[400]),
    ("POST /echo HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n5;a\nhello\r\n0\r\n\r\n", &[400]),
    ("POST /echo HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n5;\r\nhello\r\n0\r\n\r\n", &[400]),
    ("POST /echo HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n5;a=\"\r\nhello\r\n0\r\n\r\n", &[400]),
    ("POST /echo HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n5;a=b c\r\nhello\r\n0\r\n\r\n", &[400]),
    ("POST /echo HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n", &[400]),
    ("POST /echo HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhel", &[400]),
    ("POST /echo HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n0\r\nA : b\r\n\r\n", &[400]),
    ("POST /echo HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n0\r\nA: b\n\r\n", &[400]),
    ("POST /echo HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\rGET / HTTP/1.1\r\nHost: a\r\n\r\n", &[400]),
    ("POST /ignore HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\nGET / HTTP/1.1\r\nHost: a\r\n\r\n", &[200, 200]),
    ("POST /ignore HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\nx\r\n\r\nGET / HTTP/1.1\r\nHost: a\r\n\r\n", &[200]),
    // Expectations: RFC 9110 section 10.1.1. Without a body nothing is waited for.
    ("GET / HTTP/1.1\r\nHost: a\r\nExpect: 100-Continue\r\n\r\nGET / HTTP/1.1\r\nHost: a\r\n\r\n", &[200, 200]),
    ("GET / HTTP/1.1\r\nHost: a\r\nExpect: 100-continue, x\r\n\r\n", &[417]),
    ("GET / HTTP/1.1\r\nHost: a\r\nExpect:\r\n\r\n", &[417]),
    ("POST /ignore HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\nExpect: 100-continue\r\n\r\nGET / HTTP/1.1\r\nHost: a\r\n\r\n", &[200]),
];

const GOOD: &str = "GET /first HTTP/1.1\r\nHost: a\r\n\r\n";

#[test]
fn whole() {
    with_server(short(), async |address, _| {
        for (bytes, expected) in CASES {
            let answer = exchange(address, bytes.as_bytes()).await;
            assert_eq!(statuses(&answer), *expected, "{bytes:?} gave {answer}");
        }
    });
}

#[test]
fn behind_a_good_request() {
    with_server(short(), async |address, _| {
        for (bytes, expected) in CASES {
            let answer = exchange(address, format!("{GOOD}{bytes}").as_bytes()).await;
            let expected = [&[200], *expected].concat();
            assert_eq!(statuses(&answer), expected, "{bytes:?} gave {answer}");
        }
    });
}

#[test]
fn cut_at_every_byte() {
    with_server(short(), async |address, _| {
        for (bytes, expected) in CASES {
            // All cuts of a case at once.
            let cuts: Vec<_> = (1..bytes.len())
                .map(|cut| thrum_rt::spawn(in_pieces(address, bytes.as_bytes(), cut)))
                .collect();
            for (at, answer) in cuts.into_iter().enumerate() {
                let answer = answer.await.unwrap();
                assert_eq!(
                    statuses(&answer),
                    *expected,
                    "{bytes:?} cut at {} gave {answer}",
                    at + 1
                );
            }
        }
    });
}

#[test]
fn byte_by_byte() {
    with_server(short(), async |address, _| {
        let all: Vec<_> = CASES
            .iter()
            .map(|(bytes, _)| thrum_rt::spawn(byte_wise(address, bytes.as_bytes())))
            .collect();
        for ((bytes, expected), answer) in CASES.iter().zip(all) {
            let answer = answer.await.unwrap();
            assert_eq!(statuses(&answer), *expected, "{bytes:?} gave {answer}");
        }
    });
}

/// Sends the bytes up to `cut`, and the rest a moment later.
async fn in_pieces(address: SocketAddr, bytes: &'static [u8], cut: usize) -> String {
    let stream = connect(address).await;
    let _ = stream.write_all(&bytes[..cut]).await;
    thrum_rt::time::sleep(std::time::Duration::from_millis(2)).await;
    let _ = stream.write_all(&bytes[cut..]).await;
    let _ = stream.shutdown(Shutdown::Write);
    read_to_end(&stream).await
}

async fn byte_wise(address: SocketAddr, bytes: &'static [u8]) -> String {
    let stream = connect(address).await;
    for byte in bytes {
        if stream.write_all(&[*byte]).await.is_err() {
            break; // refused already
        }
        thrum_rt::yield_now().await;
    }
    let _ = stream.shutdown(Shutdown::Write);
    read_to_end(&stream).await
}
