//! RFC 8259, as a grammar that commits after each token and keeps no stack but its nesting, one bit for each level.
//!
//! A grammar that calls itself for what is nested reads better and can't be left in the middle. This one can, at every
//! commit: what is expected next and the nesting are all there is to know, so a restart goes back to the start of one
//! token, and within a string to the last character or escape that came whole.

use super::number::{Number, number};
use super::{Fault, Fault::*};
use crate::explanation::Expected;
use crate::input::examined;
use crate::stop::{Need, Parsed, Stop};
use crate::{ByteSet, In, Parser, byte, end_of_input, tag};

/// A part of a value, in the order of the input.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Event<'a> {
    /// `null`
    Null,
    /// `true` or `false`
    Bool(bool),
    /// A number.
    Number(Number),
    /// A piece of the text that [`Name`](Event::Name) or [`String`](Event::String) ends, as it lies in the input. Where
    /// texts are divided depends on how the input was; none is empty.
    Text(&'a str),
    /// What an escape stands for, which is the next piece of the text.
    Escape(char),
    /// The texts and escapes since the last event of another kind are the name of a member, whose value follows.
    Name,
    /// The texts and escapes since the last event of another kind are a string.
    String,
    /// `[`; elements follow.
    ArrayStart,
    /// `]`
    ArrayEnd,
    /// `{`; members follow.
    ObjectStart,
    /// `}`
    ObjectEnd,
}

/// How much is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// How deep arrays and objects may be nested. Default: 128; more than 1024 are never allowed.
    pub depth: u16,
    /// How many bytes an input may have. Default: 64 MiB. A value of many small parts takes about 16 times that.
    pub bytes: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Limits {
            depth: 128,
            bytes: 64 * 1024 * 1024,
        }
    }
}

/// Where in the grammar the parse is.
#[derive(Clone, Debug)]
pub(super) struct State {
    next: Next,
    /// The innermost of the arrays and objects that are open.
    inside: Inside,
    depth: u16,
    limits: Limits,
    /// What lies around each level, the outermost in the first bit: 1 for an object.
    around: [u64; MOST_DEPTH / 64],
}

const MOST_DEPTH: usize = 1024;

/// What comes next.
#[derive(Clone, Copy, Debug)]
enum Next {
    Value,
    ElementOrEnd,
    MemberOrEnd,
    Member,
    RestOfName,
    Colon,
    RestOfString,
    /// A comma, the end of what is open, or the end of the input.
    CommaOrEnd,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Inside {
    Nothing,
    Array,
    Object,
}

static WS: ByteSet = ByteSet::new().with(b" \t\n\r");
/// unescaped (7), as bytes; whether they are UTF-8 is checked for a whole run.
static UNESCAPED: ByteSet = ByteSet::new().range(0x20, 0xff).without(b"\"\\");

impl State {
    #[inline(always)]
    pub(super) fn new(limits: Limits) -> Self {
        State {
            next: Next::Value,
            inside: Inside::Nothing,
            depth: 0,
            limits,
            around: [0; MOST_DEPTH / 64],
        }
    }
}

/// JSON-text = ws value ws (2). What is found is given to `on`, each token once, and committed.
#[inline(always)]
pub(super) fn json_text<'a>(
    i: &mut In<'a>,
    state: &mut State,
    mut on: impl FnMut(Event<'a>),
) -> Parsed<()> {
    let on = &mut on;
    if i.is_whole() && i.buffer().len() > state.limits.bytes {
        return Err(too_long(i, state.limits.bytes));
    }
    let checked = all_utf8(i);
    loop {
        if !matches!(state.next, Next::RestOfName | Next::RestOfString) {
            ws(i);
        }
        state.next = match (state.next, i.next_byte()) {
            (Next::ElementOrEnd, Some(b']')) => end(i, state, on),
            (Next::ElementOrEnd | Next::Value, _) => value(i, state, on)?,
            (Next::MemberOrEnd, Some(b'}')) => end(i, state, on),
            (Next::MemberOrEnd | Next::Member, _) => {
                quotation_mark(i)?;
                Next::RestOfName
            }
            (Next::RestOfName, _) => {
                rest_of_string(i, checked, on)?;
                on(Event::Name);
                Next::Colon
            }
            (Next::Colon, _) => {
                byte(b':').must(Unexpected).parse(i)?;
                Next::Value
            }
            (Next::RestOfString, _) => {
                rest_of_string(i, checked, on)?;
                on(Event::String);
                Next::CommaOrEnd
            }
            (Next::CommaOrEnd, next) => match (state.inside, next) {
                (Inside::Nothing, _) => return end_of_input().must(Unexpected).parse(i),
                (Inside::Array, Some(b',')) => consumed(i, Next::Value),
                (Inside::Object, Some(b',')) => consumed(i, Next::Member),
                (Inside::Array, Some(b']')) | (Inside::Object, Some(b'}')) => end(i, state, on),
                (Inside::Array, _) => return Err(unexpected(i, "',' or ']'")),
                (Inside::Object, _) => return Err(unexpected(i, "',' or '}'")),
            },
        };
        i.commit();
    }
}

/// value = false / null / true / object / array / number / string (3); of what has an end of its own, the beginning.
#[inline(always)]
fn value<'a>(i: &mut In<'a>, state: &mut State, on: &mut impl FnMut(Event<'a>)) -> Parsed<Next> {
    let literal = match i.next_byte() {
        Some(b'"') => return Ok(consumed(i, Next::RestOfString)),
        Some(b'-' | b'0'..=b'9') => Event::Number(number(i)?),
        Some(b'{') => return start(i, state, Inside::Object, on),
        Some(b'[') => return start(i, state, Inside::Array, on),
        Some(b't') => literal(i, b"true", Event::Bool(true))?,
        Some(b'f') => literal(i, b"false", Event::Bool(false))?,
        Some(b'n') => literal(i, b"null", Event::Null)?,
        _ => return Err(unexpected(i, "a value")),
    };
    on(literal);
    Ok(Next::CommaOrEnd)
}

#[inline(always)]
fn literal<const N: usize>(
    i: &mut In<'_>,
    text: &'static [u8; N],
    event: Event<'static>,
) -> Parsed<Event<'static>> {
    tag(text).value(event).must(Unexpected).parse(i)
}

/// begin-array, begin-object (2)
#[inline(always)]
fn start<'a>(
    i: &mut In<'a>,
    state: &mut State,
    inside: Inside,
    on: &mut impl FnMut(Event<'a>),
) -> Parsed<Next> {
    let depth = usize::from(state.depth);
    if state.depth >= state.limits.depth || depth >= MOST_DEPTH {
        return Err(wrong(i, i.position(), "less nesting", TooDeep));
    }
    let (word, bit) = (depth / 64, 1 << (depth % 64));
    match state.inside {
        Inside::Object => state.around[word] |= bit,
        Inside::Nothing | Inside::Array => state.around[word] &= !bit,
    }
    state.depth += 1;
    state.inside = inside;
    let (event, next) = match inside {
        Inside::Object => (Event::ObjectStart, Next::MemberOrEnd),
        Inside::Nothing | Inside::Array => (Event::ArrayStart, Next::ElementOrEnd),
    };
    on(event);
    Ok(consumed(i, next))
}

/// end-array, end-object (2), which has been seen.
#[inline(always)]
fn end<'a>(i: &mut In<'a>, state: &mut State, on: &mut impl FnMut(Event<'a>)) -> Next {
    on(match state.inside {
        Inside::Object => Event::ObjectEnd,
        Inside::Nothing | Inside::Array => Event::ArrayEnd,
    });
    state.depth -= 1;
    let depth = usize::from(state.depth);
    state.inside = match state.around[depth / 64 % (MOST_DEPTH / 64)] >> (depth % 64) & 1 {
        _ if depth == 0 => Inside::Nothing,
        0 => Inside::Array,
        _ => Inside::Object,
    };
    consumed(i, Next::CommaOrEnd)
}

#[inline(always)]
fn quotation_mark(i: &mut In<'_>) -> Parsed<()> {
    if i.next_byte() == Some(b'"') {
        i.consume(1);
        return Ok(());
    }
    Err(unexpected(i, "a name in quotes"))
}

/// The buffer, if that is all of the input and UTF-8; else nothing. To check it at once costs less than to check each text.
#[inline(always)]
fn all_utf8<'a>(i: &In<'a>) -> &'a str {
    let buffer = if i.is_whole() { i.buffer() } else { b"" };
    std::str::from_utf8(buffer).unwrap_or_default()
}

/// *char quotation-mark (7), each piece committed. `checked` is the buffer, if that is UTF-8, or empty.
#[inline(always)]
fn rest_of_string<'a>(
    i: &mut In<'a>,
    checked: &'a str,
    on: &mut impl FnMut(Event<'a>),
) -> Parsed<()> {
    loop {
        let run = i.run(&UNESCAPED);
        if !run.is_empty() {
            let (start, end) = (i.position(), i.position() + run.len());
            match checked
                .get(start..end)
                .map_or_else(|| std::str::from_utf8(run), Ok)
            {
                Ok(text) => on(Event::Text(text)),
                Err(error) => return Err(not_all_utf8(i, run, error, on)),
            }
            i.consume(run.len());
            i.commit();
        }
        match i.next_byte() {
            Some(b'"') => {
                i.consume(1);
                return Ok(());
            }
            Some(b'\\') => {
                let char = escape(i)?;
                on(Event::Escape(char));
                i.commit();
            }
            Some(_) => {
                let expected = "an escape instead of a control character";
                return Err(wrong(i, i.position(), expected, ControlCharacter));
            }
            None => return Err(unexpected(i, "the end of a string")),
        }
    }
}

/// A run that is not UTF-8, or whose last character has not come as a whole. What is before that is given and done.
#[cold]
#[inline(never)]
fn not_all_utf8<'a>(
    i: &mut In<'a>,
    run: &'a [u8],
    error: std::str::Utf8Error,
    on: &mut impl FnMut(Event<'a>),
) -> Stop {
    let (good, bad) = run.split_at(error.valid_up_to());
    if !good.is_empty() {
        on(Event::Text(std::str::from_utf8(good).unwrap_or_default()));
        i.consume(good.len());
        i.commit();
    }
    if error.error_len().is_none() && !i.is_whole() && i.rest().len() == bad.len() {
        let width = match bad.first() {
            Some(0xf0..) => 4,
            Some(0xe0..) => 3,
            _ => 2,
        };
        examined(bad.len());
        return i.short(Need::bytes(width - bad.len()));
    }
    wrong(i, i.position(), "UTF-8", NotUtf8)
}

/// escape ( %x22 / %x5C / %x2F / %x62 / %x66 / %x6E / %x72 / %x74 / %x75 4HEXDIG ), or two of the last that are a pair
#[inline(always)]
fn escape(i: &mut In<'_>) -> Parsed<char> {
    let start = i.position();
    i.consume(1);
    let char = match i.next_byte() {
        Some(byte @ (b'"' | b'\\' | b'/')) => byte.into(),
        Some(b'b') => '\x08',
        Some(b'f') => '\x0c',
        Some(b'n') => '\n',
        Some(b'r') => '\r',
        Some(b't') => '\t',
        Some(b'u') => return unicode(i, start),
        Some(_) => return Err(wrong(i, i.position(), "an escape", BadEscape)),
        None => return Err(unexpected(i, "an escape")),
    };
    i.consume(1);
    Ok(char)
}

/// What a pair of surrogates looks like.
const PAIR: &str = r"\ud83d\ude00";

#[inline(never)]
fn unicode(i: &mut In<'_>, start: usize) -> Parsed<char> {
    i.consume(1);
    let unit = four_hexdig(i)?;
    if let Some(char) = char::from_u32(unit) {
        return Ok(char);
    }
    let lone = "a pair of surrogates";
    if unit >= 0xdc00 {
        return Err(wrong(i, start, lone, LoneSurrogate));
    }
    let second = tag(b"\\u").must(LoneSurrogate).parse(i);
    let low = match second.and_then(|_| four_hexdig(i)) {
        Ok(low) => low,
        // One wait for all that is missing of the pair.
        Err(Stop::Need(_)) => {
            return Err(i.short(Need::bytes(start + PAIR.len() - i.buffer().len())));
        }
        Err(stop) => return Err(stop),
    };
    if !(0xdc00..0xe000).contains(&low) {
        return Err(wrong(i, start, lone, LoneSurrogate));
    }
    let code = 0x10000 + ((unit - 0xd800) << 10) + (low - 0xdc00);
    char::from_u32(code).ok_or_else(|| wrong(i, start, lone, LoneSurrogate))
}

fn four_hexdig(i: &mut In<'_>) -> Parsed<u32> {
    let mut unit = 0;
    for (at, &byte) in i.rest().iter().take(4).enumerate() {
        let Some(digit) = char::from(byte).to_digit(16) else {
            return Err(wrong(
                i,
                i.position() + at,
                "a hexadecimal digit",
                BadEscape,
            ));
        };
        unit = unit << 4 | digit;
    }
    let there = i.rest().len();
    if there < 4 {
        i.expected(i.position() + there, || {
            Expected::Text("a hexadecimal digit")
        });
        examined(there);
        return Err(i.short(Need::bytes(4 - there)));
    }
    i.consume(4);
    Ok(unit)
}

/// ws (2), each byte done for good
#[inline(always)]
fn ws(i: &mut In<'_>) {
    if i.next_byte().is_none_or(|next| next > b' ') {
        return;
    }
    // Mostly it is one space, or the start of a line and its indentation.
    if i.next_byte() == Some(b' ') {
        i.consume(1);
    }
    if i.next_byte().is_some_and(|next| WS.contains(next)) {
        let run = i.run(&WS);
        i.consume(run.len());
    }
    i.commit();
}

#[inline(always)]
fn consumed(i: &mut In<'_>, next: Next) -> Next {
    i.consume(1);
    next
}

/// What to say of the next byte, or if there is none.
#[cold]
fn unexpected(i: &In<'_>, expected: &'static str) -> Stop {
    if i.next_byte().is_none() {
        i.expected(i.position(), || Expected::Text(expected));
        return i.short(Need::bytes(1)).into_cut();
    }
    wrong(i, i.position(), expected, Unexpected)
}

#[cold]
pub(super) fn wrong(i: &In<'_>, at: usize, expected: &'static str, fault: Fault) -> Stop {
    i.expected(at, || Expected::Text(expected));
    i.fail_at(at, fault.into()).into_cut()
}

#[cold]
fn too_long(i: &In<'_>, limit: usize) -> Stop {
    wrong(i, limit, "a shorter input", TooLong)
}
