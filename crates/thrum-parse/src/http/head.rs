//! Reading the head of a message, of whatever kind, from a buffer that grows.

use super::HeadError;
use crate::{Explanation, In, Level, Parsed, Resume, explain};

/// How large a head may be. Whatever is larger is refused as soon as that is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HeadLimits {
    /// Bytes, the empty line at the end and one before a request line included. Default: 16 KiB.
    pub head_bytes: usize,
    /// Field lines. Default: 100.
    pub fields: usize,
    /// Bytes of a request's target. Default: 8 KiB.
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

/// What a [`HeadParser`] reads: a [`RequestHead`](super::RequestHead), a [`ResponseHead`](super::ResponseHead) or a
/// [`CgiHead`](super::CgiHead). There are no others.
pub trait Head: Grammar {}

/// Reads heads from a buffer that grows, of whichever kind of [`Head`] it is given.
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
    resume: Resume,
    /// A head has been started on; the one given is to be kept.
    started: bool,
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
            resume: Resume::at_level(level).until(b'\n'),
            started: false,
        }
    }

    /// Reads the head that starts where `buffer` does into `head`. `eof` says that the buffer will not grow.
    ///
    /// After [`Status::Partial`], call it again with the same bytes, more bytes behind them, and the same `head`. After
    /// anything else it starts on another head, of any kind; what is in `head` then is forgotten at that time. One empty
    /// line before a request line is skipped; it is part of what is consumed.
    ///
    /// # Errors
    /// What is wrong with the head. It is the same however the input was cut into pieces; in small pieces it may be
    /// reported later, at the end of its line. Then the connection can't be read any further.
    pub fn parse<H: Head>(
        &mut self,
        buffer: &[u8],
        eof: bool,
        head: &mut H,
    ) -> Result<Status, HeadError> {
        if !self.started {
            head.clear();
            let longest = H::most_start_line_bytes(&self.limits);
            self.resume.refuse_steps_over(longest);
        } else if self.resume.committed() > 0 {
            self.resume.refuse_steps_over(usize::MAX);
        }
        let limits = &self.limits;
        let parsed = self.resume.parse(
            buffer,
            eof,
            limits.head_bytes,
            #[inline(always)]
            |i| message_head(i, limits, head),
        );
        self.started = matches!(parsed, Ok(None));
        match parsed {
            Ok(Some(((), consumed))) => Ok(Status::Complete { consumed }),
            Ok(None) => Ok(Status::Partial),
            Err(stop) => Err(HeadError::from_stop(stop, buffer, H::LINE_END)),
        }
    }
}

/// Says in words what is wrong with a head that was refused; `None` if nothing is. For logs and people, not for speed.
///
/// ```
/// use thrum_parse::http::{HeadLimits, RequestHead, explain_head};
///
/// let buffer = b"GET / HTTP/1.1\r\nHost : a\r\n\r\n";
/// let explanation = explain_head::<RequestHead>(buffer, HeadLimits::default());
/// assert_eq!(
///     explanation.unwrap().to_string(),
///     "2:5: expected ':', found ' '\n  Host : a\n      ^"
/// );
/// ```
pub fn explain_head<H: Head>(buffer: &[u8], limits: HeadLimits) -> Option<Explanation> {
    fn head<H: Head>(limits: HeadLimits) -> impl Fn(&mut In<'_>) -> Parsed<()> {
        move |i| message_head(i, &limits, &mut H::default())
    }
    explain(head::<H>(limits), buffer)
}

/// What tells one kind of head from another. It is not exported, which is what keeps others from having it.
pub trait Grammar: Default {
    /// What ends a line.
    const LINE_END: LineEnd = LineEnd::CrLf;

    /// Forgets what was read, but not the memory that it was in.
    fn clear(&mut self);

    /// A start line that is longer is wrong, and known to be before its end has come.
    fn most_start_line_bytes(_: &HeadLimits) -> usize {
        usize::MAX
    }

    /// The line before the fields, if there is one.
    fn start_line(&mut self, i: &mut In<'_>, limits: &HeadLimits) -> Parsed<()>;

    /// The fields, each committed, and the empty line behind them.
    fn field_lines(&mut self, i: &mut In<'_>, limits: &HeadLimits) -> Parsed<()>;
}

/// What ends a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LineEnd {
    /// CR LF and nothing else.
    CrLf,
    /// LF, with CR before it or without.
    Lf,
}

/// A start line, fields, an empty line. What is done before a restart is not done again.
#[inline(always)]
fn message_head<H: Grammar>(i: &mut In<'_>, limits: &HeadLimits, head: &mut H) -> Parsed<()> {
    if i.committed() == 0 {
        head.start_line(i, limits)?;
        i.commit();
    }
    head.field_lines(i, limits)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::http::{CgiHead, RequestHead, ResponseHead};
    use crate::input::{AHEAD, EXAMINED};

    const REQUEST: &[u8] = b"GET /search?q=thrum HTTP/1.1\r\nHost: www.example.org\r\n\
        User-Agent: Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0\r\n\
        Accept: text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8\r\n\
        Accept-Encoding: gzip, deflate, br, zstd\r\nConnection: keep-alive\r\n\r\n";

    const RESPONSE: &[u8] = b"HTTP/1.1 404 Not Found\r\nDate: Sat, 21 Nov 2026 09:30:00 GMT\r\n\
        Content-Type: text/html; charset=utf-8\r\nContent-Length: 18432\r\n\r\n";

    const CGI: &[u8] = b"Content-Type: text/html\nStatus: 404 Not Found at all\r\n\
        Set-Cookie: session=0123456789abcdef; HttpOnly\n\n";

    /// How many bytes are examined when the input grows to each of `ends` in turn. The grammar looks ahead for the name of
    /// each field, whether the input comes whole or in pieces; that is not what is counted here.
    fn examined<H: Head>(bytes: &[u8], ends: impl IntoIterator<Item = usize>) -> usize {
        let (mut parser, mut head) = (HeadParser::new(HeadLimits::default()), H::default());
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
        assert_eq!(
            examined::<RequestHead>(REQUEST, [REQUEST.len()]),
            REQUEST.len()
        );
        assert_eq!(
            examined::<ResponseHead>(RESPONSE, [RESPONSE.len()]),
            RESPONSE.len()
        );
        assert_eq!(examined::<CgiHead>(CGI, [CGI.len()]), CGI.len());
    }

    /// That `bytes`, one by one, are examined twice.
    fn twice<H: Head>(bytes: &[u8]) {
        let examined = examined::<H>(bytes, 1..=bytes.len());
        let length = bytes.len().min(HeadLimits::default().head_bytes);
        assert!(examined > length);
        assert!(examined * 10 <= length * 21, "{examined} of {length}");
    }

    #[test]
    fn input_byte_by_byte_is_examined_twice() {
        twice::<RequestHead>(REQUEST);
        twice::<ResponseHead>(RESPONSE);
        twice::<CgiHead>(CGI);
    }

    #[test]
    fn a_line_without_end_is_examined_twice() {
        let endless = |start: &[u8]| [start, &[b'a'; 20_000]].concat();
        twice::<RequestHead>(&endless(b"GET / HTTP/1.1\r\nA: "));
        twice::<ResponseHead>(&endless(b"HTTP/1.1 200 OK\r\nA: "));
        twice::<ResponseHead>(&endless(b"HTTP/1.1 200 "));
        twice::<CgiHead>(&endless(b"A: "));
        twice::<CgiHead>(&endless(b"Status: 200 "));
        let target = endless(b"GET /");
        let examined = examined::<RequestHead>(&target, 1..=target.len());
        assert!(examined * 10 <= 8300 * 21, "{examined}");
    }

    /// That `bytes`, which come in pieces that end where `ends` says, are examined at most twice.
    fn at_most_twice<H: Head>(bytes: &[u8], ends: &[prop::sample::Index]) {
        let mut ends: Vec<_> = ends.iter().map(|end| end.index(bytes.len())).collect();
        ends.sort_unstable();
        ends.push(bytes.len());
        let examined = examined::<H>(bytes, ends);
        let length = bytes.len();
        assert!(examined * 10 <= length * 21, "{examined} of {length}");
    }

    proptest! {
        /// However the input is cut, right or wrong, and however short its lines are.
        #[test]
        fn any_input_in_any_pieces_is_examined_twice(
            lines in prop::collection::vec("[a-cA: \t]{0,6}(\r\n){1,2}", 0..20),
            statuses in prop::collection::vec("(Status|A):[ 1a]{0,6}\r?\n", 1..20),
            ends in prop::collection::vec(any::<prop::sample::Index>(), 0..40),
        ) {
            let lines = lines.concat();
            at_most_twice::<RequestHead>(format!("GET / HTTP/1.1\r\n{lines}").as_bytes(), &ends);
            at_most_twice::<ResponseHead>(format!("HTTP/1.1 200\r\n{lines}").as_bytes(), &ends);
            at_most_twice::<CgiHead>(statuses.concat().as_bytes(), &ends);
        }
    }
}
