//! The response head parser. The first byte of the input says how it is cut.
#![no_main]

use libfuzzer_sys::fuzz_target;
use thrum_parse::http::ResponseHead;

mod heads;

fuzz_target!(|input: &[u8]| {
    let Some((bytes, head)) = heads::parse_cut::<ResponseHead>(input) else {
        return;
    };
    assert!(bytes.ends_with(b"\r\n\r\n"));
    assert!((100..=999).contains(&head.status));
    assert!(
        !head
            .reason
            .of(bytes)
            .iter()
            .any(|byte| matches!(byte, b'\r' | b'\n' | 0))
    );
    heads::check_fields(bytes, head.headers(), head.reason.end);
});
