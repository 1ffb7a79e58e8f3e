//! A connection of the server, HTTP/2: no frames make it panic, go on for ever, or say what is no frame.
//!
//! The first byte of the input says how the bytes are cut, each that follows what comes next, and those behind it how.
#![no_main]

use std::time::Duration;

use libfuzzer_sys::fuzz_target;

mod connections;

use connections::{Heard, talk};

const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

const DATA: u8 = 0;
const HEADERS: u8 = 1;
const RST_STREAM: u8 = 3;
const SETTINGS: u8 = 4;
const WINDOW_UPDATE: u8 = 8;
const CONTINUATION: u8 = 9;

const END_STREAM: u8 = 1;
const END_HEADERS: u8 = 4;

fuzz_target!(|input: &[u8]| {
    let Some((&size, script)) = input.split_first() else {
        return;
    };
    let size = usize::from(size).max(1);
    let mut frames = Frames::default();
    frames.bytes.extend_from_slice(PREFACE);
    frames.put(SETTINGS, 0, 0, &[]);
    let mut script = script.iter().copied();
    while let Some(word) = script.next() {
        frames.write(word, &mut script);
    }
    let whole = talk(&frames.bytes, frames.bytes.len(), Duration::ZERO);
    check(&whole, frames.last);
    check(
        &talk(&frames.bytes, size, Duration::from_millis(1)),
        frames.last,
    );
    check(
        &talk(&frames.bytes, size.max(64), Duration::from_secs(9)),
        frames.last,
    );
});

/// What a client says.
#[derive(Default)]
struct Frames {
    bytes: Vec<u8>,
    /// The last stream that was opened as it should be.
    last: u32,
}

impl Frames {
    fn put(&mut self, kind: u8, flags: u8, stream: u32, payload: &[u8]) {
        let length = payload.len() as u32;
        self.bytes.extend_from_slice(&length.to_be_bytes()[1..]);
        self.bytes.extend_from_slice(&[kind, flags]);
        self.bytes.extend_from_slice(&stream.to_be_bytes());
        self.bytes.extend_from_slice(payload);
    }

    /// What a word of the script stands for.
    fn write(&mut self, word: u8, script: &mut impl Iterator<Item = u8>) {
        let mut next = || script.next().unwrap_or_default();
        match word % 12 {
            // A request without a body, with one, and with one whose head is cut.
            0 => {
                let block = block(0x82, next());
                self.last += 2;
                self.put(HEADERS, END_STREAM | END_HEADERS, self.stream(0), &block);
            }
            1 => {
                let block = block(0x83, next());
                self.last += 2;
                self.put(HEADERS, END_HEADERS, self.stream(0), &block);
            }
            2 => {
                let block = block(0x83, next());
                let (start, end) = block.split_at(usize::from(next()) % block.len());
                self.last += 2;
                self.put(HEADERS, 0, self.stream(0), start);
                self.put(CONTINUATION, END_HEADERS, self.stream(0), end);
            }
            3 | 4 => {
                let (back, length) = (next(), next());
                let end = if word % 12 == 3 { END_STREAM } else { 0 };
                let data = vec![b'd'; usize::from(length)];
                self.put(DATA, end, self.stream(back), &data);
            }
            5 => {
                let (back, code) = (next(), next());
                self.put(RST_STREAM, 0, self.stream(back), &[0, 0, 0, code]);
            }
            6 => {
                let (back, by) = (next(), u32::from(next()) << (next() % 32));
                let stream = if back == 255 { 0 } else { self.stream(back) };
                self.put(WINDOW_UPDATE, 0, stream, &by.to_be_bytes());
            }
            7 => {
                let (which, value) = (next() % 10, u32::from(next()) << (next() % 32));
                let mut setting = vec![0, which];
                setting.extend_from_slice(&value.to_be_bytes());
                self.put(SETTINGS, 0, 0, &setting);
            }
            // Trailers.
            8 => {
                let back = next();
                let stream = self.stream(back);
                self.put(HEADERS, END_STREAM | END_HEADERS, stream, b"\x00\x01x\x01y");
            }
            // A head of any bytes.
            9 => {
                let length = usize::from(next() % 64);
                let mut block = block(0x82, 0);
                block.extend((0..length).map(|_| next()));
                self.last += 2;
                self.put(HEADERS, END_STREAM | END_HEADERS, self.stream(0), &block);
            }
            // Any frame.
            10 => {
                let (kind, flags, stream, length) = (next(), next(), next(), next() % 64);
                let payload: Vec<_> = (0..length).map(|_| next()).collect();
                self.put(kind % 12, flags, u32::from(stream), &payload);
            }
            _ => {
                let length = next() % 32;
                let bytes: Vec<_> = (0..length).map(|_| next()).collect();
                self.bytes.extend_from_slice(&bytes);
            }
        }
    }

    /// The last stream, or one so far back.
    fn stream(&self, back: u8) -> u32 {
        // The first is 1, and `last` is one more than the number.
        self.last.saturating_sub(1 + 2 * u32::from(back % 8)).max(1)
    }
}

/// A header block: `:method`, `:scheme`, `:path`, `:authority`.
fn block(method: u8, path: u8) -> Vec<u8> {
    let letter = b"etshwplnxi"[usize::from(path) % 10];
    let mut block = vec![method, 0x86, 0x04, 2, b'/', letter];
    block.extend_from_slice(b"\x01\x01a");
    block
}

/// What a server says must be frames, and be on streams that the client has opened.
fn check(heard: &Heard, last: u32) {
    let mut rest = &heard.bytes[..];
    let mut heads = 0;
    let mut first = true;
    while let Some((head, behind)) = rest.split_at_checked(9) {
        let length = u32::from_be_bytes([0, head[0], head[1], head[2]]) as usize;
        let (kind, flags) = (head[3], head[4]);
        let stream = u32::from_be_bytes([head[5], head[6], head[7], head[8]]);
        assert!(kind <= CONTINUATION, "a frame of type {kind}");
        assert_eq!(first, kind == SETTINGS && flags == 0, "settings are first");
        first = false;
        let answers = kind == HEADERS || kind == DATA;
        assert!(!answers || stream % 2 == 1, "an answer on stream {stream}");
        // The script may open streams by frames of its own, of numbers up to 255.
        assert!(stream <= last.max(255), "stream {stream} of {last}");
        if kind == HEADERS {
            heads += 1;
        }
        match behind.split_at_checked(length) {
            Some((_, behind)) => rest = behind,
            None => return, // it was cut off
        }
    }
    // Each has a head at most, trailers, and the hints.
    assert!(heads <= 3 * heard.methods.len() + 128, "{heads} heads");
}
