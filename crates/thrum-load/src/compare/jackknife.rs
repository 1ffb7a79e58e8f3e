//! How far a figure can be trusted, from how much it changes when a part of what was measured is left out.
//!
//! What was measured is cut into groups: rounds, or neighbouring seconds. The figure of all but one group, for each group,
//! gives the variance of its logarithm (the delete-a-group jackknife), and Student's t its interval. Percentiles are those of
//! all requests together, not means of percentiles. As groups have many seconds each, that a second is like the one before
//! does no harm (Künsch, "The jackknife and the bootstrap for general stationary observations", Annals of Statistics 17,
//! 1989), and for percentiles, too, the jackknife holds when what is left out grows with the whole (Shao and Wu, "A general
//! theory for jackknife variance estimation", the same volume). The bootstrap was rejected: with as few groups as a run
//! of ten seconds has its intervals are too narrow, while t knows that ten are few; and it needs a seed.

use hdrhistogram::Histogram;

use super::Figure;
use crate::latency::Latency;
use crate::report::supports;
use crate::results::{Results, Second};

/// From, to.
pub(super) type Interval = [f64; 2];

/// Fewer groups of a side say nothing.
const FEWEST: usize = 3;

/// A part of what was measured.
#[derive(Clone, Debug)]
pub(super) struct Group {
    answered: u64,
    elapsed_s: f64,
    latency: Latency,
}

impl Group {
    pub(super) fn of_round(round: &Results) -> Self {
        Self {
            answered: round.answered,
            elapsed_s: round.elapsed_s,
            latency: round.latency.clone(),
        }
    }

    pub(super) fn of_seconds(seconds: &[Second]) -> Self {
        let mut latency = Latency::default();
        for second in seconds {
            latency.add(&second.latency);
        }
        Self {
            answered: seconds.iter().map(|second| second.answered).sum(),
            elapsed_s: seconds.len() as f64,
            latency,
        }
    }

    /// In requests a second or milliseconds; not a number if there is none.
    pub(super) fn figure(&self, figure: Figure) -> f64 {
        let histogram = self.latency.histogram();
        match figure {
            Figure::Rate => self.answered as f64 / self.elapsed_s,
            _ if histogram.is_empty() => f64::NAN,
            Figure::Mean => histogram.mean() / 1e6,
            Figure::Percentile(thousandths) => {
                quantile(histogram, f64::from(thousandths) / 1e5) / 1e6
            }
        }
    }
}

/// All that was measured of one target, and the same without the first group, without the second, and so on.
pub(super) struct Side {
    whole: Group,
    without: Vec<Group>,
}

impl Side {
    /// `None` of none.
    pub(super) fn new(groups: &[Group]) -> Option<Self> {
        let without = |at: usize| merged(groups[..at].iter().chain(&groups[at + 1..]));
        Some(Self {
            whole: merged(groups.iter())?,
            without: (0..groups.len()).filter_map(without).collect(),
        })
    }

    pub(super) fn figure(&self, figure: Figure) -> f64 {
        self.whole.figure(figure)
    }

    /// The figure of all but one group, for each of them.
    fn logarithms(&self, figure: Figure) -> Vec<f64> {
        let rests = self.without.iter();
        rests.map(|rest| rest.figure(figure).ln()).collect()
    }

    fn supports(&self, figure: Figure) -> bool {
        match figure {
            Figure::Percentile(thousandths) => {
                supports(&self.whole.latency, f64::from(thousandths) / 1e3)
            }
            Figure::Rate | Figure::Mean => true,
        }
    }
}

fn merged<'a>(mut groups: impl Iterator<Item = &'a Group>) -> Option<Group> {
    let mut whole = groups.next()?.clone();
    for group in groups {
        whole.answered += group.answered;
        whole.elapsed_s += group.elapsed_s;
        whole.latency.add(&group.latency);
    }
    Some(whole)
}

/// Between which shares of A's figure B's differs from it, with a probability of 95 %; `None` if there is too little to tell.
/// If they are paired, a group of A goes with the one of B at the same place.
pub(super) fn interval(figure: Figure, a: &Side, b: &Side, paired: bool) -> Option<Interval> {
    let enough = |side: &Side| side.without.len() >= FEWEST && side.supports(figure);
    if !(enough(a) && enough(b)) {
        return None;
    }
    let change = b.figure(figure).ln() - a.figure(figure).ln();
    let (without_a, without_b) = (a.logarithms(figure), b.logarithms(figure));
    let (variance, freedom) = if paired {
        let pairs = without_a.iter().zip(&without_b);
        let without: Vec<_> = pairs.map(|(a, b)| b - a).collect();
        (variance(&without), without.len() as f64 - 1.0)
    } else {
        welch(&without_a, &without_b)
    };
    let margin = student(freedom) * variance.sqrt();
    let interval = [change - margin, change + margin].map(f64::exp_m1);
    let known = interval.iter().all(|end| end.is_finite());
    known.then_some(interval)
}

/// The jackknife's.
fn variance(without: &[f64]) -> f64 {
    let count = without.len() as f64;
    let mean = without.iter().sum::<f64>() / count;
    let squares: f64 = without.iter().map(|one| (one - mean).powi(2)).sum();
    squares * (count - 1.0) / count
}

/// The variance of a difference, and its degrees of freedom (Welch and Satterthwaite).
fn welch(a: &[f64], b: &[f64]) -> (f64, f64) {
    let (variance_a, variance_b) = (variance(a), variance(b));
    let both = variance_a + variance_b;
    let part = |variance: f64, groups: &[f64]| variance.powi(2) / (groups.len() as f64 - 1.0);
    let freedom = both.powi(2) / (part(variance_a, a) + part(variance_b, b));
    // Where nothing varies at all the quotient is no number, and the margin is 0 anyway.
    (both, freedom.max(1.0))
}

/// What 97.5 % of Student's t stay below: Cornish and Fisher's expansion (Abramowitz and Stegun, 26.7.5), right to 1 % from two
/// degrees of freedom on.
fn student(freedom: f64) -> f64 {
    const NORMAL: f64 = 1.959_964;
    let powers = [3, 5, 7, 9].map(|power| NORMAL.powi(power));
    let [z3, z5, z7, z9] = powers;
    let terms = [
        (z3 + NORMAL) / 4.0,
        (5.0 * z5 + 16.0 * z3 + 3.0 * NORMAL) / 96.0,
        (3.0 * z7 + 19.0 * z5 + 17.0 * z3 - 15.0 * NORMAL) / 384.0,
        (79.0 * z9 + 776.0 * z7 + 1482.0 * z5 - 1920.0 * z3 - 945.0 * NORMAL) / 92_160.0,
    ];
    let scaled = (1..)
        .zip(terms)
        .map(|(power, term)| term / freedom.powi(power));
    NORMAL + scaled.sum::<f64>()
}

/// Of 1, in nanoseconds. Within a bucket values are taken to lie evenly, so that a figure moves with every request: else
/// leaving out a group would change nothing until it changes a bucket.
fn quantile(histogram: &Histogram<u64>, quantile: f64) -> f64 {
    let wanted = quantile * histogram.len() as f64;
    let mut below = 0.0;
    for bucket in histogram.iter_recorded() {
        let count = bucket.count_at_value() as f64;
        if below + count >= wanted {
            let value = bucket.value_iterated_to();
            let width = histogram.equivalent_range(value) as f64;
            let part = (wanted - below) / count;
            return histogram.lowest_equivalent(value) as f64 + width * part;
        }
        below += count;
    }
    histogram.max() as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples;

    #[test]
    fn students_t() {
        // From a table.
        for (freedom, t) in [
            (2.0, 4.303),
            (3.0, 3.182),
            (4.0, 2.776),
            (9.0, 2.262),
            (18.0, 2.101),
            (1e9, 1.960),
        ] {
            let got = student(freedom);
            assert!((got - t).abs() < 0.01 * t, "{freedom}: {got}, not {t}");
        }
    }

    #[test]
    fn quantiles_move_within_a_bucket() {
        let mut last = 0.0;
        for beyond in 0..10 {
            let mut milliseconds = vec![100; 50];
            milliseconds.extend(vec![200; 30 + beyond]);
            let now = quantile(samples::latency(&milliseconds).histogram(), 0.5);
            assert!(now > last && (now / 1e8 - 1.0).abs() < 0.002, "{now}");
            last = now;
        }
    }

    #[test]
    fn the_variance_of_a_mean_is_that_of_the_textbook() {
        let values = [3.0, 5.0, 4.0, 9.0];
        let sum: f64 = values.iter().sum();
        let without: Vec<_> = values.iter().map(|value| (sum - value) / 3.0).collect();
        // The squared deviations, by n (n - 1).
        let textbook = values
            .iter()
            .map(|value| (value - 5.25_f64).powi(2))
            .sum::<f64>()
            / 12.0;
        assert!((variance(&without) - textbook).abs() < 1e-12);
    }
}
