//! The request head parser beside httparse, in turns, on a browser's request. Run it with `cargo bench -p thrum-parse`.

use std::hint::black_box;
use std::time::Instant;

use thrum_parse::http::{HeadLimits, HeadParser, RequestHead};

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

const PARSES: usize = 400_000;
const ROUNDS: usize = 9;

fn main() {
    println!("{} bytes, {PARSES} times, {ROUNDS} rounds", REQUEST.len());
    let mut ratios = Vec::new();
    for _ in 0..ROUNDS {
        let (ours, theirs) = (rate(thrum()), rate(httparse()));
        println!(
            "thrum {ours:5.0} MB/s   httparse {theirs:5.0} MB/s   ratio {:.2}",
            ours / theirs
        );
        ratios.push(ours / theirs);
    }
    ratios.sort_by(f64::total_cmp);
    println!("median ratio {:.2}", ratios[ROUNDS / 2]);
}

fn rate(mut parse: impl FnMut()) -> f64 {
    let begin = Instant::now();
    for _ in 0..PARSES {
        parse();
    }
    (REQUEST.len() * PARSES) as f64 / begin.elapsed().as_secs_f64() / 1e6
}

fn thrum() -> impl FnMut() {
    let (mut parser, mut head) = (HeadParser::new(HeadLimits::default()), RequestHead::new());
    move || {
        parser
            .parse(black_box(REQUEST), false, &mut head)
            .expect("the request is well formed");
        black_box(&head);
    }
}

fn httparse() -> impl FnMut() {
    move || {
        let mut headers = [httparse::EMPTY_HEADER; 100];
        let mut request = httparse::Request::new(&mut headers);
        request
            .parse(black_box(REQUEST))
            .expect("the request is well formed");
        black_box(&request);
    }
}
