//! How fast the lines of an access log are read, and how fast a program that counts their targets can be. Run it with
//! `cargo bench -p thrum-parse --bench log_line`.

use std::collections::HashMap;
use std::hint::black_box;
use std::time::Instant;

use thrum_parse::log_line::Entries;

const LINES: u64 = 20_000;
const PASSES: usize = 30;
const ROUNDS: usize = 9;

fn main() {
    let log = log();
    println!(
        "{LINES} lines, {} bytes on average, {ROUNDS} rounds",
        log.len() as u64 / LINES
    );
    let mut rates = Vec::new();
    for _ in 0..ROUNDS {
        let parse = rate(&log, |log| {
            for entry in Entries::new(log, true) {
                let _ = black_box(entry.expect("the line is right"));
            }
        });
        let count = rate(&log, |log| {
            let mut counts = HashMap::<_, u64>::new();
            for entry in Entries::new(log, true).flatten() {
                if let Some(request) = entry.request_line() {
                    *counts.entry(request.target).or_default() += 1;
                }
            }
            black_box(counts);
        });
        println!("parse {parse:5.0} MB/s   count targets {count:5.0} MB/s");
        rates.push(parse);
    }
    rates.sort_by(f64::total_cmp);
    println!("median {:.0} MB/s", rates[ROUNDS / 2]);
}

fn rate(log: &[u8], mut read: impl FnMut(&[u8])) -> f64 {
    let begin = Instant::now();
    for _ in 0..PASSES {
        read(black_box(log));
    }
    (log.len() * PASSES) as f64 / begin.elapsed().as_secs_f64() / 1e6
}

/// Lines of about 200 bytes, as servers write them for browsers.
fn log() -> Vec<u8> {
    let mut state = 1_u64;
    let mut below = |most: u64| {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % most
    };
    let agents = [
        "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0",
        "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 Chrome/141.0 Safari/537.36",
        "curl/8.5.0",
    ];
    let mut log = String::new();
    for n in 0..LINES {
        log += &format!(
            "192.0.2.{} - - [21/Nov/2026:{:02}:{:02}:{:02} +0000] \"GET /articles/2026/{}/{}.html \
             HTTP/1.1\" 200 {} \"https://www.example.org/index/{}\" \"{}\"\n",
            below(256),
            n / 3600 % 24,
            n / 60 % 60,
            n % 60,
            below(12),
            "threads-and-looms"
                .get(..below(17) as usize)
                .unwrap_or_default(),
            below(100_000),
            below(1000),
            agents[below(3) as usize],
        );
    }
    log.into_bytes()
}
