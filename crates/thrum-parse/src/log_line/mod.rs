//! Lines of an access log in the Common and the Combined Log Format, as Apache, nginx and thrum write them.
//!
//! A line is `host ident user [time] "request" status bytes`, to which Combined adds `"referer" "user-agent"`. Servers
//! that were told to log more put it behind; it is kept as [`Entry::more`]. Every field is a slice of the line, as it was
//! written: [`unescaped`] undoes `\"` and `\xHH` where somebody wants to know. Lines end in LF or CR LF.
//!
//! ```
//! use thrum_parse::log_line::Entries;
//!
//! let log = b"192.0.2.7 - - [21/Nov/2026:02:07:00 +0000] \"GET /x HTTP/1.1\" 200 612 \"-\" \"curl/8.5\"\n";
//! for entry in Entries::new(log, true) {
//!     let entry = entry.unwrap();
//!     assert_eq!(entry.request_line().unwrap().target, b"/x");
//!     assert_eq!((entry.time, entry.status, entry.bytes), (1_795_226_820, 200, Some(612)));
//! }
//! ```

mod grammar;
#[cfg(test)]
mod tests;
mod time;

pub use grammar::entry;

use std::borrow::Cow;
use std::fmt;

use crate::{Explanation, In, Level, explain, simd};

/// The longest field that is read, in bytes: twice what the longest header of Apache has when all of it is escaped.
pub const FIELD_BYTES: usize = 64 * 1024;

/// No line that can be read is as long as this, in bytes.
pub const LINE_BYTES: usize = 8 * FIELD_BYTES;

/// One line. A field that says `-` was absent: `None`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entry<'a> {
    /// The client: its address, or its name where a server looks names up.
    pub host: &'a [u8],
    /// What the client's identd said; nobody asks any more.
    pub ident: Option<&'a [u8]>,
    /// The user that was authenticated. It may contain spaces.
    pub user: Option<&'a [u8]>,
    /// When the request came, in seconds since 1970 UTC.
    pub time: i64,
    /// The request line as it was written, whatever it is: [`request_line`](Entry::request_line) takes it apart.
    pub request: &'a [u8],
    /// The status; 0 where the server sent none.
    pub status: u16,
    /// Bytes of the body that was sent.
    pub bytes: Option<u64>,
    /// The `Referer` header.
    pub referer: Option<&'a [u8]>,
    /// The `User-Agent` header.
    pub user_agent: Option<&'a [u8]>,
    /// What follows after a space: the fields that a server was told to add.
    pub more: &'a [u8],
}

/// A request line, taken apart: the method before its first space, the version behind its last.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RequestLine<'a> {
    /// The method.
    pub method: &'a [u8],
    /// The target. It has spaces if the client sent some.
    pub target: &'a [u8],
    /// The version, such as `HTTP/1.1`; empty if there is none (HTTP/0.9).
    pub version: &'a [u8],
}

/// The entries of a buffer, line by line. It goes on behind a line that it can't read.
///
/// A line whose end has not come is left for later: [`consumed`](Entries::consumed) says where it starts. So a log of any
/// size is read through a buffer of more than [`LINE_BYTES`]; a line that does not end within that is reported as bad.
#[derive(Clone, Debug)]
pub struct Entries<'a> {
    buffer: &'a [u8],
    consumed: usize,
    eof: bool,
    level: Level,
}

/// A line that is not in either format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BadLine<'a> {
    /// The line, without its end.
    pub line: &'a [u8],
}

impl<'a> Entry<'a> {
    /// The parts of the request line: a method at least, and a target. Other things that clients send have none.
    #[inline]
    pub fn request_line(&self) -> Option<RequestLine<'a>> {
        let at = self
            .request
            .iter()
            .take(32)
            .position(|&byte| byte == b' ')?;
        let (method, rest) = (&self.request[..at], &self.request[at + 1..]);
        if method.is_empty() || rest.is_empty() {
            return None;
        }
        let (target, version) = match rest.split_last_chunk::<9>() {
            Some((target, version)) if version.starts_with(b" HTTP/") => (target, &version[1..]),
            _ => other_version(rest),
        };
        Some(RequestLine {
            method,
            target,
            version,
        })
    }
}

impl<'a> Entries<'a> {
    /// The entries of `buffer`, which starts with a line. `eof` says that nothing comes behind it, so that the last line
    /// may lack its end.
    pub fn new(buffer: &'a [u8], eof: bool) -> Self {
        Entries {
            buffer,
            consumed: 0,
            eof,
            level: Level::best(),
        }
    }

    /// How many bytes the lines have that were given, with their ends.
    pub fn consumed(&self) -> usize {
        self.consumed
    }

    /// What to make of a line that did not parse.
    #[cold]
    fn bad_line(&mut self, rest: &'a [u8]) -> Option<Result<Entry<'a>, BadLine<'a>>> {
        let line = match memchr::memchr(b'\n', rest) {
            Some(end) => {
                self.consumed += end + 1;
                let line = &rest[..end];
                line.strip_suffix(b"\r").unwrap_or(line)
            }
            None if self.eof || rest.len() > LINE_BYTES => {
                self.consumed += rest.len();
                rest
            }
            None => return None,
        };
        Some(Err(BadLine { line }))
    }
}

impl<'a> Iterator for Entries<'a> {
    type Item = Result<Entry<'a>, BadLine<'a>>;

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        let rest = &self.buffer[self.consumed..];
        if rest.is_empty() {
            return None;
        }
        let (eof, level) = (self.eof, self.level);
        simd::run_at(
            level,
            #[inline(always)]
            |level| {
                let mut i = In::starting(rest, 0, eof, level);
                // An entry is large: it is made where the caller wants it.
                match entry(&mut i) {
                    Ok(entry) => {
                        self.consumed += i.position();
                        Some(Ok(entry))
                    }
                    Err(_) => self.bad_line(rest),
                }
            },
        )
    }
}

impl BadLine<'_> {
    /// Where it goes wrong and what was expected there.
    pub fn explanation(&self) -> Option<Explanation> {
        explain(entry, self.line)
    }
}

impl fmt::Display for BadLine<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.explanation() {
            Some(explanation) => explanation.fmt(f),
            None => f.write_str("the line is too long"),
        }
    }
}

impl std::error::Error for BadLine<'_> {}

/// A field with its escapes undone: `\xHH`, `\"`, `\\`, and the letters of C that Apache writes. What is no escape stays.
///
/// ```
/// use thrum_parse::log_line::unescaped;
///
/// assert_eq!(&*unescaped(br#"say \"\x41\""#), b"say \"A\"");
/// ```
pub fn unescaped(field: &[u8]) -> Cow<'_, [u8]> {
    if memchr::memchr(b'\\', field).is_none() {
        return Cow::Borrowed(field);
    }
    let mut out = Vec::with_capacity(field.len());
    let mut rest = field;
    while let Some(at) = memchr::memchr(b'\\', rest) {
        out.extend_from_slice(&rest[..at]);
        let (byte, length) = match &rest[at + 1..] {
            [b'x', high, low, ..] => match (hex(*high), hex(*low)) {
                (Some(high), Some(low)) => (high << 4 | low, 4),
                _ => (b'\\', 1),
            },
            [b'n', ..] => (b'\n', 2),
            [b'r', ..] => (b'\r', 2),
            [b't', ..] => (b'\t', 2),
            [b'b', ..] => (8, 2),
            [b'v', ..] => (11, 2),
            [b'f', ..] => (12, 2),
            [escaped @ (b'"' | b'\\'), ..] => (*escaped, 2),
            _ => (b'\\', 1),
        };
        out.push(byte);
        rest = &rest[at + length..];
    }
    out.extend_from_slice(rest);
    Cow::Owned(out)
}

fn hex(digit: u8) -> Option<u8> {
    char::from(digit).to_digit(16).map(|digit| digit as u8)
}

/// `HTTP/2`, or none.
#[cold]
fn other_version(rest: &[u8]) -> (&[u8], &[u8]) {
    match memchr::memrchr(b' ', rest) {
        Some(at) if rest[at + 1..].starts_with(b"HTTP/") => (&rest[..at], &rest[at + 1..]),
        _ => (rest, b""),
    }
}
