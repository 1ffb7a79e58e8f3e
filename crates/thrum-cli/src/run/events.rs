//! What can happen to a process that serves: signals, commands, files that change.

use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::fs::MetadataExt;
use std::path::PathBuf;
use std::time::Duration;

use thrum_rt::signal::{SignalKind, signal};
use thrum_rt::sync::channel::Sender;
use thrum_rt::sync::oneshot;
use thrum_rt::{TaskSet, time};

/// Something that happened.
pub(super) enum Event {
    /// To finish open requests and go, soon.
    Stop,
    /// To finish open requests and go, whenever they are.
    Retire,
    /// To begin a new process.
    Upgrade,
    /// To read the configuration again. Whoever asked is told what came of it, if anybody asked.
    Reload(Option<oneshot::Sender<Result<String, String>>>),
    /// A successor asks for the listeners.
    Listeners(oneshot::Sender<Vec<(String, OwnedFd)>>),
    /// A successor has the listeners and serves.
    Succeeded,
    /// A successor had the listeners and is gone.
    Abandoned,
}

/// Has a task for each signal tell of it.
pub(super) fn signals(tasks: &mut TaskSet<()>, events: &Sender<Event>) -> io::Result<()> {
    type Make = fn() -> Event;
    let all: [(SignalKind, Make); 5] = [
        (SignalKind::Interrupt, || Event::Stop),
        (SignalKind::Terminate, || Event::Stop),
        (SignalKind::Hangup, || Event::Reload(None)),
        (SignalKind::Quit, || Event::Retire),
        (SignalKind::User2, || Event::Upgrade),
    ];
    for (kind, make) in all {
        let mut signals = signal(kind)?;
        let events = events.clone();
        tasks.spawn(async move {
            while signals.recv().await.is_ok() && events.send(make()).await.is_ok() {}
        });
    }
    Ok(())
}

/// Looks at files each so often, and tells when they have changed and then stayed as they are for as long: whoever writes
/// them is done.
pub(super) async fn watch(files: Vec<PathBuf>, every: Duration, events: Sender<Event>) {
    let look = || files.iter().map(seen).collect::<Vec<_>>();
    let first = look();
    let mut last = first.clone();
    loop {
        time::sleep(every).await;
        let now = thrum_rt::blocking(look);
        if now != first && now == last {
            // Whatever comes of it, this is the state from which changes count: the next watch begins with it.
            let _ = events.send(Event::Reload(None)).await;
            return;
        }
        last = now;
    }
}

/// What tells one state of a file from another. Nothing, if it cannot be seen.
fn seen(path: &PathBuf) -> Option<(u64, u64, i64, i64)> {
    let data = std::fs::metadata(path).ok()?;
    Some((data.ino(), data.size(), data.mtime(), data.mtime_nsec()))
}
