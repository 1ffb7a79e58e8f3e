//! Words: numbers in a fixed number of bytes, as network protocols (big-endian) and file formats (often little-endian)
//! write them.
//!
//! ```
//! use thrum_parse::{In, Parser, word};
//!
//! let mut i = In::whole(&[0, 80, 80, 0, 0xff]);
//! assert_eq!(word::be::<u16>().parse(&mut i), Ok(80));
//! assert_eq!(word::le::<u16>().parse(&mut i), Ok(80));
//! assert_eq!(word::be::<i8>().parse(&mut i), Ok(-1));
//! ```

use std::marker::PhantomData;

use crate::explanation::Expected;
use crate::stop::{Need, Parsed};
use crate::{In, Parser};

/// A number of a fixed size: Rust's integers from 8 to 128 bits, `f32` and `f64`.
pub trait Word: Copy {
    /// Takes one off the input, most significant byte first.
    #[doc(hidden)]
    fn take_be(i: &mut In<'_>) -> Parsed<Self>;

    /// Takes one off the input, least significant byte first.
    #[doc(hidden)]
    fn take_le(i: &mut In<'_>) -> Parsed<Self>;
}

macro_rules! word {
    ($($word:ty)+) => {$(
        impl Word for $word {
            #[inline(always)]
            fn take_be(i: &mut In<'_>) -> Parsed<Self> {
                next(i).map(<$word>::from_be_bytes)
            }

            #[inline(always)]
            fn take_le(i: &mut In<'_>) -> Parsed<Self> {
                next(i).map(<$word>::from_le_bytes)
            }
        }
    )+};
}
word!(u8 u16 u32 u64 u128 i8 i16 i32 i64 i128 f32 f64);

/// A word with its most significant byte first: network byte order.
///
/// ```
/// use thrum_parse::{In, Parser, word};
///
/// assert_eq!(word::be::<u32>().parse(&mut In::whole(&[1, 2, 3, 4])), Ok(0x0102_0304));
/// assert!(word::be::<u32>().parse(&mut In::partial(&[1])).unwrap_err().is_need());
/// ```
pub const fn be<T: Word>() -> Be<T> {
    Be(PhantomData)
}

/// See [`be`].
#[derive(Clone, Copy, Debug)]
pub struct Be<T>(PhantomData<T>);

impl<'a, T: Word> Parser<'a> for Be<T> {
    type Output = T;

    #[inline(always)]
    fn parse(&self, i: &mut In<'a>) -> Parsed<T> {
        T::take_be(i)
    }
}

/// A word with its least significant byte first.
///
/// ```
/// use thrum_parse::{In, Parser, word};
///
/// assert_eq!(word::le::<f32>().parse(&mut In::whole(&[0, 0, 0x80, 0x3f])), Ok(1.0));
/// ```
pub const fn le<T: Word>() -> Le<T> {
    Le(PhantomData)
}

/// See [`le`].
#[derive(Clone, Copy, Debug)]
pub struct Le<T>(PhantomData<T>);

impl<'a, T: Word> Parser<'a> for Le<T> {
    type Output = T;

    #[inline(always)]
    fn parse(&self, i: &mut In<'a>) -> Parsed<T> {
        T::take_le(i)
    }
}

#[inline(always)]
fn next<const N: usize>(i: &mut In<'_>) -> Parsed<[u8; N]> {
    if let Some(&bytes) = i.next_bytes::<N>() {
        i.consume(N);
        return Ok(bytes);
    }
    i.expected(i.buffer().len(), || Expected::Text("more bytes"));
    Err(i.short(Need::bytes(N - i.rest().len())))
}
