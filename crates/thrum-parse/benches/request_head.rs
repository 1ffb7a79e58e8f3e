//! The request head parser beside httparse, in turns, on a browser's request. Run it with
//! `cargo bench -p thrum-parse --bench request_head`.

use std::hint::black_box;
use std::mem::MaybeUninit;

use thrum_parse::http::{HeadLimits, HeadParser, RequestHead};

mod turns;

/// What a browser sends: 416 bytes, the size that the figures of the design were taken with.
const REQUEST: &[u8] = b"GET /articles/2010/03/attoparsec-rewired.html HTTP/1.1\r\n\
Host: www.example.org\r\n\
User-Agent: Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36\r\n\
Accept: text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8\r\n\
Accept-Language: en-us,en;q=0.5\r\n\
Accept-Encoding: gzip,deflate\r\n\
Accept-Charset: ISO-8859-1,utf-8;q=0.7,*;q=0.7\r\n\
Keep-Alive: 300\r\n\
Connection: keep-alive\r\n\
Referer: http://www.example.org/2010/index/\r\n\r\n";

fn main() {
    turns::compare("one request", &[REQUEST.to_vec()], thrum(), httparse());
    let line = |length| format!("GET /{} HTTP/1.1\r\n", "p".repeat(length));
    let requests: Vec<_> = (1..=512).map(|seed| turns::varied(seed, line)).collect();
    turns::compare("many requests", &requests, thrum(), httparse());
}

fn thrum() -> impl FnMut(&[u8]) {
    let (mut parser, mut head) = (HeadParser::new(HeadLimits::default()), RequestHead::new());
    move |request| {
        let parsed = parser.parse(request, false, &mut head);
        parsed.expect("the request is well formed");
        black_box(&head);
    }
}

fn httparse() -> impl FnMut(&[u8]) {
    move |bytes| {
        // The fast way to call it: nothing is cleared beforehand.
        let mut headers = [const { MaybeUninit::uninit() }; 100];
        let mut request = httparse::Request::new(&mut []);
        let parsed = request.parse_with_uninit_headers(bytes, &mut headers);
        parsed.expect("the request is well formed");
        black_box(&request);
    }
}
