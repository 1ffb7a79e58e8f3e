//! What a run saw, for people and for programs.
//!
//! | module | what is in it |
//! |---|---|
//! | [`text`] | a screen for the terminal |
//! | [`json`] | everything, which can be read back |
//! | [`csv`] | second by second |
//! | [`hdr`] | an interval log of HdrHistogram |
//! | [`html`] | a page with charts |

mod charts;
pub mod csv;
mod figures;
pub mod hdr;
pub mod html;
pub mod json;
mod plot;
pub mod text;

use crate::latency::Latency;
use crate::results::Results;

/// One run among those that a report shows. Runs of one name are rounds of one load.
#[derive(Clone, Copy, Debug)]
pub struct Run<'a> {
    /// What to call it: `A`, `B`.
    pub name: &'a str,
    /// What it saw.
    pub results: &'a Results,
}

/// The rounds of each load as one, in the order their names first come.
fn joined<'a>(runs: &[Run<'a>]) -> Vec<(&'a str, Results)> {
    let mut names = Vec::new();
    for run in runs {
        if !names.contains(&run.name) {
            names.push(run.name);
        }
    }
    let rounds = |name| runs.iter().filter(move |run| run.name == name);
    let join = |name| Results::join(rounds(name).map(|run| run.results));
    let all = names.into_iter().map(|name| Some((name, join(name)?)));
    all.flatten().collect()
}

/// The percentiles that are told.
const PERCENTILES: [f64; 7] = [50.0, 75.0, 90.0, 99.0, 99.9, 99.99, 99.999];

/// Whether so many measurements say anything about that percentile: ten of them at least are to lie beyond it, or it is one
/// that a handful shows.
pub(crate) fn supports(latency: &Latency, percent: f64) -> bool {
    let count = latency.count() as f64;
    // 100 - 99.9 is a little less than a tenth.
    count > 0.0 && (percent <= 90.0 || count * (100.0 - percent) / 100.0 > 9.999)
}

/// The percentiles that so many measurements say something about.
fn supported(latency: &Latency) -> impl Iterator<Item = f64> {
    PERCENTILES
        .into_iter()
        .filter(|percent| supports(latency, *percent))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples;

    #[test]
    fn a_percentile_needs_requests_beyond_it() {
        let last = |count| {
            let latency = samples::run(1, 1, 1.0, count).latency;
            supported(&latency).last()
        };
        assert_eq!(last(0), None);
        assert_eq!(last(1), Some(90.0));
        assert_eq!(last(999), Some(90.0));
        assert_eq!(last(1000), Some(99.0));
        assert_eq!(last(10_000), Some(99.9));
        assert_eq!(last(99_000), Some(99.9));
        assert_eq!(last(100_000), Some(99.99));
    }
}
