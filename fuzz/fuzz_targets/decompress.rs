//! Compressed bytes: no input makes a decoder panic, go on for ever or take more memory than it says, and however the input
//! is cut, the answer is the same.
//!
//! The first byte of the input says by which decoder and how it is cut.
#![no_main]

use bytes::Bytes;
use libfuzzer_sys::fuzz_target;
use thrum_stream::stage::decompress::{self, Decompress};
use thrum_stream::{Input, Result, Stage, Step};

const LIMIT: u64 = 1 << 20;

fuzz_target!(|input: &[u8]| {
    let Some((&first, bytes)) = input.split_first() else {
        return;
    };
    let stage = || match first % 6 {
        0 => decompress::auto().limit(LIMIT),
        1 => decompress::gzip().limit(LIMIT),
        2 => decompress::zlib().limit(LIMIT),
        3 => decompress::deflate().limit(LIMIT),
        4 => decompress::zstd().limit(LIMIT),
        _ => decompress::brotli().limit(LIMIT),
    };
    let size = usize::from(first / 6).max(1);
    let (whole, pieces) = (read(bytes, usize::MAX, stage()), read(bytes, size, stage()));
    match (whole, pieces) {
        (Ok(whole), Ok(pieces)) => assert!(whole == pieces, "in pieces of {size}"),
        (Err(whole), Err(pieces)) => assert_eq!(whole.stage(), pieces.stage()),
        (whole, pieces) => panic!(
            "{:?}, but in pieces of {size} {:?}",
            whole.err(),
            pieces.err()
        ),
    }
});

/// What comes of it, and what is left over.
fn read(bytes: &[u8], size: usize, mut stage: Decompress) -> Result<(Vec<u8>, usize)> {
    let mut pieces = bytes.chunks(size).map(Bytes::copy_from_slice);
    let (mut input, mut output) = (Input::new(), Vec::new());
    loop {
        match stage.step(&mut input)? {
            Step::Item(item) => {
                assert!(!item.is_empty() && item.len() <= 32 * 1024);
                output.extend_from_slice(&item);
                assert!(output.len() as u64 <= LIMIT);
            }
            Step::Need => match pieces.next() {
                Some(piece) => input.give(piece),
                None => input.end(),
            },
            Step::Done => {
                let rest = input.take().into_iter().chain(pieces);
                return Ok((output, rest.map(|piece| piece.len()).sum()));
            }
        }
    }
}
