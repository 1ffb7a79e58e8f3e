//! Request heads.

use super::lines::Lines;
use super::{Field, HeadError, METHOD_BYTES, grammar};
use crate::{Explanation, In, Level, Parsed, Span, explain};

/// How large a head may be. Whatever is larger is refused as soon as that is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HeadLimits {
    /// Bytes, the empty line at the end and one before the request line included. Default: 16 KiB.
    pub head_bytes: usize,
    /// Field lines. Default: 100.
    pub fields: usize,
    /// Bytes of the target. Default: 8 KiB.
    pub target_bytes: usize,
}

impl Default for HeadLimits {
    fn default() -> Self {
        HeadLimits {
            head_bytes: 16 * 1024,
            fields: 100,
            target_bytes: 8 * 1024,
        }
    }
}

/// The versions of HTTP that are read here.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Version {
    /// HTTP/1.0
    Http10,
    /// HTTP/1.1
    #[default]
    Http11,
}

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
    pub(super) fields: Vec<Field>,
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

/// What a parser that is restarted says when nothing is wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    /// All of it is there, in the first `consumed` bytes of the buffer.
    Complete {
        /// How many bytes to drop from the buffer.
        consumed: usize,
    },
    /// More input is needed.
    Partial,
}

/// Reads request heads from a buffer that grows.
///
/// Call [`parse`](HeadParser::parse) whenever the buffer has grown. It reads each line once it is complete and
/// remembers how far it came, so that every byte is passed over at most twice, even when they come one by one.
///
/// ```
/// use thrum_parse::http::{HeadLimits, HeadParser, RequestHead, Status};
///
/// let mut parser = HeadParser::new(HeadLimits::default());
/// let mut head = RequestHead::new();
/// let mut buffer = b"GET / HTTP/1.1\r\nHo".to_vec();
/// assert_eq!(parser.parse(&buffer, false, &mut head), Ok(Status::Partial));
/// buffer.extend(b"st: a\r\n\r\nGET");
/// assert_eq!(parser.parse(&buffer, false, &mut head), Ok(Status::Complete { consumed: 27 }));
/// ```
#[derive(Clone, Debug)]
pub struct HeadParser {
    limits: HeadLimits,
    lines: Lines,
    /// A head has been started on; the one given is to be kept.
    started: bool,
    line_done: bool,
}

impl HeadParser {
    /// With these limits.
    pub fn new(limits: HeadLimits) -> Self {
        Self::at_level(limits, Level::best())
    }

    /// With these limits, by the instructions of `level`: for tests and measurements.
    pub fn at_level(limits: HeadLimits, level: Level) -> Self {
        HeadParser {
            limits,
            lines: Lines::new(level),
            started: false,
            line_done: false,
        }
    }

    /// Reads the head that starts where `buffer` does into `head`. `eof` says that the buffer will not grow.
    ///
    /// After [`Status::Partial`], call it again with the same bytes, more bytes behind them, and the same `head`. After
    /// anything else it starts on another head; what is in `head` then is forgotten at that time. One empty line before
    /// the request line is skipped; it is part of what is consumed.
    ///
    /// # Errors
    /// What is wrong with the head. It is the same however the input was cut into pieces; in small pieces it may be
    /// reported later, at the end of its line. Then the connection can't be read any further.
    pub fn parse(
        &mut self,
        buffer: &[u8],
        eof: bool,
        head: &mut RequestHead,
    ) -> Result<Status, HeadError> {
        if !self.started {
            head.fields.clear();
            self.line_done = false;
        }
        let limits = &self.limits;
        let line_done = &mut self.line_done;
        // Longer than any request line that could be right, with the empty line before it.
        let most_line_bytes = if *line_done {
            usize::MAX
        } else {
            limits
                .target_bytes
                .saturating_add(METHOD_BYTES + "\r\n  HTTP/1.1\r\n".len())
        };
        let parsed = self.lines.parse(
            buffer,
            eof,
            limits.head_bytes,
            most_line_bytes,
            #[inline(always)]
            |i| grammar::request_head(i, limits, line_done, head),
        );
        self.started = matches!(parsed, Ok(None));
        match parsed {
            Ok(Some(((), consumed))) => Ok(Status::Complete { consumed }),
            Ok(None) => Ok(Status::Partial),
            Err(stop) => Err(HeadError::from_stop(stop, buffer)),
        }
    }
}

/// Says in words what is wrong with a head that was refused; `None` if nothing is. For logs and people, not for speed.
///
/// ```
/// use thrum_parse::http::{HeadLimits, explain_head};
///
/// let explanation = explain_head(b"GET / HTTP/1.1\r\nHost : a\r\n\r\n", HeadLimits::default());
/// assert_eq!(
///     explanation.unwrap().to_string(),
///     "2:5: expected ':', found ' '\n  Host : a\n      ^"
/// );
/// ```
pub fn explain_head(buffer: &[u8], limits: HeadLimits) -> Option<Explanation> {
    fn head(limits: HeadLimits) -> impl Fn(&mut In<'_>) -> Parsed<()> {
        move |i| grammar::request_head(i, &limits, &mut false, &mut RequestHead::new())
    }
    explain(head(limits), buffer)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::input::{AHEAD, EXAMINED};

    const BROWSER: &[u8] = b"GET /search?q=thrum HTTP/1.1\r\nHost: www.example.org\r\n\
        User-Agent: Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0\r\n\
        Accept: text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8\r\n\
        Accept-Encoding: gzip, deflate, br, zstd\r\nConnection: keep-alive\r\n\r\n";

    /// How many bytes are examined when the input grows to each of `ends` in turn. The grammar looks ahead for the name of
    /// each field, whether the input comes whole or in pieces; that is not what is counted here.
    fn examined(bytes: &[u8], ends: impl IntoIterator<Item = usize>) -> usize {
        let (mut parser, mut head) = (HeadParser::new(HeadLimits::default()), RequestHead::new());
        EXAMINED.set(0);
        AHEAD.set(0);
        for end in ends {
            if parser.parse(&bytes[..end], false, &mut head) != Ok(Status::Partial) {
                break;
            }
        }
        // With the names it is three times at most, for lines that are nothing but names.
        assert!(EXAMINED.get() <= 3 * bytes.len() + 1);
        EXAMINED.get() - AHEAD.get()
    }

    #[test]
    fn whole_input_is_examined_once() {
        assert_eq!(examined(BROWSER, [BROWSER.len()]), BROWSER.len());
    }

    #[test]
    fn input_byte_by_byte_is_examined_twice() {
        let examined = examined(BROWSER, 1..=BROWSER.len());
        assert!(examined > BROWSER.len());
        assert!(
            examined * 10 <= BROWSER.len() * 21,
            "{examined} of {}",
            BROWSER.len()
        );
    }

    #[test]
    fn a_line_without_end_is_examined_twice() {
        let line = [b"GET / HTTP/1.1\r\nA: ".as_slice(), &[b'a'; 20_000]].concat();
        let examined = examined(&line, 1..=line.len());
        assert!(examined * 10 <= 16 * 1024 * 21, "{examined}");
        let target = [b"GET /".as_slice(), &[b'a'; 20_000]].concat();
        let examined = self::examined(&target, 1..=target.len());
        assert!(examined * 10 <= 8300 * 21, "{examined}");
    }

    proptest! {
        /// However the input is cut, right or wrong, and however short its lines are.
        #[test]
        fn any_input_in_any_pieces_is_examined_twice(
            lines in prop::collection::vec("[a-cA: \t]{0,6}(\r\n){1,2}", 0..20),
            mut ends in prop::collection::vec(any::<prop::sample::Index>(), 0..40),
        ) {
            let bytes = ["GET / HTTP/1.1\r\n", &lines.concat()].concat().into_bytes();
            ends.sort_by_key(|end| end.index(bytes.len()));
            let ends = ends.iter().map(|end| end.index(bytes.len())).chain([bytes.len()]);
            let examined = examined(&bytes, ends);
            prop_assert!(examined * 10 <= bytes.len() * 21, "{} of {}", examined, bytes.len());
        }
    }
}
