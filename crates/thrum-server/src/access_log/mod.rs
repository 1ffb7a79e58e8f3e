//! The access log: a line for each exchange, written without ever holding up a request.
//!
//! ```text
//! 192.0.2.7 - - [21/Nov/2026:02:07:00 +0000] "GET /x HTTP/1.1" 200 612 "http://example.com/" "curl/8.5"
//! ```
//!
//! What a line says is a [`Format`]; where it goes, a [`Target`]. Each thread formats into a buffer of its own; one OS thread
//! writes them, at the latest a second later. So lines of one thread are in order, and lines of different threads nearly so.
//!
//! A target that is full or stuck costs lines, never requests: they are [counted](AccessLog::dropped), and a warning
//! is given through `tracing` at most once a minute. Lines that wait take at most 8 MiB. A file that was moved or
//! deleted, as log rotation does, is opened anew within a second of the next line.

mod field;
mod format;
mod line;
#[cfg(test)]
mod tests;

use std::io::{self, IsTerminal, Write};
use std::path::Path;
use std::sync::Arc;

use thrum_http::{Exchange, Observer};

use crate::log::{EVERY, EVERY_ON_TERMINAL, Log, Sink, Target, stamp};
use crate::observe::{Client, Sight, User};
pub use format::{Format, FormatError};
use line::Line;

/// An access log that is open. Give it to a server with [`Server::observer`](thrum_http::Server::observer).
///
/// Dropping it [closes](AccessLog::close) it.
///
/// ```no_run
/// # fn main() -> std::io::Result<()> {
/// let log = thrum_server::access_log::AccessLog::to_file("access.log")?;
/// let server = thrum_http::Server::new().observer(log.clone());
/// // ... serve ...
/// log.close();
/// println!("{} lines dropped", log.dropped());
/// # Ok(())
/// # }
/// ```
pub struct AccessLog {
    log: Log,
    format: Format,
}

impl AccessLog {
    /// Opens a log.
    ///
    /// ```no_run
    /// use thrum_server::access_log::{AccessLog, Format};
    /// use thrum_server::log::{Every, Rotation, Target};
    ///
    /// # fn main() -> std::io::Result<()> {
    /// let daily = Rotation { every: Some(Every::Day), keep: 7, gzip: true, ..Rotation::default() };
    /// let target = Target::file("/var/log/thrum/access.log").rotated(daily);
    /// let log = AccessLog::open(&target, &Format::json())?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// If a file can't be opened, a descriptor can't be duplicated, or no thread started. A syslog or a journal that does not
    /// listen is no error: lines are dropped until it does. If the format is too long for the target, which takes more than
    /// one of the formats that have names.
    pub fn open(target: &Target, format: &Format) -> io::Result<Arc<Self>> {
        let format = format
            .wrapped(target.envelope())
            .map_err(|error| io::Error::new(io::ErrorKind::InvalidInput, error))?;
        let looked_at = match target {
            Target::Stdout => io::stdout().is_terminal(),
            Target::Stderr => io::stderr().is_terminal(),
            _ => false,
        };
        let every = if looked_at { EVERY_ON_TERMINAL } else { EVERY };
        let name = match target {
            Target::Stdout => "the access log on standard output".to_owned(),
            Target::Stderr => "the access log on standard error".to_owned(),
            Target::File(path, _) => format!("the access log {}", path.display()),
            other => format!("the access log to {other}"),
        };
        let log = Log::start(name, Sink::open(target)?, every)?;
        Ok(Arc::new(Self { log, format }))
    }

    /// Appends lines in the Combined format to a file, created if it does not exist. A named pipe will do, and need not have a
    /// reader yet.
    ///
    /// # Errors
    /// If the file can't be opened, or no thread started.
    pub fn to_file(path: impl AsRef<Path>) -> io::Result<Arc<Self>> {
        Self::open(&Target::file(path.as_ref()), &Format::combined())
    }

    /// Writes lines in the Combined format to standard output; they appear within a tenth of a second if that is a terminal.
    ///
    /// # Errors
    /// If the descriptor can't be duplicated, or no thread started.
    pub fn to_stdout() -> io::Result<Arc<Self>> {
        Self::open(&Target::Stdout, &Format::combined())
    }

    /// Writes lines in the Combined format to anything else, on a thread where it may block. It is given whole lines, and
    /// flushed after them.
    ///
    /// # Errors
    /// If no thread can be started.
    pub fn to_writer(out: impl Write + Send + 'static) -> io::Result<Arc<Self>> {
        let sink = Sink::writer(Box::new(out));
        let log = Log::start("the access log".into(), sink, EVERY)?;
        let format = Format::combined().wrapped(crate::log::target::Envelope::Bare);
        let format = format.map_err(|error| io::Error::new(io::ErrorKind::InvalidInput, error))?;
        Ok(Arc::new(Self { log, format }))
    }

    /// What warnings call it.
    pub(crate) fn name(&self) -> &str {
        self.log.name()
    }

    /// How many lines were dropped since the start, because the target refused them or took none for too long.
    pub fn dropped(&self) -> u64 {
        self.log.dropped()
    }

    /// Writes what there is, and opens the file anew, or connects anew: what a signal asks for after somebody has moved the
    /// file. (It is noticed without as well, a second later.) Does not wait for it.
    pub fn reopen(&self) {
        self.log.reopen();
    }

    /// Writes what is left and ends; waits for that for two seconds at most. Lines that the target does not take by
    /// then, and lines of exchanges that finish later, are dropped and counted. Blocks the calling OS thread; to
    /// close twice does nothing.
    pub fn close(&self) {
        self.log.close();
    }

    fn write(&self, line: &Line<'_>) {
        self.log.append(self.format.longest(), |stamp, out| {
            self.format.write(line, stamp::now(), stamp, out);
        });
    }
}

impl Observer for AccessLog {
    fn finished(&self, exchange: &Exchange<'_>) {
        let peer = exchange.peer().map(|peer| peer.ip());
        let client = exchange.note::<Client>().map(|client| client.0);
        let route = exchange.note::<Sight>().map(|sight| &**sight.route());
        let tls = exchange
            .connection()
            .and_then(|connection| connection.tls.as_deref());
        self.write(&Line {
            client: client.or(peer),
            user: exchange.note::<User>().map(|user| user.0.as_bytes()),
            method: exchange.method(),
            target: exchange.target(),
            version: exchange.version(),
            status: exchange.status().as_u16(),
            body_bytes: exchange.body_bytes(),
            duration: exchange.duration(),
            site: route.map_or("", |route| &route.site),
            route: route.map_or("", |route| &route.pattern),
            tls: tls.map(|tls| (tls.version(), tls.cipher_suite())),
            headers: &|name| exchange.header(name),
        });
    }
}

impl std::fmt::Debug for AccessLog {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("AccessLog")
            .field("name", &self.log.name())
            .field("dropped", &self.dropped())
            .finish_non_exhaustive()
    }
}
