//! How a folder is served, and how much of it is kept.

use std::sync::Arc;
use std::time::Duration;

use super::cache::Bounds;
use super::freshness::Rule;
use super::listing::Order;
use super::negotiation::Coding;
use super::types::Types;

#[derive(Clone, Debug)]
pub(super) struct Options {
    pub(super) index: Vec<String>,
    pub(super) listing: Option<Order>,
    pub(super) tries: Vec<Template>,
    pub(super) fallback: Option<String>,
    pub(super) serves_hidden: bool,
    pub(super) languages: Vec<String>,
    pub(super) precompressed: Vec<Coding>,
    pub(super) compression: Option<Compression>,
    pub(super) types: Types,
    pub(super) cache_rules: Vec<Rule>,
    pub(super) limits: Limits,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            index: vec!["index.html".to_owned()],
            listing: None,
            tries: Vec::new(),
            fallback: None,
            serves_hidden: false,
            languages: Vec::new(),
            precompressed: Vec::new(),
            compression: None,
            types: Types::default(),
            cache_rules: Vec::new(),
            limits: Limits::default(),
        }
    }
}

/// How much [`Files`](super::Files) keeps of its folder, and for how long it believes that.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Paths. Default: 8,192.
    pub entries: usize,
    /// Bytes of file contents. Default: 64 MiB.
    pub bytes: usize,
    /// Files that are kept open, since they are too large to be kept in memory. Default: 256.
    pub open_files: usize,
    /// Files up to so many bytes are kept in memory, and sent in the same write as their head. Default: 64 KiB.
    pub small_file: u64,
    /// How soon a change is seen. Default: 1 s.
    pub recheck: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            entries: 8192,
            bytes: 64 << 20,
            open_files: 256,
            small_file: 64 << 10,
            recheck: Duration::from_secs(1),
        }
    }
}

impl Limits {
    pub(super) fn bounds(&self) -> Bounds {
        Bounds {
            entries: self.entries,
            bytes: self.bytes,
            descriptors: self.open_files,
        }
    }

    /// In milliseconds; a little less, since the clock is a coarse one.
    pub(super) fn recheck_ms(&self) -> u64 {
        u64::try_from(self.recheck.as_millis()).map_or(u64::MAX, |ms| ms - ms / 10)
    }
}

/// How files are compressed that are not there in a compressed form. What has been compressed is kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Compression {
    /// To what, the most preferred first. Default: all of them.
    pub codings: Arc<[Coding]>,
    /// 0 to 11. Default: 5.
    pub brotli_level: u32,
    /// 1 to 19. Default: 3.
    pub zstd_level: u32,
    /// 0 to 9. Default: 6.
    pub gzip_level: u32,
    /// Files of fewer bytes are sent as they are. Default: 1 KiB, which fits a packet anyway.
    pub min: u64,
    /// Files of more bytes are sent as they are. Default: 4 MiB.
    pub max: u64,
    /// Bytes of compressed contents that are kept. Default: 64 MiB.
    pub kept: usize,
}

impl Default for Compression {
    fn default() -> Self {
        Self {
            codings: Coding::ALL.into(),
            brotli_level: 5,
            zstd_level: 3,
            gzip_level: 6,
            min: 1 << 10,
            max: 4 << 20,
            kept: 64 << 20,
        }
    }
}

impl Compression {
    /// To what a file of that size is compressed.
    pub(super) fn codings_for(&self, size: u64) -> Arc<[Coding]> {
        if (self.min..=self.max).contains(&size) {
            self.codings.clone()
        } else {
            Arc::default()
        }
    }
}

/// A path to try, in which `{path}` stands for what was asked for: `{path}.html`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Template(Vec<Option<String>>);

impl Template {
    /// `None`: there is a brace that does not belong to `{path}`.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let mut parts = Vec::new();
        for (index, literal) in text.split("{path}").enumerate() {
            if literal.contains(['{', '}']) {
                return None;
            }
            if index > 0 {
                parts.push(None);
            }
            parts.push(Some(literal.to_owned()));
        }
        Some(Self(parts))
    }

    pub(super) fn expand(&self, path: &str) -> String {
        let parts = self.0.iter();
        parts.map(|part| part.as_deref().unwrap_or(path)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn templates() {
        let expand = |text: &str| Some(Template::parse(text)?.expand("a/b"));
        assert_eq!(expand("{path}").unwrap(), "a/b");
        assert_eq!(expand("/pages/{path}.html").unwrap(), "/pages/a/b.html");
        assert_eq!(expand("index.html").unwrap(), "index.html");
        assert_eq!(expand("{uri}"), None);
        assert_eq!(expand("{path"), None);
    }
}
