//! Reading a request head off a growing buffer.

use super::grammar::{HeadError, field_lines, request_head};
use crate::{Input, Level, Parsed, Portable, Span, Stop};

/// The version of a message.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Version {
    /// HTTP/1.0.
    Http10,
    /// HTTP/1.1.
    #[default]
    Http11,
}

/// A field line: where its name and its value are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Field {
    /// The name, in the sender's case.
    pub name: Span,
    /// The value, without the white space around it.
    pub value: Span,
}

/// A request head, as spans of the buffer that it was parsed from. Its storage is used again for the next one.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RequestHead {
    /// The method.
    pub method: Span,
    /// The request target, as it was sent.
    pub target: Span,
    /// The version.
    pub version: Version,
    pub(super) fields: Vec<Field>,
}

impl RequestHead {
    /// An empty head.
    pub fn new() -> Self {
        Self::default()
    }

    /// Forgets what was parsed, and keeps the storage.
    pub fn clear(&mut self) {
        let mut fields = std::mem::take(&mut self.fields);
        fields.clear();
        *self = Self {
            fields,
            ..Self::default()
        };
    }

    /// The fields, in the order in which they were sent.
    pub fn headers(&self) -> &[Field] {
        &self.fields
    }
}

/// What a head may be at most.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HeadLimits {
    /// Bytes, the empty line included. Default: 16 KiB.
    pub head_bytes: usize,
    /// Field lines. Default: 100.
    pub fields: usize,
    /// Bytes of the request target. Default: 8 KiB.
    pub target_bytes: usize,
}

impl Default for HeadLimits {
    fn default() -> Self {
        Self {
            head_bytes: 16 * 1024,
            fields: 100,
            target_bytes: 8 * 1024,
        }
    }
}

/// How far a parser got.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    /// The head is complete; it took so many bytes.
    Complete {
        /// Bytes of the buffer that belong to the head.
        consumed: usize,
    },
    /// More must come.
    Partial,
}

/// Parses a head that may come in pieces.
///
/// It tries once. If the head is not complete it then only looks for the empty line, from where it stopped, and parses once
/// more when that is there. So a head that comes byte by byte costs no more than twice one that comes whole.
///
/// ```
/// use thrum_parse::http::{HeadLimits, HeadParser, RequestHead, Status};
///
/// let (mut parser, mut head) = (HeadParser::new(HeadLimits::default()), RequestHead::new());
/// let request = b"GET /pong HTTP/1.1\r\nHost: localhost\r\n\r\n";
/// assert_eq!(parser.parse(&request[..20], false, &mut head), Ok(Status::Partial));
/// let consumed = request.len();
/// assert_eq!(parser.parse(request, false, &mut head), Ok(Status::Complete { consumed }));
/// assert_eq!(head.target.of(request), b"/pong");
/// ```
#[derive(Clone, Debug)]
pub struct HeadParser {
    limits: HeadLimits,
    /// After the first try: how far no empty line is.
    scanned: Option<usize>,
}

impl HeadParser {
    /// A parser that is at the start of a head.
    pub fn new(limits: HeadLimits) -> Self {
        Self {
            limits,
            scanned: None,
        }
    }

    /// Parses the head at the start of `buffer`, which holds all that has come since the head began. `eof`: nothing more
    /// comes. When it is complete or in error the parser is ready for the next one.
    ///
    /// # Errors
    /// What is wrong with the head. A limit is reported as soon as it is passed, though the head is not complete.
    pub fn parse(
        &mut self,
        buffer: &[u8],
        eof: bool,
        head: &mut RequestHead,
    ) -> Result<Status, HeadError> {
        let window = &buffer[..buffer.len().min(self.limits.head_bytes)];
        if let Some(scanned) = self.scanned {
            // The terminator may have begun before: three bytes back.
            let from = scanned.saturating_sub(3);
            let found = memchr::memmem::find(&window[from..], b"\r\n\r\n").is_some();
            if !found && !eof && buffer.len() < self.limits.head_bytes {
                self.scanned = Some(window.len());
                return Ok(Status::Partial);
            }
        }
        head.clear();
        let result = match parse_once(window, &self.limits, head) {
            Ok(consumed) => Ok(Status::Complete { consumed }),
            Err(Stop::Fail(error) | Stop::Cut(error)) => Err(error),
            Err(Stop::Need(_)) => self.incomplete(buffer, eof, head),
        };
        self.scanned = matches!(result, Ok(Status::Partial)).then_some(window.len());
        result
    }

    /// What it means that the head is not all there.
    fn incomplete(
        &self,
        buffer: &[u8],
        eof: bool,
        head: &RequestHead,
    ) -> Result<Status, HeadError> {
        // A target that has not ended is still empty.
        let target_pending = head.target.is_empty() && !head.method.is_empty();
        if target_pending && buffer.len() > self.limits.target_bytes + head.method.end as usize + 1
        {
            return Err(HeadError::TargetTooLong);
        }
        if buffer.len() >= self.limits.head_bytes {
            return Err(HeadError::HeadTooLarge);
        }
        if eof {
            Err(HeadError::Truncated)
        } else {
            Ok(Status::Partial)
        }
    }
}

fn parse_once(
    window: &[u8],
    limits: &HeadLimits,
    head: &mut RequestHead,
) -> Parsed<usize, HeadError> {
    #[cfg(target_arch = "x86_64")]
    if let Some(level) = crate::Avx2::detect() {
        // SAFETY: the CPU has been found to have AVX2.
        return unsafe { parse_avx2(level, window, limits, head) };
    }
    #[cfg(target_arch = "aarch64")]
    if let Some(level) = crate::Neon::detect() {
        return parse_with(level, window, limits, head); // NEON is part of the target
    }
    parse_with(Portable, window, limits, head)
}

/// The whole grammar compiled for AVX2, so that its kernels are inlined.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,bmi1,bmi2")]
fn parse_avx2(
    level: crate::Avx2,
    window: &[u8],
    limits: &HeadLimits,
    head: &mut RequestHead,
) -> Parsed<usize, HeadError> {
    parse_with(level, window, limits, head)
}

#[inline(always)]
fn parse_with<L: Level>(
    level: L,
    window: &[u8],
    limits: &HeadLimits,
    head: &mut RequestHead,
) -> Parsed<usize, HeadError> {
    let mut input = Input::partial(level, window);
    request_head(&mut input, window, limits.fields, head)?;
    if head.target.len() > limits.target_bytes {
        return Err(Stop::Cut(HeadError::TargetTooLong));
    }
    Ok(input.consumed())
}

/// Parses a trailer section (RFC 9112 section 7.1.2) at the start of `buffer`, into `fields`. A partial one is parsed again
/// from its start, so keep it short.
///
/// # Errors
/// What is wrong with it; [`HeadError::TooManyFields`] above `max_fields`.
pub fn trailers(
    buffer: &[u8],
    max_fields: usize,
    fields: &mut Vec<Field>,
) -> Result<Status, HeadError> {
    fields.clear();
    let mut input = Input::partial(Portable, buffer);
    match field_lines(&mut input, buffer, max_fields, fields) {
        Ok(()) => Ok(Status::Complete {
            consumed: input.consumed(),
        }),
        Err(Stop::Need(_)) => Ok(Status::Partial),
        Err(Stop::Fail(error) | Stop::Cut(error)) => Err(error),
    }
}
