//! What is printed at the end of a run: a screen of text, with ANSI styles that a terminal shows and `anstream` takes away
//! where none is.

use std::fmt::Write;

use anstyle::{AnsiColor, Style};

use super::{PERCENTILES, supports};
use crate::budget::Check;
use crate::compare::{Comparison, Verdict};
use crate::latency::Latency;
use crate::results::Results;
use crate::units;

const STRONG: Style = Style::new().bold();
const FAINT: Style = Style::new().dimmed();
const GOOD: Style = AnsiColor::Green.on_default();
const BAD: Style = AnsiColor::Red.on_default();
const WARNING: Style = AnsiColor::Yellow.on_default().bold();
/// Where what a line says begins, after what it is about.
const LABEL: usize = 10;

/// What a run saw, in lines.
pub fn run(results: &Results) -> String {
    let mut out = String::new();
    let _ = writeln!(out, "{STRONG}{}{STRONG:#}", printable(&results.target));
    let plan: Vec<_> = results
        .plan
        .iter()
        .map(|(name, value)| format!("{name} {value}"))
        .collect();
    if !plan.is_empty() {
        let _ = writeln!(out, "{FAINT}{}{FAINT:#}", printable(&plan.join(", ")));
    }
    out.push('\n');
    throughput(results, &mut out);
    latencies(results, &mut out);
    answers(results, &mut out);
    client(results, &mut out);
    for warning in &results.warnings {
        let _ = writeln!(out, "{WARNING}warning:{WARNING:#} {}", printable(warning));
    }
    out
}

/// How a run did by its budget, a line a limit.
pub fn budget(checks: &[Check]) -> String {
    let mut out = String::new();
    for check in checks {
        let style = if check.held { GOOD } else { BAD };
        line("budget", &format!("{style}{check}{style:#}"), &mut out);
    }
    out
}

/// How two targets differ, in lines.
pub fn comparison(comparison: &Comparison) -> String {
    let mut rows = vec![
        ["", "A", "B", "B against A", "95 % interval", ""]
            .map(str::to_owned)
            .to_vec(),
    ];
    for one in &comparison.differences {
        let interval = one.interval.map_or("-".to_owned(), units::interval);
        let change = one.change.map_or("-".to_owned(), units::change);
        rows.push(vec![
            one.figure.name().to_owned(),
            one.figure.shown(one.a),
            one.figure.shown(one.b),
            change,
            interval,
            one.verdict.name().to_owned(),
        ]);
    }
    let mut out = String::new();
    let style = |row: usize, column: usize| match row.checked_sub(1) {
        None => FAINT,
        Some(row) if column == 5 => match comparison.differences[row].verdict {
            Verdict::Faster => GOOD,
            Verdict::Slower => BAD,
            Verdict::Noise | Verdict::Unknown => FAINT,
        },
        Some(_) => Style::new(),
    };
    table(&rows, style, &mut out);
    out.push('\n');
    for note in &comparison.notes {
        let _ = writeln!(out, "{FAINT}{}{FAINT:#}", printable(note));
    }
    out
}

fn throughput(results: &Results, out: &mut String) {
    let rate = units::rate(results.rate());
    let answered = format!(
        "{STRONG}{rate} requests/s{STRONG:#}, {} answered in {}",
        units::count(results.answered),
        units::time(results.elapsed())
    );
    line("rate", &answered, out);
    let bytes = |bytes: u64| {
        format!(
            "{}/s",
            units::bytes(bytes as f64 / results.elapsed_s.max(1e-9))
        )
    };
    let told = format!(
        "{} received, {} sent",
        bytes(results.received_bytes),
        bytes(results.sent_bytes)
    );
    line("bytes", &told, out);
}

/// A row for each percentile, a column for each thing that was timed.
fn latencies(results: &Results, out: &mut String) {
    let waited = results.waited();
    let columns: Vec<(&str, &Latency)> = [
        ("latency", &results.latency, true),
        ("service", &results.service, waited),
        ("first byte", &results.first_byte, true),
        ("connect", &results.connect, true),
        ("TLS", &results.tls, true),
    ]
    .into_iter()
    .filter(|(_, latency, shown)| *shown && latency.count() > 0)
    .map(|(name, latency, _)| (name, latency))
    .collect();
    if columns.is_empty() {
        return;
    }
    let row = |label: &str, cell: &dyn Fn(&Latency) -> String| {
        let cells = columns.iter().map(|(_, latency)| cell(latency));
        std::iter::once(label.to_owned())
            .chain(cells)
            .collect::<Vec<_>>()
    };
    let head = std::iter::once(String::new());
    let mut rows: Vec<Vec<_>> = vec![
        head.chain(columns.iter().map(|(name, _)| (*name).to_owned()))
            .collect(),
    ];
    rows.push(row("mean", &|latency| units::time(latency.mean())));
    rows.push(row("deviation", &|latency| {
        units::time(latency.deviation())
    }));
    for percent in PERCENTILES {
        if columns
            .iter()
            .any(|(_, latency)| supports(latency, percent))
        {
            rows.push(row(
                &format!("{percent} %"),
                &|latency| match supports(latency, percent) {
                    true => units::time(latency.percentile(percent)),
                    false => String::new(),
                },
            ));
        }
    }
    rows.push(row("max", &|latency| units::time(latency.max())));
    rows.push(row("count", &|latency| units::count(latency.count())));
    out.push('\n');
    table(
        &rows,
        |row, column| {
            if row == 0 || column == 0 {
                FAINT
            } else {
                Style::new()
            }
        },
        out,
    );
    if waited {
        let _ = writeln!(
            out,
            "{FAINT}latency: from when a request was due; service: from when it was sent{FAINT:#}"
        );
    }
    out.push('\n');
}

fn answers(results: &Results, out: &mut String) {
    let told = |(name, count): (String, u64)| format!("{name}: {}", units::count(count));
    let statuses = results
        .statuses
        .iter()
        .map(|(status, count)| (status.to_string(), *count));
    let statuses: Vec<_> = statuses.map(told).collect();
    if !statuses.is_empty() {
        line("statuses", &statuses.join("  "), out);
    }
    let errors = results
        .errors
        .iter()
        .map(|(kind, count)| (kind.name().to_owned(), *count));
    let errors: Vec<_> = errors.filter(|(_, count)| *count > 0).map(told).collect();
    let told = match errors.is_empty() {
        true => "none".to_owned(),
        false => format!(
            "{BAD}{}{BAD:#} ({} of all requests)",
            errors.join("  "),
            units::share(results.failed_share())
        ),
    };
    line("errors", &told, out);
}

fn client(results: &Results, out: &mut String) {
    let client = &results.client;
    let a_request = client.a_request(results.answered);
    let user = client.user_s / (client.user_s + client.system_s).max(1e-9);
    let threads = match client.threads {
        1 => "1 thread".to_owned(),
        many => format!("{many} threads"),
    };
    let told = format!(
        "{threads}, {} busy, {} of CPU a request ({} user)",
        units::share(client.busy(results.elapsed())),
        units::time(a_request),
        units::share(user),
    );
    line("client", &told, out);
}

fn line(label: &str, told: &str, out: &mut String) {
    let _ = writeln!(out, "{FAINT}{label:LABEL$}{FAINT:#}{told}");
}

/// Columns as wide as what is in them; the first to the left, the others to the right.
fn table(rows: &[Vec<String>], style: impl Fn(usize, usize) -> Style, out: &mut String) {
    let columns = rows.first().map_or(0, Vec::len);
    let wide = |column: usize| rows.iter().map(|row| row[column].chars().count()).max();
    let widths: Vec<_> = (0..columns)
        .map(|column| wide(column).unwrap_or(0))
        .collect();
    for (at, row) in rows.iter().enumerate() {
        let mut text = String::new();
        for (column, cell) in row.iter().enumerate() {
            let (style, width) = (style(at, column), widths[column]);
            let padded = match column {
                0 => format!("{cell:width$}", width = width.max(LABEL - 2)),
                _ => format!("  {cell:>width$}"),
            };
            let _ = write!(text, "{style}{padded}{style:#}");
        }
        out.push_str(text.trim_end());
        out.push('\n');
    }
}

/// Without anything that a terminal obeys.
fn printable(text: &str) -> String {
    text.chars().filter(|one| !one.is_control()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compare::compare;
    use crate::results::ErrorKind;
    use crate::samples;

    /// As it is where there are no colours.
    fn plain(text: &str) -> String {
        let mut out = String::new();
        let mut letters = text.chars();
        while let Some(letter) = letters.next() {
            if letter == '\u{1b}' {
                letters.by_ref().find(|letter| *letter == 'm');
            } else {
                out.push(letter);
            }
        }
        out
    }

    #[test]
    fn a_closed_loop() {
        let mut results = samples::results();
        results.latency = samples::latency(&[4; 1000]);
        results.service = results.latency.clone();
        results.first_byte = samples::latency(&[3; 1000]);
        results.connect = samples::latency(&[1, 1]);
        let told = plain(&run(&results));
        assert_eq!(
            told,
            "\
http://127.0.0.1:8080/
connections 50, duration 3s

rate      1,000 requests/s, 3,000 answered in 3.00 s
bytes     700 kB/s received, 80.0 kB/s sent

           latency  first byte  connect
mean       4.00 ms     3.00 ms  1.00 ms
deviation     0 ns        0 ns     0 ns
50 %       4.00 ms     3.00 ms  1.00 ms
75 %       4.00 ms     3.00 ms  1.00 ms
90 %       4.00 ms     3.00 ms  1.00 ms
99 %       4.00 ms     3.00 ms
max        4.00 ms     3.00 ms  1.00 ms
count        1,000       1,000        2

statuses  200: 3,000
errors    none
client    1 thread, 0.5 % busy, 5.00 us of CPU a request (30 % user)
"
        );
    }

    #[test]
    fn an_open_loop_with_trouble() {
        let mut results = samples::run(1, 3, 2.0, 1000);
        results.target = "http://127.0.0.1/\u{1b}[2J".to_owned();
        results.service = samples::latency(&[1; 3000]);
        results.tls = samples::latency(&[9; 50]);
        results.statuses.insert(503, 60);
        results.errors = [(ErrorKind::Timeout, 1500), (ErrorKind::Status, 60)].into();
        results.warnings = vec!["the client was busy".to_owned()];
        let coloured = run(&results);
        let told = plain(&coloured);
        for needed in [
            "http://127.0.0.1/[2J\n",
            "latency  service  first byte",
            "TLS\n",
            "latency: from when a request was due; service: from when it was sent",
            "statuses  200: 3,000  503: 60\n",
            "errors    timeout: 1,500  status: 60 (34.2 % of all requests)\n",
            "warning: the client was busy\n",
        ] {
            assert!(told.contains(needed), "{needed}\n{told}");
        }
        assert!(coloured.contains("\u{1b}[31m"));
        assert!(told.lines().count() < 25, "more than a screen:\n{told}");
        assert!(
            told.lines().all(|line| line.chars().count() <= 80),
            "{told}"
        );
    }

    #[test]
    fn nothing_answered() {
        let mut results = samples::run(1, 3, 2.0, 0);
        results.connect = samples::latency(&[]);
        results.errors = [(ErrorKind::Connect, 50)].into();
        let told = plain(&run(&results));
        assert!(
            told.contains("rate      0.00 requests/s, 0 answered"),
            "{told}"
        );
        assert!(
            told.contains("connect: 50 (100 % of all requests)"),
            "{told}"
        );
        assert!(!told.contains("99 %") && !told.contains("NaN"), "{told}");
    }

    #[test]
    fn a_comparison() {
        let a = samples::run(1, 10, 2.0, 200);
        let b = samples::run(2, 10, 3.0, 200);
        let told = plain(&comparison(&compare(&[a], &[b])));
        let lines: Vec<_> = told.lines().collect();
        assert!(
            lines[0].contains("A") && lines[0].contains("95 % interval"),
            "{told}"
        );
        assert!(
            lines[1].starts_with("rate") && lines[1].ends_with("noise"),
            "{told}"
        );
        assert!(
            lines[3].starts_with("p50") && lines[3].ends_with("slower"),
            "{told}"
        );
        assert!(
            lines[6].starts_with("p99.9") && lines[6].ends_with("unknown"),
            "{told}"
        );
        assert!(told.contains("one figure in twenty"), "{told}");
    }
}
