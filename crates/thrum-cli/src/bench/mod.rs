//! `thrum bench`: what a server can take, and how long its users wait.
//!
//! | module | what is in it |
//! |---|---|
//! | `args` | the command line |
//! | `plan` | from the command line to a plan |
//! | `live` | what is shown while it runs |
//! | `output` | where results go |

mod args;
mod live;
mod output;
mod plan;

use std::io::IsTerminal;
use std::num::NonZero;
use std::process::ExitCode;
use std::time::Duration;

use http::Uri;
use thrum_load::{Load, Results};
use thrum_rt::Runtime;

pub(crate) use self::args::BenchArgs;
use self::args::{BenchCommand, RunArgs};
use crate::ending::{self, First, INTERRUPTED, race};
use crate::error::Failure;

/// No task of a load computes for long; where it looks so, the machine is full, and more threads would not help.
const SLICE: Duration = Duration::from_millis(100);

/// Measures, or compares what was measured.
pub(crate) fn run(args: BenchArgs) -> Result<ExitCode, Failure> {
    match (&args.command, &args.run.url) {
        (Some(BenchCommand::Compare(args)), _) => output::compared(args),
        (None, Some(url)) => measure(&args.run, url),
        (None, None) => Ok(ExitCode::SUCCESS), // the command line is not taken without a URL
    }
}

fn measure(args: &RunArgs, url: &Uri) -> Result<ExitCode, Failure> {
    let usual = || std::thread::available_parallelism().map_or(1, NonZero::get);
    let threads = args.load.threads.map_or_else(usual, NonZero::get);
    let runtime = Runtime::builder().workers(threads).slice(SLICE).build();
    let runtime = runtime.map_err(Failure::Runtime)?;
    let Some(other) = &args.output.against else {
        let results = runtime.block_on(one(args, url, threads))?;
        return output::run(&args.output, &results);
    };
    let (mut a, mut b) = (Vec::new(), Vec::new());
    for _ in 0..args.output.rounds {
        a.push(runtime.block_on(one(args, url, threads))?);
        b.push(runtime.block_on(one(args, other, threads))?);
    }
    output::pair(&args.output, &a, &b)
}

/// Measures one URL once. Ctrl-C ends it; a second one ends the process.
async fn one(args: &RunArgs, url: &Uri, threads: usize) -> Result<Results, Failure> {
    let load = Load::start(plan::plan(args, url, threads)?)
        .await
        .map_err(Failure::Load)?;
    let (stopper, observer) = (load.stopper(), load.observer());
    let stop = async {
        let _ = ending::asked_to_stop().await;
        stopper.cancel();
        let _ = ending::asked_to_stop().await;
        std::process::exit(INTERRUPTED)
    };
    let shows = !args.output.quiet && std::io::stderr().is_terminal();
    let show = async {
        match shows {
            true => live::show(&url.to_string(), observer).await,
            false => std::future::pending().await,
        }
    };
    let watching = async {
        let _: First<(), ()> = race(stop, show).await;
    };
    match race(load.finish(), watching).await {
        First::Left(results) => Ok(results),
        First::Right(()) => std::process::exit(INTERRUPTED), // neither ends by itself
    }
}
