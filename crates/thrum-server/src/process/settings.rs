//! What stands outside of all sites about the process: who it is, what it holds, what clients may do and how long.

use std::num::NonZero;
use std::path::{Path, PathBuf};
use std::time::Duration;

use thrum_http::{Limits, Timeouts};

use super::{Privileges, PrivilegesError};
use crate::config::{Problem, Problems, Settings};

/// What the global settings say of the process.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ProcessSettings {
    /// Workers, if it was said.
    pub workers: Option<NonZero<u16>>,
    /// Who the process goes on as, if it was said.
    pub privileges: Option<Privileges>,
    /// The PID file.
    pub pid_file: PathBuf,
    /// The folder for what outlives the process.
    pub state: PathBuf,
    /// Whether the process is confined.
    pub sandbox: bool,
    /// How often files are looked at.
    pub watch: Option<Duration>,
    /// The mode of Unix sockets.
    pub socket_mode: u32,
    /// Sizes and counts.
    pub limits: Limits,
    /// Times.
    pub timeouts: Timeouts,
    /// The grace of a stop.
    pub stop: Duration,
    /// The grace of a retirement.
    pub retire: Duration,
    /// How long idle connections are heard out in it.
    pub last_call: Duration,
}

impl ProcessSettings {
    /// What the global settings of a configuration say. What is wrong is noted, and left out.
    pub fn of(global: &Settings, config: &Path, problems: &mut Problems) -> Self {
        let block = |name| global.written(name).and_then(|entry| entry.block());
        let times = block("timeouts");
        let time = |name, default| times.map_or(default, |times| times.duration(name));
        Self {
            workers: global
                .written("workers")
                .and_then(|_| NonZero::new(u16::try_from(global.count("workers")).ok()?)),
            privileges: privileges(global, problems),
            pid_file: global
                .path("pid-file")
                .unwrap_or_else(|| usual_pid_file(config)),
            state: global.path("state").unwrap_or_else(usual_state),
            sandbox: global.is_on("sandbox"),
            watch: global.duration_or_off("watch"),
            socket_mode: socket_mode(global, problems),
            limits: limits(block("limits"), block("http2")),
            timeouts: times.map_or_else(Timeouts::default, timeouts),
            stop: time("stop", Duration::from_secs(10)),
            retire: time("retire", Duration::from_secs(3600)),
            last_call: time("last-call", Duration::from_secs(5)),
        }
    }
}

fn privileges(global: &Settings, problems: &mut Problems) -> Option<Privileges> {
    let (user, group) = (global.written("user"), global.written("group"));
    let said = user.or(group)?;
    let found = Privileges::of(global.text("user"), global.text("group"));
    let place = match (&found, group) {
        (Err(PrivilegesError::NoGroup(_)), Some(group)) => group.values()[0].span(),
        _ => said.values()[0].span(),
    };
    problems.check(place, found)
}

fn socket_mode(global: &Settings, problems: &mut Problems) -> u32 {
    let text = global.text("socket-mode").unwrap_or("660");
    match u32::from_str_radix(text, 8) {
        Ok(mode) if mode <= 0o777 => mode,
        _ => {
            let span = global
                .written("socket-mode")
                .map_or(global.span(), |entry| entry.values()[0].span());
            let message = format!("{text} is no mode of a file");
            problems.add(Problem::new(span, message).label("three octal digits, such as 660"));
            0o660
        }
    }
}

fn timeouts(times: &Settings) -> Timeouts {
    let mut all = Timeouts::default();
    all.handshake = times.duration("handshake");
    all.head = times.duration("head");
    all.idle = times.duration("idle");
    all.body = times.duration("body");
    all.body_rate = times.size("body-rate");
    all.body_grace = times.duration("body-grace");
    all.write = times.duration("write");
    all.linger = times.duration("linger");
    all
}

fn limits(limits: Option<&Settings>, http2: Option<&Settings>) -> Limits {
    let mut all = Limits::default();
    let size =
        |settings: &Settings, name| usize::try_from(settings.size(name)).unwrap_or(usize::MAX);
    if let Some(limits) = limits {
        all.head_bytes = size(limits, "head");
        all.fields = limits.count("fields") as usize;
        all.target_bytes = size(limits, "target");
        all.body_bytes = limits.size("body");
        all.chunk_line_bytes = size(limits, "chunk-line");
        all.drain_bytes = limits.size("drain");
        all.requests = limits.written("requests").map(|_| limits.count("requests"));
        all.connections = limits.count("connections") as usize;
    }
    if let Some(http2) = http2 {
        let number = |name| u32::try_from(http2.count(name)).unwrap_or(u32::MAX);
        let window = |name, least: u64| http2.size(name).clamp(least, (1 << 31) - 1) as u32;
        let to = &mut all.http2;
        to.streams = number("streams");
        to.stream_window_bytes = window("stream-window", 1);
        to.connection_window_bytes = window("connection-window", (1 << 16) - 1);
        to.frame_bytes = http2.size("frame").clamp(1 << 14, (1 << 24) - 1) as u32;
        to.send_bytes = size(http2, "send");
        to.resets = number("resets");
        to.faults = http2.count("faults") as usize;
        to.control_frames = number("control-frames");
        to.continuations = number("continuations");
    }
    all
}

/// Beside those of other services, named after the configuration: a second one has a file of its own.
fn usual_pid_file(config: &Path) -> PathBuf {
    let folder = std::env::var_os("RUNTIME_DIRECTORY")
        .or_else(|| {
            (!rustix::process::geteuid().is_root()).then(|| std::env::var_os("XDG_RUNTIME_DIR"))?
        })
        .map_or_else(std::env::temp_dir, PathBuf::from);
    let folder = match rustix::process::geteuid().is_root() && folder == std::env::temp_dir() {
        true => PathBuf::from("/run"),
        false => folder,
    };
    let name = config.file_stem().unwrap_or_default().to_string_lossy();
    let user = rustix::process::geteuid().as_raw();
    folder.join(match &*name {
        "thrum" => format!("thrum-{user}.pid"),
        name => format!("thrum-{user}-{name}.pid"),
    })
}

fn usual_state() -> PathBuf {
    if let Some(folder) = std::env::var_os("STATE_DIRECTORY") {
        return folder.into();
    }
    if rustix::process::geteuid().is_root() {
        return "/var/lib/thrum".into();
    }
    let home = || std::env::var_os("HOME").map(|home| PathBuf::from(home).join(".local/state"));
    let state = std::env::var_os("XDG_STATE_HOME")
        .map(PathBuf::from)
        .or_else(home);
    state.unwrap_or_else(std::env::temp_dir).join("thrum")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{Config, Tables};
    use crate::process::GLOBAL;

    const TABLES: Tables = Tables {
        global: &[GLOBAL],
        site: &[],
        route: &[],
        verbs: &[],
    };

    fn read(text: &str) -> (ProcessSettings, Vec<Problem>) {
        let config = Config::parse(text, &TABLES).unwrap_or_else(|report| panic!("{report}"));
        let mut problems = Problems::default();
        let settings = ProcessSettings::of(&config.global, Path::new("thrum.conf"), &mut problems);
        (settings, problems.into_sorted())
    }

    #[test]
    fn the_defaults_are_those_of_the_library() {
        for text in [
            "",
            "timeouts { idle 60s }\nlimits { fields 100 }\nhttp2 { streams 128 }\n",
        ] {
            let (settings, problems) = read(text);
            assert_eq!(problems, []);
            assert_eq!(settings.limits, Limits::default(), "{text}");
            assert_eq!(settings.timeouts, Timeouts::default(), "{text}");
            assert_eq!(settings.stop, Duration::from_secs(10));
            assert_eq!(settings.socket_mode, 0o660);
            assert!(settings.sandbox && settings.workers.is_none());
        }
    }

    #[test]
    fn what_is_written_counts() {
        let text = "workers 3\nsandbox off\nwatch off\npid-file /run/a.pid\nsocket-mode 600\nuser root\n\
            timeouts { idle 5s; stop 1m; last-call 0s }\nlimits { body 1GiB; requests 7 }\nhttp2 { streams 9 }\n";
        let (settings, problems) = read(text);
        assert_eq!(problems, []);
        assert_eq!(settings.workers.map(NonZero::get), Some(3));
        assert_eq!((settings.sandbox, settings.watch), (false, None));
        assert_eq!(settings.pid_file, Path::new("/run/a.pid"));
        assert_eq!(settings.timeouts.idle, Duration::from_secs(5));
        assert_eq!(settings.stop, Duration::from_secs(60));
        assert_eq!(settings.limits.body_bytes, 1 << 30);
        assert_eq!(settings.limits.requests, Some(7));
        assert_eq!(settings.limits.http2.streams, 9);
        assert!(settings.privileges.is_some());
    }

    #[test]
    fn mistakes_have_a_place() {
        let (_, problems) = read("user nobody\ngroup no-such-group\nsocket-mode 999\n");
        assert_eq!(problems.len(), 2);
        assert_eq!(problems[0].span.start, "user nobody\ngroup ".len());
        assert!(problems[1].message.contains("999"));
    }
}
