//! What the runtime's small steps cost: to spawn an empty task and join it, to wake a task on another worker, to start a
//! timer and drop it. `switch [N]`, default 200,000 of each; prints nanoseconds for each.

use std::error::Error;
use std::future::{Future, poll_fn};
use std::pin::pin;
use std::sync::Arc;
use std::task::Poll;
use std::time::{Duration, Instant};

use thrum::sync::MVar;
use thrum::{JoinError, Runtime, spawn, time};
use thrum_examples::numbers;

const USAGE: &str = "usage: switch [N]    N of each step, default 200000";

fn main() -> Result<(), Box<dyn Error>> {
    let [count] = numbers(USAGE, [200_000]);
    // A runtime for each side, with one worker, so that a wake always crosses from one worker to another.
    let one = Runtime::builder().workers(1).build()?;
    let other = Runtime::builder().workers(1).build()?;

    let joined = on_worker(&one, spawn_and_join(count))??;
    println!("spawn and join {joined:.0} ns");

    let (ping, pong) = (Arc::new(MVar::empty()), Arc::new(MVar::empty()));
    let woken = std::thread::scope(|scope| {
        scope.spawn(|| on_worker(&other, answer(count, ping.clone(), pong.clone())));
        on_worker(&one, ask(count, ping.clone(), pong.clone()))
    })?;
    println!("wake across workers {woken:.0} ns");

    let timed = on_worker(&one, start_and_drop_timers(count))?;
    println!("timer insert and cancel {timed:.0} ns");
    Ok(())
}

fn on_worker<T: Send + 'static>(
    runtime: &Runtime,
    task: impl Future<Output = T> + Send + 'static,
) -> Result<T, JoinError> {
    runtime.block_on(async { spawn(task).await })
}

async fn spawn_and_join(count: usize) -> Result<f64, JoinError> {
    let begin = Instant::now();
    for _ in 0..count {
        spawn(async {}).await?;
    }
    Ok(nanoseconds(begin, count))
}

async fn ask(count: usize, ping: Arc<MVar<()>>, pong: Arc<MVar<()>>) -> f64 {
    let begin = Instant::now();
    for _ in 0..count {
        ping.put(()).await;
        pong.take().await;
    }
    nanoseconds(begin, 2 * count)
}

async fn answer(count: usize, ping: Arc<MVar<()>>, pong: Arc<MVar<()>>) {
    for _ in 0..count {
        ping.take().await;
        pong.put(()).await;
    }
}

async fn start_and_drop_timers(count: usize) -> f64 {
    let begin = Instant::now();
    for index in 0..count {
        let mut timer = pin!(time::sleep(Duration::from_secs(60)));
        // The first poll starts it.
        poll_fn(|cx| Poll::Ready(timer.as_mut().poll(cx).is_ready())).await;
        // No poll is long.
        if index.is_multiple_of(1000) {
            thrum::yield_now().await;
        }
    }
    nanoseconds(begin, count)
}

/// The time since the beginning, for each of so many.
fn nanoseconds(begin: Instant, count: usize) -> f64 {
    begin.elapsed().as_secs_f64() * 1e9 / count as f64
}
