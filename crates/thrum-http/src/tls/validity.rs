//! When a certificate ends: the one thing of it that rustls does not tell.

use std::time::{Duration, SystemTime};

const SEQUENCE: u8 = 0x30;
const UTC_TIME: u8 = 0x17;
const GENERALIZED_TIME: u8 = 0x18;
/// The version, which only certificates of the first version leave out.
const VERSION: u8 = 0xa0;

/// When a certificate in DER ends (RFC 5280 section 4.1.2.5). `None` if it is malformed.
pub(super) fn not_after(certificate: &[u8]) -> Option<SystemTime> {
    let (_, certificate, _) = element(certificate)?;
    let (_, mut signed, _) = element(certificate)?;
    if *signed.first()? == VERSION {
        signed = element(signed)?.2;
    }
    // Serial number, signature algorithm, issuer.
    for _ in 0..3 {
        signed = element(signed)?.2;
    }
    let (tag, validity, _) = element(signed)?;
    let (_, _, rest) = element(validity)?;
    let (kind, time, _) = element(rest)?;
    let time = std::str::from_utf8(time).ok()?.strip_suffix('Z')?;
    let (year, rest) = match (tag, kind) {
        (SEQUENCE, UTC_TIME) => match number(time, 0)? {
            year @ 50.. => (1900 + year, time.get(2..)?),
            year => (2000 + year, time.get(2..)?),
        },
        (SEQUENCE, GENERALIZED_TIME) => (100 * number(time, 0)? + number(time, 1)?, time.get(4..)?),
        _ => return None,
    };
    let of_day = number(rest, 2)? * 3600 + number(rest, 3)? * 60 + number(rest, 4)?;
    let days = days_since_1970(year, number(rest, 0)?, number(rest, 1)?)?;
    SystemTime::UNIX_EPOCH.checked_add(Duration::from_secs(days * 86400 + of_day))
}

/// An element's tag and contents, and what follows it.
fn element(der: &[u8]) -> Option<(u8, &[u8], &[u8])> {
    let (&[tag, length], rest) = der.split_first_chunk::<2>()?;
    let (length, rest) = match length {
        0..=0x7f => (length as usize, rest),
        0x81..=0x84 => {
            let (digits, rest) = rest.split_at_checked((length & 0x7f) as usize)?;
            let length = digits
                .iter()
                .fold(0, |sum, &digit| sum << 8 | digit as usize);
            (length, rest)
        }
        _ => return None,
    };
    let (contents, rest) = rest.split_at_checked(length)?;
    Some((tag, contents, rest))
}

/// The number that two digits are.
fn number(time: &str, place: usize) -> Option<u64> {
    time.get(2 * place..2 * place + 2)?.parse().ok()
}

fn days_since_1970(year: u64, month: u64, day: u64) -> Option<u64> {
    if !(1970..=9999).contains(&year) || !(1..=12).contains(&month) || !(1..=31).contains(&day) {
        return None;
    }
    // Years that begin in March have their leap day at the end.
    let (year, month) = match month {
        1..=2 => (year - 1, month + 9),
        _ => (year, month - 3),
    };
    let before = year * 365 + year / 4 - year / 100 + year / 400;
    // From the first of March of the year 0 to 1970: 719468 days.
    (before + (153 * month + 2) / 5 + day - 1).checked_sub(719_468)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_are_counted_through_leap_years() {
        assert_eq!(days_since_1970(1970, 1, 1), Some(0));
        assert_eq!(days_since_1970(2000, 2, 29), Some(11_016));
        assert_eq!(days_since_1970(2000, 3, 1), Some(11_017));
        assert_eq!(days_since_1970(2026, 11, 21), Some(20_778));
        assert_eq!(days_since_1970(2026, 13, 21), None);
    }

    #[test]
    fn a_certificate_tells_when_it_ends() {
        for (year, month, day) in [(2049, 12, 31), (2050, 1, 1), (1999, 3, 1)] {
            let mut params = rcgen::CertificateParams::new(["a.test".to_owned()]).unwrap();
            params.not_before = rcgen::date_time_ymd(1990, 1, 1);
            params.not_after = rcgen::date_time_ymd(year, month, day);
            let key = rcgen::KeyPair::generate().unwrap();
            let certificate = params.self_signed(&key).unwrap();
            let days = days_since_1970(year as u64, month.into(), day.into()).unwrap();
            let expected = SystemTime::UNIX_EPOCH + Duration::from_secs(days * 86400);
            assert_eq!(not_after(certificate.der()), Some(expected));
            for cut in 0..certificate.der().len() {
                not_after(&certificate.der()[..cut]);
            }
        }
    }
}
