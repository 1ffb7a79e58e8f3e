//! When requests are due in an open loop: arrivals that do not wait for answers.
//!
//! The arrivals of a connection are numbered by a count that may have fractions; [`Rate::due`] is the inverse of how many
//! are due by a moment. Constant arrivals lie one apart in it, those of a Poisson process as far apart as an exponential
//! distribution with a mean of one says: so both follow any rate, ramps too. Poisson processes of several connections are
//! one Poisson process together.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use thiserror::Error;

/// How many requests a second are due, over the time of a run.
#[derive(Clone, Debug, PartialEq)]
pub enum Rate {
    /// Always as many.
    Constant(f64),
    /// From the first to the second, evenly over the run.
    Ramp(f64, f64),
    /// One after the other, each for the same share of the run.
    Steps(Vec<f64>),
}

/// How arrivals are spread.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Arrivals {
    /// Evenly.
    #[default]
    Constant,
    /// As those of many who know nothing of each other.
    Poisson,
}

/// Why a text is no rate.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error(
    "{0:?} is no rate: write requests a second as 1000, a ramp as 100..2000, steps as 100,500,1000"
)]
pub struct BadRate(String);

impl FromStr for Rate {
    type Err = BadRate;

    fn from_str(text: &str) -> Result<Self, BadRate> {
        let bad = || BadRate(text.to_owned());
        let number = |text: &str| {
            let number = text.trim().parse().ok();
            let number = number.filter(|number: &f64| (0.0..=1e9).contains(number));
            number.ok_or_else(bad)
        };
        let rate = if let Some((from, to)) = text.split_once("..") {
            Self::Ramp(number(from)?, number(to)?)
        } else if text.contains(',') {
            Self::Steps(text.split(',').map(number).collect::<Result<_, _>>()?)
        } else {
            Self::Constant(number(text)?)
        };
        if rate.peak() > 0.0 {
            Ok(rate)
        } else {
            Err(bad())
        }
    }
}

impl fmt::Display for Rate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Constant(rate) => write!(f, "{rate}"),
            Self::Ramp(from, to) => write!(f, "{from}..{to}"),
            Self::Steps(steps) => {
                let steps: Vec<_> = steps.iter().map(f64::to_string).collect();
                f.write_str(&steps.join(","))
            }
        }
    }
}

impl Rate {
    /// What it begins with.
    pub(crate) fn first(&self) -> f64 {
        match self {
            Self::Constant(rate) | Self::Ramp(rate, _) => *rate,
            Self::Steps(steps) => steps.first().copied().unwrap_or(0.0),
        }
    }

    /// The highest that it comes to.
    pub fn peak(&self) -> f64 {
        match self {
            Self::Constant(rate) => *rate,
            Self::Ramp(from, to) => from.max(*to),
            Self::Steps(steps) => steps.iter().copied().fold(0.0, f64::max),
        }
    }

    /// Whether it changes over the run, so that it has to be known how long that is.
    pub fn changes(&self) -> bool {
        !matches!(self, Self::Constant(_))
    }

    /// The rate of each of so many connections.
    pub(crate) fn shared_by(&self, connections: usize) -> Self {
        let share = |rate: f64| rate / connections.max(1) as f64;
        match self {
            Self::Constant(rate) => Self::Constant(share(*rate)),
            Self::Ramp(from, to) => Self::Ramp(share(*from), share(*to)),
            Self::Steps(steps) => Self::Steps(steps.iter().copied().map(share).collect()),
        }
    }

    /// When so many are due, since the beginning of a run of that length; `None` if that is not within the run.
    fn due(&self, count: f64, run: Duration) -> Option<Duration> {
        let run = run.as_secs_f64();
        let at = match self {
            Self::Constant(rate) => count / rate,
            // from·t + (to − from)·t² / 2·run = count; this form of the root is sound where the rates are the same too.
            Self::Ramp(from, to) => match from * from + 2.0 * (to - from) * count / run {
                _ if count == 0.0 => 0.0,
                root if root < 0.0 => f64::INFINITY,
                root => 2.0 * count / (from + root.sqrt()),
            },
            Self::Steps(steps) => {
                let step = run / steps.len() as f64;
                let mut before = 0.0;
                let mut at = f64::INFINITY;
                for (index, rate) in steps.iter().enumerate() {
                    if count < before + rate * step {
                        at = index as f64 * step + (count - before) / rate;
                        break;
                    }
                    before += rate * step;
                }
                at
            }
        };
        (at < run).then(|| Duration::from_secs_f64(at))
    }
}

/// The arrivals of one connection.
#[derive(Clone, Debug)]
pub(crate) struct Schedule {
    rate: Rate,
    arrivals: Arrivals,
    run: Duration,
    count: f64,
    random: fastrand::Rng,
}

impl Schedule {
    /// That of one of several connections, which are not all to begin at once. `rate` is that of all together.
    pub(crate) fn new(
        rate: &Rate,
        arrivals: Arrivals,
        run: Duration,
        connection: usize,
        connections: usize,
    ) -> Self {
        let mut random = fastrand::Rng::with_seed(0x5eed ^ connection as u64);
        let count = match arrivals {
            Arrivals::Constant => connection as f64 / connections.max(1) as f64,
            Arrivals::Poisson => exponential(&mut random),
        };
        Self {
            rate: rate.shared_by(connections),
            arrivals,
            run,
            count,
            random,
        }
    }
}

impl Iterator for Schedule {
    type Item = Duration;

    /// When the next is due, since the beginning.
    fn next(&mut self) -> Option<Duration> {
        let due = self.rate.due(self.count, self.run);
        self.count += match self.arrivals {
            Arrivals::Constant => 1.0,
            Arrivals::Poisson => exponential(&mut self.random),
        };
        due
    }
}

/// With a mean of 1.
fn exponential(random: &mut fastrand::Rng) -> f64 {
    -(1.0 - random.f64()).ln()
}

#[cfg(test)]
mod tests {
    use super::*;

    const RUN: Duration = Duration::from_secs(10);

    fn all(rate: &str, arrivals: Arrivals, connections: usize) -> Vec<Duration> {
        let rate: Rate = rate.parse().unwrap();
        let of = |index| Schedule::new(&rate, arrivals, RUN, index, connections);
        let mut all: Vec<_> = (0..connections).flat_map(of).collect();
        all.sort();
        all
    }

    fn within(all: &[Duration], from: f64, to: f64) -> f64 {
        let range = Duration::from_secs_f64(from)..Duration::from_secs_f64(to);
        all.iter().filter(|at| range.contains(at)).count() as f64
    }

    #[test]
    fn constant_arrivals_of_several_connections_are_evenly_spread() {
        let all = all("1000", Arrivals::Constant, 7);
        assert!((9_999..=10_001).contains(&all.len()), "{}", all.len());
        let gaps = all.windows(2).map(|pair| pair[1] - pair[0]);
        assert!(gaps.clone().max().unwrap() < Duration::from_micros(1010));
        assert!(gaps.min().unwrap() > Duration::from_micros(990));
    }

    #[test]
    fn a_ramp_has_its_rate_at_each_moment() {
        for (text, slope) in [
            ("100..2000", 190.0),
            ("2000..100", -190.0),
            ("0..1000", 100.0),
        ] {
            let all = all(text, Arrivals::Constant, 3);
            let begin: f64 = text.split("..").next().unwrap().parse().unwrap();
            for second in 0..10 {
                let second = f64::from(second);
                let expected = begin + slope * (second + 0.5);
                let seen = within(&all, second, second + 1.0);
                assert!(
                    (seen - expected).abs() < 5.0,
                    "{text}: {seen} to {expected}"
                );
            }
        }
        let flat = all("500..500", Arrivals::Constant, 1);
        assert!((within(&flat, 3.0, 4.0) - 500.0).abs() < 2.0);
    }

    #[test]
    fn steps_follow_each_other_and_one_may_be_a_pause() {
        let all = all("100,0,1000,10,500", Arrivals::Constant, 1);
        for (index, expected) in [200.0, 0.0, 2000.0, 20.0, 1000.0].into_iter().enumerate() {
            let begin = 2.0 * index as f64;
            let seen = within(&all, begin, begin + 2.0);
            assert!(
                (seen - expected).abs() <= 1.0,
                "{index}: {seen} to {expected}"
            );
        }
    }

    #[test]
    fn poisson_arrivals_vary_as_much_as_their_mean() {
        let all = all("2000", Arrivals::Poisson, 5);
        let counts: Vec<f64> = (0..1000)
            .map(|index| within(&all, f64::from(index) / 100.0, f64::from(index + 1) / 100.0))
            .collect();
        let mean = counts.iter().sum::<f64>() / 1000.0;
        let variance = counts
            .iter()
            .map(|count| (count - mean).powi(2))
            .sum::<f64>()
            / 1000.0;
        assert!((mean - 20.0).abs() < 1.0, "{mean}");
        assert!((variance / mean - 1.0).abs() < 0.25, "{variance} to {mean}");
    }

    #[test]
    fn what_is_no_rate_is_refused() {
        for text in [
            "", "0", "-1", "fast", "1..", "1,,2", "0..0", "inf", "1e300", "NaN",
        ] {
            assert!(text.parse::<Rate>().is_err(), "{text}");
        }
        assert_eq!("1e3".parse(), Ok(Rate::Constant(1000.0)));
    }
}
