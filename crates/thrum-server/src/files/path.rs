//! From a request's path to a path beneath the root. Decoded exactly once; what is doubtful is refused, never repaired.

use thrum_parse::uri::{decode_str, encode};

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
    /// Checks and decodes the path of a URI.
    pub(super) fn parse(path: &str) -> Result<Self, PathError> {
        if !path.starts_with('/') {
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
            if segment.starts_with('.') && !(index == 0 && segment == ".well-known") {
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

    /// The path of a file in this directory.
    pub(super) fn join(&self, name: &str) -> String {
        match self.relative.as_str() {
            "" => name.to_owned(),
            relative => format!("{relative}/{name}"),
        }
    }

    /// The directory's URI path. It begins with one slash, so it can never name another host.
    pub(super) fn directory_uri(&self) -> String {
        let mut uri = String::from("/");
        for segment in self
            .relative
            .split('/')
            .filter(|segment| !segment.is_empty())
        {
            uri += &encode(segment).to_string();
            uri.push('/');
        }
        uri
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
        let relative = |path: &str| RequestPath::parse(path).map(|path| path.relative);
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
            ("a", Err(PathError::Malformed)),
            ("*", Err(PathError::Malformed)),
        ] {
            assert_eq!(relative(path), expected.map(String::from), "{path}");
        }
    }

    #[test]
    fn a_directory_s_uri_names_no_other_host() {
        let uri = |path: &str| RequestPath::parse(path).unwrap().directory_uri();
        assert_eq!(uri("//evil.example/x"), "/evil.example/x/");
        assert_eq!(uri("/a%20b/%3Cc%3E"), "/a%20b/%3Cc%3E/");
        assert_eq!(uri("/"), "/");
    }

    proptest! {
        /// Whatever is taken has no segment that means anything to the file system.
        #[test]
        fn no_segment_leads_anywhere_else(path in "/([./%2eEfF5cC0a\\\\]|[a-c]){0,30}") {
            if let Ok(path) = RequestPath::parse(&path) {
                prop_assert!(!path.relative.starts_with('/') && !path.relative.contains('\0'));
                prop_assert!(path.relative.split('/').all(|segment| segment != ".." && segment != "."));
                let again = RequestPath::parse(&path.directory_uri()).unwrap();
                prop_assert_eq!(again.relative, path.relative);
            }
        }
    }
}
