//! What small steps cost: spawn and join, a wake on another worker, a timer started and dropped. switch N

use std::error::Error;
use std::future::{Future, poll_fn};
use std::pin::pin;
use std::sync::Arc;
use std::task::Poll;
use std::time::{Duration, Instant};

use tokio::runtime::{Builder, Runtime};
use tokio::sync::Notify;
use tokio::task::JoinError;
use tokio::{spawn, time};

fn main() -> Result<(), Box<dyn Error>> {
    let [count] = tokio_twins::numbers();
    // A runtime for each side, with one worker, so that a wake always crosses from one worker to another.
    let one = one_worker()?;
    let other = one_worker()?;

    let joined = on_worker(&one, spawn_and_join(count))??;
    println!("spawn and join {joined:.0} ns");

    let (ping, pong) = (Arc::new(Notify::new()), Arc::new(Notify::new()));
    let woken = std::thread::scope(|scope| {
        scope.spawn(|| on_worker(&other, answer(count, ping.clone(), pong.clone())));
        on_worker(&one, ask(count, ping.clone(), pong.clone()))
    })?;
    println!("wake across workers {woken:.0} ns");

    let timed = on_worker(&one, start_and_drop_timers(count))?;
    println!("timer insert and cancel {timed:.0} ns");
    Ok(())
}

fn one_worker() -> std::io::Result<Runtime> {
    let mut builder = Builder::new_multi_thread();
    builder.worker_threads(1).enable_all().build()
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

async fn ask(count: usize, ping: Arc<Notify>, pong: Arc<Notify>) -> f64 {
    let begin = Instant::now();
    for _ in 0..count {
        ping.notify_one();
        pong.notified().await;
    }
    nanoseconds(begin, 2 * count)
}

async fn answer(count: usize, ping: Arc<Notify>, pong: Arc<Notify>) {
    for _ in 0..count {
        ping.notified().await;
        pong.notify_one();
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
            tokio::task::yield_now().await;
        }
    }
    nanoseconds(begin, count)
}

/// The time since the beginning, for each of so many.
fn nanoseconds(begin: Instant, count: usize) -> f64 {
    begin.elapsed().as_secs_f64() * 1e9 / count as f64
}
