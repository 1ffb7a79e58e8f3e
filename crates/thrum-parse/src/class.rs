//! Byte classes: what a run of bytes is made of, and the classes of ASCII by name. They are constants, so that sets of your
//! own can be made of them.
//!
//! ```
//! use thrum_parse::{ByteSet, In, Parser, class, take_while1};
//!
//! static NAME: ByteSet = class::ALPHANUMERIC.with(b"_");
//! assert_eq!(take_while1(&NAME).parse(&mut In::whole(b"to_do: ")), Ok(&b"to_do"[..]));
//! // A closure does where no set can: byte by byte, and it has to say that it takes a `u8`.
//! let small = take_while1(|byte: u8| byte < 32);
//! assert_eq!(small.parse(&mut In::whole(b"\x01\x02a")), Ok(&b"\x01\x02"[..]));
//! ```

use crate::ByteSet;
use crate::explanation::Expected;

/// Says of each byte whether it belongs: a `&'static` [`ByteSet`], or a closure `|byte: u8| -> bool`.
///
/// Runs of a set are scanned 16 or 32 bytes at a time, and who waits for more input is told what the run is made of. A
/// closure is asked byte by byte, and tells nothing: give its parser a [label](crate::Parser::label).
pub trait Class: Copy {
    /// Whether `byte` belongs to the class.
    fn contains(&self, byte: u8) -> bool;

    /// The class as a set, if it is one that the compiler knows.
    #[inline(always)]
    fn set(&self) -> Option<&'static ByteSet> {
        None
    }

    /// What to say where a byte of the class is missing.
    fn expected(&self) -> Expected {
        Expected::Text("another byte")
    }
}

impl Class for &'static ByteSet {
    #[inline(always)]
    fn contains(&self, byte: u8) -> bool {
        ByteSet::contains(self, byte)
    }

    #[inline(always)]
    fn set(&self) -> Option<&'static ByteSet> {
        Some(self)
    }

    fn expected(&self) -> Expected {
        Expected::OneOf(self)
    }
}

impl<F: Fn(u8) -> bool + Copy> Class for F {
    #[inline(always)]
    fn contains(&self, byte: u8) -> bool {
        self(byte)
    }
}

/// All that is not in a class: see [`take_till`](crate::take_till).
#[derive(Clone, Copy, Debug)]
pub struct Not<C>(pub(crate) C);

impl<C: Class> Class for Not<C> {
    #[inline(always)]
    fn contains(&self, byte: u8) -> bool {
        !self.0.contains(byte)
    }

    fn expected(&self) -> Expected {
        match self.0.set() {
            Some(set) => Expected::NoneOf(set),
            None => Expected::Text("another byte"),
        }
    }
}

/// Every byte.
pub const ANY: ByteSet = ByteSet::new().not();
/// The bytes of ASCII: below 0x80.
pub const ASCII: ByteSet = ByteSet::new().range(0, 0x7f);
/// `a` to `z`.
pub const LOWER: ByteSet = ByteSet::new().range(b'a', b'z');
/// `A` to `Z`.
pub const UPPER: ByteSet = ByteSet::new().range(b'A', b'Z');
/// ASCII letters.
pub const ALPHA: ByteSet = LOWER.or(&UPPER);
/// `0` to `9`.
pub const DIGIT: ByteSet = ByteSet::new().range(b'0', b'9');
/// ASCII letters and digits.
pub const ALPHANUMERIC: ByteSet = ALPHA.or(&DIGIT);
/// Hexadecimal digits of either case.
pub const HEXDIG: ByteSet = DIGIT.or(&ByteSet::new().range(b'a', b'f').range(b'A', b'F'));
/// `0` to `7`.
pub const OCTDIG: ByteSet = ByteSet::new().range(b'0', b'7');
/// `0` and `1`.
pub const BINDIG: ByteSet = ByteSet::new().with(b"01");
/// White space: space, tab, line feed, vertical tab, form feed, carriage return.
pub const SPACE: ByteSet = ByteSet::new().with(b" \t\n\x0b\x0c\r");
/// Space and tab: white space within a line.
pub const BLANK: ByteSet = ByteSet::new().with(b" \t");
/// The ASCII characters that are printed, space not among them.
pub const VISIBLE: ByteSet = ByteSet::new().range(0x21, 0x7e);
/// ASCII's punctuation: what is visible and no letter or digit.
pub const PUNCTUATION: ByteSet = ALPHANUMERIC
    .or(&ByteSet::new().range(0, b' ').range(0x7f, 0xff))
    .not();
/// ASCII's control characters, DEL among them.
pub const CONTROL: ByteSet = ByteSet::new().range(0, 0x1f).with(b"\x7f");
/// All but the line feed.
pub const NOT_LF: ByteSet = ByteSet::new().with(b"\n").not();
