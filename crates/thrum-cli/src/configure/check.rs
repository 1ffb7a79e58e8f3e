//! `thrum check` and `thrum config`.

use std::io;
use std::process::ExitCode;

use anstream::{AutoStream, ColorChoice};
use thrum_server::config::{Config, Report};
use thrum_server::site::{Kept, Sites, TABLES};

use super::{FileArgs, Format, print};
use crate::error::Failure;
use crate::terminal;

/// Says what is wrong, or that nothing is.
pub(super) fn check(args: &FileArgs) -> Result<ExitCode, Failure> {
    match (checked(args), args.format) {
        (Ok(_), Format::Json) => print("[]\n"),
        (Ok(config), Format::Text) => {
            let routes: usize = config.sites.iter().map(|site| site.routes.len()).sum();
            let sites = counted(config.sites.len(), "site");
            let routes = counted(routes, "route");
            print(&format!(
                "{}: {sites}, {routes}, no mistakes\n",
                args.file.display()
            ))
        }
        (Err(report), format) => say(&report, format),
    }
}

/// Shows what holds in the end.
pub(super) fn show(args: &FileArgs) -> Result<ExitCode, Failure> {
    match (checked(args), args.format) {
        (Ok(config), Format::Text) => print(&config.effective().to_string()),
        (Ok(config), Format::Json) => print(&config.effective().to_json()),
        (Err(report), format) => say(&report, format),
    }
}

/// Reads the configuration, and makes all of it as if it were to run.
fn checked(args: &FileArgs) -> Result<Config, Report> {
    let config = Config::read(&args.file, &TABLES)?;
    match Sites::build(&config, &Kept::default()) {
        Ok(_) => Ok(config),
        Err(problems) => Err(config.report(problems)),
    }
}

/// For people to standard error, for machines to standard output.
fn say(report: &Report, format: Format) -> Result<ExitCode, Failure> {
    match format {
        Format::Text => print_mistakes(report),
        Format::Json => {
            print(&report.to_json())?;
        }
    }
    Ok(ExitCode::FAILURE)
}

/// Shows mistakes on standard error.
pub(super) fn print_mistakes(report: &Report) {
    let colour = AutoStream::choice(&io::stderr()) != ColorChoice::Never;
    terminal::print(format_args!("{}", report.render(colour).trim_end()));
}

fn counted(count: usize, what: &str) -> String {
    let s = if count == 1 { "" } else { "s" };
    format!("{count} {what}{s}")
}
