//! From a path to what it names: the file system is asked, and what it says is kept.

use std::fs::{File, Metadata};
use std::io;
use std::sync::Arc;

use http::StatusCode;
use http::header::{
    ACCEPT_ENCODING, CACHE_CONTROL, CONTENT_LANGUAGE, CONTENT_TYPE, HeaderMap, HeaderValue, VARY,
};
use thrum_http::is_compressible_type;

use super::Files;
use super::entry::{Entry, Variant};
use super::freshness;
use super::negotiation::{self, Coding};
use super::path::{PathError, RequestPath};
use super::representation::{Identity, Representation};

/// What a path names.
pub(super) enum Found {
    File(Arc<Entry>),
    /// A directory, asked for without its slash.
    Moved(RequestPath),
    /// A directory that is to be listed.
    Listing(File, RequestPath),
}

/// What is there under a name.
enum Node {
    File(Vec<Opened>),
    Directory(File),
}

/// A file that was opened: in which language, and how it is compressed.
struct Opened {
    file: File,
    metadata: Metadata,
    language: Option<String>,
    coding: Option<Coding>,
}

/// The key of the one file of a [`Files`] that has only one.
const ONLY: &str = "/";

/// The key of the fallback. No request's path is like it.
const FALLBACK: &str = "fallback";

impl Files {
    /// Finds what a path beneath the mount names.
    pub(super) fn find(&self, path: &str, headers: &HeaderMap) -> Result<Found, StatusCode> {
        let path = if self.only.is_some() { ONLY } else { path };
        let known = self.known(path, headers);
        if let Ok(known) = known {
            return Ok(Found::File(known));
        }
        let asked = Asked::new(path, headers, known.err().flatten());
        let found = self.look_up(path, &asked);
        if !matches!(found, Ok(Found::File(_))) {
            self.state.files.remove(path);
        }
        found
    }

    /// What is known and need not be looked at again; else what was known.
    fn known(&self, key: &str, headers: &HeaderMap) -> Result<Arc<Entry>, Option<Arc<Entry>>> {
        let Some(known) = self.state.files.get(key) else {
            return Err(None);
        };
        let knows_enough = known.knows_siblings || !headers.contains_key(ACCEPT_ENCODING);
        if knows_enough && known.is_fresh(self.options.limits.recheck_ms()) {
            Ok(known)
        } else {
            Err(Some(known))
        }
    }

    fn look_up(&self, path: &str, asked: &Asked<'_>) -> Result<Found, StatusCode> {
        if let Some(only) = &self.only {
            return match self.node(only, asked.siblings)? {
                Node::File(files) => self.keep(asked, only, files),
                Node::Directory(_) => Err(StatusCode::NOT_FOUND),
            };
        }
        let request_path =
            RequestPath::parse(path, self.options.serves_hidden).map_err(|error| match error {
                PathError::Malformed => StatusCode::BAD_REQUEST,
                PathError::Hidden => StatusCode::NOT_FOUND,
            })?;
        let found = if self.options.tries.is_empty() {
            self.named(&request_path, asked)
        } else {
            self.tried(&request_path, asked)
        };
        match (&found, &self.options.fallback) {
            (Err(StatusCode::NOT_FOUND), Some(fallback))
                if is_page(&request_path, asked.headers) =>
            {
                self.state.files.remove(asked.key);
                self.fall_back(fallback, asked)
            }
            _ => found,
        }
    }

    /// The first that there is of what is to be tried: files, and directories where a slash ends what is tried.
    fn tried(&self, path: &RequestPath, asked: &Asked<'_>) -> Result<Found, StatusCode> {
        for template in &self.options.tries {
            let Some(candidate) = path.expanded(template, self.options.serves_hidden) else {
                continue;
            };
            let found = match self.node(candidate.relative(), asked.siblings) {
                Ok(Node::Directory(_)) if !candidate.is_directory() => continue,
                Ok(Node::Directory(_)) if !path.is_directory() => Ok(Found::Moved(path.clone())),
                Ok(node) => self.named_by(node, &candidate, asked),
                Err(status) => Err(status),
            };
            if !matches!(found, Err(StatusCode::NOT_FOUND)) {
                return found;
            }
        }
        Err(StatusCode::NOT_FOUND)
    }

    /// What has this very name.
    fn named(&self, path: &RequestPath, asked: &Asked<'_>) -> Result<Found, StatusCode> {
        match self.node(path.relative(), asked.siblings)? {
            Node::Directory(_) if !path.is_directory() => Ok(Found::Moved(path.clone())),
            node => self.named_by(node, path, asked),
        }
    }

    fn named_by(
        &self,
        node: Node,
        path: &RequestPath,
        asked: &Asked<'_>,
    ) -> Result<Found, StatusCode> {
        match node {
            Node::File(files) if !path.is_directory() => self.keep(asked, path.relative(), files),
            Node::File(_) => Err(StatusCode::NOT_FOUND),
            Node::Directory(directory) => self.directory(directory, path, asked),
        }
    }

    fn directory(
        &self,
        directory: File,
        path: &RequestPath,
        asked: &Asked<'_>,
    ) -> Result<Found, StatusCode> {
        for index in &self.options.index {
            let relative = path.join(index);
            match self.node(&relative, asked.siblings) {
                Ok(Node::File(files)) => return self.keep(asked, &relative, files),
                Ok(Node::Directory(_)) | Err(StatusCode::NOT_FOUND) => {}
                Err(status) => return Err(status),
            }
        }
        match self.options.listing {
            Some(_) => Ok(Found::Listing(directory, path.clone())),
            None => Err(StatusCode::NOT_FOUND),
        }
    }

    /// The index file of a directory.
    pub(super) fn find_index(&self, path: &str) -> Option<String> {
        let path = RequestPath::parse(path, self.options.serves_hidden).ok()?;
        let names = self.options.index.iter().filter(|_| path.is_directory());
        names
            .map(|name| path.join(name))
            .find(|relative| self.open_file(relative).is_some())
    }

    /// The fallback is kept once, however many paths lead to it.
    fn fall_back(&self, fallback: &str, asked: &Asked<'_>) -> Result<Found, StatusCode> {
        let known = match self.known(FALLBACK, asked.headers) {
            Ok(known) => return Ok(Found::File(known)),
            Err(known) => known,
        };
        let asked = Asked::new(FALLBACK, asked.headers, known);
        match self.node(fallback, asked.siblings)? {
            Node::File(files) => self.keep(&asked, fallback, files),
            Node::Directory(_) => Err(StatusCode::NOT_FOUND),
        }
    }

    /// Opens what is there, in all languages, with its compressed forms if those are asked for.
    fn node(&self, relative: &str, siblings: bool) -> Result<Node, StatusCode> {
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
    fn has_siblings(&self, name: &str) -> bool {
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

    fn open_file(&self, relative: &str) -> Option<(File, Metadata)> {
        self.open(relative)
            .ok()
            .filter(|(_, metadata)| metadata.is_file())
    }

    /// Keeps what is known if the files are still the same, else reads them.
    fn keep(
        &self,
        asked: &Asked<'_>,
        relative: &str,
        files: Vec<Opened>,
    ) -> Result<Found, StatusCode> {
        let knows_siblings = asked.siblings || !self.has_siblings(relative);
        if let Some(known) = &asked.known {
            let identities = files.iter().map(|file| Identity::of(&file.metadata));
            if known.knows_siblings == knows_siblings && known.identities().eq(identities) {
                return Ok(Found::File(known.clone()));
            }
        }
        let mut variants = self.load(relative, files).map_err(|error| status(&error))?;
        if variants.is_empty() {
            return Err(StatusCode::NOT_FOUND);
        }
        let first = variants.remove(0);
        let entry = Arc::new(Entry::new(first, variants, knows_siblings));
        self.state.files.insert(asked.key.into(), entry.clone());
        Ok(Found::File(entry))
    }

    fn load(&self, relative: &str, files: Vec<Opened>) -> io::Result<Vec<Variant>> {
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

/// What is asked for.
struct Asked<'a> {
    /// Under which it is kept.
    key: &'a str,
    headers: &'a HeaderMap,
    /// Whether compressed files are of interest.
    siblings: bool,
    /// What was there before.
    known: Option<Arc<Entry>>,
}

impl<'a> Asked<'a> {
    fn new(key: &'a str, headers: &'a HeaderMap, known: Option<Arc<Entry>>) -> Self {
        // What somebody asked for once is kept up.
        let knew = known.as_ref().is_some_and(|known| known.knows_siblings);
        Self {
            key,
            headers,
            siblings: knew || headers.contains_key(ACCEPT_ENCODING),
            known,
        }
    }
}

/// Whether the fallback may answer: not in the place of an image, a style or a script that is missing. Those have a file's
/// name, and are not asked for as a page.
fn is_page(path: &RequestPath, headers: &HeaderMap) -> bool {
    let name = path.relative().rsplit('/').next().unwrap_or("");
    !name.contains('.') || negotiation::asks_for_page(headers)
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
