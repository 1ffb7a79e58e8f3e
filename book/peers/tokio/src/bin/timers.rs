//! A million pending timers: all are started, half of them dropped, and the others waited for. timers N.
//!
//! They are started in no order, and are due over two seconds. Prints what a timer costs to start and to drop, how late
//! those that are left fire, and how much memory it took.

use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::task::Poll;
use std::time::{Duration, Instant};

use tokio::time::{self, Sleep};

/// All are pending before the first one is due.
const FIRST: Duration = Duration::from_secs(2);
const SPREAD: Duration = Duration::from_secs(2);

/// When it is due, and the timer until it is dropped.
type Timer = (Instant, Option<Pin<Box<Sleep>>>);

#[tokio::main]
async fn main() -> Result<(), tokio::task::JoinError> {
    let [count] = tokio_twins::numbers();
    let first = Instant::now() + FIRST;
    let timers = (0..count)
        .map(|place| first + SPREAD.mul_f64(place as f64 / count as f64))
        .map(|due| (due, Some(Box::pin(time::sleep_until(due.into())))))
        .collect();
    tokio::spawn(run(timers)).await
}

async fn run(mut timers: Vec<Timer>) {
    let count = timers.len();
    // The multiples of a large prime are well shuffled.
    let shuffled = |index: usize| index * 2_654_435_761 % count;

    let begin = Instant::now();
    for index in 0..count {
        if let (_, Some(timer)) = &mut timers[shuffled(index)] {
            // The first poll starts it.
            poll_fn(|cx| Poll::Ready(timer.as_mut().poll(cx).is_ready())).await;
        }
        pause(index).await;
    }
    let started = begin.elapsed();

    let begin = Instant::now();
    for index in 0..count / 2 {
        timers[shuffled(index)].1 = None;
        pause(index).await;
    }
    let dropped = begin.elapsed();

    let mut late = Vec::with_capacity(count);
    for (due, timer) in timers {
        if let Some(timer) = timer {
            timer.await;
            late.push(due.elapsed().as_secs_f64() * 1000.0);
        }
    }
    late.sort_unstable_by(f64::total_cmp);

    let each = |took: Duration, count: usize| took.as_secs_f64() * 1e9 / count.max(1) as f64;
    println!("start {:.0} ns", each(started, count));
    println!("drop {:.0} ns", each(dropped, count / 2));
    println!("late p50 {:.2} ms", late[late.len() / 2]);
    println!("late p99 {:.2} ms", late[late.len() * 99 / 100]);
    println!("late max {:.2} ms", late[late.len() - 1]);
    if let Some(memory) = peak_memory_mb() {
        println!("memory {memory:.1} MB");
    }
}

/// Ends the poll now and then, so that none is long.
async fn pause(index: usize) {
    if index.is_multiple_of(1000) {
        tokio::task::yield_now().await;
    }
}

/// The most memory that this process has had, as Linux says it.
fn peak_memory_mb() -> Option<f64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("VmHWM:"))?;
    let kilobytes: f64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kilobytes / 1024.0)
}
