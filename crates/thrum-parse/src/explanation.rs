//! Saying what is wrong, in words, to people.
//!
//! A parser that runs for its value keeps no notes: it would pay for them with every byte. When a person wants to know,
//! the parser runs once more over the same input and the notes are taken then.

use std::cell::RefCell;
use std::fmt;

use crate::stop::{Reason, Stop};
use crate::{ByteSet, In, Parser};

/// How much of a line is shown on either side of the byte at fault.
const SHOWN: usize = 40;

/// Something that a parser would have taken.
#[derive(Clone, Copy, Debug)]
pub enum Expected {
    /// This byte.
    Byte(u8),
    /// One of these bytes.
    OneOf(&'static ByteSet),
    /// These bytes.
    Tag(&'static [u8]),
    /// What the text says.
    Text(&'static str),
}

/// What is wrong with an input: where, what was expected there, and inside what. Shown with the line and a caret.
///
/// ```
/// use thrum_parse::{Parser, byte, decimal, explain};
///
/// let clock = (decimal::<u8>(), byte(b':'), decimal::<u8>()).context("a time");
/// let explanation = explain(clock, b"12.30").unwrap();
/// assert_eq!(
///     explanation.to_string(),
///     "1:3: expected ':' in a time, found '.'\n  12.30\n    ^"
/// );
/// ```
#[derive(Clone, Debug)]
pub struct Explanation {
    /// Offset of the byte at fault.
    pub at: usize,
    /// Its line, from 1.
    pub line: usize,
    /// Its column in bytes, from 1.
    pub column: usize,
    /// What kind of fault it is.
    pub reason: Reason,
    /// What would have been taken there.
    pub expected: Vec<Expected>,
    /// The [contexts](Parser::context) that were open, the innermost first.
    pub inside: Vec<&'static str>,
    found: Option<u8>,
    excerpt: String,
    caret: usize,
}

/// Runs `parser` over this whole input, to say what is wrong with it. `None` if nothing is.
///
/// ```
/// use thrum_parse::{byte, explain};
///
/// assert!(explain(byte(b'x'), b"x").is_none());
/// assert_eq!(explain(byte(b'x'), b"y").unwrap().at, 0);
/// ```
pub fn explain(parser: impl for<'a> Parser<'a>, input: &[u8]) -> Option<Explanation> {
    explain_by(&parser, input)
}

/// [`explain`] with a parser that stays.
pub(crate) fn explain_by<P>(parser: &P, input: &[u8]) -> Option<Explanation>
where
    P: for<'a> Parser<'a>,
{
    let notes = Notes::default();
    let stop = parser.parse(&mut In::whole(input).noting(&notes)).err()?;
    Some(Explanation::new(input, stop, notes.0.into_inner()))
}

/// The notes of one run.
#[derive(Default)]
pub(crate) struct Notes(RefCell<Noted>);

#[derive(Default)]
struct Noted {
    /// The furthest place at which something was expected, and what.
    furthest: usize,
    expected: Vec<Expected>,
    /// The contexts that failed last, and where they began.
    inside: Vec<(usize, &'static str)>,
    stop: Option<Stop>,
}

impl Notes {
    #[cold]
    pub(crate) fn expected(&self, position: usize, what: Expected) {
        let mut noted = self.0.borrow_mut();
        if position > noted.furthest {
            noted.furthest = position;
            noted.expected.clear();
        }
        if position == noted.furthest {
            noted.expected.push(what);
        }
    }

    #[cold]
    pub(crate) fn inside(&self, what: &'static str, start: usize, stop: Stop) {
        let mut noted = self.0.borrow_mut();
        // Contexts close from the inside out; a context of another failure belongs to an alternative given up.
        if noted.stop.and_then(Stop::at) != stop.at() {
            noted.inside.clear();
        }
        noted.stop = Some(stop);
        noted.inside.push((start, what));
    }
}

impl Explanation {
    fn new(input: &[u8], stop: Stop, noted: Noted) -> Self {
        let at = stop.at().unwrap_or(input.len()).min(input.len());
        let start = input[..at]
            .iter()
            .rposition(|&byte| byte == b'\n')
            .map_or(0, |lf| lf + 1);
        let rest = &input[at..];
        let end = at
            + rest
                .iter()
                .position(|&byte| byte == b'\n')
                .unwrap_or(rest.len());
        let shown = start.max(at.saturating_sub(SHOWN))..end.min(at + SHOWN);
        let printable = |bytes: &[u8]| bytes.trim_ascii_end().escape_ascii().to_string();
        let before = input[shown.start..at].escape_ascii().to_string();
        Explanation {
            at,
            line: 1 + input[..at].iter().filter(|&&byte| byte == b'\n').count(),
            column: 1 + at - start,
            reason: stop.reason().unwrap_or(Reason::EndOfInput),
            expected: if noted.furthest == at {
                noted.expected
            } else {
                Vec::new()
            },
            inside: if noted.stop.and_then(Stop::at) == stop.at() {
                noted.inside.into_iter().map(|(_, what)| what).collect()
            } else {
                Vec::new()
            },
            found: input.get(at).copied(),
            excerpt: before.clone() + &printable(&input[at..shown.end.max(at)]),
            caret: before.len(),
        }
    }
}

impl fmt::Display for Explanation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: ", self.line, self.column)?;
        match self.reason {
            Reason::Overflow => f.write_str("a number is too large")?,
            Reason::TooLong => f.write_str("this is longer than allowed")?,
            Reason::Rejected => f.write_str("this value is not allowed")?,
            _ if self.expected.is_empty() => f.write_str("this does not belong here")?,
            _ => {
                f.write_str("expected ")?;
                for (n, expected) in self.expected.iter().enumerate() {
                    f.write_str(if n == 0 { "" } else { " or " })?;
                    expected.fmt(f)?;
                }
            }
        }
        for inside in &self.inside {
            write!(f, " in {inside}")?;
        }
        match self.found {
            Some(byte) => write!(f, ", found '{}'", byte.escape_ascii())?,
            None => f.write_str(", found the end")?,
        }
        write!(
            f,
            "\n  {}\n  {:caret$}^",
            self.excerpt,
            "",
            caret = self.caret
        )
    }
}

impl fmt::Display for Expected {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Expected::Byte(byte) => write!(f, "'{}'", byte.escape_ascii()),
            Expected::OneOf(set) => set.fmt(f),
            Expected::Tag(text) => write!(f, "\"{}\"", text.escape_ascii()),
            Expected::Text(text) => f.write_str(text),
        }
    }
}
