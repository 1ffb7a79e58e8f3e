//! Sets of bytes, built at compile time.

/// A set of bytes. Built in a constant, it carries a table for single bytes and, for scanning many at once, a map by nibbles.
///
/// ```
/// use thrum_parse::ByteSet;
///
/// const DIGIT: ByteSet = ByteSet::range(b'0', b'9');
/// const HEX: ByteSet = DIGIT.or(ByteSet::range(b'a', b'f')).or(ByteSet::range(b'A', b'F'));
/// assert!(HEX.contains(b'F') && !HEX.contains(b'G'));
/// ```
#[derive(Clone, Copy)]
pub struct ByteSet {
    table: [bool; 256],
    /// Bit `h` of entry `l` tells of the byte `h << 4 | l`, for the bytes below 0x80.
    pub(crate) nibbles: [u8; 16],
    pub(crate) upper: Upper,
}

/// What a set holds of the bytes from 0x80 on.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Upper {
    None,
    All,
    /// Some of them: such a set is scanned byte by byte.
    Some,
}

impl ByteSet {
    /// The empty set.
    pub const EMPTY: ByteSet = ByteSet::from_table([false; 256]);

    /// The bytes of a list.
    pub const fn of(bytes: &[u8]) -> Self {
        let mut table = [false; 256];
        let mut index = 0;
        while index < bytes.len() {
            table[bytes[index] as usize] = true;
            index += 1;
        }
        Self::from_table(table)
    }

    /// The bytes from `first` to `last`, both included.
    pub const fn range(first: u8, last: u8) -> Self {
        let mut table = [false; 256];
        let mut byte = first as usize;
        while byte <= last as usize {
            table[byte] = true;
            byte += 1;
        }
        Self::from_table(table)
    }

    /// The bytes of either set.
    pub const fn or(self, other: Self) -> Self {
        let mut table = self.table;
        let mut byte = 0;
        while byte < 256 {
            table[byte] |= other.table[byte];
            byte += 1;
        }
        Self::from_table(table)
    }

    /// The bytes that are not in the set.
    pub const fn not(self) -> Self {
        let mut table = self.table;
        let mut byte = 0;
        while byte < 256 {
            table[byte] = !table[byte];
            byte += 1;
        }
        Self::from_table(table)
    }

    /// Whether a byte is in the set.
    #[inline(always)]
    pub const fn contains(&self, byte: u8) -> bool {
        self.table[byte as usize]
    }

    const fn from_table(table: [bool; 256]) -> Self {
        let mut nibbles = [0; 16];
        let mut upper = 0;
        let mut byte = 0;
        while byte < 256 {
            if table[byte] && byte < 0x80 {
                nibbles[byte & 15] |= 1 << (byte >> 4);
            } else if table[byte] {
                upper += 1;
            }
            byte += 1;
        }
        let upper = match upper {
            0 => Upper::None,
            128 => Upper::All,
            _ => Upper::Some,
        };
        Self {
            table,
            nibbles,
            upper,
        }
    }
}

impl std::fmt::Debug for ByteSet {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let bytes: Vec<u8> = (0..=255).filter(|&byte| self.contains(byte)).collect();
        write!(f, "ByteSet({})", bytes.escape_ascii())
    }
}
