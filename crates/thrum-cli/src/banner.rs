//! What is printed at the start and at the end. To standard error, so that standard output is the access log's alone.

use std::fmt::{self, Write};
use std::path::Path;
use std::time::Duration;

use thrum_http::Stats;
use thrum_server::process::{Listeners, Listening};
use thrum_server::site::Endpoint;

use crate::args::LogTo;
use crate::listen::urls;
use crate::terminal::{self, FAINT, LINK, STRONG};

/// What is served, and how.
pub(crate) struct Start<'a> {
    pub(crate) folder: &'a Path,
    pub(crate) urls: &'a [String],
    pub(crate) workers: usize,
    pub(crate) log: &'a LogTo,
}

/// Which sites are served, and how.
pub(crate) struct RunStart<'a> {
    pub(crate) config: &'a Path,
    pub(crate) sites: usize,
    pub(crate) listeners: &'a Listeners,
    pub(crate) is_secure: &'a dyn Fn(&Endpoint) -> bool,
    pub(crate) workers: usize,
    /// How the process is confined.
    pub(crate) sandbox: &'a str,
}

/// What was done.
pub(crate) struct Summary {
    pub(crate) stats: Stats,
    pub(crate) took: Duration,
    /// Connections that did not finish in time.
    pub(crate) cut: usize,
    /// Lines that the access log lacks.
    pub(crate) dropped: u64,
}

/// Says what is served and where.
pub(crate) fn print_start(start: &Start<'_>) {
    terminal::print(format_args!("{start}"));
}

/// Says which sites are served and where.
pub(crate) fn print_run(start: &RunStart<'_>) {
    terminal::print(format_args!("{start}"));
}

/// Says that open requests are being finished.
pub(crate) fn print_draining(grace: Duration) {
    let seconds = grace.as_secs();
    let start = terminal::over_ctrl_c();
    terminal::print(format_args!(
        "{start}Finishing open requests, for {seconds} s at most. Ctrl-C again stops at once."
    ));
}

/// Says what was done.
pub(crate) fn print_summary(summary: &Summary) {
    let start = terminal::over_ctrl_c();
    terminal::print(format_args!("{start}{summary}"));
}

impl fmt::Display for Start<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let version = env!("CARGO_PKG_VERSION");
        writeln!(
            f,
            "{STRONG}thrum {version}{STRONG:#} serves {STRONG}{}{STRONG:#}\n",
            shown(self.folder)
        )?;
        for url in self.urls {
            writeln!(f, "  {LINK}{url}{LINK:#}")?;
        }
        let workers = counted(self.workers as u64, "worker", "workers");
        let log = match self.log {
            LogTo::Off => "no access log (--log FILE writes one)".to_owned(),
            LogTo::Stdout => "access log to standard output".to_owned(),
            LogTo::File(path) => format!("access log to {}", path.display()),
        };
        write!(f, "\n{FAINT}{workers}, {log}. Ctrl-C to stop.{FAINT:#}")
    }
}

impl fmt::Display for RunStart<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let version = env!("CARGO_PKG_VERSION");
        let sites = sites(self.sites);
        let config = shown(self.config);
        writeln!(
            f,
            "{STRONG}thrum {version}{STRONG:#} serves {sites} of {STRONG}{config}{STRONG:#}\n"
        )?;
        for (endpoint, sockets) in self.listeners.iter() {
            let scheme = match (self.is_secure)(endpoint) {
                true => "https",
                false => "http",
            };
            let urls = urls(scheme, sockets.iter().filter_map(Listening::address));
            if urls.is_empty() {
                writeln!(f, "  {endpoint}")?;
            }
            for url in urls {
                writeln!(f, "  {LINK}{url}{LINK:#}")?;
            }
        }
        let workers = counted(self.workers as u64, "worker", "workers");
        let (sandbox, pid) = (self.sandbox, std::process::id());
        write!(
            f,
            "\n{FAINT}{workers}, sandbox: {sandbox}, process {pid}. Ctrl-C to stop.{FAINT:#}"
        )
    }
}

/// The folder as a full path, where that can be had.
fn shown(folder: &Path) -> String {
    let full = folder.canonicalize();
    full.as_deref().unwrap_or(folder).display().to_string()
}

impl fmt::Display for Summary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            stats,
            took,
            cut,
            dropped,
        } = self;
        write!(
            f,
            "Answered {} on {} in {}",
            counted(stats.requests, "request", "requests"),
            counted(stats.accepted, "connection", "connections"),
            duration(*took),
        )?;
        let rejected: u64 = stats.rejects.values().sum();
        let notable = [
            (rejected, "request was rejected", "requests were rejected"),
            (
                stats.errors + stats.panics,
                "request failed",
                "requests failed",
            ),
            (
                stats.refused,
                "connection was too many",
                "connections were too many",
            ),
            (
                *cut as u64,
                "connection was cut off",
                "connections were cut off",
            ),
            (
                *dropped,
                "line is missing in the access log",
                "lines are missing in the access log",
            ),
        ];
        for (count, one, many) in notable {
            if count > 0 {
                write!(f, "; {}", counted(count, one, many))?;
            }
        }
        f.write_char('.')
    }
}

/// `1 site`, `2 sites`.
pub(crate) fn sites(count: usize) -> String {
    counted(count as u64, "site", "sites")
}

/// `1 line`, `2 lines`, `1,234 lines`.
pub(crate) fn counted(count: u64, one: &str, many: &str) -> String {
    let digits = count.to_string();
    let mut text = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    let _ = write!(text, " {}", if count == 1 { one } else { many });
    text
}

/// The two largest units, of which seconds have a decimal below a minute.
fn duration(took: Duration) -> String {
    let seconds = took.as_secs();
    match (
        seconds / 86_400,
        seconds / 3600 % 24,
        seconds / 60 % 60,
        seconds % 60,
    ) {
        (0, 0, 0, _) => format!("{:.1} s", took.as_secs_f64()),
        (0, 0, minutes, seconds) => format!("{minutes} min {seconds} s"),
        (0, hours, minutes, _) => format!("{hours} h {minutes} min"),
        (days, hours, ..) => format!("{days} d {hours} h"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_read_well() {
        assert_eq!(counted(0, "line", "lines"), "0 lines");
        assert_eq!(counted(1, "line", "lines"), "1 line");
        assert_eq!(counted(999, "line", "lines"), "999 lines");
        assert_eq!(counted(1_234_567, "line", "lines"), "1,234,567 lines");
    }

    #[test]
    fn what_was_not_as_it_should_be_is_said() {
        let summary = |cut, dropped| {
            let took = Duration::from_secs(1);
            Summary {
                stats: Stats::default(),
                took,
                cut,
                dropped,
            }
            .to_string()
        };
        assert_eq!(
            summary(0, 0),
            "Answered 0 requests on 0 connections in 1.0 s."
        );
        assert_eq!(
            summary(1, 2),
            "Answered 0 requests on 0 connections in 1.0 s; 1 connection was cut off; \
             2 lines are missing in the access log."
        );
    }

    #[test]
    fn durations_read_well() {
        let text = |seconds: f64| duration(Duration::from_secs_f64(seconds));
        assert_eq!(text(0.04), "0.0 s");
        assert_eq!(text(59.94), "59.9 s");
        assert_eq!(text(61.5), "1 min 1 s");
        assert_eq!(text(7261.0), "2 h 1 min");
        assert_eq!(text(180_000.0), "2 d 2 h");
    }
}
