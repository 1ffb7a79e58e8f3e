//! Files: GET and HEAD for what is beneath a folder.
//!
//! A request's path is checked and decoded once (`path`), opened beneath the root by the kernel (`root`), and what was
//! found out about the file (`lookup`) is kept for a second (`cache`, `entry`): its languages and compressed forms, of
//! which the client gets what it likes best (`negotiation`), and each of them with the fields of its response
//! (`representation`). Then the conditions (`conditional`) and ranges (`range`, `multipart`) of the request decide how much
//! of it is sent (`answer`). What is not there in a compressed form may be compressed (`compressed`). A directory is its
//! index file, or a page of its names (`listing`).

mod answer;
mod cache;
mod compressed;
pub(crate) mod conditional;
mod config;
mod entry;
mod freshness;
mod listing;
mod lookup;
mod multipart;
pub(crate) mod negotiation;
pub(crate) mod node;
mod options;
pub(crate) mod path;
pub(crate) mod range;
mod representation;
pub(crate) mod root;
mod service;
mod types;

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use bytes::Bytes;
use http::{HeaderMap, HeaderValue, Method, Request, Response};
use thiserror::Error;
use thrum_http::Body;

pub use self::config::{KIND, SETTINGS, VERB};
pub use self::freshness::Freshness;
pub use self::listing::{Order, SortBy};
pub use self::negotiation::Coding;
pub use self::options::{Compression, Limits};

use self::cache::Cache;
use self::compressed::{Compressed, Outcome, Progress};
use self::entry::{Choice, Entry};
use self::lookup::Found;
use self::options::{Options, Template};
use self::representation::Representation;
use self::root::Root;
use crate::site::{Answer, reply};

/// Serves the files of a folder. Cheap to clone; clones share their cache, until one of them is set up differently.
///
/// * GET and HEAD; conditional requests; single and multiple ranges.
/// * A directory answers with its index file (default `index.html`), else, if so [set](Self::listing), with a page that lists
///   it, else with 404.
/// * Names that begin with a dot are hidden, except `/.well-known/`, unless they are [not](Self::hidden).
/// * Nothing outside the folder can be reached. Symbolic links are followed as long as they stay inside.
/// * A changed file is seen within a second, and so is the folder itself being swapped by a symbolic link.
///
/// The rest is off unless it is set: compressed files beside the others, compression, languages, a fallback, other names to
/// try, how long clients may keep what.
///
/// ```no_run
/// use thrum_server::files::{Files, Freshness};
///
/// let files = Files::new("./public")?
///     .listing(true)
///     .fallback("index.html")
///     .cache(Freshness::Immutable, ["/assets/"]);
/// # Ok::<(), thrum_server::files::FilesError>(())
/// ```
#[derive(Clone)]
pub struct Files {
    root: Arc<Root>,
    /// The one file that is served, if it is not a folder.
    only: Option<Arc<str>>,
    options: Arc<Options>,
    state: Arc<State>,
}

/// What is kept.
struct State {
    files: Cache<Arc<str>, Entry>,
    compressed: Option<Compressed>,
}

impl State {
    fn new(options: &Options) -> Self {
        Self {
            files: Cache::new(options.limits.bounds()),
            compressed: options.compression.clone().map(Compressed::new),
        }
    }
}

/// What [`Files`] keeps, and what came of it so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FilesStats {
    /// Requests for what was kept; the file system may have been asked whether it still holds.
    pub hits: u64,
    /// Requests for what was not, missing files among them.
    pub misses: u64,
    /// Paths that made room for others.
    pub evictions: u64,
    /// Paths that are kept.
    pub entries: usize,
    /// Bytes of file contents that are kept.
    pub bytes: usize,
    /// Files that are kept open.
    pub open_files: usize,
    /// Requests for what had been compressed before.
    pub compressed_hits: u64,
    /// Requests for what had to be compressed, or was sent as it is because too much was being compressed.
    pub compressed_misses: u64,
    /// Bytes of compressed contents that are kept.
    pub compressed_bytes: usize,
}

/// Why a folder cannot be served.
#[derive(Debug, Error)]
pub enum FilesError {
    /// It does not exist, is neither folder nor file, or may not be read.
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
        let options = Options::default();
        Ok(Self {
            root: Arc::new(Root::open(root.as_ref())?),
            only: None,
            state: Arc::new(State::new(&options)),
            options: Arc::new(options),
        })
    }

    /// Serves one file, whatever the path of the request.
    ///
    /// # Errors
    /// When it does not exist or is no regular file, or its folder may not be read.
    pub fn file(path: impl AsRef<Path>) -> Result<Self, FilesError> {
        let path = path.as_ref();
        let fail = |source| FilesError::Root {
            path: path.to_owned(),
            source,
        };
        if !path.metadata().map_err(fail)?.is_file() {
            return Err(fail(io::Error::other("it is no regular file")));
        }
        let invalid = || fail(io::ErrorKind::InvalidFilename.into());
        let name = path.file_name().and_then(|name| name.to_str());
        let name = name.ok_or_else(invalid)?;
        let folder = path.parent().filter(|folder| *folder != Path::new(""));
        let mut files = Self::new(folder.unwrap_or(Path::new(".")))?;
        files.only = Some(name.into());
        Ok(files)
    }

    /// Sets the names of index files, the first one that exists is taken. Default: `index.html`.
    pub fn index<N: Into<String>>(self, names: impl IntoIterator<Item = N>) -> Self {
        self.set(|options| options.index = names.into_iter().map(Into::into).collect())
    }

    /// Sets whether a directory without an index file is listed, as a page or, for those who would rather have it, as JSON.
    /// Default: no.
    pub fn listing(self, listing: bool) -> Self {
        self.set(|options| options.listing = listing.then(Order::default))
    }

    /// Has directories listed, in an order that the reader can change.
    pub fn listing_by(self, order: Order) -> Self {
        self.set(|options| options.listing = Some(order))
    }

    /// Sets a file, named from the folder, that answers where nothing is found: for applications of a single page. It does
    /// so with the status 200, but not in the place of a missing image, style or script: not if the path's last part has a
    /// dot, unless the client asks for `text/html` by name. Default: none.
    pub fn fallback(self, path: impl Into<String>) -> Self {
        let path = path.into();
        self.set(|options| options.fallback = Some(path.trim_start_matches('/').to_owned()))
    }

    /// Sets what is tried, in order, before a request is answered with the fallback or 404. `{path}` stands for the path that
    /// is asked for; a slash before it makes no difference. What ends in a slash is a directory, what does not is a file.
    /// Default: `{path}`, `{path}/`.
    ///
    /// # Panics
    /// When there are braces other than `{path}`.
    pub fn try_paths<T: AsRef<str>>(self, templates: impl IntoIterator<Item = T>) -> Self {
        let parse = |template: T| {
            let template = template.as_ref();
            let parsed = Template::parse(template);
            parsed.unwrap_or_else(|| panic!("{template}: only {{path}} may stand in braces"))
        };
        let templates = templates.into_iter().map(parse).collect();
        self.set(|options| options.tries = templates)
    }

    /// Sets whether names that begin with a dot are served. Default: no, except `/.well-known/`.
    pub fn hidden(self, served: bool) -> Self {
        self.set(|options| options.serves_hidden = served)
    }

    /// Sets the languages in which there may be pages: `page.html.ja` beside `page.html`. The first is the default one, in
    /// which `page.html` is. Default: none; no such files are looked for.
    pub fn languages<N: Into<String>>(self, tags: impl IntoIterator<Item = N>) -> Self {
        self.set(|options| options.languages = tags.into_iter().map(Into::into).collect())
    }

    /// Sets which compressed files are looked for beside a file that may be compressed: `a.css.br` for `a.css`. Of those that
    /// a client likes the same the first one is sent. One that is older than its file is not used. Default: none.
    pub fn precompressed(self, codings: impl IntoIterator<Item = Coding>) -> Self {
        self.set(|options| options.precompressed = codings.into_iter().collect())
    }

    /// Sets how files are compressed when a client asks for it. Default: not at all.
    pub fn compression(self, compression: Compression) -> Self {
        self.set(|options| options.compression = Some(compression))
    }

    /// Sets the type of files whose names end in `ending`: `.md`, `.tar.gz`. The longest ending counts. A text's charset is
    /// added to a type without parameters.
    pub fn media_type(self, ending: impl Into<String>, media_type: HeaderValue) -> Self {
        self.set(|options| options.types.set(ending.into(), media_type))
    }

    /// Sets the charset that texts are said to have; `None`: nothing is said. Default: `utf-8`.
    ///
    /// # Panics
    /// When it is not made of letters, digits and `-_.:+`.
    pub fn charset(self, charset: Option<&str>) -> Self {
        assert!(
            charset.is_none_or(config::is_charset),
            "{charset:?} is no name of a charset"
        );
        self.set(|options| options.types.set_charset(charset.map(str::to_owned)))
    }

    /// Adds a rule for how long clients may keep files of these patterns; of all files if there are none. `*.css` is a name,
    /// `/assets/` a folder and what is in it, `/a/b*.js` a path; paths begin at the folder that is served. The first rule that
    /// fits counts. Without any that does, clients guess, and ask when they think it is time.
    pub fn cache<P: Into<String>>(
        self,
        freshness: Freshness,
        patterns: impl IntoIterator<Item = P>,
    ) -> Self {
        let patterns = patterns.into_iter().map(Into::into).collect();
        let rule = freshness::Rule::new(freshness, patterns);
        self.set(|options| options.cache_rules.push(rule))
    }

    /// Sets how much is kept, and for how long it is believed.
    pub fn limits(self, limits: Limits) -> Self {
        self.set(|options| options.limits = limits)
    }

    fn set(mut self, change: impl FnOnce(&mut Options)) -> Self {
        change(Arc::make_mut(&mut self.options));
        self.state = Arc::new(State::new(&self.options));
        self
    }

    /// The folder, as it was given; for a single file the one that it is in.
    pub fn root(&self) -> &Path {
        self.root.path()
    }

    /// Whether anything is compressed on the way.
    fn compresses(&self) -> bool {
        self.state.compressed.is_some()
    }

    /// What is kept, and how often that was of use.
    pub fn stats(&self) -> FilesStats {
        let files = self.state.files.counts();
        let compressed = self.state.compressed.as_ref();
        let compressed = compressed.map(Compressed::counts).unwrap_or_default();
        FilesStats {
            hits: files.hits,
            misses: files.misses,
            evictions: files.evictions,
            entries: files.entries,
            bytes: files.bytes,
            open_files: files.descriptors,
            compressed_hits: compressed.hits,
            compressed_misses: compressed.misses,
            compressed_bytes: compressed.bytes,
        }
    }

    /// Answers a request. It does not wait for anything but the disk, except where something is to be compressed.
    ///
    /// # Cancellation
    /// A file that is being compressed when the answer is dropped is compressed by another request that waits for it, or
    /// when it is next asked for.
    pub fn answer<T>(&self, request: &Request<T>) -> Answer {
        self.answer_beneath(request, "")
    }

    /// Answers a request whose path begins with `mount`, which stands for the folder: `/static/a.css` is `a.css` for the mount
    /// `/static/`. Else as [`answer`](Self::answer).
    pub fn answer_beneath<T>(&self, request: &Request<T>, mount: &str) -> Answer {
        if request.method() != Method::GET && request.method() != Method::HEAD {
            return answer::method_not_allowed().into();
        }
        let path = path::beneath(request.uri().path(), mount);
        let response = match self.find(path, request.headers()) {
            Ok(Found::File(entry)) => return self.send(request.headers(), &entry),
            Ok(Found::Page(entry)) => {
                let answer = self.send(request.headers(), &entry);
                return answer.map(answer::vary_by_accept);
            }
            Ok(Found::Moved(path)) => {
                answer::moved(&path.directory_uri(mount), request.uri().query())
            }
            Ok(Found::Listing(directory, path)) => {
                self.list(&directory, &path.directory_uri(mount), request)
            }
            Err(status) => reply::status(status),
        };
        response.into()
    }

    /// The index file of the directory that a request's path names: its path beneath the folder. For handlers that do
    /// something else with such a file than sending it. `None`: the path names no directory, or that has none.
    ///
    /// ```no_run
    /// use thrum_server::files::Files;
    ///
    /// let programs = Files::new("/srv/cgi")?.index(["index.cgi"]);
    /// assert_eq!(programs.index_of("/cgi-bin/tools/", "/cgi-bin/").as_deref(), Some("tools/index.cgi"));
    /// # Ok::<(), thrum_server::files::FilesError>(())
    /// ```
    pub fn index_of(&self, path: &str, mount: &str) -> Option<String> {
        self.find_index(path::beneath(path, mount))
    }

    fn send(&self, headers: &HeaderMap, entry: &Entry) -> Answer {
        match entry.choose(headers) {
            Choice::File(file) => answer::file(headers, file).into(),
            Choice::Compress(file, coding) => self.compress(headers, file, coding),
        }
    }

    fn compress(&self, headers: &HeaderMap, file: &Arc<Representation>, coding: Coding) -> Answer {
        let Some(compressed) = &self.state.compressed else {
            return answer::file(headers, file).into();
        };
        let job = match compressed.get(file, coding) {
            Progress::Done(outcome) => return send_outcome(headers, file, &outcome).into(),
            Progress::Busy => return answer::file(headers, file).into(),
            Progress::Pending(job) => job,
        };
        let promised = file.compressed(coding, Bytes::new());
        if answer::has_it_already(headers, &promised) {
            return answer::not_modified(&promised).into();
        }
        let (state, file, headers) = (self.state.clone(), file.clone(), headers.clone());
        Answer::later(async move {
            let Some(compressed) = &state.compressed else {
                return answer::file(&headers, &file);
            };
            let outcome = compressed.wait(job, &file).await;
            send_outcome(&headers, &file, &outcome)
        })
    }

    fn list<T>(
        &self,
        directory: &std::fs::File,
        uri: &str,
        request: &Request<T>,
    ) -> Response<Body> {
        let order = self.options.listing.unwrap_or_default();
        let asked = listing::Asked::new(request.uri().query(), request.headers(), order);
        listing::respond(directory, uri, &asked, self.options.serves_hidden)
            .unwrap_or_else(|error| reply::status(node::status(&error)))
    }
}

fn send_outcome(headers: &HeaderMap, file: &Representation, outcome: &Outcome) -> Response<Body> {
    match outcome {
        Outcome::Smaller(smaller) => answer::file(headers, smaller),
        Outcome::NotWorthIt => answer::file(headers, file),
    }
}

impl std::fmt::Debug for Files {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Files")
            .field("root", &self.root())
            .field("only", &self.only)
            .field("options", &self.options)
            .finish_non_exhaustive()
    }
}
