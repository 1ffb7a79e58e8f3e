//! Request heads.

use super::head::{Grammar, Head};
use super::{Field, HeadLimits, METHOD_BYTES, Version, grammar};
use crate::{In, Parsed, Span};

/// A request head: where its parts are in the buffer that was parsed.
///
/// Keep one and use it for one request after the other: its memory is reused.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RequestHead {
    /// The method, a token.
    pub method: Span,
    /// The target, visible ASCII. Which of the four forms it has (RFC 9112, 3.2) is not looked at.
    pub target: Span,
    /// The version.
    pub version: Version,
    fields: Vec<Field>,
}

impl RequestHead {
    /// An empty one. It allocates when fields come.
    pub const fn new() -> Self {
        RequestHead {
            method: Span { start: 0, end: 0 },
            target: Span { start: 0, end: 0 },
            version: Version::Http11,
            fields: Vec::new(),
        }
    }

    /// Forgets what was read, but not the memory that it was in.
    pub fn clear(&mut self) {
        self.method = Span::default();
        self.target = Span::default();
        self.version = Version::default();
        self.fields.clear();
    }

    /// The header fields, in the order they were sent.
    pub fn headers(&self) -> &[Field] {
        &self.fields
    }
}

impl Head for RequestHead {}

impl Grammar for RequestHead {
    fn clear(&mut self) {
        RequestHead::clear(self);
    }

    fn most_start_line_bytes(limits: &HeadLimits) -> usize {
        // With the empty line before it.
        let others = METHOD_BYTES + "\r\n  HTTP/1.1\r\n".len();
        limits.target_bytes.saturating_add(others)
    }

    #[inline(always)]
    fn start_line(&mut self, i: &mut In<'_>, limits: &HeadLimits) -> Parsed<()> {
        grammar::request_line(i, limits, self)
    }

    #[inline(always)]
    fn field_lines(&mut self, i: &mut In<'_>, limits: &HeadLimits) -> Parsed<()> {
        grammar::field_lines(i, limits.fields, &mut self.fields)
    }
}
