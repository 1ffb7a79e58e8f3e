//! Running a grammar of lines over input that arrives in pieces.
//!
//! The grammar commits after each line. When it ends in the middle of one, it is not tried again before that line's LF
//! is there, and the search for it starts where the last one stopped. So a byte is passed over at most twice: in the
//! attempt that came too early or in the search, and in the attempt that gets past it. An error is reported when its
//! line is complete, if not before.

use crate::input::examined;
use crate::simd::{self, Level};
use crate::stop::{Parsed, Stop};
use crate::{In, Reason};

/// How far a grammar of lines has come.
#[derive(Clone, Copy, Debug)]
pub(super) struct Lines {
    level: Level,
    /// What is before this offset has been parsed.
    committed: usize,
    /// There is no LF between `committed` and this offset. Equal to it: the grammar has not been tried on this line.
    searched: usize,
}

impl Lines {
    pub(super) fn new(level: Level) -> Self {
        Lines {
            level,
            committed: 0,
            searched: 0,
        }
    }

    /// Runs the grammar where it can get further. `Ok(None)`: more input is needed; else the value, and how many bytes
    /// were parsed for it. More than `most_bytes` are [`Reason::TooLong`]; a line of more than `most_line_bytes` is
    /// tried before its LF is there, because the grammar is known to refuse it.
    #[inline(always)]
    pub(super) fn parse<'a, T>(
        &mut self,
        buffer: &'a [u8],
        eof: bool,
        most_bytes: usize,
        most_line_bytes: usize,
        grammar: impl FnOnce(&mut In<'a>) -> Parsed<T>,
    ) -> Parsed<Option<(T, usize)>> {
        let full = buffer.len() >= most_bytes;
        let window = if full { &buffer[..most_bytes] } else { buffer };
        if self.searched > self.committed
            && !eof
            && !full
            && window.len().saturating_sub(self.committed) <= most_line_bytes
            && !self.line_complete(window)
        {
            return Ok(None);
        }
        let (parsed, position, committed) = simd::run_at(
            self.level,
            #[inline(always)]
            |level| {
                let mut i = In::starting(window, self.committed, eof && !full, level);
                let parsed = grammar(&mut i);
                (parsed, i.position(), i.committed())
            },
        );
        match parsed {
            Ok(value) => {
                self.reset();
                Ok(Some((value, position)))
            }
            Err(Stop::Need(_)) if !full => {
                self.committed = committed;
                self.searched = window.len();
                Ok(None)
            }
            Err(stop) => {
                self.reset();
                Err(match stop {
                    Stop::Need(_) => Stop::Cut {
                        at: u32::try_from(most_bytes).unwrap_or(u32::MAX),
                        reason: Reason::TooLong,
                    },
                    stop => stop,
                })
            }
        }
    }

    /// Back to the start of a buffer.
    pub(super) fn reset(&mut self) {
        self.committed = 0;
        self.searched = 0;
    }

    /// Whether the line that came too early has its LF now.
    #[cold]
    fn line_complete(&mut self, window: &[u8]) -> bool {
        let new = window.get(self.searched..).unwrap_or_default();
        let found = memchr::memchr(b'\n', new);
        examined(found.map_or(new.len(), |at| at + 1));
        self.searched = self.searched.max(window.len());
        found.is_some()
    }
}
