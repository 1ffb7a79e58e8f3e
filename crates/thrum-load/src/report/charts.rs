//! The charts of a page.

use std::time::Duration;

use super::Run;
use super::plot::{Axis, Plot};
use crate::latency::Latency;
use crate::results::{Results, Second};
use crate::units;

/// More columns are no finer than a screen.
const COLUMNS: usize = 200;
/// A heat map has fewer: each has a box for each row.
const HEAT_COLUMNS: usize = 120;
const HEAT_ROWS: usize = 32;
/// Shades of a heat map.
pub(super) const SHADES: usize = 6;
/// Colours for runs.
const COLOURS: usize = 4;
const POINTS: u32 = 400;

/// The class that gives a run's marks their colour.
pub(super) fn colour(run: usize) -> String {
    format!("k{}", run % COLOURS + 1)
}

/// Charts of what was answered over time, and of what went wrong, if anything did.
pub(super) struct Throughput {
    pub(super) answered: String,
    pub(super) errors: Option<String>,
}

/// `None` if no run measured for a whole second.
pub(super) fn throughput(runs: &[Run<'_>]) -> Option<Throughput> {
    let longest = longest(runs)?;
    let failed = runs.iter().any(|run| run.results.failed() > 0);
    let answered = "Requests answered in each second";
    let errors = || {
        over_time(runs, longest, "Errors in each second", |second| {
            second.errors
        })
    };
    Some(Throughput {
        answered: over_time(runs, longest, answered, |second| second.answered),
        errors: failed.then(errors),
    })
}

fn over_time(runs: &[Run<'_>], longest: usize, told: &str, of: impl Fn(&Second) -> u64) -> String {
    let each = longest.div_ceil(COLUMNS);
    let levels = |results: &Results| -> Vec<f64> {
        let parts = results.whole_seconds().chunks(each);
        let level = |part: &[Second]| part.iter().map(&of).sum::<u64>() as f64 / part.len() as f64;
        parts.map(level).collect()
    };
    let series: Vec<_> = runs.iter().map(|run| levels(run.results)).collect();
    let highest = series.iter().flatten().copied().fold(1.0, f64::max);
    let mut plot = Plot::new(seconds_axis(longest), Axis::from_zero(highest, short_count));
    for (run, levels) in series.iter().enumerate() {
        let class = format!("line {}", colour(run));
        plot.stairs(&class, each as f64, levels.iter().copied());
    }
    plot.html(told)
}

/// Latency by percentile: each nine has as much room as the one before, as HdrHistogram's plots have it. In an open loop that
/// had to wait there is the service time of a single run, too. `None` if nothing was answered.
pub(super) fn percentiles<'a>(runs: &[Run<'a>]) -> Option<String> {
    let line =
        |(at, run): (usize, &Run<'a>)| (format!("line {}", colour(at)), &run.results.latency);
    let mut lines: Vec<_> = runs.iter().enumerate().map(line).collect();
    if let [run] = runs
        && run.results.waited()
    {
        lines.push(("line service".to_owned(), &run.results.service));
    }
    lines.retain(|(_, latency)| latency.count() > 0);
    let y = latency_axis(lines.iter().map(|(_, latency)| *latency))?;
    let most = lines.iter().map(|(_, latency)| latency.count()).max()?;
    let nines = nines(most);
    let shares = [0.0, 0.5, 0.9, 0.99, 0.999, 0.9999, 0.99999];
    let labels = ["0", "50", "90", "99", "99.9", "99.99", "99.999"];
    let places = shares.map(|share| -(1.0_f64 - share).log10());
    let ticks = places.into_iter().zip(labels.map(str::to_owned));
    let ticks = ticks.filter(|(place, _)| *place <= nines + 0.01);
    let mut plot = Plot::new(Axis::with_ticks([0.0, nines], ticks), y);
    for (class, latency) in lines {
        let last = self::nines(latency.count());
        let point = |at: u32| {
            let place = last * f64::from(at) / f64::from(POINTS);
            let percent = 100.0 * (1.0 - 10_f64.powf(-place));
            let time = match at {
                POINTS => latency.max(),
                _ => latency.percentile(percent),
            };
            (place, time.as_secs_f64())
        };
        plot.line(&class, (0..=POINTS).map(point));
    }
    Some(plot.html("Latency by percentile"))
}

/// How far a chart of percentiles goes: until one request is beyond.
fn nines(count: u64) -> f64 {
    (count as f64).log10().clamp(1.0, 6.0)
}

/// One heat map for each run, on the same axes: how many requests took how long, over time. `None` if there is nothing to see.
pub(super) fn heat(runs: &[Run<'_>]) -> Option<Vec<String>> {
    let longest = longest(runs)?;
    let y = latency_axis(runs.iter().map(|run| &run.results.latency))?;
    let map = |run: &Run<'_>| heat_map(run.results, longest, &y);
    Some(runs.iter().map(map).collect())
}

fn heat_map(results: &Results, longest: usize, y: &Axis) -> String {
    let each = longest.div_ceil(HEAT_COLUMNS);
    let columns: Vec<_> = results
        .whole_seconds()
        .chunks(each)
        .map(|part| column(part, y))
        .collect();
    let most = columns.iter().flatten().max().copied().unwrap_or(0) as f64;
    let shade =
        |count: u64| ((count as f64).ln_1p() / most.ln_1p() * SHADES as f64).ceil() as usize;
    let x = seconds_axis(longest);
    let mut plot = Plot::new(x.clone(), y.clone());
    for one in 1..=SHADES {
        let boxes = columns.iter().enumerate().flat_map(|(at, column)| {
            let [left, right] = [at, at + 1].map(|at| x.place((at * each) as f64));
            let rows = column
                .iter()
                .enumerate()
                .filter(|(_, count)| **count > 0 && shade(**count) == one);
            rows.map(move |(row, _)| {
                let [low, high] = [row, row + 1].map(|row| row as f64 / HEAT_ROWS as f64);
                [left, right, low, high]
            })
        });
        plot.boxes(&format!("h{one}"), boxes);
    }
    plot.html("Heat map of latency over time")
}

/// How many took how long, from the fastest row to the slowest.
fn column(part: &[Second], y: &Axis) -> [u64; HEAT_ROWS] {
    let mut rows = [0; HEAT_ROWS];
    for second in part {
        for bucket in second.latency.histogram().iter_recorded() {
            let seconds = bucket.value_iterated_to() as f64 / 1e9;
            let row = (y.place(seconds) * HEAT_ROWS as f64) as usize;
            rows[row.min(HEAT_ROWS - 1)] += bucket.count_at_value();
        }
    }
    rows
}

fn longest(runs: &[Run<'_>]) -> Option<usize> {
    let lengths = runs.iter().map(|run| run.results.whole_seconds().len());
    lengths.max().filter(|longest| *longest > 0)
}

fn seconds_axis(longest: usize) -> Axis {
    Axis::up_to(longest as f64, |second| format!("{second} s"))
}

fn latency_axis<'a>(latencies: impl Iterator<Item = &'a Latency>) -> Option<Axis> {
    let any = latencies.filter(|latency| latency.count() > 0);
    let ends = any.map(|latency| [latency.min(), latency.max()].map(|end| end.as_secs_f64()));
    let both = |one: [f64; 2], other: [f64; 2]| [one[0].min(other[0]), one[1].max(other[1])];
    let [low, high] = ends.reduce(both)?;
    Some(Axis::logarithmic(low.max(1e-9), high.max(1e-9), short_time))
}

/// Of 1, 2 or 5 powers of ten: without digits that are 0.
fn short_time(seconds: f64) -> String {
    let told = units::time(Duration::from_secs_f64(seconds));
    match told.split_once(' ') {
        Some((number, unit)) if number.contains('.') => {
            format!(
                "{} {unit}",
                number.trim_end_matches('0').trim_end_matches('.')
            )
        }
        _ => told,
    }
}

/// Of a round number, which rounding made a little crooked perhaps.
fn short_count(value: f64) -> String {
    match value {
        ..1e3 => ((value * 1e3).round() / 1e3).to_string(),
        ..1e4 => units::count(value as u64),
        ..1e6 => format!("{} k", (value / 1e2).round() / 10.0),
        _ => format!("{} M", (value / 1e4).round() / 100.0),
    }
}
