//! Starting and stopping a runtime.

use std::future::Future;
use std::io;
use std::num::NonZero;
use std::panic::Location;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, Wake, Waker};
use std::thread::{self, Thread};
use std::time::Duration;

use crate::budget;
use crate::context;
use crate::dump::{self, Dump};
use crate::metrics::{self, Metrics};
use crate::reactor::Io;
use crate::registry;
use crate::scheduler::Scheduler;
use crate::waiting;
use crate::watchdog::{self, Limits};

/// The environment variable for the number of workers.
const WORKERS: &str = "THRUM_WORKERS";

/// The environment variable for the back end of the reactors.
const IO: &str = "THRUM_IO";

/// Runs a future to its end on a runtime of its own with the default settings, and returns its output.
///
/// The future itself runs on the calling thread, what it [`spawn`](crate::spawn)s on the workers. When it is done, the tasks
/// that are left are dropped: those that wait in the order of spawning, then those in the run queues. Inside a runtime no
/// second one is started; the calling thread waits, and if it is a worker, it is handed off like any other that blocks.
///
/// # Panics
/// If the runtime cannot be started: no file descriptors or no threads are left.
#[track_caller]
pub fn block_on<F: Future>(future: F) -> F::Output {
    match context::try_scheduler() {
        Some(scheduler) => run(&scheduler, future),
        None => match Builder::default().build() {
            Ok(runtime) => runtime.block_on(future),
            Err(error) => panic!("the thrum runtime cannot be started: {error}"),
        },
    }
}

/// What a function marked `#[thrum::main]` does. A runtime that cannot be started is the user's to hear of, not a bug.
#[doc(hidden)]
#[track_caller]
pub fn run_main<F: Future>(future: F) -> F::Output {
    match Builder::default().dump_on_sigusr1(true).build() {
        Ok(runtime) => runtime.block_on(future),
        Err(error) => {
            eprintln!("error: the runtime cannot be started: {error}");
            std::process::exit(1)
        }
    }
}

/// Which of the program's runtimes this thread runs in; `None` outside of any.
///
/// A socket waits in the runtime that it was made in. What keeps sockets for later, such as a pool of connections, keeps
/// them apart by this.
///
/// ```
/// assert_eq!(thrum_rt::runtime_id(), None);
/// let (one, two) = (|| thrum_rt::block_on(async { thrum_rt::runtime_id() }), thrum_rt::runtime_id);
/// assert_ne!(one(), two());
/// assert_ne!(one(), one());
/// ```
pub fn runtime_id() -> Option<RuntimeId> {
    context::try_number().map(RuntimeId)
}

/// A runtime of this program. See [`runtime_id`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct RuntimeId(u32);

/// Workers, reactors, a watchdog. It ends when it is dropped.
pub struct Runtime {
    scheduler: Arc<Scheduler>,
    watchdog: Option<thread::JoinHandle<()>>,
    grace: Duration,
    _dump_on_signal: Option<dump::on_signal::Listener>,
}

impl Runtime {
    /// A builder with the default settings.
    pub fn builder() -> Builder {
        Builder::default()
    }

    /// Runs a future to its end on the calling thread, and returns its output. See [`block_on`].
    #[track_caller]
    pub fn block_on<F: Future>(&self, future: F) -> F::Output {
        let _entered = context::enter(context::Context::BlockOn(self.scheduler.clone()));
        run(&self.scheduler, future)
    }

    /// What every task of this runtime is doing. See [`dump`](crate::dump()).
    pub fn dump(&self) -> Dump {
        dump::of(&self.scheduler)
    }

    /// What this runtime has done so far, in numbers.
    pub fn metrics(&self) -> Metrics {
        metrics::of(&self.scheduler)
    }
}

impl Drop for Runtime {
    fn drop(&mut self) {
        let left = self.scheduler.end(self.grace);
        if left > 0 {
            tracing::warn!(
                threads = left,
                "the runtime ended with threads still stuck in a poll"
            );
        }
        if let Some(watchdog) = self.watchdog.take() {
            let _ = watchdog.join();
        }
        self.scheduler.hogs.sum_up();
    }
}

impl std::fmt::Debug for Runtime {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Runtime")
            .field("workers", &self.scheduler.seats.len())
            .finish_non_exhaustive()
    }
}

/// Settings of a [`Runtime`].
#[derive(Clone, Debug)]
pub struct Builder {
    workers: Option<usize>,
    io: Option<Io>,
    slice: Duration,
    max_asleep: usize,
    max_computing: Option<usize>,
    grace: Duration,
    dump_on_sigusr1: bool,
}

impl Default for Builder {
    fn default() -> Self {
        Self {
            workers: None,
            io: None,
            slice: Duration::from_millis(1),
            max_asleep: 512,
            max_computing: None,
            grace: Duration::from_secs(1),
            dump_on_sigusr1: false,
        }
    }
}

impl Builder {
    /// How many tasks run at the same time. Default: the environment's `THRUM_WORKERS`, else the number of CPUs that this
    /// process may use.
    ///
    /// # Panics
    /// If it is zero.
    pub fn workers(mut self, workers: usize) -> Self {
        assert!(workers > 0, "a runtime needs at least one worker");
        self.workers = Some(workers);
        self
    }

    /// How the kernel is asked what is ready. Default: the environment's `THRUM_IO`, else the system's default. One that
    /// this build or this system does not have is replaced by that default, with a warning.
    pub fn io(mut self, io: Io) -> Self {
        self.io = Some(io);
        self
    }

    /// How long one poll may take before the watchdog suspects the worker to be stuck; one half later its seat is handed
    /// off. Default: 1 ms, which is also the least. It adapts: while hand-offs turn out to be wasted, as the tasks come back
    /// right after, it grows, up to four times this.
    pub fn slice(mut self, slice: Duration) -> Self {
        self.slice = slice.max(Duration::from_millis(1));
        self
    }

    /// How many threads may be stuck asleep in the kernel, beside the workers. Default: 512. At the cap further stuck
    /// workers keep their seats, and their tasks wait.
    pub fn max_asleep(mut self, threads: usize) -> Self {
        self.max_asleep = threads;
        self
    }

    /// How many threads may compute in one poll, beside the workers. Default: 16, or four times the workers if that is
    /// more. At the cap further stuck workers keep their seats, and their tasks wait.
    pub fn max_computing(mut self, threads: usize) -> Self {
        self.max_computing = Some(threads);
        self
    }

    /// How long the end of the runtime waits for threads that are stuck in a poll. Default: 1 s.
    pub fn grace(mut self, grace: Duration) -> Self {
        self.grace = grace;
        self
    }

    /// Has the runtime write what every task is doing to standard error when the process gets SIGUSR1 (`kill -USR1 PID`).
    /// Without it that signal ends the process. Default: false; a function marked `#[thrum::main]` has it on.
    ///
    /// A thread of its own writes it, so it works while all workers are stuck.
    pub fn dump_on_sigusr1(mut self, on: bool) -> Self {
        self.dump_on_sigusr1 = on;
        self
    }

    /// Starts the runtime.
    ///
    /// # Errors
    /// When `THRUM_WORKERS` is not a number above zero, `THRUM_IO` names no back end, or the system has no file descriptors or threads left.
    pub fn build(self) -> io::Result<Runtime> {
        let workers = match self.workers {
            Some(workers) => workers,
            None => default_workers()?,
        };
        let io = match self.io {
            Some(io) => io,
            None => default_io()?,
        };
        let limits = Limits {
            slice: self.slice,
            asleep: self.max_asleep,
            computing: self.max_computing.unwrap_or_else(|| 16.max(4 * workers)),
        };
        // A standby for each stuck thread, and the warm ones.
        let spare = limits.asleep + limits.computing + 2;
        let scheduler = Arc::new(Scheduler::new(workers, spare, io.or_default())?);
        let slice_us = self.slice.as_micros() as u64;
        scheduler.counts.slice_us.store(slice_us, Ordering::Relaxed);
        let mut runtime = Runtime {
            scheduler: scheduler.clone(),
            watchdog: None,
            grace: self.grace,
            _dump_on_signal: None,
        };
        scheduler.start()?;
        if self.dump_on_sigusr1 {
            runtime._dump_on_signal = Some(dump::on_signal::Listener::start(&scheduler)?);
        }
        runtime.watchdog = Some(watchdog::start(scheduler, limits)?);
        Ok(runtime)
    }
}

fn default_workers() -> io::Result<usize> {
    let Some(value) = std::env::var_os(WORKERS) else {
        return Ok(thread::available_parallelism().map_or(1, NonZero::get));
    };
    let parsed = value
        .to_str()
        .and_then(|value| value.parse::<NonZero<usize>>().ok());
    parsed.map(NonZero::get).ok_or_else(|| {
        let message = format!("{WORKERS} must be a number above zero, not {value:?}");
        io::Error::new(io::ErrorKind::InvalidInput, message)
    })
}

fn default_io() -> io::Result<Io> {
    let Some(value) = std::env::var_os(IO) else {
        return Ok(Io::default());
    };
    let parsed = value.to_string_lossy().parse::<Io>();
    parsed.map_err(|error| io::Error::new(io::ErrorKind::InvalidInput, format!("{IO} {error}")))
}

/// Polls a future on this thread, which parks in between.
#[track_caller]
fn run<F: Future>(scheduler: &Scheduler, future: F) -> F::Output {
    let entry = registry::Entry::new(scheduler.number, Location::caller());
    let record = entry.record();
    let mut future = pin!(future);
    let unpark = Arc::new(Unpark {
        thread: thread::current(),
        woken: AtomicBool::new(true),
    });
    let waker = Waker::from(unpark.clone());
    let mut cx = Context::from_waker(&waker);
    loop {
        if unpark.woken.swap(false, Ordering::AcqRel) {
            budget::renew();
            record.set_running(None);
            if let Poll::Ready(output) = future.as_mut().poll(&mut cx) {
                return output;
            }
            record.set_waiting(waiting::take_note());
        } else {
            thread::park();
        }
    }
}

struct Unpark {
    thread: Thread,
    woken: AtomicBool,
}

impl Wake for Unpark {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        if !self.woken.swap(true, Ordering::AcqRel) {
            self.thread.unpark();
        }
    }
}
