//! What a client makes the server do without paying for it: the frames that come in are told apart by their nine-byte heads,
//! and those that cost more than they bring are counted. No I/O, no clock of its own.
//!
//! The h2 crate checks the protocol. It does not mind how often a client says PING, or SETTINGS, or takes a request back;
//! that is minded here, before it sees the frames.

use std::time::{Duration, Instant};

use super::Http2Error;
use crate::server::Http2Limits;

/// Bytes that a client begins with (RFC 9113 section 3.4).
const PREFACE_BYTES: usize = 24;
const HEAD_BYTES: usize = 9;

const DATA: u8 = 0;
const HEADERS: u8 = 1;
const RST_STREAM: u8 = 3;
const CONTINUATION: u8 = 9;
const END_STREAM: u8 = 0x1;
const END_HEADERS: u8 = 0x4;

/// Bytes, of bodies that came and of all that was sent, that one control frame is due for.
const BYTES_A_FRAME: u64 = 1024;

/// Walks over what is read.
#[derive(Debug)]
pub(super) struct Meter {
    limits: Http2Limits,
    preface_left: usize,
    head: [u8; HEAD_BYTES],
    /// Bytes of the head that are there.
    head_filled: usize,
    payload_left: usize,
    /// In a header block that has not ended: CONTINUATION frames of it so far.
    block: Option<u32>,
    /// Frames and header blocks that have ended.
    finished: u64,
    resets: Allowance,
    controls: Allowance,
    /// Bytes that no control frame was paid with yet.
    credit: u64,
}

impl Meter {
    pub(super) fn new(limits: Http2Limits, now: Instant) -> Self {
        Self {
            limits,
            preface_left: PREFACE_BYTES,
            head: [0; HEAD_BYTES],
            head_filled: 0,
            payload_left: 0,
            block: None,
            finished: 0,
            resets: Allowance::new(limits.resets, now),
            controls: Allowance::new(limits.control_frames, now),
            credit: 0,
        }
    }

    /// Which frame is being waited for the rest of, if one has begun and is no DATA. The first is waited for from the start.
    pub(super) fn unfinished(&self) -> Option<u64> {
        let is_data = self.head_filled == HEAD_BYTES && self.head[3] == DATA;
        let begun = self.head_filled > 0 && !is_data;
        let awaited = begun || self.block.is_some() || self.finished == 0;
        awaited.then_some(self.finished)
    }

    /// Notes bytes that were sent. Few of them are heads and answers to control frames.
    pub(super) fn sent(&mut self, bytes: usize) {
        self.credit = self.credit.saturating_add(bytes as u64);
    }

    /// Walks over bytes that were read.
    pub(super) fn read(&mut self, mut bytes: &[u8]) -> Result<(), Http2Error> {
        let of_preface = self.preface_left.min(bytes.len());
        self.preface_left -= of_preface;
        bytes = &bytes[of_preface..];
        while !bytes.is_empty() {
            if self.head_filled < HEAD_BYTES {
                let count = (HEAD_BYTES - self.head_filled).min(bytes.len());
                self.head[self.head_filled..][..count].copy_from_slice(&bytes[..count]);
                self.head_filled += count;
                bytes = &bytes[count..];
                if self.head_filled < HEAD_BYTES {
                    break;
                }
                self.begin()?;
            }
            let count = self.payload_left.min(bytes.len());
            self.payload_left -= count;
            bytes = &bytes[count..];
            if self.payload_left == 0 {
                self.head_filled = 0;
                self.finished += u64::from(self.block.is_none());
            }
        }
        Ok(())
    }

    /// A frame's head is complete.
    fn begin(&mut self) -> Result<(), Http2Error> {
        let [high, middle, low, kind, flags, ..] = self.head;
        let length = u32::from_be_bytes([0, high, middle, low]) as usize;
        self.payload_left = length;
        match kind {
            HEADERS => {
                self.block = (flags & END_HEADERS == 0).then_some(0);
                Ok(())
            }
            CONTINUATION => {
                let count = self.block.unwrap_or(0) + 1;
                self.block = (flags & END_HEADERS == 0).then_some(count);
                if count > self.limits.continuations {
                    return Err(Http2Error::TooManyContinuations);
                }
                Ok(())
            }
            DATA if length > 0 || flags & END_STREAM != 0 => {
                self.credit = self.credit.saturating_add(length as u64);
                Ok(())
            }
            RST_STREAM if !self.resets.spend() => Err(Http2Error::TooManyResets),
            RST_STREAM => Ok(()),
            // WINDOW_UPDATE is for bodies that move, the others are for little; unknown ones for nothing.
            _ if self.credit >= BYTES_A_FRAME => {
                self.credit -= BYTES_A_FRAME;
                Ok(())
            }
            _ if self.controls.spend() => Ok(()),
            _ => Err(Http2Error::TooManyFrames),
        }
    }
}

/// So many a second. The clock is asked only when they are used up, so a burst may be of twice as many.
#[derive(Debug)]
struct Allowance {
    per_second: u32,
    left: u32,
    since: Instant,
}

impl Allowance {
    fn new(per_second: u32, since: Instant) -> Self {
        Self {
            per_second,
            left: per_second,
            since,
        }
    }

    fn spend(&mut self) -> bool {
        self.spend_at(Instant::now)
    }

    fn spend_at(&mut self, now: impl FnOnce() -> Instant) -> bool {
        if self.left == 0 {
            let now = now();
            if now.saturating_duration_since(self.since) < Duration::from_secs(1) {
                return false;
            }
            self.left = self.per_second;
            self.since = now;
        }
        let had = self.left > 0;
        self.left = self.left.saturating_sub(1);
        had
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
    const SETTINGS: u8 = 4;
    const PING: u8 = 6;

    fn frame(kind: u8, flags: u8, length: usize) -> Vec<u8> {
        let [_, high, middle, low] = (length as u32).to_be_bytes();
        let mut frame = vec![high, middle, low, kind, flags, 0, 0, 0, 1];
        frame.resize(HEAD_BYTES + length, 0xaa);
        frame
    }

    fn meter() -> Meter {
        let limits = Http2Limits {
            resets: 3,
            control_frames: 4,
            continuations: 2,
            ..Http2Limits::default()
        };
        Meter::new(limits, Instant::now())
    }

    /// All at once, and byte by byte: the verdict is the same.
    fn read(frames: &[Vec<u8>]) -> Result<(), Http2Error> {
        let bytes = [PREFACE, &frames.concat()].concat();
        let whole = meter().read(&bytes);
        let mut split = meter();
        let single = bytes.iter().try_for_each(|byte| split.read(&[*byte]));
        assert_eq!(whole, single);
        whole
    }

    #[test]
    fn budgets() {
        use Http2Error::*;
        let settings = frame(SETTINGS, 0, 0);
        let begin = frame(HEADERS, END_STREAM, 5);
        for (name, frames, expected) in [
            (
                "requests are free",
                vec![frame(HEADERS, 5, 30); 100],
                Ok(()),
            ),
            ("resets", vec![frame(RST_STREAM, 0, 4); 3], Ok(())),
            (
                "rapid reset",
                vec![frame(RST_STREAM, 0, 4); 4],
                Err(TooManyResets),
            ),
            ("pings", vec![frame(PING, 0, 8); 4], Ok(())),
            ("ping flood", vec![frame(PING, 0, 8); 5], Err(TooManyFrames)),
            ("settings flood", vec![settings; 5], Err(TooManyFrames)),
            ("empty data", vec![frame(DATA, 0, 0); 5], Err(TooManyFrames)),
            (
                "ends of streams",
                vec![frame(DATA, END_STREAM, 0); 50],
                Ok(()),
            ),
            (
                "a body pays",
                [vec![frame(DATA, 0, 8192)], vec![frame(8, 0, 4); 8]].concat(),
                Ok(()),
            ),
            (
                "continuations",
                vec![
                    begin.clone(),
                    frame(CONTINUATION, 0, 1),
                    frame(CONTINUATION, END_HEADERS, 1),
                ],
                Ok(()),
            ),
            (
                "continuation flood",
                [vec![begin], vec![frame(CONTINUATION, 0, 0); 3]].concat(),
                Err(TooManyContinuations),
            ),
        ] {
            assert_eq!(read(&frames), expected, "{name}");
        }
    }

    #[test]
    fn a_second_brings_new_allowance() {
        let begin = Instant::now();
        let mut allowance = Allowance::new(2, begin);
        assert!(allowance.spend_at(|| begin) && allowance.spend_at(|| begin));
        assert!(!allowance.spend_at(|| begin + Duration::from_millis(999)));
        assert!(allowance.spend_at(|| begin + Duration::from_millis(1000)));
        assert!(allowance.spend_at(|| begin + Duration::from_millis(1000)));
        assert!(!allowance.spend_at(|| begin + Duration::from_millis(1500)));
    }

    #[test]
    fn what_is_waited_for() {
        let mut meter = meter();
        assert_eq!(meter.unfinished(), Some(0));
        meter.read(PREFACE).unwrap();
        assert_eq!(meter.unfinished(), Some(0));
        meter.read(&frame(SETTINGS, 0, 0)).unwrap();
        assert_eq!(meter.unfinished(), None);
        meter.read(&frame(HEADERS, 0, 5)).unwrap();
        assert_eq!(meter.unfinished(), Some(1));
        meter
            .read(&frame(CONTINUATION, END_HEADERS, 5)[..6])
            .unwrap();
        assert_eq!(meter.unfinished(), Some(1));
        meter
            .read(&frame(CONTINUATION, END_HEADERS, 5)[6..])
            .unwrap();
        assert_eq!(meter.unfinished(), None);
        meter.read(&frame(DATA, 0, 500)[..100]).unwrap();
        assert_eq!(meter.unfinished(), None);
    }
}
