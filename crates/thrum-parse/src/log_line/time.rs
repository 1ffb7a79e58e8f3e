//! The time of a line.

use crate::explanation::Expected;
use crate::stop::{Need, Parsed, Stop};
use crate::{In, Parser, Reason};

/// What the time looks like: no byte of it is below that of the first picture or above that of the second.
const TIME_LEAST: &[u8; 28] = b"[00/Aaa/0000:00:00:00 +0000]";
const TIME_MOST: &[u8; 28] = b"[39/Szz/9999:29:59:69 -1959]";

/// `[day/month/year:hour:minute:second zone]`
pub(super) struct Time;

impl<'a> Parser<'a> for Time {
    type Output = i64;

    #[inline(always)]
    fn parse(&self, i: &mut In<'a>) -> Parsed<i64> {
        let Some(text) = i.next_bytes() else {
            return Err(time_short(i, i.rest()));
        };
        // A fold without an early exit becomes a handful of vector instructions.
        let fits = |fits, (at, &byte): (usize, &u8)| {
            fits & (byte >= TIME_LEAST[at]) & (byte <= TIME_MOST[at])
        };
        if !text.iter().enumerate().fold(true, fits) {
            return Err(time_short(i, text));
        }
        let Some(seconds) = seconds(text) else {
            return Err(i.fail(Reason::Rejected));
        };
        i.consume(text.len());
        Ok(seconds)
    }
}

/// The time where `text` is not all of it, or has a byte that does not fit.
#[cold]
fn time_short(i: &In<'_>, text: &[u8]) -> Stop {
    let fits = |(at, &byte): (usize, &u8)| (TIME_LEAST[at]..=TIME_MOST[at]).contains(&byte);
    let text = &text[..text.len().min(TIME_LEAST.len())];
    let wrong = text.iter().enumerate().position(|place| !fits(place));
    i.expected(i.position() + wrong.unwrap_or(text.len()), || {
        Expected::Text("a time such as [21/Nov/2026:02:07:00 +0000]")
    });
    match wrong {
        Some(wrong) => i.fail_at(i.position() + wrong, Reason::Unexpected),
        None => i.short(Need::bytes(TIME_LEAST.len() - text.len())),
    }
}

/// Seconds since 1970 of a time that fits the pictures, if there is such a time. A leap second is the next second.
#[inline(always)]
fn seconds(text: &[u8; 28]) -> Option<i64> {
    let two = |at: usize| i64::from(text[at] & 15) * 10 + i64::from(text[at + 1] & 15);
    let (day, year) = (two(1), two(8) * 100 + two(10));
    let (hour, minute, second) = (two(13), two(16), two(19));
    let month = month([text[4], text[5], text[6]])?;
    let leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    let days = match month {
        2 => 28 + i64::from(leap),
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    };
    let east = match text[22] {
        b'+' => 1,
        b'-' => -1,
        _ => return None,
    };
    if !(1..=days).contains(&day) || hour > 23 || second > 60 {
        return None;
    }
    let zone = east * (two(23) * 60 + two(25)) * 60;
    Some(days_since_1970(year, month, day) * 86_400 + hour * 3600 + minute * 60 + second - zone)
}

/// One table look-up, by a sum that differs for all twelve names.
#[inline(always)]
fn month(name: [u8; 3]) -> Option<i64> {
    let (number, expected) = MONTHS[month_slot(name)];
    (name == expected).then_some(number)
}

const fn month_slot(name: [u8; 3]) -> usize {
    (name[1] as usize + name[2] as usize) % 32
}

static MONTHS: [(i64, [u8; 3]); 32] = {
    let names = *b"JanFebMarAprMayJunJulAugSepOctNovDec";
    let mut months = [(0, [0; 3]); 32];
    let mut at = 0;
    while at < 12 {
        let name = [names[3 * at], names[3 * at + 1], names[3 * at + 2]];
        months[month_slot(name)] = (at as i64 + 1, name);
        at += 1;
    }
    months
};

/// By Howard Hinnant's `days_from_civil`: years begin in March, so that the leap day is the last of one.
#[inline(always)]
fn days_since_1970(year: i64, month: i64, day: i64) -> i64 {
    // Far from the year 0, so that nothing is negative.
    let (year, month) = if month > 2 {
        (year + 400, month - 3)
    } else {
        (year + 399, month + 9)
    };
    let day_of_year = (153 * month + 2) / 5 + day - 1;
    year * 365 + year / 4 - year / 100 + year / 400 + day_of_year - 719_468 - 146_097
}
