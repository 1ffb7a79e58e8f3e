//! What a client can read: `Accept`, `Accept-Charset` and `Accept-Encoding`, RFC 9110, 12.5.

use super::syntax::{fault, token};
use super::weight::{Weight, Weighted};
use super::{Fault, FieldValue, List, MediaType, Parameter};
use crate::In;
use crate::stop::Parsed;

/// The value of `Accept`.
///
/// ```
/// use thrum_parse::http::value::{Accept, FieldValue, MediaType, best};
///
/// let accepted = Accept::parse(b"text/*;q=0.5, text/html;level=1, */*;q=0.1").unwrap();
/// let offered = ["image/png", "text/plain", "text/html;level=1"];
/// let offered = offered.map(|name| MediaType::parse(name.as_bytes()).unwrap());
/// let chosen = best(offered, |offer| accepted.weight_of(offer));
/// assert_eq!(chosen, Some(offered[2]));
/// ```
pub type Accept<'a> = List<'a, MediaRange<'a>>;

/// The value of `Accept-Encoding`.
pub type AcceptEncoding<'a> = List<'a, CodingRange<'a>>;

/// The value of `Accept-Charset`.
pub type AcceptCharset<'a> = List<'a, CharsetRange<'a>>;

/// A media type or `type/*` or `*/*`, and how much it is wanted. The parameter `q` is the weight wherever it stands
/// (12.5.1), and none of the range's own.
#[derive(Clone, Copy, Debug)]
pub struct MediaRange<'a> {
    range: MediaType<'a>,
    weight: Weight,
}

impl<'a> MediaRange<'a> {
    /// The type, which may be `*`.
    pub fn kind(&self) -> &'a str {
        self.range.kind()
    }

    /// The subtype, which may be `*`.
    pub fn subtype(&self) -> &'a str {
        self.range.subtype()
    }

    /// The parameters but for the weight.
    pub fn parameters(&self) -> impl Iterator<Item = Parameter<'a>> + Clone + use<'a> {
        let all = self.range.parameters();
        all.iter().filter(|parameter| !parameter.is("q"))
    }

    /// Whether `offered` is of this range: type and subtype match, and it has all of the range's parameters. Their values
    /// are compared in any case.
    pub fn matches(&self, offered: &MediaType<'_>) -> bool {
        let matches = |range: &str, name: &str| range == "*" || range.eq_ignore_ascii_case(name);
        let has = |wanted: Parameter<'_>| {
            let value = offered.parameters().get(wanted.name);
            value.is_some_and(|value| {
                let (a, b) = (value.bytes(), wanted.value.bytes());
                a.map(|byte| byte.to_ascii_lowercase())
                    .eq(b.map(|byte| byte.to_ascii_lowercase()))
            })
        };
        matches(self.kind(), offered.kind())
            && matches(self.subtype(), offered.subtype())
            && self.parameters().all(has)
    }

    /// `*/*`, `type/*`, `type/subtype`, and then by parameters.
    fn specificity(&self) -> (bool, bool, usize) {
        let parameters = self.parameters().count();
        (self.kind() != "*", self.subtype() != "*", parameters)
    }
}

impl Accept<'_> {
    /// How much `offered` is wanted: the weight of the most specific range that it is of, the first of those if there are
    /// several. An empty list, like no field at all, wants everything.
    pub fn weight_of(&self, offered: &MediaType<'_>) -> Weight {
        let mut found = None;
        for range in self.iter().filter(|range| range.matches(offered)) {
            let specificity = range.specificity();
            if found.is_none_or(|(most, _)| specificity > most) {
                found = Some((specificity, range.weight));
            }
        }
        match found {
            Some((_, weight)) => weight,
            None if self.is_empty() => Weight::FULL,
            None => Weight::ZERO,
        }
    }
}

impl<'a> FieldValue<'a> for MediaRange<'a> {
    fn read(i: &mut In<'a>) -> Parsed<Self> {
        let start = i.position();
        let range = MediaType::read(i)?;
        if range.kind() == "*" && range.subtype() != "*" {
            return Err(fault(i, start, Fault::BadMediaType));
        }
        let weight = match range.parameters().get("q") {
            Some(text) => text.plain().and_then(Weight::of_text),
            None => Some(Weight::FULL),
        };
        let weight = weight.ok_or_else(|| fault(i, start, Fault::BadWeight))?;
        Ok(MediaRange { range, weight })
    }

    fn write(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(self.kind().as_bytes());
        out.push(b'/');
        out.extend_from_slice(self.subtype().as_bytes());
        for parameter in self.parameters() {
            out.push(b';');
            parameter.write(out);
        }
        self.weight.write_after(out);
    }
}

impl PartialEq for MediaRange<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.kind().eq_ignore_ascii_case(other.kind())
            && self.subtype().eq_ignore_ascii_case(other.subtype())
            && self.parameters().eq(other.parameters())
            && self.weight == other.weight
    }
}

impl Eq for MediaRange<'_> {}

impl Weighted for MediaRange<'_> {
    fn weight(&self) -> Weight {
        self.weight
    }
}

macro_rules! token_range {
    ($(#[doc = $doc:literal])+ $name:ident) => {
        $(#[doc = $doc])+
        #[derive(Clone, Copy, Debug)]
        pub struct $name<'a> {
            name: &'a str,
            weight: Weight,
        }

        impl<'a> $name<'a> {
            /// The name, in the case it was written in, or `*`.
            pub fn name(&self) -> &'a str {
                self.name
            }
        }

        impl<'a> FieldValue<'a> for $name<'a> {
            fn read(i: &mut In<'a>) -> Parsed<Self> {
                let name = token(i)?;
                let weight = Weight::read_after(i)?;
                Ok($name { name, weight })
            }

            fn write(&self, out: &mut Vec<u8>) {
                out.extend_from_slice(self.name.as_bytes());
                self.weight.write_after(out);
            }
        }

        impl PartialEq for $name<'_> {
            fn eq(&self, other: &Self) -> bool {
                self.name.eq_ignore_ascii_case(other.name) && self.weight == other.weight
            }
        }

        impl Eq for $name<'_> {}

        impl Weighted for $name<'_> {
            fn weight(&self) -> Weight {
                self.weight
            }
        }
    };
}

token_range! {
    /// A content coding, `identity` or `*`, and how much it is wanted.
    CodingRange
}
token_range! {
    /// A charset or `*`, and how much it is wanted.
    CharsetRange
}

impl AcceptEncoding<'_> {
    /// How much the content coding `offered` is wanted: its own weight, else that of `*`. `x-gzip` and `x-compress` are
    /// `gzip` and `compress` (8.4.1).
    ///
    /// `identity` is always wanted unless `identity;q=0` or, without a word about it, `*;q=0` says otherwise; where it is
    /// not mentioned at all, it has the least weight, so that any coding that is listed comes first.
    pub fn weight_of(&self, offered: &str) -> Weight {
        let of = |name: &str| {
            let name = canonical(name);
            self.iter()
                .find(|range| canonical(range.name).eq_ignore_ascii_case(name))
                .map(|range| range.weight)
        };
        of(offered).or_else(|| of("*")).unwrap_or({
            if offered.eq_ignore_ascii_case("identity") {
                Weight::LEAST
            } else {
                Weight::ZERO
            }
        })
    }
}

fn canonical(coding: &str) -> &str {
    match coding {
        _ if coding.eq_ignore_ascii_case("x-gzip") => "gzip",
        _ if coding.eq_ignore_ascii_case("x-compress") => "compress",
        _ => coding,
    }
}

impl AcceptCharset<'_> {
    /// How much the charset `offered` is wanted: its own weight, else that of `*`. An empty list, like no field at all,
    /// wants everything.
    pub fn weight_of(&self, offered: &str) -> Weight {
        let of = |name: &str| {
            self.iter()
                .find(|range| range.name.eq_ignore_ascii_case(name))
                .map(|range| range.weight)
        };
        match of(offered).or_else(|| of("*")) {
            Some(weight) => weight,
            None if self.is_empty() => Weight::FULL,
            None => Weight::ZERO,
        }
    }
}
