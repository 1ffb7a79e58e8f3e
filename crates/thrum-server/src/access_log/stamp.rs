//! The time in a log line, made once a second.

use thrum_parse::http::value::HttpDate;

/// Length of `[21/Nov/2026:02:07:00 +0000]`.
pub(super) const STAMP: usize = 28;

/// The text of one second, kept until the next.
pub(super) struct Stamp {
    second: u64,
    text: [u8; STAMP],
}

impl Stamp {
    pub(super) fn new() -> Self {
        Self {
            second: 0,
            text: text(0),
        }
    }

    /// The text of a moment, in seconds since 1970.
    #[inline]
    pub(super) fn at(&mut self, second: u64) -> &[u8; STAMP] {
        if self.second != second {
            self.second = second;
            self.text = text(second);
        }
        &self.text
    }
}

/// Seconds since 1970 by the kernel's coarse clock: a read of memory, right to a few milliseconds.
#[cfg(target_os = "linux")]
pub(super) fn now() -> u64 {
    let now = rustix::time::clock_gettime(rustix::time::ClockId::RealtimeCoarse);
    now.tv_sec.try_into().unwrap_or(0)
}

/// Seconds since 1970.
#[cfg(not(target_os = "linux"))]
pub(super) fn now() -> u64 {
    std::time::SystemTime::now()
        .duration_since(std::time::UNIX_EPOCH)
        .map_or(0, |since| since.as_secs())
}

/// UTC always: a local zone would have to be read from files, and changes twice a year.
#[cold]
fn text(second: u64) -> [u8; STAMP] {
    // The header form has the same parts in another order: `Sat, 21 Nov 2026 02:07:00 GMT`. It cannot say more
    // than the year 9999, so a clock beyond that (and beyond reason) is held there.
    let second = i64::try_from(second).unwrap_or(i64::MAX);
    let header = HttpDate::clamped(second).to_imf_fixdate();

    let mut text = *b"[dd/mmm/yyyy:hh:mm:ss +0000]";
    text[1..3].copy_from_slice(&header[5..7]);
    text[4..7].copy_from_slice(&header[8..11]);
    text[8..12].copy_from_slice(&header[12..16]);
    text[13..21].copy_from_slice(&header[17..25]);
    text
}

#[cfg(test)]
mod tests {
    use std::time::SystemTime;

    use super::*;

    #[test]
    fn apache_form() {
        let mut stamp = Stamp::new();
        assert_eq!(stamp.at(0), b"[01/Jan/1970:00:00:00 +0000]");
        assert_eq!(stamp.at(1_795_226_820), b"[21/Nov/2026:02:07:00 +0000]");
        assert_eq!(stamp.at(1_709_209_599), b"[29/Feb/2024:12:26:39 +0000]");
        assert_eq!(stamp.at(u64::MAX), b"[31/Dec/9999:23:59:59 +0000]");
    }

    #[test]
    fn the_coarse_clock_is_the_clock() {
        let precise = SystemTime::now()
            .duration_since(std::time::UNIX_EPOCH)
            .unwrap()
            .as_secs();
        assert!(precise.abs_diff(now()) <= 1);
    }
}
