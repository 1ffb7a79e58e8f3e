//! RFC 9110, 5.6.7.

use std::time::{Duration, UNIX_EPOCH};

use proptest::prelude::*;
use thrum_parse::http::value::Fault::*;
use thrum_parse::http::value::{FieldValue, HttpDate, ValueError};

fn seconds(value: &str) -> Option<i64> {
    // The middle of 2026.
    let now = HttpDate::from_unix_seconds(1_782_000_000).unwrap();
    HttpDate::parse_at(value.as_bytes(), now)
        .ok()
        .map(HttpDate::unix_seconds)
}

#[test]
fn three_forms() {
    for (value, expected) in [
        ("Sun, 06 Nov 1994 08:49:37 GMT", 784_111_777),
        ("Sunday, 06-Nov-94 08:49:37 GMT", 784_111_777),
        ("Sun Nov  6 08:49:37 1994", 784_111_777),
        (" Sun, 06 Nov 1994 08:49:37 GMT ", 784_111_777),
        ("Thu, 01 Jan 1970 00:00:00 GMT", 0),
        ("Wed, 31 Dec 1969 23:59:59 GMT", -1),
        ("Thu Jan  1 00:00:01 1970", 1),
        ("Saturday, 01-Jan-00 00:00:00 GMT", 946_684_800),
        ("Tue, 29 Feb 2000 12:00:00 GMT", 951_825_600),
        ("Thu, 29 Feb 2024 00:00:00 GMT", 1_709_164_800),
        ("Sat, 31 Dec 2016 23:59:60 GMT", 1_483_228_800),
        ("Sun, 01 Jan 2017 00:00:00 GMT", 1_483_228_800),
        ("Fri, 31 Dec 9999 23:59:59 GMT", 253_402_300_799),
        ("Sat, 01 Jan 0000 00:00:00 GMT", -62_167_219_200),
        ("Wed Dec 31 23:59:59 1969", -1),
        ("Mon, 01 Mar 2100 00:00:00 GMT", 4_107_542_400),
    ] {
        assert_eq!(seconds(value), Some(expected), "{value}");
    }
}

#[test]
fn two_digit_years() {
    // 50 years ahead of 2026-06-21 at most, else in the past.
    assert_eq!(
        seconds("Saturday, 20-Jun-76 00:00:00 GMT"),
        Some(3_359_836_800)
    );
    assert_eq!(
        seconds("Wednesday, 23-Jun-76 00:00:00 GMT"),
        Some(204_336_000)
    );
    assert_eq!(seconds("Tuesday, 23-Jun-76 00:00:00 GMT"), None);
    assert_eq!(
        seconds("Thursday, 01-Jan-26 00:00:00 GMT"),
        Some(1_767_225_600)
    );
    // Late in a century, the next one is near.
    let now = HttpDate::parse(b"Fri, 01 Jan 2094 00:00:00 GMT").unwrap();
    let date = HttpDate::parse_at(b"Wednesday, 01-Jan-10 00:00:00 GMT", now).unwrap();
    assert_eq!(date.to_string(), "Wed, 01 Jan 2110 00:00:00 GMT");
}

#[test]
fn no_dates() {
    bad!(
        HttpDate,
        [
            ("", Truncated, 0),
            ("0", BadDate, 0),
            ("Sun", Truncated, 3),
            ("Xyz, 06 Nov 1994 08:49:37 GMT", BadDate, 0),
            ("sun, 06 Nov 1994 08:49:37 GMT", BadDate, 0),
            ("Mon, 06 Nov 1994 08:49:37 GMT", BadWeekday, 0),
            ("Sun, 6 Nov 1994 08:49:37 GMT", BadDate, 5),
            ("Sun, 06 nov 1994 08:49:37 GMT", BadDate, 8),
            ("Sun, 06 Nov 94 08:49:37 GMT", BadDate, 12),
            ("Sun, 06 Nov 1994 8:49:37 GMT", BadDate, 17),
            ("Sun, 06 Nov 1994 24:00:00 GMT", BadDate, 17),
            ("Sun, 06 Nov 1994 08:60:37 GMT", BadDate, 17),
            ("Sun, 06 Nov 1994 08:49:60 GMT", BadDate, 17),
            ("Sun, 06 Nov 1994 08:49:37 UTC", BadDate, 25),
            ("Sun, 06 Nov 1994 08:49:37 +0000", BadDate, 25),
            ("Sun, 06 Nov 1994 08:49:37", Truncated, 25),
            ("Sun, 06 Nov 1994 08:49:37 GMT x", Unexpected, 30),
            ("Sun,06 Nov 1994 08:49:37 GMT", BadDate, 3),
            ("Sun, 31 Nov 1994 08:49:37 GMT", BadDate, 0),
            ("Tue, 29 Feb 1994 08:49:37 GMT", BadDate, 0),
            ("Mon, 29 Feb 1900 08:49:37 GMT", BadDate, 0),
            ("Sun, 00 Nov 1994 08:49:37 GMT", BadDate, 0),
            ("Sunday, 06-Nov-1994 08:49:37 GMT", BadDate, 17),
            ("Sun, 06-Nov-94 08:49:37 GMT", BadDate, 7),
            ("Sunday Nov  6 08:49:37 1994", BadDate, 6),
            ("Sun Nov 6 08:49:37 1994", BadDate, 8),
            ("Sun Nov  6 08:49:37 94", Truncated, 22),
            ("Fri, 31 Dec 9999 23:59:60 GMT", BadDate, 0),
        ]
    );
}

#[test]
fn system_time() {
    let before = UNIX_EPOCH - Duration::from_millis(500);
    let date = HttpDate::from_system_time(before);
    assert_eq!(date.unix_seconds(), -1);
    assert_eq!(date.to_system_time(), UNIX_EPOCH - Duration::from_secs(1));
    let far = UNIX_EPOCH + Duration::from_secs(253_402_300_800);
    let last = HttpDate::from_unix_seconds(253_402_300_799);
    assert_eq!(Some(HttpDate::from_system_time(far)), last);
    assert_eq!(HttpDate::from_unix_seconds(253_402_300_800), None);
    assert_eq!(
        HttpDate::clamped(i64::MIN).to_imf_fixdate(),
        *b"Sat, 01 Jan 0000 00:00:00 GMT"
    );
}

/// Howard Hinnant's algorithm against counting, and the weekday too: no two days have the same name and date.
#[test]
fn each_day_is_one_after_the_last() {
    let (mut year, mut month, mut day, mut weekday) = (0, 0, 1, 5);
    let months = "JanFebMarAprMayJunJulAugSepOctNovDec";
    for days in -719_528..2_932_897 {
        let date = HttpDate::from_unix_seconds(days * 86_400)
            .unwrap()
            .to_imf_fixdate();
        if day == 1 || day >= 28 {
            let expected = format!(
                "{}, {day:02} {} {year:04} 00:00:00 GMT",
                &"MonTueWedThuFriSatSun"[weekday * 3..][..3],
                &months[month * 3..][..3]
            );
            assert_eq!(String::from_utf8_lossy(&date), expected);
        }
        weekday = (weekday + 1) % 7;
        day += 1;
        let leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
        let lengths = [
            31,
            28 + i32::from(leap),
            31,
            30,
            31,
            30,
            31,
            31,
            30,
            31,
            30,
            31,
        ];
        if day > lengths[month] {
            (day, month) = (1, month + 1);
        }
        if month == 12 {
            (month, year) = (0, year + 1);
        }
    }
    assert_eq!(year, 10_000);
}

proptest! {
    #[test]
    fn written_dates_read_the_same(seconds in -62_167_219_200i64..253_402_300_800) {
        let date = HttpDate::from_unix_seconds(seconds).unwrap();
        prop_assert_eq!(HttpDate::parse(&date.to_imf_fixdate()), Ok(date));
    }
}
