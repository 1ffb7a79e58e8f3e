//! What may stand in a block: one table for the parser, the errors, the hints, the expanded view and the reference page.

/// A setting: a word and its values, `timeout 10s`, perhaps with a block of further settings.
///
/// Tables of settings are constants of the modules that they configure, so that what is documented is what is built.
#[derive(Debug)]
pub struct Setting {
    /// Its word, such as `timeout`. Words of several parts have hyphens: `max-size`.
    pub name: &'static str,
    /// What its values are; one kind for each, in order.
    pub values: &'static [Kind],
    /// How many of them there may be.
    pub arity: Arity,
    /// The values that hold when it is not written, as one would write them. Empty: none.
    pub default: &'static str,
    /// Whether it may be written more than once in a block.
    pub repeats: bool,
    /// What may stand in its own block. Empty: it has none.
    pub block: &'static [Setting],
    /// What it does, in a sentence or two, for the reference page.
    pub help: &'static str,
    /// How it is written, for the reference page: `timeout 10s`.
    pub example: &'static str,
}

impl Setting {
    /// A setting with one value, written at most once, without a block or a default. The rest is set by `..`:
    /// `Setting { default: "10s", ..Setting::new("timeout", &[Kind::Duration], "How long ..", "timeout 10s") }`.
    pub const fn new(
        name: &'static str,
        values: &'static [Kind],
        help: &'static str,
        example: &'static str,
    ) -> Self {
        Self {
            name,
            values,
            arity: Arity::Exact,
            default: "",
            repeats: false,
            block: &[],
            help,
            example,
        }
    }
}

/// How many values there may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Arity {
    /// As many as there are kinds.
    Exact,
    /// The last one may be left out.
    OptionalLast,
    /// The last kind one or more times.
    Many,
    /// The last kind any number of times, none among them.
    Any,
}

/// What a value is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Any text, for which the name in the reference page is given: `Text("NAME")`.
    Text(&'static str),
    /// `on` or `off`.
    Switch,
    /// A whole number from the first to the second, both included.
    Count(u64, u64),
    /// Bytes: `512`, `16KiB`, `10MiB`, `1GiB` (also `k`, `m`, `g`, which are powers of 1,024 too).
    Size,
    /// A time: `250ms`, `10s`, `5m`, `1h`, `7d`.
    Duration,
    /// A time, or `off`.
    DurationOrOff,
    /// Bytes, or `off`.
    SizeOrOff,
    /// So many in a time: `10/s`, `300/m`, `1000/h`.
    Rate,
    /// One of these words.
    Choice(&'static [&'static str]),
    /// A file that exists and can be read. Relative paths begin at the folder of the configuration file.
    File,
    /// A folder that exists.
    Folder,
    /// A file or folder that may not exist yet.
    Path,
    /// `HOST:PORT`, `:PORT`, `[IPV6]:PORT`, `PORT` or `unix:/PATH`.
    Address,
    /// An absolute URL of http or https.
    Url,
    /// An address or network, `192.0.2.7`, `10.0.0.0/8`, `2001:db8::/32`, or `all`.
    Network,
    /// The name of a header field.
    Header,
    /// A status code, 100 to 599.
    Status,
}

/// What a route does: the word between its path and what it is given, `->` or `respond`, with what may follow.
#[derive(Debug)]
pub struct Verb {
    /// As it is written: `->`.
    pub word: &'static str,
    /// What it is called where an arrow says too little: `files`.
    pub name: &'static str,
    /// What follows the word; one kind for each value, in order.
    pub values: &'static [Kind],
    /// How many of them there may be.
    pub arity: Arity,
    /// What may stand in its block, besides what may stand in every route's.
    pub settings: &'static [Setting],
    /// What it does, in a sentence or two, for the reference page.
    pub help: &'static str,
    /// How it is written, for the reference page: `/ -> /srv/www`.
    pub example: &'static str,
}

/// All that may stand anywhere.
#[derive(Debug)]
pub struct Tables {
    /// Outside of all sites.
    pub global: &'static [&'static [Setting]],
    /// In a site.
    pub site: &'static [&'static [Setting]],
    /// In every route's block, and in a site's for all of its routes.
    pub route: &'static [&'static [Setting]],
    /// What a route can do.
    pub verbs: &'static [&'static Verb],
}
