//! A block's settings, checked: what sites, routes, handlers and guards are built from.

use std::path::PathBuf;
use std::time::Duration;

use super::problem::Span;
use super::schema::Setting;
use super::value::{self, Network, Rate, Value};

/// What was written in a block, and what holds where nothing was. All of it has been checked against its tables, so that
/// reading a value as what the table says cannot fail.
///
/// # Panics
/// The methods panic when they are asked for a setting that the tables lack, or as what it is not: that is a mistake in the
/// program, not in a configuration.
#[derive(Clone, Debug)]
pub struct Settings {
    pub(crate) tables: Vec<&'static [Setting]>,
    pub(crate) entries: Vec<Entry>,
    /// The block, or the statement that could have had one.
    pub(crate) span: Span,
}

/// A setting as it was written.
#[derive(Clone, Debug)]
pub struct Entry {
    pub(crate) setting: &'static Setting,
    pub(crate) name: Span,
    pub(crate) values: Vec<Value>,
    pub(crate) block: Option<Settings>,
}

impl Entry {
    /// Where its word stands.
    pub fn span(&self) -> Span {
        self.name
    }

    /// Its values.
    pub fn values(&self) -> &[Value] {
        &self.values
    }

    /// Its first value's text.
    pub fn text(&self) -> &str {
        self.values.first().map_or("", Value::text)
    }

    /// What stands in its block; with all defaults when it has none.
    pub fn block(&self) -> Option<&Settings> {
        self.block.as_ref()
    }
}

impl Settings {
    /// Where the block stands.
    pub fn span(&self) -> Span {
        self.span
    }

    /// The settings of that name, in the order they were written.
    pub fn all(&self, name: &str) -> impl Iterator<Item = &Entry> {
        let setting = self.setting(name);
        self.entries
            .iter()
            .filter(move |entry| entry.setting.name == setting.name)
    }

    /// The setting of that name, if it was written.
    pub fn written(&self, name: &str) -> Option<&Entry> {
        self.all(name).last()
    }

    /// Its first value's text, as written or by default; `None` when there is neither.
    pub fn text(&self, name: &str) -> Option<&str> {
        self.first(name)
    }

    /// The texts of all its values, as written (in all settings of that name) or by default.
    pub fn texts(&self, name: &str) -> Vec<&str> {
        let setting = self.setting(name);
        let mut written = self.all(name).peekable();
        match written.peek() {
            None => setting.default.split_whitespace().collect(),
            Some(_) => written
                .flat_map(|entry| entry.values.iter().map(Value::text))
                .collect(),
        }
    }

    /// Whether it is `on`.
    pub fn is_on(&self, name: &str) -> bool {
        self.read(name, value::switch)
    }

    /// A whole number.
    pub fn count(&self, name: &str) -> u64 {
        self.read(name, |text| text.parse().ok())
    }

    /// Bytes.
    pub fn size(&self, name: &str) -> u64 {
        self.read(name, value::size)
    }

    /// Bytes; `None` for `off`, or when it is neither written nor has a default.
    pub fn size_or_off(&self, name: &str) -> Option<u64> {
        self.first(name).filter(|&text| text != "off")?;
        Some(self.size(name))
    }

    /// A time.
    pub fn duration(&self, name: &str) -> Duration {
        self.read(name, value::duration)
    }

    /// A time; `None` for `off`, or when it is neither written nor has a default.
    pub fn duration_or_off(&self, name: &str) -> Option<Duration> {
        self.first(name).filter(|&text| text != "off")?;
        Some(self.duration(name))
    }

    /// So many in a time, if it was written.
    pub fn rate(&self, name: &str) -> Option<Rate> {
        self.first(name)?;
        Some(self.read(name, value::rate))
    }

    /// All its networks, of all settings of that name.
    pub fn networks(&self, name: &str) -> Vec<Network> {
        let texts = self.texts(name).into_iter();
        texts
            .map(|text| value::network(text).unwrap_or_else(|| unchecked(name, text)))
            .collect()
    }

    /// A path, if it was written.
    pub fn path(&self, name: &str) -> Option<PathBuf> {
        Some(self.written(name)?.values.first()?.path())
    }

    /// These settings, and of the outer ones those that may stand here too and do not: what is written further in counts.
    pub fn over(&self, outer: &Self) -> Self {
        let mut all = self.clone();
        let inherited = outer.entries.iter().filter(|entry| {
            let same = |setting: &&Setting| setting.name == entry.setting.name;
            let allowed = self.tables.iter().copied().flatten().any(|one| same(&one));
            allowed && !self.entries.iter().any(|own| same(&own.setting))
        });
        all.entries.extend(inherited.cloned());
        all
    }

    fn read<T>(&self, name: &str, parse: impl Fn(&str) -> Option<T>) -> T {
        let text = self.first(name).unwrap_or_default();
        parse(text).unwrap_or_else(|| unchecked(name, text))
    }

    fn first(&self, name: &str) -> Option<&str> {
        match self.written(name) {
            Some(entry) => entry.values.first().map(Value::text),
            None => self.setting(name).default.split_whitespace().next(),
        }
    }

    fn setting(&self, name: &str) -> &'static Setting {
        let mut settings = self.tables.iter().copied().flatten();
        settings
            .find(|setting| setting.name == name)
            .unwrap_or_else(|| panic!("no table has a setting {name}"))
    }
}

fn unchecked<T>(name: &str, text: &str) -> T {
    panic!("the value {text:?} of {name} was not checked")
}
