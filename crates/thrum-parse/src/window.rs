//! Parsers that are shown a part of the input only: so many bytes at most, or just so many.

use crate::explanation::Expected;
use crate::run::too_long;
use crate::stop::{Need, Parsed, Reason, Stop};
use crate::{In, Parser, take};

/// A limit in bytes on any parser: it matches at most `most` bytes, and is shown one more, so that it sees where a run
/// ends. Where that is not enough, the input is cut for [`Reason::TooLong`]. If the parser commits and is restarted there,
/// the limit counts from there.
///
/// ```
/// use thrum_parse::{In, Parser, Reason, byte, class, many, take_while1, terminated, within};
///
/// let words = within(8, many(1..=99, terminated(take_while1(&class::ALPHA), byte(b' '))));
/// assert_eq!(words.parse(&mut In::whole(b"to be .")), Ok(vec![&b"to"[..], b"be"]));
/// let stop = words.parse(&mut In::partial(b"to be or not")).unwrap_err();
/// assert_eq!((stop.at(), stop.reason()), (Some(8), Some(Reason::TooLong)));
/// ```
pub const fn within<P>(most: usize, parser: P) -> Within<P> {
    Within { most, parser }
}

/// See [`within`].
#[derive(Clone, Copy, Debug)]
pub struct Within<P> {
    most: usize,
    parser: P,
}

impl<'a, P: Parser<'a>> Parser<'a> for Within<P> {
    type Output = P::Output;

    #[inline(always)]
    fn parse(&self, i: &mut In<'a>) -> Parsed<P::Output> {
        let (start, there) = (i.position(), i.rest().len());
        let shown = self.most.saturating_add(1);
        let whole = i.is_whole() && there <= self.most;
        let mut part = i.part(start, start.saturating_add(shown), whole);
        let parsed = self.parser.parse(&mut part);
        match parsed {
            Err(Stop::Need(_)) if there >= shown => Err(too_long(i, self.most, Reason::TooLong)),
            Err(Stop::Need(need)) => {
                follow(i, &part);
                Err(match need {
                    // What is not shown need not be waited for.
                    Need::Bytes(count) => {
                        i.short(Need::bytes((shown - there).min(count.get() as usize)))
                    }
                    Need::EndOfRun => i.short_as(&part, need),
                })
            }
            Ok(_) if part.position() - start > self.most => {
                Err(too_long(i, self.most, Reason::TooLong))
            }
            parsed => {
                follow(i, &part);
                parsed
            }
        }
    }
}

/// Bytes with their number before them: as many as the value of `length` says, at most `most`. More are cut for
/// [`Reason::TooLong`], before any has come.
///
/// ```
/// use thrum_parse::{In, Parser, length_prefixed, word};
///
/// let name = length_prefixed(255, word::be::<u16>());
/// assert_eq!(name.parse(&mut In::whole(b"\x00\x02ab..")), Ok(&b"ab"[..]));
/// assert!(name.parse(&mut In::partial(b"\xff\xff")).is_err_and(|stop| !stop.is_need()));
/// ```
pub const fn length_prefixed<P>(most: usize, length: P) -> LengthPrefixed<P> {
    LengthPrefixed { most, length }
}

/// See [`length_prefixed`].
#[derive(Clone, Copy, Debug)]
pub struct LengthPrefixed<P> {
    most: usize,
    length: P,
}

impl<'a, P: Parser<'a, Output: TryInto<usize>>> Parser<'a> for LengthPrefixed<P> {
    type Output = &'a [u8];

    #[inline(always)]
    fn parse(&self, i: &mut In<'a>) -> Parsed<&'a [u8]> {
        let start = i.position();
        match self.length.parse(i)?.try_into() {
            Ok(length) if length <= self.most => take(length).parse(i),
            // Negative, or more than could ever come.
            _ => Err(i.fail_at(start, Reason::TooLong).into_cut()),
        }
    }
}

/// Like [`length_prefixed`], with a parser for the bytes: it starts when they are all there, sees no others, and has to
/// take them all.
///
/// ```
/// use thrum_parse::{In, Parser, length_value, many, word};
///
/// let ports = length_value(64, word::be::<u8>(), many(0..=32, word::be::<u16>()));
/// assert_eq!(ports.parse(&mut In::whole(&[4, 0, 80, 1, 187, 9])), Ok(vec![80, 443]));
/// assert!(ports.parse(&mut In::whole(&[3, 0, 80, 1, 187, 9])).is_err());
/// ```
pub const fn length_value<P, V>(most: usize, length: P, value: V) -> LengthValue<P, V> {
    LengthValue {
        bytes: length_prefixed(most, length),
        value,
    }
}

/// See [`length_value`].
#[derive(Clone, Copy, Debug)]
pub struct LengthValue<P, V> {
    bytes: LengthPrefixed<P>,
    value: V,
}

impl<'a, P, V> Parser<'a> for LengthValue<P, V>
where
    P: Parser<'a, Output: TryInto<usize>>,
    V: Parser<'a>,
{
    type Output = V::Output;

    #[inline(always)]
    fn parse(&self, i: &mut In<'a>) -> Parsed<V::Output> {
        let bytes = self.bytes.parse(i)?;
        let end = i.position();
        let start = end - bytes.len();
        let mut part = i.part(start, end, true);
        let parsed = self.value.parse(&mut part);
        let committed = part.committed() > start;
        match parsed {
            Err(stop) if committed => Err(stop.into_cut()),
            Ok(_) if part.position() < end => {
                i.expected(part.position(), || {
                    Expected::Text("the end of what was counted")
                });
                Err(i.fail_at(part.position(), Reason::Unexpected))
            }
            parsed => {
                if committed {
                    i.commit();
                }
                parsed
            }
        }
    }
}

/// Goes on to where `part` is, and commits where it did.
#[inline(always)]
fn follow<'a>(i: &mut In<'a>, part: &In<'a>) {
    let (start, committed) = (i.position(), part.committed());
    if committed > start {
        i.advance(committed - start);
        i.commit();
    }
    i.advance(part.position().saturating_sub(i.position()));
}
