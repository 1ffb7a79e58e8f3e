//! Whether two targets differ, or only their measurements.

mod jackknife;

use std::time::Duration;

use serde::{Serialize, Serializer};

use crate::results::Results;
use crate::units;
use jackknife::{Group, Interval, Side};

/// So many rounds of each at least are compared as rounds.
const ROUNDS: usize = 3;
/// Otherwise their seconds make so many groups, if there are as many.
const GROUPS: usize = 10;

/// How B differs from A.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Comparison {
    /// Figure by figure.
    pub differences: Vec<Difference>,
    /// What the intervals stand on, and what makes the comparison doubtful, in sentences.
    pub notes: Vec<String>,
}

/// How B differs from A in one figure.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Difference {
    /// What differs.
    pub figure: Figure,
    /// What A has, in requests a second or in milliseconds; not a number if it has none.
    pub a: f64,
    /// What B has.
    pub b: f64,
    /// By which share of A's B's is greater: 0.1 for a tenth.
    pub change: Option<f64>,
    /// The change lies between these with a probability of 95 %; none if there is too little to tell.
    pub interval: Option<[f64; 2]>,
    /// What follows.
    pub verdict: Verdict,
}

/// What is compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Figure {
    /// Requests answered a second.
    Rate,
    /// The mean latency, in milliseconds.
    Mean,
    /// A percentile of the latency, in milliseconds, in thousandths: 99,900 is p99.9.
    Percentile(u32),
}

/// Whether B is better.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    /// B is faster: its rate is higher, its latency lower.
    Faster,
    /// B is slower.
    Slower,
    /// The interval has both.
    Noise,
    /// There is too little to tell.
    Unknown,
}

/// Compares rounds of A with rounds of B; one round each will do.
///
/// With three rounds of each or more the intervals stand on how the rounds differ, pair by pair if they were made in turn (A B
/// A B, as their times tell). With fewer they stand on how the seconds within a round differ, ten groups of neighbours to a
/// side, as a second is much like the one before.
pub fn compare(a: &[Results], b: &[Results]) -> Comparison {
    let by_rounds = a.len().min(b.len()) >= ROUNDS;
    let paired = by_rounds && in_turn(a, b);
    let side = |rounds: &[Results]| {
        let groups: Vec<_> = match by_rounds {
            true => rounds.iter().map(Group::of_round).collect(),
            false => of_seconds(rounds),
        };
        Side::new(&groups)
    };
    let (side_a, side_b) = (side(a), side(b));
    let difference = |figure: &Figure| difference(*figure, &side_a, &side_b, paired);
    let differences = Figure::ALL.iter().map(difference).collect();
    Comparison {
        differences,
        notes: notes(a, b, by_rounds, paired),
    }
}

impl Figure {
    /// What is compared, in this order.
    pub const ALL: [Self; 6] = [
        Self::Rate,
        Self::Mean,
        Self::Percentile(50_000),
        Self::Percentile(90_000),
        Self::Percentile(99_000),
        Self::Percentile(99_900),
    ];

    /// Its name: `rate`, `mean`, `p99.9`.
    pub fn name(self) -> String {
        match self {
            Self::Rate => "rate".to_owned(),
            Self::Mean => "mean".to_owned(),
            Self::Percentile(thousandths) => format!("p{}", f64::from(thousandths) / 1000.0),
        }
    }

    /// A value of it, for people.
    pub(crate) fn shown(self, value: f64) -> String {
        match self {
            _ if !value.is_finite() => "-".to_owned(),
            Self::Rate => format!("{}/s", units::rate(value)),
            _ => units::time(Duration::from_secs_f64(value / 1e3)),
        }
    }

    fn verdict(self, interval: Option<Interval>) -> Verdict {
        let more = match interval {
            None => return Verdict::Unknown,
            Some([low, _]) if low > 0.0 => true,
            Some([_, high]) if high < 0.0 => false,
            Some(_) => return Verdict::Noise,
        };
        // More requests are better, more time is not.
        if more == (self == Self::Rate) {
            Verdict::Faster
        } else {
            Verdict::Slower
        }
    }
}

impl Serialize for Figure {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.name())
    }
}

impl Verdict {
    /// Its name: `faster`, `slower`, `noise`, `unknown`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Faster => "faster",
            Self::Slower => "slower",
            Self::Noise => "noise",
            Self::Unknown => "unknown",
        }
    }
}

fn difference(figure: Figure, a: &Option<Side>, b: &Option<Side>, paired: bool) -> Difference {
    let value = |side: &Option<Side>| side.as_ref().map_or(f64::NAN, |side| side.figure(figure));
    let (value_a, value_b) = (value(a), value(b));
    let change = value_b / value_a - 1.0;
    let both = a.as_ref().zip(b.as_ref());
    let interval = both.and_then(|(a, b)| jackknife::interval(figure, a, b, paired));
    Difference {
        figure,
        a: value_a,
        b: value_b,
        change: change.is_finite().then_some(change),
        interval,
        verdict: figure.verdict(interval),
    }
}

/// Whether each round of one was followed by one of the other before the next.
fn in_turn(a: &[Results], b: &[Results]) -> bool {
    let pairs: Vec<_> = a
        .iter()
        .zip(b)
        .map(|(a, b)| (a.began_ms, b.began_ms))
        .collect();
    let ordered = |pair: &[(u64, u64)]| pair[0].0.max(pair[0].1) < pair[1].0.min(pair[1].1);
    a.len() == b.len() && pairs.windows(2).all(ordered)
}

fn of_seconds(rounds: &[Results]) -> Vec<Group> {
    let each = GROUPS.div_ceil(rounds.len().max(1));
    let of_round = |round| {
        let seconds = Results::whole_seconds(round);
        let count = each.min(seconds.len());
        (0..count).map(move |at| {
            let (begin, end) = (at * seconds.len() / count, (at + 1) * seconds.len() / count);
            Group::of_seconds(&seconds[begin..end])
        })
    };
    rounds.iter().flat_map(of_round).collect()
}

fn notes(a: &[Results], b: &[Results], by_rounds: bool, paired: bool) -> Vec<String> {
    let basis = match (by_rounds, paired) {
        (true, true) => format!("The intervals come from how {} rounds, made in turn, differ.", a.len()),
        (true, false) => format!(
            "The intervals come from how {} rounds of A and {} of B differ.",
            a.len(),
            b.len()
        ),
        (false, _) => "The intervals come from how the seconds of a run differ. What changes from one run to the next is not \
                       in them: --against measures in turn, and --rounds again and again."
            .to_owned(),
    };
    let chance =
        "Where nothing differs, chance calls one figure in twenty faster or slower.".to_owned();
    let mut notes = vec![basis, chance];
    notes.extend(loads(a, b));
    let (failed_a, failed_b) = (failed(a), failed(b));
    if failed_a + failed_b > 0.0 {
        notes.push(format!(
            "Of A's requests {} went wrong, of B's {}: those are in no figure.",
            units::share(failed_a),
            units::share(failed_b)
        ));
    }
    notes
}

/// How the loads differ, if they do.
fn loads(a: &[Results], b: &[Results]) -> Option<String> {
    let (a, b) = (&a.first()?.plan, &b.first()?.plan);
    let missing = |of: &[(String, String)], from: &[(String, String)]| {
        let words = of.iter().filter(|pair| !from.contains(pair));
        let words: Vec<_> = words
            .map(|(name, value)| format!("{name} {value}"))
            .collect();
        if words.is_empty() {
            "less".to_owned()
        } else {
            words.join(", ")
        }
    };
    (a != b).then(|| {
        format!(
            "The loads differ: A had {}; B had {}.",
            missing(a, b),
            missing(b, a)
        )
    })
}

fn failed(rounds: &[Results]) -> f64 {
    let failed: u64 = rounds.iter().map(Results::failed).sum();
    let answered: u64 = rounds.iter().map(|round| round.answered).sum();
    failed as f64 / (failed + answered).max(1) as f64
}

#[cfg(test)]
mod tests;
