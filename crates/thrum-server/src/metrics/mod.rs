//! What the server does, in numbers: counters, gauges and histograms, as Prometheus reads them and for people.
//!
//! Whoever has something to count asks a [`Registry`] for a [`Counter`], a [`Gauge`] or a [`Histogram`] by name and keeps it;
//! who has numbers already says how to [read](Registry::source) them. What each request adds to is in [`Meters`]: there each
//! thread has a part of its own, so counting costs a few nanoseconds.
//!
//! | module | what is in it |
//! |---|---|
//! | `registry` | [`Registry`]: numbers by name |
//! | `histogram` | [`Histogram`], and its buckets |
//! | `meters` | what is counted for each route |
//! | `text` | the text that Prometheus reads |
//! | `history` | the last ten minutes, second by second |
//! | `process` | what the runtime and the HTTP server count |
//! | `caches` | how often caches are of use |
//! | `upstreams` | how upstreams fare |
//! | `health` | whether the server is ready |
//! | `verbs` | `metrics`, `health`, `ready` |
//!
//! Names begin with what they are about; the text has a line of help for each.
//!
//! | names | labels | what they are about |
//! |---|---|---|
//! | `thrum_http_*` | `site`, `route`, `class` | connections, and requests by route |
//! | `thrum_tls_*`, `thrum_accept_errors_total` | `reason` | connections before there is a request |
//! | `thrum_runtime_*` | | tasks, workers, hand-offs |
//! | `thrum_cache_*` | `cache`, `name`, `result` | each cache: of files, of what was compressed, of responses |
//! | `thrum_file_cache_*` | `name`: the folder | paths, open files, evictions |
//! | `thrum_response_cache_*` | `name`: the folder, or `memory`; `result`; `place` | requests by what became of them, what is stored |
//! | `thrum_upstream_*` | `upstream` | up or down, requests, failures, retries |
//! | `thrum_store_operations_total` | `store`, `operation`, `result` | what stores were asked, and errors |
//! | `thrum_guard_refused_requests_total` | `guard` | refusals by kind |
//! | `thrum_access_log_dropped_total` | `log` | lines that are missing |

mod caches;
mod health;
mod histogram;
mod history;
mod meters;
mod process;
mod registry;
mod text;
mod upstreams;
pub(crate) mod verbs;

pub(crate) use caches::{CacheUse, caches, observe_cache};
pub use health::{Readiness, State};
pub use histogram::Histogram;
pub use history::{History, Second};
pub use meters::{Meters, RouteMeter, Totals};
pub use process::{observe_runtime, observe_server};
pub use registry::{Counter, Gauge, Labels, Registry, Sample};
pub(crate) use upstreams::observe_upstreams;
