//! Weights of preferences: `;q=0.8`, RFC 9110, 12.4.2.

use std::cmp::Reverse;
use std::fmt;

use super::syntax::fault;
use super::{Fault, FieldValue, List};
use crate::class::DIGIT;
use crate::http::terminals::OWS;
use crate::stop::Parsed;
use crate::{ByteSet, In, Parser, byte, opt, satisfy, skip_while, take_while};

static Q: ByteSet = ByteSet::new().with(b"qQ");

/// How much something is wanted: thousandths, from 0, which is not at all, to 1000, which is also the default.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Weight(u16);

impl Weight {
    /// Not wanted.
    pub const ZERO: Weight = Weight(0);
    /// The least that is wanted at all.
    pub const LEAST: Weight = Weight(1);
    /// Wanted most.
    pub const FULL: Weight = Weight(1000);

    /// In thousandths; `None` above 1000.
    pub const fn from_thousandths(thousandths: u16) -> Option<Weight> {
        if thousandths <= 1000 {
            Some(Weight(thousandths))
        } else {
            None
        }
    }

    /// In thousandths.
    pub const fn thousandths(self) -> u16 {
        self.0
    }

    /// Whether it is wanted at all.
    pub const fn is_wanted(self) -> bool {
        self.0 > 0
    }

    /// From the text of a parameter.
    pub(super) fn of_text(text: &[u8]) -> Option<Weight> {
        Weight::parse(text).ok()
    }

    /// weight = OWS ";" OWS "q=" qvalue; 1 where there is none.
    pub(super) fn read_after(i: &mut In<'_>) -> Parsed<Weight> {
        if opt((skip_while(&OWS), byte(b';'))).parse(i)?.is_none() {
            return Ok(Weight::FULL);
        }
        skip_while(&OWS).parse(i)?;
        satisfy(&Q).must(Fault::BadWeight).parse(i)?;
        byte(b'=').must(Fault::BadWeight).parse(i)?;
        Weight::read(i)
    }

    /// Appends `;q=` and it, unless it is the default.
    pub(super) fn write_after(self, out: &mut Vec<u8>) {
        if self != Weight::FULL {
            out.extend_from_slice(b";q=");
            self.write(out);
        }
    }
}

/// qvalue = ( "0" [ "." 0*3DIGIT ] ) / ( "1" [ "." 0*3"0" ] )
impl<'a> FieldValue<'a> for Weight {
    fn read(i: &mut In<'a>) -> Parsed<Self> {
        let start = i.position();
        let whole = satisfy(&DIGIT).must(Fault::BadWeight).parse(i)?;
        let mut thousandths = u16::from(whole - b'0') * 1000;
        if opt(byte(b'.')).parse(i)?.is_some() {
            let decimals = take_while(&DIGIT).up_to(3, Fault::BadWeight).parse(i)?;
            for (digit, place) in decimals.iter().zip([100, 10, 1]) {
                thousandths += u16::from(digit - b'0') * place;
            }
        }
        Weight::from_thousandths(thousandths).ok_or_else(|| fault(i, start, Fault::BadWeight))
    }

    fn write(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(self.to_string().as_bytes());
    }
}

impl fmt::Display for Weight {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.0 / 1000, self.0 % 1000) {
            (whole, 0) => write!(f, "{whole}"),
            (whole, decimals) => {
                let decimals = format!("{decimals:03}");
                write!(f, "{whole}.{}", decimals.trim_end_matches('0'))
            }
        }
    }
}

/// A preference, of which a list can be put in order.
pub trait Weighted {
    /// How much it is wanted.
    fn weight(&self) -> Weight;
}

impl<'a, T: FieldValue<'a> + Weighted> List<'a, T> {
    /// What is wanted, most wanted first; where the weights are the same, as it comes. What has the weight 0 is left out.
    pub fn by_preference(&self) -> Vec<T> {
        let mut wanted: Vec<T> = self.iter().filter(|one| one.weight().is_wanted()).collect();
        wanted.sort_by_key(|one| Reverse(one.weight()));
        wanted
    }
}

/// The one of `offered` that `weigh` gives the most to; the first of those, if there are several. `None` if it gives 0 to
/// all of them.
///
/// ```
/// use thrum_parse::http::value::{AcceptEncoding, FieldValue, best};
///
/// let accepted = AcceptEncoding::parse(b"gzip, br;q=0.9, zstd").unwrap();
/// let coding = best(["zstd", "br", "gzip"], |coding| accepted.weight_of(coding));
/// assert_eq!(coding, Some("zstd"));
/// ```
pub fn best<T>(
    offered: impl IntoIterator<Item = T>,
    mut weigh: impl FnMut(&T) -> Weight,
) -> Option<T> {
    let mut most = Weight::ZERO;
    let mut best = None;
    for one in offered {
        let weight = weigh(&one);
        if weight > most {
            (most, best) = (weight, Some(one));
        }
    }
    best
}
