//! What a run may take at most: `p99=5ms,rate=1000,errors=0.1%`.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use crate::results::Results;
use crate::units;

/// The figures that have a limit, but for the percentiles.
const FIGURES: [&str; 4] = ["mean", "max", "rate", "errors"];
/// Those and the percentiles that are asked for most, to find what a wrong word may have meant.
const WORDS: [&str; 9] = [
    "mean", "max", "rate", "errors", "p50", "p90", "p99", "p99.9", "p99.99",
];
const UNITS: [(&str, f64); 7] = [
    ("ns", 1e-9),
    ("us", 1e-6),
    ("µs", 1e-6),
    ("ms", 1e-3),
    ("s", 1.0),
    ("m", 60.0),
    ("h", 3600.0),
];

/// Limits for a run, as they are written on a command line: `FIGURE=LIMIT,FIGURE=LIMIT...`.
///
/// | figure | limit |
/// |---|---|
/// | `p50`, `p99`, `p99.9` and so on, `mean`, `max` | a latency it may have at most: `5ms`, `250us`, `1s` |
/// | `rate` | how many requests a second are to be answered at least: `1000` |
/// | `errors` | how many requests may go wrong, or which share of all: `0`, `0.1%` |
#[derive(Clone, Debug, PartialEq)]
pub struct Budget(Vec<Limit>);

#[derive(Clone, Copy, Debug, PartialEq)]
enum Limit {
    Percentile(f64, Duration),
    Mean(Duration),
    Max(Duration),
    Rate(f64),
    Errors(u64),
    /// Of 1.
    ErrorShare(f64),
}

/// How a run did by one limit of a budget. As text it is a line without its end: `p99 is 4.1 ms, at most 5 ms: held`.
#[derive(Clone, Debug, PartialEq)]
pub struct Check {
    /// Whether the run is within the limit.
    pub held: bool,
    told: String,
}

/// What is wrong with a budget, and where.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{word}`, at character {at} of the budget: {problem}")]
pub struct BudgetError {
    /// The word that is wrong.
    pub word: String,
    /// Where it begins, counted from 1.
    pub at: usize,
    problem: String,
}

impl Budget {
    /// How the run did, limit by limit, in the order they were written. Where nothing was answered no limit of a latency
    /// holds.
    pub fn check(&self, results: &Results) -> Vec<Check> {
        self.0.iter().map(|limit| limit.check(results)).collect()
    }
}

impl FromStr for Budget {
    type Err = BudgetError;

    fn from_str(text: &str) -> Result<Self, BudgetError> {
        let mut limits = Vec::new();
        let mut begin = 0;
        for part in text.split(',') {
            let word = part.trim();
            let at = begin + part.len() - part.trim_start().len();
            limits.push(limit(word, text, at)?);
            begin += part.len() + 1;
        }
        Ok(Self(limits))
    }
}

impl Limit {
    fn check(self, results: &Results) -> Check {
        let latency = &results.latency;
        match self {
            Self::Percentile(percent, most) => at_most(
                &format!("p{percent}"),
                latency.percentile(percent),
                most,
                results,
            ),
            Self::Mean(most) => at_most("mean", latency.mean(), most, results),
            Self::Max(most) => at_most("max", latency.max(), most, results),
            Self::Rate(least) => {
                let rate = results.rate();
                let told = format!(
                    "rate is {} requests/s, at least {}",
                    units::rate(rate),
                    units::rate(least)
                );
                Check::new(told, rate >= least, rate, least)
            }
            Self::Errors(most) => {
                let failed = results.failed();
                let told = format!(
                    "errors are {}, at most {}",
                    units::count(failed),
                    units::count(most)
                );
                Check::new(told, failed <= most, failed as f64, most as f64)
            }
            Self::ErrorShare(most) => {
                let share = results.failed_share();
                let told = format!(
                    "errors are {} of all requests, at most {}",
                    units::share(share),
                    units::share(most)
                );
                Check::new(told, share <= most, share, most)
            }
        }
    }
}

/// Of a latency.
fn at_most(name: &str, latency: Duration, most: Duration, results: &Results) -> Check {
    if results.latency.count() == 0 {
        return Check {
            held: false,
            told: format!("{name} is unknown, as nothing was answered: broken"),
        };
    }
    let told = format!(
        "{name} is {}, at most {}",
        units::time(latency),
        units::time(most)
    );
    let (measured, limit) = (latency.as_secs_f64(), most.as_secs_f64());
    Check::new(told, latency <= most, measured, limit)
}

impl Check {
    fn new(told: String, held: bool, measured: f64, limit: f64) -> Self {
        let by = (measured - limit).abs() / limit;
        let verdict = match held {
            true => "held".to_owned(),
            // Nothing can be told by its share of 0.
            false if !by.is_finite() => "broken".to_owned(),
            false => format!("broken by {}", units::share(by)),
        };
        Self {
            held,
            told: format!("{told}: {verdict}"),
        }
    }
}

impl fmt::Display for Check {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.told)
    }
}

/// One `FIGURE=LIMIT`, which is at that byte of the text.
fn limit(word: &str, text: &str, at: usize) -> Result<Limit, BudgetError> {
    let fail = |word: &str, offset: usize, problem: String| BudgetError {
        word: word.to_owned(),
        at: text[..at + offset].chars().count() + 1,
        problem,
    };
    let Some((name, value)) = word.split_once('=') else {
        let problem = match word {
            "" => "a limit is missing; one is such as `p99=5ms`".to_owned(),
            _ => format!(
                "there is no `=`; a limit is such as `{word}={}`",
                sample(word)
            ),
        };
        return Err(fail(word, 0, problem));
    };
    let (name, given) = (name.trim_end(), value.trim());
    let bad = |problem: String| {
        let offset = word.len() - value.trim_start().len();
        Err(fail(given, offset, problem))
    };
    let made = |limit: fn(Duration) -> Limit| duration(given).map(limit).or_else(bad);
    match name {
        "mean" => made(Limit::Mean),
        "max" => made(Limit::Max),
        "rate" => match number(given.strip_suffix("/s").unwrap_or(given)) {
            Some(rate) => Ok(Limit::Rate(rate)),
            None => bad("a rate is how many requests a second, such as `1000`".to_owned()),
        },
        "errors" => match (given.strip_suffix('%').map(number), given.parse()) {
            (Some(Some(percent)), _) if percent <= 100.0 => Ok(Limit::ErrorShare(percent / 100.0)),
            (None, Ok(count)) => Ok(Limit::Errors(count)),
            _ => bad(
                "errors are a count or a share of all requests, such as `0` or `0.1%`".to_owned(),
            ),
        },
        _ => match percentile(name) {
            Some(percent) => duration(given)
                .map(|most| Limit::Percentile(percent, most))
                .or_else(bad),
            None => Err(fail(name, 0, unknown(name))),
        },
    }
}

/// 99.9 of `p99.9`.
fn percentile(name: &str) -> Option<f64> {
    let percent = number(name.strip_prefix('p')?)?;
    (percent > 0.0 && percent <= 100.0).then_some(percent)
}

/// Plain digits with a point perhaps: no `inf`, no sign, no `1e3`.
fn number(text: &str) -> Option<f64> {
    let plain = text
        .bytes()
        .all(|byte| byte.is_ascii_digit() || byte == b'.');
    text.parse().ok().filter(|_| plain)
}

fn duration(text: &str) -> Result<Duration, String> {
    let (digits, unit) = text.split_at(
        text.find(|letter: char| letter != '.' && !letter.is_ascii_digit())
            .unwrap_or(text.len()),
    );
    let unit = unit.trim_start();
    let Some(number) = number(digits) else {
        return Err("a latency is a number and a unit, such as `5ms`".to_owned());
    };
    if unit.is_empty() {
        return Err(format!("the unit is missing; such as `{digits}ms`"));
    }
    match UNITS.iter().find(|(name, _)| *name == unit) {
        Some((_, seconds)) => {
            Duration::try_from_secs_f64(number * seconds).map_err(|_| "that is too long".to_owned())
        }
        None => Err(format!(
            "`{unit}` is no unit of time; there are ns, us, ms, s, m and h"
        )),
    }
}

fn unknown(name: &str) -> String {
    let near = WORDS
        .iter()
        .map(|word| {
            (
                strsim::damerau_levenshtein(&name.to_lowercase(), word),
                word,
            )
        })
        .filter(|(slips, word)| *slips <= (word.len() / 3).max(1))
        .min();
    match near {
        Some((_, word)) => format!("there is no such figure; did you mean `{word}`?"),
        None => format!(
            "there is no such figure; there are p50, p99 and so on, {}",
            FIGURES.join(", ")
        ),
    }
}

fn sample(name: &str) -> &'static str {
    match name {
        "rate" => "1000",
        "errors" => "0",
        _ => "5ms",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::results::ErrorKind;
    use crate::samples;

    #[test]
    fn what_holds_and_what_does_not() {
        let mut results = samples::results();
        results.latency = samples::latency(&[1, 2, 3, 4, 100]);
        results.answered = 999;
        results.elapsed_s = 1.0;
        results.errors = [(ErrorKind::Timeout, 1)].into();
        let budget: Budget = "p50=5ms, p99.9=50ms,mean=1s,max=0.2s,rate=1000,rate=900,errors=0,errors=1,errors=0.1%,errors=0.05%"
            .parse()
            .unwrap();
        let checks = budget.check(&results);
        let told: Vec<_> = checks.iter().map(ToString::to_string).collect();
        assert_eq!(
            told,
            [
                "p50 is 3.00 ms, at most 5.00 ms: held",
                "p99.9 is 100 ms, at most 50.0 ms: broken by 100 %",
                "mean is 22.0 ms, at most 1.00 s: held",
                "max is 100 ms, at most 200 ms: held",
                "rate is 999 requests/s, at least 1,000: broken by 0.1 %",
                "rate is 999 requests/s, at least 900: held",
                "errors are 1, at most 0: broken",
                "errors are 1, at most 1: held",
                "errors are 0.1 % of all requests, at most 0.1 %: held",
                "errors are 0.1 % of all requests, at most 0.05 %: broken by 100 %",
            ]
        );
        let held: Vec<_> = checks.iter().map(|check| check.held).collect();
        assert_eq!(
            held,
            told.iter()
                .map(|told| told.ends_with("held"))
                .collect::<Vec<_>>()
        );
    }

    #[test]
    fn nothing_answered_holds_no_latency() {
        let mut results = samples::results();
        results.latency = samples::latency(&[]);
        let checks = "p99=1h".parse::<Budget>().unwrap().check(&results);
        assert_eq!(
            checks[0].to_string(),
            "p99 is unknown, as nothing was answered: broken"
        );
        assert!(!checks[0].held);
    }

    #[test]
    fn what_is_wrong_is_said_with_its_place() {
        let cases = [
            ("", "``, at character 1 of the budget: a limit is missing"),
            (
                "p99=5ms,",
                "``, at character 9 of the budget: a limit is missing",
            ),
            (
                "p99",
                "`p99`, at character 1 of the budget: there is no `=`; a limit is such as `p99=5ms`",
            ),
            (
                "p99=5ms, rate",
                "`rate`, at character 10 of the budget: there is no `=`; a limit is such as `rate=1000`",
            ),
            (
                "p99=5",
                "`5`, at character 5 of the budget: the unit is missing; such as `5ms`",
            ),
            (
                "p99=5msec",
                "`5msec`, at character 5 of the budget: `msec` is no unit of time",
            ),
            (
                "p99=µs",
                "`µs`, at character 5 of the budget: a latency is a number and a unit",
            ),
            (
                "p99=1µs,maen=5ms",
                "`maen`, at character 9 of the budget: there is no such figure; did you mean `mean`?",
            ),
            (
                "99=5ms",
                "`99`, at character 1 of the budget: there is no such figure; did you mean `p99`?",
            ),
            ("error=0", "did you mean `errors`?"),
            (
                "colour=0",
                "there are p50, p99 and so on, mean, max, rate, errors",
            ),
            ("p0=1ms", "no such figure"),
            ("p101=1ms", "no such figure"),
            ("pinf=1ms", "no such figure"),
            (
                "rate=-1",
                "`-1`, at character 6 of the budget: a rate is how many",
            ),
            ("rate=1e3", "a rate is how many"),
            ("errors=200%", "errors are a count or a share"),
            ("errors=0.5", "errors are a count or a share"),
            ("max=99999999999999999999999h", "too long"),
        ];
        for (text, told) in cases {
            let error = text.parse::<Budget>().unwrap_err().to_string();
            assert!(error.contains(told), "{text}: {error}");
        }
    }
}
