//! The paths that a route answers for.

use std::fmt::Write;
use std::sync::Arc;

use thiserror::Error;
use thrum_parse::uri::{UriError, decode, decode_str};

/// The path of a route, in whole segments.
///
/// | pattern | matches |
/// |---|---|
/// | `/about` | that path alone |
/// | `/docs/` | `/docs/` and all beneath it |
/// | `/users/{id}` | one segment in the place of `{id}`, not an empty one |
/// | `/users/{id}/` | all beneath such a path, itself included |
/// | `/files/{*rest}` | like `/files/`, and remembers what is beneath |
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pattern {
    segments: Vec<Segment>,
    tail: Tail,
    mount: String,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Segment {
    /// As a normalized request has it.
    Literal(String),
    Capture(Arc<str>),
}

/// What comes after the segments.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Tail {
    /// Nothing.
    Exact,
    /// A slash, and anything.
    Beneath,
    /// A slash, and anything, which has a name.
    Capture(Arc<str>),
}

/// Why a pattern is none.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum PatternError {
    /// It begins without a slash.
    #[error("a route's path begins with a slash")]
    NoSlash,
    /// A name that is no name.
    #[error("{{{0}}} is not a name: it has letters, digits and underscores")]
    Name(String),
    /// A name twice.
    #[error("{{{0}}} stands twice in the path")]
    Twice(String),
    /// A brace in the midst of a segment.
    #[error("{{name}} takes the place of a whole segment; {0:?} has something beside it")]
    Partly(String),
    /// `{*rest}` before the end.
    #[error("{{*{0}}} stands at the end of the path only")]
    NotLast(String),
    /// An escape that is none, or a query.
    #[error("{0:?} is not a path")]
    Path(String),
}

/// What a path has to do with a pattern.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Matched {
    /// Nothing.
    No,
    /// It matches; what its names stand for, decoded.
    Yes(Vec<(Arc<str>, String)>),
    /// It would with a slash at its end.
    WithSlash,
}

impl Pattern {
    /// Reads a pattern.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn parse(text: &str) -> Result<Self, PatternError> {
        let path = text.strip_prefix('/').ok_or(PatternError::NoSlash)?;
        if text.contains(['?', '#']) || text.contains("//") {
            return Err(PatternError::Path(text.to_owned()));
        }
        let mut parts: Vec<&str> = path.split('/').collect();
        let tail = match parts.pop() {
            None | Some("") => Tail::Beneath,
            Some(last) => match inner(last)? {
                Some(name) if name.starts_with('*') => Tail::Capture(checked(&name[1..])?),
                _ => {
                    parts.push(last);
                    Tail::Exact
                }
            },
        };
        let mut segments = Vec::with_capacity(parts.len());
        for part in parts {
            segments.push(match inner(part)? {
                Some(name) if name.starts_with('*') => {
                    return Err(PatternError::NotLast(name[1..].to_owned()));
                }
                Some(name) => Segment::Capture(checked(name)?),
                None => Segment::Literal(literal(part)?),
            });
        }
        let mount = mount(&segments, &tail);
        let pattern = Self {
            segments,
            tail,
            mount,
        };
        let names = pattern.names();
        let twice = |name: &&&Arc<str>| names.iter().filter(|other| other == name).count() > 1;
        match names.iter().find(twice) {
            Some(name) => Err(PatternError::Twice(name.to_string())),
            None => Ok(pattern),
        }
    }

    /// The part that all its paths begin with, up to the last slash before a name.
    pub fn mount(&self) -> &str {
        &self.mount
    }

    /// Its first segment, if that is a literal one: `None` may match anything.
    pub(super) fn first(&self) -> Option<&str> {
        match self.segments.first() {
            Some(Segment::Literal(first)) => Some(first),
            _ => None,
        }
    }

    /// The names in it.
    pub fn names(&self) -> Vec<&Arc<str>> {
        let in_segments = self.segments.iter().filter_map(|segment| match segment {
            Segment::Capture(name) => Some(name),
            Segment::Literal(_) => None,
        });
        let last = match &self.tail {
            Tail::Capture(name) => Some(name),
            _ => None,
        };
        in_segments.chain(last).collect()
    }

    /// Matches a normalized path.
    pub fn matches(&self, path: &str) -> Matched {
        let Some(mut rest) = path.strip_prefix('/') else {
            return Matched::No;
        };
        let mut captures = Vec::new();
        for (at, segment) in self.segments.iter().enumerate() {
            let (part, after) = match rest.split_once('/') {
                Some((part, after)) => (part, Some(after)),
                None => (rest, None),
            };
            match segment {
                Segment::Literal(literal) if literal == part => {}
                Segment::Capture(name) if !part.is_empty() => {
                    captures.push((name.clone(), decoded(part)));
                }
                _ => return Matched::No,
            }
            let is_last = at + 1 == self.segments.len();
            match after {
                Some(_) if is_last && self.tail == Tail::Exact => return Matched::No,
                Some(after) => rest = after,
                None if !is_last => return Matched::No,
                None if self.tail == Tail::Exact => return Matched::Yes(captures),
                None => return Matched::WithSlash,
            }
        }
        match &self.tail {
            Tail::Exact => return Matched::No, // of no segment: not to be had
            Tail::Beneath => {}
            Tail::Capture(name) => captures.push((name.clone(), decoded(rest))),
        }
        Matched::Yes(captures)
    }

    /// Whether whatever the other matches is matched by this one too.
    pub fn covers(&self, other: &Self) -> bool {
        let covers = |(ours, theirs): (&Segment, &Segment)| match (ours, theirs) {
            (Segment::Capture(_), _) => true,
            (Segment::Literal(ours), Segment::Literal(theirs)) => ours == theirs,
            (Segment::Literal(_), Segment::Capture(_)) => false,
        };
        let (ours, theirs) = (self.segments.len(), other.segments.len());
        let lengths = match (&self.tail, &other.tail) {
            (Tail::Exact, Tail::Exact) => ours == theirs,
            (Tail::Exact, _) => false,
            // An exact path is beneath what is shorter than it.
            (_, Tail::Exact) => ours < theirs,
            (_, _) => ours <= theirs,
        };
        lengths && self.segments.iter().zip(&other.segments).all(covers)
    }
}

/// Makes a request's path what patterns are matched with, the one way to write it: no `.`, `..` or empty segments, and escapes
/// for what cannot do without. `None` if it is so already, as nearly always.
///
/// # Errors
/// For an escape that is none.
pub fn normalized(path: &str) -> Result<Option<String>, UriError> {
    let bytes = path.as_bytes();
    let plain = |pair: &[u8]| pair[0] != b'/' || !matches!(pair[1], b'.' | b'/');
    if bytes.iter().all(|&byte| is_plain(byte) || byte == b'/') && bytes.windows(2).all(plain) {
        return Ok(None);
    }
    let mut segments = Vec::new();
    let mut ends_in_slash = false;
    for segment in path.split('/').skip(1) {
        let segment = decode(segment.as_bytes())?;
        ends_in_slash = matches!(&*segment, b"" | b"." | b"..");
        match &*segment {
            b"" | b"." => {}
            b".." => drop(segments.pop()),
            _ => segments.push(escaped(&segment)),
        }
    }
    let mut normal = String::with_capacity(path.len());
    for segment in &segments {
        normal.push('/');
        normal.push_str(segment);
    }
    if ends_in_slash || segments.is_empty() {
        normal.push('/');
    }
    Ok((normal != path).then_some(normal))
}

/// A segment, with escapes for what may not stand in one (RFC 3986, 3.3: pchar).
fn escaped(segment: &[u8]) -> String {
    let mut text = String::with_capacity(segment.len());
    for &byte in segment {
        if is_plain(byte) {
            text.push(char::from(byte));
        } else {
            let _ = write!(text, "%{byte:02X}");
        }
    }
    text
}

fn is_plain(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"-._~!$&'()*+,;=:@".contains(&byte)
}

/// What is between the braces of a segment that is nothing else.
fn inner(part: &str) -> Result<Option<&str>, PatternError> {
    let inner = part
        .strip_prefix('{')
        .and_then(|part| part.strip_suffix('}'));
    match inner {
        Some(name) => Ok(Some(name)),
        None if part.contains(['{', '}']) => Err(PatternError::Partly(part.to_owned())),
        None => Ok(None),
    }
}

fn checked(name: &str) -> Result<Arc<str>, PatternError> {
    let is_name = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
    if name.is_empty() || !name.bytes().all(is_name) {
        return Err(PatternError::Name(name.to_owned()));
    }
    Ok(name.into())
}

/// A segment as a normalized request has it.
fn literal(part: &str) -> Result<String, PatternError> {
    let wrong = || PatternError::Path(part.to_owned());
    if matches!(part, "." | "..") {
        return Err(wrong());
    }
    let decoded = decode(part.as_bytes()).map_err(|_| wrong())?;
    Ok(escaped(&decoded))
}

fn mount(segments: &[Segment], tail: &Tail) -> String {
    let mut mount = String::from("/");
    for (at, segment) in segments.iter().enumerate() {
        match segment {
            Segment::Capture(_) => break,
            Segment::Literal(literal) => {
                mount += literal;
                if at + 1 < segments.len() || *tail != Tail::Exact {
                    mount.push('/');
                }
            }
        }
    }
    mount
}

/// A normalized path's escapes are escapes; what is no UTF-8 stays escaped.
fn decoded(part: &str) -> String {
    decode_str(part).map_or_else(|_| part.to_owned(), |decoded| decoded.into_owned())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn pattern(text: &str) -> Pattern {
        Pattern::parse(text).unwrap()
    }

    fn captures(text: &str, path: &str) -> Option<Vec<(String, String)>> {
        match pattern(text).matches(path) {
            Matched::Yes(captures) => Some(
                captures
                    .into_iter()
                    .map(|(name, value)| (name.to_string(), value))
                    .collect(),
            ),
            _ => None,
        }
    }

    #[test]
    fn whole_segments() {
        let matches = |text: &str, path: &str| captures(text, path).is_some();
        assert!(matches("/", "/") && matches("/", "/a/b"));
        assert!(matches("/about", "/about"));
        assert!(!matches("/about", "/about/") && !matches("/about", "/about/x"));
        assert!(matches("/docs/", "/docs/") && matches("/docs/", "/docs/a/b"));
        assert!(!matches("/docs/", "/docsy") && !matches("/docs/", "/"));
        assert_eq!(pattern("/docs/").matches("/docs"), Matched::WithSlash);
        assert!(matches("/a b/", "/a%20b/c"));
        assert!(matches("/a/b", "/a/b") && !matches("/a/b", "/a"));
    }

    #[test]
    fn names_stand_for_segments() {
        let one = |name: &str, value: &str| vec![(name.to_owned(), value.to_owned())];
        assert_eq!(captures("/u/{id}", "/u/7"), Some(one("id", "7")));
        assert_eq!(captures("/u/{id}", "/u/a%2Fb"), Some(one("id", "a/b")));
        assert_eq!(captures("/u/{id}", "/u/"), None);
        assert_eq!(captures("/u/{id}", "/u/7/x"), None);
        assert_eq!(captures("/u/{id}/", "/u/7/x"), Some(one("id", "7")));
        assert_eq!(captures("/f/{*rest}", "/f/a/b"), Some(one("rest", "a/b")));
        assert_eq!(captures("/f/{*rest}", "/f/"), Some(one("rest", "")));
        let both = captures("/{a}/x/{b}", "/1/x/2").unwrap();
        assert_eq!(both, [("a".into(), "1".into()), ("b".into(), "2".into())]);
    }

    #[test]
    fn mounts() {
        for (text, mount) in [
            ("/", "/"),
            ("/a/", "/a/"),
            ("/a", "/a"),
            ("/a/{b}/c", "/a/"),
            ("/a/{*rest}", "/a/"),
        ] {
            assert_eq!(pattern(text).mount(), mount, "{text}");
        }
    }

    #[test]
    fn mistakes_are_named() {
        let error = |text: &str| Pattern::parse(text).unwrap_err();
        assert_eq!(error("a"), PatternError::NoSlash);
        assert_eq!(error("/{a-b}"), PatternError::Name("a-b".into()));
        assert_eq!(error("/{}"), PatternError::Name("".into()));
        assert_eq!(error("/{a}/{a}"), PatternError::Twice("a".into()));
        assert_eq!(error("/x{a}"), PatternError::Partly("x{a}".into()));
        assert_eq!(error("/{*a}/b"), PatternError::NotLast("a".into()));
        assert_eq!(error("/a?b"), PatternError::Path("/a?b".into()));
        assert_eq!(error("/a%zz"), PatternError::Path("a%zz".into()));
        assert_eq!(error("/a/../b"), PatternError::Path("..".into()));
    }

    #[test]
    fn what_covers_what() {
        let covers = |a: &str, b: &str| pattern(a).covers(&pattern(b));
        assert!(covers("/", "/a") && covers("/", "/a/{b}/") && covers("/", "/"));
        assert!(covers("/{a}", "/b") && !covers("/b", "/{a}"));
        assert!(covers("/a/", "/a/b") && !covers("/a/", "/a") && !covers("/a", "/a/"));
        assert!(covers("/{*x}", "/") && !covers("/a/b/", "/a/"));
    }

    #[test]
    fn paths_are_made_normal() {
        let normal = |path: &str| normalized(path).unwrap();
        for plain in ["/", "/a/b.c/", "/a.b/c"] {
            assert_eq!(normal(plain), None);
        }
        assert_eq!(normal("/%61dmin/").as_deref(), Some("/admin/"));
        assert_eq!(normal("//admin/").as_deref(), Some("/admin/"));
        assert_eq!(normal("/x/%2e%2e/admin").as_deref(), Some("/admin"));
        assert_eq!(normal("/x/./y").as_deref(), Some("/x/y"));
        assert_eq!(normal("/a%2fb").as_deref(), Some("/a%2Fb"));
        assert_eq!(normal("/a%2Fb"), None);
        assert_eq!(normal("/%40x%2B|").as_deref(), Some("/@x+%7C"));
        assert_eq!(normal("/a/..").as_deref(), Some("/"));
        assert_eq!(normal("/../../a").as_deref(), Some("/a"));
        assert!(normalized("/%zz").is_err());
    }

    proptest! {
        /// What is normal stays as it is, so nothing is read in two ways.
        #[test]
        fn normal_is_normal(path in "/([a-c./@|]|%2[eEfF]|%6[14])*") {
            let once = normalized(&path).unwrap().unwrap_or(path);
            prop_assert_eq!(normalized(&once).unwrap(), None);
        }

        #[test]
        fn a_cover_matches_what_it_covers(a in PATTERN, b in PATTERN, path in "/[ab/]{0,6}") {
            let (a, b) = (pattern(&a), pattern(&b));
            if a.covers(&b) && matches!(b.matches(&path), Matched::Yes(_)) {
                prop_assert!(matches!(a.matches(&path), Matched::Yes(_)));
            }
        }
    }

    const PATTERN: &str = "(/(a|b|\\{x\\})(/(a|b|\\{y\\}))?)?(/|/\\{\\*z\\}|/a)";
}
