//! JSON: no input makes the reader panic, however it is cut the answer is the same, and the whole value is the one that is
//! built from the pieces.
//!
//! The first byte of the input says how it is cut.
#![no_main]

use libfuzzer_sys::fuzz_target;
use thrum_parse::json::{Builder, Error, Event, Limits, Reader, Value, parse_within};

const LIMITS: Limits = Limits {
    depth: 16,
    bytes: 1024,
};

fuzz_target!(|input: &[u8]| {
    let Some((&size, bytes)) = input.split_first() else {
        return;
    };
    let pieces = read(bytes, usize::from(size).max(1));
    assert_eq!(read(bytes, 1024), pieces);
    match (parse_within(bytes, LIMITS), pieces.1) {
        (Ok(value), Ok(built)) => {
            assert_eq!(Some(&value), built.as_ref());
            assert_eq!(Some(value.into_owned()), built);
        }
        (Err(explanation), Err(error)) => {
            assert_eq!(explanation.at as u64, error.at);
            assert!(explanation.to_string().ends_with('^'));
        }
        (whole, pieces) => panic!("{whole:?} {pieces:?}"),
    }
});

/// What is told of pieces of this size, texts that belong together put together; and the value.
fn read(bytes: &[u8], size: usize) -> (Vec<String>, Result<Option<Value<'static>>, Error>) {
    let (mut reader, mut builder) = (Reader::new(LIMITS), Builder::new());
    let (mut told, mut text) = (Vec::new(), String::new());
    let mut on = |event: Event<'_>| {
        builder.take(event);
        match event {
            Event::Text(piece) => text.push_str(piece),
            Event::Escape(char) => text.push(char),
            other => told.push(format!("{}{other:?}", std::mem::take(&mut text))),
        }
    };
    let fed = bytes
        .chunks(size)
        .try_for_each(|piece| reader.feed(piece, &mut on));
    let read = fed.and_then(|()| reader.finish(&mut on));
    told.push(text);
    (told, read.map(|()| builder.finish()))
}
