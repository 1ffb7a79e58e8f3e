//! What the runtime and the HTTP server count, as sources of a registry.

use thrum_http::Server;

use super::registry::{Registry, Sample};

/// How many spawn sites of tasks that held up a worker are told: the worst.
const HOGS: usize = 20;

/// Has what a server counts read: connections, refusals, limits that clients ran into. The server must be one whose clones
/// are held elsewhere for as long as it serves; another one takes its place.
pub fn observe_server(registry: &Registry, server: &Server) {
    let server = server.clone();
    registry.source("http", move |sample| tell_server(&server, sample));
}

/// Has what the runtime counts read, of the runtime on which somebody looks: workers, tasks, polls, hand-offs and where the
/// tasks were spawned that made them necessary.
pub fn observe_runtime(registry: &Registry) {
    registry.source("runtime", tell_runtime);
}

fn tell_server(server: &Server, sample: &mut Sample) {
    let stats = server.stats();
    sample.gauge(
        "thrum_http_connections",
        "Connections that are open.",
        &[],
        stats.open as f64,
    );
    for (name, help, value) in [
        (
            "thrum_http_connections_accepted_total",
            "Connections that were accepted.",
            stats.accepted,
        ),
        (
            "thrum_http_connections_refused_total",
            "Connections beyond the limit, which were refused.",
            stats.refused,
        ),
        (
            "thrum_accept_errors_total",
            "Times that no connection could be accepted, for want of descriptors mostly.",
            stats.accept_errors,
        ),
        (
            "thrum_http_body_timeouts_total",
            "Request bodies that came too slowly.",
            stats.body_timeouts,
        ),
        (
            "thrum_http_write_timeouts_total",
            "Responses that the client did not take.",
            stats.write_timeouts,
        ),
        (
            "thrum_http_handler_panics_total",
            "Handlers that panicked.",
            stats.panics,
        ),
        (
            "thrum_http_handler_errors_total",
            "Handlers that failed.",
            stats.errors,
        ),
        (
            "thrum_tls_handshakes_total",
            "TLS handshakes that succeeded.",
            stats.handshakes,
        ),
    ] {
        sample.counter(name, help, &[], value);
    }
    for (reject, count) in &stats.rejects {
        let reason = reject.to_string();
        let help = "Requests that were refused before they came to a site, by the reason.";
        sample.counter(
            "thrum_http_refused_requests_total",
            help,
            &[("reason", &reason)],
            *count,
        );
    }
    for (failure, count) in &stats.handshake_failures {
        let reason = failure.to_string();
        let help = "TLS handshakes that failed, by the reason.";
        sample.counter(
            "thrum_tls_handshake_failures_total",
            help,
            &[("reason", &reason)],
            *count,
        );
    }
}

fn tell_runtime(sample: &mut Sample) {
    let metrics = thrum_rt::metrics();
    for (name, help, value) in [
        (
            "thrum_runtime_workers",
            "Tasks that can run at the same time.",
            metrics.workers,
        ),
        (
            "thrum_runtime_threads",
            "OS threads of the runtime.",
            metrics.threads,
        ),
        (
            "thrum_runtime_standbys",
            "Threads that wait to stand in for a stuck one.",
            metrics.standbys,
        ),
        (
            "thrum_runtime_computing",
            "Threads that compute, their seat handed off.",
            metrics.computing,
        ),
        (
            "thrum_runtime_asleep",
            "Threads that sleep in the kernel, their seat handed off.",
            metrics.asleep,
        ),
        (
            "thrum_runtime_tasks",
            "Tasks that have not ended.",
            metrics.tasks,
        ),
        (
            "thrum_runtime_queued",
            "Tasks that are ready and wait for a worker.",
            metrics.total_queued(),
        ),
    ] {
        sample.gauge(name, help, &[], value as f64);
    }
    let slice = metrics.slice.as_secs_f64();
    sample.gauge(
        "thrum_runtime_slice_seconds",
        "How long a poll may take before it is suspect.",
        &[],
        slice,
    );
    for (name, help, value) in [
        (
            "thrum_runtime_polls_total",
            "Polls of tasks.",
            metrics.polls,
        ),
        (
            "thrum_runtime_steals_total",
            "Tasks found in another thread's queue.",
            metrics.steals,
        ),
        (
            "thrum_runtime_hand_offs_total",
            "Seats that were handed off.",
            metrics.hand_offs,
        ),
        (
            "thrum_runtime_wasted_hand_offs_total",
            "Hand-offs of tasks that were done right after.",
            metrics.wasted_hand_offs,
        ),
        (
            "thrum_runtime_at_cap_total",
            "Times that a stuck worker could not be helped because of a cap.",
            metrics.at_cap,
        ),
    ] {
        sample.counter(name, help, &[], value);
    }
    let hogs = thrum_rt::hogs().into_iter().take(HOGS);
    for hog in hogs {
        let spawned_at = hog.spawned_at.to_string();
        let kind = if hog.computed { "computing" } else { "asleep" };
        let labels = [("spawned_at", &spawned_at[..]), ("kind", kind)];
        let help = "Hand-offs by where the tasks were spawned: the worst twenty.";
        sample.counter(
            "thrum_runtime_hand_offs_by_site_total",
            help,
            &labels,
            hog.count,
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_and_its_runtime() {
        let registry = Registry::default();
        observe_runtime(&registry);
        observe_server(&registry, &Server::new());
        let text = thrum_rt::block_on(async { registry.prometheus() });
        assert!(text.contains("\nthrum_http_connections 0\n"), "{text}");
        let workers = text
            .lines()
            .find(|line| line.starts_with("thrum_runtime_workers "));
        assert!(workers.is_some_and(|line| !line.ends_with(" 0")), "{text}");
    }
}
