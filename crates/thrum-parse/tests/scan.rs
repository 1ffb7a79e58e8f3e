//! Every instruction set finds the same runs, wherever they lie in memory.

use proptest::prelude::*;
use thrum_parse::{ByteSet, In, Level, Parser, take_while};

/// The run of `set` at the start of `bytes`, scanned at `level`.
fn run(level: Level, set: &'static ByteSet, bytes: &[u8], from: usize) -> usize {
    let run = take_while(set).parse(&mut In::starting(bytes, from, true, level));
    run.expect("a run may be empty").len()
}

fn leak(set: ByteSet) -> &'static ByteSet {
    Box::leak(Box::new(set))
}

/// What a run is, in one line.
fn expected(set: &ByteSet, bytes: &[u8], from: usize) -> usize {
    bytes[from..]
        .iter()
        .take_while(|&&byte| set.contains(byte))
        .count()
}

#[test]
fn this_machine_has_more_than_one_level() {
    let levels = Level::all();
    assert!(levels.contains(&Level::SCALAR) && levels.contains(&Level::best()));
}

#[test]
fn every_byte_alone() {
    static DIGIT: ByteSet = ByteSet::new().range(b'0', b'9');
    static TEXT: ByteSet = ByteSet::new().range(0x20, 0x7e).range(0x80, 0xff);
    static LATIN: ByteSet = ByteSet::new()
        .range(b'a', b'z')
        .range(0xc0, 0xd6)
        .with(b"\xff\0");
    for level in Level::all() {
        for set in [&DIGIT, &TEXT, &LATIN] {
            for byte in 0..=255 {
                let bytes = [byte; 64];
                let length = if set.contains(byte) { 64 } else { 0 };
                assert_eq!(run(level, set, &bytes, 0), length, "{level:?} {set} {byte}");
            }
        }
    }
}

#[test]
fn every_length_and_alignment() {
    static A: ByteSet = ByteSet::new().with(b"a");
    let mut memory = vec![b'a'; 400];
    for level in Level::all() {
        for offset in 0..64 {
            for length in 0..200 {
                let end = offset + length;
                // A buffer that ends with its run, and one that goes on behind it.
                assert_eq!(run(level, &A, &memory[..end], offset), length);
                memory[end] = b'-';
                assert_eq!(run(level, &A, &memory, offset), length);
                memory[end] = b'a';
            }
        }
    }
}

proptest! {
    #[test]
    fn levels_agree(
        members in prop::collection::vec(any::<u8>(), 0..256),
        mut bytes in prop::collection::vec(any::<u8>(), 0..200),
        stranger in any::<prop::sample::Index>(),
        from in any::<prop::sample::Index>(),
    ) {
        let set = leak(ByteSet::new().with(&members));
        // Long runs are rare among random bytes: make all of them members but one.
        if let Some(&member) = members.first() {
            let last = stranger.index(bytes.len() + 1);
            for byte in bytes.iter_mut().take(last) {
                if !set.contains(*byte) {
                    *byte = member;
                }
            }
        }
        let from = from.index(bytes.len() + 1);
        for level in Level::all() {
            prop_assert_eq!(run(level, set, &bytes, from), expected(set, &bytes, from), "{:?}", level);
        }
    }
}
