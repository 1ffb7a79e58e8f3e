//! Tasks: lightweight threads, each a future that the workers run.

use std::any::Any;
use std::fmt;
use std::future::Future;
use std::panic::{AssertUnwindSafe, Location, catch_unwind};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use async_task::{Builder, FallibleTask, ScheduleInfo, WithInfo};
use pin_project_lite::pin_project;

use crate::context;
use crate::scheduler::{Scheduler, Worker};
use crate::waiting::{self, Waiting};

/// What every task carries.
pub(crate) struct Meta {
    pub(crate) scheduler: Arc<Scheduler>,
    pub(crate) spawned_at: &'static Location<'static>,
}

/// A task that is to be polled.
pub(crate) type Runnable = async_task::Runnable<Meta>;

/// Starts a task: a lightweight thread that runs `future` on any worker.
///
/// The task runs to its end whether or not its [`JoinHandle`] is kept.
///
/// ```
/// # thrum_rt::block_on(async {
/// let handle = thrum_rt::spawn(async { 6 * 7 });
/// assert_eq!(handle.await.unwrap(), 42);
/// # });
/// ```
///
/// # Panics
/// Outside a runtime.
#[track_caller]
pub fn spawn<F>(future: F) -> JoinHandle<F::Output>
where
    F: Future + Send + 'static,
    F::Output: Send + 'static,
{
    let (runnable, handle) = prepare(future, Location::caller());
    runnable.schedule();
    handle
}

/// Makes a task that does not run before it is scheduled.
///
/// # Panics
/// Outside a runtime.
#[track_caller]
pub(crate) fn prepare<F>(
    future: F,
    spawned_at: &'static Location<'static>,
) -> (Runnable, JoinHandle<F::Output>)
where
    F: Future + Send + 'static,
    F::Output: Send + 'static,
{
    let meta = Meta {
        scheduler: context::scheduler(),
        spawned_at,
    };
    let (runnable, task) = Builder::new()
        .metadata(meta)
        .spawn(move |_| CatchPanic { future }, WithInfo(schedule));
    let state = State::Running(task.fallible());
    (runnable, JoinHandle { state })
}

// A plain function, so that a waker carries nothing and its task need not be kept alive while it is scheduled.
fn schedule(runnable: Runnable, info: ScheduleInfo) {
    Scheduler::schedule(runnable, info.woken_while_running);
}

/// Lets other tasks run first.
///
/// There is seldom a need to: input and output give way by themselves, and a task that computes for long is handed off.
pub async fn yield_now() {
    let mut yielded = false;
    std::future::poll_fn(|cx| {
        if std::mem::replace(&mut yielded, true) {
            return Poll::Ready(());
        }
        cx.waker().wake_by_ref();
        Poll::Pending
    })
    .await;
}

/// Calls `f`, which is known to block for long; the worker's other tasks move on at once.
///
/// Without it they move on too, a few milliseconds later, when the watchdog has noticed. Outside a worker it just calls
/// `f`.
///
/// ```
/// # thrum_rt::block_on(async {
/// let hosts = thrum_rt::blocking(|| std::fs::read("/etc/hosts"));
/// # let _ = hosts;
/// # });
/// ```
pub fn blocking<T>(f: impl FnOnce() -> T) -> T {
    context::with_worker(|worker| worker.map(Worker::hand_off_before_blocking));
    f()
}

/// What a panic left behind, as from [`std::panic::catch_unwind`].
pub type PanicPayload = Box<dyn Any + Send + 'static>;

/// Waits for the output of a task. Dropping it lets the task run on unobserved.
pub struct JoinHandle<T> {
    state: State<T>,
}

enum State<T> {
    Running(FallibleTask<Caught<T>, Meta>),
    Aborting(Pin<Box<dyn Future<Output = Option<Caught<T>>> + Send>>),
    Detached,
}

type Caught<T> = Result<T, PanicPayload>;

impl<T> JoinHandle<T> {
    /// Whether the task has ended, and awaiting it would not wait.
    pub fn is_finished(&self) -> bool {
        match &self.state {
            State::Running(task) => task.is_finished(),
            State::Aborting(_) | State::Detached => false,
        }
    }
}

impl<T: Send + 'static> JoinHandle<T> {
    /// Ends the task at its next await point: its future is dropped there, and awaiting the handle gives
    /// [`JoinError::Aborted`]. A task that has ended already keeps its output.
    pub fn abort(&mut self) {
        if let State::Running(task) = std::mem::replace(&mut self.state, State::Detached) {
            let mut cancel: Pin<Box<dyn Future<Output = _> + Send>> = if task.is_finished() {
                Box::pin(task)
            } else {
                Box::pin(task.cancel())
            };
            // The first poll does it.
            let polled = cancel
                .as_mut()
                .poll(&mut Context::from_waker(Waker::noop()));
            self.state = State::Aborting(match polled {
                Poll::Ready(output) => Box::pin(std::future::ready(output)),
                Poll::Pending => cancel,
            });
        }
    }
}

impl<T> Future for JoinHandle<T> {
    type Output = Result<T, JoinError>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let polled = match &mut self.state {
            State::Running(task) => Pin::new(task).poll(cx),
            State::Aborting(cancel) => cancel.as_mut().poll(cx),
            State::Detached => unreachable!("a handle is detached only when dropped"),
        };
        if polled.is_pending() {
            waiting::note(Waiting::Task);
        }
        polled.map(|output| match output {
            Some(Ok(output)) => Ok(output),
            Some(Err(payload)) => Err(JoinError::Panicked(payload)),
            None => Err(JoinError::Aborted),
        })
    }
}

impl<T> Drop for JoinHandle<T> {
    fn drop(&mut self) {
        if let State::Running(task) = std::mem::replace(&mut self.state, State::Detached) {
            task.detach();
        }
    }
}

impl<T> fmt::Debug for JoinHandle<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("JoinHandle")
            .field("finished", &self.is_finished())
            .finish_non_exhaustive()
    }
}

/// Why a task has no output.
pub enum JoinError {
    /// It panicked.
    Panicked(PanicPayload),
    /// It was aborted, or its runtime ended first.
    Aborted,
}

impl JoinError {
    /// The text of the panic, if it was one with a text.
    pub fn panic_message(&self) -> Option<&str> {
        let JoinError::Panicked(payload) = self else {
            return None;
        };
        let text = payload.downcast_ref::<String>().map(String::as_str);
        text.or_else(|| payload.downcast_ref::<&'static str>().copied())
    }
}

impl fmt::Debug for JoinError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            JoinError::Panicked(_) => f
                .debug_tuple("Panicked")
                .field(&self.panic_message())
                .finish(),
            JoinError::Aborted => f.write_str("Aborted"),
        }
    }
}

impl fmt::Display for JoinError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self, self.panic_message()) {
            (JoinError::Aborted, _) => f.write_str("the task was aborted"),
            (JoinError::Panicked(_), Some(message)) => write!(f, "the task panicked: {message}"),
            (JoinError::Panicked(_), None) => f.write_str("the task panicked"),
        }
    }
}

impl std::error::Error for JoinError {}

pin_project! {
    /// Turns a panic of the future into an error. The future is never polled again after it.
    struct CatchPanic<F> {
        #[pin]
        future: F,
    }
}

impl<F: Future> Future for CatchPanic<F> {
    type Output = Caught<F::Output>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let future = self.project().future;
        match catch_unwind(AssertUnwindSafe(|| future.poll(cx))) {
            Ok(polled) => polled.map(Ok),
            Err(payload) => Poll::Ready(Err(payload)),
        }
    }
}
