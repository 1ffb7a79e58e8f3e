//! Paths and references (RFC 3986, 5 and 6.2.2).

use std::borrow::Cow;

use super::encoding::is_unreserved;
use super::{UriError, UriReference, decode};

impl UriReference<'_> {
    /// What this reference means in a document or response at `base`, by RFC 3986, 5.2.2: where a redirect leads to. A
    /// reference that has a scheme stands for itself.
    ///
    /// ```
    /// use thrum_parse::uri::{parse_reference, parse_uri};
    ///
    /// let base = parse_uri("http://example.com/a/b?c").unwrap();
    /// let location = parse_reference("../d#e").unwrap();
    /// assert_eq!(location.resolve(&base), "http://example.com/d#e");
    /// ```
    pub fn resolve(&self, base: &UriReference<'_>) -> String {
        let merged;
        let mut target = *self;
        if self.scheme.is_none() {
            target.scheme = base.scheme;
            if self.authority.is_none() {
                target.authority = base.authority;
                if self.path.is_empty() {
                    target.query = self.query.or(base.query);
                }
                merged = merge(self.path, base);
                target.path = &merged;
            }
        }
        // An empty reference takes the base's path as it is (5.2.2); all others lose their dots.
        let keeps_base = target.scheme == base.scheme
            && self.scheme.is_none()
            && self.authority.is_none()
            && self.path.is_empty();
        let path = if keeps_base {
            Cow::Borrowed(base.path)
        } else {
            remove_dot_segments(target.path)
        };
        target.path = &path;
        target.to_string()
    }
}

/// RFC 3986, 5.2.3; a path that starts with a slash is not merged.
fn merge(path: &str, base: &UriReference<'_>) -> String {
    if path.starts_with('/') {
        return path.to_owned();
    }
    if base.authority.is_some() && base.path.is_empty() {
        return format!("/{path}");
    }
    let directory = base
        .path
        .rfind('/')
        .map_or("", |slash| &base.path[..=slash]);
    format!("{directory}{path}")
}

/// Takes the segments `.` and `..` out of a path, the latter together with the one before it (RFC 3986, 5.2.4). Nothing
/// leads above the root: `/../a` is `/a`. Dots that are percent-encoded are not seen: see [`normalize_path`].
///
/// ```
/// use thrum_parse::uri::remove_dot_segments;
///
/// assert_eq!(remove_dot_segments("/a/b/c/./../../g"), "/a/g");
/// ```
pub fn remove_dot_segments(path: &str) -> Cow<'_, str> {
    let is_dots = |segment: &str| segment == "." || segment == "..";
    if !path.split('/').any(is_dots) {
        return Cow::Borrowed(path);
    }
    let mut out = String::with_capacity(path.len());
    let mut rest = path;
    // Dots before the first slash are dropped, with that slash.
    while let Some(behind) = rest.strip_prefix("../").or(rest.strip_prefix("./")) {
        rest = behind;
    }
    if is_dots(rest) {
        return Cow::Borrowed("");
    }
    while !rest.is_empty() {
        let slash = usize::from(rest.starts_with('/'));
        let end = rest[slash..]
            .find('/')
            .map_or(rest.len(), |end| slash + end);
        let (segment, behind) = rest.split_at(end);
        match segment {
            "/." | "/.." => {
                if segment == "/.." {
                    out.truncate(out.rfind('/').unwrap_or(0));
                }
                if behind.is_empty() {
                    out.push('/');
                }
            }
            _ => out.push_str(segment),
        }
        rest = behind;
    }
    Cow::Owned(out)
}

/// The one way to write a path of those that mean the same (RFC 3986, 6.2.2): what need not be percent-encoded is not,
/// what must be is in capitals, and there are no [dot segments](remove_dot_segments), encoded ones included.
///
/// ```
/// use thrum_parse::uri::normalize_path;
///
/// assert_eq!(normalize_path("/%7euser/%2e%2E/a%2fb").unwrap(), "/a%2Fb");
/// ```
///
/// # Errors
/// [`UriError::BadEscape`]
pub fn normalize_path(path: &str) -> Result<Cow<'_, str>, UriError> {
    let mut out = String::new();
    let mut rest = path;
    while let Some(at) = rest.find('%') {
        let escape = rest.get(at..at + 3).ok_or(UriError::BadEscape)?;
        out.push_str(&rest[..at]);
        match decode(escape.as_bytes())?[..] {
            [byte] if is_unreserved(byte) => out.push(byte.into()),
            _ => out.push_str(&escape.to_ascii_uppercase()),
        }
        rest = &rest[at + 3..];
    }
    if rest.len() == path.len() {
        return Ok(remove_dot_segments(path));
    }
    out.push_str(rest);
    Ok(Cow::Owned(remove_dot_segments(&out).into_owned()))
}
