//! The JSON grammar beside serde_json, in turns, on documents of about 1 MB that are made here. Run it with
//! `cargo bench -p thrum-parse --bench json`.

use std::fmt::Write;
use std::hint::black_box;
use std::time::{Duration, Instant};

use thrum_parse::json::{self, Builder, Event, Limits, Reader};

const ROUNDS: usize = 9;
const TIME: Duration = Duration::from_millis(250);
const PIECE: usize = 64 * 1024;

fn main() {
    for (what, document) in [
        ("messages", messages()),
        ("numbers", numbers()),
        ("nested", nested()),
    ] {
        compare(what, document.as_bytes());
    }
}

/// Measures all in turns, so that what else happens on the machine happens to each.
fn compare(what: &str, document: &[u8]) {
    println!("{what}: {} bytes, {ROUNDS} rounds", document.len());
    let mut ratios = Vec::new();
    for _ in 0..ROUNDS {
        let ours = rate(document, |document| {
            black_box(json::parse(document).expect("the document is right"));
        });
        let theirs = rate(document, |document| {
            let value: serde_json::Value =
                serde_json::from_slice(document).expect("the document is right");
            black_box(value);
        });
        let pieces = rate(document, |document| {
            let mut builder = Builder::new();
            read(document, |event| builder.take(event));
            black_box(builder.finish());
        });
        let events = rate(document, |document| {
            let mut count = 0_usize;
            read(document, |_| count += 1);
            black_box(count);
        });
        let ratio = ours / theirs;
        println!(
            "value {ours:5.0} MB/s   serde_json {theirs:5.0} MB/s   ratio {ratio:.2}   \
             value from pieces {pieces:5.0} MB/s   events {events:5.0} MB/s"
        );
        ratios.push(ratio);
    }
    ratios.sort_by(f64::total_cmp);
    println!("{what}: median ratio {:.2}", ratios[ROUNDS / 2]);
}

fn read(document: &[u8], mut on: impl FnMut(Event<'_>)) {
    let mut reader = Reader::new(Limits::default());
    for piece in document.chunks(PIECE) {
        reader.feed(piece, &mut on).expect("the document is right");
    }
    reader.finish(on).expect("the document is whole");
}

fn rate(document: &[u8], mut parse: impl FnMut(&[u8])) -> f64 {
    let begin = Instant::now();
    let mut bytes = 0;
    while begin.elapsed() < TIME {
        parse(black_box(document));
        bytes += document.len();
    }
    bytes as f64 / begin.elapsed().as_secs_f64() / 1e6
}

/// Numbers that look like chance, the same every time.
struct Chance(u64);

impl Chance {
    fn below(&mut self, most: u64) -> u64 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % most
    }

    fn words(&mut self, most: u64) -> String {
        const WORDS: [&str; 12] = [
            "loom", "thread", "fringe", "warp", "weft", "a", "the", "spins", "été", "糸", "cloth",
            "of",
        ];
        let count = 1 + self.below(most);
        let words: Vec<_> = (0..count).map(|_| WORDS[self.below(12) as usize]).collect();
        words.join(" ")
    }
}

/// Many strings, some with escapes, and a line for each part.
fn messages() -> String {
    let mut chance = Chance(1);
    let mut out = String::from("{\n  \"statuses\": [");
    for n in 0..1000 {
        let comma = if n == 0 { "" } else { "," };
        let (text, name, place) = (chance.words(20), chance.words(2), chance.words(3));
        let (id, followers) = (chance.below(1 << 31) * 1_000_003, chance.below(100_000));
        let _ = write!(
            out,
            "{comma}\n    {{\n      \"id\": {id},\n      \"id_str\": \"{id}\",\n      \
             \"created_at\": \"Sat Nov 21 02:{:02}:{:02} +0000 2026\",\n      \
             \"text\": \"{text} \\\"{name}\\\" http:\\/\\/t.example\\/{id:x}\\n\",\n      \
             \"truncated\": false,\n      \"in_reply_to_status_id\": null,\n      \
             \"user\": {{\n        \"id\": {},\n        \"name\": \"{name}\",\n        \
             \"location\": \"{place}\",\n        \"followers_count\": {followers},\n        \
             \"verified\": {},\n        \"profile_image_url\": \
             \"http:\\/\\/images.example\\/profile\\/{id}\\/normal.png\"\n      }},\n      \
             \"retweet_count\": {},\n      \"lang\": \"\\u65e5\\u672c\",\n      \
             \"hashtags\": [\"{}\", \"{}\"]\n    }}",
            n / 60 % 60,
            n % 60,
            chance.below(1 << 31),
            followers % 2 == 0,
            followers / 100,
            chance.words(1),
            chance.words(1),
        );
    }
    out + "\n  ]\n}\n"
}

/// Coordinates: floats of up to 17 digits, without space.
fn numbers() -> String {
    let mut chance = Chance(2);
    let mut out = String::from("{\"type\":\"Polygon\",\"coordinates\":[");
    for n in 0..26_000 {
        let (x, y) = (chance.below(180_000_000), chance.below(90_000_000));
        let comma = if n == 0 { "" } else { "," };
        let _ = write!(
            out,
            "{comma}[-{},{},{}]",
            x as f64 / 1e6,
            y as f64 / 1e6 + 1e-13,
            chance.below(9000)
        );
    }
    out + "]}"
}

/// A bit of everything, down to 12 levels.
fn nested() -> String {
    fn value(chance: &mut Chance, depth: u64, out: &mut String) {
        match chance.below(if depth > 11 { 5 } else { 8 }) {
            0 => out.push_str("true"),
            1 => out.push_str("null"),
            2 => drop(write!(out, "{}", chance.below(1 << 20))),
            3 => drop(write!(
                out,
                "{}.{}e-2",
                chance.below(100),
                chance.below(1000)
            )),
            4 => drop(write!(out, "\"{}\"", chance.words(4))),
            5 | 6 => {
                out.push('{');
                for n in 0..chance.below(7) {
                    let comma = if n == 0 { "" } else { ", " };
                    let _ = write!(out, "{comma}\"{}{n}\": ", chance.words(1));
                    value(chance, depth + 1, out);
                }
                out.push('}');
            }
            _ => {
                out.push('[');
                for n in 0..chance.below(7) {
                    out.push_str(if n == 0 { "" } else { ", " });
                    value(chance, depth + 1, out);
                }
                out.push(']');
            }
        }
    }
    let (mut chance, mut out) = (Chance(3), String::from("["));
    while out.len() < 1_000_000 {
        out.push_str(if out.len() == 1 { "" } else { ",\n" });
        value(&mut chance, 1, &mut out);
    }
    out + "]"
}
