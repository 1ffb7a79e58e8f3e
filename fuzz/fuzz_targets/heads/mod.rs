//! What all kinds of heads are held to: no input makes the parser panic, and however the input is cut, the answer is the
//! same, whatever instructions find it.

use std::fmt::Debug;

use thrum_parse::Level;
use thrum_parse::http::{Head, HeadError, HeadLimits, HeadParser, Status, explain_head};

/// Small, so that inputs reach them.
pub const LIMITS: HeadLimits = HeadLimits {
    head_bytes: 512,
    fields: 8,
    target_bytes: 64,
};

/// Parses `input`, whose first byte says how it is cut. What comes back is a head that was taken, and its bytes.
pub fn parse_cut<H: Head + Debug + PartialEq>(input: &[u8]) -> Option<(&[u8], H)> {
    let (&cut, bytes) = input.split_first()?;
    let whole = parse::<H>(Level::best(), bytes, []);
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
        assert!(consumed <= LIMITS.head_bytes);
        return Some((&bytes[..consumed], head));
    }
    if let Some(said) = explain_head::<H>(bytes, LIMITS) {
        assert!(said.at <= bytes.len());
        assert!(!said.to_string().is_empty());
    }
    None
}

/// Feeds the bytes up to each of `ends` in turn, then all of them, then says that this was all.
fn parse<H: Head>(
    level: Level,
    bytes: &[u8],
    ends: impl IntoIterator<Item = usize>,
) -> Result<(usize, H), HeadError> {
    let (mut parser, mut head) = (HeadParser::at_level(LIMITS, level), H::default());
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

/// What is true of the fields of every head that is taken; they are behind `start`.
pub fn check_fields(bytes: &[u8], fields: &[thrum_parse::http::Field], start: u32) {
    assert!(fields.len() <= LIMITS.fields);
    let mut rest = start;
    for field in fields {
        let (name, value) = (field.name.of(bytes), field.value.of(bytes));
        assert!(field.name.start >= rest && field.name.end < field.value.start + 1);
        assert!(!name.is_empty() && name.iter().all(u8::is_ascii_graphic));
        assert_eq!(value, value.trim_ascii());
        assert!(!value.iter().any(|byte| matches!(byte, b'\r' | b'\n' | 0)));
        rest = field.value.end;
    }
}
