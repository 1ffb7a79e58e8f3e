//! Where a redirect or a rewrite leads: text with places for parts of the request.
//!
//! Nothing of a request can change the host that a target names. Placeholders stand in paths and queries only, what is put in
//! is percent-encoded, and a target on this host begins with exactly one slash: `//evil.example` would be another host.

use std::borrow::Cow;

use http::Uri;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};
use thiserror::Error;

use crate::site::Visit;

/// A target, read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Target {
    parts: Vec<Part>,
    /// Whether it is a path of this host.
    pub(super) is_local: bool,
    /// Whether what follows the route's mount is appended.
    appends_rest: bool,
    appends_query: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Part {
    Text(String),
    /// A capture in the path, or, with `true`, in the query or the fragment.
    Capture(String, bool),
    Query,
}

/// What is wrong with the target of a redirect or rewrite.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum InvalidTarget {
    /// It begins with neither.
    #[error("a target begins with /, http:// or https://; {0:?} does not")]
    Begin(String),
    /// A redirect to another host has to say the scheme.
    #[error("{0:?} names another host without a scheme: write https:{0}")]
    WithoutScheme(String),
    /// A rewrite stays on this host.
    #[error("a rewrite leads to a path, not to {0:?}: that would be a redirect, <<")]
    NotLocal(String),
    /// Parts of a request may not choose the host.
    #[error("{{{0}}} stands in the host's name, which a request may not choose")]
    InHost(String),
    /// A brace without its other one.
    #[error("a brace in {0:?} has no other one; for a brace itself write %7B or %7D")]
    Brace(String),
    /// Not what the route's path has.
    #[error("the route's path has no {{{0}}}")]
    UnknownCapture(String),
    /// The host is missing or malformed.
    #[error("{0:?} is not a URL")]
    NotAUrl(String),
}

/// All that stands for itself in any part of a URL.
const UNRESERVED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

/// What is encoded in a path (RFC 3986 section 3.3).
const PATH: &AsciiSet = &UNRESERVED
    .remove(b'/')
    .remove(b'!')
    .remove(b'$')
    .remove(b'&')
    .remove(b'\'')
    .remove(b'(')
    .remove(b')')
    .remove(b'*')
    .remove(b'+')
    .remove(b',')
    .remove(b';')
    .remove(b'=')
    .remove(b':')
    .remove(b'@');

/// What is encoded in what is encoded already: nothing but what no URL may have.
const ENCODED: &AsciiSet = &PATH.remove(b'%').remove(b'?');

/// The same in the configuration's text.
const WRITTEN: &AsciiSet = &ENCODED.remove(b'#').remove(b'[').remove(b']');

impl Target {
    /// Reads a target.
    pub(super) fn parse(text: &str) -> Result<Self, InvalidTarget> {
        let is_local = text.starts_with('/');
        let path = path_of(text)?;
        let mut parts = Vec::new();
        let mut left = text;
        while let Some(open) = left.find(['{', '}']) {
            let before = &left[..open];
            let inside = left[open..].strip_prefix('{').and_then(|rest| rest.split_once('}'));
            let Some((name, rest)) = inside.filter(|(name, _)| !name.contains('{')) else {
                return Err(InvalidTarget::Brace(text.to_owned()));
            };
            let place = text.len() - left.len() + open;
            if place < path {
                return Err(InvalidTarget::InHost(name.to_owned()));
            }
            push_text(&mut parts, before);
            let in_query = text[path..place].contains(['?', '#']);
            parts.push(match name {
                "query" => Part::Query,
                name => Part::Capture(name.trim_start_matches('*').to_owned(), in_query),
            });
            left = rest;
        }
        push_text(&mut parts, left);
        let is_plain = !parts.iter().any(|part| !matches!(part, Part::Text(_)));
        let has_query = text[path..].contains(['?', '#']);
        Ok(Self {
            parts,
            is_local,
            appends_rest: is_plain && !has_query && (text.ends_with('/') || path == text.len()),
            appends_query: is_plain && !has_query,
        })
    }

    /// The captures in it.
    pub(super) fn captures(&self) -> impl Iterator<Item = &str> {
        self.parts.iter().filter_map(|part| match part {
            Part::Capture(name, _) => Some(name.as_str()),
            _ => None,
        })
    }

    /// An error unless a route's path has all the captures.
    pub(super) fn check(&self, pattern: &str) -> Result<(), InvalidTarget> {
        let has = |name: &str| {
            let names = pattern.split('{').skip(1).filter_map(|rest| rest.split_once('}'));
            let mut names = names.map(|(name, _)| name.trim_start_matches('*'));
            names.any(|known| known == name)
        };
        match self.captures().find(|name| !has(name)) {
            Some(name) => Err(InvalidTarget::UnknownCapture(name.to_owned())),
            None => Ok(()),
        }
    }

    /// The target of a request.
    pub(super) fn fill(&self, uri: &Uri, visit: &Visit) -> String {
        let query = uri.query().unwrap_or_default();
        let mut target = String::new();
        for part in &self.parts {
            match part {
                Part::Text(text) => target.push_str(text),
                Part::Query => target.extend(utf8_percent_encode(query, ENCODED)),
                Part::Capture(name, in_query) => {
                    let set = if *in_query { UNRESERVED } else { PATH };
                    target.extend(utf8_percent_encode(visit.capture(name), set));
                }
            }
        }
        if self.appends_rest {
            if !target.ends_with('/') {
                target.push('/');
            }
            target.push_str(&rest(uri.path(), &visit.route.mount));
        }
        if self.appends_query && !query.is_empty() {
            target.push('?');
            target.extend(utf8_percent_encode(query, ENCODED));
        }
        // `/new?{query}` for a request without a query.
        let end = target.trim_end_matches('?').len();
        target.truncate(end);
        if self.is_local {
            let slashes = target.len() - target.trim_start_matches('/').len();
            target.replace_range(..slashes, "/");
        }
        target
    }
}

/// Where the path begins: behind the host.
fn path_of(text: &str) -> Result<usize, InvalidTarget> {
    if text.starts_with("//") {
        return Err(InvalidTarget::WithoutScheme(text.to_owned()));
    }
    if text.starts_with('/') {
        return Ok(0);
    }
    let scheme = ["http://", "https://"].into_iter().find(|scheme| text.starts_with(scheme));
    let scheme = scheme.ok_or_else(|| InvalidTarget::Begin(text.to_owned()))?;
    let host = &text[scheme.len()..];
    let host = &host[..host.find(['/', '?', '#']).unwrap_or(host.len())];
    if let Some(inside) = host.split_once('{') {
        let name = inside.1.split('}').next().unwrap_or_default();
        return Err(InvalidTarget::InHost(name.to_owned()));
    }
    match host.parse::<http::uri::Authority>() {
        Ok(authority) if !authority.host().is_empty() && !host.contains('@') => {
            Ok(scheme.len() + host.len())
        }
        _ => Err(InvalidTarget::NotAUrl(text.to_owned())),
    }
}

fn push_text(parts: &mut Vec<Part>, text: &str) {
    if !text.is_empty() {
        parts.push(Part::Text(utf8_percent_encode(text, WRITTEN).to_string()));
    }
}

/// What follows the mount, percent-encoded and without a slash at its beginning.
fn rest(path: &str, mount: &str) -> String {
    let rest: String = match path.strip_prefix(mount) {
        Some(rest) => utf8_percent_encode(rest, ENCODED).to_string().replace('?', "%3F"),
        // The client has encoded some of the mount.
        None => match percent_decode_str(path).decode_utf8_lossy().strip_prefix(mount) {
            Some(rest) => Cow::from(utf8_percent_encode(rest, PATH)).into_owned(),
            None => String::new(),
        },
    };
    rest.trim_start_matches('/').to_owned()
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use proptest::prelude::*;

    use super::*;
    use crate::site::Route;

    fn visit(mount: &str, captures: &[(&str, &str)]) -> Visit {
        let captures = captures.iter();
        Visit {
            captures: captures.map(|&(name, value)| (name.into(), value.to_owned())).collect(),
            ..Visit::new(Arc::new(Route {
                mount: mount.to_owned(),
                ..Route::default()
            }))
        }
    }

    fn fill(target: &str, uri: &str, mount: &str, captures: &[(&str, &str)]) -> String {
        let target = Target::parse(target).unwrap();
        target.fill(&uri.parse().unwrap(), &visit(mount, captures))
    }

    #[test]
    fn what_follows_is_appended() {
        let fill = |target, uri| fill(target, uri, "/old/", &[]);
        assert_eq!(fill("https://example.com/new/", "/old/"), "https://example.com/new/");
        assert_eq!(fill("https://example.com/new/", "/old/a/b?c=d"), "https://example.com/new/a/b?c=d");
        assert_eq!(fill("https://example.com", "/old/a%20b"), "https://example.com/a%20b");
        assert_eq!(fill("/new/", "/%6fld/a%20b"), "/new/a%20b");
        // One page for all.
        assert_eq!(fill("/gone.html", "/old/a?b"), "/gone.html?b");
        assert_eq!(fill("/gone.html?why=old", "/old/a?b"), "/gone.html?why=old");
        assert_eq!(fill("/über uns/", "/old/"), "/%C3%BCber%20uns/");
    }

    #[test]
    fn captures_and_the_query() {
        let fill = |target, captures| fill(target, "/x?q=1&r", "/", captures);
        assert_eq!(fill("/user/{id}", &[("id", "7")]), "/user/7");
        assert_eq!(fill("/find?id={id}&{query}", &[("id", "a&b/c")]), "/find?id=a%26b%2Fc&q=1&r");
        assert_eq!(fill("https://x.example/{a}?{query}#{a}", &[("a", "1 2?#")]), 
            "https://x.example/1%202%3F%23?q=1&r#1%202%3F%23");
        let plain = Target::parse("/a?{query}").unwrap();
        assert_eq!(plain.fill(&"/x".parse().unwrap(), &visit("/", &[])), "/a");
    }

    #[test]
    fn nobody_is_led_elsewhere() {
        let evil = &[("rest", "/evil.example/")];
        assert_eq!(fill("/{*rest}", "/x", "/", evil), "/evil.example/");
        assert_eq!(fill("/", "/old//evil.example", "/old/", &[]), "/evil.example");
        assert_eq!(fill("/{rest}", "/x", "/", &[("rest", "\\evil.example")]), "/%5Cevil.example");
        assert_eq!(fill("https://a.example", "/.evil.example", "/", &[]), "https://a.example/.evil.example");
        assert_eq!(fill("https://a.example", "/@evil.example", "/", &[]), "https://a.example/@evil.example");
    }

    #[test]
    fn mistakes() {
        let error = |text: &str| Target::parse(text).unwrap_err();
        assert!(matches!(error("new/"), InvalidTarget::Begin(_)));
        assert!(matches!(error("javascript:alert(1)"), InvalidTarget::Begin(_)));
        assert!(matches!(error("//example.com/"), InvalidTarget::WithoutScheme(_)));
        assert_eq!(error("https://{a}.example.com/"), InvalidTarget::InHost("a".into()));
        assert_eq!(error("https://example.com{a}"), InvalidTarget::InHost("a".into()));
        assert!(matches!(error("/{a"), InvalidTarget::Brace(_)));
        assert!(matches!(error("/a}"), InvalidTarget::Brace(_)));
        assert!(matches!(error("https:///a"), InvalidTarget::NotAUrl(_)));
        assert!(matches!(error("https://me@example.com/"), InvalidTarget::NotAUrl(_)));
        let target = Target::parse("/{a}/{b}").unwrap();
        assert_eq!(target.check("/{a}/{*b}"), Ok(()));
        assert_eq!(target.check("/{a}/"), Err(InvalidTarget::UnknownCapture("b".into())));
    }

    proptest! {
        /// Whatever is asked for and captured: the host stays, and the result can be sent.
        #[test]
        fn targets_stay(path in "/[!-~]{0,20}", value in "[/\\\\.]{0,3}\\PC{0,10}", query in "[!-~]{0,9}") {
            let text = format!("{path}?{query}").replace('#', "");
            let uri = text.parse::<Uri>();
            prop_assume!(uri.is_ok());
            let uri = uri.unwrap();
            let visit = visit("/", &[("a", &value)]);
            for target in ["/", "/{a}", "/x/{a}?b={a}", "/{a}{a}?{query}"] {
                let filled = Target::parse(target).unwrap().fill(&uri, &visit);
                prop_assert!(filled.starts_with('/') && !filled.starts_with("//"), "{}", filled);
                prop_assert!(filled.bytes().all(|byte| byte.is_ascii_graphic() && byte != b'\\'));
            }
            for target in ["https://a.example", "https://a.example/{a}", "https://a.example?{query}"] {
                let filled = Target::parse(target).unwrap().fill(&uri, &visit);
                let end = filled["https://".len()..].find(['/', '?']).map(|end| end + 8);
                prop_assert_eq!(&filled[..end.unwrap_or(filled.len())], "https://a.example");
            }
        }
    }
}
