//! A runtime for tests: one thread, a clock that jumps, an order of tasks that a seed decides.
//!
//! * **Time is paused.** It moves only when every task waits, and then at once to the next timer. So a test of a timeout of an
//!   hour takes no time, and [`Instant`](crate::time::Instant) and all waits agree on what has passed.
//! * **The order is drawn.** Whenever more than one task could run next, a seed decides, and it decides
//!   [`select!`](crate::select!)'s order too. Another seed, another interleaving; the same seed, the same one. A test that
//!   fails says its seed, and `THRUM_TEST_SEED=N cargo test NAME` runs it again.
//! * **A deadlock is a failure.** If all tasks wait and no timer is pending, the test panics with a
//!   [dump](crate::dump()) of what each waits for.
//!
//! Descriptors are the real ones. Time does not wait for them, so a peer outside of the test can seem to be slow: keep to the
//! loopback addresses, and to peers that are tasks of the same test. There is no hand-off: a task that blocks stops the test.
//!
//! ```
//! use std::time::Duration;
//! use thrum_rt::time::{Instant, sleep, timeout};
//!
//! thrum_rt::test::run(async {
//!     let begin = Instant::now();
//!     assert!(timeout(Duration::from_secs(3600), std::future::pending::<()>()).await.is_err());
//!     assert_eq!(begin.elapsed(), Duration::from_secs(3600));
//! });
//! ```

use std::future::Future;
use std::hash::{BuildHasher, RandomState};
use std::sync::Arc;

use crate::context;
use crate::random;
use crate::reactor::Io;
use crate::scheduler::Scheduler;
use crate::time::clock;

/// The environment variable that has a test run with one seed.
const SEED: &str = "THRUM_TEST_SEED";

/// What the clock reads as a test begins: anything but zero.
const EPOCH_MS: u64 = 1_000_000_000;

/// Runs a future, and the tasks that it spawns, with a seed that is drawn anew each time, or is in the environment's
/// `THRUM_TEST_SEED`. `#[thrum::test]` on an `async fn` does the same.
///
/// # Panics
/// When the future does, when all tasks wait and no timer is pending, and inside a runtime.
#[track_caller]
pub fn run<F: Future>(future: F) -> F::Output {
    with_seed(
        seed().unwrap_or_else(|| RandomState::new().hash_one(SEED)),
        future,
    )
}

/// Runs a future that is made anew for each of so many seeds, counted from zero, or just for the seed in the
/// environment's `THRUM_TEST_SEED`. `#[thrum::test(seeds = 100)]` does the same.
///
/// # Panics
/// As [`run`].
#[track_caller]
pub fn run_seeds<F: Future<Output = ()>>(seeds: u64, mut future: impl FnMut() -> F) {
    match seed() {
        Some(seed) => with_seed(seed, future()),
        None => (0..seeds).for_each(|seed| with_seed(seed, future())),
    }
}

/// Runs a future with the order of tasks that this seed gives.
///
/// # Panics
/// As [`run`].
#[track_caller]
pub fn with_seed<F: Future>(seed: u64, future: F) -> F::Output {
    assert!(
        context::try_scheduler().is_none(),
        "a simulation cannot run inside a runtime"
    );
    let _tell = TellSeed(seed);
    let clock = clock::simulate(EPOCH_MS);
    random::seed(seed);
    let scheduler =
        Scheduler::new(1, 0, Io::default()).expect("a test may have two more descriptors");
    Arc::new(scheduler).simulate(&clock, future)
}

fn seed() -> Option<u64> {
    let seed = std::env::var(SEED).ok()?;
    let parsed = seed.parse();
    Some(parsed.unwrap_or_else(|_| panic!("{SEED} must be a number, not {seed:?}")))
}

/// Says the seed if the test panics.
struct TellSeed(u64);

impl Drop for TellSeed {
    fn drop(&mut self) {
        if std::thread::panicking() {
            let seed = self.0;
            eprintln!("the seed was {seed}: run it again with {SEED}={seed}");
        }
    }
}
