//! Sets of bytes that the compiler knows.

use std::fmt;

/// A set of bytes, built while compiling in the two forms that scanning wants: a table, and a map by nibbles.
///
/// Keep it in a `static`, and name it in capitals as grammars name their terminals.
///
/// ```
/// use thrum_parse::ByteSet;
///
/// static HEXDIG: ByteSet = ByteSet::new()
///     .range(b'0', b'9')
///     .range(b'a', b'f')
///     .range(b'A', b'F');
///
/// assert!(HEXDIG.contains(b'7') && !HEXDIG.contains(b'g'));
/// ```
#[derive(Clone)]
pub struct ByteSet {
    pub(crate) table: [bool; 256],
    /// For bytes below 0x80: bit `high nibble` of entry `low nibble` says whether the byte belongs to the set. Shuffles
    /// look up 16 entries at once and give 0 for an index of 0x80 or more, which is why the halves are apart.
    pub(crate) low: [u8; 16],
    /// The same for bytes from 0x80: bit `high nibble - 8`.
    pub(crate) high: [u8; 16],
    /// What the bytes from 0x80 have in common, so that most sets need one look-up.
    pub(crate) upper: Upper,
}

/// Which of the bytes from 0x80 belong to a set.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Upper {
    None,
    All,
    Some,
}

impl ByteSet {
    /// The empty set.
    pub const fn new() -> Self {
        ByteSet {
            table: [false; 256],
            low: [0; 16],
            high: [0; 16],
            upper: Upper::None,
        }
    }

    /// This set and the bytes of `bytes`.
    pub const fn with(mut self, bytes: &[u8]) -> Self {
        let mut i = 0;
        while i < bytes.len() {
            self.table[bytes[i] as usize] = true;
            i += 1;
        }
        self.map()
    }

    /// This set and the bytes from `first` to `last`, both included.
    pub const fn range(mut self, first: u8, last: u8) -> Self {
        let mut byte = first as usize;
        while byte <= last as usize {
            self.table[byte] = true;
            byte += 1;
        }
        self.map()
    }

    /// The bytes of this set and of `other`.
    pub const fn or(mut self, other: &ByteSet) -> Self {
        let mut byte = 0;
        while byte < 256 {
            self.table[byte] |= other.table[byte];
            byte += 1;
        }
        self.map()
    }

    /// This set without the bytes of `bytes`.
    pub const fn without(mut self, bytes: &[u8]) -> Self {
        let mut i = 0;
        while i < bytes.len() {
            self.table[bytes[i] as usize] = false;
            i += 1;
        }
        self.map()
    }

    /// All bytes that are not in this set.
    pub const fn not(mut self) -> Self {
        let mut byte = 0;
        while byte < 256 {
            self.table[byte] = !self.table[byte];
            byte += 1;
        }
        self.map()
    }

    /// Whether `byte` belongs to the set.
    #[inline(always)]
    pub const fn contains(&self, byte: u8) -> bool {
        self.table[byte as usize]
    }

    /// Its byte, if it has just one.
    pub(crate) fn single(&self) -> Option<u8> {
        let mut bytes = (0..=u8::MAX).filter(|&byte| self.contains(byte));
        bytes.next().filter(|_| bytes.next().is_none())
    }

    /// Makes the nibble maps agree with the table.
    const fn map(mut self) -> Self {
        self.low = [0; 16];
        self.high = [0; 16];
        let mut upper = 0;
        let mut byte = 0;
        while byte < 256 {
            if self.table[byte] {
                let (nibble, bit) = (byte & 15, 1 << ((byte >> 4) & 7));
                if byte < 0x80 {
                    self.low[nibble] |= bit;
                } else {
                    self.high[nibble] |= bit;
                    upper += 1;
                }
            }
            byte += 1;
        }
        self.upper = match upper {
            0 => Upper::None,
            0x80 => Upper::All,
            _ => Upper::Some,
        };
        self
    }
}

impl Default for ByteSet {
    fn default() -> Self {
        Self::new()
    }
}

/// As in a regular expression: `[!0-9A-Za-z]`.
impl fmt::Display for ByteSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("[")?;
        // A hyphen that is not within a range comes first, or it would look as if it made one.
        let bare = |byte: usize| byte == 0x2d && !(self.table[0x2c] && self.table[0x2e]);
        if self.contains(b'-') && bare(0x2d) {
            f.write_str("-")?;
        }
        let mut next = 0;
        while let Some(first) = (next..256).find(|&byte| self.table[byte] && !bare(byte)) {
            let outside = |&byte: &usize| !self.table[byte] || bare(byte);
            let end = (first..256).find(outside).unwrap_or(256);
            write!(f, "{}", (first as u8).escape_ascii())?;
            if end - first > 2 {
                f.write_str("-")?;
            }
            if end - first > 1 {
                write!(f, "{}", ((end - 1) as u8).escape_ascii())?;
            }
            next = end;
        }
        f.write_str("]")
    }
}

impl fmt::Debug for ByteSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ByteSet({self})")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn set_algebra() {
        const SET: ByteSet = ByteSet::new()
            .range(b'a', b'f')
            .with(b"-\xff")
            .without(b"c");
        for byte in 0..=255u8 {
            let member = matches!(byte, b'a' | b'b' | b'd'..=b'f' | b'-' | 0xff);
            assert_eq!(SET.contains(byte), member);
            assert_eq!(SET.not().contains(byte), !member);
            assert!(SET.or(&SET.not()).contains(byte));
        }
    }

    #[test]
    fn shown_as_ranges() {
        let set = ByteSet::new().range(b'0', b'9').with(b"xy\r");
        assert_eq!(set.to_string(), r"[\r0-9xy]");
        let signs = ByteSet::new().with(b"+-").range(b'0', b'9');
        assert_eq!(signs.to_string(), "[-+0-9]");
        assert_eq!(ByteSet::new().range(b' ', b'~').to_string(), "[ -~]");
    }
}
