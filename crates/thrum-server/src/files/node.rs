//! What is there under a name: a directory, or a file in all its languages and compressed forms.

use std::fs::{File, Metadata};
use std::io;
use std::sync::Arc;

use http::StatusCode;
use http::header::{CACHE_CONTROL, CONTENT_LANGUAGE, CONTENT_TYPE, HeaderMap, HeaderValue, VARY};
use thrum_http::is_compressible_type;

use super::Files;
use super::entry::Variant;
use super::freshness;
use super::negotiation::Coding;
use super::representation::Representation;

/// What is there under a name.
pub(super) enum Node {
    File(Vec<Opened>),
    Directory(File),
}

/// A file that was opened: in which language, and how it is compressed.
pub(super) struct Opened {
    file: File,
    pub(super) metadata: Metadata,
    language: Option<String>,
    coding: Option<Coding>,
}

impl Files {
    /// Opens what is there, in all languages, with its compressed forms if those are asked for.
    pub(super) fn node(&self, relative: &str, siblings: bool) -> Result<Node, StatusCode> {
        let mut files = Vec::new();
        let plain = match self.open(relative) {
            Ok((file, metadata)) if metadata.is_dir() => return Ok(Node::Directory(file)),
            Ok((file, metadata)) if metadata.is_file() => Ok((file, metadata)),
            Ok(_) => Err(StatusCode::NOT_FOUND),
            Err(error) => Err(status(&error)),
        };
        let languages: &[String] = if is_localized(relative) {
            &self.options.languages
        } else {
            &[]
        };
        for language in languages {
            let name = format!("{relative}.{language}");
            if let Some((file, metadata)) = self.open_file(&name) {
                self.push(
                    &mut files,
                    &name,
                    (file, metadata),
                    Some(language),
                    siblings,
                );
            }
        }
        match plain {
            Ok(plain) => {
                // It is in the default language unless that has a file of its own.
                let is_taken = |default: &String| {
                    files
                        .iter()
                        .any(|file| file.language.as_ref() == Some(default))
                };
                let default = languages.first().filter(|default| !is_taken(default));
                let language = default.filter(|_| !files.is_empty());
                let mut all = Vec::new();
                self.push(&mut all, relative, plain, language, siblings);
                all.append(&mut files);
                Ok(Node::File(all))
            }
            Err(StatusCode::NOT_FOUND) if !files.is_empty() => Ok(Node::File(files)),
            Err(status) => Err(status),
        }
    }

    /// Adds a file, and those beside it that are it compressed.
    fn push(
        &self,
        files: &mut Vec<Opened>,
        name: &str,
        (file, metadata): (File, Metadata),
        language: Option<&String>,
        siblings: bool,
    ) {
        let modified = metadata.modified().ok();
        files.push(Opened {
            file,
            metadata,
            language: language.cloned(),
            coding: None,
        });
        if !siblings || !self.has_siblings(name) {
            return;
        }
        for &coding in &self.options.precompressed {
            // One that is older was made of something else.
            if let Some((file, metadata)) = self.open_file(&format!("{name}{}", coding.extension()))
                && metadata.modified().ok() >= modified
            {
                files.push(Opened {
                    file,
                    metadata,
                    language: language.cloned(),
                    coding: Some(coding),
                });
            }
        }
    }

    /// Whether compressed forms of such a file are looked for.
    pub(super) fn has_siblings(&self, name: &str) -> bool {
        !self.options.precompressed.is_empty() && is_compressible(&self.content_type(name))
    }

    /// The type of a file; what its name has behind it for its language does not count.
    fn content_type(&self, name: &str) -> HeaderValue {
        let languages = self.options.languages.iter();
        let base = languages
            .filter_map(|language| name.strip_suffix(language.as_str())?.strip_suffix('.'))
            .find(|base| is_localized(base));
        self.options.types.of(base.unwrap_or(name))
    }

    fn open(&self, relative: &str) -> io::Result<(File, Metadata)> {
        let recheck = self.options.limits.recheck_ms();
        let file = self.root.open_beneath(relative, recheck)?;
        let metadata = file.metadata()?;
        Ok((file, metadata))
    }

    pub(super) fn open_file(&self, relative: &str) -> Option<(File, Metadata)> {
        self.open(relative)
            .ok()
            .filter(|(_, metadata)| metadata.is_file())
    }

    /// Reads what was opened.
    pub(super) fn load(&self, relative: &str, files: Vec<Opened>) -> io::Result<Vec<Variant>> {
        let small = self.options.limits.small_file;
        let common = self.common_headers(relative, &files);
        let is_compressible = is_compressible(&self.content_type(relative));
        let compression = self
            .options
            .compression
            .as_ref()
            .filter(|_| is_compressible);
        let mut variants: Vec<Variant> = Vec::new();
        for opened in files {
            let mut headers = common.clone();
            if let Some(language) = &opened.language
                && let Ok(language) = HeaderValue::try_from(language)
            {
                headers.insert(CONTENT_LANGUAGE, language);
            }
            let file =
                Representation::load(opened.file, &opened.metadata, headers, opened.coding, small)?;
            match (opened.coding, variants.last_mut()) {
                (Some(coding), Some(variant)) => variant.siblings.push((coding, file)),
                _ => variants.push(Variant {
                    language: opened.language,
                    compressible: compression
                        .map(|compression| compression.codings_for(file.size))
                        .unwrap_or_default(),
                    plain: Arc::new(file),
                    siblings: Vec::new(),
                }),
            }
        }
        Ok(variants)
    }

    /// The fields that are the same for all forms of a file.
    fn common_headers(&self, relative: &str, files: &[Opened]) -> HeaderMap {
        let content_type = self.content_type(relative);
        let by_coding = is_compressible(&content_type)
            && (self.options.compression.is_some() || !self.options.precompressed.is_empty());
        let by_language = files.iter().any(|file| file.language != files[0].language);
        let vary = match (by_coding, by_language) {
            (false, false) => None,
            (true, false) => Some("accept-encoding"),
            (false, true) => Some("accept-language"),
            (true, true) => Some("accept-encoding, accept-language"),
        };
        let mut headers = HeaderMap::with_capacity(6);
        headers.insert(CONTENT_TYPE, content_type);
        if let Some(vary) = vary {
            headers.insert(VARY, HeaderValue::from_static(vary));
        }
        if let Some(field) = freshness::field(&self.options.cache_rules, relative) {
            headers.insert(CACHE_CONTROL, field);
        }
        headers
    }
}

/// Whether there may be a file in several languages: pages, as in Mighttpd.
fn is_localized(name: &str) -> bool {
    [".html", ".htm", ".xhtml"]
        .iter()
        .any(|extension| name.ends_with(extension))
}

fn is_compressible(content_type: &HeaderValue) -> bool {
    content_type.to_str().is_ok_and(is_compressible_type)
}

pub(crate) fn status(error: &io::Error) -> StatusCode {
    use rustix::io::Errno;
    match Errno::from_io_error(error) {
        Some(Errno::ACCESS | Errno::PERM) => StatusCode::FORBIDDEN,
        // EXDEV: a link leads out. Whether there is something is nobody's business.
        Some(
            Errno::NOENT
            | Errno::NOTDIR
            | Errno::XDEV
            | Errno::LOOP
            | Errno::NAMETOOLONG
            | Errno::NXIO,
        ) => StatusCode::NOT_FOUND,
        Some(Errno::MFILE | Errno::NFILE | Errno::NOMEM) => StatusCode::SERVICE_UNAVAILABLE,
        _ => {
            tracing::warn!(%error, "a file cannot be opened");
            StatusCode::INTERNAL_SERVER_ERROR
        }
    }
}
