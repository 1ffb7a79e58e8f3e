//! A point that several tasks pass together.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

use super::line::{Line, Ticket};
use crate::shim::{Mutex, const_fn};
use crate::waiting::{self, Waiting};

/// Lets tasks wait until so many of them have come, and then go on together. It can be used again and again.
///
/// ```
/// use std::sync::Arc;
/// use thrum_rt::sync::Barrier;
///
/// # thrum_rt::block_on(async {
/// let barrier = Arc::new(Barrier::new(2));
/// let other = barrier.clone();
/// let task = thrum_rt::spawn(async move { other.wait().await.is_leader() });
/// let here = barrier.wait().await.is_leader();
/// assert!(here != task.await.unwrap());
/// # });
/// ```
pub struct Barrier {
    size: usize,
    /// Those who have come.
    line: Mutex<Line>,
}

impl Barrier {
    const_fn! {
        /// A barrier for so many tasks. With zero or one, nobody waits.
        pub fn new(tasks: usize) -> Self {
            Self {
                size: tasks,
                line: Mutex::new(Line::new()),
            }
        }
    }

    /// Waits until as many tasks wait here as the barrier is for.
    ///
    /// Dropping the future before it is done takes this task out of the count, unless the barrier has opened.
    pub fn wait(&self) -> impl Future<Output = BarrierWaitResult> {
        Wait {
            barrier: self,
            ticket: None,
        }
    }
}

impl fmt::Debug for Barrier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Barrier")
            .field("tasks", &self.size)
            .field("waiting", &self.line.lock().len())
            .finish()
    }
}

/// What [`Barrier::wait`] says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BarrierWaitResult {
    leader: bool,
}

impl BarrierWaitResult {
    /// True for one of those who passed together: the last that came.
    pub fn is_leader(&self) -> bool {
        self.leader
    }
}

struct Wait<'a> {
    barrier: &'a Barrier,
    ticket: Option<Ticket>,
}

impl Future for Wait<'_> {
    type Output = BarrierWaitResult;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let this = &mut *self;
        let mut line = this.barrier.line.lock();
        match this.ticket {
            None if line.len() + 1 >= this.barrier.size => {
                let others = line.take();
                drop(line);
                others.wake();
                return Poll::Ready(BarrierWaitResult { leader: true });
            }
            Some(ticket) if !line.contains(ticket) => {
                return Poll::Ready(BarrierWaitResult { leader: false });
            }
            _ => {}
        }
        let replaced = line.wait(&mut this.ticket, cx.waker());
        drop(line);
        drop(replaced);
        waiting::note(Waiting::Barrier);
        Poll::Pending
    }
}

impl Drop for Wait<'_> {
    fn drop(&mut self) {
        let spent = self.barrier.line.lock().leave(&mut self.ticket);
        drop(spent);
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use std::pin::pin;

    use super::super::testing::{Wakes, poll};
    use super::*;

    const LEADER: Poll<BarrierWaitResult> = Poll::Ready(BarrierWaitResult { leader: true });
    const FOLLOWER: Poll<BarrierWaitResult> = Poll::Ready(BarrierWaitResult { leader: false });

    #[test]
    fn the_last_one_opens_it_again_and_again() {
        let barrier = Barrier::new(3);
        for _ in 0..2 {
            let (mut first, mut second) = (pin!(barrier.wait()), pin!(barrier.wait()));
            let wakes = Wakes::new();
            assert!(wakes.poll(first.as_mut()).is_pending());
            assert!(wakes.poll(second.as_mut()).is_pending());
            assert!(wakes.poll(second.as_mut()).is_pending(), "it counts once");
            assert_eq!(poll(pin!(barrier.wait())), LEADER);
            assert_eq!(wakes.count(), 2);
            assert!(poll(pin!(barrier.wait())).is_pending(), "the next round");
            assert_eq!(poll(first.as_mut()), FOLLOWER);
            assert_eq!(poll(second.as_mut()), FOLLOWER);
        }
    }

    #[test]
    fn who_gives_up_does_not_count() {
        let barrier = Barrier::new(2);
        let mut gone = Box::pin(barrier.wait());
        assert!(poll(gone.as_mut()).is_pending());
        drop(gone);
        let mut here = pin!(barrier.wait());
        assert!(poll(here.as_mut()).is_pending());
        assert_eq!(poll(pin!(barrier.wait())), LEADER);
        assert_eq!(poll(here.as_mut()), FOLLOWER);
    }

    #[test]
    fn a_barrier_for_one_is_open() {
        for tasks in [0, 1] {
            assert_eq!(poll(pin!(Barrier::new(tasks).wait())), LEADER);
        }
    }
}

#[cfg(all(test, loom))]
mod model {
    use loom::future::block_on;
    use loom::sync::Arc;
    use loom::thread;

    use super::*;

    #[test]
    fn two_pass_twice_with_one_leader() {
        loom::model(|| {
            let barrier = Arc::new(Barrier::new(2));
            let pass = |barrier: &Barrier| [(); 2].map(|()| block_on(barrier.wait()).is_leader());
            let other = thread::spawn({
                let barrier = barrier.clone();
                move || pass(&barrier)
            });
            let here = pass(&barrier);
            let other = other.join().unwrap();
            assert_ne!(here[0], other[0]);
            assert_ne!(here[1], other[1]);
        });
    }
}
