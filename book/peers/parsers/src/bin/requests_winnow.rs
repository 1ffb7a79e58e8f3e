//! Parses all requests of a file with winnow.

use std::hint::black_box;

use parser_peers::{FIELDS, heads};

// grammar
use winnow::ascii::{crlf, digit1};
use winnow::combinator::{repeat, terminated};
use winnow::prelude::*;
use winnow::token::take_while;

type Bytes<'a> = &'a [u8];

struct Request<'a> {
    _line: (Bytes<'a>, Bytes<'a>, Bytes<'a>),
    fields: Vec<(Bytes<'a>, Bytes<'a>)>,
}

fn is_tchar(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte)
}

fn is_value(byte: u8) -> bool {
    matches!(byte, b'\t' | 0x20..=0x7e | 0x80..)
}

fn request<'a>(i: &mut Bytes<'a>) -> ModalResult<Request<'a>> {
    let _line = request_line(i)?;
    let fields = terminated(repeat(..=FIELDS, field_line), crlf).parse_next(i)?;
    Ok(Request { _line, fields })
}

fn request_line<'a>(i: &mut Bytes<'a>) -> ModalResult<(Bytes<'a>, Bytes<'a>, Bytes<'a>)> {
    let method = terminated(take_while(1.., is_tchar), b' ');
    let target = terminated(take_while(1.., 0x21..=0x7e), b' ');
    let version = terminated((b"HTTP/1.", digit1).take(), crlf);
    (method, target, version).parse_next(i)
}

fn field_line<'a>(i: &mut Bytes<'a>) -> ModalResult<(Bytes<'a>, Bytes<'a>)> {
    let name = terminated(take_while(1.., is_tchar), b':');
    let value = terminated(take_while(0.., is_value), crlf);
    (name, value.map(|value: Bytes<'a>| value.trim_ascii())).parse_next(i)
}
// end

fn main() {
    heads("request", |bytes| {
        let mut rest = bytes;
        let head = black_box(request(&mut rest).ok()?);
        Some((bytes.len() - rest.len(), head.fields.len()))
    });
}
