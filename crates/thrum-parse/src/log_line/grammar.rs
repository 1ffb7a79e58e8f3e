//! The grammar of a line.

use super::time::Time;
use super::{Entry, FIELD_BYTES};
use crate::class::NOT_LF;
use crate::stop::Parsed;
use crate::{ByteSet, In, Parser, Reason, byte, decimal, satisfy, tag, take_while, take_while1};

static FIELD: ByteSet = ByteSet::new().with(b" \n").not();
static QUOTED: ByteSet = ByteSet::new().with(b"\"\\\n").not();

/// A line and its end, which may be the end of the input: a parser, see [`Parser`].
///
/// # Errors
/// A line in neither format fails. One that is not complete needs more, though it may have gone wrong already.
#[inline(always)]
pub fn entry<'a>(i: &mut In<'a>) -> Parsed<Entry<'a>> {
    let field = take_while1(&FIELD).up_to(FIELD_BYTES, Reason::TooLong);
    let host = field.context("a host").parse(i)?;
    byte(b' ').parse(i)?;
    // Nearly always both are absent.
    let (ident, user) = if let Some(b"- - [") = i.next_bytes() {
        i.consume(4);
        (None, None)
    } else {
        let ident = field.context("an identity").parse(i)?;
        byte(b' ').parse(i)?;
        (present(ident), present(User.context("a user").parse(i)?))
    };
    let time = Time.context("a time").parse(i)?;
    byte(b' ').parse(i)?;
    let request = Quoted.context("a request").parse(i)?;
    byte(b' ').parse(i)?;
    let status = decimal::<u16>().try_map(status).context("a status");
    let status = status.parse(i)?;
    byte(b' ').parse(i)?;
    let bytes = Size.context("a size").parse(i)?;
    let (mut referer, mut user_agent, mut more) = (None, None, &b""[..]);
    if i.next_byte() == Some(b' ') {
        i.consume(1);
        referer = present(Quoted.context("a referer").parse(i)?);
        byte(b' ').parse(i)?;
        user_agent = present(Quoted.context("a user agent").parse(i)?);
        if i.next_byte() == Some(b' ') {
            i.consume(1);
            let rest = take_while(&NOT_LF).up_to(FIELD_BYTES, Reason::TooLong);
            more = rest.parse(i)?.trim_ascii_end();
        }
    }
    end_of_line(i)?;
    Ok(Entry {
        host,
        ident,
        user,
        time,
        request,
        status,
        bytes,
        referer,
        user_agent,
        more,
    })
}

/// All up to the bracket that opens the time, with the spaces that a user's name may have.
struct User;

impl<'a> Parser<'a> for User {
    type Output = &'a [u8];

    #[inline(always)]
    fn parse(&self, i: &mut In<'a>) -> Parsed<&'a [u8]> {
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
}

/// A field in quotes, without them. A backslash takes the byte behind it along.
struct Quoted;

impl<'a> Parser<'a> for Quoted {
    type Output = &'a [u8];

    #[inline(always)]
    fn parse(&self, i: &mut In<'a>) -> Parsed<&'a [u8]> {
        byte(b'"').parse(i)?;
        let start = i.position();
        loop {
            let left = FIELD_BYTES - (i.position() - start).min(FIELD_BYTES);
            let plain = take_while(&QUOTED).up_to(left, Reason::TooLong);
            plain.parse(i)?;
            if i.next_byte() != Some(b'\\') {
                break;
            }
            (byte(b'\\'), satisfy(&NOT_LF)).parse(i)?;
        }
        let text = i.slice_from(start);
        byte(b'"').parse(i)?;
        Ok(text)
    }
}

#[inline(always)]
fn status(status: u16) -> Result<u16, Reason> {
    (status < 1000).then_some(status).ok_or(Reason::Rejected)
}

/// Digits, or a dash.
struct Size;

impl<'a> Parser<'a> for Size {
    type Output = Option<u64>;

    #[inline(always)]
    fn parse(&self, i: &mut In<'a>) -> Parsed<Option<u64>> {
        if i.next_byte() == Some(b'-') {
            i.consume(1);
            return Ok(None);
        }
        decimal::<u64>().parse(i).map(Some)
    }
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
