//! The records that FastCGI is made of.

use thrum_parse::word::be;
use thrum_parse::{In, Parsed, Parser, any_byte, byte, skip, take};

use crate::gateway::Asked;

/// A request's number on its connection. There is one at a time, so it is always this.
pub(super) const REQUEST: u16 = 1;

/// Bytes of the longest record: head, content, padding.
pub(super) const LONGEST: usize = HEAD + u16::MAX as usize + u8::MAX as usize;

/// Bytes of all variables of a request.
const VARIABLES: usize = 128 * 1024;

const HEAD: usize = 8;
const RESPONDER: u16 = 1;
const KEEP_CONNECTION: u8 = 1;

/// What a record is (FastCGI 1.0, section 8).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Type {
    Begin = 1,
    Abort = 2,
    End = 3,
    Params = 4,
    Stdin = 5,
    Stdout = 6,
    Stderr = 7,
}

/// A record of the application's.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Record<'a> {
    /// Of the response.
    Stdout(&'a [u8]),
    /// For the log.
    Stderr(&'a [u8]),
    /// The request is over.
    End(End),
    /// Of another request, or of a type that is not known.
    Other,
}

/// How a request has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct End {
    /// The program's exit code.
    pub(super) code: u32,
    /// Whether the application took the request at all (section 5.5).
    pub(super) protocol: u8,
}

/// The next record.
pub(super) fn record<'a>(i: &mut In<'a>) -> Parsed<Record<'a>> {
    let head = (
        byte(1),
        any_byte(),
        be::<u16>(),
        be::<u16>(),
        any_byte(),
        any_byte(),
    );
    let (_, kind, request, length, padding, _) = head.context("a record's head").parse(i)?;
    let content = take(length.into()).parse(i)?;
    skip(padding.into()).parse(i)?;
    Ok(match kind {
        _ if request != REQUEST => Record::Other,
        kind if kind == Type::Stdout as u8 => Record::Stdout(content),
        kind if kind == Type::Stderr as u8 => Record::Stderr(content),
        kind if kind == Type::End as u8 => Record::End(end(&mut In::whole(content))?),
        _ => Record::Other,
    })
}

fn end(i: &mut In<'_>) -> Parsed<End> {
    let (code, protocol) = (be::<u32>(), any_byte())
        .context("the end of a request")
        .parse(i)?;
    Ok(End { code, protocol })
}

/// Appends a record. Content that is longer than a record becomes several.
pub(super) fn put(output: &mut Vec<u8>, kind: Type, content: &[u8]) {
    let mut pieces = content.chunks(u16::MAX as usize);
    let mut piece = pieces.next().unwrap_or_default();
    loop {
        let length = (piece.len() as u16).to_be_bytes(); // at most that, as it was cut so
        let request = REQUEST.to_be_bytes();
        let head = [
            1, kind as u8, request[0], request[1], length[0], length[1], 0, 0,
        ];
        output.extend_from_slice(&head);
        output.extend_from_slice(piece);
        match pieces.next() {
            Some(next) => piece = next,
            None => return,
        }
    }
}

/// What a request begins with: that it does, and its variables. `None` if these are too long.
pub(super) fn begin(asked: &Asked<'_>) -> Option<Vec<u8>> {
    let mut variables = Vec::with_capacity(2048);
    asked.each(|name, value| {
        put_length(&mut variables, name.len());
        put_length(&mut variables, value.len());
        variables.extend_from_slice(name.as_bytes());
        variables.extend_from_slice(value);
    });
    if variables.len() > VARIABLES {
        return None;
    }
    let mut output = Vec::with_capacity(variables.len() + 64);
    let role = RESPONDER.to_be_bytes();
    put(
        &mut output,
        Type::Begin,
        &[role[0], role[1], KEEP_CONNECTION, 0, 0, 0, 0, 0],
    );
    put(&mut output, Type::Params, &variables);
    put(&mut output, Type::Params, b"");
    Some(output)
}

/// The length of a name or value (section 3.4).
fn put_length(output: &mut Vec<u8>, length: usize) {
    match u8::try_from(length) {
        Ok(short @ ..128) => output.push(short),
        // Longer than 2 GiB is nothing here.
        _ => output.extend_from_slice(&(length as u32 | 1 << 31).to_be_bytes()),
    }
}

#[cfg(test)]
mod tests {
    use thrum_parse::Stop;

    use super::*;

    #[test]
    fn what_is_put_is_read() {
        let mut bytes = Vec::new();
        put(&mut bytes, Type::Stdout, &[7; 70_000]);
        put(&mut bytes, Type::Stderr, b"oh");
        put(&mut bytes, Type::End, &[0, 0, 1, 0, 2, 0, 0, 0]);
        put(&mut bytes, Type::Begin, b"");
        let mut i = In::partial(&bytes);
        assert_eq!(record(&mut i), Ok(Record::Stdout(&[7; 65_535])));
        assert_eq!(record(&mut i), Ok(Record::Stdout(&[7; 4465])));
        assert_eq!(record(&mut i), Ok(Record::Stderr(b"oh")));
        assert_eq!(
            record(&mut i),
            Ok(Record::End(End {
                code: 256,
                protocol: 2
            }))
        );
        assert_eq!(record(&mut i), Ok(Record::Other));
        assert!(matches!(record(&mut i), Err(Stop::Need(_))));
    }

    #[test]
    fn padding_and_nonsense() {
        let padded = [1, 6, 0, 1, 0, 2, 3, 0, b'h', b'i', 0, 0, 0];
        assert_eq!(record(&mut In::partial(&padded)), Ok(Record::Stdout(b"hi")));
        for end in 0..padded.len() {
            assert!(
                record(&mut In::partial(&padded[..end]))
                    .unwrap_err()
                    .is_need(),
                "{end}"
            );
        }
        assert!(
            !record(&mut In::partial(b"HTTP/1.1 400"))
                .unwrap_err()
                .is_need()
        );
        let short_end = [1, 3, 0, 1, 0, 1, 0, 0, 0];
        assert!(!record(&mut In::partial(&short_end)).unwrap_err().is_need());
    }

    #[test]
    fn lengths() {
        let put = |length| {
            let mut output = Vec::new();
            put_length(&mut output, length);
            output
        };
        assert_eq!(put(127), [127]);
        assert_eq!(put(128), [0x80, 0, 0, 128]);
        assert_eq!(put(70_000), [0x80, 1, 0x11, 0x70]);
    }
}
