//! Byte ranges, RFC 9110 section 14: which parts to answer with. No I/O.

use thrum_parse::http::value::{ByteRanges, FieldValue};

/// Ranges that are answered in one response. A request for more gets the whole file.
const MAX_RANGES: usize = 16;

/// The bytes from `start` to `end`, which is not included.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ByteRange {
    pub(crate) start: u64,
    pub(crate) end: u64,
}

impl ByteRange {
    pub(crate) fn len(self) -> u64 {
        self.end - self.start
    }
}

/// What a Range field comes to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Selection {
    /// It is malformed, in another unit, or asks for too much: it is ignored.
    Whole,
    /// These parts, none of which overlap.
    Parts(Vec<ByteRange>),
    /// None of it is there: 416.
    Unsatisfiable,
}

/// Reads a Range field for something of `size` bytes.
pub(crate) fn select(field: &[u8], size: u64) -> Selection {
    let ranges = match ByteRanges::parse(field) {
        Ok(ranges) if ranges.count() <= MAX_RANGES => ranges,
        _ => return Selection::Whole,
    };
    let mut parts: Vec<_> = ranges
        .iter()
        .filter_map(|range| range.of(size))
        .map(|part| ByteRange {
            start: part.start,
            end: part.end,
        })
        .collect();
    if parts.is_empty() {
        return Selection::Unsatisfiable;
    }
    // Overlapping ranges would multiply the work (CVE-2011-3192): they are put together, in the order of the file.
    let mut sorted = parts.clone();
    sorted.sort_by_key(|part| part.start);
    if sorted.windows(2).any(|pair| pair[1].start <= pair[0].end) {
        sorted.dedup_by(|next, last| {
            let touches = next.start <= last.end;
            if touches {
                last.end = last.end.max(next.end);
            }
            touches
        });
        parts = sorted;
    }
    Selection::Parts(parts)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn one_range() {
        use Selection::*;
        let part = |start, end| Parts(vec![ByteRange { start, end }]);
        for (field, expected) in [
            ("bytes=0-0", part(0, 1)),
            ("bytes=0-", part(0, 100)),
            ("bytes=0-99", part(0, 100)),
            ("Bytes=10-19", part(10, 20)),
            ("bytes=90-1000", part(90, 100)),
            ("bytes=-1", part(99, 100)),
            ("bytes=-1000", part(0, 100)),
            ("bytes=0-99999999999999999999999", part(0, 100)),
            ("bytes= 1-2 ,", part(1, 3)),
            ("bytes=100-", Unsatisfiable),
            ("bytes=-0", Unsatisfiable),
            ("bytes=5-4", Whole),
            ("bytes=", Whole),
            ("bytes=-", Whole),
            ("bytes=a-b", Whole),
            ("bytes=+1-2", Whole),
            ("bytes=1", Whole),
            ("lines=0-1", Whole),
            ("", Whole),
        ] {
            assert_eq!(select(field.as_bytes(), 100), expected, "{field}");
        }
        assert_eq!(select(b"bytes=0-", 0), Unsatisfiable);
    }

    #[test]
    fn several_ranges() {
        let parts = |field: &str| match select(field.as_bytes(), 100) {
            Selection::Parts(parts) => parts.iter().map(|part| (part.start, part.end)).collect(),
            _ => vec![],
        };
        assert_eq!(parts("bytes=50-59,0-9"), [(50, 60), (0, 10)], "as asked");
        assert_eq!(
            parts("bytes=5-20,0-9,200-300"),
            [(0, 21)],
            "overlapping ones together"
        );
        assert_eq!(parts("bytes=0-9,10-19"), [(0, 20)], "touching ones too");
        let many = |count: usize| format!("bytes={}", "0-0,".repeat(count));
        assert_eq!(parts(&many(16)), [(0, 1)]);
        assert_eq!(select(many(17).as_bytes(), 100), Selection::Whole);
    }

    proptest! {
        /// The parts are what a naive reading marks, and no byte is sent twice.
        #[test]
        fn agrees_with_a_naive_model(
            size in 1..60u64,
            ranges in prop::collection::vec((0..80u64, prop::option::of(0..80u64)), 1..6),
        ) {
            let text = |&(first, last): &(u64, Option<u64>)| match last {
                Some(last) => format!("{first}-{}", first.max(last)),
                None => format!("{first}-"),
            };
            let field = format!("bytes={}", ranges.iter().map(text).collect::<Vec<_>>().join(","));
            let mut marked = vec![0; size as usize];
            match select(field.as_bytes(), size) {
                Selection::Parts(parts) => for part in parts {
                    prop_assert!(part.start < part.end && part.end <= size);
                    (part.start..part.end).for_each(|byte| marked[byte as usize] += 1);
                },
                selection => prop_assert_eq!(selection, Selection::Unsatisfiable),
            }
            for byte in 0..size {
                let asked = ranges.iter().any(|&(first, last)| first <= byte && last.is_none_or(|last| byte <= last.max(first)));
                prop_assert_eq!(marked[byte as usize], u8::from(asked));
            }
        }
    }
}
