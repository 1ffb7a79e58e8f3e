//! The text that Prometheus reads: text format 0.0.4, and OpenMetrics 1.0, which differ in little.

use std::fmt::Write;

use super::histogram::Times;
use super::registry::{Kind, Named, Sample, Value};

/// What each is served as.
pub(super) const PROMETHEUS: &str = "text/plain; version=0.0.4; charset=utf-8";
/// What each is served as.
pub(super) const OPEN_METRICS: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

/// The bounds of a histogram's buckets that are told: powers of two of microseconds, 16 us to 33 s.
const TOLD: std::ops::RangeInclusive<u64> = 1 << 4..=1 << 25;

pub(super) fn prometheus(sample: &Sample) -> String {
    all(sample, false)
}

pub(super) fn open_metrics(sample: &Sample) -> String {
    let mut text = all(sample, true);
    text.push_str("# EOF\n");
    text
}

fn all(sample: &Sample, open: bool) -> String {
    let mut out = String::new();
    for (name, family) in &sample.families {
        // In OpenMetrics a counter is called what it counts, and its one number has the ending.
        let family_name = match family.kind {
            Kind::Counter if open => name.strip_suffix("_total").unwrap_or(name),
            _ => name,
        };
        let kind = match family.kind {
            Kind::Counter => "counter",
            Kind::Gauge => "gauge",
            Kind::Histogram => "histogram",
        };
        let _ = write!(out, "# HELP {family_name} ");
        escape(&family.help, open, &mut out);
        let _ = writeln!(out, "\n# TYPE {family_name} {kind}");
        let total = if open && family.kind == Kind::Counter {
            "_total"
        } else {
            ""
        };
        for (labels, value) in &family.series {
            match value {
                Value::Number(number) => {
                    let name = if total.is_empty() { name } else { family_name };
                    line(&mut out, name, total, labels, None, &number.to_string());
                }
                Value::Times(times) => histogram(&mut out, name, labels, times),
            }
        }
    }
    out
}

fn histogram(out: &mut String, name: &str, labels: &Named, times: &Times) {
    let mut below = 0;
    for (bound, count) in times.octaves() {
        below += count;
        if TOLD.contains(&bound) {
            let bound = (bound as f64 / 1e6).to_string();
            line(
                out,
                name,
                "_bucket",
                labels,
                Some(&bound),
                &below.to_string(),
            );
        }
    }
    let total = times.total().to_string();
    line(out, name, "_bucket", labels, Some("+Inf"), &total);
    let seconds = (times.nanoseconds as f64 / 1e9).to_string();
    line(out, name, "_sum", labels, None, &seconds);
    line(out, name, "_count", labels, None, &total);
}

fn line(out: &mut String, name: &str, ending: &str, labels: &Named, le: Option<&str>, value: &str) {
    out.push_str(name);
    out.push_str(ending);
    let labels = labels
        .iter()
        .map(|(name, value)| (name.as_str(), value.as_str()));
    for (at, (label, value)) in labels.chain(le.map(|le| ("le", le))).enumerate() {
        out.push(if at == 0 { '{' } else { ',' });
        out.push_str(label);
        out.push_str("=\"");
        escape(value, true, out);
        out.push('"');
    }
    if out.ends_with('"') {
        out.push('}');
    }
    let _ = writeln!(out, " {value}");
}

/// Labels' values, and texts of help, which may have quotes except in OpenMetrics.
fn escape(text: &str, quotes: bool, out: &mut String) {
    for character in text.chars() {
        match character {
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '"' if quotes => out.push_str("\\\""),
            other => out.push(other),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use crate::metrics::Registry;

    fn registry() -> Registry {
        let registry = Registry::default();
        registry
            .counter(
                "x_total",
                "Says \"x\\y\".",
                &[("path", "/\"a\\b\"\nc é"), ("z", "")],
            )
            .add(7);
        registry.gauge("g", "G\nh.", &[]).set(-3);
        registry
    }

    #[test]
    fn what_prometheus_reads() {
        let expected = "# HELP g G\\nh.\n# TYPE g gauge\ng -3\n\
            # HELP x_total Says \"x\\\\y\".\n# TYPE x_total counter\n\
            x_total{path=\"/\\\"a\\\\b\\\"\\nc é\",z=\"\"} 7\n";
        assert_eq!(registry().prometheus(), expected);
    }

    #[test]
    fn what_open_metrics_has_otherwise() {
        let text = registry().open_metrics();
        assert!(
            text.contains("# HELP x Says \\\"x\\\\y\\\".\n# TYPE x counter\nx_total{"),
            "{text}"
        );
        assert!(text.ends_with("\n# EOF\n"));
    }

    #[test]
    fn histograms_are_told_in_sums() {
        let registry = Registry::default();
        let histogram = registry.histogram("t_seconds", "T.", &[("a", "b")]);
        for micros in [10, 20, 3_000, 200_000_000] {
            histogram.record(Duration::from_micros(micros));
        }
        let text = registry.prometheus();
        for line in [
            "# TYPE t_seconds histogram",
            "t_seconds_bucket{a=\"b\",le=\"0.000016\"} 1",
            "t_seconds_bucket{a=\"b\",le=\"0.000032\"} 2",
            "t_seconds_bucket{a=\"b\",le=\"0.002048\"} 2",
            "t_seconds_bucket{a=\"b\",le=\"0.004096\"} 3",
            "t_seconds_bucket{a=\"b\",le=\"33.554432\"} 3",
            "t_seconds_bucket{a=\"b\",le=\"+Inf\"} 4",
            "t_seconds_sum{a=\"b\"} 200.00303",
            "t_seconds_count{a=\"b\"} 4",
        ] {
            assert!(text.lines().any(|found| found == line), "{line} in\n{text}");
        }
    }
}
