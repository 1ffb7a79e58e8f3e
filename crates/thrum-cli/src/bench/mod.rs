//! `thrum bench`: what a server can take, and how long its users wait.
//!
//! | module | what is in it |
//! |---|---|
//! | `args` | the command line |
//! | `plan` | from the command line to a plan |
//! | `live` | what is shown while it runs |

mod args;
mod live;
mod plan;

use std::io::IsTerminal;
use std::num::NonZero;
use std::process::ExitCode;

use http::Uri;
use thrum_load::{Load, Results};
use thrum_rt::Runtime;

pub(crate) use self::args::BenchArgs;
use self::args::{BenchCommand, RunArgs};
use crate::ending::{self, First, race};
use crate::error::Failure;

/// A shell's status for a program that was ended by SIGINT.
const INTERRUPTED: i32 = 130;

/// Measures, or compares what was measured.
pub(crate) fn run(args: BenchArgs) -> Result<ExitCode, Failure> {
    match args.command {
        Some(BenchCommand::Compare(_args)) => Ok(ExitCode::SUCCESS),
        None => measure(&args.run),
    }
}

fn measure(args: &RunArgs) -> Result<ExitCode, Failure> {
    let Some(url) = &args.url else {
        return Ok(ExitCode::SUCCESS); // the command line is not taken without
    };
    let usual = || std::thread::available_parallelism().map_or(1, NonZero::get);
    let threads = args.load.threads.map_or_else(usual, NonZero::get);
    let runtime = Runtime::builder().workers(threads).build();
    let runtime = runtime.map_err(Failure::Runtime)?;
    let results = runtime.block_on(one(args, url, threads))?;
    println!(
        "{} answered, {:.0}/s, errors {:?}, statuses {:?}",
        results.answered,
        results.rate(),
        results.errors,
        results.statuses
    );
    for p in [50.0, 90.0, 99.0, 99.9] {
        println!(
            "p{p} {:?} (service {:?})",
            results.latency.percentile(p),
            results.service.percentile(p)
        );
    }
    let cpu = results.client.user_s + results.client.system_s;
    println!(
        "client CPU {:.2} us a request ({:.2} user)",
        cpu / results.answered as f64 * 1e6,
        results.client.user_s / results.answered as f64 * 1e6
    );
    for warning in &results.warnings {
        println!("warning: {warning}");
    }
    Ok(ExitCode::SUCCESS)
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
