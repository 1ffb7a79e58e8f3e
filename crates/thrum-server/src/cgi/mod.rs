//! CGI (RFC 3875): a program is started for each request, and what it writes is the response.
//!
//! ```text
//! /cgi-bin/ => /srv/cgi { timeout 30s; env LANG C.UTF-8 }
//! /git/     => /usr/lib/git-core/git-http-backend { env GIT_PROJECT_ROOT /srv/git; env GIT_HTTP_EXPORT_ALL 1 }
//! ```
//!
//! The request's path is gone down to the first file (`script`), which is run in its own folder, in an environment with
//! nothing but what the request and the configuration say, as the leader of a process group (`process`). When the client
//! leaves, or a limit is reached, the whole group gets SIGTERM and three seconds later SIGKILL; nothing stays as a zombie.
//!
//! What is not done: query strings without a `=` do not become arguments (section 4.4): programs that do not expect that
//! have been taken over by it (CVE-2012-1823).

mod config;
mod process;
mod script;

use std::io;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::{Request, Response, StatusCode};
use thiserror::Error;
use thrum_http::{Body, ConnectionInfo};

pub use self::config::{KIND, VERB};
use self::process::Process;
use self::script::{Found, Target};
use crate::gateway::{Asked, Failure, Limits, collect, is_told, respond, settle, to_folder};
use crate::places::Places;
use crate::site::{Answer, Handler, Visit, reply};

/// Runs CGI programs: those of a folder, or one for all that is below a route's path.
///
/// ```no_run
/// use std::time::Duration;
///
/// use thrum_server::cgi::Cgi;
///
/// let programs = Cgi::new("/srv/cgi")?.timeout(Duration::from_secs(10)).env("LANG", "C.UTF-8");
/// # Ok::<(), thrum_server::cgi::CgiError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Cgi {
    shared: Arc<Shared>,
}

#[derive(Clone, Debug)]
struct Shared {
    target: Target,
    /// Names of the programs that answer for a folder.
    index: Vec<String>,
    /// Where paths begin, for PATH_TRANSLATED.
    root: PathBuf,
    environment: Vec<(String, String)>,
    limits: Limits,
    /// Bytes of a body of unknown length that are held until all of it is there.
    buffer: Option<u64>,
    places: Places,
}

/// Why programs cannot be run.
#[derive(Debug, Error)]
pub enum CgiError {
    /// There is neither a folder nor a file of that name.
    #[error("cannot run {}: {source}", path.display())]
    Target {
        /// The folder or file.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// It is a file, but not one that may be run.
    #[error("{} may not be run: it needs to be an executable file", .0.display())]
    NotExecutable(PathBuf),
}

impl Cgi {
    /// Runs the programs of a folder; or the one program, if it is a file: that then answers all requests.
    ///
    /// # Errors
    /// When it does not exist, or is a file that may not be run.
    pub fn new(target: impl AsRef<Path>) -> Result<Self, CgiError> {
        let target = Target::open(target.as_ref())?;
        Ok(Self {
            shared: Arc::new(Shared {
                root: target.folder().to_owned(),
                target,
                index: vec!["index.cgi".to_owned()],
                environment: vec![("PATH".to_owned(), path())],
                limits: Limits {
                    head: Duration::from_secs(30),
                    idle: Duration::from_secs(60),
                    total: None,
                    output: None,
                },
                buffer: Some(64 * 1024),
                places: Places::new(32, 256, Duration::from_secs(30)),
            }),
        })
    }

    /// Sets the names of programs that answer for a folder; the first one that exists is taken. Default: `index.cgi`.
    pub fn index<N: Into<String>>(self, names: impl IntoIterator<Item = N>) -> Self {
        self.with(|shared| shared.index = names.into_iter().map(Into::into).collect())
    }

    /// Sets a variable of the environment of all programs, whatever requests say about it. Default: `PATH`, as this process
    /// has it.
    pub fn env(self, name: impl Into<String>, value: impl Into<String>) -> Self {
        let (name, value) = (name.into(), value.into());
        self.with(|shared| {
            shared.environment.retain(|(known, _)| *known != name);
            shared.environment.push((name, value));
        })
    }

    /// Sets DOCUMENT_ROOT, where PATH_TRANSLATED begins. Default: the folder of the programs.
    pub fn root(self, root: impl Into<PathBuf>) -> Self {
        self.with(|shared| shared.root = root.into())
    }

    /// Sets how long a program may take until its head is there. It begins anew with each piece of the request's body that
    /// the program takes. Default: 30 seconds.
    pub fn timeout(self, limit: Duration) -> Self {
        self.with(|shared| shared.limits.head = limit)
    }

    /// Sets how long a program may write nothing in the middle of its document. Default: 60 seconds.
    pub fn idle_timeout(self, limit: Duration) -> Self {
        self.with(|shared| shared.limits.idle = limit)
    }

    /// Sets how long a program may take in all. Default: no limit, as long as it goes on.
    pub fn total_timeout(self, limit: Option<Duration>) -> Self {
        self.with(|shared| shared.limits.total = limit)
    }

    /// Sets how many bytes a document may have. Default: no limit, as it is passed on and not kept.
    pub fn output(self, limit: Option<u64>) -> Self {
        self.with(|shared| shared.limits.output = limit)
    }

    /// Sets how many bytes of a body without a length (chunked, or over HTTP/2) are held until all of it is there, so that the
    /// program can be told its CONTENT_LENGTH. A longer one is passed on as it comes, without. Default: 64 KiB.
    pub fn buffer(self, bytes: Option<u64>) -> Self {
        self.with(|shared| shared.buffer = bytes)
    }

    /// Sets how many programs run at the same time, how many requests wait for one of them to end, and for how long: what is
    /// beyond that gets a 503. Default: 32; 256; 30 seconds.
    pub fn processes(self, at_once: NonZeroUsize, queue: usize, patience: Duration) -> Self {
        self.with(|shared| shared.places = Places::new(at_once.get(), queue, patience))
    }

    fn with(mut self, change: impl FnOnce(&mut Shared)) -> Self {
        change(Arc::make_mut(&mut self.shared));
        self
    }
}

impl Handler for Cgi {
    fn handle(&self, request: Request<Body>, visit: Visit) -> Answer {
        let found =
            self.shared
                .target
                .find(request.uri().path(), &visit.route.mount, &self.shared.index);
        match found {
            Ok(Found::Script(script)) => {
                let connection = thrum_http::connection().unwrap_or_default();
                let shared = self.shared.clone();
                Answer::later(async move { shared.run(request, visit, &connection, &script).await })
            }
            Ok(Found::Folder) => to_folder(request.uri()).into(),
            Err(status) => reply::status(status).into(),
        }
    }
}

impl Shared {
    async fn run(
        &self,
        request: Request<Body>,
        visit: Visit,
        connection: &ConnectionInfo,
        script: &script::Program,
    ) -> Response<Body> {
        let Some(permit) = self.places.take().await else {
            tracing::warn!(script = %script.asked.name, "no program may be started: there are too many");
            return reply::status(StatusCode::SERVICE_UNAVAILABLE);
        };
        let (parts, mut body) = request.into_parts();
        let mut length = body.size();
        let mut ahead = Bytes::new();
        if let (None, Some(limit)) = (length, self.buffer) {
            match collect(&mut body, limit).await {
                Ok((bytes, whole)) => {
                    length = whole.then_some(bytes.len() as u64);
                    ahead = bytes;
                }
                Err(error) => return reply::status(Failure::Request(error).status()),
            }
        }
        let asked = Asked {
            request: &parts,
            visit: &visit,
            connection,
            script: &script.asked,
            root: &self.root,
            length: is_told(&parts.method, length),
            more: &self.environment,
        };
        let input = (length != Some(0)).then_some((ahead, body));
        let name: Arc<str> = script.asked.name.as_str().into();
        let process = match Process::start(&asked, name.clone(), input, permit) {
            Ok(process) => process,
            Err(error) => {
                let file = script.asked.file.display();
                tracing::error!(script = %name, "cannot run {file}: {error}");
                return reply::status(refusal(&error));
            }
        };
        let response = respond(process, name, &parts.method, script.whole, self.limits).await;
        settle(response, parts, visit).await
    }
}

/// What a program that cannot be started says of the request.
fn refusal(error: &io::Error) -> StatusCode {
    match error.kind() {
        io::ErrorKind::PermissionDenied => StatusCode::FORBIDDEN,
        // Its interpreter, most of the time: the file was there.
        io::ErrorKind::NotFound => StatusCode::BAD_GATEWAY,
        io::ErrorKind::WouldBlock | io::ErrorKind::OutOfMemory => StatusCode::SERVICE_UNAVAILABLE,
        _ => StatusCode::BAD_GATEWAY,
    }
}

/// Where programs look for others.
fn path() -> String {
    std::env::var("PATH").unwrap_or_else(|_| "/usr/local/bin:/usr/bin:/bin".to_owned())
}
