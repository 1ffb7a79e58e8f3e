//! The media type of a file, by its name.

use std::path::Path;

use http::HeaderValue;

/// What is said of a file's type besides what is generally known.
#[derive(Clone, Debug)]
pub(super) struct Types {
    /// Endings of names, with their dots, and what they stand for. The longest that fits counts.
    overrides: Vec<(String, HeaderValue)>,
    charset: Option<String>,
}

impl Default for Types {
    fn default() -> Self {
        Self {
            overrides: Vec::new(),
            charset: Some("utf-8".to_owned()),
        }
    }
}

impl Types {
    pub(super) fn set(&mut self, ending: String, media_type: HeaderValue) {
        self.overrides.retain(|(other, _)| *other != ending);
        self.overrides.push((ending, media_type));
        self.overrides
            .sort_by_key(|(ending, _)| std::cmp::Reverse(ending.len()));
    }

    pub(super) fn set_charset(&mut self, charset: Option<String>) {
        self.charset = charset;
    }

    /// The type of a path, with the charset of text.
    pub(super) fn of(&self, path: &str) -> HeaderValue {
        let name = path.rsplit('/').next().unwrap_or(path);
        let said = self.overrides.iter().find(|(ending, _)| {
            name.len() > ending.len()
                && name.is_char_boundary(name.len() - ending.len())
                && name[name.len() - ending.len()..].eq_ignore_ascii_case(ending)
        });
        if let Some((_, media_type)) = said {
            let text = media_type.to_str().unwrap_or("");
            if text.contains(';') {
                return media_type.clone();
            }
            return self.with_charset(text).unwrap_or(media_type.clone());
        }
        let Some(media_type) = mime_guess::from_path(Path::new(name)).first_raw() else {
            return HeaderValue::from_static("application/octet-stream");
        };
        self.with_charset(media_type)
            .unwrap_or(HeaderValue::from_static(media_type))
    }

    fn with_charset(&self, media_type: &str) -> Option<HeaderValue> {
        let charset = self.charset.as_ref().filter(|_| is_text(media_type))?;
        HeaderValue::try_from(format!("{media_type}; charset={charset}")).ok()
    }
}

fn is_text(media_type: &str) -> bool {
    media_type.starts_with("text/")
        || matches!(
            media_type,
            "application/javascript" | "application/json" | "application/xml" | "image/svg+xml"
        )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_by_extension() {
        let types = Types::default();
        for (path, expected) in [
            ("a/index.html", "text/html; charset=utf-8"),
            ("x.CSS", "text/css; charset=utf-8"),
            ("x.svg", "image/svg+xml; charset=utf-8"),
            ("x.json", "application/json; charset=utf-8"),
            ("x.png", "image/png"),
            ("x.wasm", "application/wasm"),
            ("README", "application/octet-stream"),
            ("x.unheard-of", "application/octet-stream"),
        ] {
            assert_eq!(types.of(path), expected, "{path}");
        }
    }

    #[test]
    fn what_was_said_goes_before() {
        let mut types = Types::default();
        let mut set = |ending: &str, media_type| {
            types.set(ending.to_owned(), HeaderValue::from_static(media_type))
        };
        set(".html", "application/xhtml+xml");
        set(".gz", "application/gzip");
        set(".tar.gz", "application/x-gtar");
        set(".note", "text/plain");
        set(".old", "text/plain; charset=shift_jis");
        set(".note", "text/x-note");
        types.set_charset(Some("iso-8859-1".to_owned()));
        for (path, expected) in [
            ("a.html/x.HTML", "application/xhtml+xml"),
            ("x.tar.gz", "application/x-gtar"),
            ("x.gz", "application/gzip"),
            ("x.note", "text/x-note; charset=iso-8859-1"),
            ("x.old", "text/plain; charset=shift_jis"),
            ("x.txt", "text/plain; charset=iso-8859-1"),
            ("あ.txt", "text/plain; charset=iso-8859-1"),
            (".html", "application/octet-stream"),
        ] {
            assert_eq!(types.of(path), expected, "{path}");
        }
        types.set_charset(None);
        assert_eq!(types.of("x.txt"), "text/plain");
    }
}
