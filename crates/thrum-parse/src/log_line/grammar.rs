//! The grammar of a line.

use super::time::time;
use super::{Entry, FIELD_BYTES, Request};
use crate::stop::Parsed;
use crate::{ByteSet, In, Parser, Reason, byte, decimal, satisfy, tag, take_while, take_while1};

static FIELD: ByteSet = ByteSet::new().with(b" \n").not();
static QUOTED: ByteSet = ByteSet::new().with(b"\"\\\n").not();
/// All that a line is made of.
static LINE: ByteSet = ByteSet::new().with(b"\n").not();

/// A line and its end, which may be the end of the input: a parser, see [`Parser`].
///
/// # Errors
/// A line in neither format fails. One that is not complete needs more, though it may have gone wrong already.
#[inline(always)]
pub fn entry<'a>(i: &mut In<'a>) -> Parsed<Entry<'a>> {
    let field = take_while1(&FIELD).up_to(FIELD_BYTES, Reason::TooLong);
    let host = field.context("a host").parse(i)?;
    byte(b' ').parse(i)?;
    let ident = field.context("an identity").parse(i)?;
    byte(b' ').parse(i)?;
    let user = user.context("a user").parse(i)?;
    let time = time.context("a time").parse(i)?;
    byte(b' ').parse(i)?;
    let request_text = quoted.context("a request").parse(i)?;
    byte(b' ').parse(i)?;
    let status = decimal::<u16>().try_map(status).context("a status");
    let status = status.parse(i)?;
    byte(b' ').parse(i)?;
    let bytes = size.context("a size").parse(i)?;
    let (mut referer, mut user_agent, mut more) = (None, None, &b""[..]);
    if i.next_byte() == Some(b' ') {
        i.consume(1);
        referer = present(quoted.context("a referer").parse(i)?);
        byte(b' ').parse(i)?;
        user_agent = present(quoted.context("a user agent").parse(i)?);
        if i.next_byte() == Some(b' ') {
            i.consume(1);
            let rest = take_while(&LINE).up_to(FIELD_BYTES, Reason::TooLong);
            more = rest.parse(i)?.trim_ascii_end();
        }
    }
    end_of_line(i)?;
    Ok(Entry {
        host,
        ident: present(ident),
        user: present(user),
        time,
        request_text,
        request: request(request_text),
        status,
        bytes,
        referer,
        user_agent,
        more,
    })
}

/// All up to the bracket that opens the time, with the spaces that a user's name may have.
#[inline(always)]
fn user<'a>(i: &mut In<'a>) -> Parsed<&'a [u8]> {
    let start = i.position();
    loop {
        let left = FIELD_BYTES - (i.position() - start).min(FIELD_BYTES);
        let field = take_while(&FIELD).up_to(left, Reason::TooLong);
        field.parse(i)?;
        let user = i.slice_from(start);
        byte(b' ').parse(i)?;
        if i.next_byte().is_none_or(|next| next == b'[') {
            return Ok(user);
        }
    }
}

/// A field in quotes, without them. A backslash takes the byte behind it along.
#[inline(always)]
fn quoted<'a>(i: &mut In<'a>) -> Parsed<&'a [u8]> {
    byte(b'"').parse(i)?;
    let start = i.position();
    loop {
        let left = FIELD_BYTES - (i.position() - start).min(FIELD_BYTES);
        let plain = take_while(&QUOTED).up_to(left, Reason::TooLong);
        plain.parse(i)?;
        if i.next_byte() != Some(b'\\') {
            break;
        }
        (byte(b'\\'), satisfy(&LINE)).parse(i)?;
    }
    let text = i.slice_from(start);
    byte(b'"').parse(i)?;
    Ok(text)
}

/// A request line has a method at least, and a target.
#[inline(always)]
fn request(text: &[u8]) -> Option<Request<'_>> {
    let at = text.iter().take(32).position(|&byte| byte == b' ')?;
    let (method, rest) = (&text[..at], &text[at + 1..]);
    if method.is_empty() || rest.is_empty() {
        return None;
    }
    let (target, version) = match rest.split_last_chunk::<9>() {
        Some((target, version)) if version.starts_with(b" HTTP/") => (target, &version[1..]),
        _ => other_version(rest),
    };
    Some(Request {
        method,
        target,
        version,
    })
}

/// `HTTP/2`, or none.
#[cold]
fn other_version(rest: &[u8]) -> (&[u8], &[u8]) {
    match memchr::memrchr(b' ', rest) {
        Some(at) if rest[at + 1..].starts_with(b"HTTP/") => (&rest[..at], &rest[at + 1..]),
        _ => (rest, b""),
    }
}

#[inline(always)]
fn status(status: u16) -> Result<u16, Reason> {
    (status < 1000).then_some(status).ok_or(Reason::Rejected)
}

#[inline(always)]
fn size(i: &mut In<'_>) -> Parsed<Option<u64>> {
    if i.next_byte() == Some(b'-') {
        i.consume(1);
        return Ok(None);
    }
    decimal::<u64>().parse(i).map(Some)
}

#[inline(always)]
fn present(field: &[u8]) -> Option<&[u8]> {
    (field != b"-").then_some(field)
}

#[inline(always)]
fn end_of_line(i: &mut In<'_>) -> Parsed<()> {
    match i.next_byte() {
        Some(b'\r') => tag(b"\r\n").value(()).parse(i),
        None if i.is_whole() => Ok(()),
        _ => byte(b'\n').value(()).parse(i),
    }
}
