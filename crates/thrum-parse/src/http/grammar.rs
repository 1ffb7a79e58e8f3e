//! The grammar of a request head, RFC 9112 sections 2 to 5, and of a trailer section.

use thiserror::Error;

use super::head::{Field, RequestHead, Version};
use crate::{
    ByteSet, Input, Level, Parsed, Stop, byte, opt, or_else, tag, take_while, take_while1,
};

/// RFC 9110 section 5.6.2: tchar.
const TCHAR: ByteSet = ByteSet::range(b'a', b'z')
    .or(ByteSet::range(b'A', b'Z'))
    .or(ByteSet::range(b'0', b'9'))
    .or(ByteSet::of(b"!#$%&'*+-.^_`|~"));

/// Everything that can be in a URI, and what clients send beside it: visible ASCII.
const TARGET: ByteSet = ByteSet::range(0x21, 0x7e);

/// RFC 9110 section 5.5: field-vchar, SP and HTAB.
const VALUE: ByteSet = ByteSet::range(0x20, 0x7e)
    .or(ByteSet::of(b"\t"))
    .or(ByteSet::range(0x80, 0xff));

/// RFC 9110 section 5.6.3: OWS.
const OWS: ByteSet = ByteSet::of(b" \t");

/// request-line *( field-line CRLF ) CRLF, with one empty line before it forgiven (RFC 9112 section 2.2).
#[inline(always)]
pub(super) fn request_head<L: Level>(
    input: &mut Input<'_, L>,
    buffer: &[u8],
    max_fields: usize,
    head: &mut RequestHead,
) -> Parsed<(), HeadError> {
    or_else(opt(tag(b"\r\n")), HeadError::BadMethod)(input)?;
    head.method = or_else(take_while1(&TCHAR), HeadError::BadMethod)(input)?;
    or_else(byte(b' '), HeadError::BadMethod)(input)?;
    head.target = or_else(take_while1(&TARGET), HeadError::BadTarget)(input)?;
    or_else(byte(b' '), HeadError::BadTarget)(input)?;
    head.version = version(input)?;
    end_of_line(input, HeadError::BadVersion)?;
    field_lines(input, buffer, max_fields, &mut head.fields)
}

/// HTTP-version = "HTTP/" DIGIT "." DIGIT
#[inline(always)]
fn version<L: Level>(input: &mut Input<'_, L>) -> Parsed<Version, HeadError> {
    const DIGIT: ByteSet = ByteSet::range(b'0', b'9');
    let version = input.consumed();
    if or_else(tag(b"HTTP/1.1"), ())(input).is_ok() {
        return Ok(Version::Http11);
    }
    input.go_back(version);
    or_else(tag(b"HTTP/"), HeadError::BadVersion)(input)?;
    let major = or_else(take_while1(&DIGIT), HeadError::BadVersion)(input)?;
    or_else(byte(b'.'), HeadError::BadVersion)(input)?;
    let minor = or_else(take_while1(&DIGIT), HeadError::BadVersion)(input)?;
    match (major.len(), minor.len(), input.since(version).len()) {
        (1, 1, 8) => match or_else(tag_at(version, b"HTTP/1.0"), ())(input) {
            Ok(()) => Ok(Version::Http10),
            Err(_) => Err(Stop::Cut(HeadError::UnsupportedVersion)),
        },
        _ => Err(Stop::Cut(HeadError::BadVersion)),
    }
}

/// A text at an earlier position; the input stays behind it.
#[inline(always)]
fn tag_at<L: Level>(
    position: usize,
    wanted: &'static [u8],
) -> impl Fn(&mut Input<'_, L>) -> Parsed<()> {
    move |input| {
        input.go_back(position);
        tag(wanted)(input)
    }
}

/// *( field-line CRLF ) CRLF
#[inline(always)]
pub(super) fn field_lines<L: Level>(
    input: &mut Input<'_, L>,
    buffer: &[u8],
    max_fields: usize,
    fields: &mut Vec<Field>,
) -> Parsed<(), HeadError> {
    loop {
        match input.first() {
            Some(b'\r' | b'\n') => return end_of_line(input, HeadError::BadName),
            Some(b' ' | b'\t') => return Err(Stop::Cut(HeadError::ObsFold)),
            _ => {}
        }
        let field = field_line(input, buffer)?;
        if fields.len() == max_fields {
            return Err(Stop::Cut(HeadError::TooManyFields));
        }
        fields.push(field);
    }
}

/// field-line CRLF = field-name ":" OWS field-value OWS CRLF
#[inline(always)]
fn field_line<L: Level>(input: &mut Input<'_, L>, buffer: &[u8]) -> Parsed<Field, HeadError> {
    let name = or_else(take_while1(&TCHAR), HeadError::BadName)(input)?;
    let colon = match input.first() {
        Some(b' ' | b'\t') => HeadError::SpaceBeforeColon,
        _ => HeadError::BadName,
    };
    or_else(byte(b':'), colon)(input)?;
    if input.first() == Some(b' ') {
        input.advance(1); // nearly always this one and no other
    }
    or_else(take_while(&OWS), HeadError::BadValue)(input)?;
    let mut value = or_else(take_while(&VALUE), HeadError::BadValue)(input)?;
    end_of_line(input, HeadError::BadValue)?;
    while !value.is_empty() && OWS.contains(buffer[value.end as usize - 1]) {
        value.end -= 1;
    }
    Ok(Field { name, value })
}

#[inline(always)]
fn end_of_line<L: Level>(input: &mut Input<'_, L>, otherwise: HeadError) -> Parsed<(), HeadError> {
    match input.first() {
        Some(b'\r') => or_else(tag(b"\r\n"), HeadError::BareCr)(input),
        Some(b'\n') => Err(Stop::Cut(HeadError::BareLf)),
        Some(_) => Err(Stop::Cut(otherwise)),
        None => or_else(byte(b'\r'), otherwise)(input),
    }
}

/// What is wrong with a message head. It is always the sender's fault.
#[derive(Clone, Copy, Debug, Error, PartialEq, Eq, Hash)]
pub enum HeadError {
    /// The request line does not begin with a method and a space.
    #[error("the request line does not begin with a method and one space")]
    BadMethod,
    /// The target has a byte that no URI has, or is missing.
    #[error("the request target is missing or has a byte that no URI has")]
    BadTarget,
    /// The request line does not end in an HTTP version.
    #[error("the request line does not end in an HTTP version")]
    BadVersion,
    /// The version is well formed, and neither 1.0 nor 1.1.
    #[error("the HTTP version is neither 1.0 nor 1.1")]
    UnsupportedVersion,
    /// A field name is empty or has a byte that no name has.
    #[error("a field name is missing or has a byte that no name has")]
    BadName,
    /// White space between a field name and its colon (RFC 9112 section 5.1).
    #[error("a field name has white space before its colon")]
    SpaceBeforeColon,
    /// A line that goes on the one before (RFC 9112 section 5.2).
    #[error("a field is folded over several lines")]
    ObsFold,
    /// A field value has a control character.
    #[error("a field value has a control character")]
    BadValue,
    /// A line ends in LF alone.
    #[error("a line ends in LF without CR")]
    BareLf,
    /// A CR is not followed by LF.
    #[error("a CR is not followed by LF")]
    BareCr,
    /// The head is longer than [`HeadLimits::head_bytes`](super::HeadLimits::head_bytes).
    #[error("the head is too large")]
    HeadTooLarge,
    /// There are more fields than [`HeadLimits::fields`](super::HeadLimits::fields).
    #[error("the head has too many fields")]
    TooManyFields,
    /// The target is longer than [`HeadLimits::target_bytes`](super::HeadLimits::target_bytes).
    #[error("the request target is too long")]
    TargetTooLong,
    /// The input ended within the head.
    #[error("the connection ended within the head")]
    Truncated,
}
