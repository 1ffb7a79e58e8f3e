//! Keys: a namespace and a name.

use std::fmt;

use super::StoreError;

/// The longest name of a key, in bytes.
pub const MAX_KEY: usize = 512;

const MAX_NAMESPACE: usize = 64;

/// A namespace and a name in it, both checked. As a prefix of a listing, the name may be empty.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Key {
    /// `namespace:name`, which is unambiguous: a namespace has no colon.
    text: String,
    /// Where the name begins.
    name: usize,
}

impl Key {
    /// A key.
    ///
    /// # Errors
    /// [`StoreError::BadKey`].
    pub fn new(namespace: &str, name: &str) -> Result<Self, StoreError> {
        let fits = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_');
        if namespace.is_empty() || namespace.len() > MAX_NAMESPACE || !namespace.chars().all(fits) {
            return Err(StoreError::BadKey(
                "a namespace has 1 to 64 letters, digits, '.', '-', '_'",
            ));
        }
        if name.len() > MAX_KEY {
            return Err(StoreError::BadKey("a name has at most 512 bytes"));
        }
        if name.contains(char::is_control) {
            return Err(StoreError::BadKey("a name has no control characters"));
        }
        Ok(Self {
            text: format!("{namespace}:{name}"),
            name: namespace.len() + 1,
        })
    }

    /// Its namespace.
    pub fn namespace(&self) -> &str {
        &self.text[..self.name - 1]
    }

    /// Its name.
    pub fn name(&self) -> &str {
        &self.text[self.name..]
    }

    /// `namespace:name`.
    pub(super) fn text(&self) -> &str {
        &self.text
    }

    /// The name in a text of this key's namespace.
    pub(super) fn name_in<'a>(&self, text: &'a str) -> Option<&'a str> {
        text.strip_prefix(&self.text[..self.name])
    }
}

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.text, f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_a_key() {
        let key = Key::new("kv.site", "a:b/c d\u{e9}").unwrap();
        assert_eq!((key.namespace(), key.name()), ("kv.site", "a:b/c d\u{e9}"));
        assert!(Key::new("a", "").is_ok());
        assert!(Key::new("a", &"x".repeat(MAX_KEY)).is_ok());
        assert!(Key::new("a", &"x".repeat(MAX_KEY + 1)).is_err());
        assert!(Key::new("a", "new\nline").is_err());
        for namespace in ["", "a:b", "a b", "\u{e9}", &"x".repeat(65)] {
            assert!(Key::new(namespace, "x").is_err(), "{namespace}");
        }
    }
}
