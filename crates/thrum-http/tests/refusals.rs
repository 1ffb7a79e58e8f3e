//! Malformed, ambiguous and smuggling requests: each has one right answer, however its bytes come and whatever comes before.

mod support;

use std::time::Duration;

use support::{connect, exchange, read_to_end, short, statuses, with_server};

/// A request and the status that refuses it. (RFC 9112 and published advisories; see each line.)
#[rustfmt::skip]
const REFUSED: &[(&str, u16)] = &[
    // Request line: RFC 9112 section 3.
    ("GET\r\n\r\n", 400),
    ("GET /\r\n\r\n", 400),
    ("GET  / HTTP/1.1\r\nHost: a\r\n\r\n", 400),
    ("GET /  HTTP/1.1\r\nHost: a\r\n\r\n", 400),
    ("GET / HTTP/1.1 \r\nHost: a\r\n\r\n", 400),
    ("GET\t/ HTTP/1.1\r\nHost: a\r\n\r\n", 400),
    (" GET / HTTP/1.1\r\nHost: a\r\n\r\n", 400),
    ("G@T / HTTP/1.1\r\nHost: a\r\n\r\n", 400),
    ("GET / HTTP/1.1x\r\nHost: a\r\n\r\n", 400),
    ("GET / http/1.1\r\nHost: a\r\n\r\n", 400),
    ("GET / HTTP/01.1\r\nHost: a\r\n\r\n", 400),
    ("GET / HTTP/1.2\r\nHost: a\r\n\r\n", 505),
    ("GET / HTTP/2.0\r\nHost: a\r\n\r\n", 505),
    ("GET /a b HTTP/1.1\r\nHost: a\r\n\r\n", 400),
    ("GET /\x01 HTTP/1.1\r\nHost: a\r\n\r\n", 400),
    ("GET /\x7f HTTP/1.1\r\nHost: a\r\n\r\n", 400),
    ("GET /#a HTTP/1.1\r\nHost: a\r\n\r\n", 400),
    ("GET a HTTP/1.1\r\nHost: a\r\n\r\n", 400),
    ("GET * HTTP/1.1\r\nHost: a\r\n\r\n", 400),
    ("CONNECT a:443 HTTP/1.1\r\nHost: a:443\r\n\r\n", 501),
    // Line ends: section 2.2; bare LF and CR were behind many a smuggling.
    ("GET / HTTP/1.1\nHost: a\n\n", 400),
    ("GET / HTTP/1.1\r\nHost: a\n\r\n", 400),
    ("GET / HTTP/1.1\r\nHost: a\r\nA: b\n\r\n", 400),
    ("GET / HTTP/1.1\rHost: a\r\n\r\n", 400),
    ("GET / HTTP/1.1\r\nHost: a\r\nA: b\rC: d\r\n\r\n", 400),
    ("GET / HTTP/1.1\r\nHost: a\r\nA: b\r\n\rGET", 400),
    // Fields: section 5.
    ("GET / HTTP/1.1\r\nHost : a\r\n\r\n", 400),
    ("GET / HTTP/1.1\r\nHost\t: a\r\n\r\n", 400),
    ("GET / HTTP/1.1\r\nHost: a\r\n: b\r\n\r\n", 400),
    ("GET / HTTP/1.1\r\nHost: a\r\nb\r\n\r\n", 400),
    ("GET / HTTP/1.1\r\nHost: a\r\nA(: b\r\n\r\n", 400),
    ("GET / HTTP/1.1\r\nHost: a\r\nA: b\r\n c\r\n\r\n", 400),
    ("GET / HTTP/1.1\r\n Host: a\r\n\r\n", 400),
    ("GET / HTTP/1.1\r\nHost: a\r\nA: b\0\r\n\r\n", 400),
    ("GET / HTTP/1.1\r\nHost: a\r\nA: \x08\r\n\r\n", 400),
    // Host: RFC 9112 section 3.2.
    ("GET / HTTP/1.1\r\n\r\n", 400),
    ("GET / HTTP/1.1\r\nHost: a\r\nHost: a\r\n\r\n", 400),
    ("GET / HTTP/1.1\r\nHost: a\r\nhost: b\r\n\r\n", 400),
    ("GET / HTTP/1.1\r\nHost: a/b\r\n\r\n", 400),
    ("GET / HTTP/1.1\r\nHost: u@a\r\n\r\n", 400),
    ("GET / HTTP/1.1\r\nHost: a b\r\n\r\n", 400),
    ("GET http://b/ HTTP/1.1\r\nHost: a\r\n\r\n", 400),
    ("GET http://u@a/ HTTP/1.1\r\nHost: a\r\n\r\n", 400),
    ("GET ftp://a/ HTTP/1.1\r\nHost: a\r\n\r\n", 400),
    // Content-Length: RFC 9110 section 8.6; RUSTSEC-2021-0078.
    ("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: +5\r\n\r\nhello", 400),
    ("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: -1\r\n\r\n", 400),
    ("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 0x5\r\n\r\nhello", 400),
    ("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5 \t6\r\n\r\nhello", 400),
    ("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5, 5\r\n\r\nhello", 400),
    ("POST / HTTP/1.1\r\nHost: a\r\nContent-Length:\r\n\r\n", 400),
    ("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 99999999999999999999\r\n\r\n", 400),
    ("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\nContent-Length: 5\r\n\r\nhello", 400),
    ("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\nhello", 400),
    ("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1001\r\n\r\n", 413),
    // Transfer-Encoding: RFC 9112 section 6.1; CL.TE, TE.CL and TE.TE.
    ("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 400),
    ("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n0\r\n\r\n", 400),
    ("POST / HTTP/1.0\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 400),
    ("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 400),
    ("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n\r\n0\r\n\r\n", 400),
    ("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: xchunked\r\n\r\n0\r\n\r\n", 400),
    ("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: ,chunked\r\n\r\n0\r\n\r\n", 400),
    ("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked, identity\r\n\r\n0\r\n\r\n", 400),
    ("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: \x0bchunked\r\n\r\n0\r\n\r\n", 400),
    ("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding : chunked\r\n\r\n0\r\n\r\n", 400),
    ("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding:\r\n chunked\r\n\r\n0\r\n\r\n", 400),
    ("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n", 501),
    // Expectations: RFC 9110 section 10.1.1.
    ("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\nExpect: tea\r\n\r\nhello", 417),
];

#[test]
fn each_is_refused_and_the_connection_closed() {
    with_server(short(), async |address, server| {
        for (request, status) in REFUSED {
            // What follows must never be taken for a request.
            let poisoned = format!("{request}GET /smuggled HTTP/1.1\r\nHost: a\r\n\r\n");
            let answer = exchange(address, poisoned.as_bytes()).await;
            assert_eq!(statuses(&answer), [*status], "{request:?} gave {answer}");
            assert!(answer.contains("connection: close\r\n"), "{request:?}");
        }
        let refused: u64 = server.stats().rejects.values().sum();
        assert_eq!(refused, REFUSED.len() as u64, "each is counted");
        assert_eq!(server.stats().requests, 0, "none reached the handler");
    });
}

#[test]
fn behind_a_good_request_too() {
    with_server(short(), async |address, _| {
        for (request, status) in REFUSED {
            let pipelined = format!("GET /first HTTP/1.1\r\nHost: a\r\n\r\n{request}");
            let answer = exchange(address, pipelined.as_bytes()).await;
            assert_eq!(
                statuses(&answer),
                [200, *status],
                "{request:?} gave {answer}"
            );
            assert!(answer.contains("/first"));
        }
    });
}

#[test]
fn in_two_pieces_too() {
    with_server(short(), async |address, _| {
        for (request, status) in REFUSED {
            let middle = request.len() / 2;
            let stream = connect(address).await;
            stream
                .write_all(&request.as_bytes()[..middle])
                .await
                .unwrap();
            thrum_rt::time::sleep(Duration::from_millis(2)).await;
            let _ = stream.write_all(&request.as_bytes()[middle..]).await;
            let _ = stream.shutdown(thrum_rt::net::Shutdown::Write);
            let answer = read_to_end(&stream).await;
            assert_eq!(statuses(&answer), [*status], "{request:?} gave {answer}");
        }
    });
}

#[test]
fn limits_have_their_own_answers() {
    with_server(short(), async |address, _| {
        let target = format!("GET /{} HTTP/1.1\r\nHost: a\r\n\r\n", "a".repeat(600));
        let field = format!(
            "GET / HTTP/1.1\r\nHost: a\r\nA: {}\r\n\r\n",
            "a".repeat(3000)
        );
        let fields = format!("GET / HTTP/1.1\r\nHost: a\r\n{}\r\n", "A: b\r\n".repeat(10));
        let endless = format!("GET / HTTP/1.1\r\nHost: a\r\n{}", "A: b\r\n".repeat(10_000));
        for (request, status) in [(target, 414), (field, 431), (fields, 431), (endless, 431)] {
            let answer = exchange(address, request.as_bytes()).await;
            assert_eq!(statuses(&answer), [status], "{request:.60}");
        }
    });
}

#[test]
fn a_broken_chunk_ends_the_connection() {
    with_server(short(), async |address, _| {
        for chunks in [
            "g\r\n",
            "5\r\nhelloX\r\n",
            "5\nhello\r\n",
            "-1\r\n",
            "5;\x01\r\nhello\r\n",
            "0\r\nbad trailer\r\n\r\n",
        ] {
            let request = format!(
                "POST /echo HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n{chunks}GET /smuggled HTTP/1.1\r\nHost: a\r\n\r\n"
            );
            let answer = exchange(address, request.as_bytes()).await;
            assert_eq!(statuses(&answer), [400], "{chunks:?} gave {answer}");
        }
        let large = format!("{:x}\r\n{}\r\n0\r\n\r\n", 1001, "x".repeat(1001));
        let request =
            format!("POST /echo HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n{large}");
        let answer = exchange(address, request.as_bytes()).await;
        assert!(answer.contains("too large"), "{answer}");
    });
}
