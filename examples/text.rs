//! What is done with text all day: decode, count, split, search, change, join. `text FILE`: MB/s of each for the text in FILE.
//!
//! Text is `str`, and bytes are `[u8]`, of the standard library; what is searched for is found by `memchr`. Each step is run
//! for all of the text several times, and its fastest run counts.

use std::hint::black_box;
use std::ops::Range;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use memchr::memmem::Finder;
use memchr::{memchr_iter, memmem};
use thrum_examples::{arguments, wrong};

const USAGE: &str =
    "usage: text FILE    measures what is done with the text in FILE, which is UTF-8";
const RUNS: usize = 9;
/// It is nowhere in the text, so that all of it is searched.
const ABSENT: &str = "threadless";
const OFTEN: &str = "the ";

fn main() -> ExitCode {
    let file = match arguments(USAGE, 1).pop() {
        None => wrong(USAGE, "which file?"),
        Some(flag) if flag.starts_with('-') => wrong(USAGE, &format!("there is no flag {flag}")),
        Some(file) => file,
    };
    let bytes = match std::fs::read(&file) {
        Ok(bytes) => bytes,
        Err(error) => return failure(&format!("{file}: {error}")),
    };
    match str::from_utf8(&bytes) {
        Ok(text) => measure_text(text),
        Err(error) => return failure(&format!("{file}: {error}")),
    }
    measure_bytes(&bytes);
    ExitCode::SUCCESS
}

fn failure(what: &str) -> ExitCode {
    eprintln!("{what}");
    ExitCode::FAILURE
}

fn measure_text(text: &str) {
    let lines: Vec<&str> = text.lines().collect();
    let characters = |text: &String| text.chars().count();
    let of = |step: &'static str| Step {
        step,
        bytes: text.len(),
    };
    of("decode").measure(
        || str::from_utf8(black_box(text.as_bytes())).map(str::to_owned),
        |decoded| decoded.as_ref().map_or(0, |text| text.chars().count()),
    );
    of("length").measure(|| black_box(text).chars().count(), |count| *count);
    of("length of filter").measure(
        || {
            let kept = |c: &char| !c.is_alphabetic();
            black_box(text).chars().filter(kept).count()
        },
        |count| *count,
    );
    of("length of map").measure(
        || black_box(text).chars().map(plainer).count(),
        |count| *count,
    );
    of("fold").measure(
        || black_box(text).chars().map(|c| c as usize).sum(),
        |sum: &usize| *sum,
    );
    let half = text.chars().count() / 2;
    of("take").measure(|| &text[..place(black_box(text), half)], count);
    of("drop").measure(|| &text[place(black_box(text), half)..], count);
    of("lines").measure(|| some_text(black_box(text), b'\n'), |found| *found);
    of("split").measure(|| some_text(black_box(text), b' '), |found| *found);
    of("words").measure(
        || {
            black_box(text)
                .split_whitespace()
                .map(|word| usize::from(word.chars().count() > 3))
                .sum()
        },
        |long: &usize| *long,
    );
    of("find").measure(
        || memmem::find(black_box(text).as_bytes(), ABSENT.as_bytes()),
        |found| usize::from(found.is_some()),
    );
    of("count").measure(
        || {
            Finder::new(OFTEN)
                .find_iter(black_box(text).as_bytes())
                .count()
        },
        |count| *count,
    );
    of("replace").measure(|| black_box(text).replace(OFTEN, "a "), characters);
    of("lower case").measure(|| black_box(text).to_lowercase(), characters);
    of("upper case").measure(|| black_box(text).to_uppercase(), characters);
    of("filter").measure(
        || {
            black_box(text)
                .chars()
                .filter(|c| !c.is_alphabetic())
                .collect()
        },
        characters,
    );
    of("map").measure(
        || black_box(text).chars().map(plainer).collect(),
        characters,
    );
    of("concat map").measure(
        || black_box(text).chars().flat_map(|c| [c, c]).collect(),
        characters,
    );
    of("reverse").measure(|| black_box(text).chars().rev().collect(), characters);
    let reversed: String = text.chars().rev().collect();
    of("zip with").measure(
        || {
            let both = black_box(text).chars().zip(reversed.chars());
            both.map(|(one, other)| one.max(other)).collect()
        },
        characters,
    );
    of("intersperse").measure(|| interspersed(black_box(text), '-'), characters);
    of("intercalate").measure(|| black_box(&lines).join(", "), characters);
    of("concat").measure(|| black_box(&lines).concat(), characters);
    of("append").measure(|| [black_box(text), text].concat(), characters);
    of("cons").measure(|| ["x", black_box(text)].concat(), characters);
    let often = text.len() / OFTEN.len();
    of("replicate").measure(|| OFTEN.repeat(black_box(often)), characters);
    let copy = text.to_owned();
    of("compare").measure(
        || black_box(text) == black_box(&copy),
        |same| usize::from(*same),
    );
}

fn measure_bytes(bytes: &[u8]) {
    let lines: Vec<&[u8]> = bytes.split(|byte| *byte == b'\n').collect();
    let of = |step: &'static str| Step {
        step,
        bytes: bytes.len(),
    };
    of("bytes lines").measure(|| some_bytes(black_box(bytes), b'\n'), |found| *found);
    of("bytes split").measure(|| some_bytes(black_box(bytes), b' '), |found| *found);
    of("bytes find").measure(
        || memmem::find(black_box(bytes), ABSENT.as_bytes()),
        |found| usize::from(found.is_some()),
    );
    of("bytes count").measure(
        || memchr_iter(b'e', black_box(bytes)).count(),
        |count| *count,
    );
    of("bytes map").measure(|| black_box(bytes).to_ascii_uppercase(), Vec::len);
    of("bytes concat").measure(|| black_box(&lines).concat(), Vec::len);
}

fn count(text: &&str) -> usize {
    text.chars().count()
}

/// Where so many characters end.
fn place(text: &str, count: usize) -> usize {
    text.char_indices()
        .nth(count)
        .map_or(text.len(), |(place, _)| place)
}

fn plainer(c: char) -> char {
    if c == 'e' { 'a' } else { c }
}

/// The text with this between its characters.
fn interspersed(text: &str, between: char) -> String {
    let mut whole: String = text.chars().flat_map(|c| [c, between]).collect();
    whole.pop();
    whole
}

/// How many pieces are not empty.
fn some_text(text: &str, at: u8) -> usize {
    pieces(text.as_bytes(), at, |piece| {
        !black_box(&text[piece]).is_empty()
    })
}

fn some_bytes(bytes: &[u8], at: u8) -> usize {
    pieces(bytes, at, |piece| !black_box(&bytes[piece]).is_empty())
}

/// Splits at each of these bytes and says how many pieces there are that `is_some` says yes to.
fn pieces(bytes: &[u8], at: u8, is_some: impl Fn(Range<usize>) -> bool) -> usize {
    let (mut start, mut found) = (0, 0);
    for end in memchr_iter(at, bytes).chain([bytes.len()]) {
        found += usize::from(is_some(start..end));
        start = end + 1;
    }
    found
}

/// Something that is done with so many bytes of text.
struct Step {
    step: &'static str,
    bytes: usize,
}

impl Step {
    /// Measures it, and says something about the result that others must agree on.
    fn measure<T>(self, run: impl Fn() -> T, result: impl Fn(&T) -> usize) {
        let mut fastest = Duration::MAX;
        let mut last = None;
        for _ in 0..RUNS {
            drop(last.take());
            let begin = Instant::now();
            let done = black_box(run());
            fastest = fastest.min(begin.elapsed());
            last = Some(done);
        }
        let rate = self.bytes as f64 / fastest.as_secs_f64() / 1e6;
        let result = last.as_ref().map_or(0, result);
        println!("{}: {rate:.0} MB/s, result {result}", self.step);
    }
}
