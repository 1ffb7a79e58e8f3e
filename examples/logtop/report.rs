//! What was counted, for people and for machines.

use std::fmt::Write;
use std::time::Duration;

use serde_json::{Value, json};
use thrum::parse::log_line::LINE_BYTES;

use crate::log::Log;

/// So many characters of a path are shown.
const SHOWN: usize = 100;

/// The top paths and the totals, as text.
pub(crate) fn text(log: &Log, top: usize, time: Duration) -> String {
    let mut text = format!("{:>15} {:>8} {:>19}  path\n", "hits", "share", "bytes");
    for each in log.top.most(top) {
        let (hits, share) = (grouped(each.hits), 100.0 * share(each.hits, log));
        let more = if each.missed > 0 { '+' } else { ' ' };
        let (bytes, path) = (grouped(each.bytes), shown(each.path));
        _ = writeln!(text, "{hits:>14}{more} {share:>6.2} % {bytes:>19}  {path}");
    }
    if log.top.missed() > 0 {
        let missed = grouped(log.top.missed());
        _ = writeln!(
            text,
            "There are more paths than are remembered: one with + may have up to {missed} more hits, and so may one that is \
             not here."
        );
    }
    let (lines, bytes, sent) = (log.lines(), log.bytes.total(), log.sent);
    let (lines, sent) = (grouped(lines), grouped(sent));
    let (seconds, rate) = (time.as_secs_f64(), bytes as f64 / 1e6 / time.as_secs_f64());
    _ = writeln!(
        text,
        "\n{lines} lines, {} bytes, {sent} bytes sent, read in {seconds:.3} s: {rate:.0} MB/s",
        grouped(bytes)
    );
    let (bad, too_long) = (log.bad, log.too_long.total());
    if bad + too_long > 0 {
        let (all, too_long) = (grouped(bad + too_long), grouped(too_long));
        _ = writeln!(
            text,
            "no log lines: {all}, of them longer than {LINE_BYTES} bytes: {too_long}"
        );
    }
    if let Some(first) = &log.first_bad {
        _ = writeln!(text, "{first}");
    }
    text
}

/// The same as one JSON object. What is no UTF-8 in a path is replaced.
pub(crate) fn json(log: &Log, top: usize, time: Duration) -> String {
    let most = log.top.most(top);
    let paths: Vec<Value> = most
        .iter()
        .map(|each| {
            json!({
                "path": String::from_utf8_lossy(each.path),
                "hits": each.hits,
                "may_miss": each.missed,
                "share": share(each.hits, log),
                "bytes": each.bytes,
            })
        })
        .collect();
    let all = json!({
        "paths": paths,
        "may_miss": log.top.missed(),
        "lines": log.lines(),
        "bytes": log.bytes.total(),
        "bytes_sent": log.sent,
        "bad_lines": log.bad + log.too_long.total(),
        "first_bad_line": log.first_bad,
        "too_long_lines": log.too_long.total(),
        "seconds": time.as_secs_f64(),
    });
    format!("{all}\n")
}

fn share(hits: u64, log: &Log) -> f64 {
    hits as f64 / log.requests.max(1) as f64
}

/// Digits in groups of three.
fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut grouped = String::new();
    for (at, digit) in digits.char_indices() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    grouped
}

/// A path so that a terminal shows it and does nothing else.
fn shown(path: &[u8]) -> String {
    let text = String::from_utf8_lossy(path);
    let visible = |c: char| {
        if c.is_control() {
            char::REPLACEMENT_CHARACTER
        } else {
            c
        }
    };
    let mut shown: String = text.chars().take(SHOWN).map(visible).collect();
    if text.chars().nth(SHOWN).is_some() {
        shown.push('…');
    }
    shown
}
