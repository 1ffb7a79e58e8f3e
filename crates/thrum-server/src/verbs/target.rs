//! Where a redirect or a rewrite leads: text with places for parts of the request.
//!
//! Nothing of a request can change the host that a target names. Placeholders stand in paths and queries only, what is put in
//! is percent-encoded, and a target on this host begins with exactly one slash: `//evil.example` would be another host.

use http::Uri;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
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
    has_query: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Part {
    Text(String),
    Capture(String, Place),
    Query,
}

/// Where a capture stands, which says what is encoded in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    /// A segment of the path: a slash in it is none.
    Segment,
    /// The rest of the path: `{*rest}`.
    Rest,
    /// The query, or the fragment.
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
const UNRESERVED: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'-')
    .remove(b'.')
    .remove(b'_')
    .remove(b'~');

/// What is encoded in a segment of a path (RFC 3986 section 3.3).
const SEGMENT: &AsciiSet = &UNRESERVED
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

/// What is encoded in a path.
const PATH: &AsciiSet = &SEGMENT.remove(b'/');

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
            let inside = left[open..]
                .strip_prefix('{')
                .and_then(|rest| rest.split_once('}'));
            let Some((name, rest)) = inside.filter(|(name, _)| !name.contains('{')) else {
                return Err(InvalidTarget::Brace(text.to_owned()));
            };
            let place = text.len() - left.len() + open;
            if place < path {
                return Err(InvalidTarget::InHost(name.to_owned()));
            }
            push_text(&mut parts, before);
            parts.push(match (name, name.strip_prefix('*')) {
                ("query", _) => Part::Query,
                (name, rest) if text[path..place].contains(['?', '#']) => {
                    Part::Capture(rest.unwrap_or(name).to_owned(), Place::Query)
                }
                (_, Some(name)) => Part::Capture(name.to_owned(), Place::Rest),
                (name, None) => Part::Capture(name.to_owned(), Place::Segment),
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
            has_query,
        })
    }

    /// Whether the request's query is still that of the target: it says nothing of one.
    pub(super) fn keeps_query(&self) -> bool {
        !self.has_query && !self.appends_query
    }

    /// An error unless a route's path has all the captures. What it calls `{*rest}` may be called `{rest}` here.
    pub(super) fn check(&mut self, pattern: &str) -> Result<(), InvalidTarget> {
        for part in &mut self.parts {
            if let Part::Capture(name, place) = part {
                let is_rest = pattern.ends_with(&format!("{{*{name}}}"));
                if !is_rest && !pattern.contains(&format!("{{{name}}}")) {
                    return Err(InvalidTarget::UnknownCapture(name.clone()));
                }
                if is_rest && *place == Place::Segment {
                    *place = Place::Rest;
                }
            }
        }
        Ok(())
    }

    /// The target of a request. `None` if a `..` in what is put in would lead out of the target's folder.
    pub(super) fn fill(&self, uri: &Uri, visit: &Visit) -> Option<String> {
        let query = uri.query().unwrap_or_default();
        let mut target = String::new();
        for part in &self.parts {
            match part {
                Part::Text(text) => target.push_str(text),
                Part::Query => target.extend(utf8_percent_encode(query, ENCODED)),
                Part::Capture(name, place) => {
                    let value = visit.capture(name);
                    // The request's path has none, so these were written as a%2F..%2Fb.
                    if *place != Place::Query && value.split('/').any(|part| part == "..") {
                        return None;
                    }
                    let set = match place {
                        Place::Segment => SEGMENT,
                        Place::Rest => PATH,
                        Place::Query => UNRESERVED,
                    };
                    target.extend(utf8_percent_encode(value, set));
                }
            }
        }
        if self.appends_rest {
            if !target.ends_with('/') {
                target.push('/');
            }
            let rest = uri
                .path()
                .strip_prefix(&*visit.route.mount)
                .unwrap_or_default();
            target.extend(utf8_percent_encode(rest.trim_start_matches('/'), ENCODED));
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
        Some(target)
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
    let scheme = ["http://", "https://"]
        .into_iter()
        .find(|scheme| text.starts_with(scheme));
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

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use proptest::prelude::*;

    use super::*;

    fn visit(mount: &str, captures: &[(&str, &str)]) -> Visit {
        let mut visit = Visit::new(None, false);
        Arc::make_mut(&mut visit.route).mount = mount.to_owned();
        let captures = captures.iter();
        visit.captures = captures
            .map(|&(name, value)| (name.into(), value.to_owned()))
            .collect();
        visit
    }

    fn fill(target: &str, uri: &str, mount: &str, captures: &[(&str, &str)]) -> String {
        let target = Target::parse(target).unwrap();
        target
            .fill(&uri.parse().unwrap(), &visit(mount, captures))
            .unwrap()
    }

    #[test]
    fn what_follows_is_appended() {
        let fill = |target, uri| fill(target, uri, "/old/", &[]);
        assert_eq!(
            fill("https://example.com/new/", "/old/"),
            "https://example.com/new/"
        );
        assert_eq!(
            fill("https://example.com/new/", "/old/a/b?c=d"),
            "https://example.com/new/a/b?c=d"
        );
        assert_eq!(
            fill("https://example.com", "/old/a%20b"),
            "https://example.com/a%20b"
        );
        assert_eq!(fill("/new/", "/old/a%20b"), "/new/a%20b");
        // One page for all.
        assert_eq!(fill("/gone.html", "/old/a?b"), "/gone.html?b");
        assert_eq!(fill("/gone.html?why=old", "/old/a?b"), "/gone.html?why=old");
        assert_eq!(fill("/über uns/", "/old/"), "/%C3%BCber%20uns/");
    }

    #[test]
    fn captures_and_the_query() {
        let fill = |target, captures| fill(target, "/x?q=1&r", "/", captures);
        assert_eq!(fill("/user/{id}", &[("id", "7")]), "/user/7");
        assert_eq!(
            fill("/find?id={id}&{query}", &[("id", "a&b/c")]),
            "/find?id=a%26b%2Fc&q=1&r"
        );
        assert_eq!(
            fill("https://x.example/{a}?{query}#{a}", &[("a", "1 2?#")]),
            "https://x.example/1%202%3F%23?q=1&r#1%202%3F%23"
        );
        let plain = Target::parse("/a?{query}").unwrap();
        assert_eq!(
            plain
                .fill(&"/x".parse().unwrap(), &visit("/", &[]))
                .unwrap(),
            "/a"
        );
        let mut target = Target::parse("/b/{id}/{rest}").unwrap();
        target.check("/a/{id}/{*rest}").unwrap();
        let captured = visit("/", &[("id", "x/y"), ("rest", "p/q%")]);
        assert_eq!(
            target.fill(&Uri::default(), &captured).unwrap(),
            "/b/x%2Fy/p/q%25"
        );
    }

    #[test]
    fn nobody_is_led_elsewhere() {
        let target = Target::parse("/public/{*rest}").unwrap();
        assert_eq!(
            target.fill(&Uri::default(), &visit("/", &[("rest", "a/../../secret")])),
            None
        );
        let evil = &[("rest", "/evil.example/")];
        assert_eq!(fill("/{*rest}", "/x", "/", evil), "/evil.example/");
        assert_eq!(
            fill("/", "/old//evil.example", "/old/", &[]),
            "/evil.example"
        );
        assert_eq!(
            fill("/{rest}", "/x", "/", &[("rest", "\\evil.example")]),
            "/%5Cevil.example"
        );
        assert_eq!(
            fill("https://a.example", "/.evil.example", "/", &[]),
            "https://a.example/.evil.example"
        );
        assert_eq!(
            fill("https://a.example", "/@evil.example", "/", &[]),
            "https://a.example/@evil.example"
        );
    }

    #[test]
    fn mistakes() {
        let error = |text: &str| Target::parse(text).unwrap_err();
        assert!(matches!(error("new/"), InvalidTarget::Begin(_)));
        assert!(matches!(
            error("javascript:alert(1)"),
            InvalidTarget::Begin(_)
        ));
        assert!(matches!(
            error("//example.com/"),
            InvalidTarget::WithoutScheme(_)
        ));
        assert_eq!(
            error("https://{a}.example.com/"),
            InvalidTarget::InHost("a".into())
        );
        assert_eq!(
            error("https://example.com{a}"),
            InvalidTarget::InHost("a".into())
        );
        assert!(matches!(error("/{a"), InvalidTarget::Brace(_)));
        assert!(matches!(error("/a}"), InvalidTarget::Brace(_)));
        assert!(matches!(error("https:///a"), InvalidTarget::NotAUrl(_)));
        assert!(matches!(
            error("https://me@example.com/"),
            InvalidTarget::NotAUrl(_)
        ));
        let mut target = Target::parse("/{a}/{b}").unwrap();
        assert_eq!(target.check("/{a}/{*b}"), Ok(()));
        assert_eq!(
            target.check("/{a}/"),
            Err(InvalidTarget::UnknownCapture("b".into()))
        );
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
                let Some(filled) = filled else { continue };
                prop_assert!(filled.starts_with('/') && !filled.starts_with("//"), "{}", filled);
                prop_assert!(filled.bytes().all(|byte| byte.is_ascii_graphic() && byte != b'\\'));
            }
            for target in ["https://a.example", "https://a.example/{a}", "https://a.example?{query}"] {
                let filled = Target::parse(target).unwrap().fill(&uri, &visit);
                let Some(filled) = filled else { continue };
                let end = filled["https://".len()..].find(['/', '?']).map(|end| end + 8);
                prop_assert_eq!(&filled[..end.unwrap_or(filled.len())], "https://a.example");
            }
        }
    }
}
