//! The bytes that HTTP's rules are made of, by the names of RFC 9110, section 5.

use crate::ByteSet;
use crate::class::{ALPHANUMERIC, BLANK, VISIBLE};

/// HTAB / SP / VCHAR / obs-text
pub(super) const TEXT: ByteSet = VISIBLE.with(b" \t").range(0x80, 0xff);

pub(super) static TCHAR: ByteSet = ALPHANUMERIC.with(b"!#$%&'*+-.^_`|~");
pub(super) static OWS: ByteSet = BLANK;
/// All that a target may hold; which of it where is not looked at (RFC 9112, 3.2).
pub(super) static TARGET: ByteSet = VISIBLE;
/// All that a field value may hold, and a quoted pair its second.
pub(super) static VALUE: ByteSet = TEXT;
pub(super) static QDTEXT: ByteSet = TEXT.without(b"\"\\");
