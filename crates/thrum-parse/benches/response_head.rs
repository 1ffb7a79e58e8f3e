//! The response head parser beside httparse, in turns, on a server's response. Run it with
//! `cargo bench -p thrum-parse --bench response_head`.

use std::hint::black_box;
use std::mem::MaybeUninit;

use thrum_parse::http::{HeadLimits, HeadParser, ResponseHead};

mod turns;

/// What a web server sends before a page: 389 bytes.
const RESPONSE: &[u8] = b"HTTP/1.1 200 OK\r\n\
Date: Sat, 21 Nov 2026 09:30:00 GMT\r\n\
Server: nginx/1.28.0 (Ubuntu)\r\n\
Content-Type: text/html; charset=utf-8\r\n\
Content-Length: 18432\r\n\
Last-Modified: Fri, 20 Nov 2026 16:05:12 GMT\r\n\
ETag: \"674a0c38-4800\"\r\n\
Cache-Control: public, max-age=3600\r\n\
Vary: Accept-Encoding\r\n\
Strict-Transport-Security: max-age=31536000; includeSubDomains\r\n\
Accept-Ranges: bytes\r\n\
Connection: keep-alive\r\n\r\n";

fn main() {
    turns::compare("one response", &[RESPONSE.to_vec()], thrum(), httparse());
    let line = |length| format!("HTTP/1.1 {} {}\r\n", 199 + length, "r".repeat(length % 20));
    let responses: Vec<_> = (1..=512).map(|seed| turns::varied(seed, line)).collect();
    turns::compare("many responses", &responses, thrum(), httparse());
}

fn thrum() -> impl FnMut(&[u8]) {
    let (mut parser, mut head) = (HeadParser::new(HeadLimits::default()), ResponseHead::new());
    move |response| {
        let parsed = parser.parse(response, false, &mut head);
        parsed.expect("the response is well formed");
        black_box(&head);
    }
}

fn httparse() -> impl FnMut(&[u8]) {
    move |bytes| {
        // The fast way to call it: nothing is cleared beforehand.
        let mut headers = [const { MaybeUninit::uninit() }; 100];
        let mut response = httparse::Response::new(&mut []);
        let parsed = httparse::ParserConfig::default().parse_response_with_uninit_headers(
            &mut response,
            bytes,
            &mut headers,
        );
        parsed.expect("the response is well formed");
        black_box(&response);
    }
}
