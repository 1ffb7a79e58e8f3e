//! The time in a line, made once a second.

use thrum_parse::http::value::HttpDate;

/// Length of `[21/Nov/2026:02:07:00 +0000]`.
pub(crate) const APACHE: usize = 28;
/// Length of `2026-11-21T02:07:00.000Z`.
pub(crate) const ISO: usize = 24;

/// A moment by the kernel's coarse clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Moment {
    /// Seconds since 1970.
    pub(crate) second: u64,
    /// Milliseconds of that second.
    pub(crate) millisecond: u16,
}

/// The texts of one second, kept until the next.
pub(crate) struct Stamp {
    second: u64,
    apache: [u8; APACHE],
    iso: [u8; ISO],
}

impl Stamp {
    pub(crate) fn new() -> Self {
        let header = header(0);
        Self {
            second: 0,
            apache: apache(&header),
            iso: iso(&header),
        }
    }

    /// Apache's form: `[21/Nov/2026:02:07:00 +0000]`.
    #[inline]
    pub(crate) fn apache(&mut self, at: Moment) -> &[u8; APACHE] {
        self.turn_to(at.second);
        &self.apache
    }

    /// RFC 3339: `2026-11-21T02:07:00.123Z`.
    #[inline]
    pub(crate) fn iso(&mut self, at: Moment) -> &[u8; ISO] {
        self.turn_to(at.second);
        let digit = |number: u16| b'0' + (number % 10) as u8;
        let ms = at.millisecond;
        self.iso[20..23].copy_from_slice(&[digit(ms / 100), digit(ms / 10), digit(ms)]);
        &self.iso
    }

    #[inline]
    fn turn_to(&mut self, second: u64) {
        if self.second != second {
            self.make(second);
        }
    }

    #[cold]
    fn make(&mut self, second: u64) {
        let header = header(second);
        self.second = second;
        self.apache = apache(&header);
        self.iso = iso(&header);
    }
}

/// By the kernel's coarse clock: a read of memory, right to a few milliseconds.
#[cfg(target_os = "linux")]
pub(crate) fn now() -> Moment {
    let now = rustix::time::clock_gettime(rustix::time::ClockId::RealtimeCoarse);
    Moment {
        second: now.tv_sec.try_into().unwrap_or(0),
        millisecond: (now.tv_nsec / 1_000_000) as u16,
    }
}

#[cfg(not(target_os = "linux"))]
pub(crate) fn now() -> Moment {
    let since = std::time::SystemTime::now()
        .duration_since(std::time::UNIX_EPOCH)
        .unwrap_or_default();
    Moment {
        second: since.as_secs(),
        millisecond: since.subsec_millis() as u16,
    }
}

/// As header fields have it: `Sat, 21 Nov 2026 02:07:00 GMT`. UTC always: a local zone would have to be read from files, and
/// changes twice a year. It cannot say more than the year 9999, so a clock beyond that (and beyond reason) is held there.
fn header(second: u64) -> [u8; 29] {
    let second = i64::try_from(second).unwrap_or(i64::MAX);
    HttpDate::clamped(second).to_imf_fixdate()
}

fn apache(header: &[u8; 29]) -> [u8; APACHE] {
    let mut text = *b"[dd/mmm/yyyy:hh:mm:ss +0000]";
    text[1..3].copy_from_slice(&header[5..7]);
    text[4..7].copy_from_slice(&header[8..11]);
    text[8..12].copy_from_slice(&header[12..16]);
    text[13..21].copy_from_slice(&header[17..25]);
    text
}

fn iso(header: &[u8; 29]) -> [u8; ISO] {
    let months = b"JanFebMarAprMayJunJulAugSepOctNovDec".chunks_exact(3);
    let month = months
        .zip(1_u8..)
        .find_map(|(name, month)| (name == &header[8..11]).then_some(month))
        .unwrap_or(1);
    let mut text = *b"yyyy-mm-ddThh:mm:ss.000Z";
    text[..4].copy_from_slice(&header[12..16]);
    text[5..7].copy_from_slice(&[b'0' + month / 10, b'0' + month % 10]);
    text[8..10].copy_from_slice(&header[5..7]);
    text[11..19].copy_from_slice(&header[17..25]);
    text
}

#[cfg(test)]
mod tests {
    use std::time::SystemTime;

    use super::*;

    fn at(second: u64, millisecond: u16) -> Moment {
        Moment {
            second,
            millisecond,
        }
    }

    #[test]
    fn apache_form() {
        let mut stamp = Stamp::new();
        assert_eq!(stamp.apache(at(0, 0)), b"[01/Jan/1970:00:00:00 +0000]");
        assert_eq!(
            stamp.apache(at(1_795_226_820, 9)),
            b"[21/Nov/2026:02:07:00 +0000]"
        );
        assert_eq!(
            stamp.apache(at(1_709_209_599, 9)),
            b"[29/Feb/2024:12:26:39 +0000]"
        );
        assert_eq!(
            stamp.apache(at(u64::MAX, 0)),
            b"[31/Dec/9999:23:59:59 +0000]"
        );
    }

    #[test]
    fn iso_form() {
        let mut stamp = Stamp::new();
        assert_eq!(stamp.iso(at(0, 7)), b"1970-01-01T00:00:00.007Z");
        assert_eq!(
            stamp.iso(at(1_795_226_820, 123)),
            b"2026-11-21T02:07:00.123Z"
        );
        assert_eq!(
            stamp.iso(at(1_795_226_820, 45)),
            b"2026-11-21T02:07:00.045Z"
        );
        assert_eq!(
            stamp.iso(at(1_765_000_000, 999)),
            b"2025-12-06T05:46:40.999Z"
        );
    }

    #[test]
    fn the_coarse_clock_is_the_clock() {
        let precise = SystemTime::now()
            .duration_since(std::time::UNIX_EPOCH)
            .unwrap()
            .as_secs();
        assert!(precise.abs_diff(now().second) <= 1);
    }
}
