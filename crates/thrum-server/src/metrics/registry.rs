//! Numbers by name.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use super::histogram::{Histogram, Times};
use super::text;
use crate::lock::lock;

/// How many series a name may have: beyond that, whatever the labels, they are one series of which all labels are `other`.
const SERIES: usize = 1_000;

/// The labels of a series: names and values.
pub type Labels<'a> = &'a [(&'a str, &'a str)];

/// All numbers of a server.
///
/// ```
/// use thrum_server::metrics::Registry;
///
/// let registry = Registry::default();
/// let hits = registry.counter("thrum_cache_hits_total", "Answers from the cache.", &[("cache", "files")]);
/// hits.add(1);
/// assert!(registry.prometheus().contains("\nthrum_cache_hits_total{cache=\"files\"} 1\n"));
/// ```
///
/// # Panics
/// Its methods panic when a name or a label's name is none that Prometheus knows, or when a name is asked for as another kind
/// of number than before: mistakes in the program.
#[derive(Default)]
pub struct Registry {
    families: Mutex<BTreeMap<String, Family>>,
    sources: Mutex<BTreeMap<String, Arc<Source>>>,
}

/// Reads numbers that are counted elsewhere. False: whoever counted them is gone.
type Source = dyn Fn(&mut Sample) -> bool + Send + Sync;

struct Family {
    help: String,
    kind: Kind,
    series: BTreeMap<Named, Series>,
}

/// Labels that are kept.
pub(super) type Named = Vec<(String, String)>;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Counter,
    Gauge,
    Histogram,
}

#[derive(Clone)]
enum Series {
    Counter(Counter),
    Gauge(Gauge),
    Histogram(Arc<Histogram>),
}

/// A number that only grows. Clones are the same.
#[derive(Clone, Debug, Default)]
pub struct Counter(Arc<AtomicU64>);

impl Counter {
    /// Adds to it.
    pub fn add(&self, more: u64) {
        self.0.fetch_add(more, Ordering::Relaxed);
    }

    /// What it has come to.
    pub fn value(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

/// A number that goes up and down. Clones are the same.
#[derive(Clone, Debug, Default)]
pub struct Gauge(Arc<AtomicI64>);

impl Gauge {
    /// Sets it.
    pub fn set(&self, value: i64) {
        self.0.store(value, Ordering::Relaxed);
    }

    /// Adds to it, or takes from it.
    pub fn add(&self, more: i64) {
        self.0.fetch_add(more, Ordering::Relaxed);
    }

    /// What it is.
    pub fn value(&self) -> i64 {
        self.0.load(Ordering::Relaxed)
    }
}

impl Registry {
    /// The counter of that name and these labels, made when it is first asked for. By custom the name ends in `_total`.
    pub fn counter(&self, name: &str, help: &str, labels: Labels<'_>) -> Counter {
        let made = || Series::Counter(Counter::default());
        match self.series(name, help, Kind::Counter, labels, made) {
            Series::Counter(counter) => counter,
            _ => other_kind(name),
        }
    }

    /// The gauge of that name and these labels, made when it is first asked for.
    pub fn gauge(&self, name: &str, help: &str, labels: Labels<'_>) -> Gauge {
        let made = || Series::Gauge(Gauge::default());
        match self.series(name, help, Kind::Gauge, labels, made) {
            Series::Gauge(gauge) => gauge,
            _ => other_kind(name),
        }
    }

    /// The histogram of that name and these labels, made when it is first asked for. By custom the name ends in `_seconds`.
    pub fn histogram(&self, name: &str, help: &str, labels: Labels<'_>) -> Arc<Histogram> {
        let made = || Series::Histogram(Arc::default());
        match self.series(name, help, Kind::Histogram, labels, made) {
            Series::Histogram(histogram) => histogram,
            _ => other_kind(name),
        }
    }

    /// Has numbers read that are counted elsewhere, whenever somebody looks. A source of the same name is replaced.
    pub fn source(&self, name: &str, read: impl Fn(&mut Sample) + Send + Sync + 'static) {
        let source = move |sample: &mut Sample| {
            read(sample);
            true
        };
        lock(&self.sources).insert(name.to_owned(), Arc::new(source));
    }

    /// The same for as long as their owner is there, which is not held.
    pub fn source_of<T: Send + Sync + 'static>(
        &self,
        name: &str,
        owner: &Arc<T>,
        read: impl Fn(&T, &mut Sample) + Send + Sync + 'static,
    ) {
        let owner = Arc::downgrade(owner);
        let source = move |sample: &mut Sample| match owner.upgrade() {
            Some(owner) => {
                read(&owner, sample);
                true
            }
            None => false,
        };
        lock(&self.sources).insert(name.to_owned(), Arc::new(source));
    }

    /// All numbers as text, as Prometheus reads it (text format 0.0.4).
    pub fn prometheus(&self) -> String {
        text::prometheus(&self.sample())
    }

    /// All numbers as text, as OpenMetrics 1.0 has it.
    pub fn open_metrics(&self) -> String {
        text::open_metrics(&self.sample())
    }

    pub(super) fn sample(&self) -> Sample {
        let mut sample = Sample::default();
        for (name, family) in lock(&self.families).iter() {
            for (labels, series) in &family.series {
                let value = match series {
                    Series::Counter(counter) => Value::Number(counter.value() as f64),
                    Series::Gauge(gauge) => Value::Number(gauge.value() as f64),
                    Series::Histogram(histogram) => {
                        let mut times = Box::default();
                        histogram.read_into(&mut times);
                        Value::Times(times)
                    }
                };
                sample.put(name, &family.help, family.kind, labels.clone(), value);
            }
        }
        // Not under the lock: a source may take a while, or ask the registry for something.
        let sources = lock(&self.sources).clone();
        for (name, source) in sources {
            if !source(&mut sample) {
                let is_it = |held: &Arc<Source>| Arc::ptr_eq(held, &source);
                lock(&self.sources).retain(|known, held| *known != name || !is_it(held));
            }
        }
        sample
    }

    fn series(
        &self,
        name: &str,
        help: &str,
        kind: Kind,
        labels: Labels<'_>,
        made: impl FnOnce() -> Series,
    ) -> Series {
        check_names(name, labels);
        let mut families = lock(&self.families);
        let family = families.entry(name.to_owned()).or_insert_with(|| Family {
            help: help.to_owned(),
            kind,
            series: BTreeMap::new(),
        });
        if family.kind != kind {
            drop(families);
            other_kind(name);
        }
        let full = family.series.len() >= SERIES;
        let mut key = named(labels);
        if full && !family.series.contains_key(&key) {
            key.iter_mut()
                .for_each(|(_, value)| *value = "other".into());
        }
        family.series.entry(key).or_insert_with(made).clone()
    }
}

impl std::fmt::Debug for Registry {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let names: Vec<String> = lock(&self.families).keys().cloned().collect();
        f.debug_struct("Registry")
            .field("families", &names)
            .finish_non_exhaustive()
    }
}

/// All numbers at one moment, which [sources](Registry::source) add theirs to.
#[derive(Default)]
pub struct Sample {
    pub(super) families: BTreeMap<String, Sampled>,
}

pub(super) struct Sampled {
    pub(super) help: String,
    pub(super) kind: Kind,
    pub(super) series: BTreeMap<Named, Value>,
}

pub(super) enum Value {
    Number(f64),
    Times(Box<Times>),
}

impl Sample {
    /// Adds a number that only grows.
    pub fn counter(&mut self, name: &str, help: &str, labels: Labels<'_>, value: u64) {
        check_names(name, labels);
        let value = Value::Number(value as f64);
        self.put(name, help, Kind::Counter, named(labels), value);
    }

    /// Adds a number that goes up and down.
    pub fn gauge(&mut self, name: &str, help: &str, labels: Labels<'_>, value: f64) {
        check_names(name, labels);
        self.put(name, help, Kind::Gauge, named(labels), Value::Number(value));
    }

    pub(super) fn times(&mut self, name: &str, help: &str, labels: Labels<'_>, times: Box<Times>) {
        check_names(name, labels);
        let value = Value::Times(times);
        self.put(name, help, Kind::Histogram, named(labels), value);
    }

    /// Those of the same name and labels are added up. What is beyond the limit is one series.
    fn put(&mut self, name: &str, help: &str, kind: Kind, mut labels: Named, value: Value) {
        let family = self
            .families
            .entry(name.to_owned())
            .or_insert_with(|| Sampled {
                help: help.to_owned(),
                kind,
                series: BTreeMap::new(),
            });
        if family.kind != kind {
            other_kind(name);
        }
        if family.series.len() >= SERIES && !family.series.contains_key(&labels) {
            labels
                .iter_mut()
                .for_each(|(_, value)| *value = "other".into());
        }
        match family.series.entry(labels) {
            Entry::Vacant(vacant) => {
                vacant.insert(value);
            }
            Entry::Occupied(mut held) => match (held.get_mut(), value) {
                (Value::Number(sum), Value::Number(more)) => *sum += more,
                (Value::Times(sum), Value::Times(more)) => {
                    for (sum, more) in sum.counts.iter_mut().zip(more.counts) {
                        *sum += more;
                    }
                    sum.nanoseconds = sum.nanoseconds.wrapping_add(more.nanoseconds);
                }
                _ => other_kind(name),
            },
        }
    }
}

fn named(labels: Labels<'_>) -> Named {
    let labels = labels.iter();
    labels
        .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
        .collect()
}

fn check_names(name: &str, labels: Labels<'_>) {
    let well = |name: &str, colon: bool| {
        let mut bytes = name.bytes();
        let first = |byte: u8| byte.is_ascii_alphabetic() || byte == b'_' || colon && byte == b':';
        bytes.next().is_some_and(first) && bytes.all(|byte| first(byte) || byte.is_ascii_digit())
    };
    assert!(well(name, true), "{name:?} is no name of a metric");
    for (label, _) in labels {
        assert!(
            well(label, false) && *label != "le",
            "{label:?} is no name of a label"
        );
    }
}

fn other_kind(name: &str) -> ! {
    panic!("{name} is another kind of number already")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_name_is_the_same_number() {
        let registry = Registry::default();
        let counter = |value| registry.counter("a_total", "A.", &[("x", value)]);
        counter("1").add(2);
        counter("1").add(3);
        counter("2").add(1);
        assert_eq!((counter("1").value(), counter("2").value()), (5, 1));
        let gauge = registry.gauge("b", "B.", &[]);
        gauge.set(5);
        registry.gauge("b", "B.", &[]).add(-7);
        assert_eq!(gauge.value(), -2);
    }

    #[test]
    fn labels_that_are_too_many_are_one() {
        let registry = Registry::default();
        let counter =
            |value: usize| registry.counter("a_total", "A.", &[("x", &value.to_string())]);
        for value in 0..SERIES + 50 {
            counter(value).add(1);
        }
        assert_eq!(counter(SERIES + 100).value(), 50);
        assert_eq!(counter(7).value(), 1);
        registry.source("more", |sample| {
            for value in 0..SERIES + 50 {
                sample.counter("b_total", "B.", &[("x", &value.to_string())], 1);
            }
        });
        let text = registry.prometheus();
        assert!(text.contains("a_total{x=\"other\"} 50\n"));
        assert!(text.contains("b_total{x=\"other\"} 50\n"));
        assert_eq!(text.lines().count(), 2 * (SERIES + 1 + 2));
    }

    #[test]
    fn a_source_ends_with_its_owner() {
        let registry = Registry::default();
        let owner = Arc::new(7);
        registry.source_of("a", &owner, |owner, sample| {
            sample.counter("a_total", "A.", &[], *owner)
        });
        assert!(registry.prometheus().ends_with("\na_total 7\n"));
        drop(owner);
        assert_eq!(registry.prometheus(), "");
        assert!(lock(&registry.sources).is_empty());
    }

    #[test]
    #[should_panic(expected = "another kind of number")]
    fn one_name_is_one_kind() {
        let registry = Registry::default();
        registry.counter("a", "A.", &[]);
        registry.gauge("a", "A.", &[]);
    }

    #[test]
    #[should_panic(expected = "no name of a metric")]
    fn names_are_checked() {
        Registry::default().counter("a-b", "A.", &[]);
    }
}
