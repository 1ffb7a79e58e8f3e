//! Files: GET and HEAD for what is beneath a folder.
//!
//! A request's path is checked and decoded once (`path`), opened beneath the root by the kernel (`root`), and what was
//! found out about the file is kept for a second (`cache`, `entry`). Then the conditions (`conditional`) and ranges
//! (`range`, `multipart`) of the request decide how much of it is sent. A directory is its index file, or a page of its
//! names (`listing`).

mod cache;
pub(crate) mod conditional;
mod entry;
mod listing;
mod multipart;
mod path;
pub(crate) mod range;
mod root;

use std::convert::Infallible;
use std::fs::{File, Metadata};
use std::future::{Ready, ready};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::task::{Context, Poll};

use http::header::{
    ALLOW, CACHE_CONTROL, CONTENT_RANGE, CONTENT_SECURITY_POLICY, CONTENT_TYPE, HeaderMap,
    HeaderName, HeaderValue, IF_MATCH, IF_MODIFIED_SINCE, IF_NONE_MATCH, IF_RANGE,
    IF_UNMODIFIED_SINCE, LOCATION, RANGE, X_CONTENT_TYPE_OPTIONS,
};
use http::{Method, Request, Response, StatusCode};
use thiserror::Error;
use thrum_http::Body;
use tower_service::Service;

use self::cache::{Cache, Cached};
use self::conditional::{Outcome, judge};
use self::entry::{Entry, Identity};
use self::path::{PathError, RequestPath};
use self::range::{Selection, select};
use self::root::Root;

/// Serves the files of a folder. Cheap to clone; clones share their cache.
///
/// * GET and HEAD; conditional requests; single and multiple ranges.
/// * A directory answers with its index file (default `index.html`), else, if so [set](Self::listing), with a page that lists
///   it, else with 404.
/// * Names that begin with a dot are hidden, except `/.well-known/`.
/// * Nothing outside the folder can be reached. Symbolic links are followed as long as they stay inside.
/// * A changed file is seen within a second, and so is the folder itself being swapped by a symbolic link.
///
/// ```no_run
/// use thrum_server::files::Files;
///
/// let files = Files::new("./public")?.listing(true);
/// # Ok::<(), thrum_server::files::FilesError>(())
/// ```
#[derive(Clone)]
pub struct Files {
    root: Arc<Root>,
    cache: Arc<Cache>,
    index: Arc<[String]>,
    listing: bool,
}

/// Why a folder cannot be served.
#[derive(Debug, Error)]
pub enum FilesError {
    /// It does not exist, is no folder, or may not be read.
    #[error("cannot serve {}: {source}", path.display())]
    Root {
        /// The folder.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
}

impl Files {
    /// Serves a folder.
    ///
    /// # Errors
    /// When it does not exist, is no folder, or may not be read.
    pub fn new(root: impl AsRef<Path>) -> Result<Self, FilesError> {
        Ok(Self {
            root: Arc::new(Root::open(root.as_ref())?),
            cache: Arc::default(),
            index: ["index.html".to_owned()].into(),
            listing: false,
        })
    }

    /// Sets the names of index files, the first one that exists is taken. Default: `index.html`.
    pub fn index<N: Into<String>>(mut self, names: impl IntoIterator<Item = N>) -> Self {
        self.index = names.into_iter().map(Into::into).collect();
        self
    }

    /// Sets whether a directory without an index file is listed. Default: no.
    pub fn listing(mut self, listing: bool) -> Self {
        self.listing = listing;
        self
    }

    /// The folder, as it was given.
    pub fn root(&self) -> &Path {
        self.root.path()
    }

    /// Answers a request. It does not wait for anything but the disk.
    pub fn respond<T>(&self, request: &Request<T>) -> Response<Body> {
        if request.method() != Method::GET && request.method() != Method::HEAD {
            let mut response = message(StatusCode::METHOD_NOT_ALLOWED);
            response
                .headers_mut()
                .insert(ALLOW, HeaderValue::from_static("GET, HEAD"));
            return response;
        }
        match self.find(request.uri().path()) {
            Ok(Found::File(cached)) => answer(request.headers(), &cached.entry),
            Ok(Found::Moved(path)) => moved(&path, request.uri().query()),
            Ok(Found::Listing(page)) => listed(page),
            Err(status) => message(status),
        }
    }

    fn find(&self, path: &str) -> Result<Found, StatusCode> {
        let known = self.cache.get(path);
        if let Some(known) = &known
            && known.is_fresh()
        {
            return Ok(Found::File(known.clone()));
        }
        let found = self.look_up(path, known);
        if !matches!(found, Ok(Found::File(_))) {
            self.cache.remove(path);
        }
        found
    }

    /// Looks at the file system. `known` is what was there before.
    fn look_up(&self, path: &str, known: Option<Arc<Cached>>) -> Result<Found, StatusCode> {
        let request_path = RequestPath::parse(path).map_err(|error| match error {
            PathError::Malformed => StatusCode::BAD_REQUEST,
            PathError::Hidden => StatusCode::NOT_FOUND,
        })?;
        let (file, metadata) = self
            .open(request_path.relative())
            .map_err(|error| status(&error))?;
        if metadata.is_file() && !request_path.is_directory() {
            return self.keep(path, request_path.relative(), file, &metadata, known);
        }
        if !metadata.is_dir() {
            return Err(StatusCode::NOT_FOUND);
        }
        if !request_path.is_directory() {
            return Ok(Found::Moved(request_path.directory_uri()));
        }
        for index in self.index.iter() {
            let relative = request_path.join(index);
            match self.open(&relative) {
                Ok((file, metadata)) if metadata.is_file() => {
                    return self.keep(path, &relative, file, &metadata, known);
                }
                Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
                    return Err(StatusCode::FORBIDDEN);
                }
                _ => {}
            }
        }
        if !self.listing {
            return Err(StatusCode::NOT_FOUND);
        }
        listing::page(&file, &request_path)
            .map(Found::Listing)
            .map_err(|error| status(&error))
    }

    fn open(&self, relative: &str) -> io::Result<(File, Metadata)> {
        let file = self.root.open_beneath(relative)?;
        let metadata = file.metadata()?;
        Ok((file, metadata))
    }

    /// Keeps what is known if the file is still the same, else reads it.
    fn keep(
        &self,
        path: &str,
        relative: &str,
        file: File,
        metadata: &Metadata,
        known: Option<Arc<Cached>>,
    ) -> Result<Found, StatusCode> {
        if let Some(known) = known
            && known.entry.identity() == Identity::of(metadata)
        {
            return Ok(Found::File(known));
        }
        let entry = Entry::load(file, metadata, relative).map_err(|error| status(&error))?;
        Ok(Found::File(self.cache.insert(path, entry)))
    }
}

/// What a path names.
enum Found {
    File(Arc<Cached>),
    /// A directory, asked for without its slash: the path to go to.
    Moved(String),
    /// A directory's page.
    Listing(String),
}

/// A file, or as much of it as the request wants.
fn answer(request: &HeaderMap, entry: &Entry) -> Response<Body> {
    let outcome = if is_plain(request) {
        Outcome::ProceedWhole
    } else {
        judge(request, entry.validators())
    };
    let selection = match (outcome, request.get(RANGE)) {
        (Outcome::NotModified, _) => return bare(StatusCode::NOT_MODIFIED, entry),
        (Outcome::Failed, _) => return message(StatusCode::PRECONDITION_FAILED),
        (Outcome::Proceed, Some(range)) => select(range.as_bytes(), entry.size),
        _ => Selection::Whole,
    };
    match selection {
        Selection::Whole => with_headers(StatusCode::OK, entry, entry.body(entry.whole())),
        Selection::Parts(parts) => match parts[..] {
            [part] => {
                let mut response =
                    with_headers(StatusCode::PARTIAL_CONTENT, entry, entry.body(part));
                let range = format!("bytes {}-{}/{}", part.start, part.end - 1, entry.size);
                insert(&mut response, CONTENT_RANGE, range);
                response
            }
            _ => {
                let (content_type, body) = multipart::multipart(entry, &parts);
                let mut response = with_headers(StatusCode::PARTIAL_CONTENT, entry, body);
                response.headers_mut().insert(CONTENT_TYPE, content_type);
                response
            }
        },
        Selection::Unsatisfiable => {
            let mut response = message(StatusCode::RANGE_NOT_SATISFIABLE);
            insert(
                &mut response,
                CONTENT_RANGE,
                format!("bytes */{}", entry.size),
            );
            response
        }
    }
}

/// Whether a request has no condition and no range, as nearly all.
fn is_plain(request: &HeaderMap) -> bool {
    const SPECIAL: [HeaderName; 6] = [
        RANGE,
        IF_NONE_MATCH,
        IF_MODIFIED_SINCE,
        IF_MATCH,
        IF_UNMODIFIED_SINCE,
        IF_RANGE,
    ];
    !request.keys().any(|name| SPECIAL.contains(name))
}

fn with_headers(status: StatusCode, entry: &Entry, body: Body) -> Response<Body> {
    let mut response = Response::new(body);
    *response.status_mut() = status;
    *response.headers_mut() = entry.headers.clone();
    response
}

/// A response without a body: the validators go along, the type does not (RFC 9110 section 15.4.5).
fn bare(status: StatusCode, entry: &Entry) -> Response<Body> {
    let mut response = with_headers(status, entry, Body::empty());
    response.headers_mut().remove(CONTENT_TYPE);
    response
}

fn moved(path: &str, query: Option<&str>) -> Response<Body> {
    let mut response = message(StatusCode::MOVED_PERMANENTLY);
    let location = match query {
        Some(query) => format!("{path}?{query}"),
        None => path.to_owned(),
    };
    insert(&mut response, LOCATION, location);
    response
}

fn listed(page: String) -> Response<Body> {
    let mut response = Response::new(page.into());
    let fields = [
        (CONTENT_TYPE, "text/html; charset=utf-8"),
        (CACHE_CONTROL, "no-cache"),
        (CONTENT_SECURITY_POLICY, listing::CONTENT_SECURITY_POLICY),
        (X_CONTENT_TYPE_OPTIONS, "nosniff"),
    ];
    for (name, value) in fields {
        response
            .headers_mut()
            .insert(name, HeaderValue::from_static(value));
    }
    response
}

/// A short text that says what is the matter.
fn message(status: StatusCode) -> Response<Body> {
    let mut response = Response::new(format!("{status}\n").into());
    *response.status_mut() = status;
    response.headers_mut().insert(
        CONTENT_TYPE,
        HeaderValue::from_static("text/plain; charset=utf-8"),
    );
    response
}

fn insert(response: &mut Response<Body>, name: HeaderName, value: String) {
    // What is put in here is made of visible ASCII.
    if let Ok(value) = HeaderValue::try_from(value) {
        response.headers_mut().insert(name, value);
    }
}

fn status(error: &io::Error) -> StatusCode {
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

impl<T> Service<Request<T>> for Files {
    type Response = Response<Body>;
    type Error = Infallible;
    type Future = Ready<Result<Response<Body>, Infallible>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<T>) -> Self::Future {
        ready(Ok(self.respond(&request)))
    }
}

impl std::fmt::Debug for Files {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Files")
            .field("root", &self.root())
            .finish_non_exhaustive()
    }
}
