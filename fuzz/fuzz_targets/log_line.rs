//! Access log lines: no input makes the parser panic, and wherever it is cut the lines are the same.
//!
//! The first byte of the input says where it is cut.
#![no_main]

use libfuzzer_sys::fuzz_target;
use thrum_parse::log_line::{Entries, unescaped};

fuzz_target!(|input: &[u8]| {
    let Some((&cut, log)) = input.split_first() else {
        return;
    };
    let all: Vec<_> = Entries::new(log, true).collect();
    let mut first = Entries::new(&log[..log.len().min(cut.into())], false);
    let mut pieces: Vec<_> = first.by_ref().collect();
    pieces.extend(Entries::new(&log[first.consumed()..], true));
    assert_eq!(pieces, all);
    for entry in all {
        match entry {
            Ok(entry) => {
                let _ = entry.request_line();
                assert!(unescaped(entry.request).len() <= entry.request.len());
            }
            Err(bad) => assert!(bad.to_string().ends_with('^')),
        }
    }
});
