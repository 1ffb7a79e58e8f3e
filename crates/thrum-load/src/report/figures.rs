//! The table of all figures on a page.

use std::fmt::Write;
use std::time::Duration;

use super::html::escaped;
use super::{PERCENTILES, Run, supports};
use crate::latency::Latency;
use crate::results::{ErrorKind, Results};
use crate::units;

/// All figures, a column a run.
pub(super) fn table(runs: &[Run<'_>], out: &mut String) {
    out.push_str("<section><h2>Figures</h2><div class=\"scroll\"><table class=\"figures\">");
    if runs.len() > 1 {
        let name = |run: &Run<'_>| format!("<th>{}</th>", escaped(run.name));
        let names: String = runs.iter().map(name).collect();
        let _ = write!(out, "<thead><tr><th></th>{names}</tr></thead>");
    }
    out.push_str("<tbody>");
    let mut row = |label: &str, cell: &dyn Fn(&Results) -> Option<String>| {
        let cells: Vec<_> = runs.iter().map(|run| cell(run.results)).collect();
        if cells.iter().any(Option::is_some) {
            let _ = write!(out, "<tr><th>{label}</th>");
            for cell in cells {
                let _ = write!(out, "<td>{}</td>", cell.as_deref().unwrap_or(""));
            }
            out.push_str("</tr>");
        }
    };
    row("requests a second", &|run| Some(units::rate(run.rate())));
    row("answered", &|run| Some(units::count(run.answered)));
    row("measured for", &|run| Some(units::time(run.elapsed())));
    row("errors", &|run| {
        Some(format!(
            "{} ({})",
            units::count(run.failed()),
            units::share(run.failed_share())
        ))
    });
    for kind in ErrorKind::ALL {
        let count = |run: &Results| run.errors.get(&kind).map(|count| units::count(*count));
        row(&format!("errors: {}", kind.name()), &count);
    }
    let mut statuses: Vec<_> = runs
        .iter()
        .flat_map(|run| run.results.statuses.keys())
        .collect();
    statuses.sort();
    statuses.dedup();
    for status in statuses {
        let count = |run: &Results| run.statuses.get(status).map(|count| units::count(*count));
        row(&format!("status {status}"), &count);
    }
    timed("latency", |run| Some(&run.latency), &PERCENTILES, &mut row);
    timed(
        "service",
        |run| run.waited().then_some(&run.service),
        &PERCENTILES,
        &mut row,
    );
    let few = [50.0, 99.0];
    timed("first byte", |run| Some(&run.first_byte), &few, &mut row);
    timed("connect", |run| Some(&run.connect), &few, &mut row);
    timed("TLS", |run| Some(&run.tls), &few, &mut row);
    row("received", &|run| {
        Some(units::bytes(run.received_bytes as f64))
    });
    row("sent", &|run| Some(units::bytes(run.sent_bytes as f64)));
    row("client's CPU a request", &|run| {
        Some(units::time(run.client.a_request(run.answered)))
    });
    row("client busy", &|run| {
        Some(units::share(run.client.busy(run.elapsed())))
    });
    out.push_str("</tbody></table></div></section>\n");
}

type Row<'a> = dyn FnMut(&str, &dyn Fn(&Results) -> Option<String>) + 'a;

/// Rows of one thing that was timed.
fn timed(
    name: &str,
    of: impl Fn(&Results) -> Option<&Latency>,
    percentiles: &[f64],
    row: &mut Row<'_>,
) {
    let figure = |run: &Results, figure: &dyn Fn(&Latency) -> Duration| {
        let latency = of(run).filter(|latency| latency.count() > 0)?;
        Some(units::time(figure(latency)))
    };
    row(&format!("{name}, mean"), &|run| figure(run, &Latency::mean));
    for percent in percentiles {
        row(&format!("{name}, {percent} %"), &|run| {
            let supported = of(run).is_some_and(|latency| supports(latency, *percent));
            supported
                .then(|| figure(run, &|latency| latency.percentile(*percent)))
                .flatten()
        });
    }
    row(&format!("{name}, max"), &|run| figure(run, &Latency::max));
}
