//! The names that most fields have, found by their bytes a word at a time.

use http::HeaderName;

/// A field that says something of the message itself, and not only to the application.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Control {
    Te,
    Host,
    Expect,
    Upgrade,
    Connection,
    ContentLength,
    TransferEncoding,
}

/// A name that is known here.
#[derive(Debug)]
pub(super) struct Known {
    pub(super) name: HeaderName,
    pub(super) control: Option<Control>,
    bytes: &'static [u8],
}

/// The name that these bytes are, whatever the case of its letters. They are those of a field's name: tokens.
pub(super) fn known(name: &[u8]) -> Option<&'static Known> {
    let &[start, end] = STARTS.get(name.len()..)?.first_chunk()?;
    let alike = KNOWN.get(start as usize..end as usize)?;
    alike.iter().find(|known| is_same(name, known.bytes))
}

/// Whether two names of one length are the same but for case. Of all that a token may hold, only the cases of a letter differ
/// in this bit and no other, or a mark that no name here has.
fn is_same(name: &[u8], known: &[u8]) -> bool {
    const CASES: u64 = 0x2020_2020_2020_2020;
    let word = |bytes: &[u8; 8]| u64::from_ne_bytes(*bytes) | CASES;
    let half = |bytes: &[u8; 4]| u32::from_ne_bytes(*bytes) | CASES as u32;
    // The last word may overlap the one before.
    if let (Some(end), Some(known_end)) = (name.last_chunk(), known.last_chunk()) {
        let words = name.chunks_exact(8).zip(known.chunks_exact(8));
        word(end) == word(known_end)
            && words
                .into_iter()
                .all(|(a, b)| a.first_chunk().map(word) == b.first_chunk().map(word))
    } else if let (Some(start), Some(known_start)) = (name.first_chunk(), known.first_chunk()) {
        let ends = (name.last_chunk(), known.last_chunk());
        half(start) == half(known_start) && ends.0.map(half) == ends.1.map(half)
    } else {
        name.eq_ignore_ascii_case(known)
    }
}

const fn plain(name: &'static str) -> Known {
    entry(name, None)
}

const fn control(name: &'static str, control: Control) -> Known {
    entry(name, Some(control))
}

const fn entry(name: &'static str, control: Option<Control>) -> Known {
    Known {
        name: HeaderName::from_static(name),
        control,
        bytes: name.as_bytes(),
    }
}

/// The longest of them.
const LONGEST: usize = 25;

/// Shorter ones first; of one length, those that are sent most often.
static KNOWN: [Known; 32] = [
    control("te", Control::Te),
    plain("dnt"),
    control("host", Control::Host),
    plain("accept"),
    plain("cookie"),
    plain("origin"),
    plain("pragma"),
    control("expect", Control::Expect),
    plain("referer"),
    control("upgrade", Control::Upgrade),
    plain("priority"),
    plain("if-match"),
    plain("if-range"),
    plain("sec-ch-ua"),
    plain("user-agent"),
    control("connection", Control::Connection),
    plain("keep-alive"),
    plain("content-type"),
    plain("cache-control"),
    plain("if-none-match"),
    plain("authorization"),
    plain("sec-fetch-site"),
    plain("sec-fetch-mode"),
    plain("sec-fetch-dest"),
    plain("sec-fetch-user"),
    control("content-length", Control::ContentLength),
    plain("accept-encoding"),
    plain("accept-language"),
    plain("sec-ch-ua-mobile"),
    plain("if-modified-since"),
    control("transfer-encoding", Control::TransferEncoding),
    plain("upgrade-insecure-requests"),
];

/// Where in the list the names of each length begin.
static STARTS: [u8; LONGEST + 2] = {
    let mut starts = [0; LONGEST + 2];
    let (mut length, mut at) = (0, 0);
    while length < starts.len() {
        while at < KNOWN.len() && KNOWN[at].bytes.len() < length {
            at += 1;
        }
        starts[length] = at as u8;
        length += 1;
    }
    starts
};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_known_in_any_case_and_nothing_else_is() {
        for entry in &KNOWN {
            let lower = entry.name.as_str();
            let mut title = lower.to_owned();
            title[..1].make_ascii_uppercase();
            for name in [lower, &lower.to_uppercase(), &title] {
                let found = known(name.as_bytes()).map(|known| &known.name);
                assert_eq!(found, Some(&entry.name), "{name}");
            }
            // One byte is another.
            for (at, byte) in (0..lower.len()).flat_map(|at| (0x21..0x7f).map(move |b| (at, b))) {
                let mut other = lower.as_bytes().to_vec();
                other[at] = byte;
                let Ok(name) = HeaderName::from_bytes(&other) else {
                    continue;
                };
                let found = known(&other).map(|known| &known.name);
                assert!(found.is_none_or(|found| *found == name), "{name}");
                assert_eq!(found == Some(&entry.name), name == entry.name, "{name}");
            }
        }
        assert!(known(b"").is_none());
        assert!(known(&[b'a'; LONGEST + 1]).is_none());
    }
}
