//! What is changed in a request's head on the way: fields set and removed, the host, the path.

use http::header::{HeaderMap, HeaderName, HeaderValue};
use http::uri::PathAndQuery;

/// What a field is set to: text in which `{client}`, `{host}`, `{scheme}`, `{user}` and the names of the route's captures
/// stand for what they are in the request.
///
/// ```
/// use thrum_server::proxy::Template;
///
/// let template: Template = "{client};{host}".parse()?;
/// assert!("{client".parse::<Template>().is_err());
/// # let _ = template;
/// # Ok::<(), thrum_server::proxy::BadTemplate>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Template(Vec<Part>);

#[derive(Clone, Debug, PartialEq, Eq)]
enum Part {
    Text(String),
    Client,
    Host,
    Scheme,
    User,
    Capture(String),
}

/// A brace that is not closed, or text that no field may have.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("it is no text with {{names}} that a header field may have")]
pub struct BadTemplate;

/// What the names in a template stand for.
pub(super) struct Facts<'a> {
    pub(super) client: Option<std::net::IpAddr>,
    pub(super) host: Option<HeaderValue>,
    pub(super) is_secure: bool,
    pub(super) visit: &'a crate::site::Visit,
}

impl std::str::FromStr for Template {
    type Err = BadTemplate;

    fn from_str(text: &str) -> Result<Self, BadTemplate> {
        HeaderValue::from_str(text).map_err(|_| BadTemplate)?;
        let mut parts = Vec::new();
        let mut rest = text;
        while let Some(open) = rest.find('{') {
            let close = rest[open..].find('}').ok_or(BadTemplate)? + open;
            if open > 0 {
                parts.push(Part::Text(rest[..open].to_owned()));
            }
            parts.push(match &rest[open + 1..close] {
                "" => return Err(BadTemplate),
                "client" => Part::Client,
                "host" => Part::Host,
                "scheme" => Part::Scheme,
                "user" => Part::User,
                name => Part::Capture(name.to_owned()),
            });
            rest = &rest[close + 1..];
        }
        if !rest.is_empty() || parts.is_empty() {
            parts.push(Part::Text(rest.to_owned()));
        }
        Ok(Self(parts))
    }
}

impl Template {
    /// The names of captures in it.
    pub(super) fn captures(&self) -> impl Iterator<Item = &str> {
        self.0.iter().filter_map(|part| match part {
            Part::Capture(name) => Some(name.as_str()),
            _ => None,
        })
    }

    /// The value. `None`: it would be one that no field may have, as a capture has control characters in it.
    fn value(&self, facts: &Facts<'_>) -> Option<HeaderValue> {
        let mut bytes = Vec::new();
        for part in &self.0 {
            match part {
                Part::Text(text) => bytes.extend_from_slice(text.as_bytes()),
                Part::Client => {
                    if let Some(client) = facts.client {
                        bytes.extend_from_slice(client.to_canonical().to_string().as_bytes());
                    }
                }
                Part::Host => {
                    let host = facts.host.as_ref().map(HeaderValue::as_bytes);
                    bytes.extend_from_slice(host.unwrap_or_default());
                }
                Part::Scheme => {
                    let scheme = if facts.is_secure { "https" } else { "http" };
                    bytes.extend_from_slice(scheme.as_bytes());
                }
                Part::User => {
                    let user = facts.visit.user.as_deref().unwrap_or_default();
                    bytes.extend_from_slice(user.as_bytes());
                }
                Part::Capture(name) => {
                    let mut captures = facts.visit.captures.iter();
                    let found = captures.find(|(known, _)| **known == **name);
                    let value = found.map_or("", |(_, value)| value.as_str());
                    bytes.extend_from_slice(value.as_bytes());
                }
            }
        }
        HeaderValue::from_maybe_shared(bytes::Bytes::from(bytes)).ok()
    }
}

/// A change of a request's fields.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Rule {
    Set(HeaderName, Template),
    Remove(HeaderName),
}

pub(super) fn apply(rules: &[Rule], headers: &mut HeaderMap, facts: &Facts<'_>) {
    for rule in rules {
        match rule {
            Rule::Remove(name) => drop(headers.remove(name)),
            Rule::Set(name, template) => match template.value(facts) {
                Some(value) => drop(headers.insert(name, value)),
                None => drop(headers.remove(name)), // the client's own must not stand for it
            },
        }
    }
}

/// Puts `base` in the place of the route's own path, `mount`. `None`: the path does not begin with it, or it climbs out of
/// `base` by dot segments.
pub(super) fn replace_path(
    asked: Option<&PathAndQuery>,
    mount: &str,
    base: &str,
) -> Option<PathAndQuery> {
    let asked = asked.map_or("/", PathAndQuery::as_str);
    let (path, query) = match asked.find('?') {
        Some(at) => asked.split_at(at),
        None => (asked, ""),
    };
    let rest = cut(path, mount)?;
    if rest.split('/').any(is_dots) {
        return None;
    }
    let between = match (base.ends_with('/'), rest.starts_with('/')) {
        (false, false) if !rest.is_empty() => "/",
        _ => "",
    };
    let rest = match base.ends_with('/') {
        true => rest.trim_start_matches('/'),
        false => rest,
    };
    PathAndQuery::try_from(format!("{base}{between}{rest}{query}")).ok()
}

/// What follows a prefix, which may be percent-encoded in the path.
fn cut<'a>(path: &'a str, prefix: &str) -> Option<&'a str> {
    // The mount's last slash may be what the request leaves out.
    if let Some(rest) = path.strip_prefix(prefix) {
        return Some(rest);
    }
    if prefix.strip_suffix('/') == Some(path) {
        return Some("");
    }
    let mut rest = path;
    for wanted in prefix.bytes() {
        let found;
        (found, rest) = next(rest)?;
        if found != wanted {
            return None;
        }
    }
    Some(rest)
}

/// The first byte of a path, decoded, and what follows it.
fn next(path: &str) -> Option<(u8, &str)> {
    let first = *path.as_bytes().first()?;
    if first != b'%' {
        return Some((first, path.get(1..)?));
    }
    let code = u8::from_str_radix(path.get(1..3)?, 16).ok()?;
    Some((code, path.get(3..)?))
}

/// `.` or `..`, also in disguise.
fn is_dots(segment: &str) -> bool {
    let (mut rest, mut dots) = (segment, 0);
    while let Some((b'.', behind)) = next(rest) {
        dots += 1;
        rest = behind;
    }
    (1..=2).contains(&dots) && rest.is_empty()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::site::Visit;

    #[test]
    fn paths_are_replaced() {
        let replaced = |asked: &str, mount, base| {
            let asked: PathAndQuery = asked.parse().unwrap();
            replace_path(Some(&asked), mount, base).map(|path| path.to_string())
        };
        for (asked, mount, base, expected) in [
            ("/api/x?q=/api/", "/api/", "/", Some("/x?q=/api/")),
            ("/api/", "/api/", "/v1/", Some("/v1/")),
            ("/api?x", "/api/", "/v1/", Some("/v1/?x")),
            ("/api/x", "/api/", "/v1", Some("/v1/x")),
            ("/%61pi/x%20y", "/api/", "/v1/", Some("/v1/x%20y")),
            ("/api//x", "/api/", "/v1/", Some("/v1/x")),
            ("/x", "/", "/v1/", Some("/v1/x")),
            ("/apx/", "/api/", "/v1/", None),
            ("/api/../x", "/api/", "/v1/", None),
            ("/api/a/%2e./x", "/api/", "/v1/", None),
            ("/api/...", "/api/", "/v1/", Some("/v1/...")),
        ] {
            assert_eq!(replaced(asked, mount, base).as_deref(), expected, "{asked}");
        }
    }

    #[test]
    fn fields_are_set_and_removed() {
        let mut visit = Visit::new(None, true);
        visit.captures = vec![
            ("id".into(), "7\r\nx: y".to_owned()),
            ("n".into(), "8".to_owned()),
        ];
        visit.user = Some("ann".into());
        let facts = Facts {
            client: Some("192.0.2.1".parse().unwrap()),
            host: Some(HeaderValue::from_static("a")),
            is_secure: true,
            visit: &visit,
        };
        let value = |text: &str| text.parse::<Template>().unwrap().value(&facts);
        assert_eq!(
            value("<{scheme}://{host}/{n} {user}@{client}{none}>").unwrap(),
            "<https://a/8 ann@192.0.2.1>"
        );
        assert_eq!(value("").unwrap(), "");
        assert_eq!(value("{id}"), None);
        assert!("a\n".parse::<Template>().is_err() && "{}".parse::<Template>().is_err());
        let rules = [
            Rule::Set(HeaderName::from_static("id"), "{id}".parse().unwrap()),
            Rule::Remove(HeaderName::from_static("b")),
        ];
        let mut headers = HeaderMap::new();
        for name in ["id", "b", "c"] {
            headers.insert(name, HeaderValue::from_static("spoofed"));
        }
        apply(&rules, &mut headers, &facts);
        assert_eq!(headers.keys().collect::<Vec<_>>(), ["c"]);
    }
}
