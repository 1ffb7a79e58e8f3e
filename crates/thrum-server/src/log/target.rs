//! Where lines can go.

use std::fmt;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use thiserror::Error;

/// Where lines go.
///
/// ```
/// use thrum_server::log::Target;
///
/// for text in ["stdout", "stderr", "syslog", "syslog:logs.example.com:514", "syslog+tcp:[::1]:601", "journald"] {
///     assert_eq!(text.parse::<Target>().unwrap().to_string(), text);
/// }
/// assert_eq!("/var/log/x".parse(), Ok(Target::file("/var/log/x")));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Target {
    /// Standard output.
    Stdout,
    /// Standard error.
    Stderr,
    /// A file, which is appended to, and created if it does not exist. A named pipe will do, and need not have a reader yet.
    File(PathBuf, Rotation),
    /// The machine's syslog: RFC 5424 in datagrams to a Unix socket, `/dev/log` mostly.
    Syslog(PathBuf, Facility),
    /// Another machine's syslog, `HOST:PORT`: RFC 5424 in UDP datagrams (RFC 5426).
    SyslogUdp(String, Facility),
    /// Another machine's syslog, `HOST:PORT`: RFC 5424 in lines over TCP (RFC 6587).
    SyslogTcp(String, Facility),
    /// The systemd journal, by its own protocol, with a field for each thing that is known.
    Journald(PathBuf),
}

impl Target {
    /// A file that is not rotated.
    pub fn file(path: impl Into<PathBuf>) -> Self {
        Self::File(path.into(), Rotation::default())
    }

    /// The same with another rotation, if it is a file.
    pub fn rotated(mut self, rotation: Rotation) -> Self {
        if let Self::File(_, held) = &mut self {
            *held = rotation;
        }
        self
    }

    /// The same with another facility, if it is a syslog.
    pub fn facility(mut self, facility: Facility) -> Self {
        if let Self::Syslog(_, held) | Self::SyslogUdp(_, held) | Self::SyslogTcp(_, held) =
            &mut self
        {
            *held = facility;
        }
        self
    }

    pub(crate) fn envelope(&self) -> Envelope {
        match self {
            Self::Stdout | Self::Stderr | Self::File(..) => Envelope::Bare,
            Self::Syslog(_, facility)
            | Self::SyslogUdp(_, facility)
            | Self::SyslogTcp(_, facility) => Envelope::Syslog(*facility),
            Self::Journald(_) => Envelope::Journald,
        }
    }
}

/// What lines are wrapped in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Envelope {
    Bare,
    Syslog(Facility),
    Journald,
}

/// The socket of the machine's syslog.
pub(crate) const DEV_LOG: &str = "/dev/log";
/// The socket of the systemd journal.
const JOURNAL: &str = "/run/systemd/journal/socket";

/// A text that names no target.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[error(
    "{0:?} is no place for a log: it must be stdout, stderr, syslog, syslog:HOST:PORT, syslog+tcp:HOST:PORT, journald or a path"
)]
pub struct BadTarget(String);

impl FromStr for Target {
    type Err = BadTarget;

    /// `stdout`, `stderr`, `syslog`, `syslog:HOST:PORT` (UDP), `syslog+tcp:HOST:PORT`, `journald`, or a path.
    fn from_str(text: &str) -> Result<Self, BadTarget> {
        let bad = || BadTarget(text.to_owned());
        let host = |text: &str| {
            let (host, port) = text.rsplit_once(':').ok_or_else(bad)?;
            let port: u16 = port.parse().map_err(|_| bad())?;
            let well = !host.is_empty() && port > 0;
            well.then(|| text.to_owned()).ok_or_else(bad)
        };
        Ok(match text {
            "" => return Err(bad()),
            "stdout" | "-" => Self::Stdout,
            "stderr" => Self::Stderr,
            "syslog" => Self::Syslog(DEV_LOG.into(), Facility::default()),
            "journald" => Self::Journald(JOURNAL.into()),
            _ => match text.split_once(':') {
                Some(("syslog", at)) => Self::SyslogUdp(host(at)?, Facility::default()),
                Some(("syslog+tcp", at)) => Self::SyslogTcp(host(at)?, Facility::default()),
                _ => Self::file(text),
            },
        })
    }
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Stdout => f.write_str("stdout"),
            Self::Stderr => f.write_str("stderr"),
            Self::File(path, _) => path.display().fmt(f),
            Self::Syslog(path, _) if path == Path::new(DEV_LOG) => f.write_str("syslog"),
            Self::Syslog(path, _) => write!(f, "syslog at {}", path.display()),
            Self::SyslogUdp(host, _) => write!(f, "syslog:{host}"),
            Self::SyslogTcp(host, _) => write!(f, "syslog+tcp:{host}"),
            Self::Journald(_) => f.write_str("journald"),
        }
    }
}

/// When a file is put aside, and what becomes of it then. The default puts none aside.
///
/// `access.log` becomes `access.log.0`, the one before it `access.log.1`, and so on; with `gzip` they end in `.gz`, which
/// another thread sees to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rotation {
    /// The size in bytes that it may have, give or take a line; at least 64 KiB.
    pub bytes: Option<u64>,
    /// How often, in UTC.
    pub every: Option<Every>,
    /// How many of the old ones are kept.
    pub keep: u32,
    /// Whether the old ones are compressed.
    pub gzip: bool,
}

impl Default for Rotation {
    /// None; ten would be kept, as they are.
    fn default() -> Self {
        Self {
            bytes: None,
            every: None,
            keep: 10,
            gzip: false,
        }
    }
}

/// How often a file is put aside: with the first line after the full hour, midnight, or the midnight before Monday, in UTC.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Every {
    /// At each full hour.
    Hour,
    /// At midnight.
    Day,
    /// At the midnight before Monday.
    Week,
}

impl Every {
    /// The number of the hour, day or week of a second since 1970.
    pub(crate) fn period(self, second: u64) -> u64 {
        match self {
            Self::Hour => second / 3_600,
            Self::Day => second / 86_400,
            // 1970 began on a Thursday.
            Self::Week => (second / 86_400 + 3) / 7,
        }
    }
}

/// Which kind of program syslog takes us for (RFC 5424 section 6.2.1).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Facility(u8);

impl Facility {
    /// Their names, as syslog's own configuration has them.
    pub const NAMES: &'static [&'static str] = &[
        "user", "daemon", "local0", "local1", "local2", "local3", "local4", "local5", "local6",
        "local7",
    ];

    /// The one of that name.
    pub fn named(name: &str) -> Option<Self> {
        Some(Self(match name {
            "user" => 1,
            "daemon" => 3,
            _ => {
                let local = name.strip_prefix("local")?;
                let digit = *local.as_bytes().first().filter(|_| local.len() == 1)?;
                (b'0'..=b'7').contains(&digit).then(|| 16 + digit - b'0')?
            }
        }))
    }

    /// What a message begins with.
    pub(crate) fn priority(self, severity: Severity) -> u8 {
        let facility = if self.0 == 0 { 3 } else { self.0 };
        facility * 8 + severity as u8
    }
}

/// How bad it is, by syslog's numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Severity {
    Error = 3,
    Warning = 4,
    Info = 6,
    Debug = 7,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_names_a_target() {
        for text in [
            "",
            "syslog:",
            "syslog:host",
            "syslog:host:0",
            "syslog+tcp::514",
        ] {
            assert!(text.parse::<Target>().is_err(), "{text}");
        }
        let udp = Target::SyslogUdp("h:1".into(), Facility::default());
        assert_eq!("syslog:h:1".parse(), Ok(udp));
    }

    #[test]
    fn facilities() {
        for name in Facility::NAMES {
            assert!(Facility::named(name).is_some(), "{name}");
        }
        for name in ["", "local", "local8", "local55", "kern"] {
            assert_eq!(Facility::named(name), None, "{name}");
        }
        let local5 = Facility::named("local5").unwrap();
        assert_eq!(local5.priority(Severity::Info), 174);
        assert_eq!(Facility::default().priority(Severity::Error), 27);
    }

    #[test]
    fn weeks_begin_on_monday() {
        let monday = 1_795_392_000; // 2026-11-23
        let week = Every::Week.period(monday);
        assert_eq!(Every::Week.period(monday - 1), week - 1);
        assert_eq!(Every::Week.period(monday + 7 * 86_400 - 1), week);
    }
}
