//! The error log: what the server has to say through `tracing`, a line for each event, to the same places as access logs.
//!
//! ```text
//! 2026-11-21T02:07:00.123Z WARN thrum::log: the access log /var/log/access.log is full ... dropped=17
//! ```
//!
//! It never waits, as access logs don't. An event is one line whatever is in it: control characters are written as `\xHH`, and
//! what is longer than 8 KiB is cut.

mod event;
mod tail;

use std::io;
use std::str::FromStr;
use std::sync::Arc;
use std::time::Duration;

use tracing::level_filters::LevelFilter;
use tracing::{Event, Subscriber};
use tracing_subscriber::Layer;
use tracing_subscriber::layer::Context;

use crate::config::{Arity, Kind, Problems, Setting, Settings};
use crate::log::{Log, Sink, Target, settings, stamp};
use event::Told;
pub use tail::Tail;

/// Errors are to be seen soon.
const EVERY: Duration = Duration::from_millis(100);

/// How an event is written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ErrorFormat {
    /// A line for people.
    #[default]
    Text,
    /// An object with the keys `time`, `level`, `target`, `message` and those of the event.
    Json,
}

/// What a configuration says of the error log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ErrorLogConfig {
    /// Where it goes.
    pub target: Target,
    /// How an event is written.
    pub format: ErrorFormat,
    /// What is written: this level and worse.
    pub level: LevelFilter,
}

impl ErrorLogConfig {
    /// What stands outside of all sites. `None` if nothing does, or if something is wrong; then a problem was noted.
    pub fn of(global: &Settings, problems: &mut Problems) -> Option<Self> {
        let entry = global.written("error-log")?;
        let target = settings::target(entry, problems)?;
        let json = entry
            .values()
            .get(1)
            .is_some_and(|value| value.text() == "json");
        let level = entry.block().and_then(|block| block.text("level"));
        Some(Self {
            target,
            format: if json {
                ErrorFormat::Json
            } else {
                ErrorFormat::Text
            },
            level: level
                .and_then(|level| LevelFilter::from_str(level).ok())
                .unwrap_or(LevelFilter::WARN),
        })
    }
}

/// How the error log is written.
pub(crate) const ERROR_LOG: Setting = Setting {
    arity: Arity::OptionalLast,
    block: &BLOCK,
    ..Setting::new(
        "error-log",
        &[Kind::Text("TARGET"), Kind::Choice(&["text", "json"])],
        "Where the server says what went wrong: stderr, stdout, a file, syslog, syslog:HOST:PORT, syslog+tcp:HOST:PORT or journald.",
        "error-log /var/log/thrum/error.log text { level info; rotate 10MiB }",
    )
};

static BLOCK: [Setting; settings::BLOCK.len() + 1] = {
    let mut block = [const {
        Setting {
            default: "warn",
            ..Setting::new(
                "level",
                &[Kind::Choice(&["error", "warn", "info", "debug", "trace"])],
                "What is written: this and worse.",
                "level info",
            )
        }
    }; settings::BLOCK.len() + 1];
    let mut at = 0;
    while at < settings::BLOCK.len() {
        block[at] = Setting {
            ..settings::BLOCK[at]
        };
        at += 1;
    }
    block
};

/// An error log that is open: a layer for a [`tracing_subscriber::Registry`]. Clones are the same log.
///
/// ```no_run
/// use thrum_server::error_log::{ErrorFormat, ErrorLog};
/// use thrum_server::log::Target;
/// use tracing::level_filters::LevelFilter;
/// use tracing_subscriber::layer::SubscriberExt;
/// use tracing_subscriber::{Layer, Registry};
///
/// # fn main() -> std::io::Result<()> {
/// let log = ErrorLog::open(&Target::file("error.log"), ErrorFormat::Json)?;
/// let subscriber = Registry::default().with(log.clone().with_filter(LevelFilter::WARN));
/// tracing::subscriber::set_global_default(subscriber).ok();
/// // ... and at the end:
/// log.close();
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct ErrorLog {
    log: Arc<Log>,
    wrap: event::Wrap,
}

impl ErrorLog {
    /// Opens it.
    ///
    /// # Errors
    /// If a file can't be opened, a descriptor can't be duplicated, or no thread started.
    pub fn open(target: &Target, format: ErrorFormat) -> io::Result<Self> {
        let log = Log::start(
            format!("the error log {target}"),
            Sink::open(target)?,
            EVERY,
        )?;
        Ok(Self {
            log: Arc::new(log),
            wrap: event::Wrap::new(target.envelope(), format),
        })
    }

    /// How many events were dropped, because the target refused them or took none for too long.
    pub fn dropped(&self) -> u64 {
        self.log.dropped()
    }

    /// Opens the file anew, as after it was moved.
    pub fn reopen(&self) {
        self.log.reopen();
    }

    /// Writes what is left and ends; waits for that for two seconds at most. Later events are dropped. To be called before the
    /// process ends, as a global subscriber is never dropped.
    pub fn close(&self) {
        self.log.close();
    }
}

impl<S: Subscriber> Layer<S> for ErrorLog {
    fn on_event(&self, event: &Event<'_>, _: Context<'_, S>) {
        let told = Told::of(event);
        let line = |stamp: &mut stamp::Stamp, out: &mut Vec<u8>| {
            self.wrap.write(&told, stamp.iso(stamp::now()), out);
        };
        self.log.append(event::LONGEST, line);
    }
}

impl std::fmt::Debug for ErrorLog {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ErrorLog")
            .field("name", &self.log.name())
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use tracing_subscriber::layer::SubscriberExt;

    use super::*;

    fn said(target: &Target, format: ErrorFormat) {
        let log = ErrorLog::open(target, format).unwrap();
        let subscriber = tracing_subscriber::Registry::default()
            .with(log.clone().with_filter(LevelFilter::WARN));
        tracing::subscriber::with_default(subscriber, || {
            tracing::info!("not of interest");
            tracing::error!(target: "a", path = "/x\n\u{1b}[2J", tries = 3, "it \"failed\"\n{}", "twice");
        });
        log.close();
        assert_eq!(log.dropped(), 0);
    }

    #[test]
    fn lines_for_people_and_for_programs() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("error.log");
        said(&Target::file(&path), ErrorFormat::Text);
        let text = std::fs::read_to_string(&path).unwrap();
        let (time, rest) = text.split_once(' ').unwrap();
        assert_eq!(time.len(), 24);
        assert_eq!(
            rest,
            "ERROR a: it \"failed\"\\x0Atwice path=/x\\x0A\\x1B[2J tries=3\n"
        );

        std::fs::remove_file(&path).unwrap();
        said(&Target::file(&path), ErrorFormat::Json);
        let text = std::fs::read_to_string(&path).unwrap();
        assert_eq!(text.lines().count(), 1);
        let json: serde_json::Value = serde_json::from_str(&text).unwrap();
        assert_eq!(json["message"], "it \"failed\"\ntwice");
        assert_eq!(json["path"], "/x\n\u{1b}[2J");
        assert_eq!(
            (&json["level"], &json["tries"]),
            (&"ERROR".into(), &"3".into())
        );
    }

    #[test]
    fn messages_have_their_severity() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("socket");
        let socket = std::os::unix::net::UnixDatagram::bind(&path).unwrap();
        socket
            .set_read_timeout(Some(Duration::from_secs(10)))
            .unwrap();
        let received = || {
            let mut buffer = [0; 2000];
            let length = socket.recv(&mut buffer).unwrap();
            String::from_utf8(buffer[..length].to_vec()).unwrap()
        };
        said(
            &Target::Syslog(path.clone(), Default::default()),
            ErrorFormat::Text,
        );
        let syslog = received();
        assert!(
            syslog.starts_with("<27>1 ") && syslog.contains(" error - a: it"),
            "{syslog}"
        );
        said(&Target::Journald(path.clone()), ErrorFormat::Text);
        let journal = received();
        assert!(
            journal.starts_with("MESSAGE=a: it \"failed\"\\x0Atwice path="),
            "{journal}"
        );
        assert!(
            journal.contains("\nPRIORITY=3\n") && journal.contains("\nCODE_LINE="),
            "{journal}"
        );
    }

    #[test]
    fn what_is_long_is_cut() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("error.log");
        for format in [ErrorFormat::Text, ErrorFormat::Json] {
            let log = ErrorLog::open(&Target::file(&path), format).unwrap();
            let subscriber = tracing_subscriber::Registry::default().with(log.clone());
            tracing::subscriber::with_default(subscriber, || {
                let long = "\u{1}é".repeat(100_000);
                tracing::error!(long, other = %long, "{long}");
            });
            log.close();
            assert_eq!(log.dropped(), 0);
            let text = std::fs::read_to_string(&path).unwrap();
            assert_eq!(text.lines().count(), 1);
            assert!(text.contains("..."));
            if format == ErrorFormat::Json {
                serde_json::from_str::<serde_json::Value>(&text).unwrap();
            }
            std::fs::remove_file(&path).unwrap();
        }
    }
}
