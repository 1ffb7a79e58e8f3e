//! How often caches are of use.

use std::sync::Arc;

use super::registry::Registry;

/// How a cache fares.
pub(crate) struct CacheUse {
    /// Requests that it answered.
    pub(crate) hits: u64,
    /// Requests that it could not answer.
    pub(crate) misses: u64,
    /// Bytes that it keeps.
    pub(crate) bytes: u64,
}

/// Has read how a cache fares, for as long as its owner is there. `kind` says which cache of the server it is, `name` which one
/// of that kind.
pub(crate) fn observe_cache<T: Send + Sync + 'static>(
    registry: &Registry,
    kind: &'static str,
    name: String,
    owner: &Arc<T>,
    read: impl Fn(&T) -> CacheUse + Send + Sync + 'static,
) {
    registry.source_of(
        &format!("cache {kind} {name}"),
        owner,
        move |owner, sample| {
            let CacheUse {
                hits,
                misses,
                bytes,
            } = read(owner);
            for (result, count) in [("hit", hits), ("miss", misses)] {
                let labels = [("cache", kind), ("name", &name[..]), ("result", result)];
                let help = "Requests that a cache was asked about, by whether it could answer.";
                sample.counter("thrum_cache_requests_total", help, &labels, count);
            }
            let labels = [("cache", kind), ("name", &name[..])];
            sample.gauge(
                "thrum_cache_bytes",
                "Bytes that a cache keeps.",
                &labels,
                bytes as f64,
            );
        },
    );
}
