//! Everything about a run, as JSON.
//!
//! An object has what [`Results`] has, histograms included, and `figures`: what follows from it, for scripts that read no
//! histograms. `jq '.figures.latency_ms["p99"]' FILE` is the 99th percentile in milliseconds. A percentile that too few
//! requests say anything about is left out.

use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use super::supported;
use crate::compare::Comparison;
use crate::latency::Latency;
use crate::results::{FORM, Results, Second};

/// What is wrong with a record of a run.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ReadError {
    /// It is no JSON, or not that of a run.
    #[error("it is no record of a run: {0}")]
    Broken(#[from] serde_json::Error),
    /// Another version of thrum wrote it.
    #[error(
        "it has form {0}, and this version of thrum reads form {FORM}; measure again, or use the version that wrote it"
    )]
    Form(u64),
    /// It has no run at all.
    #[error("it has no run")]
    Empty,
}

/// One run, as an object.
pub fn run(results: &Results) -> String {
    whole(&Record::of(results))
}

/// The rounds of two targets, asked in turn, and how they differ: an object of `a` and `b`, each a list of runs, and
/// `comparison`.
pub fn pair(a: &[Results], b: &[Results], comparison: &Comparison) -> String {
    #[derive(Serialize)]
    struct Pair<'a> {
        comparison: &'a Comparison,
        a: Vec<Record<'a>>,
        b: Vec<Record<'a>>,
    }
    whole(&Pair {
        comparison,
        a: a.iter().map(Record::of).collect(),
        b: b.iter().map(Record::of).collect(),
    })
}

/// A comparison, as an object.
pub fn comparison(comparison: &Comparison) -> String {
    whole(comparison)
}

/// Reads back what [`run`] wrote, or a list of it: the rounds of one load, such as `jq -s . ONE TWO THREE` makes of their files.
///
/// # Errors
/// For what is no such record, has none, or is of another form.
pub fn read(text: &str) -> Result<Vec<Results>, ReadError> {
    let value: Value = serde_json::from_str(text)?;
    let values = match value {
        Value::Array(values) => values,
        value => vec![value],
    };
    let runs: Vec<_> = values.into_iter().map(one).collect::<Result<_, _>>()?;
    if runs.is_empty() {
        Err(ReadError::Empty)
    } else {
        Ok(runs)
    }
}

fn one(value: Value) -> Result<Results, ReadError> {
    match value["form"].as_u64() {
        Some(form) if form != u64::from(FORM) => Err(ReadError::Form(form)),
        _ => Ok(Results::deserialize(value)?),
    }
}

fn whole(value: &impl Serialize) -> String {
    let mut text = serde_json::to_string_pretty(value).expect("there are only strings for keys");
    text.push('\n');
    text
}

#[derive(Serialize)]
struct Record<'a> {
    figures: Value,
    #[serde(flatten)]
    results: &'a Results,
}

impl<'a> Record<'a> {
    fn of(results: &'a Results) -> Self {
        Self {
            figures: figures(results),
            results,
        }
    }
}

fn figures(results: &Results) -> Value {
    let elapsed = results.elapsed_s;
    let a_second = |bytes: u64| {
        if elapsed > 0.0 {
            bytes as f64 / elapsed
        } else {
            0.0
        }
    };
    json!({
        "rate": results.rate(),
        "failed": results.failed(),
        "failed_share": results.failed_share(),
        "received_bytes_per_second": a_second(results.received_bytes),
        "sent_bytes_per_second": a_second(results.sent_bytes),
        "latency_ms": latency(&results.latency),
        "service_ms": latency(&results.service),
        "first_byte_ms": latency(&results.first_byte),
        "connect_ms": latency(&results.connect),
        "tls_ms": latency(&results.tls),
        "client_cpu_us_per_request": results.client.a_request(results.answered).as_secs_f64() * 1e6,
        "client_busy": results.client.busy(results.elapsed()),
        "seconds": results.seconds.iter().map(second).collect::<Vec<_>>(),
    })
}

fn second(second: &Second) -> Value {
    json!({
        "answered": second.answered,
        "errors": second.errors,
        "latency_ms": latency(&second.latency),
    })
}

fn latency(latency: &Latency) -> Value {
    let mut figures = Map::new();
    figures.insert("count".to_owned(), latency.count().into());
    if latency.count() > 0 {
        let named = [
            ("min", latency.min()),
            ("mean", latency.mean()),
            ("deviation", latency.deviation()),
            ("max", latency.max()),
        ];
        let named = named.map(|(name, value)| (name.to_owned(), ms(value)));
        let percentiles = supported(latency)
            .map(|percent| (format!("p{percent}"), ms(latency.percentile(percent))));
        figures.extend(named.into_iter().chain(percentiles));
    }
    figures.into()
}

fn ms(time: Duration) -> Value {
    (time.as_secs_f64() * 1e3).into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples;

    #[test]
    fn what_is_written_can_be_read_back() {
        let results = samples::results();
        let text = run(&results);
        assert_eq!(read(&text).unwrap(), std::slice::from_ref(&results));
        let rounds = format!("[{text},{text}]");
        assert_eq!(read(&rounds).unwrap(), [results.clone(), results]);
    }

    #[test]
    fn scripts_find_the_figures() {
        let mut results = samples::run(3, 2, 2.0, 500);
        results.latency = samples::latency(&[7; 1000]);
        let value: Value = serde_json::from_str(&run(&results)).unwrap();
        let figures = &value["figures"];
        assert_eq!(figures["rate"], 500.0);
        let p99 = figures["latency_ms"]["p99"].as_f64().unwrap();
        assert!((p99 - 7.0).abs() < 0.01, "{p99}");
        assert_eq!(figures["latency_ms"]["p99.9"], Value::Null);
        assert_eq!(figures["latency_ms"]["count"], 1000);
        assert_eq!(figures["tls_ms"], json!({"count": 0}));
        assert_eq!(figures["client_cpu_us_per_request"], 5.0);
        assert_eq!(figures["seconds"][1]["answered"], 500);
        assert!(figures["seconds"][1]["latency_ms"]["p90"].is_f64());
    }

    #[test]
    fn a_pair_has_how_it_differs() {
        let rounds = |seed: u64, median: f64| -> Vec<_> {
            let round = |round: u64| samples::run(seed + round, 2, median, 100);
            (0..3).map(round).collect()
        };
        let (a, b) = (rounds(1, 2.0), rounds(11, 3.0));
        let compared = crate::compare::compare(&a, &b);
        let value: Value = serde_json::from_str(&pair(&a, &b, &compared)).unwrap();
        assert_eq!(value["b"][2]["figures"]["rate"], 100.0);
        let p50 = &value["comparison"]["differences"][2];
        assert_eq!(
            (&p50["figure"], &p50["verdict"]),
            (&json!("p50"), &json!("slower"))
        );
        assert!(p50["interval"][0].as_f64().unwrap() > 0.0, "{p50}");
        let rounds = serde_json::to_string(&value["a"]).unwrap();
        assert_eq!(read(&rounds).unwrap(), a);
        let alone: Value = serde_json::from_str(&comparison(&compared)).unwrap();
        assert_eq!(alone, value["comparison"]);
    }

    #[test]
    fn what_is_no_record_is_refused() {
        for (text, told) in [
            ("", "no record of a run: EOF"),
            ("{\"form\": 1}", "missing field `target`"),
            (
                "{\"form\": 2}",
                "it has form 2, and this version of thrum reads form 1",
            ),
            ("[]", "it has no run"),
            ("[3]", "no record of a run"),
        ] {
            let error = read(text).unwrap_err().to_string();
            assert!(error.contains(told), "{text}: {error}");
        }
    }
}
