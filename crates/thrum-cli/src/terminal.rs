//! Standard error: coloured on a terminal, plain elsewhere and where `NO_COLOR` is set. What cannot be printed is not
//! printed; nobody is left to be told.

use std::fmt;
use std::io::{self, IsTerminal, Write};

use anstream::{AutoStream, ColorChoice};
use anstyle::{AnsiColor, Style};
use thrum_server::error_log::Tail;
use tracing::level_filters::LevelFilter;
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;
use tracing_subscriber::{EnvFilter, Layer};

use crate::error::Failure;

/// The environment variable that says which diagnostics are shown.
const FILTER: &str = "THRUM_LOG";

pub(crate) const STRONG: Style = Style::new().bold();
pub(crate) const FAINT: Style = Style::new().dimmed();
pub(crate) const LINK: Style = AnsiColor::Cyan.on_default().underline();
const ERROR: Style = AnsiColor::Red.on_default().bold();
const ADVICE: Style = AnsiColor::Cyan.on_default().bold();

/// Prints to standard error, in one write.
pub(crate) fn print(text: fmt::Arguments<'_>) {
    let mut whole = text.to_string();
    whole.push('\n');
    let _ = anstream::stderr().write_all(whole.as_bytes());
}

/// What to begin a line with that may follow a Ctrl-C: the terminal has shown that as `^C`.
pub(crate) fn over_ctrl_c() -> &'static str {
    if io::stderr().is_terminal() { "\r" } else { "" }
}

/// Prints what went wrong and what to do about it.
pub(crate) fn print_error(failure: &Failure) {
    print(format_args!("{ERROR}error:{ERROR:#} {failure}"));
    if let Some(advice) = failure.advice() {
        print(format_args!("{ADVICE} help:{ADVICE:#} {advice}"));
    }
}

/// Shows the program's diagnostics on standard error: warnings and errors, or what `THRUM_LOG` asks for.
pub(crate) fn start_diagnostics() {
    let wanted = std::env::var(FILTER)
        .ok()
        .filter(|wanted| !wanted.is_empty());
    let wanted = wanted.unwrap_or_else(|| "warn".to_owned());
    let parsed = EnvFilter::try_new(&wanted);
    let mistake = parsed.as_ref().err().map(ToString::to_string);
    let colour = AutoStream::choice(&io::stderr()) != ColorChoice::Never;
    let shown = tracing_subscriber::fmt::layer()
        .with_writer(io::stderr)
        .with_ansi(colour)
        .with_target(false)
        .compact()
        .with_filter(parsed.unwrap_or_else(|_| EnvFilter::new("warn")));
    // For the admin page, whatever is shown here.
    let kept = Tail::of_process().with_filter(LevelFilter::INFO);
    tracing_subscriber::registry().with(shown).with(kept).init();
    if let Some(mistake) = mistake {
        tracing::warn!("{FILTER}={wanted} is not understood ({mistake}); warnings are shown");
    }
}
