//! What a parser reads, and what it answers.

use std::fmt;

use crate::scan::Level;

/// A cursor over bytes that are all there is so far.
///
/// Whether more may come is a property of the input, not of the parsers: at the end of an input that is not
/// [`complete`](Self::complete) they answer [`Stop::Need`], at the end of a complete one they fail.
#[derive(Clone, Copy)]
pub struct Input<'a, L> {
    bytes: &'a [u8],
    at: usize,
    complete: bool,
    level: L,
}

/// What a parser answers: a value, or why there is none.
pub type Parsed<T, E = Expected> = Result<T, Stop<E>>;

/// Why a parser stopped without a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stop<E> {
    /// The input ended too early, and more may come: at least so many bytes.
    Need(u32),
    /// The input is something else. An alternative may still match.
    Fail(E),
    /// The input is wrong, whatever the alternatives.
    Cut(E),
}

/// What was expected, and where.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Expected {
    /// Offset from the start of the input, in bytes.
    pub at: u32,
    /// What would have been right there.
    pub what: What,
}

/// What a parser looks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum What {
    /// This byte.
    Byte(u8),
    /// A byte of a set.
    OneOfASet,
    /// A fixed text.
    Text,
    /// A number that fits its type.
    Number,
    /// The end of the input.
    End,
    /// Fewer of them.
    Fewer,
}

/// Where a token is: offsets from the start of the input. Unlike a slice it stays right when the buffer moves.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Span {
    /// The first byte.
    pub start: u32,
    /// The byte after the last.
    pub end: u32,
}

impl Span {
    /// The bytes of it in `buffer`.
    ///
    /// # Panics
    /// If the buffer is shorter than the one that was parsed.
    #[inline]
    pub fn of(self, buffer: &[u8]) -> &[u8] {
        &buffer[self.start as usize..self.end as usize]
    }

    /// Its length in bytes.
    pub fn len(self) -> usize {
        (self.end - self.start) as usize
    }

    /// Whether it has no bytes.
    pub fn is_empty(self) -> bool {
        self.start == self.end
    }
}

impl<'a, L: Level> Input<'a, L> {
    /// An input that more may follow.
    ///
    /// # Panics
    /// If it is longer than 4 GiB: spans are 32 bits wide.
    #[inline(always)]
    pub fn partial(level: L, bytes: &'a [u8]) -> Self {
        assert!(
            bytes.len() <= u32::MAX as usize,
            "an input is at most 4 GiB long"
        );
        Self {
            bytes,
            at: 0,
            complete: false,
            level,
        }
    }

    /// An input that nothing follows.
    ///
    /// # Panics
    /// If it is longer than 4 GiB.
    #[inline(always)]
    pub fn complete(level: L, bytes: &'a [u8]) -> Self {
        Self {
            complete: true,
            ..Self::partial(level, bytes)
        }
    }

    /// How many bytes have been parsed.
    #[inline(always)]
    pub fn consumed(&self) -> usize {
        self.at
    }

    /// The bytes that have not.
    #[inline(always)]
    pub fn rest(&self) -> &'a [u8] {
        &self.bytes[self.at..]
    }

    /// The next byte, if it is there.
    #[inline(always)]
    pub fn first(&self) -> Option<u8> {
        self.bytes.get(self.at).copied()
    }

    /// The instruction set to scan with.
    #[inline(always)]
    pub fn level(&self) -> L {
        self.level
    }

    /// Goes on by `count` bytes that are there.
    #[inline(always)]
    pub fn advance(&mut self, count: usize) {
        debug_assert!(count <= self.bytes.len() - self.at);
        self.at += count;
    }

    /// Goes back to an earlier position.
    #[inline(always)]
    pub fn go_back(&mut self, consumed: usize) {
        debug_assert!(consumed <= self.at);
        self.at = consumed;
    }

    /// The span from an earlier position to here.
    #[inline(always)]
    pub fn since(&self, consumed: usize) -> Span {
        Span {
            start: consumed as u32,
            end: self.at as u32,
        }
    }

    /// A failure at this position.
    #[inline(always)]
    pub fn fail<T>(&self, what: What) -> Parsed<T> {
        Err(Stop::Fail(Expected {
            at: self.at as u32,
            what,
        }))
    }

    /// What a parser answers that wants `count` bytes more than there are.
    #[inline(always)]
    pub fn too_short<T>(&self, count: usize, what: What) -> Parsed<T> {
        if self.complete {
            self.fail(what)
        } else {
            Err(Stop::Need(count as u32))
        }
    }
}

impl<E> Stop<E> {
    /// Changes the error and leaves the rest.
    #[inline(always)]
    pub fn map<F>(self, f: impl FnOnce(E) -> F) -> Stop<F> {
        match self {
            Stop::Need(count) => Stop::Need(count),
            Stop::Fail(error) => Stop::Fail(f(error)),
            Stop::Cut(error) => Stop::Cut(f(error)),
        }
    }
}

impl fmt::Display for What {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            What::Byte(byte) => write!(f, "`{}`", byte.escape_ascii()),
            What::OneOfASet => f.write_str("another byte"),
            What::Text => f.write_str("other text"),
            What::Number => f.write_str("a number that fits"),
            What::End => f.write_str("the end"),
            What::Fewer => f.write_str("fewer of these"),
        }
    }
}

impl fmt::Display for Expected {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "expected {} at byte {}", self.what, self.at)
    }
}

impl std::error::Error for Expected {}
