//! Graceful shutdown: says that the end has begun, and waits for what is in flight.

use std::fmt;
use std::future::{Future, poll_fn};
use std::io;
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;

use crate::cancel::{CancellationToken, Cancelled};
use crate::shim::{AtomicU64, Mutex, Ordering};
use crate::signal::{SignalKind, signal};
use crate::time::timeout;
use crate::waiters::Waiters;
use crate::waiting::{self, Waiting};
use crate::{TaskSet, race};

/// The end of a service: who accepts work stops when it has [`begun`](Self::begun), and work in flight, each holding a
/// [`guard`](Self::guard), gets a grace time to be done. Clones are one shutdown.
///
/// ```no_run
/// use std::time::Duration;
/// use thrum_rt::{Shutdown, net::TcpListener, select, spawn};
///
/// # async fn answer(_: thrum_rt::net::TcpStream) {}
/// # async fn serve(listener: TcpListener) -> std::io::Result<()> {
/// let shutdown = Shutdown::on_signals()?;
/// loop {
///     select! {
///         accepted = listener.accept() => {
///             let (connection, _peer) = accepted?;
///             let guard = shutdown.guard();
///             spawn(async move {
///                 answer(connection).await;
///                 drop(guard);
///             });
///         }
///         () = shutdown.begun() => break,
///     }
/// }
/// let drained = shutdown.drain(Duration::from_secs(30)).await;
/// eprintln!("{} connections cut off", drained.left);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Default)]
pub struct Shutdown(Arc<Shared>);

#[derive(Default)]
struct Shared {
    begun: CancellationToken,
    /// No more grace.
    now: CancellationToken,
    guards: Guards,
    /// The task that waits for signals, if one does. It ends with the last clone.
    _watcher: TaskSet<()>,
}

impl Shutdown {
    /// A shutdown that begins when [`begin`](Self::begin) is called.
    pub fn new() -> Self {
        Self::default()
    }

    /// A shutdown that begins at SIGINT (Ctrl-C) or SIGTERM. A second signal ends the grace time of [`drain`](Self::drain).
    ///
    /// From now on these signals no longer end the process by themselves, even after the last clone is dropped.
    ///
    /// # Errors
    /// When no file descriptors are left.
    ///
    /// # Panics
    /// Outside a runtime.
    pub fn on_signals() -> io::Result<Self> {
        let mut interrupts = signal(SignalKind::Interrupt)?;
        let mut terminations = signal(SignalKind::Terminate)?;
        let (begun, now) = (CancellationToken::new(), CancellationToken::new());
        let tokens = [begun.clone(), now.clone()];
        let mut watcher = TaskSet::new();
        watcher.spawn(async move {
            for token in tokens {
                if let Err(error) = race(interrupts.recv(), terminations.recv()).await {
                    tracing::warn!(%error, "signals can't be waited for any more");
                }
                token.cancel();
            }
        });
        Ok(Self(Arc::new(Shared {
            begun,
            now,
            guards: Guards::default(),
            _watcher: watcher,
        })))
    }

    /// Begins it: no new work is to be taken on.
    pub fn begin(&self) {
        self.0.begun.cancel();
    }

    /// Whether it has begun.
    pub fn has_begun(&self) -> bool {
        self.0.begun.is_cancelled()
    }

    /// Waits until it begins.
    ///
    /// Dropping the future before it is done forgets the wait.
    pub fn begun(&self) -> Cancelled<'_> {
        self.0.begun.cancelled()
    }

    /// Makes [`drain`](Self::drain) wait until the guard is dropped.
    pub fn guard(&self) -> Guard {
        self.0.guards.count.fetch_add(1, Ordering::Relaxed);
        Guard(self.0.clone())
    }

    /// How many guards there are.
    pub fn guards(&self) -> u64 {
        self.0.guards.count.load(Ordering::Acquire)
    }

    /// Begins it, and waits until all guards are gone, the grace time is over, or a second signal comes
    /// ([`on_signals`](Self::on_signals)).
    ///
    /// Guards that are left then are not affected: it is for the caller to cut off who holds them, or to end the process.
    ///
    /// Dropping the future before it is done leaves the shutdown begun.
    pub async fn drain(&self, grace: Duration) -> Drained {
        let before = self.guards();
        self.begin();
        let gone = self.0.now.run_until_cancelled(self.0.guards.gone());
        let _ = timeout(grace, gone).await;
        let left = self.guards();
        Drained {
            finished: before.saturating_sub(left),
            left,
        }
    }
}

impl fmt::Debug for Shutdown {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Shutdown")
            .field("begun", &self.has_begun())
            .field("guards", &self.guards())
            .finish()
    }
}

/// Work in flight: see [`Shutdown::guard`].
#[must_use = "the work counts as done when the guard is dropped"]
pub struct Guard(Arc<Shared>);

impl Drop for Guard {
    fn drop(&mut self) {
        self.0.guards.leave();
    }
}

impl fmt::Debug for Guard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Guard").finish_non_exhaustive()
    }
}

/// How [`Shutdown::drain`] ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Drained {
    /// Guards dropped in the meantime.
    pub finished: u64,
    /// Guards that are still held.
    pub left: u64,
}

/// How many guards there are, and who waits for the last of them to go.
#[derive(Default)]
struct Guards {
    count: AtomicU64,
    waiters: Mutex<Waiters>,
}

impl Guards {
    fn leave(&self) {
        if self.count.fetch_sub(1, Ordering::AcqRel) == 1 {
            let waiters = self.waiters.lock().take();
            waiters.wake_all();
        }
    }

    /// Waits until the count is zero.
    fn gone(&self) -> impl Future<Output = ()> + use<'_> {
        poll_fn(|cx| {
            // The waker is stored before the count is read, and the count changed before the wakers are taken: one of the
            // two sees the other.
            self.waiters.lock().add(cx.waker());
            if self.count.load(Ordering::Acquire) == 0 {
                return Poll::Ready(());
            }
            waiting::note(Waiting::Cancellation);
            Poll::Pending
        })
    }
}

#[cfg(all(test, loom))]
mod model {
    use loom::future::block_on;
    use loom::thread;

    use super::*;

    /// Two guards go while somebody waits for that.
    #[test]
    fn the_last_guard_wakes_who_waits() {
        loom::model(|| {
            let guards = loom::sync::Arc::new(Guards::default());
            guards.count.fetch_add(2, Ordering::Relaxed);
            for _ in 0..2 {
                let guards = guards.clone();
                thread::spawn(move || guards.leave());
            }
            block_on(guards.gone());
        });
    }
}
