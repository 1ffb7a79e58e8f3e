//! The date as HTTP writes it; a response's field of it is rendered once a second on each thread.

use std::cell::Cell;
use std::time::SystemTime;

use thrum_parse::http::value::HttpDate;
use thrum_rt::time::coarse_unix_time;

/// The second that the line is of, and the line.
type Rendered = (u64, [u8; 37]);

const NEVER: Rendered = (0, *b"date: Sun, 06 Nov 1994 08:49:37 GMT\r\n");

thread_local! {
    static RENDERED: Cell<Rendered> = const { Cell::new(NEVER) };
}

/// The field line of the present date.
pub(crate) fn date_line() -> [u8; 37] {
    let second = coarse_unix_time().as_secs();
    let (rendered, line) = RENDERED.get();
    if rendered == second {
        return line;
    }
    let date = HttpDate::clamped(i64::try_from(second).unwrap_or(i64::MAX));
    let mut line = NEVER.1;
    line["date: ".len()..][..29].copy_from_slice(&date.to_imf_fixdate());
    RENDERED.set((second, line));
    line
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
