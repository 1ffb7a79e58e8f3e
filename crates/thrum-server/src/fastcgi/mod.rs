//! FastCGI 1.0: programs that stay, such as PHP-FPM, answer requests over a socket.
//!
//! ```text
//! /     fastcgi unix:/run/php/php-fpm.sock { root /srv/wordpress; fallback /index.php }
//! /app/ fastcgi 127.0.0.1:9000
//! ```
//!
//! With a `root`, paths lead to scripts beneath it: the first `.php` file on the way is the script and what follows is
//! PATH_INFO; other files are sent as they are; what does not exist is the `fallback` script's (`script`). Without, there is
//! one application for all paths. A request takes a connection for itself (`exchange`), made of records (`record`);
//! connections are kept for a while (`pool`).

mod config;
mod connection;
mod exchange;
mod pool;
mod record;
mod script;

use std::io;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::{Request, Response, StatusCode};
use thrum_http::{Body, ConnectionInfo};
use thrum_rt::time::timeout;

pub use self::config::{KIND, VERB};
pub use self::connection::{Address, BadAddress};
use self::exchange::Exchange;
pub use self::pool::Pool;
use self::script::{Found, Scripts};
use crate::files::{Files, FilesError};
use crate::gateway::{
    Asked, Failure, Limits, Script, collect, is_told, respond, settle, to_folder,
};
use crate::places::Places;
use crate::site::{Answer, Handler, Visit, reply};

/// Has requests answered by a FastCGI application.
///
/// ```no_run
/// use thrum_server::fastcgi::FastCgi;
///
/// let wordpress = FastCgi::new("unix:/run/php/php-fpm.sock".parse()?)
///     .root("/srv/wordpress")?
///     .fallback("/index.php");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct FastCgi {
    shared: Arc<Shared>,
}

#[derive(Clone, Debug)]
struct Shared {
    pool: Arc<Pool>,
    scripts: Scripts,
    parameters: Vec<(String, String)>,
    limits: Limits,
    connect: Duration,
    /// Bytes of a body of unknown length that are held until all of it is there.
    buffer: Option<u64>,
    places: Places,
}

impl FastCgi {
    /// Asks the application at that address.
    pub fn new(address: Address) -> Self {
        Self::with_pool(Arc::new(Pool::new(address)))
    }

    /// Asks the application that the connections of a pool lead to. It may be shared.
    pub fn with_pool(pool: Arc<Pool>) -> Self {
        Self {
            shared: Arc::new(Shared {
                pool,
                scripts: Scripts::default(),
                parameters: Vec::new(),
                limits: Limits {
                    head: Duration::from_secs(60),
                    idle: Duration::from_secs(60),
                    total: None,
                    output: None,
                },
                connect: Duration::from_secs(10),
                buffer: Some(1024 * 1024),
                places: Places::new(128, 1024, Duration::from_secs(30)),
            }),
        }
    }

    /// Sets the folder of the scripts. Files in it that are no scripts are sent as they are.
    ///
    /// # Errors
    /// When it does not exist, is no folder, or may not be read.
    pub fn root(self, root: impl AsRef<Path>) -> Result<Self, FilesError> {
        let folder = std::path::absolute(root.as_ref()).unwrap_or_else(|_| root.as_ref().into());
        let files = Files::new(&folder)?;
        Ok(self.with(|shared| shared.scripts.set_local(folder, files)))
    }

    /// Sets the folder of the scripts as the application sees it, on another machine: what is there is not looked at.
    pub fn remote_root(self, root: impl Into<PathBuf>) -> Self {
        self.with(|shared| shared.scripts.set_remote(root.into()))
    }

    /// Sets the names of files that answer for a folder; the first one that exists is taken. Default: `index.php`,
    /// `index.html`.
    pub fn index<N: Into<String>>(self, names: impl IntoIterator<Item = N>) -> Self {
        self.with(|shared| shared.scripts.index = names.into_iter().map(Into::into).collect())
    }

    /// Sets how the names of scripts end. Default: `.php`.
    pub fn split<N: Into<String>>(self, endings: impl IntoIterator<Item = N>) -> Self {
        self.with(|shared| shared.scripts.endings = endings.into_iter().map(Into::into).collect())
    }

    /// Sets the script, beneath the root, that answers where there is no file: `/index.php`. Default: none, that is a 404.
    pub fn fallback(self, script: impl Into<String>) -> Self {
        self.with(|shared| shared.scripts.fallback = Some(script.into()))
    }

    /// Sets a variable of all requests, whatever they say about it.
    pub fn parameter(self, name: impl Into<String>, value: impl Into<String>) -> Self {
        let (name, value) = (name.into(), value.into());
        self.with(|shared| {
            shared.parameters.retain(|(known, _)| *known != name);
            shared.parameters.push((name, value));
        })
    }

    /// Sets how long a connection may take to be made. Default: 10 seconds.
    pub fn connect_timeout(self, limit: Duration) -> Self {
        self.with(|shared| shared.connect = limit)
    }

    /// Sets how long the application may take until the head of its response is there. It begins anew with each piece of the
    /// request's body that goes out. Default: 60 seconds.
    pub fn timeout(self, limit: Duration) -> Self {
        self.with(|shared| shared.limits.head = limit)
    }

    /// Sets how long it may send nothing in the middle of its document. Default: 60 seconds.
    pub fn idle_timeout(self, limit: Duration) -> Self {
        self.with(|shared| shared.limits.idle = limit)
    }

    /// Sets how long a request may take in all. Default: no limit, as long as it goes on.
    pub fn total_timeout(self, limit: Option<Duration>) -> Self {
        self.with(|shared| shared.limits.total = limit)
    }

    /// Sets how many bytes a document may have. Default: no limit, as it is passed on and not kept.
    pub fn output(self, limit: Option<u64>) -> Self {
        self.with(|shared| shared.limits.output = limit)
    }

    /// Sets how many bytes of a body without a length (chunked, or over HTTP/2) are held until all of it is there. PHP sees no
    /// body without a CONTENT_LENGTH, so that a longer one gets a 411. `None`: all are passed on without. Default: 1 MiB.
    pub fn buffer(self, bytes: Option<u64>) -> Self {
        self.with(|shared| shared.buffer = bytes)
    }

    /// Sets how many requests are asked at the same time, how many wait for one of them to end, and for how long: what is
    /// beyond that gets a 503. Default: 128; 1,024; 30 seconds.
    pub fn connections(self, at_once: NonZeroUsize, queue: usize, patience: Duration) -> Self {
        self.with(|shared| shared.places = Places::new(at_once.get(), queue, patience))
    }

    fn with(mut self, change: impl FnOnce(&mut Shared)) -> Self {
        change(Arc::make_mut(&mut self.shared));
        self
    }
}

impl Handler for FastCgi {
    fn handle(&self, request: Request<Body>, visit: Visit) -> Answer {
        let found = self
            .shared
            .scripts
            .find(request.uri().path(), &visit.route.mount);
        match found {
            Ok(Found::Script(script)) => {
                let connection = thrum_http::connection().unwrap_or_default();
                let shared = self.shared.clone();
                Answer::later(async move { shared.run(request, visit, &connection, &script).await })
            }
            Ok(Found::File(files)) => files.answer_beneath(&request, &visit.route.mount),
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
        script: &Script,
    ) -> Response<Body> {
        let name: Arc<str> = match script.name.as_str() {
            "" => visit.route.mount.as_str().into(),
            name => name.into(),
        };
        let Some(permit) = self.places.take().await else {
            tracing::warn!(script = %name, "the application is asked too much at the same time");
            return reply::status(StatusCode::SERVICE_UNAVAILABLE);
        };
        let (parts, mut body) = request.into_parts();
        let mut length = body.size();
        let mut ahead = Bytes::new();
        if let (None, Some(limit)) = (length, self.buffer) {
            match collect(&mut body, limit).await {
                Ok((bytes, true)) => {
                    length = Some(bytes.len() as u64);
                    ahead = bytes;
                }
                Ok((_, false)) => return reply::status(StatusCode::LENGTH_REQUIRED),
                Err(error) => return reply::status(Failure::Request(error).status()),
            }
        }
        let asked = Asked {
            request: &parts,
            visit: &visit,
            connection,
            script,
            root: self.scripts.root(),
            length: is_told(&parts.method, length),
            more: &self.parameters,
        };
        let begin = record::begin(&asked);
        let Some(begin) = begin else {
            return reply::status(StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE);
        };
        let input = (length != Some(0)).then_some((ahead, body));
        let taken = match timeout(self.connect, self.pool.take()).await {
            Ok(taken) => taken,
            Err(_) => Err(io::ErrorKind::TimedOut.into()),
        };
        let taken = match taken {
            Ok(taken) => taken,
            Err(error) => {
                let address = self.pool.address();
                tracing::error!(script = %name, "cannot connect to {address}: {error}");
                return reply::status(match error.kind() {
                    io::ErrorKind::TimedOut => StatusCode::GATEWAY_TIMEOUT,
                    _ => StatusCode::BAD_GATEWAY,
                });
            }
        };
        let again = parts.method.is_idempotent() && input.is_none();
        let exchange = Exchange::new(taken, &self.pool, begin, input, again, name.clone(), permit);
        let response = respond(exchange, name, &parts.method, false, self.limits).await;
        settle(response, parts, visit).await
    }
}
