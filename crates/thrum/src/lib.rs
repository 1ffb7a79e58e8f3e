//! Write network servers as plain sequential code, one cheap thread a connection; thrum runs them as event-driven I/O on
//! all cores.
//!
//! ```no_run
//! use thrum::net::TcpListener;
//!
//! #[thrum::main]
//! async fn main() -> std::io::Result<()> {
//!     let listener = TcpListener::bind("127.0.0.1:7000").await?;
//!     loop {
//!         let (connection, _peer) = listener.accept().await?;
//!         thrum::spawn(async move {
//!             let mut buffer = [0; 4096];
//!             while let Ok(read @ 1..) = connection.read(&mut buffer).await {
//!                 connection.write_all(&buffer[..read]).await?;
//!             }
//!             std::io::Result::Ok(())
//!         });
//!     }
//! }
//! ```
//!
//! * The runtime, [`thrum_rt`], is re-exported here: [`spawn`], [`time`], [`net`], [`pipe`], [`io`],
//!   [`fs`], [`stdio`], [`process`], [`sync`], [`signal`].
//! * [`select!`], [`join!`], [`race`], [`scope`], [`TaskSet`], [`CancellationToken`], [`Shutdown`] tie tasks together.
//! * [`test`](mod@test) runs tests on a clock that jumps.
//! * [`http`] is the HTTP engine (its router, answers in JSON, layers and compressed bodies come with the features `router`,
//!   `json`, `middleware` and `compression`), [`parse`] the parser combinators that it is made with, [`stream`] pipelines of sources,
//!   stages and sinks.
//! * `compat` runs what is written for others: hyper, and so axum, with the feature `hyper`; h2 and whatever else takes
//!   tokio's I/O traits with `tokio-io`.
//!
//! **Nobody waits for a slow neighbour.** A task that computes or blocks is noticed within a few milliseconds, and the
//! rest of its worker's work moves on without it. So a handler may call slow code as it is.
#![forbid(unsafe_code)]

#[cfg(doctest)]
mod guide;

pub use thrum_http as http;
pub use thrum_macros::{main, test};
pub use thrum_parse as parse;
#[cfg(any(feature = "hyper", feature = "tokio-io"))]
#[doc(inline)]
pub use thrum_rt::compat;
#[doc(hidden)]
pub use thrum_rt::run_main;
#[doc(inline)]
pub use thrum_rt::{
    AbortHandle, Builder, CancellationToken, Dump, Hog, JoinError, JoinHandle, Metrics, Panic,
    Runtime, Scope, ScopedTask, Shutdown, TaskSet, block_on, blocking, cancel, dump, fs, io, join,
    metrics, net, pipe, process, race, race_all, scope, select, shutdown, signal, spawn,
    spawn_named, stdio, sync, task_local, test, time, try_join, try_scope, yield_now,
};
pub use thrum_stream as stream;
