//! The request head parser: no input makes it panic, and however the input is cut, the answer is the same.
//!
//! The first byte of the input says how it is cut.
#![no_main]

use libfuzzer_sys::fuzz_target;
use thrum_parse::Level;
use thrum_parse::http::{HeadError, HeadLimits, HeadParser, RequestHead, Status, explain_head};

/// Small, so that inputs reach them.
const LIMITS: HeadLimits = HeadLimits {
    head_bytes: 512,
    fields: 8,
    target_bytes: 64,
};

fuzz_target!(|input: &[u8]| {
    let Some((&cut, bytes)) = input.split_first() else {
        return;
    };
    let whole = parse(Level::best(), bytes, []);
    assert_eq!(
        whole,
        parse(Level::SCALAR, bytes, []),
        "instruction sets differ"
    );
    // Pieces of one size, or two pieces.
    let size = usize::from(cut & 0x7f).max(1);
    let pieces = if cut < 0x80 {
        parse(Level::best(), bytes, (size..bytes.len()).step_by(size))
    } else {
        parse(Level::best(), bytes, [size.min(bytes.len())])
    };
    assert_eq!(whole, pieces, "cut {cut}");
    if let Ok((consumed, head)) = whole {
        check(&bytes[..consumed], &head);
    } else if let Some(said) = explain_head::<RequestHead>(bytes, LIMITS) {
        assert!(said.at <= bytes.len());
        assert!(!said.to_string().is_empty());
    }
});

/// Feeds the bytes up to each of `ends` in turn, then all of them, then says that this was all.
fn parse(
    level: Level,
    bytes: &[u8],
    ends: impl IntoIterator<Item = usize>,
) -> Result<(usize, RequestHead), HeadError> {
    let (mut parser, mut head) = (HeadParser::at_level(LIMITS, level), RequestHead::new());
    for end in ends {
        if let Status::Complete { consumed } = parser.parse(&bytes[..end], false, &mut head)? {
            return Ok((consumed, head));
        }
    }
    match parser.parse(bytes, true, &mut head)? {
        Status::Complete { consumed } => Ok((consumed, head)),
        Status::Partial => panic!("more is needed at the end of the input"),
    }
}

/// What is true of every head that is taken.
fn check(bytes: &[u8], head: &RequestHead) {
    assert!(bytes.ends_with(b"\r\n\r\n") && bytes.len() <= LIMITS.head_bytes);
    assert!(head.headers().len() <= LIMITS.fields && head.target.len() <= LIMITS.target_bytes);
    assert!(!head.method.is_empty() && head.target.of(bytes).iter().all(u8::is_ascii_graphic));
    let mut rest = head.target.end as usize;
    for field in head.headers() {
        let (name, value) = (field.name.of(bytes), field.value.of(bytes));
        assert!(field.name.start as usize >= rest && field.name.end < field.value.start + 1);
        assert!(!name.is_empty() && name.iter().all(u8::is_ascii_graphic));
        assert_eq!(value, value.trim_ascii());
        assert!(!value.iter().any(|byte| matches!(byte, b'\r' | b'\n' | 0)));
        rest = field.value.end as usize;
    }
}
