//! The thrum runtime: lightweight threads ("tasks") that read like blocking code and run as an event loop.
//!
//! Ground floor first; each module knows only those above it in this list:
//!
//! | module | what is in it |
//! |---|---|
//! | `shim` | atomics and locks, swapped for the model checker's in its builds |
//! | `reactor` | one I/O manager: a back end ([`Io`]), its registrations, its timer wheel |
//! | `scheduler` | seats, run queues, parking, standby threads: who runs what, where |
//! | `watchdog` | notices a worker stuck in one poll and has its seat handed off |
//! | [`runtime`](Runtime) | starts and stops all of it; [`block_on`] |
//! | [`task`](spawn) | [`spawn`], [`JoinHandle`], [`yield_now`], [`blocking`] |
//! | [`time`], [`net`], [`sync`], [`signal`] | what tasks wait on |
//!
//! # The promise
//! Within the caps on extra threads (see [`Builder`]), a task that is ready to run is polled within a few
//! milliseconds, whatever its neighbours do: compute, sleep, wait for a lock, or block in a system call. A task that
//! stays in one poll for longer than the slice keeps its OS thread; everything else of that worker moves on to a
//! standby thread. Only the hog's own siblings inside one `join!` or `select!` still wait for it.
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
mod context;
pub mod metrics;
pub mod net;
mod reactor;
mod runtime;
mod scheduler;
pub mod signal;
pub mod sync;
mod task;
pub mod time;
mod waiting;
mod watchdog;

pub use metrics::metrics;
pub use reactor::{Io, UnknownIo};
pub use runtime::{Builder, Runtime, block_on};
pub use task::{JoinError, JoinHandle, PanicPayload, blocking, spawn, yield_now};
