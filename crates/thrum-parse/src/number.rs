//! Numbers in text. Too large for its type is an error, not another number.

use std::marker::PhantomData;

use crate::explanation::Expected;
use crate::stop::{Parsed, Reason};
use crate::{ByteSet, In, Parser};

const DIGITS: ByteSet = ByteSet::new().range(b'0', b'9');
static DIGIT: ByteSet = DIGITS;
static HEXDIG: ByteSet = DIGITS.range(b'a', b'f').range(b'A', b'F');

/// A number type that digits add up to.
pub trait Unsigned: Copy {
    /// Zero.
    const ZERO: Self;

    /// `self * base + digit`, if there is such a number.
    fn push(self, base: u8, digit: u8) -> Option<Self>;
}

macro_rules! unsigned {
    ($($number:ty)+) => {$(
        impl Unsigned for $number {
            const ZERO: Self = 0;

            #[inline(always)]
            fn push(self, base: u8, digit: u8) -> Option<Self> {
                let base = <$number>::try_from(base).ok()?;
                let digit = <$number>::try_from(digit).ok()?;
                self.checked_mul(base)?.checked_add(digit)
            }
        }
    )+};
}
unsigned!(u8 u16 u32 u64 u128 usize i32 i64);

/// Decimal digits, at least one and without a sign. Leading zeros are counted in vain but allowed.
///
/// ```
/// use thrum_parse::{In, Parser, Reason, decimal};
///
/// assert_eq!(decimal::<u8>().parse(&mut In::whole(b"255;")), Ok(255));
/// let stop = decimal::<u8>().parse(&mut In::whole(b"256;")).unwrap_err();
/// assert_eq!(stop.reason(), Some(Reason::Overflow));
/// ```
pub const fn decimal<T: Unsigned>() -> Decimal<T> {
    Decimal(PhantomData)
}

/// See [`decimal`].
#[derive(Clone, Copy, Debug)]
pub struct Decimal<T>(PhantomData<T>);

impl<'a, T: Unsigned> Parser<'a> for Decimal<T> {
    type Output = T;

    #[inline(always)]
    fn parse(&self, i: &mut In<'a>) -> Parsed<T> {
        // Longer than any number with sense, zeros included: the run of zeros that never ends.
        digits(i, 10, &DIGIT, 64)
    }
}

/// Hexadecimal digits of either case, at least one and at most `most_digits`, without a prefix.
///
/// ```
/// use thrum_parse::{In, Parser, Reason, hexadecimal};
///
/// assert_eq!(hexadecimal::<u64>(16).parse(&mut In::whole(b"fF\r\n")), Ok(255));
/// let stop = hexadecimal::<u64>(4).parse(&mut In::whole(b"00001")).unwrap_err();
/// assert_eq!(stop.reason(), Some(Reason::Overflow));
/// ```
pub const fn hexadecimal<T: Unsigned>(most_digits: usize) -> Hexadecimal<T> {
    Hexadecimal {
        most_digits,
        number: PhantomData,
    }
}

/// See [`hexadecimal`].
#[derive(Clone, Copy, Debug)]
pub struct Hexadecimal<T> {
    most_digits: usize,
    number: PhantomData<T>,
}

impl<'a, T: Unsigned> Parser<'a> for Hexadecimal<T> {
    type Output = T;

    #[inline(always)]
    fn parse(&self, i: &mut In<'a>) -> Parsed<T> {
        digits(i, 16, &HEXDIG, self.most_digits)
    }
}

/// Overflow is told at the first digit too many, at once and for good: no digit that follows could mend it.
#[inline(always)]
fn digits<T: Unsigned>(i: &mut In<'_>, base: u8, set: &'static ByteSet, most: usize) -> Parsed<T> {
    let start = i.position();
    let mut number = T::ZERO;
    while let Some(byte) = i.next_byte().filter(|&byte| set.contains(byte)) {
        let digit = if byte <= b'9' {
            byte - b'0'
        } else {
            (byte | 0x20) - b'a' + 10
        };
        let longer = number.push(base, digit);
        number = match longer {
            Some(number) if i.position() - start < most => number,
            _ => {
                i.expected(i.position(), || {
                    Expected::Text("the end of a number that is too large")
                });
                return Err(i.fail(Reason::Overflow));
            }
        };
        i.consume(1);
    }
    if i.next_byte().is_none() && (!i.is_whole() || i.position() == start) {
        i.expected(i.position(), || Expected::OneOf(set));
        return Err(i.short_of_run(set));
    }
    if i.position() == start {
        i.expected(start, || Expected::OneOf(set));
        return Err(i.fail(Reason::Unexpected));
    }
    Ok(number)
}
