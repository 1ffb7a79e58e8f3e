//! From a request's path to a path beneath the root. Decoded exactly once; what is doubtful is refused, never repaired.

use thrum_parse::uri::{decode_str, encode};

use super::options::Template;

/// A path beneath the root that a request may ask for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct RequestPath {
    /// Decoded, with single slashes between its segments and none at its ends. Empty: the root itself.
    relative: String,
    /// It ends in a slash, and so names a directory.
    is_directory: bool,
}

/// Why a path is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PathError {
    /// No client that means well sends it: bad encoding, encoded slashes, control characters, dot segments.
    Malformed,
    /// It names a file that is hidden by its dot.
    Hidden,
}

impl RequestPath {
    /// Checks and decodes the path of a URI, or what is left of it behind a mount, which may be nothing.
    pub(super) fn parse(path: &str, serves_hidden: bool) -> Result<Self, PathError> {
        if !path.is_empty() && !path.starts_with('/') {
            return Err(PathError::Malformed);
        }
        let mut relative = String::with_capacity(path.len());
        for (index, segment) in path
            .split('/')
            .filter(|segment| !segment.is_empty())
            .enumerate()
        {
            let segment = decode(segment)?;
            // RFC 8615 is the one reason to publish a file with a dot.
            let is_public = serves_hidden || (index == 0 && segment == ".well-known");
            if segment.starts_with('.') && !is_public {
                return Err(PathError::Hidden);
            }
            if !relative.is_empty() {
                relative.push('/');
            }
            relative.push_str(&segment);
        }
        Ok(Self {
            relative,
            is_directory: path.ends_with('/'),
        })
    }

    pub(super) fn relative(&self) -> &str {
        &self.relative
    }

    pub(super) fn is_directory(&self) -> bool {
        self.is_directory
    }

    /// What it becomes by a template. `None`: nothing that may be asked for.
    pub(super) fn expanded(&self, template: &Template, serves_hidden: bool) -> Option<Self> {
        let slash = if self.is_directory { "/" } else { "" };
        let text = template.expand(&format!("{}{slash}", self.relative));
        let segments = || text.split('/').filter(|segment| !segment.is_empty());
        let is_public = |(index, segment): (usize, &str)| {
            !segment.starts_with('.')
                || (index == 0 && segment == ".well-known")
                || (serves_hidden && !matches!(segment, "." | ".."))
        };
        segments().enumerate().all(is_public).then(|| Self {
            relative: segments().collect::<Vec<_>>().join("/"),
            is_directory: text.ends_with('/'),
        })
    }

    /// The path of a file in this directory.
    pub(super) fn join(&self, name: &str) -> String {
        match self.relative.as_str() {
            "" => name.to_owned(),
            relative => format!("{relative}/{name}"),
        }
    }

    /// The directory's URI path, beneath the mount. It begins with one slash, so it can never name another host.
    pub(super) fn directory_uri(&self, mount: &str) -> String {
        let mut uri = String::from("/");
        let segments = mount.split('/').chain(self.relative.split('/'));
        for segment in segments.filter(|segment| !segment.is_empty()) {
            uri += &encode(segment).to_string();
            uri.push('/');
        }
        uri
    }
}

/// What is left of a path behind the mount that it begins with: empty, or beginning with a slash.
pub(super) fn beneath<'a>(path: &'a str, mount: &str) -> &'a str {
    let mount = mount.trim_end_matches('/');
    match path.strip_prefix(mount) {
        Some(rest) if rest.is_empty() || rest.starts_with('/') => rest,
        // The route was found, so it is the same path in other letters.
        _ => {
            let count = mount
                .split('/')
                .filter(|segment| !segment.is_empty())
                .count();
            let mut rest = path;
            for _ in 0..count {
                rest = rest.trim_start_matches('/');
                rest = &rest[rest.find('/').unwrap_or(rest.len())..];
            }
            rest
        }
    }
}

/// A name as a segment of a URI path.
pub(super) fn encode_segment(name: &str) -> impl std::fmt::Display + '_ {
    encode(name)
}

/// A segment, decoded. It may be hidden, and it may be empty.
pub(crate) fn decode(segment: &str) -> Result<String, PathError> {
    let decoded = decode_str(segment).or(Err(PathError::Malformed))?;
    let refused = |letter: char| matches!(letter, '/' | '\\') || letter.is_control();
    if decoded.contains(refused) || matches!(&*decoded, "." | "..") {
        return Err(PathError::Malformed);
    }
    Ok(decoded.into_owned())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn what_is_taken_and_what_is_refused() {
        let relative = |path: &str| RequestPath::parse(path, false).map(|path| path.relative);
        for (path, expected) in [
            ("/", Ok("")),
            ("//", Ok("")),
            ("/a/b.txt", Ok("a/b.txt")),
            ("/a//b/", Ok("a/b")),
            ("/a%20b", Ok("a b")),
            ("/%e3%81%82", Ok("あ")),
            ("/a%2520b", Ok("a%20b")),
            ("/...", Err(PathError::Hidden)),
            ("/.git/config", Err(PathError::Hidden)),
            ("/a/.env", Err(PathError::Hidden)),
            ("/%2eenv", Err(PathError::Hidden)),
            ("/.well-known/x", Ok(".well-known/x")),
            ("/a/.well-known/x", Err(PathError::Hidden)),
            ("/..", Err(PathError::Malformed)),
            ("/a/../b", Err(PathError::Malformed)),
            ("/%2e%2e/b", Err(PathError::Malformed)),
            ("/%2E./b", Err(PathError::Malformed)),
            ("/a/./b", Err(PathError::Malformed)),
            ("/a%2fb", Err(PathError::Malformed)),
            ("/a%5cb", Err(PathError::Malformed)),
            ("/a\\b", Err(PathError::Malformed)),
            ("/a%00b", Err(PathError::Malformed)),
            ("/a%0d%0ab", Err(PathError::Malformed)),
            ("/a%7f", Err(PathError::Malformed)),
            ("/a%", Err(PathError::Malformed)),
            ("/a%4", Err(PathError::Malformed)),
            ("/a%zz", Err(PathError::Malformed)),
            ("/%ff", Err(PathError::Malformed)),
            ("", Ok("")),
            ("a", Err(PathError::Malformed)),
            ("*", Err(PathError::Malformed)),
        ] {
            assert_eq!(relative(path), expected.map(String::from), "{path}");
        }
    }

    #[test]
    fn a_directory_s_uri_names_no_other_host() {
        let uri = |path: &str| RequestPath::parse(path, false).unwrap().directory_uri("");
        assert_eq!(uri("//evil.example/x"), "/evil.example/x/");
        assert_eq!(uri("/a%20b/%3Cc%3E"), "/a%20b/%3Cc%3E/");
        assert_eq!(uri("/"), "/");
        let sub = RequestPath::parse("//sub", false).unwrap();
        assert_eq!(sub.directory_uri("//a b/"), "/a%20b/sub/");
    }

    #[test]
    fn hidden_names_are_served_if_so_wanted() {
        let relative = |path: &str| RequestPath::parse(path, true).map(|path| path.relative);
        assert_eq!(relative("/.git/config"), Ok(".git/config".into()));
        assert_eq!(relative("/../x"), Err(PathError::Malformed));
    }

    #[test]
    fn paths_by_templates() {
        let expanded = |path: &str, template: &str| {
            let path = RequestPath::parse(path, false).unwrap();
            let expanded = path.expanded(&Template::parse(template).unwrap(), false)?;
            Some((expanded.relative, expanded.is_directory))
        };
        assert_eq!(
            expanded("/a/b", "{path}.html"),
            Some(("a/b.html".into(), false))
        );
        assert_eq!(expanded("/a/", "{path}"), Some(("a".into(), true)));
        assert_eq!(
            expanded("/a/", "{path}/index.html"),
            Some(("a/index.html".into(), false))
        );
        assert_eq!(expanded("/a/", "{path}.html"), None, "a hidden name");
        assert_eq!(
            expanded("/", "{path}/index.html"),
            Some(("index.html".into(), false))
        );
        assert_eq!(expanded("/a", "../{path}"), None);
    }

    #[test]
    fn what_is_beneath_a_mount() {
        for (path, mount, expected) in [
            ("/static/a.css", "/static/", "/a.css"),
            ("/static/", "/static/", "/"),
            ("/static", "/static/", ""),
            ("/static", "/static", ""),
            ("/a", "/", "/a"),
            ("/a", "", "/a"),
            ("/", "/", "/"),
            ("/st%61tic/a", "/static/", "/a"),
            ("//static//a", "/static/", "//a"),
            ("/a/b/c", "/%61/b/", "/c"),
            ("/staticx", "/static/", ""),
        ] {
            assert_eq!(beneath(path, mount), expected, "{path} {mount}");
        }
    }

    proptest! {
        /// Whatever is taken has no segment that means anything to the file system.
        #[test]
        fn no_segment_leads_anywhere_else(path in "/([./%2eEfF5cC0a\\\\]|[a-c]){0,30}") {
            if let Ok(path) = RequestPath::parse(&path, false) {
                prop_assert!(!path.relative.starts_with('/') && !path.relative.contains('\0'));
                prop_assert!(path.relative.split('/').all(|segment| segment != ".." && segment != "."));
                let again = RequestPath::parse(&path.directory_uri(""), false).unwrap();
                prop_assert_eq!(again.relative, path.relative);
            }
        }
    }
}
