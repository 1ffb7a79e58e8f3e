//! How a cache is written: `cache on { memory 64MiB; folder /var/cache/thrum }`.

use std::path::PathBuf;
use std::sync::{Arc, OnceLock};

use super::layer::Cached;
use super::policy::Defaults;
use super::store::{Cache, CacheLimits};
use crate::config::{Kind, Problem, Setting, Settings};
use crate::metrics::{self, CacheUse, Registry, observe_cache};
use crate::site::{Building, Handler, Layer};

/// What is written.
const SETTINGS: &[Setting] = &[Setting {
    block: BLOCK,
    ..Setting::new(
        "cache",
        &[Kind::Switch],
        "Whether responses are kept and answer later requests, as they themselves allow (RFC 9111).",
        "cache on { memory 64MiB; folder /var/cache/thrum }",
    )
}];

const BLOCK: &[Setting] = &[
    Setting {
        default: "64MiB",
        ..Setting::new(
            "memory",
            &[Kind::Size],
            "How much is kept in memory. Routes with the same numbers and folder share one cache.",
            "memory 64MiB",
        )
    },
    Setting::new(
        "folder",
        &[Kind::Path],
        "Where more is kept, over restarts too. It is made if it is not there.",
        "folder /var/cache/thrum",
    ),
    Setting {
        default: "1GiB",
        ..Setting::new(
            "disk",
            &[Kind::Size],
            "How much is kept in the folder.",
            "disk 1GiB",
        )
    },
    Setting {
        default: "8MiB",
        ..Setting::new(
            "max-object",
            &[Kind::Size],
            "The largest body that is kept.",
            "max-object 8MiB",
        )
    },
    Setting {
        default: "off",
        ..Setting::new(
            "fresh",
            &[Kind::DurationOrOff],
            "How long a response is fresh that does not say so itself. Off: it is not kept.",
            "fresh 1m",
        )
    },
    Setting {
        default: "off",
        ..Setting::new(
            "stale-if-error",
            &[Kind::DurationOrOff],
            "How long after it is stale a response may answer while the upstream fails, where it does not say so itself.",
            "stale-if-error 1h",
        )
    },
    Setting {
        default: "5s",
        ..Setting::new(
            "wait",
            &[Kind::Duration],
            "How long a request waits for another one that fetches the same, before it goes itself.",
            "wait 5s",
        )
    },
];

/// The layer of the configuration.
pub const LAYER: Layer = Layer {
    settings: SETTINGS,
    build,
};

fn build(settings: &Settings, inner: Arc<dyn Handler>, to: &mut Building<'_>) -> Arc<dyn Handler> {
    let Some(entry) = settings
        .written("cache")
        .filter(|entry| entry.text() == "on")
    else {
        return inner;
    };
    let Some(block) = entry.block() else {
        return inner;
    };
    let limits = CacheLimits {
        memory: block.size("memory"),
        disk: block.size("disk"),
        object: block.size("max-object"),
    };
    let folder = block.path("folder");
    if let Some(folder) = folder
        .as_deref()
        .filter(|folder| folder.exists() && !folder.is_dir())
    {
        let what = format!("{} is no folder", folder.display());
        to.problem(Problem::new(entry.span(), what));
        return inner;
    }
    let name = format!("{limits:?} {folder:?}");
    let opening = to.kept.get(&name, || Opening::new(limits, folder));
    let (eager, registry) = (opening.clone(), metrics::verbs::registry(to));
    to.when_live(move |_| {
        let folder = eager
            .folder
            .as_ref()
            .map(|folder| folder.display().to_string());
        let name = folder.unwrap_or_else(|| "memory".to_owned());
        observe(&registry, name, &eager.cache());
    });
    Arc::new(Cached {
        opening,
        inner,
        defaults: Defaults {
            fresh: block.duration_or_off("fresh"),
            if_error: block.duration_or_off("stale-if-error").unwrap_or_default(),
        },
        wait: block.duration("wait"),
    })
}

/// A cache that is opened when it is first needed.
pub(super) struct Opening {
    cache: OnceLock<Arc<Cache>>,
    limits: CacheLimits,
    folder: Option<PathBuf>,
}

impl Opening {
    fn new(limits: CacheLimits, folder: Option<PathBuf>) -> Self {
        Self {
            cache: OnceLock::new(),
            limits,
            folder,
        }
    }

    /// With one that is open.
    pub(super) fn opened(cache: Arc<Cache>) -> Self {
        Self {
            limits: cache.limits,
            folder: None,
            cache: cache.into(),
        }
    }

    pub(super) fn cache(&self) -> Arc<Cache> {
        let open = || {
            let Some(folder) = &self.folder else {
                return Arc::new(Cache::in_memory(self.limits));
            };
            let opened = Cache::on_disk(folder, self.limits);
            Arc::new(opened.unwrap_or_else(|error| {
                let folder = folder.display();
                tracing::error!(%folder, %error, "the cache's folder cannot be used; what is kept is kept in memory alone");
                Cache::in_memory(self.limits)
            }))
        };
        self.cache.get_or_init(open).clone()
    }
}

/// Has read how a cache fares.
fn observe(registry: &Registry, name: String, cache: &Arc<Cache>) {
    observe_cache(registry, "responses", name.clone(), cache, |cache| {
        let counts = cache.counts();
        CacheUse {
            hits: counts.hits + counts.revalidated,
            misses: counts.misses,
            bytes: counts.memory_bytes + counts.disk_bytes,
        }
    });
    let source = format!("responses {name}");
    registry.source_of(&source, cache, move |cache, sample| {
        let counts = cache.counts();
        let asked = [
            (
                "fresh",
                counts.hits.saturating_sub(counts.stale + counts.coalesced),
            ),
            ("stale", counts.stale),
            ("coalesced", counts.coalesced),
            ("revalidated", counts.revalidated),
            ("miss", counts.misses),
            ("passed", counts.passed),
        ];
        for (result, count) in asked {
            sample.counter(
                "thrum_response_cache_requests_total",
                "Requests that came to a cache of responses, by what it made of them.",
                &[("name", &name), ("result", result)],
                count,
            );
        }
        sample.counter(
            "thrum_response_cache_stored_total",
            "Responses that a cache has kept.",
            &[("name", &name)],
            counts.stored,
        );
        for (place, bytes) in [("memory", counts.memory_bytes), ("disk", counts.disk_bytes)] {
            sample.gauge(
                "thrum_response_cache_bytes",
                "Bytes that a cache of responses keeps, by where.",
                &[("name", &name), ("place", place)],
                bytes as f64,
            );
        }
    });
}
