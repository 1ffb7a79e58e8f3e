//! `thrum serve`: from the arguments to the exit code.
//!
//! The order of the start: whatever can be wrong is tried before anything is printed (folder, log, addresses), and
//! signals are caught before it is said that it serves. The order of the end: no new connections, open requests
//! finish or run out of time, the log is written, the count is printed.

use std::future::poll_fn;
use std::io::{self, IsTerminal};
use std::num::NonZero;
use std::path::Path;
use std::pin::Pin;
use std::process::ExitCode;
use std::sync::Arc;
use std::task::Poll;
use std::thread::available_parallelism;
use std::time::{Duration, Instant};

use thrum_http::{Limits, Server};
use thrum_rt::{JoinHandle, Runtime};
use thrum_server::access_log::AccessLog;
use thrum_server::files::{Files, FilesError};

use crate::args::{LogTo, ServeArgs};
use crate::banner::{self, Start, Summary};
use crate::browser;
use crate::descriptors::most_connections;
use crate::ending::{self, First, asked_to_stop, race};
use crate::error::Failure;
use crate::listen;

/// How long open requests may take to finish after the first Ctrl-C.
const GRACE: Duration = Duration::from_secs(10);

/// Serves until it is told to stop. Returns when all open requests have finished or ran out of time.
pub(crate) fn run(args: ServeArgs) -> Result<ExitCode, Failure> {
    let files = open_folder(&args)?;
    let log_to = log_to(&args);
    let log = open_log(&log_to)?;
    let most_connections = most_connections();

    let workers = args.workers.map_or_else(
        || available_parallelism().map_or(1, NonZero::get),
        |workers| usize::from(workers.get()),
    );
    let runtime = Runtime::builder()
        .dump_on_sigusr1(true)
        .workers(workers)
        .build()
        .map_err(Failure::Runtime)?;
    let serving = Serving {
        args,
        files,
        log,
        log_to,
        workers,
        most_connections,
    };
    runtime.block_on(serving.run())?;
    Ok(ExitCode::SUCCESS)
}

/// What was opened.
struct Serving {
    args: ServeArgs,
    files: Files,
    log: Option<Arc<AccessLog>>,
    log_to: LogTo,
    workers: usize,
    most_connections: usize,
}

impl Serving {
    async fn run(self) -> Result<(), Failure> {
        let mut limits = Limits::default();
        limits.connections = limits.connections.min(self.most_connections);
        let mut server = Server::new().limits(limits);
        if let Some(log) = &self.log {
            server = server.observer(log.clone());
        }
        let mut addresses = Vec::new();
        let mut accepting = Vec::new();
        for listen in &self.args.listen {
            for listener in listen.bind().await? {
                let address = listener.local_addr();
                addresses.push(address.map_err(|error| Failure::Listen(listen.clone(), error))?);
                let (server, files) = (server.clone(), self.files.clone());
                accepting.push(thrum_rt::spawn(async move {
                    server.serve(listener, files).await
                }));
            }
        }

        let started = Instant::now();
        let serving = async {
            let urls = listen::urls("http", addresses);
            if !self.args.quiet {
                banner::print_start(&Start {
                    folder: &self.args.folder,
                    urls: &urls,
                    workers: self.workers,
                    log: &self.log_to,
                });
            }
            if let (true, Some(url)) = (self.args.open, urls.first()) {
                browser::open(url);
            }
            first_failure(&mut accepting).await
        };
        let ended = match race(asked_to_stop(), serving).await {
            First::Left(asked) => asked.map_err(Failure::Runtime),
            First::Right(failure) => Err(failure),
        };
        let cut = ending::drain(server.shutdown(GRACE), GRACE, !self.args.quiet, || {
            if let Some(log) = &self.log {
                log.close();
            }
        });
        let cut = cut.await;

        let dropped = self.log.as_ref().map_or(0, |log| {
            log.close();
            log.dropped()
        });
        if !self.args.quiet {
            banner::print_summary(&Summary {
                stats: server.stats(),
                took: started.elapsed(),
                cut,
                dropped,
            });
        }
        ended
    }
}

fn open_folder(args: &ServeArgs) -> Result<Files, Failure> {
    let folder: &Path = &args.folder;
    let failure = |error| Failure::of_folder(folder, error);
    check_folder(folder, args.listing).map_err(failure)?;
    let files = Files::new(folder).map_err(|FilesError::Root { source, .. }| failure(source))?;
    let files = match &args.index[..] {
        [] => files,
        names => files.index(names),
    };
    Ok(files.listing(args.listing))
}

/// What is wrong with a folder is found at the start, not by the first visitor.
fn check_folder(folder: &Path, listing: bool) -> io::Result<()> {
    use rustix::fs::{Access, access};
    if !folder.metadata()?.is_dir() {
        return Err(io::ErrorKind::NotADirectory.into());
    }
    // Files can be found by their names in a folder that may not be listed.
    let needed = if listing {
        Access::EXEC_OK | Access::READ_OK
    } else {
        Access::EXEC_OK
    };
    Ok(access(folder, needed)?)
}

/// Where the log goes: to whoever looks on, unless it was said.
fn log_to(args: &ServeArgs) -> LogTo {
    args.log
        .clone()
        .unwrap_or_else(|| match io::stdout().is_terminal() {
            true if !args.quiet => LogTo::Stdout,
            _ => LogTo::Off,
        })
}

fn open_log(log_to: &LogTo) -> Result<Option<Arc<AccessLog>>, Failure> {
    match log_to {
        LogTo::Off => Ok(None),
        LogTo::Stdout => AccessLog::to_stdout().map(Some).map_err(Failure::LogStdout),
        LogTo::File(path) => AccessLog::to_file(path)
            .map(Some)
            .map_err(|error| Failure::Log(path.clone(), error)),
    }
}

/// Waits until one listener gives up, which none does by itself.
async fn first_failure(accepting: &mut [JoinHandle<io::Result<()>>]) -> Failure {
    poll_fn(|cx| {
        for task in &mut *accepting {
            if let Poll::Ready(ended) = Pin::new(task).poll(cx) {
                return Poll::Ready(Failure::Serve(match ended {
                    Ok(Ok(())) => "a listener was closed".to_owned(),
                    Ok(Err(error)) => error.to_string(),
                    Err(error) => error.to_string(),
                }));
            }
        }
        Poll::Pending
    })
    .await
}
