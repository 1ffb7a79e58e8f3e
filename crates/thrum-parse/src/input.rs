//! The input and the place in it.

use crate::ByteSet;
use crate::explanation::{Expected, Notes};
use crate::simd::{self, Level};
use crate::stop::{Need, Reason, Stop};

/// The input: one contiguous buffer, a place in it, and whether more may come.
///
/// ```
/// use thrum_parse::{In, Parser, tag};
///
/// let mut i = In::partial(b"PING\r\n");
/// assert_eq!(tag(b"PING").parse(&mut i), Ok(&b"PING"[..]));
/// assert_eq!((i.position(), i.rest()), (4, &b"\r\n"[..]));
/// ```
#[derive(Clone)]
pub struct In<'a> {
    buffer: &'a [u8],
    position: usize,
    committed: usize,
    whole: bool,
    level: Level,
    /// What the run is made of that the end of the buffer cut short.
    run: Option<&'static ByteSet>,
    /// That run may fail before it ends.
    run_may_fail: bool,
    notes: Option<&'static Notes>,
}

/// A range of the input, as offsets: it stays right when the buffer is moved or grows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Span {
    /// Offset of the first byte.
    pub start: u32,
    /// Offset behind the last byte.
    pub end: u32,
}

impl<'a> In<'a> {
    /// Input that is all there: its end is the end. Nothing answers [`Stop::Need`].
    pub fn whole(buffer: &'a [u8]) -> Self {
        Self::starting(buffer, 0, true, Level::best())
    }

    /// Input of which more may come.
    pub fn partial(buffer: &'a [u8]) -> Self {
        Self::starting(buffer, 0, false, Level::best())
    }

    /// Input whose first `position` bytes have been dealt with, to be scanned as `level` says: what a driver that
    /// restarts a grammar wants. A position past the end is the end.
    ///
    /// An input is 4 GiB at most, so that offsets have 32 bits: what a longer buffer has behind that is still to come.
    #[inline(always)]
    pub fn starting(buffer: &'a [u8], position: usize, whole: bool, level: Level) -> Self {
        const MOST: usize = u32::MAX as usize;
        let seen = if buffer.len() > MOST {
            &buffer[..MOST]
        } else {
            buffer
        };
        let position = position.min(seen.len());
        In {
            buffer: seen,
            position,
            committed: position,
            whole: whole && seen.len() == buffer.len(),
            level,
            run: None,
            run_may_fail: false,
            notes: None,
        }
    }

    /// Rules out going back behind this place: an alternative that would is not tried, the input is wrong instead. When
    /// more input is needed, the parse may start again here, and what lies before may be released.
    ///
    /// ```
    /// use thrum_parse::{In, Parsed, Parser, Stop, byte, choice, tag};
    ///
    /// fn put(i: &mut In<'_>) -> Parsed<()> {
    ///     tag(b"PUT ").parse(i)?;
    ///     i.commit(); // it is a PUT, so what follows is a PUT's
    ///     byte(b'/').parse(i)?;
    ///     Ok(())
    /// }
    ///
    /// let mut i = In::whole(b"PUT x");
    /// let stop = choice((put, tag(b"PUT x").value(()))).parse(&mut i).unwrap_err();
    /// assert!(matches!(stop, Stop::Cut { at: 4, .. }));
    /// ```
    #[inline(always)]
    pub fn commit(&mut self) {
        self.committed = self.position;
    }

    /// Where [`commit`](In::commit) was last called; else where the parse started.
    #[inline(always)]
    pub fn committed(&self) -> usize {
        self.committed
    }

    /// How many bytes are behind.
    #[inline(always)]
    pub fn position(&self) -> usize {
        self.position
    }

    /// The bytes that are still ahead.
    #[inline(always)]
    pub fn rest(&self) -> &'a [u8] {
        self.buffer.get(self.position..).unwrap_or_default()
    }

    /// The whole buffer, what is behind included.
    #[inline(always)]
    pub fn buffer(&self) -> &'a [u8] {
        self.buffer
    }

    /// Whether the end of the buffer is the end of the input.
    #[inline(always)]
    pub fn is_whole(&self) -> bool {
        self.whole
    }

    /// The next byte, if the buffer has it.
    #[inline(always)]
    pub fn next_byte(&self) -> Option<u8> {
        self.buffer.get(self.position).copied()
    }

    /// The next `N` bytes, if the buffer has them.
    #[inline(always)]
    pub fn next_bytes<const N: usize>(&self) -> Option<&'a [u8; N]> {
        self.buffer.get(self.position..)?.first_chunk()
    }

    /// Goes on by `count` bytes, or to the end of the buffer.
    #[inline(always)]
    pub fn advance(&mut self, count: usize) {
        self.consume(count.min(self.buffer.len() - self.position));
    }

    /// The answer of a parser for which the buffer ends too early: [`Stop::Need`], or a failure when nothing more comes.
    #[inline(always)]
    pub fn short(&self, need: Need) -> Stop {
        if self.whole {
            self.fail_at(self.buffer.len(), Reason::EndOfInput)
        } else {
            Stop::Need(need)
        }
    }

    /// The answer of a parser that takes a run of the bytes of `set`, for which the buffer ends before the run does:
    /// [`Need::EndOfRun`], or a failure when nothing more comes. Whoever feeds the grammar need not try it again before a
    /// byte has come that is not in `set`: see [`In::run_cut_short`].
    #[inline(always)]
    pub fn short_of_run(&mut self, set: &'static ByteSet) -> Stop {
        self.run = Some(set);
        self.run_may_fail = false;
        self.short(Need::EndOfRun)
    }

    /// Like [`In::short_of_run`], for a parser that may fail before the run ends: because it is a number too large.
    #[inline(always)]
    pub(crate) fn short_of_number(&mut self, digits: &'static ByteSet) -> Stop {
        let stop = self.short_of_run(digits);
        self.run_may_fail = true;
        stop
    }

    /// This need, where an alternative may do with less: `tag(b"ab")` needs two bytes, and `opt` of it knows more after
    /// one. Whoever waits for what is needed must not miss that.
    #[inline(always)]
    pub(crate) fn soonest(&mut self, need: Need) -> Need {
        if self.run_may_fail {
            self.run = None;
        }
        match need {
            Need::Bytes(_) => Need::bytes(1),
            Need::EndOfRun => Need::EndOfRun,
        }
    }

    /// The answer where `part`, which is of this input, has that need.
    #[inline(always)]
    pub(crate) fn short_as(&mut self, part: &In<'_>, need: Need) -> Stop {
        self.run = part.run;
        self.run_may_fail = part.run_may_fail;
        self.short(need)
    }

    /// After [`Need::EndOfRun`]: the bytes that the run is made of which the end of the buffer cut short, if the parser
    /// knew them as a set.
    #[inline(always)]
    pub fn run_cut_short(&self) -> Option<&'static ByteSet> {
        self.run
    }

    /// The answer of a parser that does not match here.
    #[inline(always)]
    pub fn fail(&self, reason: Reason) -> Stop {
        self.fail_at(self.position, reason)
    }

    /// The answer of a parser that does not match, because of the byte at `position`.
    #[inline(always)]
    pub fn fail_at(&self, position: usize, reason: Reason) -> Stop {
        Stop::Fail {
            at: offset(position),
            reason,
        }
    }

    /// The range from `start` to here.
    #[inline(always)]
    pub fn span_from(&self, start: usize) -> Span {
        Span {
            start: offset(start),
            end: offset(self.position),
        }
    }

    /// Where `slice` lies, which is part of the bytes that are behind.
    #[inline(always)]
    pub fn span_of(&self, slice: &'a [u8]) -> Span {
        let start = slice
            .as_ptr()
            .addr()
            .wrapping_sub(self.buffer.as_ptr().addr());
        Span {
            start: offset(start),
            end: offset(start + slice.len()),
        }
    }

    /// The bytes from `start` to here.
    #[inline(always)]
    pub fn slice_from(&self, start: usize) -> &'a [u8] {
        self.buffer.get(start..self.position).unwrap_or_default()
    }

    /// The bytes of `set` that come next.
    #[inline(always)]
    pub(crate) fn run(&self, set: &ByteSet) -> &'a [u8] {
        simd::run(self.level, set, self.buffer, self.position)
    }

    /// Goes on by `count` bytes, which the buffer has.
    #[inline(always)]
    pub(crate) fn consume(&mut self, count: usize) {
        examined(count);
        self.position += count;
    }

    /// Goes back to where an alternative started, unless the failed one was committed.
    #[inline(always)]
    pub(crate) fn backtrack(&mut self, start: usize, stop: Stop) -> Result<(), Stop> {
        if !matches!(stop, Stop::Fail { .. }) {
            return Err(stop);
        }
        if self.committed > start {
            return Err(stop.into_cut());
        }
        self.position = start;
        Ok(())
    }

    /// Goes back to where `start` is after a look ahead that matched. What was committed on the way is not.
    #[inline(always)]
    pub(crate) fn rewind(&mut self, start: usize, committed: usize) {
        #[cfg(test)]
        AHEAD.set(AHEAD.get() + self.position - start);
        self.position = start;
        self.committed = committed;
    }

    /// This input from here on, as if it ended at `end` and were `whole`.
    #[inline(always)]
    pub(crate) fn part(&self, start: usize, end: usize, whole: bool) -> In<'a> {
        let shown = self.buffer.get(..end).unwrap_or(self.buffer);
        In {
            notes: self.notes,
            ..In::starting(shown, start, whole, self.level)
        }
    }

    /// This input from here on, without notes being taken.
    #[inline(always)]
    pub(crate) fn unnoted(&self) -> In<'a> {
        In::starting(self.buffer, self.position, self.whole, self.level)
    }

    /// Notes what was expected at `position`, when the parse runs to be explained.
    #[inline(always)]
    pub(crate) fn expected(&self, position: usize, what: impl FnOnce() -> Expected) {
        if let Some(notes) = self.notes {
            notes.expected(position, what());
        }
    }

    /// Notes that what failed at `stop` was inside `what`, which began at `start`.
    #[inline(always)]
    pub(crate) fn inside(&self, what: &'static str, start: usize, stop: Stop) {
        if let Some(notes) = self.notes {
            notes.inside(what, start, stop);
        }
    }

    /// How many things are noted as expected here.
    #[inline(always)]
    pub(crate) fn expectations(&self) -> usize {
        self.notes.map_or(0, |notes| notes.count(self.position))
    }

    /// Notes `what` in place of all that was expected at `position` but the first `keep`.
    #[inline(always)]
    pub(crate) fn label(&self, position: usize, keep: usize, what: &'static str) {
        if let Some(notes) = self.notes {
            notes.label(position, keep, what);
        }
    }

    /// The same input, with notes taken.
    pub(crate) fn noting(mut self, notes: &'static Notes) -> Self {
        self.notes = Some(notes);
        self
    }
}

impl Span {
    /// How many bytes it covers.
    pub const fn len(self) -> usize {
        self.end.saturating_sub(self.start) as usize
    }

    /// Whether it covers none.
    pub const fn is_empty(self) -> bool {
        self.end <= self.start
    }

    /// The bytes it covers of the buffer that it was made from; none if that buffer has become shorter.
    ///
    /// ```
    /// use thrum_parse::Span;
    ///
    /// assert_eq!(Span { start: 1, end: 3 }.of(b"abcd"), b"bc");
    /// ```
    #[inline]
    pub fn of(self, buffer: &[u8]) -> &[u8] {
        buffer
            .get(self.start as usize..self.end as usize)
            .unwrap_or_default()
    }
}

/// A position in a buffer of at most 4 GiB.
#[inline(always)]
fn offset(position: usize) -> u32 {
    position as u32
}

/// Counts bytes that were looked at, for the test that holds us to our promise. A byte that ends a run counts where it
/// is consumed.
#[inline(always)]
pub(crate) fn examined(_count: usize) {
    #[cfg(test)]
    EXAMINED.set(EXAMINED.get() + _count);
}

#[cfg(test)]
thread_local! {
    pub(crate) static EXAMINED: std::cell::Cell<usize> = const { std::cell::Cell::new(0) };
    /// How many of them a grammar looked at on purpose before it consumed them.
    pub(crate) static AHEAD: std::cell::Cell<usize> = const { std::cell::Cell::new(0) };
}
