//! Measures our parser and another in turns, so that what else happens on the machine happens to both.

use std::hint::black_box;
use std::time::Instant;

const PARSES: usize = 400_000;
const ROUNDS: usize = 9;

/// Prints MB/s of both over `inputs`, and how they compare, for each round; then the median.
pub(crate) fn compare(
    what: &str,
    inputs: &[Vec<u8>],
    mut thrum: impl FnMut(&[u8]),
    mut httparse: impl FnMut(&[u8]),
) {
    let bytes: usize = inputs.iter().map(Vec::len).sum();
    println!(
        "{what}: {} bytes on average, {ROUNDS} rounds",
        bytes / inputs.len()
    );
    let mut ratios = Vec::new();
    for _ in 0..ROUNDS {
        let (ours, theirs) = (rate(inputs, &mut thrum), rate(inputs, &mut httparse));
        let ratio = ours / theirs;
        println!("thrum {ours:5.0} MB/s   httparse {theirs:5.0} MB/s   ratio {ratio:.2}");
        ratios.push(ratio);
    }
    ratios.sort_by(f64::total_cmp);
    println!("{what}: median ratio {:.2}", ratios[ROUNDS / 2]);
}

fn rate(inputs: &[Vec<u8>], mut parse: impl FnMut(&[u8])) -> f64 {
    let begin = Instant::now();
    let mut bytes = 0;
    for input in inputs.iter().cycle().take(PARSES) {
        parse(black_box(input));
        bytes += input.len();
    }
    bytes as f64 / begin.elapsed().as_secs_f64() / 1e6
}

/// A head that begins with `start_line`, with ten fields of all lengths, which follow from `seed`: a processor learns
/// one head by heart.
pub(crate) fn varied(seed: u64, start_line: impl Fn(usize) -> String) -> Vec<u8> {
    let mut state = seed;
    let mut length = |most: u64| {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        1 + (state >> 33) as usize % most as usize
    };
    let mut head = start_line(length(60));
    for _ in 0..10 {
        head += &format!("{}: {}\r\n", "n".repeat(length(16)), "v".repeat(length(48)));
    }
    (head + "\r\n").into_bytes()
}
