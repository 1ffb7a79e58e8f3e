//! `thrum check` and `thrum config`.

use std::io;
use std::process::ExitCode;

use anstream::{AutoStream, ColorChoice};
use thrum_http::Uri;
use thrum_server::config::{Config, Report};
use thrum_server::site::{Kept, Sites, TABLES};

use super::{FileArgs, Format};
use crate::banner;
use crate::error::Failure;
use crate::run::Prepared;
use crate::terminal::{self, print_out};

/// Says what is wrong, or that nothing is.
pub(super) fn check(args: &FileArgs) -> Result<ExitCode, Failure> {
    match (Prepared::read(&args.file, &Kept::default()), args.format) {
        (Ok(_), Format::Json) => print_out("[]\n"),
        (Ok(Prepared { config, .. }), Format::Text) => {
            let routes: usize = config.sites.iter().map(|site| site.routes.len()).sum();
            let sites = banner::sites(config.sites.len());
            let routes = banner::counted(routes as u64, "route", "routes");
            print_out(format!(
                "{}: {sites}, {routes}, no mistakes\n",
                args.file.display()
            ))
        }
        (Err(Failure::Config(report)), format) => say(&report, format),
        (Err(failure), _) => Err(failure),
    }
}

/// Shows what holds in the end.
pub(super) fn show(args: &FileArgs) -> Result<ExitCode, Failure> {
    match (checked(args), args.format) {
        (Ok((config, _)), Format::Text) => print_out(config.effective().to_string()),
        (Ok((config, _)), Format::Json) => print_out(config.effective().to_json()),
        (Err(report), format) => say(&report, format),
    }
}

/// Says what becomes of a request.
pub(super) fn explain(url: &Uri, args: &FileArgs) -> Result<ExitCode, Failure> {
    if url.scheme().is_none() || url.host().is_none() {
        return Err(Failure::Url(url.to_string()));
    }
    let (config, sites) = match checked(args) {
        Ok(checked) => checked,
        Err(report) => return say(&report, args.format),
    };
    let told = thrum_rt::block_on(sites.explain(&config, url));
    match args.format {
        Format::Text => print_out(told.to_string()),
        Format::Json => print_out(told.to_json()),
    }
}

/// Reads the configuration, and makes all of it as if it were to run.
fn checked(args: &FileArgs) -> Result<(Config, Sites), Report> {
    let config = Config::read(&args.file, &TABLES)?;
    match Sites::build(&config, &Kept::default()) {
        Ok(sites) => Ok((config, sites)),
        Err(problems) => Err(config.report(problems)),
    }
}

/// For people to standard error, for machines to standard output.
fn say(report: &Report, format: Format) -> Result<ExitCode, Failure> {
    match format {
        Format::Text => print_mistakes(report),
        Format::Json => {
            print_out(report.to_json())?;
        }
    }
    Ok(ExitCode::FAILURE)
}

/// Shows mistakes on standard error.
pub(super) fn print_mistakes(report: &Report) {
    let colour = AutoStream::choice(&io::stderr()) != ColorChoice::Never;
    terminal::print(format_args!("{}", report.render(colour).trim_end()));
}
