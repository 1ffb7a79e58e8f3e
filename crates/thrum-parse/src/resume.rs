//! Running a grammar over input that arrives in pieces.

use crate::input::examined;
use crate::simd::{self, Level};
use crate::stop::{Need, Parsed, Stop};
use crate::{ByteSet, In, Parser, Reason};

/// What offsets of 32 bits reach.
const MOST: usize = u32::MAX as usize;

/// How far a grammar has come in a buffer that grows.
///
/// When the buffer ends before the answer does, the grammar starts again at its last [commit](In::commit), but not before
/// there is reason to: when as many bytes have come as it asked for, when the run has ended that was cut short, or when
/// the byte has come without which a step cannot end ([`Resume::until`]). The search for it starts where the last one
/// stopped.
///
/// So every byte is examined at most twice and searched once, if each step of the grammar (what is between two commits)
/// is one run or one fixed number of bytes, or if all of its steps end with one byte that is in them nowhere else, such
/// as the LF of a line. A step of several runs without such an end is started again for each of them;
/// a run of a closure's bytes, or of characters, with each piece.
///
/// ```
/// use thrum_parse::{ByteSet, In, Parsed, Parser, Resume, byte, take_while};
///
/// static WORD: ByteSet = ByteSet::new().range(b'a', b'z');
///
/// fn word<'a>(i: &mut In<'a>) -> Parsed<&'a [u8]> {
///     let word = take_while(&WORD).parse(i)?;
///     byte(b' ').parse(i)?;
///     Ok(word)
/// }
///
/// let mut resume = Resume::new();
/// assert_eq!(resume.parse(b"thr", false, 80, word), Ok(None));
/// assert_eq!(resume.parse(b"thru", false, 80, word), Ok(None)); // looks at the u only
/// assert_eq!(resume.parse(b"thrum is", false, 80, word), Ok(Some((&b"thrum"[..], 6))));
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Resume {
    level: Level,
    /// The byte that ends each step.
    end: Option<u8>,
    /// A step of more bytes is tried without its end.
    longest_step: usize,
    /// What is before this offset has been parsed.
    committed: usize,
    /// What is before this offset has been tried or searched.
    seen: usize,
    wait: Wait,
}

/// What has to come before the grammar is tried again.
#[derive(Clone, Copy, Debug)]
enum Wait {
    /// Anything.
    Any,
    /// The buffer has to be this long.
    Length(usize),
    /// A byte that is not in the set.
    Other(&'static ByteSet),
    /// This byte.
    Byte(u8),
}

impl Resume {
    /// For any grammar.
    pub fn new() -> Self {
        Self::at_level(Level::best())
    }

    /// For any grammar, by the instructions of `level`: for tests and measurements.
    pub fn at_level(level: Level) -> Self {
        Resume {
            level,
            end: None,
            longest_step: usize::MAX,
            committed: 0,
            seen: 0,
            wait: Wait::Any,
        }
    }

    /// For a grammar whose steps all end with the byte `end`: between that and the next one nothing is tried twice.
    pub fn until(self, end: u8) -> Self {
        Resume {
            end: Some(end),
            ..self
        }
    }

    /// A step of more than `bytes` is tried before its end has come, because the grammar is known to refuse it. Without
    /// it, such a step is refused when it reaches the limit of the whole, or its end.
    pub fn refuse_steps_over(&mut self, bytes: usize) {
        self.longest_step = bytes;
    }

    /// Runs the grammar, if it can get further. `Ok(None)`: more input is needed; else the value, and how many bytes of
    /// the buffer it took. `eof` says that the buffer will not grow.
    ///
    /// After `Ok(None)`, call it with the same bytes and more behind them. After anything else it starts afresh.
    ///
    /// The grammar may be run at once and again later, from its last commit: what it found before that has to be in the
    /// caller's storage.
    ///
    /// # Errors
    /// The grammar's, or [`Reason::TooLong`] when there is no value in the first `most` bytes.
    #[inline(always)]
    pub fn parse<'a, T>(
        &mut self,
        buffer: &'a [u8],
        eof: bool,
        most: usize,
        grammar: impl FnOnce(&mut In<'a>) -> Parsed<T>,
    ) -> Parsed<Option<(T, usize)>> {
        let most = most.min(MOST);
        let full = buffer.len() >= most;
        let window = if full { &buffer[..most] } else { buffer };
        if !eof && !full && !self.has_reason(window) {
            return Ok(None);
        }
        let (parsed, i) = simd::run_at(
            self.level,
            #[inline(always)]
            |level| {
                let mut i = In::starting(window, self.committed, eof && !full, level);
                (grammar(&mut i), i)
            },
        );
        match parsed {
            Ok(value) => {
                self.restart();
                Ok(Some((value, i.position())))
            }
            Err(Stop::Need(need)) if !full => {
                self.committed = i.committed();
                self.seen = window.len();
                self.wait = self.wait_for(need, &i);
                Ok(None)
            }
            Err(stop) => {
                self.restart();
                Err(match stop {
                    Stop::Need(_) => Stop::Cut {
                        at: most as u32,
                        reason: Reason::TooLong,
                    },
                    stop => stop,
                })
            }
        }
    }

    /// Like [`parse`](Resume::parse), for a parser that keeps nothing: it has to start over at the front of its value, and
    /// does, whether it commits or not.
    ///
    /// # Errors
    /// As [`parse`](Resume::parse). And [`Reason::Unexpected`] where the value takes nothing of what there is: so would
    /// the next one, and all that follow.
    #[inline(always)]
    pub fn value<'a, P: Parser<'a>>(
        &mut self,
        buffer: &'a [u8],
        eof: bool,
        most: usize,
        parser: &P,
    ) -> Parsed<Option<(P::Output, usize)>> {
        let parsed = self.parse(
            buffer,
            eof,
            most,
            #[inline(always)]
            |i| parser.parse(i),
        )?;
        match parsed {
            Some((_, 0)) if !buffer.is_empty() => Err(Stop::Cut {
                at: 0,
                reason: Reason::Unexpected,
            }),
            None => {
                self.committed = 0;
                Ok(None)
            }
            value => Ok(value),
        }
    }

    /// How many bytes of the buffer are behind the grammar's last commit.
    pub fn committed(&self) -> usize {
        self.committed
    }

    /// Back to the start of a buffer.
    pub fn restart(&mut self) {
        self.committed = 0;
        self.seen = 0;
        self.wait = Wait::Any;
    }

    fn wait_for(&self, need: Need, i: &In<'_>) -> Wait {
        match (self.end, need, i.run_cut_short()) {
            // A step that has not begun is tried once.
            (Some(_), ..) if self.committed == self.seen => Wait::Any,
            (Some(end), ..) => Wait::Byte(end),
            (None, Need::Bytes(count), _) => {
                Wait::Length(self.seen.saturating_add(count.get() as usize))
            }
            (None, Need::EndOfRun, Some(set)) => Wait::Other(set),
            (None, Need::EndOfRun, None) => Wait::Any,
        }
    }

    /// Whether something has come for which the grammar may get further than last time.
    #[inline(always)]
    fn has_reason(&mut self, window: &[u8]) -> bool {
        // Nothing was tried yet, or nothing is known.
        if matches!(self.wait, Wait::Any) {
            return window.len() > self.seen || self.seen == 0;
        }
        self.has_come(window)
    }

    #[cold]
    fn has_come(&mut self, window: &[u8]) -> bool {
        if window.len().saturating_sub(self.committed) > self.longest_step {
            return true;
        }
        let new = window.get(self.seen..).unwrap_or_default();
        let before = match self.wait {
            Wait::Any => 0,
            Wait::Length(length) => return window.len() >= length,
            Wait::Other(set) => simd::run(self.level, set, new, 0).len(),
            Wait::Byte(end) => memchr::memchr(end, new).unwrap_or(new.len()),
        };
        examined(new.len().min(before + 1));
        self.seen += before;
        before < new.len()
    }
}

impl Default for Resume {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::input::EXAMINED;
    use crate::{Feed, byte, decimal, take, take_while, take_while1};

    static WORD: ByteSet = ByteSet::new().range(b'a', b'z');
    static REST: ByteSet = ByteSet::new().with(b"\n").not();

    /// A token: a word, a number, two bytes behind a colon, or a semicolon. Each is one run or one number of bytes.
    #[derive(Debug, PartialEq)]
    enum Token {
        Word(Vec<u8>),
        Number(u64),
        Pair(Vec<u8>),
        End,
    }

    fn token(i: &mut In<'_>) -> Parsed<Token> {
        crate::dispatch(|next, i| match next {
            b'a'..=b'z' => take_while1(&WORD)
                .map(|word| Token::Word(word.to_vec()))
                .parse(i),
            b'0'..=b'9' => decimal().map(Token::Number).parse(i),
            b':' => take(3)
                .map(|pair: &[u8]| Token::Pair(pair.to_vec()))
                .parse(i),
            _ => byte(b';').value(()).map(|()| Token::End).parse(i),
        })
        .parse(i)
    }

    /// A line of several runs: `word word word LF`.
    fn line(i: &mut In<'_>) -> Parsed<usize> {
        let first = take_while(&WORD).parse(i)?;
        byte(b' ').parse(i)?;
        take_while(&WORD).parse(i)?;
        byte(b' ').parse(i)?;
        take_while(&REST).parse(i)?;
        byte(b'\n').parse(i)?;
        Ok(first.len())
    }

    /// All values of `input`, fed up to each of `ends` in turn, and how many bytes were examined for them.
    fn values<T>(
        input: &[u8],
        ends: impl IntoIterator<Item = usize>,
        mut feed: Feed,
        parser: fn(&mut In<'_>) -> Parsed<T>,
    ) -> (Vec<T>, Option<(u64, Reason)>, usize) {
        EXAMINED.set(0);
        let (mut values, mut fed) = (Vec::new(), 0);
        for end in ends.into_iter().chain([input.len(), input.len()]) {
            feed.push(&input[fed..end]);
            if fed == end && end == input.len() {
                feed.end();
            }
            fed = end;
            loop {
                match feed.next(&parser) {
                    Ok(Some(value)) => values.push(value),
                    Ok(None) => break,
                    Err(fault) => {
                        return (values, Some((fault.offset, fault.reason)), EXAMINED.get());
                    }
                }
            }
        }
        (values, None, EXAMINED.get())
    }

    fn twice(examined: usize, input: &[u8]) -> bool {
        // The search comes on top, and counts too.
        examined * 10 <= input.len() * 31 + 40
    }

    #[test]
    fn a_long_run_byte_by_byte() {
        let input = [[b'a'; 5000].as_slice(), b";"].concat();
        let (values, fault, examined) = values(&input, 1..=input.len(), Feed::new(9000), token);
        assert_eq!((values.len(), fault), (2, None));
        assert!(examined * 10 <= input.len() * 21, "{examined}");
    }

    #[test]
    fn lines_byte_by_byte() {
        let input = b"some words and whatever follows them, to the end\n".repeat(40);
        let feed = Feed::new(80).until(b'\n');
        let (values, fault, examined) = values(&input, 1..=input.len(), feed, line);
        assert_eq!((values.len(), fault), (40, None));
        assert!(examined * 10 <= input.len() * 21, "{examined}");
    }

    #[test]
    fn the_limit_is_told_at_once() {
        let mut feed = Feed::new(4);
        feed.push(b"abcde");
        let fault = feed.next(&token).unwrap_err();
        assert_eq!((fault.offset, fault.reason), (4, Reason::TooLong));
        assert!(fault.explanation.is_none());
    }

    #[test]
    fn a_fault_says_where() {
        let mut feed = Feed::new(80);
        feed.push(b"abc;!");
        assert!(feed.next(&token).unwrap().is_some());
        assert!(feed.next(&token).unwrap().is_some());
        let fault = feed.next(&token).unwrap_err();
        assert_eq!(
            fault.to_string(),
            "byte 4: 1:1: expected ';', found '!'\n  !\n  ^"
        );
    }

    proptest! {
        #[test]
        fn tokens_in_any_pieces(
            input in "([a-z]{1,9}|[0-9]{1,5};|:..|;|!){0,20}",
            mut ends in prop::collection::vec(any::<prop::sample::Index>(), 0..60),
        ) {
            let input = input.as_bytes();
            ends.sort_by_key(|end| end.index(input.len() + 1));
            let ends = ends.iter().map(|end| end.index(input.len() + 1));
            let (whole, pieces) = (
                values(input, [], Feed::new(80), token),
                values(input, ends, Feed::new(80), token),
            );
            prop_assert_eq!((&whole.0, whole.1), (&pieces.0, pieces.1));
            prop_assert!(twice(pieces.2, input), "{} of {}", pieces.2, input.len());
        }

        #[test]
        fn lines_in_any_pieces(
            input in "([a-z]{0,4} [a-z]{0,4} [ a-z.]{0,9}\n|!){0,12}",
            mut ends in prop::collection::vec(any::<prop::sample::Index>(), 0..60),
        ) {
            let input = input.as_bytes();
            ends.sort_by_key(|end| end.index(input.len() + 1));
            let ends = ends.iter().map(|end| end.index(input.len() + 1));
            let feed = Feed::new(80).until(b'\n');
            let whole = values(input, [], feed.clone(), line);
            let pieces = values(input, ends, feed, line);
            prop_assert_eq!(&whole.0, &pieces.0);
            prop_assert_eq!(whole.1.is_some(), pieces.1.is_some());
            prop_assert!(twice(pieces.2, input), "{} of {}", pieces.2, input.len());
        }
    }
}
