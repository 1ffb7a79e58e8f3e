//! How long clients may keep which files: `Cache-Control` by patterns of paths.

use std::time::Duration;

use http::HeaderValue;

/// How long a client may keep a file without asking again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Freshness {
    /// So long, counted in whole seconds.
    For(Duration),
    /// For good: a file whose name changes when it does. `max-age=31536000, immutable`.
    Immutable,
    /// It may keep it, but asks every time. `no-cache`.
    Ask,
    /// It may not keep it at all. `no-store`.
    Never,
}

impl Freshness {
    fn field(self) -> HeaderValue {
        match self {
            Self::For(time) => HeaderValue::try_from(format!("max-age={}", time.as_secs()))
                .unwrap_or(HeaderValue::from_static("no-cache")),
            Self::Immutable => HeaderValue::from_static("max-age=31536000, immutable"),
            Self::Ask => HeaderValue::from_static("no-cache"),
            Self::Never => HeaderValue::from_static("no-store"),
        }
    }
}

/// What holds for files of these patterns; for all if there are none.
#[derive(Clone, Debug)]
pub(super) struct Rule {
    freshness: Freshness,
    patterns: Vec<String>,
}

impl Rule {
    pub(super) fn new(freshness: Freshness, patterns: Vec<String>) -> Self {
        Self {
            freshness,
            patterns,
        }
    }
}

/// What the first rule says that fits a path beneath the folder, which is written without a slash before it.
pub(super) fn field(rules: &[Rule], path: &str) -> Option<HeaderValue> {
    let fits = |rule: &&Rule| {
        rule.patterns.is_empty() || rule.patterns.iter().any(|pattern| matches(pattern, path))
    };
    Some(rules.iter().find(fits)?.freshness.field())
}

/// Whether a pattern fits a path: `/assets/` what is in that folder, `/a/b*.js` a whole path, `*.css` a name in any folder.
/// A `*` stands for any text, slashes among it.
fn matches(pattern: &str, path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    match pattern.strip_prefix('/') {
        None => fits(pattern, name),
        Some(folder) if folder.is_empty() || folder.ends_with('/') => {
            let mut pattern = folder.to_owned();
            pattern.push('*');
            fits(&pattern, path)
        }
        Some(pattern) => fits(pattern, path),
    }
}

/// The first and last parts are where they must be, and those between come in order: no way back is ever needed.
fn fits(pattern: &str, text: &str) -> bool {
    let Some((first, others)) = pattern.split_once('*') else {
        return pattern == text;
    };
    let Some(mut rest) = text.strip_prefix(first) else {
        return false;
    };
    let (between, last) = others.rsplit_once('*').unwrap_or(("", others));
    for part in between.split('*') {
        match rest.find(part) {
            Some(start) => rest = &rest[start + part.len()..],
            None => return false,
        }
    }
    rest.ends_with(last)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns() {
        for (pattern, path, expected) in [
            ("*.css", "a/b.css", true),
            ("*.css", "a.css/b", false),
            ("b.css", "a/b.css", true),
            ("b.css", "a/ab.css", false),
            ("/b.css", "a/b.css", false),
            ("/a/b.css", "a/b.css", true),
            ("/a/", "a/b/c", true),
            ("/a/", "ab/c", false),
            ("/", "anything", true),
            ("/a*.js", "ab/c.js", true),
            ("*.????", "a.html", false),
            ("a*b*c", "a-b-b-c", true),
            ("a*b*c", "a-c-b", false),
            ("a*a", "a", false),
            ("*", "", true),
        ] {
            assert_eq!(matches(pattern, path), expected, "{pattern} {path}");
        }
    }

    #[test]
    fn the_first_rule_that_fits_counts() {
        let rule = |freshness, patterns: &[&str]| {
            let patterns = patterns.iter().map(|&pattern| pattern.to_owned());
            Rule::new(freshness, patterns.collect())
        };
        let rules = [
            rule(Freshness::Immutable, &["/assets/", "*.woff2"]),
            rule(Freshness::For(Duration::from_secs(3600)), &["*.css"]),
            rule(Freshness::Ask, &[]),
        ];
        let said = |path: &str| field(&rules, path).unwrap();
        assert_eq!(said("assets/x.css"), "max-age=31536000, immutable");
        assert_eq!(said("x.css"), "max-age=3600");
        assert_eq!(said("index.html"), "no-cache");
        assert_eq!(field(&rules[..2], "index.html"), None);
    }
}
