//! The date as HTTP writes it, rendered once a second on each thread.

use std::cell::RefCell;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use thrum_rt::time::coarse_unix_time;

/// Bytes of a date: `Sun, 06 Nov 1994 08:49:37 GMT`.
pub(crate) const LENGTH: usize = 29;

struct Rendered {
    second: u64,
    text: [u8; LENGTH],
}

thread_local! {
    static RENDERED: RefCell<Rendered> = const { RefCell::new(Rendered { second: 0, text: [b' '; LENGTH] }) };
}

/// Calls `f` with the present date.
pub(crate) fn with_date<R>(f: impl FnOnce(&[u8; LENGTH]) -> R) -> R {
    let second = coarse_unix_time().as_secs();
    RENDERED.with_borrow_mut(|rendered| {
        if rendered.second != second {
            let text = http_date(UNIX_EPOCH + Duration::from_secs(second));
            rendered.text.copy_from_slice(text.as_bytes());
            rendered.second = second;
        }
        f(&rendered.text)
    })
}

/// A time as HTTP writes it (IMF-fixdate, RFC 9110 section 5.6.7), in whole seconds.
///
/// ```
/// let time = std::time::UNIX_EPOCH + std::time::Duration::from_secs(784_111_777);
/// assert_eq!(thrum_http::http_date(time), "Sun, 06 Nov 1994 08:49:37 GMT");
/// ```
pub fn http_date(time: SystemTime) -> String {
    httpdate::fmt_http_date(time)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_date_is_the_present() {
        let now = with_date(|date| String::from_utf8(date.to_vec()).unwrap());
        let parsed = httpdate::parse_http_date(&now).unwrap();
        let age = SystemTime::now().duration_since(parsed).unwrap();
        assert!(age < Duration::from_secs(3), "{now}");
    }
}
