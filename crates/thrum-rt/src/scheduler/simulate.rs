//! A scheduler on one thread, with a clock that jumps and an order that a seed decides.

use std::future::Future;
use std::panic::Location;
use std::pin::pin;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering, fence};
use std::task::{Context, Poll, Wake, Waker};
use std::time::{Duration, Instant};

use super::Scheduler;
use super::worker::Worker;
use crate::context::{self, Context as ThreadContext};
use crate::registry::Entry;
use crate::task::Runnable;
use crate::time::clock::Simulated;
use crate::{budget, dump, random, waiting};

/// How long a simulation in which all wait for no timer is given to hear from outside: a descriptor, another thread.
const PATIENCE: Duration = Duration::from_secs(2);

impl Scheduler {
    /// Runs a future and the tasks that it spawns on this thread, to the end of the future; then drops what is left.
    ///
    /// # Panics
    /// When all wait and nothing can come of it.
    #[track_caller]
    pub(crate) fn simulate<F: Future>(self: &Arc<Self>, clock: &Simulated, future: F) -> F::Output {
        let worker = Worker::alone(self.clone());
        let entered = context::enter(ThreadContext::Worker(worker.clone()));
        let output = Simulation {
            scheduler: self,
            worker,
            clock,
            ready: Vec::new(),
        }
        .run(future);
        drop(entered);
        output
    }
}

struct Simulation<'a> {
    scheduler: &'a Arc<Scheduler>,
    worker: Rc<Worker>,
    clock: &'a Simulated,
    /// Tasks that could run next.
    ready: Vec<Runnable>,
}

impl Simulation<'_> {
    #[track_caller]
    fn run<F: Future>(&mut self, future: F) -> F::Output {
        let entry = Entry::new(self.scheduler.number, Location::caller());
        let record = entry.record();
        let mut future = pin!(future);
        let main = Arc::new(Main {
            woken: AtomicBool::new(true),
            scheduler: self.scheduler.clone(),
        });
        let waker = Waker::from(main.clone());
        let mut cx = Context::from_waker(&waker);
        loop {
            self.worker.take_ready(&mut self.ready);
            let main_is_ready = main.woken.load(Ordering::Acquire);
            let choices = self.ready.len() + usize::from(main_is_ready);
            if choices == 0 {
                self.wait(&main);
                continue;
            }
            match random::below(choices) {
                choice if choice < self.ready.len() => {
                    self.worker.poll(self.ready.swap_remove(choice));
                }
                _ => {
                    main.woken.store(false, Ordering::Release);
                    budget::renew();
                    record.set_running(None);
                    if let Poll::Ready(output) = future.as_mut().poll(&mut cx) {
                        return output;
                    }
                    record.set_waiting(waiting::take_note());
                }
            }
        }
    }

    /// Nobody can run: takes in what has come from outside, or else lets time jump to the next timer.
    fn wait(&mut self, main: &Main) {
        let reactor = self.worker.reactor().expect("a simulation keeps its seat");
        self.worker.turn(Some(Duration::ZERO));
        if self.anyone_woken(main) {
            return;
        }
        if let Some(at_ms) = reactor.next_timer_ms() {
            self.clock.advance_to(at_ms);
            self.worker.turn(Some(Duration::ZERO));
            return;
        }
        let begin = Instant::now();
        while !self.anyone_woken(main) {
            let left = PATIENCE.saturating_sub(begin.elapsed());
            if left.is_zero() {
                let dump = dump::of(self.scheduler);
                panic!(
                    "all tasks wait, no timer is pending, and nothing comes from outside:\n{dump}"
                );
            }
            self.scheduler.sleepers.fall_asleep(0);
            fence(Ordering::SeqCst);
            if !self.anyone_woken(main) {
                self.worker.turn(Some(left));
            }
            self.scheduler.sleepers.wake_up(0);
        }
    }

    fn anyone_woken(&mut self, main: &Main) -> bool {
        self.worker.take_ready(&mut self.ready);
        !self.ready.is_empty() || main.woken.load(Ordering::Acquire)
    }
}

impl Drop for Simulation<'_> {
    fn drop(&mut self) {
        self.ready.clear();
        self.scheduler.end(Duration::ZERO);
    }
}

/// Wakes the future that the simulation was started with.
struct Main {
    woken: AtomicBool,
    scheduler: Arc<Scheduler>,
}

impl Wake for Main {
    fn wake(self: Arc<Self>) {
        self.woken.store(true, Ordering::Release);
        // It may come from another thread.
        self.scheduler.notify();
    }
}
