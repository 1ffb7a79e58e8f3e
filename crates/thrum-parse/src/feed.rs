//! A buffer that is fed and parsed in turns.

use std::fmt;

use crate::explanation::explained;
use crate::{Explanation, In, Parser, Reason, Resume, Stop};

/// A buffer that grows as input comes, and shrinks as values are taken off its front.
///
/// ```
/// use thrum_parse::{Feed, Parser, byte, decimal};
///
/// let number = (decimal::<u32>(), byte(b';')).map(|(n, _)| n);
/// let mut feed = Feed::new(16);
/// feed.push(b"1;2");
/// assert_eq!(feed.next(&number).unwrap(), Some(1));
/// assert_eq!(feed.next(&number).unwrap(), None);
/// feed.push(b"3;rest");
/// assert_eq!(feed.next(&number).unwrap(), Some(23));
/// assert_eq!(feed.rest(), b"rest");
/// ```
#[derive(Clone, Debug)]
pub struct Feed {
    buffer: Vec<u8>,
    /// Where the next value starts.
    start: usize,
    /// How many bytes were in front of the buffer.
    gone: u64,
    ended: bool,
    limit: usize,
    resume: Resume,
}

impl Feed {
    /// For values of at most `limit` bytes, those included that show where a value ends. What is pushed beyond that is
    /// held as well, so take the values off before pushing more.
    pub fn new(limit: usize) -> Self {
        Feed {
            buffer: Vec::new(),
            start: 0,
            gone: 0,
            ended: false,
            limit,
            resume: Resume::new(),
        }
    }

    /// For values that all end with the byte `end`: see [`Resume::until`].
    pub fn until(mut self, end: u8) -> Self {
        self.resume = self.resume.until(end);
        self
    }

    /// Adds `bytes` to the input.
    pub fn push(&mut self, bytes: &[u8]) {
        // What was taken makes room, when that moves no more than it frees.
        if self.start >= self.buffer.len() - self.start {
            self.buffer.drain(..self.start);
            self.gone += self.start as u64;
            self.start = 0;
        }
        self.buffer.extend_from_slice(bytes);
    }

    /// Says that no more will come.
    pub fn end(&mut self) {
        self.ended = true;
    }

    /// The next value, if all of it is there: `None` until then, and when the input has ended and all of it was taken. The
    /// value may be made of slices of the buffer.
    ///
    /// # Errors
    /// What is wrong with the input. The next call would meet the same.
    pub fn next<P>(&mut self, parser: &P) -> Result<Option<<P as Parser<'_>>::Output>, Fault>
    where
        P: for<'a> Parser<'a>,
    {
        let rest = &self.buffer[self.start..];
        if rest.is_empty() {
            return Ok(None);
        }
        match self.resume.value(rest, self.ended, self.limit, parser) {
            Ok(Some((value, consumed))) => {
                self.start += consumed;
                Ok(Some(value))
            }
            Ok(None) => Ok(None),
            Err(stop) => {
                let start = self.gone + self.start as u64;
                Err(Fault::new(
                    start,
                    stop,
                    explained(parser, In::whole(rest)).err(),
                ))
            }
        }
    }

    /// What is left over: the bytes behind the last value.
    pub fn rest(&self) -> &[u8] {
        &self.buffer[self.start..]
    }

    /// Takes `count` bytes off the front, or all there are: what the values announce and no parser is to see.
    pub fn skip(&mut self, count: usize) {
        self.start += count.min(self.rest().len());
        self.resume.restart();
    }

    /// How many bytes of the input are behind.
    pub fn position(&self) -> u64 {
        self.gone + self.start as u64
    }
}

/// What is wrong with input that came in pieces.
#[derive(Clone, Debug)]
pub struct Fault {
    /// Offset of the byte at fault, from the start of all input.
    pub offset: u64,
    /// What kind of fault it is.
    pub reason: Reason,
    /// The same in words; lines and columns count from the start of the value. What it points at may be behind `offset`:
    /// see [`Explanation::at`]. `None` when the value is too long for the buffer, or takes no bytes.
    pub explanation: Option<Box<Explanation>>,
}

impl Fault {
    /// What stopped the value that began at `start`, and what was said when it was parsed once more.
    fn new(start: u64, stop: Stop, said: Option<Box<Explanation>>) -> Self {
        Fault {
            offset: start + stop.at().unwrap_or(0) as u64,
            reason: stop.reason().unwrap_or(Reason::EndOfInput),
            // Else it was the limit, or that the value took nothing, of which the parser knows nothing.
            explanation: said.filter(|said| said.stop == stop),
        }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.explanation {
            Some(explanation) => write!(f, "byte {}: {explanation}", self.offset),
            None if self.reason == Reason::TooLong => {
                write!(f, "byte {}: no end within the limit", self.offset)
            }
            None => write!(f, "byte {}: nothing of this is a value", self.offset),
        }
    }
}

impl std::error::Error for Fault {}
