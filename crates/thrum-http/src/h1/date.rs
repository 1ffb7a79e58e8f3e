//! The date as HTTP writes it, rendered once a second on each thread.

use std::cell::RefCell;
use std::time::SystemTime;

use http::HeaderValue;
use thrum_parse::http::value::HttpDate;
use thrum_rt::time::coarse_unix_time;

/// Bytes of a date: `Sun, 06 Nov 1994 08:49:37 GMT`.
pub(crate) const LENGTH: usize = 29;

struct Rendered {
    second: u64,
    text: [u8; LENGTH],
    /// The same, once it was asked for.
    value: Option<HeaderValue>,
}

thread_local! {
    static RENDERED: RefCell<Rendered> = const { RefCell::new(Rendered {
        second: 0,
        text: [b' '; LENGTH],
        value: None,
    }) };
}

/// Calls `f` with the present date.
pub(crate) fn with_date<R>(f: impl FnOnce(&[u8; LENGTH]) -> R) -> R {
    with_rendered(|rendered| f(&rendered.text))
}

/// The present date as a field's value.
pub(crate) fn date_value() -> Option<HeaderValue> {
    with_rendered(|rendered| {
        if rendered.value.is_none() {
            rendered.value = HeaderValue::from_bytes(&rendered.text).ok();
        }
        rendered.value.clone()
    })
}

fn with_rendered<R>(f: impl FnOnce(&mut Rendered) -> R) -> R {
    let second = coarse_unix_time().as_secs();
    RENDERED.with_borrow_mut(|rendered| {
        if rendered.second != second {
            let date = HttpDate::clamped(i64::try_from(second).unwrap_or(i64::MAX));
            rendered.text = date.to_imf_fixdate();
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
        let now = with_date(|date| String::from_utf8(date.to_vec()).unwrap());
        let parsed = HttpDate::parse(now.as_bytes()).unwrap();
        let age = SystemTime::now()
            .duration_since(parsed.to_system_time())
            .unwrap();
        assert!(age < Duration::from_secs(3), "{now}");
    }
}
