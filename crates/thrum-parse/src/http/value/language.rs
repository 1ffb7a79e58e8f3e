//! Languages a reader knows: `Accept-Language`, RFC 9110, 12.5.4, and the matching of RFC 4647.

use super::syntax::{ascii, fault};
use super::weight::{Weight, Weighted};
use super::{Fault, FieldValue, List};
use crate::class::{ALPHA, ALPHANUMERIC};
use crate::stop::Parsed;
use crate::{In, Parser, take_while1};

/// Letters and digits of a subtag.
const MOST_IN_SUBTAG: usize = 8;
/// Subtags of a range. BCP 47 says that 35 letters, which are seven or eight subtags, do for all practical tags.
const MOST_SUBTAGS: usize = 16;

/// The value of `Accept-Language`.
///
/// ```
/// use thrum_parse::http::value::{AcceptLanguage, FieldValue};
///
/// let known = AcceptLanguage::parse(b"zh-Hant-CN, de;q=0.5").unwrap();
/// assert_eq!(known.lookup(["en", "de", "zh-Hant"]), Some("zh-Hant"));
/// assert_eq!(known.weight_of("de-AT").thousandths(), 500);
/// ```
pub type AcceptLanguage<'a> = List<'a, LanguageRange<'a>>;

/// A basic language range (RFC 4647, 2.1): subtags with `-` between them, or `*`; and how much it is wanted.
#[derive(Clone, Copy, Debug)]
pub struct LanguageRange<'a> {
    range: &'a str,
    weight: Weight,
}

impl<'a> LanguageRange<'a> {
    /// The range, in the case it was written in.
    pub fn range(&self) -> &'a str {
        self.range
    }

    /// Whether the language tag `tag` is of this range by basic filtering (RFC 4647, 3.3.1): `de` is the range of `de`
    /// and `de-CH`, but not of `deu`.
    pub fn matches(&self, tag: &str) -> bool {
        let (range, tag) = (self.range.as_bytes(), tag.as_bytes());
        self.range == "*"
            || tag
                .split_at_checked(range.len())
                .is_some_and(|(start, rest)| {
                    start.eq_ignore_ascii_case(range) && matches!(rest, [] | [b'-', ..])
                })
    }
}

impl AcceptLanguage<'_> {
    /// How much the language `tag` is wanted: the weight of the longest range that it is of by basic filtering. An empty
    /// list, like no field at all, wants everything.
    pub fn weight_of(&self, tag: &str) -> Weight {
        let mut found: Option<LanguageRange<'_>> = None;
        for range in self.iter().filter(|range| range.matches(tag)) {
            let length = |range: &str| if range == "*" { 0 } else { range.len() };
            if found.is_none_or(|most| length(range.range) > length(most.range)) {
                found = Some(range);
            }
        }
        match found {
            Some(range) => range.weight,
            None if self.is_empty() => Weight::FULL,
            None => Weight::ZERO,
        }
    }

    /// The one tag of `offered` to answer in, by lookup (RFC 4647, 3.4): each range, most wanted first, is shortened from
    /// its end until a tag is equal to it. `*` finds nothing, and `None` says to answer in the default language. A tag
    /// that is itself listed with the weight 0 is not found.
    pub fn lookup<'o>(
        &self,
        offered: impl IntoIterator<Item = &'o str> + Clone,
    ) -> Option<&'o str> {
        let refused = |tag: &str| {
            self.iter()
                .any(|range| !range.weight.is_wanted() && range.range.eq_ignore_ascii_case(tag))
        };
        for range in self.by_preference() {
            let mut range = range.range;
            while !range.is_empty() && range != "*" {
                let found = offered
                    .clone()
                    .into_iter()
                    .find(|tag| tag.eq_ignore_ascii_case(range) && !refused(tag));
                if found.is_some() {
                    return found;
                }
                range = shortened(range);
            }
        }
        None
    }
}

/// Without its last subtag, and without the single letters and digits that then end it.
fn shortened(mut range: &str) -> &str {
    loop {
        range = range.rsplit_once('-').map_or("", |(shorter, _)| shorter);
        if range.rsplit('-').next().is_none_or(|last| last.len() != 1) {
            return range;
        }
    }
}

/// language-range = (1*8ALPHA *("-" 1*8alphanum)) / "*"
impl<'a> FieldValue<'a> for LanguageRange<'a> {
    fn read(i: &mut In<'a>) -> Parsed<Self> {
        let start = i.position();
        if i.next_byte() == Some(b'*') {
            i.advance(1);
        } else {
            let first = take_while1(&ALPHA).up_to(MOST_IN_SUBTAG, Fault::BadLanguage);
            first.must(Fault::BadLanguage).parse(i)?;
            let subtag = take_while1(&ALPHANUMERIC).up_to(MOST_IN_SUBTAG, Fault::BadLanguage);
            let mut subtags = 1;
            while i.next_byte() == Some(b'-') {
                if subtags == MOST_SUBTAGS {
                    return Err(fault(i, i.position(), Fault::TooMany));
                }
                i.advance(1);
                subtag.must(Fault::BadLanguage).parse(i)?;
                subtags += 1;
            }
        }
        let range = ascii(i.slice_from(start));
        let weight = Weight::read_after(i)?;
        Ok(LanguageRange { range, weight })
    }

    fn write(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(self.range.as_bytes());
        self.weight.write_after(out);
    }
}

impl PartialEq for LanguageRange<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.range.eq_ignore_ascii_case(other.range) && self.weight == other.weight
    }
}

impl Eq for LanguageRange<'_> {}

impl Weighted for LanguageRange<'_> {
    fn weight(&self) -> Weight {
        self.weight
    }
}
