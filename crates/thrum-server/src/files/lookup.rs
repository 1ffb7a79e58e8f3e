//! From a path to what it names: the file system is asked, and what it says is kept.

use std::fs::File;
use std::sync::Arc;

use http::StatusCode;
use http::header::{ACCEPT_ENCODING, HeaderMap};

use super::Files;
use super::entry::Entry;
use super::negotiation;
use super::node::{Node, Opened, status};
use super::path::{PathError, RequestPath};
use super::representation::Identity;

/// What a path names.
pub(super) enum Found {
    File(Arc<Entry>),
    /// The fallback for a path that might be a file's, because the client asks for a page.
    Page(Arc<Entry>),
    /// A directory, asked for without its slash.
    Moved(RequestPath),
    /// A directory that is to be listed.
    Listing(File, RequestPath),
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
        if let (Err(StatusCode::SERVICE_UNAVAILABLE), Some(known)) = (&found, asked.known) {
            // There is no descriptor or no memory to look with: what is known is better than nothing.
            return Ok(Found::File(known));
        }
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
                Node::File(files) => self.keep(asked, only, files).map(Found::File),
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
            (Err(StatusCode::NOT_FOUND), Some(fallback)) => {
                self.state.files.remove(asked.key);
                if !has_extension(&request_path) {
                    self.fall_back(fallback, asked).map(Found::File)
                } else if negotiation::asks_for_page(asked.headers) {
                    self.fall_back(fallback, asked).map(Found::Page)
                } else {
                    found
                }
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
            Node::File(files) if !path.is_directory() => {
                self.keep(asked, path.relative(), files).map(Found::File)
            }
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
                Ok(Node::File(files)) => {
                    return self.keep(asked, &relative, files).map(Found::File);
                }
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
    fn fall_back(&self, fallback: &str, asked: &Asked<'_>) -> Result<Arc<Entry>, StatusCode> {
        let known = match self.known(FALLBACK, asked.headers) {
            Ok(known) => return Ok(known),
            Err(known) => known,
        };
        let asked = Asked::new(FALLBACK, asked.headers, known);
        match self.node(fallback, asked.siblings)? {
            Node::File(files) => self.keep(&asked, fallback, files),
            Node::Directory(_) => Err(StatusCode::NOT_FOUND),
        }
    }

    /// Keeps what is known if the files are still the same, else reads them.
    fn keep(
        &self,
        asked: &Asked<'_>,
        relative: &str,
        files: Vec<Opened>,
    ) -> Result<Arc<Entry>, StatusCode> {
        let knows_siblings = asked.siblings || !self.has_siblings(relative);
        if let Some(known) = &asked.known {
            let identities = files.iter().map(|file| Identity::of(&file.metadata));
            if known.knows_siblings == knows_siblings && known.identities().eq(identities) {
                return Ok(known.clone());
            }
        }
        let mut variants = self.load(relative, files).map_err(|error| status(&error))?;
        if variants.is_empty() {
            return Err(StatusCode::NOT_FOUND);
        }
        let first = variants.remove(0);
        let entry = Arc::new(Entry::new(first, variants, knows_siblings));
        self.state.files.insert(asked.key.into(), entry.clone());
        Ok(entry)
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

/// Whether a path looks like an image, a style or a script: in the place of one that is missing a page would be of no use.
fn has_extension(path: &RequestPath) -> bool {
    let name = path.relative().rsplit('/').next();
    name.is_some_and(|name| name.contains('.'))
}
