//! The attributes `#[thrum::main]` and `#[thrum::test]`.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use thrum::time::{Instant, sleep};

#[thrum::main]
async fn main_like(input: u32) -> Result<u32, std::num::TryFromIntError> {
    thrum::spawn(async move { u32::try_from(u64::from(input) * 2) })
        .await
        .unwrap()
}

#[test]
fn main_runs_its_body_in_a_runtime() {
    assert_eq!(main_like(21), Ok(42));
}

#[thrum::test]
async fn a_test_has_a_clock_that_jumps() {
    let begin = Instant::now();
    sleep(Duration::from_secs(3600)).await;
    assert_eq!(begin.elapsed(), Duration::from_secs(3600));
}

#[thrum::test]
async fn a_test_may_return_a_result() -> Result<(), thrum::JoinError> {
    thrum::spawn(async {}).await
}

static RUNS: AtomicUsize = AtomicUsize::new(0);

#[thrum::test(seeds = 20)]
async fn a_test_may_run_with_many_seeds() {
    RUNS.fetch_add(1, Ordering::Relaxed);
    assert!(RUNS.load(Ordering::Relaxed) <= 20);
}
