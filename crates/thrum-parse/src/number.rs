//! Whole numbers in text. Too large for its type is an error, not another number.

use std::marker::PhantomData;

use crate::class::{BINDIG, DIGIT, HEXDIG, OCTDIG};
use crate::explanation::Expected;
use crate::stop::{Need, Parsed, Reason};
use crate::{ByteSet, In, Parser};

/// A number type that digits add up to: all of Rust's integers.
pub trait Integer: Copy {
    /// Zero.
    const ZERO: Self;
    /// The largest of them.
    const MAX: u128;
    /// Whether there are any below zero.
    const SIGNED: bool;

    /// `self * base`, and `digit` more or less, which the caller knows to be in range.
    fn push(self, base: u8, digit: u8, negative: bool) -> Self;

    /// `self * base`, and `digit` more or less, if there is such a number.
    fn checked_push(self, base: u8, digit: u8, negative: bool) -> Option<Self>;
}

macro_rules! integer {
    ($($number:ty)+) => {$(
        impl Integer for $number {
            const ZERO: Self = 0;
            const MAX: u128 = <$number>::MAX as u128;
            const SIGNED: bool = <$number>::MIN != 0;

            #[inline(always)]
            fn push(self, base: u8, digit: u8, negative: bool) -> Self {
                let shifted = self.wrapping_mul(base as $number);
                if negative {
                    shifted.wrapping_sub(digit as $number)
                } else {
                    shifted.wrapping_add(digit as $number)
                }
            }

            #[inline(always)]
            fn checked_push(self, base: u8, digit: u8, negative: bool) -> Option<Self> {
                let shifted = self.checked_mul(base as $number)?;
                if negative {
                    shifted.checked_sub(digit as $number)
                } else {
                    shifted.checked_add(digit as $number)
                }
            }
        }
    )+};
}
integer!(u8 u16 u32 u64 u128 usize i8 i16 i32 i64 i128 isize);

/// Longer than any number with sense, zeros included: the run of zeros that never ends.
const MOST_DECIMALS: usize = 64;

/// Decimal digits, at least one and without a sign. Leading zeros are counted in vain but allowed: 64 digits in all.
///
/// ```
/// use thrum_parse::{In, Parser, Reason, decimal};
///
/// assert_eq!(decimal::<u8>().parse(&mut In::whole(b"255;")), Ok(255));
/// let stop = decimal::<u8>().parse(&mut In::whole(b"256;")).unwrap_err();
/// assert_eq!(stop.reason(), Some(Reason::Overflow));
/// ```
pub const fn decimal<T: Integer>() -> Digits<T, 10> {
    digits(MOST_DECIMALS)
}

/// Decimal digits with a sign or without: `-128`, `+1`, `7`. Exact to the smallest and the largest number of the type.
///
/// ```
/// use thrum_parse::{In, Parser, signed};
///
/// assert_eq!(signed::<i8>().parse(&mut In::whole(b"-128")), Ok(-128));
/// assert!(signed::<i8>().parse(&mut In::whole(b"+128")).is_err());
/// assert!(signed::<i8>().parse(&mut In::whole(b"- 1")).is_err());
/// ```
pub const fn signed<T: Integer>() -> Signed<T> {
    Signed(PhantomData)
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
pub const fn hexadecimal<T: Integer>(most_digits: usize) -> Digits<T, 16> {
    digits(most_digits)
}

/// Octal digits, at least one and at most `most_digits`, without a prefix.
///
/// ```
/// use thrum_parse::{In, Parser, octal};
///
/// assert_eq!(octal::<u16>(4).parse(&mut In::whole(b"0755 ")), Ok(0o755));
/// ```
pub const fn octal<T: Integer>(most_digits: usize) -> Digits<T, 8> {
    digits(most_digits)
}

/// Binary digits, at least one and at most `most_digits`, without a prefix.
///
/// ```
/// use thrum_parse::{In, Parser, binary};
///
/// assert_eq!(binary::<u8>(8).parse(&mut In::whole(b"101")), Ok(5));
/// ```
pub const fn binary<T: Integer>(most_digits: usize) -> Digits<T, 2> {
    digits(most_digits)
}

const fn digits<T, const BASE: u8>(most: usize) -> Digits<T, BASE> {
    Digits {
        most,
        number: PhantomData,
    }
}

/// See [`decimal`], [`hexadecimal`], [`octal`] and [`binary`].
#[derive(Clone, Copy, Debug)]
pub struct Digits<T, const BASE: u8> {
    most: usize,
    number: PhantomData<T>,
}

impl<'a, T: Integer, const BASE: u8> Parser<'a> for Digits<T, BASE> {
    type Output = T;

    #[inline(always)]
    fn parse(&self, i: &mut In<'a>) -> Parsed<T> {
        number::<T, BASE>(i, self.most, false)
    }
}

/// See [`signed`].
#[derive(Clone, Copy, Debug)]
pub struct Signed<T>(PhantomData<T>);

impl<'a, T: Integer> Parser<'a> for Signed<T> {
    type Output = T;

    #[inline(always)]
    fn parse(&self, i: &mut In<'a>) -> Parsed<T> {
        static START: ByteSet = DIGIT.with(b"+-");
        match i.next_byte() {
            Some(b'-') => {
                i.consume(1);
                number::<T, 10>(i, MOST_DECIMALS, true)
            }
            Some(b'+') => {
                i.consume(1);
                number::<T, 10>(i, MOST_DECIMALS, false)
            }
            Some(b'0'..=b'9') => number::<T, 10>(i, MOST_DECIMALS, false),
            next => {
                i.expected(i.position(), || Expected::OneOf(&START));
                Err(match next {
                    Some(_) => i.fail(Reason::Unexpected),
                    None => i.short(Need::bytes(1)),
                })
            }
        }
    }
}

/// Overflow is told at the first digit too many, at once and for good: no digit that follows could mend it.
#[inline(always)]
fn number<T: Integer, const BASE: u8>(i: &mut In<'_>, most: usize, negative: bool) -> Parsed<T> {
    let set = digit_set(BASE);
    let rest = i.rest();
    let mut number = T::ZERO;
    let mut count = 0;
    // So few digits fit, whichever they are.
    let fitting = if negative && !T::SIGNED {
        0
    } else {
        const { fitting(T::MAX, BASE) }.min(most)
    };
    while count < fitting
        && let Some(digit) = rest.get(count).and_then(|&byte| digit::<BASE>(byte))
    {
        number = number.push(BASE, digit, negative);
        count += 1;
    }
    if count == fitting {
        while let Some(digit) = rest.get(count).and_then(|&byte| digit::<BASE>(byte)) {
            number = match number.checked_push(BASE, digit, negative) {
                Some(number) if count < most => number,
                _ => {
                    let end = i.position() + count;
                    i.expected(end, || {
                        Expected::Text("the end of a number that is too large")
                    });
                    return Err(i.fail_at(end, Reason::Overflow));
                }
            };
            count += 1;
        }
    }
    if count == rest.len() && (!i.is_whole() || count == 0) {
        crate::input::examined(count);
        i.expected(i.buffer().len(), || Expected::OneOf(set));
        return Err(i.short_of_number(set));
    }
    if count == 0 {
        i.expected(i.position(), || Expected::OneOf(set));
        return Err(i.fail(Reason::Unexpected));
    }
    i.consume(count);
    Ok(number)
}

#[inline(always)]
fn digit<const BASE: u8>(byte: u8) -> Option<u8> {
    let digit = byte.wrapping_sub(b'0');
    if digit < BASE.min(10) {
        return Some(digit);
    }
    let letter = (byte | 0x20).wrapping_sub(b'a');
    (BASE > 10 && letter < BASE.saturating_sub(10)).then(|| letter + 10)
}

const fn digit_set(base: u8) -> &'static ByteSet {
    match base {
        2 => &BINDIG,
        8 => &OCTDIG,
        10 => &DIGIT,
        _ => &HEXDIG,
    }
}

/// How many digits of `base` make a number of at most `max`, whichever digits they are.
const fn fitting(max: u128, base: u8) -> usize {
    let mut count = 0;
    let mut left = max;
    while left >= base as u128 {
        left /= base as u128;
        count += 1;
    }
    count
}

#[cfg(test)]
mod tests {
    use super::fitting;

    #[test]
    fn fitting_digits() {
        for (max, base, digits) in [
            (u128::from(u8::MAX), 10, 2),
            (u128::from(u8::MAX), 16, 1),
            (127, 2, 6),
            (u128::from(u64::MAX), 10, 19),
            (u128::MAX, 10, 38),
        ] {
            assert_eq!(fitting(max, base), digits, "{max} {base}");
        }
    }
}
