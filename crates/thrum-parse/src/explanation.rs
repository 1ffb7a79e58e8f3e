//! Saying what is wrong, in words, to people.
//!
//! A parser that runs for its value keeps no notes: it would pay for them with every byte. When a person wants to know,
//! the parser runs once more over the same input and the notes are taken then. They belong to the thread and not to the
//! run, so that they need no lifetime: any parser can be explained, whatever it borrows.
//!
//! What is reported is the furthest place that any alternative came to, since that is where the author of the input
//! went astray; unless the failure has a reason of its own, which has its own place.

use std::cell::RefCell;
use std::{fmt, mem, str};

use crate::stop::{Need, Reason, Stop};
use crate::{ByteSet, In, Parser};

/// How many bytes of a line are shown on either side of the byte at fault.
const SHOWN: usize = 40;

/// Something that a parser would have taken.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum Expected {
    /// This byte.
    Byte(u8),
    /// One of these bytes.
    OneOf(&'static ByteSet),
    /// A byte that is none of these.
    NoneOf(&'static ByteSet),
    /// These bytes.
    Tag(&'static [u8]),
    /// This character.
    Char(char),
    /// This text.
    String(&'static str),
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
#[non_exhaustive]
pub struct Explanation {
    /// What the parser answered.
    pub stop: Stop,
    /// Offset of the byte at fault: behind that of `stop` where an alternative that was given up came further.
    pub at: usize,
    /// Its line, from 1.
    pub line: usize,
    /// Its column in characters, from 1. A byte that is no UTF-8 counts as a character.
    pub column: usize,
    /// What kind of fault it is. [`Reason::EndOfInput`] if only more input is missing.
    pub reason: Reason,
    /// What the parser waits for, if nothing is wrong and only more input is missing.
    pub need: Option<Need>,
    /// What would have been taken there.
    pub expected: Vec<Expected>,
    /// The [contexts](Parser::context) that were open, the innermost first.
    pub inside: Vec<&'static str>,
    /// The character there, as it is shown. `None` at the end.
    found: Option<String>,
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
pub fn explain<'a>(parser: impl Parser<'a>, input: &'a [u8]) -> Option<Explanation> {
    explained(&parser, In::whole(input)).err().map(|why| *why)
}

/// Like [`explain`], for input of which more may come: if it is right as far as it goes, what would be needed is said.
///
/// ```
/// use thrum_parse::{Parser, byte, decimal, explain_partial};
///
/// let clock = (decimal::<u8>(), byte(b':'), decimal::<u8>()).context("a time");
/// assert_eq!(
///     explain_partial(clock, b"12").unwrap().to_string(),
///     "1:3: expected [0-9] in a time, which has yet to come\n  12\n    ^"
/// );
/// ```
pub fn explain_partial<'a>(parser: impl Parser<'a>, input: &'a [u8]) -> Option<Explanation> {
    explained(&parser, In::partial(input)).err().map(|why| *why)
}

/// Runs `parser` with notes taken. Gives the value and what is behind it, or says why there is none: in terms of the whole
/// buffer, wherever in it the input starts.
pub(crate) fn explained<'a, P: Parser<'a>>(
    parser: &P,
    input: In<'a>,
) -> Result<(P::Output, &'a [u8]), Box<Explanation>> {
    let notes = TakingNotes::begin();
    let mut i = input.noting(&NOTES);
    match parser.parse(&mut i) {
        Ok(value) => Ok((value, i.rest())),
        Err(stop) => Err(Box::new(Explanation::new(i.buffer(), stop, notes.done()))),
    }
}

/// What [`In::inside`] is told in place of a context when an alternative is given up.
pub(crate) const GIVEN_UP: &str = "";

thread_local! {
    /// What was noted of the run that is being explained on this thread.
    static NOTED: RefCell<Option<Noted>> = const { RefCell::new(None) };
}

/// Where an input puts its notes.
pub(crate) struct Notes(());

static NOTES: Notes = Notes(());

#[derive(Default)]
struct Noted {
    /// The furthest place at which something was expected, and what.
    furthest: usize,
    expected: Vec<Expected>,
    /// The contexts that the failure went through which was at the furthest place.
    furthest_inside: Vec<&'static str>,
    /// The contexts that the last failure went through, and where that was.
    inside: Vec<&'static str>,
    at: Option<usize>,
}

impl Notes {
    #[cold]
    pub(crate) fn expected(&self, position: usize, what: Expected) {
        note(|noted| {
            if position > noted.furthest {
                noted.furthest = position;
                noted.expected.clear();
                noted.furthest_inside.clear();
            }
            if position == noted.furthest && !noted.expected.contains(&what) {
                noted.expected.push(what);
            }
        });
    }

    #[cold]
    pub(crate) fn count(&self, position: usize) -> usize {
        let here = |noted: &Noted| noted.furthest == position;
        let count = |noted: &Noted| here(noted).then_some(noted.expected.len());
        NOTED.with_borrow(|noted| noted.as_ref().and_then(count).unwrap_or(0))
    }

    #[cold]
    pub(crate) fn label(&self, position: usize, keep: usize, what: &'static str) {
        note(|noted| {
            if noted.furthest == position {
                noted.expected.truncate(keep);
            }
        });
        self.expected(position, Expected::Text(what));
    }

    #[cold]
    pub(crate) fn inside(&self, what: &'static str, _start: usize, stop: Stop) {
        note(|noted| {
            // Contexts close from the inside out; those of another failure belong to an alternative given up.
            if what == GIVEN_UP || noted.at != stop.at() {
                noted.inside.clear();
            }
            noted.at = stop.at();
            if what != GIVEN_UP {
                noted.inside.push(what);
                if noted.at == Some(noted.furthest) {
                    noted.furthest_inside.clone_from(&noted.inside);
                }
            }
        });
    }
}

fn note(what: impl FnOnce(&mut Noted)) {
    NOTED.with_borrow_mut(|noted| noted.as_mut().map(what));
}

/// Notes are taken on this thread; when it ends, those of the run around this one, if any.
struct TakingNotes(Option<Noted>);

impl TakingNotes {
    fn begin() -> Self {
        TakingNotes(NOTED.replace(Some(Noted::default())))
    }

    fn done(self) -> Noted {
        NOTED.take().unwrap_or_default()
    }
}

impl Drop for TakingNotes {
    fn drop(&mut self) {
        NOTED.set(mem::take(&mut self.0));
    }
}

impl Explanation {
    fn new(input: &[u8], stop: Stop, noted: Noted) -> Self {
        let stopped_at = stop.at().unwrap_or(input.len()).min(input.len());
        let (mut at, mut reason) = (stopped_at, stop.reason().unwrap_or(Reason::EndOfInput));
        let mut inside = if noted.at == stop.at() {
            noted.inside
        } else {
            Vec::new()
        };
        let general = matches!(reason, Reason::Unexpected | Reason::EndOfInput);
        if general && matches!(stop, Stop::Fail { .. }) && noted.furthest > at {
            at = noted.furthest.min(input.len());
            inside = noted.furthest_inside;
            reason = if at == input.len() {
                Reason::EndOfInput
            } else {
                Reason::Unexpected
            };
        }
        let before = &input[..at];
        let line_start = before.iter().rposition(|&byte| byte == b'\n');
        let line_start = line_start.map_or(0, |lf| lf + 1);
        let (excerpt, caret) = excerpt(input, line_start, at);
        Explanation {
            stop,
            at,
            line: 1 + before.iter().filter(|&&byte| byte == b'\n').count(),
            column: 1 + characters(&input[line_start..at]).count(),
            reason,
            need: match stop {
                Stop::Need(need) => Some(need),
                _ => None,
            },
            expected: if noted.furthest == at {
                noted.expected
            } else {
                Vec::new()
            },
            inside,
            // What ends may be a part of the input.
            found: characters(&input[at..input.len().min(at + 4)])
                .next()
                .filter(|_| reason != Reason::EndOfInput)
                .map(|found| found.to_string()),
            excerpt,
            caret,
        }
    }
}

/// The line around `at`, as it is shown, and in which column of it the caret belongs.
fn excerpt(input: &[u8], line_start: usize, at: usize) -> (String, usize) {
    let rest = &input[at..];
    let line_end = at + rest.iter().position(|&b| b == b'\n').unwrap_or(rest.len());
    // A character that would be shown in part is not shown.
    let within = |position: usize| matches!(input.get(position), Some(0x80..=0xbf));
    let mut start = at.saturating_sub(SHOWN);
    if start <= line_start {
        start = line_start;
    } else {
        start += (start..at.min(start + 3))
            .take_while(|&p| within(p))
            .count();
    }
    let mut end = at + SHOWN;
    if end >= line_end {
        end = line_end;
    } else {
        end -= (end - 2..=end).rev().take_while(|&p| within(p)).count();
    }
    let mut shown = String::new();
    let mut caret = 0;
    for character in characters(&input[start..at]) {
        shown += &character.to_string();
        caret += character.width();
    }
    for character in characters(input[at..end].trim_ascii_end()) {
        shown += &character.to_string();
    }
    (shown, caret)
}

/// A character of text, or a byte that is none.
enum Character {
    Char(char),
    Byte(u8),
}

fn characters(bytes: &[u8]) -> impl Iterator<Item = Character> {
    bytes.utf8_chunks().flat_map(|chunk| {
        let text = chunk.valid().chars().map(Character::Char);
        text.chain(chunk.invalid().iter().copied().map(Character::Byte))
    })
}

impl Character {
    /// How many columns it takes when it is shown: two for the wide characters of East Asia and for pictures.
    fn width(&self) -> usize {
        match self {
            Character::Char(
                '\u{1100}'..='\u{115f}'
                | '\u{2e80}'..='\u{303e}'
                | '\u{3041}'..='\u{a4cf}'
                | '\u{ac00}'..='\u{d7a3}'
                | '\u{f900}'..='\u{faff}'
                | '\u{fe30}'..='\u{fe6f}'
                | '\u{ff00}'..='\u{ff60}'
                | '\u{ffe0}'..='\u{ffe6}'
                | '\u{1f300}'..='\u{1f64f}'
                | '\u{1f900}'..='\u{1f9ff}'
                | '\u{20000}'..='\u{3fffd}',
            ) => 2,
            shown => shown.to_string().chars().count(),
        }
    }
}

/// Text is text. Control characters, and those that change the text around them, are escaped.
impl fmt::Display for Character {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        use fmt::Write;
        match self {
            Character::Char(plain @ ('\'' | '"' | '\\')) => f.write_char(*plain),
            Character::Char(char) => char.escape_debug().fmt(f),
            Character::Byte(byte) => byte.escape_ascii().fmt(f),
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
            _ if !self.expected.is_empty() => {
                f.write_str("expected ")?;
                for (n, expected) in self.expected.iter().enumerate() {
                    f.write_str(if n == 0 { "" } else { " or " })?;
                    expected.fmt(f)?;
                }
            }
            _ if self.need.is_some() => f.write_str("expected more")?,
            _ => f.write_str("this does not belong here")?,
        }
        let mut last = "";
        for inside in &self.inside {
            // What is nested in its own kind says so once.
            if *inside != last {
                write!(f, " in {inside}")?;
            }
            last = inside;
        }
        match &self.found {
            Some(found) => write!(f, ", found '{found}'")?,
            None if self.need.is_some() => f.write_str(", which has yet to come")?,
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

impl std::error::Error for Explanation {}

impl PartialEq for Expected {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Expected::Byte(a), Expected::Byte(b)) => a == b,
            (Expected::OneOf(a), Expected::OneOf(b))
            | (Expected::NoneOf(a), Expected::NoneOf(b)) => a.table == b.table,
            (Expected::Tag(a), Expected::Tag(b)) => a == b,
            (Expected::Char(a), Expected::Char(b)) => a == b,
            (Expected::String(a), Expected::String(b)) | (Expected::Text(a), Expected::Text(b)) => {
                a == b
            }
            _ => false,
        }
    }
}

impl fmt::Display for Expected {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Expected::Byte(byte) => write!(f, "'{}'", byte.escape_ascii()),
            Expected::OneOf(set) => match set.single() {
                Some(byte) => Expected::Byte(byte).fmt(f),
                None => set.fmt(f),
            },
            Expected::NoneOf(set) => write!(f, "none of {set}"),
            Expected::Tag(text) => write!(f, "\"{}\"", text.escape_ascii()),
            Expected::Char(char) => write!(f, "'{}'", Character::Char(*char)),
            Expected::String(text) => write!(f, "{text:?}"),
            Expected::Text(text) => f.write_str(text),
        }
    }
}
