//! Response heads.

use super::head::{Grammar, Head};
use super::{Field, HeadLimits, Version, grammar};
use crate::{In, Parsed, Span};

/// A response head: where its parts are in the buffer that was parsed.
///
/// Keep one and use it for one response after the other: its memory is reused.
///
/// ```
/// use thrum_parse::http::{HeadLimits, HeadParser, ResponseHead, Status};
///
/// let mut parser = HeadParser::new(HeadLimits::default());
/// let mut head = ResponseHead::new();
/// let buffer = b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n";
/// let status = parser.parse(buffer, false, &mut head).unwrap();
/// assert_eq!(status, Status::Complete { consumed: buffer.len() });
/// assert_eq!((head.status, head.reason.of(buffer)), (404, &b"Not Found"[..]));
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ResponseHead {
    /// The version.
    pub version: Version,
    /// The status code, 100 to 999; 0 while none has been read. Those from 600 on are not valid, but a client is to take
    /// them for a 5xx rather than refuse them (RFC 9110, 15).
    pub status: u16,
    /// The reason phrase, often empty. It is a comment: the status says it all (RFC 9112, 4).
    pub reason: Span,
    fields: Vec<Field>,
}

impl ResponseHead {
    /// An empty one. It allocates when fields come.
    pub const fn new() -> Self {
        ResponseHead {
            version: Version::Http11,
            status: 0,
            reason: Span { start: 0, end: 0 },
            fields: Vec::new(),
        }
    }

    /// Forgets what was read, but not the memory that it was in.
    pub fn clear(&mut self) {
        self.version = Version::default();
        self.status = 0;
        self.reason = Span::default();
        self.fields.clear();
    }

    /// The header fields, in the order they were sent.
    pub fn headers(&self) -> &[Field] {
        &self.fields
    }
}

impl Head for ResponseHead {}

impl Grammar for ResponseHead {
    fn clear(&mut self) {
        ResponseHead::clear(self);
    }

    #[inline(always)]
    fn start_line(&mut self, i: &mut In<'_>, _: &HeadLimits) -> Parsed<()> {
        grammar::status_line(i, self)
    }

    #[inline(always)]
    fn field_lines(&mut self, i: &mut In<'_>, limits: &HeadLimits) -> Parsed<()> {
        grammar::field_lines(i, limits.fields, &mut self.fields)
    }
}
