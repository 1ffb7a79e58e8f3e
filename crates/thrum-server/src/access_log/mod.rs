//! The access log: a line in Apache's Combined format for each exchange, written without ever holding up a request.
//!
//! ```text
//! 192.0.2.7 - - [21/Nov/2026:02:07:00 +0000] "GET /x HTTP/1.1" 200 612 "http://example.com/" "curl/8.5"
//! ```
//!
//! Each thread formats into a buffer of its own; one OS thread takes the full buffers, and once a second those that
//! are not, and writes them. So lines of one thread are in order, and lines of different threads nearly so. The number
//! of bytes is that of the body; what the client did not send is `-`. Everything a client sent is escaped: `"`, `\`
//! and every byte outside printable ASCII is written as `\xHH`. Of a request target 2 KiB are written, of a `Referer`
//! 1 KiB, of a `User-Agent` 512 bytes; `...` marks the cut.
//!
//! A target that is full or stuck costs lines, never requests: they are [counted](AccessLog::dropped), and a warning
//! is given through `tracing` at most once a minute. Lines that wait take at most 8 MiB. A file that was moved or
//! deleted, as log rotation does, is opened anew within a second of the next line.
//!
//! | module | what is in it |
//! |---|---|
//! | `line` | the format and its escaping: a pure function |
//! | `stamp` | the time as text |
//! | `slot` | a small number for each thread |
//! | `shared` | the buffers of the threads, and how they wake the writer |
//! | `pool` | the bounded set of buffers |
//! | `writer` | the loop of the thread that writes |
//! | `sink` | files, standard output, anything that is `Write` |
//! | `drops` | the count and its warnings |

mod drops;
mod line;
mod pool;
mod shared;
mod sink;
mod slot;
mod stamp;
#[cfg(test)]
mod tests;
mod writer;

use std::io::{self, IsTerminal, Write};
use std::path::Path;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use thrum_http::{Exchange, Observer};

use line::Line;
use shared::Shared;
use sink::Sink;
use writer::Writer;

/// How long a line may wait for others before it is written.
const EVERY: Duration = Duration::from_secs(1);
/// The same, where somebody looks on.
const EVERY_ON_TERMINAL: Duration = Duration::from_millis(100);
/// How long [`AccessLog::close`] waits for the target to take what is left.
const CLOSE_WAIT: Duration = Duration::from_secs(2);

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
    shared: Arc<Shared>,
    /// Says that the writer has ended, by being disconnected.
    ended: Mutex<Receiver<()>>,
}

impl AccessLog {
    /// Appends to a file, created if it does not exist. A named pipe will do, and need not have a reader yet.
    ///
    /// # Errors
    /// If the file can't be opened, or no thread started.
    pub fn to_file(path: impl AsRef<Path>) -> io::Result<Arc<Self>> {
        let path = path.as_ref();
        Self::start(
            format!("the access log {}", path.display()),
            Sink::file(path)?,
            EVERY,
        )
    }

    /// Writes to standard output; lines appear within a tenth of a second if that is a terminal.
    ///
    /// # Errors
    /// If the descriptor can't be duplicated, or no thread started.
    pub fn to_stdout() -> io::Result<Arc<Self>> {
        let every = if io::stdout().is_terminal() {
            EVERY_ON_TERMINAL
        } else {
            EVERY
        };
        Self::start(
            "the access log on standard output".into(),
            Sink::stdout()?,
            every,
        )
    }

    /// Writes to anything else, on a thread where it may block. It is given whole lines, and flushed after them.
    ///
    /// # Errors
    /// If no thread can be started.
    pub fn to_writer(out: impl Write + Send + 'static) -> io::Result<Arc<Self>> {
        Self::start("the access log".into(), Sink::writer(Box::new(out)), EVERY)
    }

    /// How many lines were dropped since the start, because the target refused them or took none for too long.
    pub fn dropped(&self) -> u64 {
        self.shared.drops.count()
    }

    /// Writes what is left and ends; waits for that for two seconds at most. Lines that the target does not take by
    /// then, and lines of exchanges that finish later, are dropped and counted. Blocks the calling OS thread; to
    /// close twice does nothing.
    pub fn close(&self) {
        if self.shared.is_abandoned() {
            return;
        }
        self.shared.close();
        let ended = self.ended.lock().unwrap_or_else(PoisonError::into_inner);
        if ended.recv_timeout(CLOSE_WAIT) == Err(RecvTimeoutError::Timeout) {
            self.shared.abandon();
        }
    }

    fn start(name: String, sink: Sink, every: Duration) -> io::Result<Arc<Self>> {
        let shared = Arc::new(Shared::new(name));
        let (running, ended) = mpsc::channel();
        let writer = Writer {
            shared: Arc::clone(&shared),
            sink,
            every,
        };
        let thread = thread::Builder::new()
            .name("thrum-access-log".into())
            .spawn(move || {
                writer.run();
                drop(running);
            })?;
        // Nobody has the log yet, so the first line comes after.
        let _ = shared.writer.set(thread.thread().clone());
        Ok(Arc::new(Self {
            shared,
            ended: Mutex::new(ended),
        }))
    }
}

impl Observer for AccessLog {
    fn finished(&self, exchange: &Exchange<'_>) {
        self.shared.log(&Line {
            peer: exchange.peer().map(|peer| peer.ip()),
            method: exchange.method(),
            target: exchange.target(),
            version: exchange.version(),
            status: exchange.status().as_u16(),
            body_bytes: exchange.body_bytes(),
            referer: exchange.header("referer"),
            user_agent: exchange.header("user-agent"),
        });
    }
}

impl Drop for AccessLog {
    fn drop(&mut self) {
        self.close();
    }
}

impl std::fmt::Debug for AccessLog {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("AccessLog")
            .field("name", &self.shared.drops.name())
            .field("dropped", &self.dropped())
            .finish_non_exhaustive()
    }
}
