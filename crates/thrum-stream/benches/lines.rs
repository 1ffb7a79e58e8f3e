//! What a pipeline costs for each item: lines of 132 bytes that are counted, with the stage behind the source, with the
//! stage before the sink, and by a loop without a pipeline. Run it with `cargo bench -p thrum-stream`.

use std::hint::black_box;
use std::time::Instant;

use bytes::Bytes;
use thrum_rt::block_on;
use thrum_stream::{Source, Stage, sink, source, stage};

const LINE_BYTES: usize = 132;
const PIECES: usize = 2_000;
const LINES: usize = 500;
const ROUNDS: usize = 7;

fn main() {
    let line = [&[b'x'; LINE_BYTES - 1], b"\n".as_slice()].concat();
    let piece = Bytes::from(line.repeat(LINES));
    let pieces = || {
        source::iter((0..PIECES).map({
            let piece = piece.clone();
            move |_| black_box(piece.clone())
        }))
    };
    for _ in 0..ROUNDS {
        let behind = measured(|| {
            let lines = pieces().pipe(stage::lines(4096));
            block_on(lines.run(sink::count())).expect("the lines are short")
        });
        let before = measured(|| {
            let count = stage::lines(4096).to(sink::count());
            block_on(pieces().run(count)).expect("the lines are short")
        });
        let mapped = measured(|| {
            let lines = pieces()
                .pipe(stage::lines(4096))
                .pipe(stage::map(|line: Bytes| line.len()));
            let sum = lines.run(sink::fold(0, |sum: &mut u64, length| *sum += length as u64));
            block_on(sum).expect("the lines are short") / (LINE_BYTES as u64 - 1)
        });
        let by_hand = measured(|| {
            let mut count = 0;
            for _ in 0..PIECES {
                let mut rest = black_box(piece.clone());
                while let Some(at) = memchr::memchr(b'\n', &rest) {
                    black_box(rest.split_to(at + 1));
                    count += 1;
                }
            }
            count
        });
        println!(
            "ns a line: {behind:5.1} behind the source   {before:5.1} before the sink   {mapped:5.1} and mapped   {by_hand:5.1} by hand"
        );
    }
}

/// Nanoseconds a line.
fn measured(run: impl FnOnce() -> u64) -> f64 {
    let begin = Instant::now();
    assert_eq!(run(), (PIECES * LINES) as u64);
    begin.elapsed().as_secs_f64() * 1e9 / (PIECES * LINES) as f64
}
