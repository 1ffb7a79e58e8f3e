//! Parses all requests of a file with winnow. The outputs are slices, the fields go into a vector that is kept.

use std::hint::black_box;

use parser_peers::{FIELDS, requests};

// grammar
use winnow::ascii::{crlf, digit1};
use winnow::combinator::{alt, terminated};
use winnow::prelude::*;
use winnow::stream::AsChar;
use winnow::token::take_while;

type Bytes<'a> = &'a [u8];
type Fields<'a> = Vec<(Bytes<'a>, Bytes<'a>)>;

fn is_tchar(byte: u8) -> bool {
    byte.is_alphanum() || b"!#$%&'*+-.^_`|~".contains(&byte)
}

fn is_value(byte: u8) -> bool {
    matches!(byte, b'\t' | 0x20..=0x7e | 0x80..)
}

fn request_line<'a>(i: &mut Bytes<'a>) -> ModalResult<(Bytes<'a>, Bytes<'a>, Bytes<'a>)> {
    let method = terminated(take_while(1.., is_tchar), b' ').parse_next(i)?;
    let target = terminated(take_while(1.., 0x21..=0x7e), b' ').parse_next(i)?;
    let version = (b"HTTP/1.", digit1).take();
    Ok((method, target, terminated(version, crlf).parse_next(i)?))
}

fn field_line<'a>(i: &mut Bytes<'a>) -> ModalResult<(Bytes<'a>, Bytes<'a>)> {
    let name = terminated(take_while(1.., is_tchar), b':').parse_next(i)?;
    let value = terminated(take_while(0.., is_value), crlf).parse_next(i)?;
    Ok((name, value.trim_ascii()))
}

fn request<'a>(i: &mut Bytes<'a>, fields: &mut Fields<'a>) -> ModalResult<(Bytes<'a>, Bytes<'a>, Bytes<'a>)> {
    let line = request_line(i)?;
    loop {
        match alt((crlf.value(None), field_line.map(Some))).parse_next(i)? {
            Some(field) if fields.len() < FIELDS => fields.push(field),
            Some(_) => return winnow::combinator::fail(i),
            None => return Ok(line),
        }
    }
}
// end

fn main() {
    let mut kept: Fields<'static> = Vec::new();
    requests(|bytes| {
        let mut fields = reused(std::mem::take(&mut kept));
        let mut rest = bytes;
        black_box(request(&mut rest, &mut fields).ok()?);
        let found = fields.len();
        kept = reused(fields);
        Some((bytes.len() - rest.len(), found))
    });
}

/// The memory of a vector, for fields of another buffer: the standard library collects in place.
fn reused<'b>(mut fields: Fields<'_>) -> Fields<'b> {
    fields.clear();
    fields.into_iter().map(|_| unreachable!()).collect()
}
