//! How often caches are of use.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::registry::{Named, Registry, Sample, Value};

const REQUESTS: &str = "thrum_cache_requests_total";
const BYTES: &str = "thrum_cache_bytes";

/// How a cache fares.
#[derive(Debug, Default, PartialEq, Eq)]
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
                sample.counter(REQUESTS, help, &labels, count);
            }
            let labels = [("cache", kind), ("name", &name[..])];
            sample.gauge(BYTES, "Bytes that a cache keeps.", &labels, bytes as f64);
        },
    );
}

/// How each cache fares that is observed: its kind, its name, its use.
pub(crate) fn caches(registry: &Registry) -> Vec<(String, String, CacheUse)> {
    let sample = registry.sample();
    let mut all: BTreeMap<(String, String), CacheUse> = BTreeMap::new();
    for (labels, number) in numbers(&sample, REQUESTS) {
        let seen = all.entry(key(labels)).or_default();
        match label(labels, "result") {
            "hit" => seen.hits = number,
            _ => seen.misses = number,
        }
    }
    for (labels, number) in numbers(&sample, BYTES) {
        all.entry(key(labels)).or_default().bytes = number;
    }
    let all = all.into_iter();
    all.map(|((kind, name), seen)| (kind, name, seen)).collect()
}

fn numbers<'a>(sample: &'a Sample, name: &str) -> impl Iterator<Item = (&'a Named, u64)> {
    let series = sample.families.get(name).into_iter();
    let series = series.flat_map(|family| &family.series);
    series.filter_map(|(labels, value)| match value {
        Value::Number(number) => Some((labels, *number as u64)),
        Value::Times(_) => None,
    })
}

fn key(labels: &Named) -> (String, String) {
    let value = |name| label(labels, name).to_owned();
    (value("cache"), value("name"))
}

fn label<'a>(labels: &'a Named, name: &str) -> &'a str {
    let found = labels.iter().find(|(label, _)| label == name);
    found.map_or("", |(_, value)| value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_observed_can_be_read() {
        let registry = Registry::default();
        let cache = Arc::new([7, 2, 1000]);
        observe_cache(&registry, "files", "/srv".to_owned(), &cache, |cache| {
            let [hits, misses, bytes] = *cache;
            CacheUse {
                hits,
                misses,
                bytes,
            }
        });
        let seen = CacheUse {
            hits: 7,
            misses: 2,
            bytes: 1000,
        };
        let all = [("files".to_owned(), "/srv".to_owned(), seen)];
        assert_eq!(caches(&registry), all);
        drop(cache);
        assert_eq!(caches(&registry), []);
    }
}
