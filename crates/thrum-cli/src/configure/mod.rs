//! What can be done with a configuration file besides running it.

mod check;
mod init;
mod mighttpd;

use std::io;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::{Args, Subcommand, ValueEnum};
use thrum_http::Uri;
use thrum_server::config;
use thrum_server::site::TABLES;

use crate::error::Failure;
use crate::terminal::print_out;
use init::Kind;

/// The file that is meant when none is named.
const USUAL: &str = "thrum.conf";

/// What to do with a configuration.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Find every mistake in a configuration
    ///
    /// Exit status: 0 if nothing is wrong, 1 if something is.
    Check(FileArgs),

    /// Lay a configuration out
    ///
    /// Comments stay, and so does what it says. With mistakes in words, strings or braces it is left as it is.
    Fmt(FmtArgs),

    /// Show what holds in the end: every setting, and where it comes from
    Config(FileArgs),

    /// Say what answers a URL: which line, with what, under which settings
    ///
    /// Nobody is asked: where the answer is a file, a redirect or a fixed text it is shown, else what would be asked.
    Explain(ExplainArgs),

    /// Write a configuration to start from
    Init(InitArgs),

    /// Make a configuration of another server's
    #[command(subcommand)]
    Import(ImportCommand),

    /// Print the reference of the configuration, in Markdown
    Reference,
}

/// A configuration, and how to say what comes of it.
#[derive(Debug, Args)]
pub(crate) struct FileArgs {
    /// The configuration
    #[arg(default_value = USUAL)]
    file: PathBuf,

    /// For people or for machines
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
}

/// For people or for machines.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Format {
    Text,
    Json,
}

/// What `thrum explain` was asked.
#[derive(Debug, Args)]
pub(crate) struct ExplainArgs {
    /// The URL, such as https://example.com/api/
    url: Uri,

    #[command(flatten)]
    file: FileArgs,
}

/// What `thrum fmt` was asked.
#[derive(Debug, Args)]
pub(crate) struct FmtArgs {
    /// The configurations; - is standard input, which is laid out to standard output
    #[arg(value_name = "FILE", default_value = USUAL)]
    files: Vec<PathBuf>,

    /// Change nothing; print the names of those that are not laid out, and exit with 1 if there are any
    #[arg(long)]
    check: bool,
}

/// What `thrum init` was asked.
#[derive(Debug, Args)]
pub(crate) struct InitArgs {
    /// What for
    #[arg(value_enum)]
    kind: Kind,

    /// Where to write it; - is standard output
    #[arg(default_value = USUAL)]
    file: PathBuf,
}

/// Whose configuration it is.
#[derive(Debug, Subcommand)]
pub(crate) enum ImportCommand {
    /// Mighttpd 2: its configuration file and its route file
    ///
    /// The result goes to standard output. Everything that has no equal is there as a comment.
    Mighttpd {
        /// Its configuration file
        conf: PathBuf,
        /// Its route file
        route: PathBuf,
    },
}

/// Does it.
pub(crate) fn run(command: Command) -> Result<ExitCode, Failure> {
    match command {
        Command::Check(args) => check::check(&args),
        Command::Config(args) => check::show(&args),
        Command::Explain(args) => check::explain(&args.url, &args.file),
        Command::Fmt(args) => fmt(&args),
        Command::Init(args) => init::init(args.kind, &args.file),
        Command::Import(ImportCommand::Mighttpd { conf, route }) => {
            let imported = mighttpd::import(&conf, &read(&conf)?, &route, &read(&route)?);
            print_out(imported)
        }
        Command::Reference => print_out(config::reference(&TABLES)),
    }
}

fn fmt(args: &FmtArgs) -> Result<ExitCode, Failure> {
    let mut code = ExitCode::SUCCESS;
    for file in &args.files {
        let is_input = file == Path::new("-");
        let name = if is_input {
            Path::new("standard input")
        } else {
            file
        };
        let text = match is_input {
            true => {
                io::read_to_string(io::stdin()).map_err(|e| Failure::Unreadable(name.into(), e))?
            }
            false => read(file)?,
        };
        let laid_out = match config::format(name, &text) {
            Ok(laid_out) => laid_out,
            Err(report) => {
                check::print_mistakes(&report);
                code = ExitCode::FAILURE;
                continue;
            }
        };
        if args.check {
            if laid_out != text {
                print_out(format!("{}\n", name.display()))?;
                code = ExitCode::FAILURE;
            }
        } else if is_input {
            print_out(laid_out)?;
        } else if laid_out != text {
            // In place, so that its owner, its mode and links to it stay.
            std::fs::write(file, laid_out).map_err(|e| Failure::Unwritable(file.clone(), e))?;
        }
    }
    Ok(code)
}

fn read(file: &Path) -> Result<String, Failure> {
    std::fs::read_to_string(file).map_err(|error| Failure::Unreadable(file.into(), error))
}
