//! Figures in the units that people read: three digits of what is measured, every digit of what is counted.

use std::time::Duration;

/// `850 ns`, `12.3 us`, `1.23 ms`, `4.56 s`.
pub(crate) fn time(time: Duration) -> String {
    let nanoseconds = time.as_nanos() as f64;
    scaled(nanoseconds, 1000.0, &["ns", "us", "ms", "s"])
}

/// `512 B`, `12.3 kB`, `1.23 GB`: thousands, as networks count them.
pub(crate) fn bytes(count: f64) -> String {
    scaled(count, 1000.0, &["B", "kB", "MB", "GB", "TB"])
}

/// `1,234,567`.
pub(crate) fn count(count: u64) -> String {
    let digits = count.to_string();
    let mut out = String::with_capacity(digits.len() + digits.len() / 3);
    for (at, digit) in digits.char_indices() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// So many a second: `1,234,567`, `12.3`, `0.25`.
pub(crate) fn rate(rate: f64) -> String {
    if rate >= 999.5 {
        count(rate.round() as u64)
    } else {
        three_digits(rate)
    }
}

/// A share of 1: `12.3 %`, `0.05 %`.
pub(crate) fn share(share: f64) -> String {
    format!("{} %", significant(100.0 * share))
}

/// A change by a share of 1, with its sign: `+12.3 %`, `-0.5 %`.
pub(crate) fn change(change: f64) -> String {
    // More than a hundred times as much is beyond what percentages tell.
    if change > 99.0 {
        return "> +9900 %".to_owned();
    }
    let text = format!("{:.1}", 100.0 * change.abs());
    let sign = match change {
        _ if text == "0.0" => "",
        ..0.0 => "-",
        _ => "+",
    };
    format!("{sign}{text} %")
}

/// Between two changes: `-19.4 to -10.4 %`.
pub(crate) fn interval([low, high]: [f64; 2]) -> String {
    let low = change(low);
    format!("{} to {}", low.trim_end_matches(" %"), change(high))
}

fn scaled(number: f64, step: f64, units: &[&str]) -> String {
    let mut number = number;
    for (at, unit) in units.iter().enumerate() {
        // Above it three digits would show the next unit's 1.
        if number < step - 0.5 || at + 1 == units.len() {
            return match at {
                0 => format!("{number:.0} {unit}"),
                _ => format!("{} {unit}", three_digits(number)),
            };
        }
        number /= step;
    }
    String::new()
}

fn three_digits(number: f64) -> String {
    match number {
        ..9.995 => format!("{number:.2}"),
        ..99.95 => format!("{number:.1}"),
        _ => format!("{number:.0}"),
    }
}

/// Two digits that are not 0 at least, and none behind the point that are.
fn significant(number: f64) -> String {
    let text = match number {
        0.0 => "0".to_owned(),
        ..0.001 => return "< 0.001".to_owned(),
        ..0.1 => format!("{number:.3}"),
        ..9.995 => format!("{number:.2}"),
        ..99.95 => format!("{number:.1}"),
        _ => format!("{number:.0}"),
    };
    match text.contains('.') {
        true => text.trim_end_matches('0').trim_end_matches('.').to_owned(),
        false => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times() {
        let cases = [
            (0, "0 ns"),
            (850, "850 ns"),
            (12_345, "12.3 us"),
            (999_400, "999 us"),
            (999_600, "1.00 ms"),
            (1_234_567, "1.23 ms"),
            (9_996_000, "10.0 ms"),
            (4_560_000_000, "4.56 s"),
            (3_600_000_000_000, "3600 s"),
        ];
        for (nanoseconds, text) in cases {
            assert_eq!(time(Duration::from_nanos(nanoseconds)), text);
        }
    }

    #[test]
    fn counts_rates_and_bytes() {
        assert_eq!(count(0), "0");
        assert_eq!(count(999), "999");
        assert_eq!(count(1_234_567), "1,234,567");
        assert_eq!(rate(1_234_567.4), "1,234,567");
        assert_eq!(rate(999.7), "1,000");
        assert_eq!(rate(12.34), "12.3");
        assert_eq!(bytes(512.0), "512 B");
        assert_eq!(bytes(98_340_000.0), "98.3 MB");
        assert_eq!(bytes(5e15), "5000 TB");
    }

    #[test]
    fn shares_and_changes() {
        assert_eq!(share(0.0), "0 %");
        assert_eq!(share(1.0), "100 %");
        assert_eq!(share(0.5), "50 %");
        assert_eq!(share(0.1234), "12.3 %");
        assert_eq!(share(0.0005), "0.05 %");
        assert_eq!(share(0.000_001), "< 0.001 %");
        assert_eq!(change(0.1234), "+12.3 %");
        assert_eq!(change(-0.001), "-0.1 %");
        assert_eq!(change(-0.000_1), "0.0 %");
        assert_eq!(change(1e9), "> +9900 %");
        assert_eq!(interval([-0.1, 0.12]), "-10.0 to +12.0 %");
    }
}
