//! What a client would rather have: a compressed form, a language, a page or JSON. No I/O.

use std::borrow::Cow;

use http::header::{ACCEPT, ACCEPT_ENCODING, ACCEPT_LANGUAGE, HeaderMap, HeaderName};
use thrum_parse::http::value::{
    Accept, AcceptEncoding, AcceptLanguage, FieldValue, MediaType, Weight, best,
};

/// A compressed form that a file can be sent in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Coding {
    /// `br`, RFC 7932. Its files end in `.br`.
    Brotli,
    /// `zstd`, RFC 8878. Its files end in `.zst`.
    Zstd,
    /// `gzip`, RFC 1952. Its files end in `.gz`.
    Gzip,
}

impl Coding {
    /// All of them, the one that makes the smallest files first.
    pub const ALL: [Coding; 3] = [Coding::Brotli, Coding::Zstd, Coding::Gzip];

    /// As it is called in `Content-Encoding`.
    pub const fn name(self) -> &'static str {
        match self {
            Coding::Brotli => "br",
            Coding::Zstd => "zstd",
            Coding::Gzip => "gzip",
        }
    }

    /// What a compressed file's name ends in.
    pub const fn extension(self) -> &'static str {
        match self {
            Coding::Brotli => ".br",
            Coding::Zstd => ".zst",
            Coding::Gzip => ".gz",
        }
    }

    /// The one of that name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|coding| coding.name() == name)
    }
}

/// The one of the offered codings that the client wants most; the first of those, if there are several. `None`: it wants
/// none, or says nothing that can be read.
pub(crate) fn coding(
    headers: &HeaderMap,
    offered: impl IntoIterator<Item = Coding>,
) -> Option<Coding> {
    let field = field(headers, ACCEPT_ENCODING)?;
    let accepted = AcceptEncoding::parse(&field).ok()?;
    let offered = offered.into_iter().map(Some).chain([None]);
    best(offered, |coding| {
        accepted.weight_of(coding.map_or("identity", Coding::name))
    })
    .flatten()
}

/// The one of the offered languages that the client wants, by lookup (RFC 4647 section 3.4). `None`: the default will do.
pub(crate) fn language<'o>(
    headers: &HeaderMap,
    offered: impl IntoIterator<Item = &'o str> + Clone,
) -> Option<&'o str> {
    let field = field(headers, ACCEPT_LANGUAGE)?;
    AcceptLanguage::parse(&field).ok()?.lookup(offered)
}

/// Whether the client would rather have JSON than a page.
pub(crate) fn prefers_json(headers: &HeaderMap) -> bool {
    accepts(headers, |accepted| {
        weight(accepted, "application/json") > weight(accepted, "text/html")
    })
}

/// Whether the client takes a page: it does unless it says otherwise.
pub(crate) fn takes_page(headers: &HeaderMap) -> bool {
    !headers.contains_key(ACCEPT)
        || accepts(headers, |accepted| {
            weight(accepted, "text/html").is_wanted()
        })
}

/// Whether the client asks for a page by name, as browsers do where a page is to be shown, but not for its parts.
pub(crate) fn asks_for_page(headers: &HeaderMap) -> bool {
    accepts(headers, |accepted| {
        accepted.iter().any(|range| {
            range.kind().eq_ignore_ascii_case("text")
                && range.subtype().eq_ignore_ascii_case("html")
        })
    })
}

fn accepts(headers: &HeaderMap, judge: impl Fn(&Accept<'_>) -> bool) -> bool {
    field(headers, ACCEPT)
        .is_some_and(|field| Accept::parse(&field).is_ok_and(|accepted| judge(&accepted)))
}

fn weight(accepted: &Accept<'_>, offered: &str) -> Weight {
    MediaType::parse(offered.as_bytes())
        .map_or(Weight::ZERO, |offered| accepted.weight_of(&offered))
}

/// A field's value; those of several lines as one list.
fn field(headers: &HeaderMap, name: HeaderName) -> Option<Cow<'_, [u8]>> {
    let mut lines = headers.get_all(name).iter().map(|value| value.as_bytes());
    let first = lines.next()?;
    let mut field = Cow::Borrowed(first);
    for line in lines {
        let field = field.to_mut();
        field.extend_from_slice(b", ");
        field.extend_from_slice(line);
    }
    Some(field)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn headers(name: HeaderName, lines: &[&str]) -> HeaderMap {
        let mut headers = HeaderMap::new();
        for line in lines {
            headers.append(&name, line.parse().unwrap());
        }
        headers
    }

    #[test]
    fn codings() {
        use Coding::*;
        let chosen = |lines: &[&str]| coding(&headers(ACCEPT_ENCODING, lines), Coding::ALL);
        for (lines, expected) in [
            (&[][..], None),
            (&[""], None),
            (&["gzip"], Some(Gzip)),
            (&["gzip, deflate, br, zstd"], Some(Brotli)),
            (&["gzip", "br"], Some(Brotli)),
            (&["gzip;q=1, br;q=0.5"], Some(Gzip)),
            (&["x-gzip"], Some(Gzip)),
            (&["GZIP"], Some(Gzip)),
            (&["*"], Some(Brotli)),
            (&["*;q=0"], None),
            (&["br;q=0, *"], Some(Zstd)),
            (&["identity"], None),
            (&["identity, gzip;q=0.5"], None),
            (&["gzip;q=0.001"], Some(Gzip)),
            (&["gzip;q=0"], None),
            (&["gzip;q=2"], None),
            (&["deflate, compress"], None),
        ] {
            assert_eq!(chosen(lines), expected, "{lines:?}");
        }
        let gzip = headers(ACCEPT_ENCODING, &["br, gzip;q=0.1"]);
        assert_eq!(coding(&gzip, [Gzip]), Some(Gzip), "what is there");
    }

    #[test]
    fn languages() {
        let chosen = |lines: &[&str]| {
            let headers = headers(ACCEPT_LANGUAGE, lines);
            language(&headers, ["en", "ja", "zh-Hant"])
        };
        assert_eq!(chosen(&["ja"]), Some("ja"));
        assert_eq!(chosen(&["ja-JP, en;q=0.5"]), Some("ja"));
        assert_eq!(chosen(&["fr", "ja;q=0.3"]), Some("ja"));
        assert_eq!(chosen(&["en;q=0.2, zh-hant-TW"]), Some("zh-Hant"));
        assert_eq!(chosen(&["ja;q=0, *"]), None);
        assert_eq!(chosen(&["ja_JP"]), None, "malformed");
        assert_eq!(chosen(&[]), None);
    }

    #[test]
    fn pages_and_json() {
        let judge = |lines: &[&str]| {
            let headers = headers(ACCEPT, lines);
            let asks = asks_for_page(&headers);
            (takes_page(&headers), asks, prefers_json(&headers))
        };
        let browser = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8";
        assert_eq!(judge(&[browser]), (true, true, false));
        assert_eq!(judge(&[]), (true, false, false));
        assert_eq!(judge(&["*/*"]), (true, false, false));
        assert_eq!(
            judge(&["image/avif,image/webp,*/*;q=0.8"]),
            (true, false, false)
        );
        assert_eq!(judge(&["application/json"]), (false, false, true));
        assert_eq!(judge(&["application/json, */*;q=0.1"]), (true, false, true));
        assert_eq!(judge(&["image/png"]), (false, false, false));
    }

    proptest! {
        /// Any bytes at all are answered, and what is chosen was offered.
        #[test]
        fn whatever_is_sent_is_read(value in "[ -~]{0,40}", offered in prop::sample::subsequence(Coding::ALL.to_vec(), 0..=3)) {
            let encoding = headers(ACCEPT_ENCODING, &[&value]);
            if let Some(chosen) = coding(&encoding, offered.clone()) {
                prop_assert!(offered.contains(&chosen));
            }
            let languages = headers(ACCEPT_LANGUAGE, &[&value]);
            if let Some(chosen) = language(&languages, ["en", "ja"]) {
                prop_assert!(value.to_ascii_lowercase().contains(chosen));
            }
        }

        /// The choice is that of a naive reading: the highest weight, the server's order among equals.
        #[test]
        fn the_most_wanted_coding_is_chosen(weights in prop::collection::vec(prop::option::of(0..=1000u16), 4)) {
            let names = ["br", "zstd", "gzip", "identity"];
            let listed: Vec<String> = names.iter().zip(&weights)
                .filter_map(|(name, weight)| weight.map(|weight| format!("{name};q={}.{:03}", weight / 1000, weight % 1000)))
                .collect();
            let headers = headers(ACCEPT_ENCODING, &[&listed.join(", ")]);
            // Of identity, which comes last, at least the least is wanted if it is not mentioned.
            let wanted = [weights[0].unwrap_or(0), weights[1].unwrap_or(0), weights[2].unwrap_or(0), weights[3].unwrap_or(1)];
            let most = *wanted.iter().max().unwrap();
            let first = wanted.iter().position(|&weight| weight == most).unwrap();
            let expected = Coding::ALL.get(first).copied().filter(|_| most > 0);
            prop_assert_eq!(coding(&headers, Coding::ALL), expected);
        }

        /// A language that is listed by its own name, above all others, is what is answered in.
        #[test]
        fn the_most_wanted_language_is_chosen(index in 0..3usize, q in 1..999u16, region in prop::option::of("[A-Z]{2}")) {
            let tags = ["en", "ja", "pt-BR"];
            let region = region.map_or(String::new(), |region| format!("-{region}"));
            let value = format!("en;q=0.{q:03}, {}{region}, ja;q=0.{q:03}", tags[index]);
            let headers = headers(ACCEPT_LANGUAGE, &[&value]);
            prop_assert_eq!(language(&headers, tags), Some(tags[index]));
        }
    }
}
