//! The `store` setting: which stores there are, and finding the one that is meant.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::observed::Observed;
use super::redis::check_url;
use super::{Memory, Redb, RedbOptions, Redis, RedisOptions, Store, Version};
use crate::config::{Arity, Entry, Kind, Problem, Setting, Settings, Span, Value};
use crate::metrics;
use crate::site::Building;

/// The name of a store that is given none.
const DEFAULT: &str = "default";

/// What may be written outside of all sites.
pub const SETTINGS: &[Setting] = &[Setting {
    arity: Arity::Many,
    repeats: true,
    block: BLOCK,
    ..Setting::new(
        "store",
        &[Kind::Text("[NAME] redb PATH | [NAME] URL | [NAME] memory")],
        "Where sessions and key-value content are kept: a file, or a Redis or Valkey server (redis://HOST:PORT/DB, rediss:// \
         with TLS) or cluster (redis+cluster://HOST:PORT,HOST:PORT). Several need names.",
        "store redb /var/lib/thrum/store.redb",
    )
}];

const BLOCK: &[Setting] = &[
    Setting {
        default: "16MiB",
        ..Setting::new(
            "max-value",
            &[Kind::Size],
            "The largest value.",
            "max-value 1MiB",
        )
    },
    Setting::new(
        "max",
        &[Kind::Size],
        "redb, memory: the most bytes of keys and values. By default 1GiB, in memory 64MiB.",
        "max 10GiB",
    ),
    Setting {
        default: "32MiB",
        ..Setting::new(
            "cache",
            &[Kind::Size],
            "redb: memory for parts of the file.",
            "cache 64MiB",
        )
    },
    Setting {
        default: "thrum:",
        ..Setting::new(
            "prefix",
            &[Kind::Text("TEXT")],
            "Redis: what all keys there begin with.",
            "prefix myserver:",
        )
    },
    Setting {
        default: "32",
        ..Setting::new(
            "connections",
            &[Kind::Count(1, 1024)],
            "Redis: the most connections, and so calls at a time.",
            "connections 64",
        )
    },
    Setting {
        default: "1s",
        ..Setting::new(
            "connect-timeout",
            &[Kind::Duration],
            "Redis: how long a connection may take.",
            "connect-timeout 500ms",
        )
    },
    Setting {
        default: "3s",
        ..Setting::new(
            "timeout",
            &[Kind::Duration],
            "Redis: how long an answer may take.",
            "timeout 1s",
        )
    },
    Setting {
        default: "0",
        ..Setting::new(
            "replicas",
            &[Kind::Count(0, 100)],
            "Redis: how many replicas must have a write before it is acknowledged.",
            "replicas 1",
        )
    },
    Setting::new(
        "ca",
        &[Kind::File],
        "Redis with TLS: the certificates to trust in place of the system's, PEM.",
        "ca /etc/thrum/redis-ca.pem",
    ),
];

/// The store of that name, for the statement at `asker`; without a name, the one that has none, or the only one there is.
/// It begins to work when the configuration comes to life. `None` when there is none; then a problem was noted.
pub fn store(
    name: Option<&str>,
    asker: Span,
    building: &mut Building<'_>,
) -> Option<Arc<dyn Store>> {
    let global = building.global;
    let mut all = global.all("store");
    let found = match name {
        Some(name) => all.find(|entry| name_of(entry) == name),
        None => {
            let all: Vec<_> = all.collect();
            let only = (all.len() == 1).then(|| all[0]);
            only.or_else(|| all.into_iter().find(|entry| name_of(entry) == DEFAULT))
        }
    };
    let Some(entry) = found else {
        let missing = match name {
            Some(name) => format!("there is no store {name}"),
            None if global.written("store").is_some() => "none of the stores is the default".into(),
            None => "this needs a store, and there is none".into(),
        };
        let help = "write outside of all sites: store redb /var/lib/thrum/store.redb";
        building.problem(Problem::new(asker, missing).help(help));
        return None;
    };
    let store = open(entry, building)?;
    let registry = metrics::verbs::registry(building);
    building.when_live(|_| Version::prepare());
    Some(Arc::new(Observed::new(store, name_of(entry), &registry)))
}

/// Checks what is written, whether somebody asks for it or not.
pub(crate) fn check(building: &mut Building<'_>) {
    let global = building.global;
    let mut names: Vec<&str> = vec![];
    for entry in global.all("store") {
        if let Err(problem) = read(entry) {
            building.problem(problem);
            continue;
        }
        let name = name_of(entry);
        if names.contains(&name) {
            let twice = format!("there are two stores of the name {name}");
            building.problem(Problem::new(entry.span(), twice).help("give each its own name"));
        }
        names.push(name);
    }
}

/// Where a store is.
enum Place<'a> {
    Redb(PathBuf),
    Redis(&'a str),
    Memory,
}

/// What a store was made with is part of the name by which it is kept, so that other settings make another one. Except for a
/// file, which can be open only once: its settings hold from the next start.
fn open(entry: &Entry, building: &mut Building<'_>) -> Option<Arc<dyn Store>> {
    // What is wrong with it has been noted by `check`.
    let place = read(entry).ok()?;
    let block = entry.block()?;
    match place {
        Place::Redb(path) => {
            let options = RedbOptions {
                max: block.size_or_off("max").unwrap_or(1 << 30),
                max_value: bytes(block.size("max-value")),
                cache: bytes(block.size("cache")),
                ..RedbOptions::default()
            };
            let name = path.display().to_string();
            let store = building.kept.get(&name, || Redb::at(path, options));
            let starting = store.clone();
            building.when_live(move |_| {
                if let Err(error) = starting.start() {
                    tracing::error!("{error}");
                }
            });
            Some(store)
        }
        Place::Redis(url) => {
            let (name, store) = redis(entry, url, block, building)?;
            Some(building.kept.get(&name, || store))
        }
        Place::Memory => {
            let max = bytes(block.size_or_off("max").unwrap_or(64 << 20));
            let max_value = bytes(block.size("max-value"));
            let name = format!("{} {max} {max_value}", name_of(entry));
            let make = || Memory::new(max).with_max_value(max_value);
            Some(building.kept.get(&name, make))
        }
    }
}

fn redis(
    entry: &Entry,
    url: &str,
    block: &Settings,
    building: &mut Building<'_>,
) -> Option<(String, Redis)> {
    let mut options = RedisOptions {
        prefix: block.text("prefix")?.to_owned(),
        connections: usize::try_from(block.count("connections")).ok()?,
        connect_timeout: block.duration("connect-timeout"),
        timeout: block.duration("timeout"),
        replicas: u32::try_from(block.count("replicas")).ok()?,
        max_value: bytes(block.size("max-value")),
        certificates: None,
    };
    let ca = block.path("ca");
    let name = format!("{url} {options:?} {ca:?}");
    if let Some(ca) = ca {
        let read = std::fs::read(&ca).map_err(|error| format!("{}: {error}", ca.display()));
        options.certificates = Some(building.problems.check(entry.span(), read)?);
    }
    let store = Redis::new(url, options);
    let store = building.problems.check(entry.span(), store)?;
    Some((name, store))
}

fn bytes(size: u64) -> usize {
    usize::try_from(size).unwrap_or(usize::MAX)
}

/// The statement's words: a name, unless the first word is what only a place begins with; then the place.
fn words(entry: &Entry) -> (Option<&str>, &[Value]) {
    let values = entry.values();
    match values.first().map(Value::text) {
        Some("redb" | "memory") | None => (None, values),
        Some(url) if url.contains("://") => (None, values),
        name => (name, &values[1..]),
    }
}

fn name_of(entry: &Entry) -> &str {
    words(entry).0.unwrap_or(DEFAULT)
}

fn read(entry: &Entry) -> Result<Place<'_>, Problem> {
    let problem = |value: Option<&Value>, message: String| {
        let span = value.map_or(entry.span(), Value::span);
        let help = "store redb /var/lib/thrum/store.redb, store redis://HOST:6379/0, store memory";
        Problem::new(span, message).help(help)
    };
    let (_, place) = words(entry);
    match place {
        [redb, path] if redb.text() == "redb" => {
            let place = path.path();
            if place.parent().is_some_and(Path::is_dir) {
                return Ok(Place::Redb(place));
            }
            let missing = format!("the folder of {} does not exist", place.display());
            Err(problem(Some(path), missing))
        }
        [memory] if memory.text() == "memory" => Ok(Place::Memory),
        [url] if url.text().contains("://") => match check_url(url.text()) {
            Ok(()) => Ok(Place::Redis(url.text())),
            Err(error) => Err(problem(Some(url), error.to_string())),
        },
        other => Err(problem(
            other.first(),
            "this is no place for a store".into(),
        )),
    }
}
