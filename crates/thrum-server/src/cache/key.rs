//! What a kept response is found by.

use http::{HeaderMap, HeaderName, Request};
use sha2::{Digest, Sha256};

/// A name that is the same for the same resource, or the same variant of one; different for others. A digest, so that it is
/// short whatever a client asks for, and a file name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct Key([u8; 32]);

impl Key {
    /// The resource that a request names: scheme, host, path and query.
    pub(super) fn of<T>(request: &Request<T>, secure: bool, host: &str) -> Self {
        let uri = request.uri();
        let target = uri.path_and_query().map_or("/", |target| target.as_str());
        let scheme = if secure { "https" } else { "http" };
        digest([scheme, &host.to_ascii_lowercase(), target].map(str::as_bytes))
    }

    /// The variant for what a request says in the fields that the resource varies by.
    pub(super) fn variant(&self, by: &[HeaderName], request: &HeaderMap) -> Self {
        let mut parts: Vec<&[u8]> = vec![&self.0];
        for name in by {
            parts.push(name.as_str().as_bytes());
            parts.extend(request.get_all(name).iter().map(|value| value.as_bytes()));
        }
        digest(parts)
    }

    /// As a file's name.
    pub(super) fn hex(&self) -> String {
        self.0.iter().map(|byte| format!("{byte:02x}")).collect()
    }
}

/// Each part with its length, so that no two lists run together to the same.
fn digest<'a>(parts: impl IntoIterator<Item = &'a [u8]>) -> Key {
    let mut hash = Sha256::new();
    for part in parts {
        hash.update((part.len() as u64).to_le_bytes());
        hash.update(part);
    }
    Key(hash.finalize().into())
}

#[cfg(test)]
mod tests {
    use http::header::ACCEPT_LANGUAGE;

    use super::*;

    fn key(uri: &str, secure: bool, host: &str) -> Key {
        let request = Request::builder().uri(uri).body(()).unwrap();
        Key::of(&request, secure, host)
    }

    #[test]
    fn one_for_each_resource() {
        let one = key("/a?b", false, "example.com");
        assert_eq!(one, key("http://example.com/a?b", false, "EXAMPLE.com"));
        assert_ne!(one, key("/a?c", false, "example.com"));
        assert_ne!(one, key("/a?b", true, "example.com"));
        assert_ne!(one, key("/a?b", false, "example.org"));
        assert_ne!(key("/b", false, "a"), key("/", false, "a/b"));
        assert_eq!(one.hex().len(), 64);
    }

    #[test]
    fn one_for_each_variant() {
        let one = key("/", false, "a");
        let with = |language: &str| {
            let headers = HeaderMap::from_iter([(ACCEPT_LANGUAGE, language.parse().unwrap())]);
            one.variant(&[ACCEPT_LANGUAGE], &headers)
        };
        assert_eq!(with("de"), with("de"));
        assert_ne!(with("de"), with("fr"));
        assert_ne!(
            with("de"),
            one.variant(&[ACCEPT_LANGUAGE], &HeaderMap::new())
        );
    }
}
