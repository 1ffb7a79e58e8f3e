//! A set of tasks that ends with its owner, and hands out their outputs as they come.
//!
//! A child puts its output into a queue that the set reads, whatever its end: done, panicked, aborted. So waiting for the
//! next one looks at nobody else, and what a child took is free once it is over.

use std::collections::VecDeque;
use std::fmt;
use std::future::{Future, poll_fn};
use std::panic::{AssertUnwindSafe, Location, catch_unwind};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use pin_project_lite::pin_project;
use slab::Slab;

use crate::shim::Mutex;
use crate::task::{self, JoinError, JoinHandle, Panic};
use crate::waiting::{self, Waiting};
use crate::{budget, context};

/// Tasks that belong together: they are joined in the order in which they end, and aborted when the set is dropped.
///
/// ```
/// use thrum_rt::TaskSet;
///
/// # thrum_rt::block_on(async {
/// let mut squares = TaskSet::new();
/// for number in 1..=3u32 {
///     squares.spawn(async move { number * number });
/// }
/// let mut sum = 0;
/// while let Some(square) = squares.join_next().await {
///     sum += square.unwrap();
/// }
/// assert_eq!(sum, 14);
/// # });
/// ```
pub struct TaskSet<T> {
    children: Arc<Children<T>>,
}

impl<T> TaskSet<T> {
    /// A set of no tasks.
    pub fn new() -> Self {
        Self {
            children: Arc::new(Children(Mutex::new(State {
                running: Slab::new(),
                ended: VecDeque::new(),
                joiner: None,
                closed: false,
            }))),
        }
    }

    /// How many tasks have not been joined yet, be they running or over.
    pub fn len(&self) -> usize {
        let state = self.children.0.lock();
        state.running.len() + state.ended.len()
    }

    /// Whether there is no task left to join.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Ends all tasks at their next await points. They are still to be joined; each gives [`JoinError::Aborted`], unless it
    /// was done before.
    pub fn abort_all(&mut self) {
        self.children.abort_all();
    }

    /// Waits for the next task to end; `None` if there are no tasks left.
    ///
    /// Dropping the future before it is done loses no output.
    ///
    /// # Errors
    /// [`JoinError`] if that task panicked or was aborted.
    pub async fn join_next(&mut self) -> Option<Result<T, JoinError>> {
        poll_fn(|cx| self.poll_join_next(cx)).await
    }

    /// Waits for all tasks to end, and returns their outputs in the order in which they ended.
    ///
    /// Dropping the future before it is done loses the outputs so far.
    pub async fn join_all(&mut self) -> Vec<Result<T, JoinError>> {
        let mut outputs = Vec::with_capacity(self.len());
        while let Some(output) = self.join_next().await {
            outputs.push(output);
        }
        outputs
    }

    pub(crate) fn poll_join_next(
        &mut self,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<T, JoinError>>> {
        self.children.poll_next(cx)
    }

    /// Aborts all tasks and takes no more.
    pub(crate) fn close(&mut self) {
        self.children.0.lock().closed = true;
        self.children.abort_all();
    }

    /// What others can add tasks with.
    pub(crate) fn children(&self) -> Arc<Children<T>> {
        self.children.clone()
    }
}

impl<T: Send + 'static> TaskSet<T> {
    /// Starts a task in the set. See [`spawn`](crate::spawn).
    ///
    /// # Panics
    /// Outside a runtime.
    #[track_caller]
    pub fn spawn<F>(&mut self, future: F)
    where
        F: Future<Output = T> + Send + 'static,
    {
        self.children.spawn(future, Location::caller());
    }
}

impl<T> Default for TaskSet<T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T> Drop for TaskSet<T> {
    fn drop(&mut self) {
        self.close();
    }
}

impl<T> fmt::Debug for TaskSet<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TaskSet").field("len", &self.len()).finish()
    }
}

/// What a set and its children share.
pub(crate) struct Children<T>(Mutex<State<T>>);

struct State<T> {
    /// Those that are not over; without a handle once they are aborted.
    running: Slab<Option<JoinHandle<()>>>,
    /// The outputs that nobody has taken yet.
    ended: VecDeque<Result<T, JoinError>>,
    joiner: Option<Waker>,
    closed: bool,
}

impl<T> Children<T> {
    /// Adds a task; when the set is closed, drops its future instead.
    ///
    /// # Panics
    /// Outside a runtime.
    #[track_caller]
    pub(crate) fn spawn<F>(self: &Arc<Self>, future: F, spawned_at: &'static Location<'static>)
    where
        F: Future<Output = T> + Send + 'static,
        T: Send + 'static,
    {
        context::scheduler(); // panics here, not under the lock
        let mut state = self.0.lock();
        if state.closed {
            drop(state); // a future's drop is somebody's code
            return;
        }
        let entry = state.running.vacant_entry();
        let report = Report {
            children: Some(self.clone()),
            key: entry.key(),
        };
        let child = Child {
            future: Some(future),
            report,
        };
        let (runnable, handle) = task::prepare(None, child, spawned_at);
        entry.insert(Some(handle));
        drop(state);
        runnable.schedule(); // which drops the future when the runtime has ended
    }

    fn abort_all(&self) {
        let mut state = self.0.lock();
        let handles: Vec<_> = state
            .running
            .iter_mut()
            .filter_map(|(_, handle)| handle.take())
            .collect();
        drop(state);
        for handle in handles {
            handle.abort();
        }
    }

    fn poll_next(&self, cx: &mut Context<'_>) -> Poll<Option<Result<T, JoinError>>> {
        if budget::exhausted(cx) {
            return Poll::Pending;
        }
        let mut state = self.0.lock();
        if let Some(output) = state.ended.pop_front() {
            budget::spend(1);
            return Poll::Ready(Some(output));
        }
        // Also when there is no child: a scope may get one from elsewhere.
        let before = state.joiner.replace(cx.waker().clone());
        let is_empty = state.running.is_empty();
        drop(state);
        drop(before);
        if is_empty {
            return Poll::Ready(None);
        }
        waiting::note(Waiting::Task);
        Poll::Pending
    }

    fn report(&self, key: usize, output: Result<T, JoinError>) {
        let mut state = self.0.lock();
        let handle = state.running.remove(key);
        state.ended.push_back(output);
        let joiner = state.joiner.take();
        drop(state);
        drop(handle);
        if let Some(joiner) = joiner {
            joiner.wake();
        }
    }
}

pin_project! {
    /// A child's future. It is gone before the child's end is reported, so who has joined a child finds all that it held
    /// released.
    struct Child<F: Future> {
        #[pin]
        future: Option<F>,
        report: Report<F::Output>,
    }
}

impl<F: Future> Future for Child<F> {
    type Output = ();

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let mut this = self.project();
        let polled = catch_unwind(AssertUnwindSafe(|| {
            let polled = match this.future.as_mut().as_pin_mut() {
                Some(future) => future.poll(cx),
                None => Poll::Pending, // it is over: nobody polls it
            };
            if polled.is_ready() {
                this.future.set(None);
            }
            polled
        }));
        let output = match polled {
            Ok(Poll::Pending) => return Poll::Pending,
            Ok(Poll::Ready(output)) => Ok(output),
            Err(payload) => {
                this.future.set(None);
                Err(JoinError::Panicked(Panic::new(payload)))
            }
        };
        this.report.send(output);
        Poll::Ready(())
    }
}

/// A child's promise to report its end; dropped before it has, the child was aborted.
struct Report<T> {
    children: Option<Arc<Children<T>>>,
    key: usize,
}

impl<T> Report<T> {
    fn send(&mut self, output: Result<T, JoinError>) {
        if let Some(children) = self.children.take() {
            children.report(self.key, output);
        }
    }
}

impl<T> Drop for Report<T> {
    fn drop(&mut self) {
        self.send(Err(JoinError::Aborted));
    }
}

#[cfg(all(test, loom))]
mod model {
    use loom::future::block_on;
    use loom::thread;

    use super::*;

    /// Whoever waits for the next child is woken by each, however their ends and the wait fall together.
    #[test]
    fn no_end_of_a_child_is_missed() {
        loom::model(|| {
            budget::renew(); // all runs are on one thread
            let mut set = TaskSet::new();
            for child in 0..2 {
                let children = set.children();
                let key = children.0.lock().running.insert(None);
                thread::spawn(move || children.report(key, Ok(child)));
            }
            let outputs = block_on(set.join_all());
            assert_eq!(outputs.len(), 2);
        });
    }
}
