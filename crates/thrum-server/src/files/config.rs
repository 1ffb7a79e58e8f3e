//! `->`: what may be written of files, and what is made of it.

use std::sync::Arc;

use http::HeaderValue;

use super::options::Template;
use super::{Coding, Compression, Files, Freshness, Limits, Order, SortBy, State};
use crate::config::{
    Arity, Entry, Kind, Problem, Problems, RouteConfig, Setting, Settings, Value, Verb,
};
use crate::metrics::{self, CacheUse, Registry, observe_cache};
use crate::site::{Building, Handler, HandlerKind};

/// `/ -> /srv/www`.
pub const VERB: Verb = Verb {
    word: "->",
    name: "files",
    values: &[Kind::Path],
    arity: Arity::Exact,
    settings: SETTINGS,
    help: "Answers GET and HEAD with the files of a folder, or with one file. What follows the route's path is looked for in \
           the folder; nothing outside of it can be reached. Conditional requests and ranges are answered as they should be.",
    example: "/ -> /srv/www",
};

/// Makes [`Files`] of a route.
pub const KIND: HandlerKind = HandlerKind { verb: &VERB, build };

const CODINGS: Kind = Kind::Choice(&["br", "zstd", "gzip", "off"]);

/// What may stand in the block of a route with files.
pub const SETTINGS: &[Setting] = &[
    Setting {
        default: "index.html",
        arity: Arity::Many,
        ..Setting::new(
            "index",
            &[Kind::Text("NAME")],
            "The file that a directory is answered with; the first of these that is there.",
            "index index.html index.htm",
        )
    },
    Setting {
        default: "off",
        block: LISTING,
        ..Setting::new(
            "listing",
            &[Kind::Switch],
            "Whether a directory without an index file is listed: as a page, or as JSON for those who would rather have that \
             (`Accept: application/json`, or `?format=json`). Readers choose another order with `?sort=` and `?order=`.",
            "listing on { sort time; order descending }",
        )
    },
    Setting {
        arity: Arity::Many,
        ..Setting::new(
            "try",
            &[Kind::Text("TEMPLATE")],
            "What is looked for, in order, in the place of the path alone. `{path}` stands for that; what ends in a slash is \
             a directory, everything else a file.",
            "try /{path} /{path}.html /{path}/index.html",
        )
    },
    Setting::new(
        "fallback",
        &[Kind::Text("FILE")],
        "The file in the folder that answers, with status 200, where nothing is found: for applications of a single page. \
         Images, styles and scripts that are missing are still answered with 404: paths whose last part has a dot, unless \
         the client asks for `text/html` by name.",
        "fallback index.html",
    ),
    Setting {
        default: "refuse",
        ..Setting::new(
            "hidden",
            &[Kind::Choice(&["refuse", "serve"])],
            "What to do about names that begin with a dot. `/.well-known/` is always served.",
            "hidden serve",
        )
    },
    Setting {
        arity: Arity::Many,
        ..Setting::new(
            "languages",
            &[Kind::Text("LANGUAGE")],
            "The languages in which there may be pages: `page.html.ja` beside `page.html`, which is in the first of them. \
             The reader gets what its `Accept-Language` finds.",
            "languages en ja",
        )
    },
    Setting {
        default: "br zstd gzip",
        arity: Arity::Many,
        ..Setting::new(
            "precompressed",
            &[CODINGS],
            "Which compressed files are sent in the place of those beside them: `a.css.br`, `a.css.zst`, `a.css.gz`. One that \
             is older than its file is not used.",
            "precompressed br gzip",
        )
    },
    Setting {
        default: "off",
        arity: Arity::Many,
        block: COMPRESS,
        ..Setting::new(
            "compress",
            &[CODINGS],
            "To what files are compressed that are not there in such a form, if their type is worth it. What has been \
             compressed is kept.",
            "compress br zstd gzip { min 2KiB }",
        )
    },
    Setting {
        arity: Arity::Any,
        repeats: true,
        ..Setting::new(
            "cache-control",
            &[Kind::Text("TIME"), Kind::Text("PATTERN")],
            "How long clients may keep files without asking again: a time, `immutable` (for good), `no-cache` (they ask every \
             time) or `no-store`. For all files, or those of the patterns: `*.css` is a name, `/assets/` a folder in the \
             folder that is served, `/a/b*.js` a path. The first line that fits counts.",
            "cache-control immutable /assets/ *.woff2",
        )
    },
    Setting {
        repeats: true,
        ..Setting::new(
            "type",
            &[Kind::Text("ENDING"), Kind::Text("TYPE")],
            "The media type of files whose names end so.",
            "type .md text/markdown",
        )
    },
    Setting {
        default: "utf-8",
        ..Setting::new(
            "charset",
            &[Kind::Text("CHARSET")],
            "The charset that texts are said to have, or `off`.",
            "charset shift_jis",
        )
    },
    Setting {
        block: FILE_CACHE,
        ..Setting::new(
            "file-cache",
            &[],
            "How much is kept of the folder, and how soon changes are seen.",
            "file-cache { entries 100000; size 512MiB }",
        )
    },
];

const LISTING: &[Setting] = &[
    Setting {
        default: "name",
        ..Setting::new(
            "sort",
            &[Kind::Choice(&["name", "size", "time"])],
            "What a listing is sorted by. Directories come first.",
            "sort time",
        )
    },
    Setting {
        default: "ascending",
        ..Setting::new(
            "order",
            &[Kind::Choice(&["ascending", "descending"])],
            "Whether the last, largest or newest comes first.",
            "order descending",
        )
    },
];

const COMPRESS: &[Setting] = &[
    level("brotli-level", &[Kind::Count(0, 11)], "5", "brotli-level 9"),
    level("zstd-level", &[Kind::Count(1, 19)], "3", "zstd-level 9"),
    level("gzip-level", &[Kind::Count(0, 9)], "6", "gzip-level 9"),
    size(
        "min",
        "1KiB",
        "Smaller files are sent as they are.",
        "min 2KiB",
    ),
    size(
        "max",
        "4MiB",
        "Larger files are sent as they are.",
        "max 16MiB",
    ),
    size(
        "kept",
        "64MiB",
        "Compressed contents that are kept.",
        "kept 256MiB",
    ),
];

const FILE_CACHE: &[Setting] = &[
    Setting {
        default: "8192",
        ..Setting::new(
            "entries",
            &[Kind::Count(0, 100_000_000)],
            "Paths that are kept.",
            "entries 100000",
        )
    },
    size(
        "size",
        "64MiB",
        "File contents that are kept.",
        "size 512MiB",
    ),
    Setting {
        default: "256",
        ..Setting::new(
            "open-files",
            &[Kind::Count(0, 1_000_000)],
            "Files that are kept open, since they are too large for memory.",
            "open-files 1000",
        )
    },
    size(
        "small-file",
        "64KiB",
        "Files up to this size are kept in memory.",
        "small-file 256KiB",
    ),
    Setting {
        default: "1s",
        ..Setting::new(
            "recheck",
            &[Kind::Duration],
            "How soon a change in the folder is seen.",
            "recheck 10s",
        )
    },
];

const fn level(
    name: &'static str,
    values: &'static [Kind],
    default: &'static str,
    example: &'static str,
) -> Setting {
    Setting {
        default,
        ..Setting::new(
            name,
            values,
            "How hard it tries: higher is smaller and slower.",
            example,
        )
    }
}

const fn size(
    name: &'static str,
    default: &'static str,
    help: &'static str,
    example: &'static str,
) -> Setting {
    Setting {
        default,
        ..Setting::new(name, &[Kind::Size], help, example)
    }
}

fn build(route: &RouteConfig, building: &mut Building<'_>) -> Option<Arc<dyn Handler>> {
    let target = route.values.first()?;
    let path = target.path();
    let opened = if path.is_file() {
        Files::file(&path)
    } else {
        Files::new(&path)
    };
    let files = building.problems.check(target.span(), opened)?;
    let files = configured(files, &route.settings, building.problems);
    if let Some(fallback) = route.settings.written("fallback")
        && !path.join(fallback.text().trim_start_matches('/')).is_file()
    {
        let message = format!("there is no file {} in {}", fallback.text(), path.display());
        building.problem(Problem::new(fallback.span(), message));
        return None;
    }
    // The same folder, served in the same way, keeps what is known of it when the configuration is loaded anew.
    let kept = building.kept;
    let state = kept.get(&format!("{files:?}"), || State::new(&files.options));
    let files = Arc::new(Files { state, ..files });
    let (served, registry) = (files.clone(), metrics::verbs::registry(building));
    building.when_live(move |_| {
        observe_files(&registry, &served);
    });
    Some(files)
}

fn observe_files(registry: &Registry, files: &Arc<Files>) {
    let root = files.root().display().to_string();
    observe_cache(registry, "files", root.clone(), files, |files| {
        let stats = files.stats();
        CacheUse {
            hits: stats.hits,
            misses: stats.misses,
            bytes: stats.bytes as u64,
        }
    });
    if files.compresses() {
        observe_cache(registry, "compressed", root.clone(), files, |files| {
            let stats = files.stats();
            CacheUse {
                hits: stats.compressed_hits,
                misses: stats.compressed_misses,
                bytes: stats.compressed_bytes as u64,
            }
        });
    }
    registry.source_of(&format!("files {root}"), files, move |files, sample| {
        let stats = files.stats();
        let labels = [("name", &root[..])];
        sample.counter(
            "thrum_file_cache_evictions_total",
            "Paths that made room for others in a cache of files.",
            &labels,
            stats.evictions,
        );
        for (name, help, value) in [
            (
                "thrum_file_cache_paths",
                "Paths that a cache of files keeps.",
                stats.entries,
            ),
            (
                "thrum_file_cache_open_files",
                "Files that a cache of files keeps open.",
                stats.open_files,
            ),
        ] {
            sample.gauge(name, help, &labels, value as f64);
        }
    });
}

/// Sets up files as it was written. What is wrong is noted and left out.
fn configured(mut files: Files, settings: &Settings, problems: &mut Problems) -> Files {
    files = files
        .index(settings.texts("index"))
        .hidden(settings.text("hidden") == Some("serve"))
        .languages(settings.texts("languages"))
        .precompressed(codings(&settings.texts("precompressed")));
    if settings.is_on("listing") {
        files = files.listing_by(order(settings.written("listing").and_then(Entry::block)));
    }
    if let Some(fallback) = settings.text("fallback") {
        files = files.fallback(fallback);
    }
    if let Some(compress) = settings.written("compress") {
        let codings = codings(&settings.texts("compress"));
        if let Some(block) = compress.block().filter(|_| !codings.is_empty()) {
            files = files.compression(compression(codings, block));
        }
    }
    if let Some(block) = settings.written("file-cache").and_then(Entry::block) {
        files = files.limits(limits(block));
    }
    let tries = values(settings, "try", problems, |value| {
        Template::parse(value.text())
            .map(|_| value.text())
            .ok_or("`{path}` is all that may stand in braces")
    });
    let rules: Vec<_> = settings
        .all("cache-control")
        .filter_map(|entry| rule(entry, problems))
        .collect();
    let types: Vec<_> = settings
        .all("type")
        .filter_map(|entry| media_type(entry, problems))
        .collect();
    let charset = values(settings, "charset", problems, |value| match value.text() {
        "off" => Ok(None),
        text if is_charset(text) => Ok(Some(text)),
        _ => Err("that is no name of a charset"),
    });
    if !tries.is_empty() {
        files = files.try_paths(tries);
    }
    for (freshness, patterns) in rules {
        files = files.cache(freshness, patterns);
    }
    for (ending, media_type) in types {
        files = files.media_type(ending, media_type);
    }
    match charset.last() {
        Some(&charset) => files.charset(charset),
        None => files,
    }
}

fn order(block: Option<&Settings>) -> Order {
    let by = block.and_then(|block| SortBy::from_name(block.text("sort")?));
    Order {
        by: by.unwrap_or_default(),
        descending: block.is_some_and(|block| block.text("order") == Some("descending")),
    }
}

/// `off` is none of them.
fn codings(names: &[&str]) -> Vec<Coding> {
    let names = names.iter();
    names.filter_map(|name| Coding::from_name(name)).collect()
}

fn compression(codings: Vec<Coding>, block: &Settings) -> Compression {
    let level = |name: &str| u32::try_from(block.count(name)).unwrap_or(u32::MAX);
    Compression {
        codings: codings.into(),
        brotli_level: level("brotli-level"),
        zstd_level: level("zstd-level"),
        gzip_level: level("gzip-level"),
        min: block.size("min"),
        max: block.size("max"),
        kept: in_memory(block.size("kept")),
    }
}

fn limits(block: &Settings) -> Limits {
    Limits {
        entries: in_memory(block.count("entries")),
        bytes: in_memory(block.size("size")),
        open_files: in_memory(block.count("open-files")),
        small_file: block.size("small-file"),
        recheck: block.duration("recheck"),
    }
}

fn in_memory(number: u64) -> usize {
    usize::try_from(number).unwrap_or(usize::MAX)
}

fn rule<'a>(entry: &'a Entry, problems: &mut Problems) -> Option<(Freshness, Vec<&'a str>)> {
    let (time, patterns) = entry.values().split_first()?;
    let freshness = match (time.text(), time.duration()) {
        ("immutable", _) => Freshness::Immutable,
        ("no-cache", _) => Freshness::Ask,
        ("no-store", _) => Freshness::Never,
        (_, Some(time)) => Freshness::For(time),
        (text, None) => {
            let message = format!("`{text}` does not say how long a file may be kept");
            let expected = "a time such as 1h, or immutable, no-cache, no-store";
            problems.add(Problem::new(time.span(), message).label(expected));
            return None;
        }
    };
    Some((freshness, patterns.iter().map(Value::text).collect()))
}

fn media_type<'a>(entry: &'a Entry, problems: &mut Problems) -> Option<(&'a str, HeaderValue)> {
    use thrum_parse::http::value::{FieldValue, MediaType};
    let [ending, media_type] = entry.values() else {
        return None;
    };
    let text = media_type.text();
    let parsed = MediaType::parse(text.as_bytes()).is_ok();
    match HeaderValue::from_str(text) {
        Ok(value) if parsed => Some((ending.text(), value)),
        _ => {
            let problem = Problem::new(media_type.span(), format!("`{text}` is no media type"));
            problems.add(problem.label("such as text/markdown"));
            None
        }
    }
}

/// Reads all values of a setting; notes what is wrong with them.
fn values<'a, T>(
    settings: &'a Settings,
    name: &str,
    problems: &mut Problems,
    read: impl Fn(&'a Value) -> Result<T, &'static str>,
) -> Vec<T> {
    let values = settings.all(name).flat_map(Entry::values);
    values
        .filter_map(|value| problems.check(value.span(), read(value)))
        .collect()
}

pub(super) fn is_charset(name: &str) -> bool {
    let is_part = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.:+".contains(&byte);
    !name.is_empty() && name.bytes().all(is_part)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Config;
    use crate::site::TABLES;

    /// What the reference page says of defaults is what the builder does.
    #[test]
    fn the_defaults_are_those_of_the_library() {
        let folder = tempfile::tempdir().unwrap();
        let configure = |block: &str| {
            let text = format!(":80 {{\n/ -> {} {block}\n}}", folder.path().display());
            let config = Config::parse(&text, &TABLES).unwrap();
            let mut problems = Problems::default();
            let files = Files::new(folder.path()).unwrap();
            let files = configured(files, &config.sites[0].routes[0].settings, &mut problems);
            assert!(problems.is_empty());
            files
        };
        let library = Files::new(folder.path()).unwrap();
        let library = library.precompressed(Coding::ALL);
        assert_eq!(format!("{:?}", configure("")), format!("{library:?}"));
        let library = library.listing(true).compression(Compression::default());
        let written = "{\nlisting on\ncompress br zstd gzip\nfile-cache {}\n}";
        assert_eq!(format!("{:?}", configure(written)), format!("{library:?}"));
    }
}
