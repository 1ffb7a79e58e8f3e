//! The command line and its help.

use std::convert::Infallible;
use std::num::NonZero;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use clap::builder::styling::{AnsiColor, Styles};
use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{Args, CommandFactory, Parser, Subcommand};
use thrum_load::foreign;

use crate::bench::BenchArgs;
use crate::configure;
use crate::documents::{CompletionsArgs, ManArgs};
use crate::listen::Listen;
use crate::passwd::PasswdArgs;
use crate::top::TopArgs;

const STYLES: Styles = Styles::styled()
    .header(AnsiColor::Green.on_default().bold())
    .usage(AnsiColor::Green.on_default().bold())
    .literal(AnsiColor::Cyan.on_default().bold())
    .placeholder(AnsiColor::Cyan.on_default());

const EXAMPLES: &str = "\
Examples:
  thrum serve                          this folder, on http://127.0.0.1:8080/
  thrum serve public --open            a folder, and show it in the browser
  thrum serve public --listen :8080    for the whole network, not just this machine
  thrum init proxy                     a configuration to start from
  thrum bench http://localhost:8080/   what a server can take, and how long its users wait
  thrum check thrum.conf               every mistake in a configuration
  thrum help serve                     everything it can do";

const SERVE_EXAMPLES: &str = "\
Examples:
  thrum serve                          this folder, on http://127.0.0.1:8080/
  thrum serve public --open            a folder, and show it in the browser
  thrum serve --listen 3000            another port, for this machine only
  thrum serve --listen :8080           for the whole network
  thrum serve --listen 127.0.0.1:0     any free port; it is printed
  thrum serve --log access.log         write an access log; move the file away to rotate it
  thrum serve --quiet --log - | less   just the access log

Ctrl-C stops taking connections and finishes open requests, for 10 seconds at most; a second Ctrl-C stops at once.
Exit status: 0 after Ctrl-C or SIGTERM, 1 if it cannot serve, 2 for a wrong command line, 130 after a second Ctrl-C.
Diagnostics go to standard error; THRUM_LOG=info (or debug, trace) shows more of them.";

const RUN_EXAMPLES: &str = "\
Examples:
  thrum run                            the sites of thrum.conf
  thrum run site.conf --check          say what is wrong with a configuration, and serve nothing
  thrum reload                         read the configuration again; the old one is kept if the new one is wrong
  thrum upgrade                        have this program take the running one's place, without a refused connection
  thrum retire                         finish open connections and go

Signals: HUP reloads, USR2 upgrades, QUIT retires, INT and TERM stop; a second INT or TERM does not wait. USR1 says what
all tasks wait for.
Exit status: 0 after a stop, 1 if it cannot serve, 2 for a wrong command line, 130 after a second Ctrl-C.
Diagnostics go to standard error; THRUM_LOG=info (or debug, trace) shows more of them.";

/// The web server that lets nobody wait for a slow neighbour.
#[derive(Debug, Parser)]
#[command(name = "thrum", version, styles = STYLES, after_help = EXAMPLES)]
#[command(arg_required_else_help = true, max_term_width = 100)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

/// What to do.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Serve a folder over HTTP
    Serve(ServeArgs),
    /// Measure what a server can take, and how long its users wait
    Bench(Box<BenchArgs>),
    /// Make a user's line for a file of users, or put it there
    ///
    /// The password is asked for at the terminal, or is the first line of standard input. The line has its hash (Argon2id).
    Passwd(PasswdArgs),
    /// Serve the sites of a configuration
    Run(RunArgs),
    /// Have a running server read its configuration again
    Reload(TellArgs),
    /// Have a new program take the place of a running server, without a refused connection
    Upgrade(TellArgs),
    /// Have a running server finish what it has and go
    Retire(TellArgs),
    /// Stop a running server
    Stop(TellArgs),
    /// Show what a running server does
    Top(TopArgs),

    #[command(flatten)]
    Configure(configure::Command),

    /// Write man pages, one for each command
    Man(ManArgs),
    /// Print a completion script for a shell
    Completions(CompletionsArgs),
}

/// What `thrum run` was asked.
#[derive(Debug, Args)]
#[command(after_help = RUN_EXAMPLES)]
pub(crate) struct RunArgs {
    /// The configuration [default: thrum.conf, or /etc/thrum/thrum.conf]
    #[arg(value_name = "FILE")]
    config: Option<PathBuf>,

    /// Only say whether the configuration is right
    #[arg(long)]
    pub(crate) check: bool,

    /// Keep all the rights that the user has
    #[arg(long)]
    pub(crate) no_sandbox: bool,

    /// How many requests are computed at the same time [default: as configured, or one for each CPU]
    #[arg(
        short,
        long,
        value_name = "N",
        env = "THRUM_WORKERS",
        hide_env_values = true
    )]
    pub(crate) workers: Option<NonZero<u16>>,

    /// Print nothing but problems
    #[arg(short, long)]
    pub(crate) quiet: bool,

    /// Take the sockets of the process at this control socket, and its place
    #[arg(long, value_name = "SOCKET", hide = true)]
    pub(crate) take_over: Option<PathBuf>,
}

impl RunArgs {
    /// The configuration's file.
    pub(crate) fn config(&self) -> PathBuf {
        config_or_usual(self.config.as_deref())
    }

    /// What a successor is told too.
    pub(crate) fn handed_on(&self) -> Vec<String> {
        let mut args = Vec::new();
        if let Some(workers) = self.workers {
            args.extend(["--workers".to_owned(), workers.to_string()]);
        }
        let switches = [(self.no_sandbox, "--no-sandbox"), (self.quiet, "--quiet")];
        let on = switches.into_iter().filter(|(on, _)| *on);
        args.extend(on.map(|(_, name)| name.to_owned()));
        args
    }
}

/// Whom a command is for.
#[derive(Debug, Args)]
pub(crate) struct TellArgs {
    /// The configuration that the server runs [default: thrum.conf, or /etc/thrum/thrum.conf]
    #[arg(value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,

    /// The server's PID file, if it is not to be looked up in the configuration
    #[arg(long, value_name = "FILE", conflicts_with = "config")]
    pub(crate) pid_file: Option<PathBuf>,

    /// The server's process number; it gets a signal, and no answer is waited for
    #[arg(long, value_name = "PID", conflicts_with_all = ["config", "pid_file"])]
    pub(crate) pid: Option<i32>,
}

/// The file that was named, else the one that is here, else the system's.
pub(crate) fn config_or_usual(config: Option<&Path>) -> PathBuf {
    let here = Path::new("thrum.conf");
    let system = Path::new("/etc/thrum/thrum.conf");
    match config {
        Some(config) => config.to_owned(),
        None if !here.exists() && system.exists() => system.to_owned(),
        None => here.to_owned(),
    }
}

/// What `thrum serve` was asked.
#[derive(Debug, Args)]
#[command(after_help = SERVE_EXAMPLES)]
pub(crate) struct ServeArgs {
    /// The folder to serve
    #[arg(value_name = "DIR", default_value = ".", hide_default_value = false)]
    pub(crate) folder: PathBuf,

    /// Where to listen; may be given more than once
    ///
    /// ADDR:PORT is one address of this machine, :PORT all of them, PORT alone 127.0.0.1 (this machine only). Port 0
    /// is any free one.
    #[arg(short, long, value_name = "ADDR:PORT", default_value = Listen::DEFAULT)]
    pub(crate) listen: Vec<Listen>,

    /// How many requests are computed at the same time [default: one for each CPU]
    #[arg(
        short,
        long,
        value_name = "N",
        env = "THRUM_WORKERS",
        hide_env_values = true
    )]
    pub(crate) workers: Option<NonZero<u16>>,

    /// Write an access log in Combined format to a file, or to standard output (-)
    ///
    /// By default it goes to standard output if that is a terminal, and nowhere if it is not, or with --quiet.
    #[arg(long, value_name = "FILE|-|off")]
    pub(crate) log: Option<LogTo>,

    /// The file that answers for a folder; give it more than once to try several [default: index.html]
    #[arg(long, value_name = "NAME")]
    pub(crate) index: Vec<String>,

    /// Show what is in a folder that has no index file
    #[arg(long)]
    pub(crate) listing: bool,

    /// Open it in the browser
    #[arg(short, long)]
    pub(crate) open: bool,

    /// Print nothing but problems (and the access log, if --log asks for it)
    #[arg(short, long)]
    pub(crate) quiet: bool,
}

/// Where the access log goes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum LogTo {
    Off,
    Stdout,
    File(PathBuf),
}

impl FromStr for LogTo {
    type Err = Infallible;

    fn from_str(text: &str) -> Result<Self, Infallible> {
        Ok(match text {
            "off" => Self::Off,
            "-" => Self::Stdout,
            path => Self::File(path.into()),
        })
    }
}

/// The command line's wishes. Prints help, the version or what is wrong, and exits, if they come to that.
pub(crate) fn parse() -> Command {
    match Cli::try_parse() {
        Ok(cli) => cli.command,
        Err(mut error) => {
            if let Some(told) = foreign_flag(&error) {
                error.remove(ContextKind::SuggestedArg);
                let told = told.lines().map(|line| line.to_owned().into()).collect();
                error.insert(ContextKind::Suggested, ContextValue::StyledStrs(told));
            }
            if let Some(folder) = folder_without_serve(&error) {
                let advice = format!("to serve a folder: thrum serve {folder}").into();
                error.remove(ContextKind::SuggestedSubcommand);
                error.insert(
                    ContextKind::Suggested,
                    ContextValue::StyledStrs(vec![advice]),
                );
            }
            error.exit()
        }
    }
}

/// The definition of the command line, for what is made of it.
pub(crate) fn definition() -> clap::Command {
    Cli::command()
}

/// What thrum has for a flag of another load generator, if that is what somebody typed.
fn foreign_flag(error: &clap::Error) -> Option<String> {
    let mut words = std::env::args().skip(1);
    if error.kind() != ErrorKind::UnknownArgument || words.next()? != "bench" {
        return None;
    }
    let Some(ContextValue::String(flag)) = error.get(ContextKind::InvalidArg) else {
        return None;
    };
    let words: Vec<_> = words.collect();
    let at = words
        .iter()
        .position(|word| word.starts_with(flag.as_str()))?;
    let value = words.get(at + 1).map(String::as_str);
    foreign::explain(&words[at], value)
}

/// Whether somebody typed `thrum public`.
fn folder_without_serve(error: &clap::Error) -> Option<String> {
    if error.kind() != ErrorKind::InvalidSubcommand {
        return None;
    }
    match error.get(ContextKind::InvalidSubcommand) {
        Some(ContextValue::String(word)) if PathBuf::from(word).is_dir() => Some(word.clone()),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn serve(line: &str) -> Result<ServeArgs, ErrorKind> {
        let words = ["thrum", "serve"]
            .into_iter()
            .chain(line.split_whitespace());
        Cli::try_parse_from(words)
            .map(|cli| match cli.command {
                Command::Serve(args) => args,
                other => panic!("not serve: {other:?}"),
            })
            .map_err(|error| error.kind())
    }

    #[test]
    fn the_command_is_consistent() {
        Cli::command().debug_assert();
    }

    #[test]
    fn defaults() {
        let args = serve("").unwrap();
        assert_eq!(args.folder, PathBuf::from("."));
        assert_eq!(args.listen, [Listen::DEFAULT.parse().unwrap()]);
        assert_eq!(args.log, None);
        assert!(args.index.is_empty() && !args.listing && !args.open && !args.quiet);
    }

    #[test]
    fn all_at_once() {
        let line = "site --listen :80 --listen [::1]:0 --workers 3 --log - --index a --index b --listing --open -q";
        let args = serve(line).unwrap();
        assert_eq!(args.folder, PathBuf::from("site"));
        assert_eq!(args.listen.len(), 2);
        assert_eq!(args.workers.map(NonZero::get), Some(3));
        assert_eq!(args.log, Some(LogTo::Stdout));
        assert_eq!(args.index, ["a", "b"]);
        assert!(args.listing && args.open && args.quiet);
    }

    #[test]
    fn log_targets() {
        assert_eq!(serve("--log off").unwrap().log, Some(LogTo::Off));
        assert_eq!(
            serve("--log ./off").unwrap().log,
            Some(LogTo::File("./off".into()))
        );
    }

    #[test]
    fn what_makes_no_sense_is_refused() {
        assert_eq!(
            serve("--workers 0").unwrap_err(),
            ErrorKind::ValueValidation
        );
        assert_eq!(
            serve("--workers many").unwrap_err(),
            ErrorKind::ValueValidation
        );
        assert_eq!(
            serve("--listen nonsense").unwrap_err(),
            ErrorKind::ValueValidation
        );
        assert_eq!(
            serve("--lissen 80").unwrap_err(),
            ErrorKind::UnknownArgument
        );
        assert_eq!(serve("one two").unwrap_err(), ErrorKind::UnknownArgument);
    }
}
