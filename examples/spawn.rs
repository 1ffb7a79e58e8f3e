//! N lightweight threads that each wait for a start and a stop variable. `spawn [N]`, default 100,000.

use std::sync::Arc;
use std::time::Duration;

use thrum::sync::MVar;
use thrum_examples::numbers;

const USAGE: &str = "usage: spawn [N]    N threads, default 100000";

#[derive(Default)]
struct Signals {
    start: MVar<()>,
    stop: MVar<()>,
}

#[thrum::main]
async fn main() {
    let [count] = numbers(USAGE, [100_000]);
    let threads: Vec<_> = (0..count)
        .map(|_| {
            let signals = Arc::new(Signals::default());
            let mine = signals.clone();
            let thread = thrum::spawn(async move {
                mine.start.take().await;
                mine.stop.take().await;
            });
            (signals, thread)
        })
        .collect();
    println!("Created {count} threads.");
    for (signals, _) in &threads {
        signals.start.put(()).await;
    }
    thrum::time::sleep(Duration::from_secs(3)).await;
    for (signals, _) in &threads {
        signals.stop.put(()).await;
    }
    for (_, thread) in threads {
        thread.await.expect("the thread does not panic");
    }
    println!("Destroyed {count} threads.");
}
