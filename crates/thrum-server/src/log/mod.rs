//! Lines on their way to a file, standard output, syslog or journald, taken without ever making anyone wait.
//!
//! Each thread formats into a buffer of its own; one OS thread takes the full buffers, and once a second those that
//! are not, and writes them. So lines of one thread are in order, and lines of different threads nearly so. A target that is
//! full, stuck or gone costs lines, never requests: they are counted, and a warning is given through `tracing` at most once
//! a minute. Lines that wait take at most 8 MiB. When there is room again, or somebody listens again, the log goes on.
//!
//! | module | what is in it |
//! |---|---|
//! | `target` | where lines can go: [`Target`], [`Rotation`], [`Facility`] |
//! | `sink` | how they get there: files and their rotation, datagrams, TCP |
//! | `shared` | the buffers of the threads, and how they wake the writer |
//! | `pool` | the bounded set of buffers |
//! | `writer` | the loop of the thread that writes |
//! | `drops` | the count and its warnings |
//! | `stamp` | the time as text |
//! | `settings` | what a configuration can say of a target |

mod drops;
pub(crate) mod escape;
pub(crate) mod pool;
pub(crate) mod settings;
mod shared;
mod sink;
pub(crate) mod stamp;
pub(crate) mod target;
mod writer;

use std::io;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use shared::Shared;
pub(crate) use sink::Sink;
use stamp::Stamp;
pub(crate) use target::Severity;
pub use target::{Every, Facility, Rotation, Target};
use writer::Writer;

/// The longest line that a log takes, in bytes.
pub(crate) const LONGEST: usize = 44 * 1024;

/// How long a line may wait for others before it is written.
pub(crate) const EVERY: Duration = Duration::from_secs(1);
/// The same, where somebody looks on.
pub(crate) const EVERY_ON_TERMINAL: Duration = Duration::from_millis(100);
/// How long [`Log::close`] waits for the target to take what is left.
pub(crate) const CLOSE_WAIT: Duration = Duration::from_secs(2);

/// A log that is open. Dropping it closes it.
pub(crate) struct Log {
    shared: Arc<Shared>,
    /// Says that the writer has ended, by being disconnected.
    ended: Mutex<Receiver<()>>,
}

impl Log {
    /// Starts the thread that writes. `name` is what warnings call the log.
    pub(crate) fn start(name: String, sink: Sink, every: Duration) -> io::Result<Self> {
        let shared = Arc::new(Shared::new(name));
        let (running, ended) = mpsc::channel();
        let writer = Writer {
            shared: Arc::clone(&shared),
            sink,
            every,
        };
        let thread = thread::Builder::new()
            .name("thrum-log".into())
            .spawn(move || {
                writer.run();
                drop(running);
            })?;
        // Nobody has the log yet, so the first line comes after.
        let _ = shared.writer.set(thread.thread().clone());
        Ok(Self {
            shared,
            ended: Mutex::new(ended),
        })
    }

    /// Has a line written, of at most `longest` bytes, which must not be more than [`LONGEST`].
    pub(crate) fn append(&self, longest: usize, write: impl FnOnce(&mut Stamp, &mut Vec<u8>)) {
        self.shared.append(longest, write);
    }

    /// How many lines were dropped.
    pub(crate) fn dropped(&self) -> u64 {
        self.shared.drops.count()
    }

    /// What warnings call it.
    pub(crate) fn name(&self) -> &str {
        self.shared.drops.name()
    }

    /// Writes what there is, and opens the target anew. Does not wait for it.
    pub(crate) fn reopen(&self) {
        self.shared.reopen();
    }

    /// Writes what is left and ends; waits for that for two seconds at most.
    pub(crate) fn close(&self) {
        if self.shared.is_abandoned() {
            return;
        }
        self.shared.close();
        let ended = self.ended.lock().unwrap_or_else(PoisonError::into_inner);
        if ended.recv_timeout(CLOSE_WAIT) == Err(RecvTimeoutError::Timeout) {
            self.shared.abandon();
        }
    }
}

impl Drop for Log {
    fn drop(&mut self) {
        self.close();
    }
}

/// What follows the time in a message of RFC 5424: the host, the program, its number, and what kind of message it is.
pub(crate) fn syslog_origin(kind: &str) -> String {
    let read = std::fs::read_to_string("/proc/sys/kernel/hostname");
    let host = read.unwrap_or_default();
    let host = host.trim();
    let well = (1..=255).contains(&host.len()) && host.bytes().all(|byte| byte.is_ascii_graphic());
    let host = if well { host } else { "-" };
    format!(" {host} thrum {} {kind} - ", std::process::id())
}
