//! How upstreams fare.

use std::sync::Arc;

use super::registry::Registry;
use crate::proxy::{Status, Upstreams};

/// Has read what is known of each upstream, for as long as they are there.
pub(crate) fn observe_upstreams(registry: &Registry, upstreams: &Arc<Upstreams>) {
    registry.source_of("upstreams", upstreams, |upstreams, sample| {
        for status in upstreams.status() {
            let labels = [("upstream", &status.name[..])];
            let gauges = [
                (
                    "thrum_upstream_up",
                    "Whether requests go to an upstream: 1, or 0 while it is taken to be down.",
                    f64::from(u8::from(status.is_up)),
                ),
                (
                    "thrum_upstream_active_requests",
                    "Requests that an upstream is at, upgraded connections among them.",
                    status.active as f64,
                ),
            ];
            for (name, help, value) in gauges {
                sample.gauge(name, help, &labels, value);
            }
            for (name, help, value) in counters(&status) {
                sample.counter(name, help, &labels, value);
            }
        }
    });
}

fn counters(status: &Status) -> [(&'static str, &'static str, u64); 6] {
    [
        (
            "thrum_upstream_requests_total",
            "Requests that an upstream was asked, retries among them.",
            status.requests,
        ),
        (
            "thrum_upstream_failures_total",
            "Requests that an upstream did not answer, those that timed out among them.",
            status.failures,
        ),
        (
            "thrum_upstream_timeouts_total",
            "Requests that an upstream did not answer in time.",
            status.timeouts,
        ),
        (
            "thrum_upstream_broken_responses_total",
            "Responses of an upstream that broke off.",
            status.broken,
        ),
        (
            "thrum_upstream_retries_total",
            "Requests that went on to another upstream because this one did not answer.",
            status.retries,
        ),
        (
            "thrum_upstream_ejections_total",
            "Times that an upstream was taken to be down.",
            status.ejections,
        ),
    ]
}
