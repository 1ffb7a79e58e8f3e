//! Numbers with a fraction.

use std::marker::PhantomData;
use std::str::{self, FromStr};

use crate::class::DIGIT;
use crate::explanation::Expected;
use crate::run::too_long;
use crate::stop::{Need, Parsed, Reason, Stop};
use crate::{ByteSet, In, Parser};

/// Longer than the exact digits of any `f64`.
const MOST: usize = 1024;

/// A number type with a fraction: `f32`, `f64`.
pub trait Float: FromStr + Copy {
    /// Whether it is a number, and not infinity.
    fn is_finite(self) -> bool;
}

impl Float for f32 {
    #[inline(always)]
    fn is_finite(self) -> bool {
        self.is_finite()
    }
}

impl Float for f64 {
    #[inline(always)]
    fn is_finite(self) -> bool {
        self.is_finite()
    }
}

/// A number as [`scientific`] has it, as the `f32` or `f64` that is nearest to it (ties to even). What would be
/// infinite fails for [`Reason::Overflow`], what is too small is zero. `NaN` and `inf` are not taken.
///
/// ```
/// use thrum_parse::{In, Parser, Reason, float};
///
/// assert_eq!(float::<f64>().parse(&mut In::whole(b"-1.5e3,")), Ok(-1500.0));
/// let stop = float::<f32>().parse(&mut In::whole(b"1e39")).unwrap_err();
/// assert_eq!(stop.reason(), Some(Reason::Overflow));
/// ```
pub const fn float<T: Float>() -> FloatOf<T> {
    FloatOf(PhantomData)
}

/// See [`float`].
#[derive(Clone, Copy, Debug)]
pub struct FloatOf<T>(PhantomData<T>);

impl<'a, T: Float> Parser<'a> for FloatOf<T> {
    type Output = T;

    #[inline(always)]
    fn parse(&self, i: &mut In<'a>) -> Parsed<T> {
        let start = i.position();
        let digits = scientific().parse(i)?;
        match str::from_utf8(digits)
            .ok()
            .and_then(|text| text.parse().ok())
        {
            Some(number) if T::is_finite(number) => Ok(number),
            _ => Err(i.fail_at(start, Reason::Overflow)),
        }
    }
}

/// The text of a decimal number, with a fraction or an exponent or without:
/// `[+-]digits[.digits][(e|E)[+-]digits]`. A dot or an `e` that no digit follows is not part of it. At most 1,024 bytes:
/// more are cut for [`Reason::TooLong`].
///
/// ```
/// use thrum_parse::{In, Parser, scientific};
///
/// assert_eq!(scientific().parse(&mut In::whole(b"+1.50e-7s")), Ok(&b"+1.50e-7"[..]));
/// assert_eq!(scientific().parse(&mut In::whole(b"1.e5")), Ok(&b"1"[..]));
/// assert!(scientific().parse(&mut In::whole(b".5")).is_err());
/// assert!(scientific().parse(&mut In::partial(b"1.")).unwrap_err().is_need());
/// ```
pub const fn scientific() -> Scientific {
    Scientific(())
}

/// See [`scientific`].
#[derive(Clone, Copy, Debug)]
pub struct Scientific(());

impl<'a> Parser<'a> for Scientific {
    type Output = &'a [u8];

    #[inline(always)]
    fn parse(&self, i: &mut In<'a>) -> Parsed<&'a [u8]> {
        static START: ByteSet = DIGIT.with(b"+-");
        let rest = i.rest();
        let digits = |from: usize| match rest.get(from) {
            Some(byte) if byte.is_ascii_digit() => {
                // One more than is allowed is enough to see that it is too long.
                let run = rest.get(from..rest.len().min(MOST + 1)).unwrap_or_default();
                from + run.iter().take_while(|byte| byte.is_ascii_digit()).count()
            }
            _ => from,
        };
        let signed = |from: usize| from + usize::from(matches!(rest.get(from), Some(b'+' | b'-')));

        let whole = signed(0);
        let mut end = digits(whole);
        if end == whole {
            let set = if whole == 0 { &START } else { &DIGIT };
            let missing = i.position() + whole;
            i.expected(missing, || Expected::OneOf(set));
            return Err(match rest.get(whole) {
                Some(_) => i.fail_at(missing, Reason::Unexpected),
                None => i.short(Need::bytes(1)),
            });
        }
        // How far it had to look to know where the number ends.
        let mut seen = end;
        if rest.get(end) == Some(&b'.') {
            seen = digits(end + 1);
            end = if seen > end + 1 { seen } else { end };
        }
        if seen == end && matches!(rest.get(end), Some(b'e' | b'E')) {
            let exponent = signed(end + 1);
            seen = digits(exponent);
            end = if seen > exponent { seen } else { end };
        }
        if seen > MOST {
            return Err(too_long(i, MOST, Reason::TooLong));
        }
        if seen == rest.len() && !i.is_whole() {
            crate::input::examined(seen);
            return Err(more(i, seen == end));
        }
        i.consume(end);
        Ok(&rest[..end])
    }
}

/// The answer at the end of what there is: within a run of digits, or before one.
#[cold]
fn more(i: &mut In<'_>, in_digits: bool) -> Stop {
    i.expected(i.buffer().len(), || Expected::OneOf(&DIGIT));
    if in_digits {
        i.short_of_run(&DIGIT)
    } else {
        i.short(Need::bytes(1))
    }
}
