//! Dates in `Set-Cookie`, which come in more forms than HTTP's three: RFC 6265, 5.1.1.

use super::HttpDate;
use super::date::{Civil, month_named};
use super::syntax::checked;

/// The date that a client makes of an `Expires` attribute: the first time, day, month and year among its words.
pub(super) fn cookie_date(text: &[u8]) -> Option<HttpDate> {
    let (mut time, mut day, mut month, mut year) = (None, None, None, None);
    for word in text.split(|&byte| is_delimiter(byte)) {
        if time.is_none()
            && let Some(found) = time_in(word)
        {
            time = Some(found);
        } else if day.is_none()
            && let Some(found) = number_in(word, 1, 2)
        {
            day = Some(found);
        } else if month.is_none()
            && let Some(found) = word.get(..3).and_then(month_named)
        {
            month = Some(found);
        } else if year.is_none()
            && let Some(found) = number_in(word, 2, 4)
        {
            year = Some(found);
        }
    }
    let year = match year? {
        year @ 70..=99 => year + 1900,
        year @ 0..=69 => year + 2000,
        year @ 1601.. => year,
        _ => return None,
    };
    let (hour, minute, second) = time?;
    if hour > 23 || minute > 59 || second > 59 {
        return None;
    }
    HttpDate::from_civil(Civil {
        year,
        month: month?,
        day: day?,
        hour,
        minute,
        second,
    })
}

/// %x09 / %x20-2F / %x3B-40 / %x5B-60 / %x7B-7E
fn is_delimiter(byte: u8) -> bool {
    matches!(byte, b'\t' | 0x20..=0x2f | 0x3b..=0x40 | 0x5b..=0x60 | 0x7b..=0x7e)
}

/// So many digits at the start of a word, and what comes behind them, if that does not start with a digit.
fn number_at(word: &[u8], least: usize, most: usize) -> Option<(u64, &[u8])> {
    let count = word.iter().take_while(|byte| byte.is_ascii_digit()).count();
    if !(least..=most).contains(&count) {
        return None;
    }
    let (digits, rest) = word.split_at(count);
    Some((checked(digits)?, rest))
}

fn number_in(word: &[u8], least: usize, most: usize) -> Option<u64> {
    Some(number_at(word, least, most)?.0)
}

/// time = 1*2DIGIT ":" 1*2DIGIT ":" 1*2DIGIT ( non-digit *OCTET )
fn time_in(word: &[u8]) -> Option<(u64, u64, u64)> {
    let (hour, rest) = number_at(word, 1, 2)?;
    let (minute, rest) = number_at(rest.strip_prefix(b":")?, 1, 2)?;
    let (second, _) = number_at(rest.strip_prefix(b":")?, 1, 2)?;
    Some((hour, minute, second))
}
