//! Second by second, as CSV (RFC 4180).

use std::fmt::Write;
use std::time::Duration;

use super::{Run, supports};
use crate::results::Second;

const PERCENTILES: [f64; 4] = [50.0, 90.0, 99.0, 99.9];

/// A line for each second of each run, and one above them that names the columns: `run` (its name), `round` (from 1, of the
/// runs of one name), `second` (which began so many seconds after the run began to measure; the last may be less than a
/// second), `answered`, `errors`, `received_bytes`, and latencies in milliseconds: `mean_ms`, `p50_ms`, `p90_ms`,
/// `p99_ms`, `p99.9_ms`, `max_ms`. What too few requests say anything about is empty.
pub fn seconds(runs: &[Run<'_>]) -> String {
    let percentiles = PERCENTILES
        .map(|percent| format!("p{percent}_ms"))
        .join(",");
    let mut out =
        format!("run,round,second,answered,errors,received_bytes,mean_ms,{percentiles},max_ms\r\n");
    for (at, run) in runs.iter().enumerate() {
        let name = field(run.name);
        let round = 1 + runs[..at]
            .iter()
            .filter(|other| other.name == run.name)
            .count();
        for (at, second) in run.results.seconds.iter().enumerate() {
            let _ = write!(out, "{name},{round},{at}");
            line(second, &mut out);
        }
    }
    out
}

fn line(second: &Second, out: &mut String) {
    let Second {
        answered,
        errors,
        received_bytes,
        latency,
    } = second;
    let any = latency.count() > 0;
    let percentile = |percent| supports(latency, percent).then(|| latency.percentile(percent));
    let _ = write!(out, ",{answered},{errors},{received_bytes}");
    let mean = any.then(|| latency.mean());
    let max = any.then(|| latency.max());
    let percentiles = PERCENTILES.map(percentile);
    for value in [mean].into_iter().chain(percentiles).chain([max]) {
        out.push(',');
        out.extend(value.map(ms));
    }
    out.push_str("\r\n");
}

fn ms(time: Duration) -> String {
    format!("{:.3}", time.as_secs_f64() * 1e3)
}

fn field(text: &str) -> String {
    if text.contains([',', '"', '\r', '\n']) {
        format!("\"{}\"", text.replace('"', "\"\""))
    } else {
        text.to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples;

    #[test]
    fn a_line_a_second() {
        let mut a = samples::run(1, 2, 1.0, 1000);
        a.seconds[1] = Second {
            errors: 4,
            ..Second::default()
        };
        let runs = [
            Run {
                name: "A",
                results: &a,
            },
            Run {
                name: "B, \"the other\"",
                results: &a,
            },
            Run {
                name: "A",
                results: &a,
            },
        ];
        let text = seconds(&runs);
        let lines: Vec<_> = text.split("\r\n").collect();
        assert_eq!(
            lines[0],
            "run,round,second,answered,errors,received_bytes,mean_ms,p50_ms,p90_ms,p99_ms,p99.9_ms,max_ms"
        );
        let first: Vec<_> = lines[1].split(',').collect();
        assert_eq!(first[..6], ["A", "1", "0", "1000", "0", "700000"]);
        let figures: Vec<f64> = first[6..10]
            .iter()
            .map(|text| text.parse().unwrap())
            .collect();
        assert!((figures[1] - 1.0).abs() < 0.1, "{figures:?}");
        assert!(
            figures[1] < figures[2] && figures[2] < figures[3],
            "{figures:?}"
        );
        assert_eq!(first[10], "", "a thousand requests say nothing about p99.9");
        assert_eq!(lines[2], "A,1,1,0,4,0,,,,,,");
        assert!(lines[3].starts_with("\"B, \"\"the other\"\"\",1,0,1000"));
        assert_eq!(lines.len(), 8);
        assert!(lines[5].starts_with("A,2,0,1000"));
        assert_eq!(lines[7], "");
    }
}
