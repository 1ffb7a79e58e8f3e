//! N tasks that each wait for a start and a stop signal. spawn N

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::Notify;

#[derive(Default)]
struct Signals {
    start: Notify,
    stop: Notify,
}

#[tokio::main]
async fn main() {
    let [count] = tokio_twins::numbers();
    let tasks: Vec<_> = (0..count)
        .map(|_| {
            let signals = Arc::new(Signals::default());
            let mine = signals.clone();
            let task = tokio::spawn(async move {
                mine.start.notified().await;
                mine.stop.notified().await;
            });
            (signals, task)
        })
        .collect();
    println!("Created {count} tasks.");
    for (signals, _) in &tasks {
        signals.start.notify_one();
    }
    tokio::time::sleep(Duration::from_secs(3)).await;
    for (signals, _) in &tasks {
        signals.stop.notify_one();
    }
    for (_, task) in tasks {
        task.await.unwrap();
    }
    println!("Destroyed {count} tasks.");
}
