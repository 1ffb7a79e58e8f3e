//! What the tests of all kinds of heads do with them.

use proptest::prelude::*;
use thrum_parse::Level;
use thrum_parse::http::{Head, HeadError, HeadLimits, HeadParser, Status};

/// A head parsed whole, with nothing to come.
pub(crate) fn whole<H: Head>(bytes: &[u8]) -> (Result<Status, HeadError>, H) {
    let mut head = H::default();
    let result = HeadParser::new(HeadLimits::default()).parse(bytes, true, &mut head);
    (result, head)
}

/// A head fed in pieces that end at the given offsets; the answer is the last one, or the first that is final.
pub(crate) fn fed<H: Head>(
    bytes: &[u8],
    ends: impl IntoIterator<Item = usize>,
) -> (Result<Status, HeadError>, H) {
    let (mut parser, mut head) = (HeadParser::new(HeadLimits::default()), H::default());
    for end in ends.into_iter().chain([bytes.len()]) {
        let result = parser.parse(&bytes[..end], false, &mut head);
        if result != Ok(Status::Partial) {
            return (result, head);
        }
    }
    let result = parser.parse(bytes, true, &mut head);
    (result, head)
}

/// That the answer to `bytes` is the same however they come: split in two anywhere, or byte by byte.
pub(crate) fn every_split_gives_the_same<H>(bytes: &[u8])
where
    H: Head + PartialEq + std::fmt::Debug,
{
    let expected = whole::<H>(bytes);
    let same = |answer: (Result<Status, HeadError>, H), how: &str| {
        let shown = bytes.escape_ascii();
        assert_eq!(answer.0, expected.0, "{how} \"{shown}\"");
        if answer.0.is_ok() {
            assert_eq!(answer.1, expected.1, "{how} \"{shown}\"");
        }
    };
    for end in 0..=bytes.len() {
        same(fed(bytes, [end]), &format!("split at {end}:"));
    }
    same(fed(bytes, 0..bytes.len()), "byte by byte:");
}

/// That a head is taken whole, and the same by whatever instructions read it.
pub(crate) fn is_taken_at_every_level<H>(bytes: &[u8]) -> Result<(), TestCaseError>
where
    H: Head + PartialEq + std::fmt::Debug,
{
    let expected = whole::<H>(bytes);
    let consumed = bytes.len();
    prop_assert_eq!(expected.0, Ok(Status::Complete { consumed }));
    for level in Level::all() {
        let mut head = H::default();
        let mut parser = HeadParser::at_level(HeadLimits::default(), level);
        let result = parser.parse(bytes, true, &mut head);
        prop_assert_eq!(&(result, head), &expected, "{:?}", level);
    }
    Ok(())
}

/// That the answer to bytes in pieces is that for the whole: value, error, and how much was consumed.
pub(crate) fn is_the_same_in_pieces<H>(bytes: &[u8], ends: Vec<usize>) -> Result<(), TestCaseError>
where
    H: Head + PartialEq + std::fmt::Debug,
{
    let expected = whole::<H>(bytes);
    let (result, head) = fed::<H>(bytes, ends);
    prop_assert_eq!(result, expected.0);
    if matches!(result, Ok(Status::Complete { .. })) {
        prop_assert_eq!(head, expected.1);
    }
    Ok(())
}

/// These heads with a byte or two changed, and where to cut them.
pub(crate) fn damaged_and_cut(
    heads: impl Strategy<Value = Vec<u8>>,
) -> impl Strategy<Value = (Vec<u8>, Vec<usize>)> {
    let changes = prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..3);
    let ends = prop::collection::vec(any::<prop::sample::Index>(), 0..6);
    (heads, changes, ends).prop_map(|(mut head, changes, ends)| {
        for (index, byte) in changes {
            let index = index.index(head.len());
            head[index] = byte;
        }
        let mut ends: Vec<_> = ends.iter().map(|end| end.index(head.len())).collect();
        ends.sort_unstable();
        (head, ends)
    })
}

/// Field lines of any shape, all of them right.
pub(crate) fn fields(line_end: &'static str) -> impl Strategy<Value = String> {
    let field = ("[A-Za-z-]{1,20}", "[ \t]{0,2}", "[ -~\u{e9}]{0,60}")
        .prop_map(move |(name, space, value)| format!("{name}:{space}{value}{line_end}"));
    prop::collection::vec(field, 0..12).prop_map(|fields| fields.concat())
}
