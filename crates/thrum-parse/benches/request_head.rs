//! The request head parser beside httparse, in turns, on a browser's request. Run it with `cargo bench -p thrum-parse`.

use std::hint::black_box;
use std::mem::MaybeUninit;
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
    compare("one request", &[REQUEST.to_vec()]);
    // A processor learns one request by heart. Here are many, with fields of all lengths and in all orders.
    let requests: Vec<_> = (1..=512).map(request).collect();
    compare("many requests", &requests);
}

/// A request whose lengths follow from `seed`.
fn request(seed: u64) -> Vec<u8> {
    let mut state = seed;
    let mut length = |most: u64| {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        1 + (state >> 33) as usize % most as usize
    };
    let mut head = format!("GET /{} HTTP/1.1\r\n", "p".repeat(length(60)));
    for _ in 0..10 {
        head += &format!("{}: {}\r\n", "n".repeat(length(16)), "v".repeat(length(48)));
    }
    (head + "\r\n").into_bytes()
}

/// Measures both in turns, so that what else happens on the machine happens to both.
fn compare(what: &str, requests: &[Vec<u8>]) {
    let bytes: usize = requests.iter().map(Vec::len).sum();
    println!(
        "{what}: {} bytes on average, {ROUNDS} rounds",
        bytes / requests.len()
    );
    let mut ratios = Vec::new();
    for _ in 0..ROUNDS {
        let (ours, theirs) = (rate(requests, thrum()), rate(requests, httparse()));
        let ratio = ours / theirs;
        println!("thrum {ours:5.0} MB/s   httparse {theirs:5.0} MB/s   ratio {ratio:.2}");
        ratios.push(ratio);
    }
    ratios.sort_by(f64::total_cmp);
    println!("{what}: median ratio {:.2}", ratios[ROUNDS / 2]);
}

fn rate(requests: &[Vec<u8>], mut parse: impl FnMut(&[u8])) -> f64 {
    let begin = Instant::now();
    let mut bytes = 0;
    for request in requests.iter().cycle().take(PARSES) {
        parse(black_box(request));
        bytes += request.len();
    }
    bytes as f64 / begin.elapsed().as_secs_f64() / 1e6
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
