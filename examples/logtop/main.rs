//! Which paths of a web server are asked for the most? `logtop [--top N] [--json] [FILE|-]...` reads access logs of any size,
//! in the Common or the Combined Log Format, gzip, Zstandard or neither, in constant memory.

mod log;
mod report;
mod top;

use std::io::{self, Write};
use std::os::fd::AsFd;
use std::pin::pin;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use bytes::Bytes;
use indicatif::{ProgressBar, ProgressStyle};
use thrum::parse::log_line::LINE_BYTES;
use thrum::stream::stage::{self, Tally, decompress};
use thrum::stream::{self, Source, sink, source};
use thrum::{fs, select, signal, time};
use thrum_examples::{arguments, wrong};

use crate::log::Log;

const USAGE: &str = "usage: logtop [--top N] [--json] [FILE|-]...    reads access logs, the standard input if none is named
       --top N    shows the N paths with the most hits, default 10
       --json     prints one JSON object";

/// So many bytes of the standard input are read at once.
const CHUNK: usize = 128 * 1024;

#[thrum::main]
async fn main() -> ExitCode {
    let Options { top, json, files } = options();
    let (begin, read) = (Instant::now(), Tally::new());
    let bar = progress_bar(&files).await;
    let mut reading = thrum::spawn(read_all(files, read.clone()));
    let mut interrupted = pin!(signal::ctrl_c());
    let (log, failures) = loop {
        select! {
            done = &mut reading => break done.expect("nobody aborts it, and it does not panic"),
            _ = &mut interrupted => {
                bar.finish_and_clear();
                std::process::exit(130)
            }
            () = time::sleep(Duration::from_millis(100)) => bar.set_position(read.total()),
        }
    };
    bar.finish_and_clear();
    for failure in &failures {
        eprintln!("{failure}");
    }
    let report = if json { report::json } else { report::text };
    let written = io::stdout().write_all(report(&log, top, begin.elapsed()).as_bytes());
    if let Err(error) = &written {
        eprintln!("the report cannot be written: {error}");
    }
    if failures.is_empty() && written.is_ok() {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}

/// Counts the lines of all files, and says which could not be read.
async fn read_all(files: Vec<String>, read: Tally) -> (Log, Vec<String>) {
    let (mut log, mut failures) = (Log::new(), Vec::new());
    for file in files {
        let name = if file == "-" { "standard input" } else { &file };
        log.file(name);
        let done = match file.as_str() {
            "-" => match standard_input() {
                Ok(input) => count(source::reader(input).chunk(CHUNK), &mut log, &read).await,
                Err(error) => Err(stream::Error::new("stdin", error)),
            },
            path => count(source::file(path), &mut log, &read).await,
        };
        if let Err(error) = done {
            failures.push(match error.stage() {
                "file" => error.into_cause().to_string(),
                _ => format!("{name}: {}", error.into_cause()),
            });
        }
    }
    (log, failures)
}

/// The standard input as a file, which is read in large pieces. A read of a pipe may block: nothing else is in its task.
fn standard_input() -> io::Result<fs::File> {
    let input = io::stdin().as_fd().try_clone_to_owned()?;
    Ok(std::fs::File::from(input).into())
}

async fn count<S: Source<Item = Bytes>>(
    source: S,
    log: &mut Log,
    read: &Tally,
) -> stream::Result<()> {
    source
        .pipe(read.bytes())
        .pipe(decompress::auto().unlimited())
        .pipe(log.bytes.bytes())
        .pipe(stage::blocks(b'\n', LINE_BYTES).skip_long(&log.too_long))
        .run(sink::fold(log, |log, lines: Bytes| log.add(&lines)))
        .await
        .map(|_| ())
}

/// A bar on a terminal, else one that nobody sees.
async fn progress_bar(files: &[String]) -> ProgressBar {
    let mut size = Some(0);
    for file in files {
        let metadata = fs::metadata(file)
            .await
            .ok()
            .filter(|metadata| metadata.is_file());
        size = size
            .zip(metadata)
            .map(|(size, metadata)| size + metadata.len());
    }
    let (bar, template) = match size {
        Some(size) => (
            ProgressBar::new(size),
            "{wide_bar} {decimal_bytes} of {decimal_total_bytes}, {decimal_bytes_per_sec}, {eta} left",
        ),
        None => (
            ProgressBar::no_length(),
            "{spinner} {decimal_bytes}, {decimal_bytes_per_sec}",
        ),
    };
    bar.with_style(ProgressStyle::with_template(template).expect("the template is right"))
}

struct Options {
    top: usize,
    json: bool,
    files: Vec<String>,
}

fn options() -> Options {
    let (mut top, mut json, mut files) = (10, false, Vec::new());
    let mut words = arguments(USAGE, usize::MAX).into_iter();
    while let Some(word) = words.next() {
        match word.as_str() {
            "--json" => json = true,
            "--top" => {
                let number = words.next().unwrap_or_default();
                top = number.parse().unwrap_or_else(|_| {
                    wrong(USAGE, &format!("{number:?} is not a number of paths"))
                });
            }
            "--" => files.extend(words.by_ref()),
            flag if flag.len() > 1 && flag.starts_with('-') => {
                wrong(USAGE, &format!("there is no flag {flag}"))
            }
            _ => files.push(word),
        }
    }
    if files.is_empty() {
        files.push("-".to_owned());
    }
    Options { top, json, files }
}
