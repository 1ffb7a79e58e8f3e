//! The request head parser. The first byte of the input says how it is cut.
#![no_main]

use libfuzzer_sys::fuzz_target;
use thrum_parse::http::RequestHead;

mod heads;

fuzz_target!(|input: &[u8]| {
    let Some((bytes, head)) = heads::parse_cut::<RequestHead>(input) else {
        return;
    };
    assert!(bytes.ends_with(b"\r\n\r\n"));
    assert!(!head.method.is_empty() && head.target.len() <= heads::LIMITS.target_bytes);
    assert!(head.target.of(bytes).iter().all(u8::is_ascii_graphic));
    heads::check_fields(bytes, head.headers(), head.target.end);
});
