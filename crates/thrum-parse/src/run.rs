//! Runs: bytes that are taken for as long as they are of one kind.

use crate::class::{Class, Not};
use crate::explanation::Expected;
use crate::stop::{Need, Parsed, Reason, Stop};
use crate::{In, Parser};

/// The bytes of `class` that come next, possibly none. It ends at the first other byte: while that has not come and more
/// input may, the answer is [`Need::EndOfRun`].
///
/// ```
/// use thrum_parse::{ByteSet, In, Parser, take_while};
///
/// static SPACE: ByteSet = ByteSet::new().with(b" \t");
/// assert_eq!(take_while(&SPACE).parse(&mut In::whole(b"  x")), Ok(&b"  "[..]));
/// assert_eq!(take_while(&SPACE).parse(&mut In::whole(b"x")), Ok(&b""[..]));
/// ```
pub const fn take_while<C: Class>(class: C) -> TakeWhile<C> {
    TakeWhile {
        class,
        least: 0,
        most: usize::MAX,
        too_long: Reason::TooLong,
    }
}

/// Like [`take_while`], but at least one byte.
///
/// ```
/// use thrum_parse::{In, Parser, class, take_while1};
///
/// assert_eq!(take_while1(&class::DIGIT).parse(&mut In::whole(b"42 ")), Ok(&b"42"[..]));
/// assert!(take_while1(&class::DIGIT).parse(&mut In::whole(b"x")).is_err());
/// ```
pub const fn take_while1<C: Class>(class: C) -> TakeWhile<C> {
    TakeWhile {
        class,
        least: 1,
        most: usize::MAX,
        too_long: Reason::TooLong,
    }
}

/// The bytes up to the first of `class`, which stays ahead; possibly none.
///
/// It goes byte by byte. A long run is scanned faster if the compiler turns the set around:
/// `take_while(const { &STOP.not() })`.
///
/// ```
/// use thrum_parse::{In, Parser, class, take_till};
///
/// assert_eq!(take_till(&class::SPACE).parse(&mut In::whole(b"GET /")), Ok(&b"GET"[..]));
/// assert_eq!(take_till(|byte: u8| byte == b'G').parse(&mut In::whole(b"GET /")), Ok(&b""[..]));
/// ```
pub const fn take_till<C: Class>(class: C) -> TakeWhile<Not<C>> {
    take_while(Not(class))
}

/// Like [`take_till`], but at least one byte.
///
/// ```
/// use thrum_parse::{In, Parser, class, take_till1};
///
/// assert!(take_till1(&class::SPACE).parse(&mut In::whole(b" ")).is_err());
/// ```
pub const fn take_till1<C: Class>(class: C) -> TakeWhile<Not<C>> {
    take_while1(Not(class))
}

/// See [`take_while`] and [`take_till`].
#[derive(Clone, Copy, Debug)]
pub struct TakeWhile<C> {
    class: C,
    least: usize,
    most: usize,
    too_long: Reason,
}

impl<C: Class> TakeWhile<C> {
    /// At most `most` bytes. A longer run is cut for `reason`, as soon as it is too long.
    ///
    /// ```
    /// use thrum_parse::{In, Parser, Reason, class, take_while};
    ///
    /// let stop = take_while(&class::ANY).up_to(3, Reason::TooLong).parse(&mut In::partial(b"abcd"));
    /// assert_eq!(stop.unwrap_err().at(), Some(3));
    /// ```
    pub fn up_to(self, most: usize, reason: impl Into<Reason>) -> Self {
        TakeWhile {
            most,
            too_long: reason.into(),
            ..self
        }
    }
}

impl<'a, C: Class> Parser<'a> for TakeWhile<C> {
    type Output = &'a [u8];

    #[inline(always)]
    fn parse(&self, i: &mut In<'a>) -> Parsed<&'a [u8]> {
        let start = i.position();
        let run = match self.class.set() {
            Some(set) => i.run(set),
            None => prefix(i.rest(), |byte| self.class.contains(byte)),
        };
        if run.len() > self.most {
            return Err(too_long(i, self.most, self.too_long));
        }
        if start + run.len() == i.buffer().len() && !(i.is_whole() && run.len() >= self.least) {
            crate::input::examined(run.len());
            i.expected(start + run.len(), || self.class.expected());
            return Err(short_of_run(i, &self.class));
        }
        if run.len() < self.least {
            i.expected(start, || self.class.expected());
            return Err(i.fail(Reason::Unexpected));
        }
        i.consume(run.len());
        Ok(run)
    }
}

/// Like [`take_while`] with nothing to show for it, and byte by byte: for runs that are nearly always short, such as the
/// space behind a colon.
///
/// ```
/// use thrum_parse::{In, Parser, class, skip_while};
///
/// let mut i = In::whole(b" x");
/// assert_eq!(skip_while(&class::BLANK).parse(&mut i), Ok(()));
/// assert_eq!(i.rest(), b"x");
/// ```
pub const fn skip_while<C: Class>(class: C) -> SkipWhile<C> {
    SkipWhile { class, least: 0 }
}

/// Like [`skip_while`], but at least one byte.
///
/// ```
/// use thrum_parse::{In, Parser, class, skip_while1};
///
/// assert!(skip_while1(&class::BLANK).parse(&mut In::whole(b" x")).is_ok());
/// assert!(skip_while1(&class::BLANK).parse(&mut In::whole(b"x")).is_err());
/// ```
pub const fn skip_while1<C: Class>(class: C) -> SkipWhile<C> {
    SkipWhile { class, least: 1 }
}

/// See [`skip_while`].
#[derive(Clone, Copy, Debug)]
pub struct SkipWhile<C> {
    class: C,
    least: usize,
}

impl<'a, C: Class> Parser<'a> for SkipWhile<C> {
    type Output = ();

    #[inline(always)]
    fn parse(&self, i: &mut In<'a>) -> Parsed<()> {
        let start = i.position();
        while let Some(byte) = i.next_byte() {
            if !self.class.contains(byte) {
                if i.position() - start >= self.least {
                    return Ok(());
                }
                i.expected(start, || self.class.expected());
                return Err(i.fail(Reason::Unexpected));
            }
            i.consume(1);
        }
        if i.is_whole() && i.position() - start >= self.least {
            return Ok(());
        }
        i.expected(i.position(), || self.class.expected());
        Err(short_of_run(i, &self.class))
    }
}

/// The bytes for which `step` goes on, possibly none: it is given a state and a byte, and answers with the next state,
/// or with `None` at the first byte that is not taken.
///
/// ```
/// use thrum_parse::{In, Parser, scan};
///
/// // Up to a quote that has no backslash before it.
/// let inside = scan(false, |escaped, byte| match byte {
///     b'"' if !escaped => None,
///     _ => Some(byte == b'\\' && !escaped),
/// });
/// assert_eq!(inside.parse(&mut In::whole(br#"a\"b" c"#)), Ok(&br#"a\"b"#[..]));
/// ```
pub const fn scan<S: Clone, F: Fn(S, u8) -> Option<S>>(initial: S, step: F) -> Scan<S, F> {
    Scan {
        initial,
        step,
        most: usize::MAX,
        too_long: Reason::TooLong,
    }
}

/// See [`scan`].
#[derive(Clone, Copy, Debug)]
pub struct Scan<S, F> {
    initial: S,
    step: F,
    most: usize,
    too_long: Reason,
}

impl<S: Clone, F: Fn(S, u8) -> Option<S>> Scan<S, F> {
    /// At most `most` bytes. A longer run is cut for `reason`.
    pub fn up_to(self, most: usize, reason: impl Into<Reason>) -> Self {
        Scan {
            most,
            too_long: reason.into(),
            ..self
        }
    }

    /// Gives the last state as well.
    ///
    /// ```
    /// use thrum_parse::{In, Parser, scan};
    ///
    /// let sum = scan(0, |sum, byte| (byte != b'.').then_some(sum + u32::from(byte)));
    /// assert_eq!(sum.with_state().parse(&mut In::whole(b"\x01\x02.")), Ok((&b"\x01\x02"[..], 3)));
    /// ```
    pub fn with_state(self) -> ScanState<S, F> {
        ScanState(self)
    }
}

impl<'a, S: Clone, F: Fn(S, u8) -> Option<S>> Parser<'a> for Scan<S, F> {
    type Output = &'a [u8];

    #[inline(always)]
    fn parse(&self, i: &mut In<'a>) -> Parsed<&'a [u8]> {
        scanned(self, i).map(|(run, _)| run)
    }
}

/// See [`Scan::with_state`].
#[derive(Clone, Copy, Debug)]
pub struct ScanState<S, F>(Scan<S, F>);

impl<'a, S: Clone, F: Fn(S, u8) -> Option<S>> Parser<'a> for ScanState<S, F> {
    type Output = (&'a [u8], S);

    #[inline(always)]
    fn parse(&self, i: &mut In<'a>) -> Parsed<(&'a [u8], S)> {
        scanned(&self.0, i)
    }
}

#[inline(always)]
fn scanned<'a, S: Clone, F: Fn(S, u8) -> Option<S>>(
    scan: &Scan<S, F>,
    i: &mut In<'a>,
) -> Parsed<(&'a [u8], S)> {
    let rest = i.rest();
    let mut state = scan.initial.clone();
    for (count, &byte) in rest.iter().enumerate() {
        match (scan.step)(state.clone(), byte) {
            Some(_) if count == scan.most => return Err(too_long(i, scan.most, scan.too_long)),
            Some(next) => state = next,
            None => {
                i.consume(count);
                return Ok((&rest[..count], state));
            }
        }
    }
    if !i.is_whole() {
        i.expected(i.buffer().len(), || Expected::Text("more bytes"));
        return Err(i.short(Need::EndOfRun));
    }
    i.consume(rest.len());
    Ok((rest, state))
}

/// The bytes that `matches` takes, from the first one on.
#[inline(always)]
fn prefix(bytes: &[u8], matches: impl Fn(u8) -> bool) -> &[u8] {
    let end = bytes.iter().position(|&byte| !matches(byte));
    &bytes[..end.unwrap_or(bytes.len())]
}

#[inline(always)]
fn short_of_run<C: Class>(i: &mut In<'_>, class: &C) -> Stop {
    match class.set() {
        Some(set) => i.short_of_run(set),
        None => i.short(Need::EndOfRun),
    }
}

/// The answer to a run from here that has more than `most` bytes.
#[inline(always)]
pub(crate) fn too_long(i: &In<'_>, most: usize, reason: Reason) -> Stop {
    let end = i.position() + most;
    i.expected(end, || Expected::Text("the end of what is too long"));
    i.fail_at(end, reason).into_cut()
}
