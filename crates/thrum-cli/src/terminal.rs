//! Standard error: coloured on a terminal, plain elsewhere and where `NO_COLOR` is set. What cannot be printed there is not
//! printed; nobody is left to be told. And standard output, for what a command was asked for.

use std::fmt;
use std::io::{self, IsTerminal, Write};
use std::process::ExitCode;
use std::sync::OnceLock;

use anstream::{AutoStream, ColorChoice};
use anstyle::{AnsiColor, Style};
use thrum_server::error_log::{ErrorLog, Tail};
use tracing::level_filters::LevelFilter;
use tracing::{Event, Subscriber};
use tracing_subscriber::layer::{Context, SubscriberExt};
use tracing_subscriber::registry::LookupSpan;
use tracing_subscriber::util::SubscriberInitExt;
use tracing_subscriber::{EnvFilter, Layer, reload};

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

/// Prints to standard output, whole. A reader that has gone wants no more.
pub(crate) fn print_out(text: impl AsRef<[u8]>) -> Result<ExitCode, Failure> {
    write_out(io::stdout().lock(), text.as_ref())
}

/// The same for text with styles, which a terminal shows and nothing else gets.
pub(crate) fn print_styled(text: &str) -> Result<ExitCode, Failure> {
    write_out(anstream::stdout().lock(), text.as_bytes())
}

fn write_out(mut out: impl Write, text: &[u8]) -> Result<ExitCode, Failure> {
    match out.write_all(text).and_then(|()| out.flush()) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(Failure::Stdout(error)),
        _ => Ok(ExitCode::SUCCESS),
    }
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
    let (shown, show) = reload::Layer::new(parsed.unwrap_or_else(|_| EnvFilter::new("warn")));
    let (logged, log) = reload::Layer::new(LevelFilter::OFF);
    tracing_subscriber::registry()
        .with(
            tracing_subscriber::fmt::layer()
                .with_writer(io::stderr)
                .with_ansi(colour)
                .with_target(false)
                .compact()
                .with_filter(shown),
        )
        .with(Later.with_filter(logged))
        // For the admin page, whatever is shown.
        .with(Tail::of_process().with_filter(LevelFilter::INFO))
        .init();
    let _ = LOG_ERRORS.set(Box::new(move |level| {
        let _ = show.reload(EnvFilter::new("off"));
        let _ = log.reload(level);
    }));
    if let Some(mistake) = mistake {
        tracing::warn!("{FILTER}={wanted} is not understood ({mistake}); warnings are shown");
    }
}

/// From now on diagnostics of that level and worse go to the error log, and no longer to standard error.
pub(crate) fn log_errors_to(log: ErrorLog, level: LevelFilter) {
    if ERROR_LOG.set(log).is_ok()
        && let Some(log_errors) = LOG_ERRORS.get()
    {
        log_errors(level);
    }
}

/// The error log, if there is one.
pub(crate) fn error_log() -> Option<&'static ErrorLog> {
    ERROR_LOG.get()
}

static ERROR_LOG: OnceLock<ErrorLog> = OnceLock::new();

/// Has diagnostics go to the error log.
static LOG_ERRORS: OnceLock<Box<dyn Fn(LevelFilter) + Send + Sync>> = OnceLock::new();

/// The error log, which the configuration decides on after the first diagnostics.
struct Later;

impl<S: Subscriber + for<'a> LookupSpan<'a>> Layer<S> for Later {
    fn on_event(&self, event: &Event<'_>, context: Context<'_, S>) {
        if let Some(log) = ERROR_LOG.get() {
            log.on_event(event, context);
        }
    }
}
