//! Where results go: the terminal, files, the exit code.

use std::fs;
use std::path::Path;
use std::process::ExitCode;

use thrum_load::Results;
use thrum_load::compare::{Comparison, compare};
use thrum_load::report::{Run, csv, hdr, html, json, text};

use super::args::{CompareArgs, OutputArgs};
use crate::error::Failure;
use crate::terminal::{self, print_out, print_styled};

/// The status of a run whose budget does not hold.
const OVER_BUDGET: u8 = 3;

/// Reports a run.
pub(super) fn run(args: &OutputArgs, results: &Results) -> Result<ExitCode, Failure> {
    let runs = [Run { name: "A", results }];
    print(args, &text::run(results))?;
    write(args.json.as_deref(), json::run(results).as_bytes())?;
    write_all(args, &runs, None)?;
    ending(args, Some(results), results.answered == 0)
}

/// Reports the rounds of two targets that were measured in turns.
pub(super) fn pair(args: &OutputArgs, a: &[Results], b: &[Results]) -> Result<ExitCode, Failure> {
    let comparison = compare(a, b);
    let joined = [Results::join(a), Results::join(b)];
    for all in joined.iter().flatten() {
        print(args, &text::run(all))?;
        print(args, "\n")?;
    }
    print(args, &text::comparison(&comparison))?;
    write(
        args.json.as_deref(),
        json::pair(a, b, &comparison).as_bytes(),
    )?;
    let mut runs = Vec::new();
    let named = a
        .iter()
        .map(|run| ("A", run))
        .chain(b.iter().map(|run| ("B", run)));
    for (name, results) in named {
        runs.push(Run { name, results });
    }
    write_all(args, &runs, Some(&comparison))?;
    let is_silent = joined.iter().flatten().any(|all| all.answered == 0);
    ending(args, joined[0].as_ref(), is_silent)
}

/// Says whether results that were written before differ.
pub(super) fn compared(args: &CompareArgs) -> Result<ExitCode, Failure> {
    let comparison = compare(&read(&args.a)?, &read(&args.b)?);
    match args.json {
        true => print_out(json::comparison(&comparison)),
        false => print_styled(&text::comparison(&comparison)),
    }
}

fn read(path: &Path) -> Result<Vec<Results>, Failure> {
    let text =
        fs::read_to_string(path).map_err(|error| Failure::Unreadable(path.to_owned(), error))?;
    json::read(&text).map_err(|error| Failure::Results(path.to_owned(), error))
}

/// The exit code of results that are held to the budget, if there is one.
fn ending(
    args: &OutputArgs,
    results: Option<&Results>,
    is_silent: bool,
) -> Result<ExitCode, Failure> {
    let mut held = true;
    if let (Some(budget), Some(results)) = (&args.budget, results) {
        let checks = budget.check(results);
        held = checks.iter().all(|check| check.held);
        if !held || !args.quiet {
            terminal::print(format_args!("{}", text::budget(&checks).trim_end()));
        }
    }
    Ok(match (held, is_silent) {
        (false, _) => ExitCode::from(OVER_BUDGET),
        (true, true) => ExitCode::FAILURE,
        (true, false) => ExitCode::SUCCESS,
    })
}

/// To standard output, unless that is somebody else's.
fn print(args: &OutputArgs, text: &str) -> Result<(), Failure> {
    let files = [&args.json, &args.csv, &args.hdr, &args.report];
    let is_taken = files.into_iter().flatten().any(|path| is_stdout(path));
    if args.quiet || is_taken {
        return Ok(());
    }
    print_styled(text).map(|_| ())
}

fn write_all(
    args: &OutputArgs,
    runs: &[Run<'_>],
    comparison: Option<&Comparison>,
) -> Result<(), Failure> {
    write(args.csv.as_deref(), csv::seconds(runs).as_bytes())?;
    write(args.hdr.as_deref(), &hdr::intervals(runs))?;
    write(
        args.report.as_deref(),
        html::page(runs, comparison).as_bytes(),
    )
}

fn write(path: Option<&Path>, bytes: &[u8]) -> Result<(), Failure> {
    match path {
        None => Ok(()),
        Some(path) if is_stdout(path) => print_out(bytes).map(|_| ()),
        Some(path) => {
            fs::write(path, bytes).map_err(|error| Failure::Unwritable(path.to_owned(), error))
        }
    }
}

fn is_stdout(path: &Path) -> bool {
    path == Path::new("-")
}
