//! Header and trailer fields.

use super::head::LineEnd;
use super::{HeadError, Status, grammar};
use crate::{Resume, Span};

/// A field line: where its name and its value are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Field {
    /// The name, in the case it was sent in. It is a token.
    pub name: Span,
    /// The value without the space around it, possibly empty.
    pub value: Span,
}

/// Reads the trailer section after the last chunk of a body: field lines and an empty line, by the same grammar as a
/// head's. It is restarted like a [`HeadParser`](super::HeadParser). There may be no field lines: then the section is
/// just CR LF.
///
/// ```
/// use thrum_parse::http::{Status, TrailerParser};
///
/// let (mut parser, mut fields) = (TrailerParser::new(1024, 10), Vec::new());
/// assert_eq!(parser.parse(b"Digest: x\r\n", &mut fields), Ok(Status::Partial));
/// let status = parser.parse(b"Digest: x\r\n\r\n", &mut fields);
/// assert_eq!(status, Ok(Status::Complete { consumed: 13 }));
/// assert_eq!(fields.len(), 1);
/// ```
#[derive(Clone, Copy, Debug)]
pub struct TrailerParser {
    section_bytes: usize,
    fields: usize,
    resume: Resume,
    started: bool,
}

impl TrailerParser {
    /// At most `section_bytes`, the empty line included, and at most `fields`.
    pub fn new(section_bytes: usize, fields: usize) -> Self {
        TrailerParser {
            section_bytes,
            fields,
            resume: Resume::new().until(b'\n'),
            started: false,
        }
    }

    /// Reads the section that starts where `buffer` does into `fields`, dropping what was in there before. After
    /// [`Status::Partial`], call it again with more bytes behind these and the same `fields`.
    ///
    /// # Errors
    /// What is wrong with the section: any [`HeadError`] about fields.
    pub fn parse(&mut self, buffer: &[u8], fields: &mut Vec<Field>) -> Result<Status, HeadError> {
        if !self.started {
            fields.clear();
        }
        let most = self.fields;
        let grammar = |i: &mut _| grammar::field_lines(i, most, fields);
        let parsed = self
            .resume
            .parse(buffer, false, self.section_bytes, grammar);
        self.started = matches!(parsed, Ok(None));
        match parsed {
            Ok(Some(((), consumed))) => Ok(Status::Complete { consumed }),
            Ok(None) => Ok(Status::Partial),
            Err(stop) => Err(HeadError::from_stop(stop, buffer, LineEnd::CrLf)),
        }
    }
}
