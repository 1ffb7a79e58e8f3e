//! Second by second, as an interval log of HdrHistogram, which HistogramLogAnalyzer, HistogramLogProcessor and the log
//! viewers of the project read.

use std::time::{Duration, SystemTime};

use hdrhistogram::serialization::V2DeflateSerializer;
use hdrhistogram::serialization::interval_log::{IntervalLogWriterBuilder, Tag};

use super::Run;

/// The tools divide by it before they show a value: nanoseconds become milliseconds.
const MILLISECOND: f64 = 1e6;

/// A histogram of latencies, in nanoseconds, for each second of each run, in the order of their times. Those of a single run have no tag, which is what
/// the tools read when nothing is said; of several, each has the run's name for its tag.
pub fn intervals(runs: &[Run<'_>]) -> Vec<u8> {
    let began = runs.iter().map(|run| run.results.began_ms).min();
    let base = SystemTime::UNIX_EPOCH + Duration::from_millis(began.unwrap_or(0));
    let mut out = Vec::new();
    let mut serializer = V2DeflateSerializer::new();
    let mut log = IntervalLogWriterBuilder::new()
        .add_comment(&format!(
            "[Logged with thrum {}]",
            env!("CARGO_PKG_VERSION")
        ))
        .add_comment("[Histogram log format version 1.3]")
        .with_start_time(base)
        .with_base_time(base)
        .with_max_value_divisor(MILLISECOND)
        .begin_log_with(&mut out, &mut serializer)
        .expect("memory takes all that is written");
    let mut runs = runs.to_vec();
    runs.sort_by_key(|run| run.results.began_ms);
    for run in &runs {
        let name = tag(run.name);
        let tag = (runs.len() > 1).then(|| Tag::new(&name)).flatten();
        let since = Duration::from_millis(run.results.began_ms - began.unwrap_or(0));
        let elapsed = run.results.elapsed();
        for (at, second) in run.results.seconds.iter().enumerate() {
            let start = Duration::from_secs(at as u64);
            let length = elapsed.saturating_sub(start).min(Duration::from_secs(1));
            log.write_histogram(second.latency.histogram(), since + start, length, tag)
                .expect("memory takes all that is written");
        }
    }
    drop(log);
    out
}

/// A tag has no commas and no white space.
fn tag(name: &str) -> String {
    name.replace(|letter: char| letter == ',' || letter.is_whitespace(), "-")
}

#[cfg(test)]
mod tests {
    use base64::Engine as _;
    use base64::prelude::BASE64_STANDARD;
    use hdrhistogram::Histogram;
    use hdrhistogram::serialization::Deserializer;
    use hdrhistogram::serialization::interval_log::{IntervalLogIterator, LogEntry};

    use super::*;
    use crate::samples;

    type Interval = (Option<String>, Duration, Duration, Histogram<u64>);

    fn read(log: &[u8]) -> Vec<Interval> {
        let intervals = IntervalLogIterator::new(log).filter_map(|entry| match entry.unwrap() {
            LogEntry::Interval(interval) => {
                let bytes = BASE64_STANDARD
                    .decode(interval.encoded_histogram())
                    .unwrap();
                Some((
                    interval.tag().map(|tag| tag.as_str().to_owned()),
                    interval.start_timestamp(),
                    interval.duration(),
                    Deserializer::new()
                        .deserialize(&mut bytes.as_slice())
                        .unwrap(),
                ))
            }
            _ => None,
        });
        intervals.collect()
    }

    #[test]
    fn a_run_can_be_read_by_others() {
        let mut results = samples::run(1, 3, 2.0, 1000);
        results.elapsed_s = 2.5;
        let log = intervals(&[Run {
            name: "A",
            results: &results,
        }]);
        let text = String::from_utf8(log.clone()).unwrap();
        assert!(
            text.contains("#[StartTime: 1795305600.000 (seconds since epoch)]"),
            "{text}"
        );
        assert!(
            text.contains("#[BaseTime: 1795305600.000 (seconds since epoch)]"),
            "{text}"
        );
        let read = read(&log);
        assert_eq!(read.len(), 3);
        for (at, (tag, start, length, histogram)) in read.iter().enumerate() {
            assert_eq!(*tag, None);
            assert_eq!(*start, Duration::from_secs(at as u64));
            assert_eq!(length.as_millis(), if at < 2 { 1000 } else { 500 });
            assert_eq!(histogram, results.seconds[at].latency.histogram());
        }
    }

    #[test]
    fn several_are_told_apart() {
        let a = samples::run(1, 1, 2.0, 10);
        let mut b = samples::run(2, 1, 2.0, 10);
        b.began_ms += 1500;
        let runs = [
            Run {
                name: "B, new",
                results: &b,
            },
            Run {
                name: "A",
                results: &a,
            },
        ];
        let read = read(&intervals(&runs));
        assert_eq!(read[0].0.as_deref(), Some("A"));
        assert_eq!(read[1].0.as_deref(), Some("B--new"));
        assert_eq!(read[1].1, Duration::from_millis(1500));
    }
}
