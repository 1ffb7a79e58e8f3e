//! The thrum runtime: lightweight threads ("tasks") that read like blocking code and run as an event loop.
//!
//! Ground floor first; each module knows only those above it in this list:
//!
//! | module | what is in it |
//! |---|---|
//! | `shim` | atomics and locks, swapped for the model checker's in its builds |
//! | `reactor` | one I/O manager: a back end ([`Io`]), its registrations, its timer wheel |
//! | `scheduler` | seats, run queues, parking, standby threads: who runs what, where |
//! | `registry` | the list of all tasks, for dumps, aborts and the end |
//! | `watchdog` | notices a worker stuck in one poll and has its seat handed off |
//! | [`runtime`](Runtime) | starts and stops all of it; [`block_on`] |
//! | [`task`](spawn) | [`spawn`], [`JoinHandle`], [`yield_now`], [`blocking`] |
//! | [`TaskSet`], [`scope`] | tasks that end with their owner |
//! | [`join!`], [`try_join!`], [`select!`], [`race`], [`race_all`] | several futures in one task |
//! | [`cancel`](CancellationToken), [`shutdown`](Shutdown) | asking others to stop, waiting until they have |
//! | [`task_local`](task_local!) | values that go with a task |
//! | [`time`], [`net`], [`pipe`], [`sync`], [`signal`] | what tasks wait on |
//! | [`io`], [`fs`], [`stdio`], [`process`] | bytes from anywhere to anywhere; files, standard streams, child processes |
//! | [`test`](mod@test) | a clock that jumps and an order that a seed decides, for tests |
//! | `compat` | tokio's I/O traits and hyper's runtime traits, behind the features `tokio-io` and `hyper` |
//!
//! # The promise
//! Say that a worker is *held* by a poll until that poll ends or the worker's seat is handed to another thread. While the
//! extra threads are within their caps (see [`Builder`]):
//!
//! * **A poll holds a worker for at most D = 2.5 slices and the time it takes to wake a thread**: about 3 ms, whatever it
//!   does: compute, sleep, wait for a lock, or block in a system call. ([`blocking`] gives the seat away at once.)
//! * **A task that is ready, with *n* others ahead of it, is polled after these have held a worker once each**, so within
//!   *n* D at the worst, and as fast as they are otherwise. Nobody goes ahead of it more than three times in a row (the
//!   last-in slot); after 61 polls the common queue, the reactor and the timers have had their turn.
//! * **What a stuck task wakes or spawns does not wait for it.** Only its own siblings inside one `join!` or `select!` do.
//!
//! The clocks of the operating system are the limit: where threads outnumber the CPUs, it decides who runs. At a cap the
//! stuck worker keeps its seat, and the log says so once a second with the place where the task was spawned.
//!
//! ```
//! use std::time::Duration;
//!
//! let answer = thrum_rt::block_on(async {
//!     let slow = thrum_rt::spawn(async { std::thread::sleep(Duration::from_millis(50)) });
//!     let fast = thrum_rt::spawn(async { 42 });
//!     let answer = fast.await.unwrap(); // does not wait for its neighbour
//!     slow.await.unwrap();
//!     answer
//! });
//! assert_eq!(answer, 42);
//! ```

mod shim;
mod waiters;

mod budget;
pub mod cancel;
mod combine;
#[cfg(any(feature = "hyper", feature = "tokio-io"))]
pub mod compat;
mod context;
pub mod dump;
pub mod fs;
pub mod io;
pub mod metrics;
pub mod net;
pub mod pipe;
pub mod process;
mod random;
mod reactor;
mod registry;
mod runtime;
mod scheduler;
mod scope;
mod select;
pub mod shutdown;
pub mod signal;
pub mod stdio;
pub mod sync;
mod task;
pub mod task_local;
mod task_set;
pub mod test;
pub mod time;
mod waiting;
mod watchdog;

pub use cancel::CancellationToken;
pub use combine::{race, race_all};
pub use dump::{Dump, dump, hogs};
pub use metrics::{Metrics, metrics};
pub use reactor::{Io, UnknownIo};
#[doc(hidden)]
pub use runtime::run_main;
pub use runtime::{Builder, Runtime, RuntimeId, block_on, runtime_id};
pub use scheduler::Hog;
pub use scope::{Scope, ScopedTask, scope, try_scope};
pub use shutdown::Shutdown;
pub use task::{
    AbortHandle, JoinError, JoinHandle, Panic, blocking, spawn, spawn_named, yield_now,
};
pub use task_set::TaskSet;

/// What the macros expand to. Not for use by name.
#[doc(hidden)]
pub mod __private {
    pub use std::future::{Future, poll_fn};
    pub use std::task::Poll;

    pub use crate::combine::Joined;
    pub use crate::select::{at_random, branch, in_order, no_branch_left, turns};
}
