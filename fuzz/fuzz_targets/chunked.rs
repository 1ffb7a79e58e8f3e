//! Chunk lines and the trailer section: no input makes them panic, and however the input is cut, the answer is the same.
//!
//! The first byte of the input says how it is cut.
#![no_main]

use libfuzzer_sys::fuzz_target;
use thrum_parse::http::{ChunkParser, Field, Status, TrailerParser};

const LINE_BYTES: usize = 64;
const TRAILER_BYTES: usize = 128;
const TRAILERS: usize = 4;

fuzz_target!(|input: &[u8]| {
    let Some((&size, bytes)) = input.split_first() else {
        return;
    };
    assert_eq!(
        read(bytes, usize::MAX),
        read(bytes, usize::from(size).max(1))
    );
});

/// A body, as far as it is right: the sizes of its chunks, its trailer fields, and where it ends.
#[derive(Debug, Default, PartialEq)]
struct Body {
    sizes: Vec<u64>,
    trailers: Vec<Field>,
    end: usize,
    /// What was wrong; or what came too early to an end.
    fault: Option<String>,
}

/// Reads a body of which `piece` more bytes come at a time. A fault in a line without an end may be told late; so at the
/// end of the input a fresh parser, which has no time to lose, is asked once more.
fn read(bytes: &[u8], piece: usize) -> Body {
    let mut body = Body::default();
    let mut chunks = ChunkParser::new(LINE_BYTES);
    let mut come = 0;
    while body.sizes.last() != Some(&0) {
        // The data is not looked at: pretend that chunks have none.
        match chunks.parse(&bytes[body.end..come]) {
            Ok(Some(line)) => {
                assert!(line.consumed <= LINE_BYTES);
                body.end += line.consumed;
                body.sizes.push(line.size);
            }
            Ok(None) if grow(&mut come, bytes, piece) => {}
            Ok(None) => {
                let fault = ChunkParser::new(LINE_BYTES).parse(&bytes[body.end..]).err();
                return body.because(fault.map_or("the end".into(), |fault| fault.to_string()));
            }
            Err(fault) => return body.because(fault.to_string()),
        }
    }
    let mut trailers = TrailerParser::new(TRAILER_BYTES, TRAILERS);
    let mut fields = Vec::new();
    loop {
        match trailers.parse(&bytes[body.end..come], &mut fields) {
            Ok(Status::Complete { consumed }) => {
                assert!(consumed <= TRAILER_BYTES && fields.len() <= TRAILERS);
                body.end += consumed;
                body.trailers = fields;
                return body;
            }
            Ok(Status::Partial) if grow(&mut come, bytes, piece) => {}
            Ok(Status::Partial) => {
                let mut trailers = TrailerParser::new(TRAILER_BYTES, TRAILERS);
                let fault = trailers.parse(&bytes[body.end..], &mut fields).err();
                return body.because(fault.map_or("the end".into(), |fault| fault.to_string()));
            }
            Err(fault) => return body.because(fault.to_string()),
        }
    }
}

impl Body {
    fn because(mut self, fault: String) -> Body {
        self.fault = Some(fault);
        self
    }
}

/// Lets more bytes come, if there are any.
fn grow(come: &mut usize, bytes: &[u8], piece: usize) -> bool {
    let grown = *come < bytes.len();
    *come = come.saturating_add(piece).min(bytes.len());
    grown
}
