//! The numbers of a moment as JSON.

use std::collections::HashMap;
use std::time::Duration;

use serde_json::{Value, json};
use thrum_http::Stats;

use super::Admin;
use crate::clock::steady_second;
use crate::metrics::caches;

/// How many routes are told: the busiest.
const ROUTES: usize = 20;
/// How many spawn sites of tasks that held up a worker are told: the worst.
const HOGS: usize = 20;
/// What counts as recent, in seconds.
const RECENT: u64 = 60;

/// All of it, with the seconds after a moment.
pub(super) fn json(admin: &Admin, since: u64) -> String {
    let now = steady_second();
    let rest = json!({
        "version": env!("CARGO_PKG_VERSION"),
        "pid": std::process::id(),
        "now": now,
        "not_ready": admin.readiness.reasons(),
        "connections": connections(&admin.watcher.stats().unwrap_or_default()),
        "routes": routes(admin, now),
        "runtime": runtime(),
        "hand_offs": hand_offs(),
        "caches": caches_of(admin),
        "log": admin.tail.lines(),
    });
    // The seconds are JSON already.
    let seconds = admin.watcher.history().json_since(since);
    format!("{{\"seconds\":{seconds},{}", &rest.to_string()[1..])
}

fn connections(stats: &Stats) -> Value {
    json!({
        "open": stats.open,
        "accepted": stats.accepted,
        "refused": stats.refused,
        "accept_errors": stats.accept_errors,
        "timeouts": stats.body_timeouts + stats.write_timeouts,
        "rejected": stats.rejects.values().sum::<u64>(),
        "panics": stats.panics,
        "handshakes": stats.handshakes,
        "handshake_failures": stats.handshake_failures.values().sum::<u64>(),
    })
}

/// The busiest routes of the last minute, then those that were before.
fn routes(admin: &Admin, now: u64) -> Vec<Value> {
    let mut recent: HashMap<(String, String), u64> = HashMap::new();
    for second in admin.watcher.history().since(now.saturating_sub(RECENT)) {
        for (site, route, requests) in second.top {
            *recent.entry((site, route)).or_default() += requests;
        }
    }
    let totals = admin.watcher.meters().totals().into_iter();
    let mut all: Vec<_> = totals
        .filter(|(_, totals)| totals.requests() > 0)
        .map(|(meter, totals)| {
            let key = (meter.site().to_owned(), meter.route().to_owned());
            (recent.get(&key).copied().unwrap_or(0), meter, totals)
        })
        .collect();
    all.sort_by_key(|(recent, _, totals)| std::cmp::Reverse((*recent, totals.requests())));
    let told = all.into_iter().take(ROUTES).map(|(recent, meter, totals)| {
        json!({
            "site": meter.site(),
            "route": meter.route(),
            "recent": recent,
            "requests": totals.requests(),
            "bytes": totals.bytes,
            "classes": totals.classes,
            "median_us": micros(totals.quantile(0.5)),
            "slowest_us": micros(totals.quantile(0.99)),
        })
    });
    told.collect()
}

fn runtime() -> Value {
    let metrics = thrum_rt::metrics();
    json!({
        "workers": metrics.workers,
        "threads": metrics.threads,
        "computing": metrics.computing,
        "asleep": metrics.asleep,
        "tasks": metrics.tasks,
        "queued": metrics.total_queued(),
        "polls": metrics.polls,
        "steals": metrics.steals,
        "hand_offs": metrics.hand_offs,
        "wasted_hand_offs": metrics.wasted_hand_offs,
        "at_cap": metrics.at_cap,
    })
}

fn hand_offs() -> Vec<Value> {
    let hogs = thrum_rt::hogs().into_iter().take(HOGS);
    let told = hogs.map(|hog| {
        json!({
            "spawned_at": hog.spawned_at.to_string(),
            "count": hog.count,
            "longest_us": micros(hog.longest),
            "total_us": micros(hog.total),
            "computed": hog.computed,
        })
    });
    told.collect()
}

fn caches_of(admin: &Admin) -> Vec<Value> {
    let told = caches(&admin.registry).into_iter();
    let told = told.map(|(kind, name, seen)| {
        json!({
            "kind": kind,
            "name": name,
            "hits": seen.hits,
            "misses": seen.misses,
            "bytes": seen.bytes,
        })
    });
    told.collect()
}

fn micros(time: Duration) -> u64 {
    u64::try_from(time.as_micros()).unwrap_or(u64::MAX)
}
