//! A million pending timers: all are started, half of them dropped, and the others waited for. timers N.
//!
//! They are due in no order, spread over two seconds. Prints what a timer costs to start and to drop, how late those that
//! are left fire, and how much memory it took.

use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::task::Poll;
use std::time::{Duration, Instant};

use tokio::time::{self, Sleep};

/// All are pending before the first one is due.
const FIRST: Duration = Duration::from_secs(1);
const SPREAD: Duration = Duration::from_secs(2);

#[tokio::main]
async fn main() -> Result<(), tokio::task::JoinError> {
    let [count] = tokio_twins::numbers();
    tokio::spawn(run(count)).await
}

async fn run(count: usize) {
    let first = Instant::now() + FIRST;
    let due = |index| {
        // The multiples of a large prime are well shuffled.
        let place = index * 2_654_435_761 % count;
        first + SPREAD.mul_f64(place as f64 / count as f64)
    };
    let mut timers: Vec<(Instant, Pin<Box<Sleep>>)> = (0..count)
        .map(due)
        .map(|due| (due, Box::pin(time::sleep_until(due.into()))))
        .collect();

    let begin = Instant::now();
    for some in timers.chunks_mut(1000) {
        for (_, timer) in some {
            // The first poll starts it.
            poll_fn(|cx| Poll::Ready(timer.as_mut().poll(cx).is_ready())).await;
        }
        tokio::task::yield_now().await;
    }
    let started = begin.elapsed();

    let mut left = timers.split_off(count / 2);
    let begin = Instant::now();
    while !timers.is_empty() {
        timers.truncate(timers.len().saturating_sub(1000));
        tokio::task::yield_now().await;
    }
    let dropped = begin.elapsed();

    left.sort_unstable_by_key(|(due, _)| *due);
    let mut late = Vec::with_capacity(left.len());
    for (due, timer) in left {
        timer.await;
        late.push(due.elapsed().as_secs_f64() * 1000.0);
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

/// The most memory that this process has had, as Linux says it.
fn peak_memory_mb() -> Option<f64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("VmHWM:"))?;
    let kilobytes: f64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kilobytes / 1024.0)
}
