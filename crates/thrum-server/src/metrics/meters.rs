//! What is counted for each route, in parts that each belong to a thread.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Duration;

use thrum_http::Exchange;

use super::histogram::{Histogram, Times};
use super::registry::Sample;
use crate::slot::{self, SLOTS};

/// How many routes have numbers of their own. The others are one.
const ROUTES: usize = 1_000;

/// The numbers of all routes. They outlive a configuration, so that counters only grow.
#[derive(Debug, Default)]
pub struct Meters {
    routes: Mutex<BTreeMap<(String, String), Arc<RouteMeter>>>,
}

impl Meters {
    /// The numbers of a route, made when they are first asked for.
    pub fn route(&self, site: &str, route: &str) -> Arc<RouteMeter> {
        let mut routes = self.routes.lock().unwrap_or_else(PoisonError::into_inner);
        let mut key = (site.to_owned(), route.to_owned());
        if routes.len() >= ROUTES && !routes.contains_key(&key) {
            key = ("other".to_owned(), "other".to_owned());
        }
        let made = routes.entry(key).or_insert_with_key(|(site, route)| {
            Arc::new(RouteMeter {
                site: site.clone(),
                route: route.clone(),
                parts: [const { OnceLock::new() }; SLOTS],
            })
        });
        made.clone()
    }

    /// What was counted so far, for each route that there has been.
    pub fn totals(&self) -> Vec<(Arc<RouteMeter>, Totals)> {
        let routes = self.routes.lock().unwrap_or_else(PoisonError::into_inner);
        let routes: Vec<_> = routes.values().cloned().collect();
        let with_totals = |route: Arc<RouteMeter>| {
            let totals = route.totals();
            (route, totals)
        };
        routes.into_iter().map(with_totals).collect()
    }

    /// Adds the numbers to a sample.
    pub(crate) fn tell(&self, sample: &mut Sample) {
        for (meter, totals) in self.totals() {
            let RouteMeter { site, route, .. } = &*meter;
            for (class, count) in CLASSES.iter().zip(totals.classes) {
                let labels = [("site", &site[..]), ("route", route), ("class", class)];
                if count > 0 {
                    let help = "Requests that were answered, by the class of the status.";
                    sample.counter("thrum_http_requests_total", help, &labels, count);
                }
            }
            let labels = [("site", &site[..]), ("route", route)];
            let help = "Bytes of response bodies that were sent.";
            sample.counter(
                "thrum_http_response_body_bytes_total",
                help,
                &labels,
                totals.bytes,
            );
            let help = "From the complete request head to the last byte of the response.";
            sample.times(
                "thrum_http_request_duration_seconds",
                help,
                &labels,
                totals.times,
            );
        }
    }
}

/// The classes of statuses. The last one has those that are in none.
pub(super) const CLASSES: [&str; 6] = ["1xx", "2xx", "3xx", "4xx", "5xx", "other"];

/// The numbers of one route.
#[derive(Debug)]
pub struct RouteMeter {
    site: String,
    route: String,
    /// A part for each thread, made when it first counts.
    parts: [OnceLock<Box<Part>>; SLOTS],
}

/// On cache lines of its own (two, as processors fetch them in pairs).
#[derive(Debug, Default)]
#[repr(align(128))]
struct Part {
    classes: [AtomicU64; CLASSES.len()],
    bytes: AtomicU64,
    times: Histogram,
}

impl RouteMeter {
    /// The first name of its site. Empty for what no site answered.
    pub fn site(&self) -> &str {
        &self.site
    }

    /// Its path as it was written. Empty for what no route of the site answered.
    pub fn route(&self) -> &str {
        &self.route
    }

    /// Counts an exchange.
    #[inline]
    pub fn count(&self, exchange: &Exchange<'_>) {
        self.add(
            exchange.status().as_u16(),
            exchange.body_bytes(),
            exchange.duration(),
        );
    }

    #[inline]
    pub(super) fn add(&self, status: u16, bytes: u64, took: Duration) {
        let part = self.parts[slot::of_this_thread()].get_or_init(Box::default);
        let class = usize::from(status / 100)
            .wrapping_sub(1)
            .min(CLASSES.len() - 1);
        part.classes[class].fetch_add(1, Ordering::Relaxed);
        part.bytes.fetch_add(bytes, Ordering::Relaxed);
        part.times.record(took);
    }

    /// What was counted so far.
    pub fn totals(&self) -> Totals {
        let mut totals = Totals::default();
        for part in self.parts.iter().filter_map(OnceLock::get) {
            for (sum, count) in totals.classes.iter_mut().zip(&part.classes) {
                *sum += count.load(Ordering::Relaxed);
            }
            totals.bytes += part.bytes.load(Ordering::Relaxed);
            part.times.read_into(&mut totals.times);
        }
        totals
    }
}

/// What a route has come to.
#[derive(Clone, Debug, Default)]
pub struct Totals {
    /// Responses by the class of their status: 1xx, 2xx, 3xx, 4xx, 5xx, others.
    pub classes: [u64; 6],
    /// Bytes of bodies that were sent.
    pub bytes: u64,
    pub(super) times: Box<Times>,
}

impl Totals {
    /// How many requests there were.
    pub fn requests(&self) -> u64 {
        self.classes.iter().sum()
    }

    /// The time that this part of the requests did not exceed, 0.0 to 1.0: at most a quarter too long. Zero without requests.
    pub fn quantile(&self, part: f64) -> Duration {
        self.times.quantile(part)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_threads_count_is_added_up() {
        let meters = Meters::default();
        let route = meters.route("example.com", "/");
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    for status in [200, 204, 304, 404, 503, 999, 100] {
                        route.add(status, 10, Duration::from_micros(5));
                    }
                });
            }
        });
        let totals = meters.route("example.com", "/").totals();
        assert_eq!(totals.classes, [4, 8, 4, 4, 4, 4]);
        assert_eq!((totals.requests(), totals.bytes), (28, 280));
        assert_eq!(totals.times.total(), 28);
    }

    #[test]
    fn routes_that_are_too_many_are_one() {
        let meters = Meters::default();
        for route in 0..ROUTES + 10 {
            meters
                .route("a", &route.to_string())
                .add(200, 0, Duration::ZERO);
        }
        assert_eq!(meters.totals().len(), ROUTES + 1);
        assert_eq!(meters.route("other", "other").totals().requests(), 10);
    }

    /// The nanoseconds that this thread has run, whatever else the machine does.
    fn on_cpu() -> u64 {
        let times = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap();
        times.split(' ').next().unwrap().parse().unwrap()
    }

    /// Prints what counting costs: `cargo test --release -p thrum-server meters -- --ignored --nocapture cost`.
    #[test]
    #[ignore = "a measurement"]
    fn cost() {
        const REQUESTS: u32 = 20_000_000;
        let route = Meters::default().route("a", "/");
        for _ in 0..3 {
            let begin = on_cpu();
            for number in 0..REQUESTS {
                route.add(200, 612, Duration::from_nanos(u64::from(number % 100_000)));
            }
            let nanoseconds = (on_cpu() - begin) as f64 / f64::from(REQUESTS);
            println!("{nanoseconds:.1} ns a request");
        }
    }
}
