//! What the peers share: the file in memory, the heads in it one after another, the time, and what is printed.

use std::time::Instant;

/// Header fields that a request may have, as with thrum.
pub const FIELDS: usize = 100;

/// Parses all heads of the file in the first argument, and prints what thrum's parse_requests does. `parse` reads one from
/// the start of a buffer: its bytes and its header fields.
pub fn heads(kind: &str, mut parse: impl FnMut(&[u8]) -> Option<(usize, usize)>) {
    let bytes = file();
    let (mut at, mut heads, mut fields) = (0, 0, 0);
    let begin = Instant::now();
    while at < bytes.len() {
        let Some((consumed, found)) = parse(&bytes[at..]) else {
            panic!("byte {at}: malformed");
        };
        at += consumed;
        heads += 1;
        fields += found;
    }
    let seconds = begin.elapsed().as_secs_f64();
    let rate = at as f64 / seconds / 1e6;
    println!(
        "{heads} {kind}s, {fields} header fields, {at} bytes, parsed in {seconds:.6} s: {rate:.0} MB/s"
    );
}

/// The file in the first argument.
pub fn file() -> Vec<u8> {
    let path = std::env::args_os().nth(1).expect("which file?");
    std::fs::read(path).expect("a file that can be read")
}
