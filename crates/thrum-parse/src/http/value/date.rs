//! Dates in HTTP's three forms, RFC 9110, 5.6.7.

use std::fmt;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use super::syntax::{ascii, checked, fault, whole};
use super::{Fault, FieldValue, ValueError};
use crate::class::ALPHA;
use crate::stop::Parsed;
use crate::{In, Parser, byte, tag, take, take_while1};

/// Days from Monday, and months, by their first three letters.
const WEEKDAYS: [&str; 7] = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"];
const LONG_WEEKDAYS: [&str; 7] = [
    "Monday",
    "Tuesday",
    "Wednesday",
    "Thursday",
    "Friday",
    "Saturday",
    "Sunday",
];
const MONTHS: [&str; 12] = [
    "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
];
const DAY: i64 = 86_400;

/// A moment as HTTP tells it: in whole seconds, in the years 0 to 9999. It is written as an IMF-fixdate.
///
/// All three forms are read: `Sun, 06 Nov 1994 08:49:37 GMT`, `Sunday, 06-Nov-94 08:49:37 GMT` and
/// `Sun Nov  6 08:49:37 1994`. A day of the week that is not that of the date is refused ([`Fault::BadWeekday`]), as
/// RFC 5322 section 3.3 requires of the senders whose grammar this is. A leap second counts as the second after it.
///
/// ```
/// use thrum_parse::http::value::{FieldValue, HttpDate};
///
/// let date = HttpDate::parse(b"Sunday, 06-Nov-94 08:49:37 GMT").unwrap();
/// assert_eq!(date.unix_seconds(), 784_111_777);
/// assert_eq!(date.to_string(), "Sun, 06 Nov 1994 08:49:37 GMT");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct HttpDate(i64);

/// A date, of which the day may be none of its month, and a time of the day.
#[derive(Clone, Copy, PartialEq, PartialOrd)]
pub(super) struct Civil {
    pub(super) year: u64,
    /// From 0.
    pub(super) month: usize,
    pub(super) day: u64,
    pub(super) hour: u64,
    pub(super) minute: u64,
    /// 60 only in a leap second.
    pub(super) second: u64,
}

impl Civil {
    fn new(year: u64, month: usize, day: u64, (hour, minute, second): (u64, u64, u64)) -> Self {
        Civil {
            year,
            month,
            day,
            hour,
            minute,
            second,
        }
    }

    /// Days after the start of 1970.
    fn days(self) -> i64 {
        days_from_civil(self.year, self.month, self.day)
    }
}

impl From<HttpDate> for Civil {
    fn from(date: HttpDate) -> Self {
        let (year, month, day) = civil_from_days(date.0.div_euclid(DAY));
        let time = date.0.rem_euclid(DAY).unsigned_abs();
        Civil::new(year, month, day, (time / 3600, time / 60 % 60, time % 60))
    }
}

impl HttpDate {
    const LEAST: i64 = -719_528 * DAY;
    const MOST: i64 = 2_932_897 * DAY - 1;

    /// The moment so many seconds after the start of 1970; `None` outside the years 0 to 9999.
    pub const fn from_unix_seconds(seconds: i64) -> Option<Self> {
        if Self::LEAST <= seconds && seconds <= Self::MOST {
            Some(HttpDate(seconds))
        } else {
            None
        }
    }

    /// The moment so many seconds after the start of 1970, or the nearest in the years 0 to 9999.
    pub fn clamped(seconds: i64) -> Self {
        HttpDate(seconds.clamp(Self::LEAST, Self::MOST))
    }

    /// Seconds after the start of 1970.
    pub const fn unix_seconds(self) -> i64 {
        self.0
    }

    /// The second that `time` is in, or the nearest in the years 0 to 9999.
    pub fn from_system_time(time: SystemTime) -> Self {
        let seconds = |duration: Duration| i64::try_from(duration.as_secs()).unwrap_or(i64::MAX);
        Self::clamped(match time.duration_since(UNIX_EPOCH) {
            Ok(since) => seconds(since),
            Err(before) => {
                let before = before.duration();
                let has_begun = i64::from(before.subsec_nanos() > 0);
                -seconds(before).saturating_add(has_begun)
            }
        })
    }

    /// The start of the second.
    pub fn to_system_time(self) -> SystemTime {
        let distance = Duration::from_secs(self.0.unsigned_abs());
        if self.0 < 0 {
            UNIX_EPOCH.checked_sub(distance).unwrap_or(UNIX_EPOCH)
        } else {
            UNIX_EPOCH + distance
        }
    }

    /// It as an IMF-fixdate, which has 29 bytes.
    pub fn to_imf_fixdate(self) -> [u8; 29] {
        let civil = Civil::from(self);
        let mut text = *b"Sun, 00 Jan 0000 00:00:00 GMT";
        text[..3].copy_from_slice(WEEKDAYS[weekday(civil.days())].as_bytes());
        two_digits(&mut text[5..7], civil.day);
        text[8..11].copy_from_slice(MONTHS[civil.month].as_bytes());
        two_digits(&mut text[12..14], civil.year / 100);
        two_digits(&mut text[14..16], civil.year % 100);
        two_digits(&mut text[17..19], civil.hour);
        two_digits(&mut text[20..22], civil.minute);
        two_digits(&mut text[23..25], civil.second);
        text
    }

    /// Like [`FieldValue::parse`] at the time `now`. The century of a year of two digits depends on it: it is the last
    /// one in which the date is not more than 50 years ahead.
    ///
    /// # Errors
    /// The value is not a date.
    pub fn parse_at(value: &[u8], now: HttpDate) -> Result<Self, ValueError> {
        whole(value, |i| date(i, || now))
    }

    /// `None` where there is no such day.
    pub(super) fn from_civil(civil: Civil) -> Option<Self> {
        let leap = civil.year.is_multiple_of(4)
            && (!civil.year.is_multiple_of(100) || civil.year.is_multiple_of(400));
        let days = match civil.month {
            1 if leap => 29,
            1 => 28,
            3 | 5 | 8 | 10 => 30,
            _ => 31,
        };
        if !(1..=days).contains(&civil.day) {
            return None;
        }
        let time = civil.hour * 3600 + civil.minute * 60 + civil.second;
        Self::from_unix_seconds(civil.days() * DAY + i64::try_from(time).ok()?)
    }
}

impl<'a> FieldValue<'a> for HttpDate {
    fn read(i: &mut In<'a>) -> Parsed<Self> {
        date(i, || Self::from_system_time(SystemTime::now()))
    }

    fn write(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.to_imf_fixdate());
    }
}

impl fmt::Display for HttpDate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(ascii(&self.to_imf_fixdate()))
    }
}

/// HTTP-date = IMF-fixdate / rfc850-date / asctime-date
fn date(i: &mut In<'_>, now: impl FnOnce() -> HttpDate) -> Parsed<HttpDate> {
    let start = i.position();
    let name = take_while1(&ALPHA)
        .must(Fault::BadDate)
        .map(ascii)
        .parse(i)?;
    let among = |names: [&str; 7]| names.iter().position(|&known| known == name);
    let (named, civil) = match (among(WEEKDAYS), among(LONG_WEEKDAYS), i.next_byte()) {
        (Some(named), _, Some(b',')) => (named, imf_fixdate(i)?),
        (Some(named), _, _) => (named, asctime(i)?),
        (None, Some(named), _) => (named, rfc850(i, now)?),
        (None, None, _) => return Err(fault(i, start, Fault::BadDate)),
    };
    let date = HttpDate::from_civil(civil).ok_or_else(|| fault(i, start, Fault::BadDate))?;
    if weekday(civil.days()) != named {
        return Err(fault(i, start, Fault::BadWeekday));
    }
    Ok(date)
}

/// `, 06 Nov 1994 08:49:37 GMT`
fn imf_fixdate(i: &mut In<'_>) -> Parsed<Civil> {
    tag(b", ").must(Fault::BadDate).parse(i)?;
    let day = digits(i, 2)?;
    byte(b' ').must(Fault::BadDate).parse(i)?;
    let month = month(i)?;
    byte(b' ').must(Fault::BadDate).parse(i)?;
    let year = digits(i, 4)?;
    byte(b' ').must(Fault::BadDate).parse(i)?;
    let time = time(i)?;
    tag(b" GMT").must(Fault::BadDate).parse(i)?;
    Ok(Civil::new(year, month, day, time))
}

/// `, 06-Nov-94 08:49:37 GMT`
fn rfc850(i: &mut In<'_>, now: impl FnOnce() -> HttpDate) -> Parsed<Civil> {
    tag(b", ").must(Fault::BadDate).parse(i)?;
    let day = digits(i, 2)?;
    byte(b'-').must(Fault::BadDate).parse(i)?;
    let month = month(i)?;
    byte(b'-').must(Fault::BadDate).parse(i)?;
    let year = digits(i, 2)?;
    byte(b' ').must(Fault::BadDate).parse(i)?;
    let time = time(i)?;
    tag(b" GMT").must(Fault::BadDate).parse(i)?;
    Ok(in_century(Civil::new(year, month, day, time), now()))
}

/// With a year of two digits made the last one that ends in them and puts the date at most 50 years ahead.
fn in_century(date: Civil, now: HttpDate) -> Civil {
    let now = Civil::from(now);
    let mut full = Civil {
        year: now.year / 100 * 100 + 100 + date.year,
        ..date
    };
    let farthest = Civil {
        year: now.year + 50,
        ..now
    };
    while full > farthest && full.year >= 100 {
        full.year -= 100;
    }
    full
}

/// ` Nov  6 08:49:37 1994`
fn asctime(i: &mut In<'_>) -> Parsed<Civil> {
    byte(b' ').must(Fault::BadDate).parse(i)?;
    let month = month(i)?;
    byte(b' ').must(Fault::BadDate).parse(i)?;
    let day = if i.next_byte() == Some(b' ') {
        i.advance(1);
        digits(i, 1)?
    } else {
        digits(i, 2)?
    };
    byte(b' ').must(Fault::BadDate).parse(i)?;
    let time = time(i)?;
    byte(b' ').must(Fault::BadDate).parse(i)?;
    let year = digits(i, 4)?;
    Ok(Civil::new(year, month, day, time))
}

/// time-of-day = hour ":" minute ":" second, where 23:59:60 is a leap second
fn time(i: &mut In<'_>) -> Parsed<(u64, u64, u64)> {
    let start = i.position();
    let hour = digits(i, 2)?;
    byte(b':').must(Fault::BadDate).parse(i)?;
    let minute = digits(i, 2)?;
    byte(b':').must(Fault::BadDate).parse(i)?;
    let second = digits(i, 2)?;
    let leap = (hour, minute, second) == (23, 59, 60);
    if hour > 23 || minute > 59 || (second > 59 && !leap) {
        return Err(fault(i, start, Fault::BadDate));
    }
    Ok((hour, minute, second))
}

fn month(i: &mut In<'_>) -> Parsed<usize> {
    let start = i.position();
    let name = take(3).parse(i)?;
    let month = MONTHS.iter().position(|month| month.as_bytes() == name);
    month.ok_or_else(|| fault(i, start, Fault::BadDate))
}

fn digits(i: &mut In<'_>, count: usize) -> Parsed<u64> {
    let start = i.position();
    let digits = take(count).parse(i)?;
    let number = digits
        .iter()
        .all(u8::is_ascii_digit)
        .then(|| checked(digits));
    number
        .flatten()
        .ok_or_else(|| fault(i, start, Fault::BadDate))
}

/// The month's number by its first three letters, in any case.
pub(super) fn month_named(name: &[u8]) -> Option<usize> {
    MONTHS
        .iter()
        .position(|month| month.as_bytes().eq_ignore_ascii_case(name))
}

fn two_digits(place: &mut [u8], number: u64) {
    for (place, digit) in place.iter_mut().zip([number / 10 % 10, number % 10]) {
        *place = b'0' + digit as u8;
    }
}

/// 0 is Monday; the first day of 1970 was a Thursday.
fn weekday(days: i64) -> usize {
    (days + 3).rem_euclid(7) as usize
}

/// Days after the start of 1970, by Howard Hinnant's `days_from_civil`: eras of 400 years whose years start in March.
fn days_from_civil(year: u64, month: usize, day: u64) -> i64 {
    let (month, day) = (month as i64, day as i64);
    let year = year as i64 - i64::from(month < 2);
    let era = year.div_euclid(400);
    let year_of_era = year.rem_euclid(400);
    let day_of_year = (153 * ((month + 10) % 12) + 2) / 5 + day - 1;
    let day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
    era * 146_097 + day_of_era - 719_468
}

/// Its inverse, for days of the years 0 to 9999: year, month from 0, day.
fn civil_from_days(days: i64) -> (u64, usize, u64) {
    let days = days + 719_468;
    let era = days.div_euclid(146_097);
    let day_of_era = days.rem_euclid(146_097);
    let year_of_era =
        (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let from_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * from_march + 2) / 5 + 1;
    let month = (from_march + 2) % 12;
    let year = year_of_era + era * 400 + i64::from(month < 2);
    (year.unsigned_abs(), month as usize, day.unsigned_abs())
}
