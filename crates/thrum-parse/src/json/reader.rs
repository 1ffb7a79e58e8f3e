//! Input that arrives in pieces.

use super::grammar::{self, Event, Limits, State};
use super::{Error, Fault, NUMBER_BYTES};
use crate::input::examined;
use crate::stop::{Need, Parsed, Stop};
use crate::{ByteSet, In, Level, simd};

/// Reads one value from input that arrives in pieces of any size, and tells of each part as soon as it is known.
///
/// The grammar runs over each piece in place. Of a number, literal, escape or character that a piece cuts in two, the
/// bytes that are there wait in a small buffer ([`NUMBER_BYTES`] at most) and are not looked at again before the rest has
/// come. So every byte is passed over at most twice, however the input is cut, and memory does not grow with the input.
///
/// ```
/// use thrum_parse::json::{Event, Limits, Number, Reader};
///
/// let mut reader = Reader::new(Limits::default());
/// let mut sum = 0.0;
/// let mut add = |event: Event<'_>| if let Event::Number(number) = event { sum += number.as_f64() };
/// for piece in [&b"[1, 2"[..], b"3, 4", b"]"] {
///     reader.feed(piece, &mut add).unwrap();
/// }
/// reader.finish(&mut add).unwrap();
/// assert_eq!(sum, 28.0);
/// ```
#[derive(Clone, Debug)]
pub struct Reader {
    state: State,
    limits: Limits,
    level: Level,
    /// How many bytes are done with.
    done: u64,
    /// The start of a token that the last piece cut in two; else empty.
    cut: Vec<u8>,
    /// What is missing of it.
    missing: Missing,
    fault: Option<Error>,
}

#[derive(Clone, Copy, Debug)]
enum Missing {
    Bytes(usize),
    EndOf(&'static ByteSet),
}

impl Reader {
    /// One that has read nothing.
    pub fn new(limits: Limits) -> Self {
        Reader {
            state: State::new(limits),
            limits,
            level: Level::best(),
            done: 0,
            cut: Vec::new(),
            missing: Missing::Bytes(0),
            fault: None,
        }
    }

    /// Reads the next piece of the input. `on` is called for all that is complete now.
    ///
    /// # Errors
    /// What is wrong with the input. Then it can't be read any further: every later call says the same.
    pub fn feed(&mut self, piece: &[u8], mut on: impl FnMut(Event<'_>)) -> Result<(), Error> {
        self.fault.map_or(Ok(()), Err)?;
        let seen = self.done + self.cut.len() as u64;
        let left = (self.limits.bytes as u64).saturating_sub(seen);
        let allowed = usize::try_from(left).unwrap_or(usize::MAX).min(piece.len());
        // Offsets within a part of the input have 32 bits.
        for part in piece[..allowed].chunks(1 << 30) {
            let read = self.part(part, &mut on);
            self.note(read)?;
        }
        if allowed < piece.len() {
            return self.note(Err(Error {
                at: self.limits.bytes as u64,
                fault: Fault::TooLong,
            }));
        }
        Ok(())
    }

    /// Reads to the end: no more comes.
    ///
    /// # Errors
    /// What is wrong with the input, if only that it is not complete.
    pub fn finish(mut self, mut on: impl FnMut(Event<'_>)) -> Result<(), Error> {
        self.fault.map_or(Ok(()), Err)?;
        let cut = std::mem::take(&mut self.cut);
        match self.run(&cut, true, &mut on).0 {
            Ok(()) => Ok(()),
            Err(stop) => Err(self.error(stop)),
        }
    }

    fn part(&mut self, mut part: &[u8], on: &mut impl FnMut(Event<'_>)) -> Result<(), Error> {
        while !self.cut.is_empty() {
            if !self.complete(&mut part) {
                return Ok(());
            }
            let mut cut = std::mem::take(&mut self.cut);
            let committed = self.advance(&cut, on)?;
            cut.drain(..committed);
            self.cut = cut;
        }
        if part.is_empty() {
            return Ok(());
        }
        let committed = self.advance(part, on)?;
        self.cut.extend_from_slice(&part[committed..]);
        Ok(())
    }

    /// Moves what is missing of the token that was cut from `part`; whether that was all.
    fn complete(&mut self, part: &mut &[u8]) -> bool {
        let (count, all) = match &mut self.missing {
            Missing::Bytes(missing) => {
                let count = part.len().min(*missing);
                *missing -= count;
                (count, *missing == 0)
            }
            Missing::EndOf(set) => {
                // A run that is too long is refused before it ends.
                let most = (NUMBER_BYTES + 1).saturating_sub(self.cut.len());
                let run = simd::run(self.level, set, &part[..part.len().min(most)], 0).len();
                // The byte behind it shows that it has ended.
                let count = (run + 1).min(part.len());
                examined(count);
                (count, count > run || run >= most)
            }
        };
        let (missing, rest) = part.split_at(count);
        self.cut.extend_from_slice(missing);
        *part = rest;
        all
    }

    /// Runs the grammar over some of the input as far as it gets: how many bytes are done with, which is all but the start
    /// of a token.
    fn advance(&mut self, part: &[u8], on: &mut impl FnMut(Event<'_>)) -> Result<usize, Error> {
        let (parsed, committed, run) = self.run(part, false, on);
        match parsed {
            Ok(()) | Err(Stop::Need(_)) => {}
            Err(stop) => return Err(self.error(stop)),
        }
        self.missing = match (parsed, run) {
            (Err(Stop::Need(Need::EndOfRun)), Some(set)) => Missing::EndOf(set),
            (Err(Stop::Need(Need::Bytes(count))), _) => Missing::Bytes(count.get() as usize),
            _ => Missing::Bytes(1),
        };
        self.done += committed as u64;
        Ok(committed)
    }

    fn run(
        &mut self,
        part: &[u8],
        whole: bool,
        on: &mut impl FnMut(Event<'_>),
    ) -> (Parsed<()>, usize, Option<&'static ByteSet>) {
        let state = &mut self.state;
        simd::run_at(
            self.level,
            #[inline(always)]
            |level| {
                let mut i = In::starting(part, 0, whole, level);
                let parsed = grammar::json_text(&mut i, state, on);
                (parsed, i.committed(), i.run_cut_short())
            },
        )
    }

    #[cold]
    fn error(&self, stop: Stop) -> Error {
        Error {
            at: self.done + stop.at().unwrap_or_default() as u64,
            fault: Fault::from_stop(stop),
        }
    }

    fn note(&mut self, read: Result<(), Error>) -> Result<(), Error> {
        self.fault = self.fault.or(read.err());
        read
    }
}
