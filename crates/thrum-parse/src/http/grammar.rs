//! RFC 9112, as combinators. The names are the RFC's.

use super::error::ChunkError::{BadEnd, BadExtension};
use super::error::HeadError::*;
use super::terminals::{OWS, QDTEXT, TARGET, TCHAR, VALUE};
use super::{Field, HeadLimits, RequestHead, ResponseHead, Version};
use crate::class::DIGIT;
use crate::stop::Parsed;
use crate::{
    ByteSet, In, Parser, Tag, byte, choice, dispatch, hexadecimal, many_count, opt, peek, satisfy,
    skip_while, tag, take_while, take_while1, terminated,
};

/// The longest method that is read, in bytes. The longest registered one has 17.
pub const METHOD_BYTES: usize = 32;

static DIGIT_1_TO_9: ByteSet = DIGIT.without(b"0");

/// request-line = method SP request-target SP HTTP-version CRLF (3), after one empty line at most (2.2)
#[inline(always)]
pub(super) fn request_line(i: &mut In<'_>, most: &HeadLimits, to: &mut RequestHead) -> Parsed<()> {
    opt(tag(b"\r\n")).parse(i)?;
    let method = take_while1(&TCHAR).up_to(METHOD_BYTES, MethodTooLong);
    let method = method.spanned().must(BadMethod);
    to.method = method.context("a method").parse(i)?;
    byte(b' ').must(BadMethod).parse(i)?;
    let target = take_while1(&TARGET).up_to(most.target_bytes, TargetTooLong);
    let target = target.spanned().must(BadTarget);
    to.target = target.context("a target").parse(i)?;
    byte(b' ').must(BadTarget).parse(i)?;
    to.version = http_version(tag(b"\r\n")).parse(i)?;
    Ok(())
}

/// status-line = HTTP-version SP status-code SP [ reason-phrase ] CRLF (4)
#[inline(always)]
pub(super) fn status_line(i: &mut In<'_>, head: &mut ResponseHead) -> Parsed<()> {
    head.version = http_version(tag(b" ")).parse(i)?;
    head.status = status_code(i)?;
    // The RFC has this space even before no reason. Many leave it out then; there is still one way to read the line.
    if i.next_byte() != Some(b'\r') {
        byte(b' ').must(BadStatus).parse(i)?;
    }
    let reason = take_while(&VALUE).spanned().context("a reason phrase");
    head.reason = reason.parse(i)?;
    tag(b"\r\n").must(BadReason).value(()).parse(i)
}

/// status-code = 3DIGIT (4), at least 100 (RFC 9110, 15)
#[inline(always)]
pub(super) fn status_code(i: &mut In<'_>) -> Parsed<u16> {
    let first = satisfy(&DIGIT_1_TO_9);
    let digit = satisfy(&DIGIT);
    (first, digit, digit)
        .map(|(a, b, c)| [a, b, c].map(|digit| u16::from(digit - b'0')))
        .map(|[a, b, c]| a * 100 + b * 10 + c)
        .must(BadStatus)
        .context("a status code")
        .parse(i)
}

/// HTTP-version = "HTTP/" DIGIT "." DIGIT (2.3), and what has to be behind it
#[inline(always)]
fn http_version<'a, const N: usize>(end: Tag<N>) -> impl Parser<'a, Output = Version> {
    let digit = satisfy(&DIGIT);
    let other = (tag(b"HTTP/"), digit, byte(b'.'), digit, end);
    let version = choice((
        tag(b"HTTP/1.1").value(Version::Http11),
        tag(b"HTTP/1.0").value(Version::Http10),
        other.must(BadVersion).try_map(|_| Err(UnsupportedVersion)),
    ));
    terminated(version, end.must(BadVersion)).context("an HTTP version")
}

/// *( field-line CRLF ) CRLF, each committed
#[inline(always)]
pub(super) fn field_lines(i: &mut In<'_>, limit: usize, fields: &mut Vec<Field>) -> Parsed<()> {
    while i.next_byte() != Some(b'\r') {
        if fields.len() >= limit && i.next_byte().is_some() {
            return Err(i.fail(TooManyFields.into()).into_cut());
        }
        fields.push(field_line(i)?);
        i.commit();
    }
    tag(b"\r\n").must(BareCr).value(()).parse(i)
}

/// field-line = field-name ":" OWS field-value OWS CRLF (5)
#[inline(always)]
fn field_line(i: &mut In<'_>) -> Parsed<Field> {
    let name = take_while1(&TCHAR).spanned().must(BadName);
    let colon = byte(b':').must(SpaceBeforeColon); // or something else before it
    let name = peek(terminated(name.context("a field name"), colon)).parse(i)?;
    // All of the line are bytes that a value may have. Looking for its end from its start, not from the colon, lets the
    // processor look for both at once: 4.2 GB/s instead of 3.2.
    let line = take_while(&VALUE).context("a field value").parse(i)?;
    let value = line.get(name.len() + 1..).unwrap_or_default();
    let value = i.span_of(value.trim_ascii()); // which is OWS, of all that is ASCII's space
    tag(b"\r\n").must(BadValue).parse(i)?;
    Ok(Field { name, value })
}

/// chunk-size [ chunk-ext ] CRLF (7.1)
pub(super) fn chunk_line(i: &mut In<'_>) -> Parsed<u64> {
    let size = hexadecimal::<u64>(16).parse(i)?;
    // The line has a limit, so its parts need none.
    many_count(0..=usize::MAX, chunk_ext).parse(i)?;
    tag(b"\r\n").must(BadEnd).parse(i)?;
    Ok(size)
}

/// chunk-ext = BWS ";" BWS chunk-ext-name [ BWS "=" BWS chunk-ext-val ] (7.1.1)
fn chunk_ext(i: &mut In<'_>) -> Parsed<()> {
    let bws = skip_while(&OWS);
    (bws, byte(b';'), bws).parse(i)?;
    take_while1(&TCHAR).must(BadExtension).parse(i)?;
    if opt((bws, byte(b'='), bws)).parse(i)?.is_some() {
        dispatch(|next, i| match next {
            b'"' => quoted_string(i),
            _ => take_while1(&TCHAR).value(()).parse(i),
        })
        .must(BadExtension)
        .parse(i)?;
    }
    Ok(())
}

/// quoted-string = DQUOTE *( qdtext / quoted-pair ) DQUOTE (RFC 9110, 5.6.4)
fn quoted_string(i: &mut In<'_>) -> Parsed<()> {
    let quoted_pair = (byte(b'\\'), satisfy(&VALUE)).value(());
    byte(b'"').parse(i)?;
    many_count(
        0..=usize::MAX,
        choice((take_while1(&QDTEXT).value(()), quoted_pair)),
    )
    .parse(i)?;
    byte(b'"').value(()).parse(i)
}
