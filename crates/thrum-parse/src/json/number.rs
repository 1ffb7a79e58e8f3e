//! Numbers: integers exactly, all others rounded correctly.

use super::Fault::{BadNumber, NumberTooLarge, NumberTooLong};
use super::grammar::wrong;
use crate::class::DIGIT;
use crate::explanation::Expected;
use crate::stop::{Need, Parsed, Stop};
use crate::{ByteSet, In, Parser, take_while1};

/// The longest number that is read, in bytes. An `f64` needs 17 digits to be told from all others; 768 are the most that
/// ever decide how a number is rounded.
pub const NUMBER_BYTES: usize = 1024;

/// A number. What is written without a fraction and an exponent is an integer, if a `u64` or an `i64` can hold it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Number {
    /// An integer from 0 on.
    Unsigned(u64),
    /// An integer below 0.
    Negative(i64),
    /// Any other number; finite. -0 is one.
    Float(f64),
}

impl Number {
    /// The nearest float.
    pub fn as_f64(self) -> f64 {
        match self {
            Number::Unsigned(number) => number as f64,
            Number::Negative(number) => number as f64,
            Number::Float(number) => number,
        }
    }
}

/// All that a number is made of.
static NUMBER: ByteSet = DIGIT.with(b"+-.eE");

/// number = [ minus ] int [ frac ] [ exp ] (6)
#[inline(always)]
pub(super) fn number(i: &mut In<'_>) -> Parsed<Number> {
    let start = i.position();
    let text = take_while1(&NUMBER).up_to(NUMBER_BYTES, NumberTooLong);
    match scan(text.parse(i)?) {
        Ok(number) => Ok(number),
        Err(wrong) => Err(wrong.stop(i, start)),
    }
}

/// What is wrong with a number.
enum Wrong {
    /// There is no digit here.
    At(usize),
    TooLarge,
}

impl Wrong {
    #[cold]
    fn stop(self, i: &In<'_>, start: usize) -> Stop {
        match self {
            Wrong::At(at) if start + at == i.buffer().len() => {
                i.expected(start + at, || Expected::Text("a digit"));
                i.short(Need::bytes(1))
            }
            Wrong::At(at) => {
                let digit = i.buffer()[start + at].is_ascii_digit();
                let expected = if digit {
                    "the end of a number"
                } else {
                    "a digit"
                };
                wrong(i, start + at, expected, BadNumber)
            }
            Wrong::TooLarge => wrong(i, start, "a number that is not as large", NumberTooLarge),
        }
    }
}

/// What a run of [`NUMBER`] says. It has at least one byte.
#[inline(always)]
fn scan(text: &[u8]) -> Result<Number, Wrong> {
    let is_negative = text.first() == Some(&b'-');
    let mut digits = Digits {
        text,
        at: usize::from(is_negative),
        value: 0,
    };
    let first = digits.at;
    digits.some()?;
    let mut significant = digits.at - first;
    if significant > 1 && text[first] == b'0' {
        return Err(Wrong::At(first + 1));
    }
    if digits.at == text.len() {
        return integer(text, is_negative, significant, digits.value);
    }
    let mut exponent = 0;
    if text[digits.at] == b'.' {
        digits.at += 1;
        let point = digits.at;
        digits.some()?;
        exponent = -((digits.at - point) as i32);
        significant += digits.at - point;
    }
    let mantissa = digits.value;
    if let Some(b'e' | b'E') = text.get(digits.at) {
        digits.at += 1;
        let minus = text.get(digits.at) == Some(&b'-');
        digits.at += usize::from(matches!(text.get(digits.at), Some(b'+' | b'-')));
        let start = digits.at;
        digits.value = 0;
        digits.some()?;
        // Of many digits the value wraps, so it must not count.
        let size = if digits.at - start > 6 {
            i32::MAX / 2
        } else {
            digits.value as i32
        };
        exponent += if minus { -size } else { size };
    }
    if digits.at < text.len() {
        return Err(Wrong::At(digits.at));
    }
    float(text, is_negative, significant, mantissa, exponent)
}

struct Digits<'a> {
    text: &'a [u8],
    at: usize,
    /// What they add up to, modulo 2^64.
    value: u64,
}

impl Digits<'_> {
    /// 1*DIGIT
    #[inline(always)]
    fn some(&mut self) -> Result<(), Wrong> {
        let start = self.at;
        while let Some(digit @ 0..=9) = self.text.get(self.at).map(|byte| byte.wrapping_sub(b'0')) {
            self.value = self.value.wrapping_mul(10).wrapping_add(digit.into());
            self.at += 1;
        }
        if self.at == start {
            return Err(Wrong::At(start));
        }
        Ok(())
    }
}

/// Up to 19 digits the value is exact.
const EXACT: usize = 19;

#[inline(always)]
fn integer(text: &[u8], is_negative: bool, digits: usize, value: u64) -> Result<Number, Wrong> {
    match (is_negative, 0i64.checked_sub_unsigned(value)) {
        (false, _) if digits <= EXACT => Ok(Number::Unsigned(value)),
        (true, Some(negative @ ..0)) if digits <= EXACT => Ok(Number::Negative(negative)),
        _ => large_integer(text),
    }
}

/// An integer of 20 digits, some of which fit, or of more; or -0.
#[cold]
fn large_integer(text: &[u8]) -> Result<Number, Wrong> {
    match std::str::from_utf8(text).unwrap_or_default().parse() {
        Ok(number) => Ok(Number::Unsigned(number)),
        Err(_) => finite(any_float(text)),
    }
}

/// Both the digits and the power of ten are exact floats, so one operation rounds, and does it right (Clinger 1990).
#[inline(always)]
fn float(
    text: &[u8],
    is_negative: bool,
    digits: usize,
    mantissa: u64,
    exponent: i32,
) -> Result<Number, Wrong> {
    const POWERS: [f64; 23] = [
        1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16,
        1e17, 1e18, 1e19, 1e20, 1e21, 1e22,
    ];
    let power = POWERS.get(exponent.unsigned_abs() as usize);
    let number = match power {
        Some(power) if digits <= EXACT && mantissa <= 1 << 53 => {
            let number = if exponent < 0 {
                mantissa as f64 / power
            } else {
                mantissa as f64 * power
            };
            if is_negative { -number } else { number }
        }
        _ => any_float(text),
    };
    finite(number)
}

#[inline(always)]
fn finite(number: f64) -> Result<Number, Wrong> {
    if number.is_finite() {
        Ok(Number::Float(number))
    } else {
        Err(Wrong::TooLarge)
    }
}

/// The standard library's: right for every number, in two to three times the time.
#[inline(never)]
fn any_float(text: &[u8]) -> f64 {
    let text = std::str::from_utf8(text).unwrap_or_default();
    text.parse().unwrap_or(f64::INFINITY)
}
