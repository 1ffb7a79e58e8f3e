//! The load generator's clock: it wakes whoever waits for a moment, to some 50 microseconds.
//!
//! The runtime's timers are whole milliseconds, which a server that answers in a tenth of that is not to be charged with. A
//! thread of its own sleeps until the next moment somebody waits for. Where there are very many, it wakes those of 50
//! microseconds together.

use std::collections::BTreeMap;
use std::io;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Waker};
use std::thread;
use std::time::{Duration, Instant};

/// Nobody is woken more often.
const TICK: Duration = Duration::from_micros(50);

/// Wakes tasks at their times. Its thread ends when it is dropped.
pub(crate) struct Clock(Arc<Shared>);

struct Shared {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    /// By time, and by who waits.
    waiting: BTreeMap<(Instant, usize), Waker>,
    is_over: bool,
}

impl Clock {
    /// # Errors
    /// When there can be no more threads.
    pub(crate) fn start() -> io::Result<Self> {
        let shared = Arc::new(Shared {
            state: Mutex::default(),
            changed: Condvar::new(),
        });
        let of_thread = shared.clone();
        thread::Builder::new()
            .name("load clock".to_owned())
            .spawn(move || of_thread.run())?;
        Ok(Self(shared))
    }

    /// Wakes the task at that time. `who` tells those apart that wait for the same moment.
    pub(crate) fn wake_at(&self, at: Instant, who: usize, cx: &Context<'_>) {
        let mut state = self.0.lock();
        let is_first = state
            .waiting
            .first_key_value()
            .is_none_or(|(key, _)| at < key.0);
        state.waiting.insert((at, who), cx.waker().clone());
        drop(state);
        if is_first {
            self.0.changed.notify_one();
        }
    }

    /// Wakes all who wait, before their times.
    pub(crate) fn wake_all(&self) {
        let waiting = std::mem::take(&mut self.0.lock().waiting);
        waiting.into_values().for_each(Waker::wake);
    }
}

impl Drop for Clock {
    fn drop(&mut self) {
        self.0.lock().is_over = true;
        self.0.changed.notify_one();
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn run(&self) {
        let mut state = self.lock();
        while !state.is_over {
            let now = Instant::now();
            let later = state.waiting.split_off(&(now, usize::MAX));
            let due = std::mem::replace(&mut state.waiting, later);
            if !due.is_empty() {
                drop(state);
                due.into_values().for_each(Waker::wake);
                thread::sleep(TICK);
                state = self.lock();
                continue;
            }
            state = match state.waiting.first_key_value() {
                Some((key, _)) => {
                    let left = key.0.saturating_duration_since(now);
                    let waited = self.changed.wait_timeout(state, left);
                    waited.unwrap_or_else(PoisonError::into_inner).0
                }
                None => self
                    .changed
                    .wait(state)
                    .unwrap_or_else(PoisonError::into_inner),
            };
        }
    }
}

#[cfg(test)]
mod tests {
    use std::future::poll_fn;
    use std::task::Poll;

    use super::*;

    #[test]
    fn wakes_each_at_its_time_and_not_before() {
        let clock = Clock::start().unwrap();
        thrum_rt::block_on(async {
            let begin = Instant::now();
            for (who, at) in [30, 10, 20].into_iter().enumerate() {
                let at = begin + Duration::from_millis(at);
                poll_fn(|cx| {
                    if Instant::now() >= at {
                        return Poll::Ready(());
                    }
                    clock.wake_at(at, who, cx);
                    Poll::Pending
                })
                .await;
                assert!(Instant::now() >= at);
            }
            assert!(begin.elapsed() < Duration::from_secs(5));
        });
    }
}
