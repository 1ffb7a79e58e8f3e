//! Lines made of what the server says.

use std::fmt::Write;

use anstyle::{AnsiColor, Style};
use serde_json::Value;

use crate::terminal::{FAINT, STRONG};

/// How many seconds are shown at most.
pub(super) const SECONDS: usize = 600;
const SPARKS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
const SHADES: [char; 4] = ['░', '▒', '▓', '█'];
const PLAIN: Style = Style::new();
const GOOD: Style = AnsiColor::Green.on_default();
const BAD: Style = AnsiColor::Red.on_default();
/// Classes of statuses, with their colours.
const CLASSES: [(&str, Style); 6] = [
    ("1xx", FAINT),
    ("2xx", GOOD),
    ("3xx", AnsiColor::Blue.on_default()),
    ("4xx", AnsiColor::Yellow.on_default()),
    ("5xx", BAD),
    ("others", FAINT),
];
/// How many routes, spawn sites, caches and lines of the log are shown.
const ROUTES: usize = 8;
const OTHERS: usize = 5;

/// Texts, each with its style.
#[derive(Clone, Debug, Default)]
pub(super) struct Line(Vec<(Style, String)>);

impl Line {
    fn of(style: Style, text: impl Into<String>) -> Self {
        Self::default().and(style, text)
    }

    fn and(mut self, style: Style, text: impl Into<String>) -> Self {
        self.0.push((style, text.into()));
        self
    }

    /// Appends it, cut to so many columns, without anything that a terminal obeys but its styles, and a line's end.
    pub(super) fn write(&self, columns: usize, out: &mut String) {
        let mut left = columns;
        for (style, text) in &self.0 {
            let text = text.chars().filter(|one| !one.is_control());
            let kept: String = text.take(left).collect();
            left -= kept.chars().count();
            let _ = write!(out, "{style}{kept}{style:#}");
        }
        out.push('\n');
    }
}

/// The seconds of an answer, oldest first.
pub(super) fn seconds(data: &Value) -> Vec<Value> {
    data["seconds"].as_array().cloned().unwrap_or_default()
}

/// A number, or zero.
pub(super) fn number(value: &Value) -> u64 {
    value.as_u64().unwrap_or(0)
}

/// What went wrong.
pub(super) fn problem(text: &str) -> Line {
    Line::of(BAD.bold(), text)
}

/// All of it.
pub(super) fn lines(name: &str, data: &Value, seconds: &[Value], columns: usize) -> Vec<Line> {
    let mut lines = vec![head(name, data), Line::default()];
    lines.extend(throughput(data, seconds, columns));
    lines.push(statuses(seconds));
    lines.push(Line::default());
    lines.extend(latency(data, seconds, columns));
    lines.push(Line::default());
    lines.extend(routes(data, seconds, columns));
    lines.push(Line::default());
    lines.extend(server(data));
    lines.extend(hand_offs(data));
    lines.extend(caches(data));
    lines.extend(log(data));
    lines
}

fn head(name: &str, data: &Value) -> Line {
    let reasons: Vec<_> = list(&data["not_ready"]).filter_map(Value::as_str).collect();
    let line = Line::of(STRONG, format!("thrum {}", text(&data["version"])))
        .and(PLAIN, format!(" at {name}, process {}  ", data["pid"]));
    match reasons.is_empty() {
        true => line.and(GOOD, "ready"),
        false => line.and(BAD, reasons.join("; ")),
    }
}

fn throughput(data: &Value, seconds: &[Value], columns: usize) -> [Line; 2] {
    let recent = &seconds[seconds.len().saturating_sub(3)..];
    let count = recent.len().max(1) as f64;
    let rate = recent.iter().map(requests).sum::<u64>() as f64 / count;
    let sent = recent
        .iter()
        .map(|second| number(&second["bytes"]))
        .sum::<u64>() as f64
        / count;
    let open = number(&data["connections"]["open"]);
    let numbers = Line::of(STRONG, format!("{} requests/s", compact(rate))).and(
        PLAIN,
        format!("  {}/s sent  {open} open connections", bytes(sent as u64)),
    );
    let shown = &seconds[seconds.len().saturating_sub(columns)..];
    let rates: Vec<_> = shown.iter().map(requests).collect();
    [
        numbers,
        Line::of(AnsiColor::Cyan.on_default(), sparkline(&rates)),
    ]
}

/// The last minute's statuses.
fn statuses(seconds: &[Value]) -> Line {
    let recent = &seconds[seconds.len().saturating_sub(60)..];
    let all = recent.iter().map(requests).sum::<u64>();
    let classes = CLASSES.iter().enumerate();
    let told = classes.filter_map(|(class, (name, style))| {
        let count: u64 = recent
            .iter()
            .map(|second| number(&second["classes"][class]))
            .sum();
        let part = 100.0 * count as f64 / all as f64;
        (count > 0).then(|| (style, format!("{name} {count} ({part:.1} %)  ")))
    });
    let line = Line::of(FAINT, "last minute  ");
    told.fold(line, |line, (style, text)| line.and(*style, text))
}

/// A heat map: a row for each doubling, from below, with the slowest first.
fn latency(data: &Value, seconds: &[Value], columns: usize) -> Vec<Line> {
    const LABEL: usize = 10;
    let across = columns.saturating_sub(LABEL).max(10);
    let size = SECONDS.div_ceil(across).max(1) as u64;
    let last = number(&data["now"]) / size;
    let mut map = vec![vec![0; across]; 26];
    for second in seconds {
        let ago = last.saturating_sub(number(&second["at"]) / size) as usize;
        let Some(column) = across.checked_sub(ago + 1) else {
            continue;
        };
        for (row, count) in list(&second["latency"]).enumerate().take(map.len()) {
            map[row][column] += number(count);
        }
    }
    let used = |row: &Vec<u64>| row.iter().any(|count| *count > 0);
    let (Some(low), Some(high)) = (map.iter().position(used), map.iter().rposition(used)) else {
        return vec![Line::of(FAINT, "no requests in the last ten minutes")];
    };
    let most = map.iter().flatten().max().map_or(1, |most| *most) as f64;
    let shade = |count: &u64| match count {
        0 => ' ',
        count => {
            let part = (*count as f64).ln_1p() / most.ln_1p();
            SHADES[((part * 4.0).ceil() as usize).clamp(1, 4) - 1]
        }
    };
    let row = |row: usize| {
        let label = format!("{:>LABEL$}", format!("< {} ", time(1 << (row + 2))));
        let shades: String = map[row].iter().map(shade).collect();
        Line::of(FAINT, label).and(AnsiColor::Cyan.on_default(), shades)
    };
    (low..=high).rev().map(row).collect()
}

fn routes(data: &Value, seconds: &[Value], columns: usize) -> Vec<Line> {
    const NUMBERS: usize = 58;
    let wide = columns.saturating_sub(NUMBERS).clamp(16, 60);
    let count = seconds.len().clamp(1, 60) as f64;
    let head = format!(
        "{:wide$}{:>10}{:>10}{:>11}{:>9}{:>9}{:>9}",
        "route", "a second", "requests", "median", "99 %", "4xx", "5xx"
    );
    let route = |route: &Value| {
        let (site, path) = (text(&route["site"]), text(&route["route"]));
        let name = match (site, path) {
            ("", _) => "(no site)".to_owned(),
            (site, "") => format!("{site} (no route)"),
            (site, path) => format!("{site} {path}"),
        };
        let name: String = name.chars().take(wide - 1).collect();
        let failed = number(&route["classes"][4]);
        let numbers = format!(
            "{name:wide$}{:>10}{:>10}{:>11}{:>9}{:>9}",
            compact(number(&route["recent"]) as f64 / count),
            compact(number(&route["requests"]) as f64),
            time(number(&route["median_us"])),
            time(number(&route["slowest_us"])),
            number(&route["classes"][3]),
        );
        let style = if failed > 0 { BAD } else { PLAIN };
        Line::of(PLAIN, numbers).and(style, format!("{failed:>9}"))
    };
    let all = list(&data["routes"]).take(ROUTES).map(route);
    std::iter::once(Line::of(FAINT, head)).chain(all).collect()
}

fn server(data: &Value) -> [Line; 2] {
    let told = |of: &str, names: &[(&str, &str)]| {
        let parts = names
            .iter()
            .map(|(key, name)| format!("{name} {}", number(&data[of][*key])));
        parts.collect::<Vec<_>>().join("  ")
    };
    let connections = [
        ("open", "open"),
        ("accepted", "accepted"),
        ("refused", "refused"),
        ("timeouts", "too slow"),
        ("rejected", "rejected"),
    ];
    let runtime = [
        ("workers", "workers"),
        ("tasks", "tasks"),
        ("queued", "ready"),
        ("computing", "computing"),
        ("asleep", "asleep"),
        ("hand_offs", "hand-offs"),
    ];
    [
        Line::of(FAINT, "connections  ").and(PLAIN, told("connections", &connections)),
        Line::of(FAINT, "runtime      ").and(PLAIN, told("runtime", &runtime)),
    ]
}

fn hand_offs(data: &Value) -> Vec<Line> {
    section(&data["hand_offs"], "hand-offs", |hog| {
        let kind = match hog["computed"].as_bool() {
            Some(true) => "computing",
            _ => "asleep",
        };
        format!(
            "{:>7} {kind}, longest {}: {}",
            number(&hog["count"]),
            time(number(&hog["longest_us"])),
            text(&hog["spawned_at"])
        )
    })
}

fn caches(data: &Value) -> Vec<Line> {
    section(&data["caches"], "caches", |cache| {
        let (hits, misses) = (number(&cache["hits"]), number(&cache["misses"]));
        let part = match hits + misses {
            0 => "-".to_owned(),
            asked => format!("{:.1} %", 100.0 * hits as f64 / asked as f64),
        };
        format!(
            "{part:>7} of {} asked, {} kept: {} {}",
            hits + misses,
            bytes(number(&cache["bytes"])),
            text(&cache["kind"]),
            text(&cache["name"])
        )
    })
}

fn log(data: &Value) -> Vec<Line> {
    let lines: Vec<_> = list(&data["log"]).collect();
    let last = &lines[lines.len().saturating_sub(OTHERS)..];
    let line = |line: &&Value| Line::of(PLAIN, text(line));
    let head = (!last.is_empty()).then(|| [Line::default(), Line::of(FAINT, "log")]);
    let head = head.into_iter().flatten();
    head.chain(last.iter().map(line)).collect()
}

fn section(of: &Value, name: &str, line: impl Fn(&Value) -> String) -> Vec<Line> {
    let all = list(of).take(OTHERS).enumerate();
    let told = all.map(|(at, one)| {
        let label = if at == 0 { name } else { "" };
        Line::of(FAINT, format!("{label:13}")).and(PLAIN, line(one))
    });
    told.collect()
}

fn list(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().into_iter().flatten()
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

fn requests(second: &Value) -> u64 {
    list(&second["classes"]).map(number).sum()
}

fn sparkline(rates: &[u64]) -> String {
    let most = rates.iter().max().copied().unwrap_or(0).max(1);
    let spark = |rate: &u64| match rate {
        0 => SPARKS[0],
        rate => SPARKS[((*rate as f64 / most as f64 * 8.0).ceil() as usize).clamp(1, 8) - 1],
    };
    rates.iter().map(spark).collect()
}

fn compact(number: f64) -> String {
    match number {
        ..10.0 if number.fract() > 0.0 => format!("{number:.1}"),
        ..10_000.0 => format!("{number:.0}"),
        ..1e6 => format!("{:.1} k", number / 1e3),
        ..1e9 => format!("{:.1} M", number / 1e6),
        _ => format!("{:.1} G", number / 1e9),
    }
}

fn bytes(count: u64) -> String {
    let units = ["KiB", "MiB", "GiB", "TiB"];
    let mut number = count as f64;
    let mut shown = "B";
    for unit in units {
        if number < 1024.0 {
            break;
        }
        (number, shown) = (number / 1024.0, unit);
    }
    match shown {
        "B" => format!("{count} B"),
        _ => format!("{number:.1} {shown}"),
    }
}

fn time(micros: u64) -> String {
    match micros {
        0 => "-".to_owned(),
        1..1000 => format!("{micros} us"),
        1000..1_000_000 => format!("{:.1} ms", micros as f64 / 1e3),
        _ => format!("{:.1} s", micros as f64 / 1e6),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn shown(data: &Value, columns: usize) -> Vec<String> {
        let mut text = String::new();
        for line in lines("localhost:1", data, &seconds(data), columns) {
            line.write(columns, &mut text);
        }
        let text = anstream::adapter::strip_str(&text).to_string();
        text.lines().map(str::to_owned).collect()
    }

    #[test]
    fn all_is_shown_in_the_width_there_is() {
        let second = |at: u64, count: u64| json!({"at": at, "classes": [0, count, 0, 1, 0, 0], "bytes": 2048, "latency": [0, 0, count, 1]});
        let data = json!({
            "version": "1", "pid": 7, "now": 1002, "not_ready": [],
            "seconds": [second(1000, 1), second(1001, 8)],
            "connections": {"open": 3}, "runtime": {"hand_offs": 5},
            "routes": [{"site": "a", "route": "/x\u{1b}[2J", "recent": 9, "requests": 90, "median_us": 1500,
                        "classes": [0, 0, 0, 0, 2, 0]}],
            "hand_offs": [{"spawned_at": "src/a.rs:1:2", "count": 4, "longest_us": 20_000, "computed": true}],
            "caches": [{"kind": "files", "name": "/srv", "hits": 3, "misses": 1, "bytes": 1024}],
            "log": ["WARN full"],
        });
        let lines = shown(&data, 100);
        let whole = lines.join("\n");
        for needed in [
            "process 7  ready",
            "5.5 requests/s  2.0 KiB/s sent  3 open connections",
            "▂█",
            "2xx 9 (81.8 %)  4xx 2 (18.2 %)",
            "< 16 us",
            "4.5        90     1.5 ms",
            "hand-offs 5",
            "4 computing, longest 20.0 ms: src/a.rs:1:2",
            "75.0 % of 4 asked, 1.0 KiB kept: files /srv",
            "WARN full",
        ] {
            assert!(whole.contains(needed), "{needed}\n{whole}");
        }
        assert!(!whole.contains('\u{1b}'));
        for line in shown(&data, 30) {
            assert!(line.chars().count() <= 30, "{line}");
        }
    }

    #[test]
    fn nothing_yet_is_shown_too() {
        let lines = shown(&json!({"not_ready": ["the server is starting"]}), 80);
        assert!(lines[0].ends_with("the server is starting"), "{}", lines[0]);
    }

    #[test]
    fn sparks() {
        assert_eq!(sparkline(&[0, 1, 8, 4]), "▁▁█▄");
        assert_eq!(sparkline(&[0, 0]), "▁▁");
        assert_eq!(sparkline(&[]), "");
    }
}
