//! The date as HTTP writes it; a response's field of it is rendered once a second on each thread.

use std::cell::RefCell;
use std::time::SystemTime;

use http::HeaderValue;
use thrum_parse::http::value::HttpDate;
use thrum_rt::time::coarse_unix_time;

const NAME: &str = "date: ";

/// A date and its field line: `date: Sun, 06 Nov 1994 08:49:37 GMT`.
const LENGTH: usize = 29;
const LINE_LENGTH: usize = NAME.len() + LENGTH + 2;

struct Rendered {
    second: u64,
    line: [u8; LINE_LENGTH],
    /// The date alone, once it was asked for.
    value: Option<HeaderValue>,
}

thread_local! {
    static RENDERED: RefCell<Rendered> = const { RefCell::new(Rendered {
        second: 0,
        line: *b"date: Thu, 01 Jan 1970 00:00:00 GMT\r\n",
        value: None,
    }) };
}

/// The field line of the present date.
pub(crate) fn date_line() -> [u8; LINE_LENGTH] {
    with_rendered(|rendered| rendered.line)
}

/// The present date as a field's value.
pub(crate) fn date_value() -> Option<HeaderValue> {
    with_rendered(|rendered| {
        if rendered.value.is_none() {
            let date = &rendered.line[NAME.len()..][..LENGTH];
            rendered.value = HeaderValue::from_bytes(date).ok();
        }
        rendered.value.clone()
    })
}

fn with_rendered<R>(f: impl FnOnce(&mut Rendered) -> R) -> R {
    let second = coarse_unix_time().as_secs();
    RENDERED.with_borrow_mut(|rendered| {
        if rendered.second != second {
            let date = HttpDate::clamped(i64::try_from(second).unwrap_or(i64::MAX));
            rendered.line[NAME.len()..][..LENGTH].copy_from_slice(&date.to_imf_fixdate());
            rendered.second = second;
            rendered.value = None;
        }
        f(rendered)
    })
}

/// A time as HTTP writes it (IMF-fixdate, RFC 9110 section 5.6.7), in whole seconds. It can tell the years 0 to 9999;
/// what is outside of them is held there.
///
/// ```
/// let time = std::time::UNIX_EPOCH + std::time::Duration::from_secs(784_111_777);
/// assert_eq!(thrum_http::http_date(time), "Sun, 06 Nov 1994 08:49:37 GMT");
/// ```
pub fn http_date(time: SystemTime) -> String {
    HttpDate::from_system_time(time).to_string()
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use thrum_parse::http::value::FieldValue;

    use super::*;

    #[test]
    fn the_date_is_the_present() {
        let line = date_line();
        let now = line
            .strip_prefix(b"date: ")
            .and_then(|line| line.strip_suffix(b"\r\n"));
        let parsed = HttpDate::parse(now.unwrap()).unwrap();
        let age = SystemTime::now()
            .duration_since(parsed.to_system_time())
            .unwrap();
        assert!(age < Duration::from_secs(3), "{parsed}");
    }
}
