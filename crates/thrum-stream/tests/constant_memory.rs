//! A file of any size goes through in the same memory. Alone in its process, whose memory it looks at.
#![cfg(target_os = "linux")]

use thrum_rt::block_on;
use thrum_stream::{Source, Stage, sink, source, stage};

/// The most memory that the process has had, in KiB.
fn peak() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|line| line.starts_with("VmHWM:"));
    let size = line.unwrap().split_ascii_whitespace().nth(1).unwrap();
    size.parse().unwrap()
}

#[test]
fn two_hundred_megabytes_from_file_to_file() {
    let folder = tempfile::tempdir().unwrap();
    let (from, to) = (folder.path().join("from"), folder.path().join("to"));
    const SIZE: u64 = 200_000_000;
    std::fs::File::create(&from).unwrap().set_len(SIZE).unwrap();
    let before = peak();
    let pieces = stage::map(|piece: bytes::Bytes| piece.len() as u64);
    let count = pieces.to(sink::fold(0, |sum, length| *sum += length));
    let copy = sink::both(sink::file_atomic(&to).sync(false), count);
    let copied = block_on(source::file(&from).run(copy)).unwrap();
    assert_eq!(copied, (SIZE, SIZE));
    assert_eq!(std::fs::metadata(&to).unwrap().len(), SIZE);
    let more = peak() - before;
    assert!(more < 10_000, "{more} KiB more");
}
