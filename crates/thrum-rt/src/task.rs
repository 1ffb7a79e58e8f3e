//! Tasks: lightweight threads, each a future that the workers run.

use std::any::Any;
use std::fmt;
use std::future::Future;
use std::panic::{AssertUnwindSafe, Location, catch_unwind};
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};

use async_task::{Builder, FallibleTask, ScheduleInfo, WithInfo};
use pin_project_lite::pin_project;

use crate::context;
use crate::registry::{self, Record};
use crate::scheduler::{Scheduler, Worker};
use crate::waiting::{self, Waiting};

/// What every task carries.
pub(crate) struct Meta {
    pub(crate) scheduler: Arc<Scheduler>,
    pub(crate) record: &'static Record,
}

/// A task that is to be polled.
pub(crate) type Runnable = async_task::Runnable<Meta>;

/// Starts a task: a lightweight thread that runs `future` on any worker.
///
/// The task runs to its end whether or not its [`JoinHandle`] is kept. When it ends, its future is dropped first, then its
/// output is handed to whoever waits for it.
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
    let (runnable, handle) = prepare(None, future, Location::caller());
    runnable.schedule();
    handle
}

/// Starts a task as [`spawn`] does, with a name that [`dump`](crate::dump()) shows.
///
/// # Panics
/// Outside a runtime.
#[track_caller]
pub fn spawn_named<F>(name: impl Into<Box<str>>, future: F) -> JoinHandle<F::Output>
where
    F: Future + Send + 'static,
    F::Output: Send + 'static,
{
    let (runnable, handle) = prepare(Some(name.into()), future, Location::caller());
    runnable.schedule();
    handle
}

/// Makes a task that does not run before it is scheduled.
///
/// # Panics
/// Outside a runtime.
#[track_caller]
pub(crate) fn prepare<F>(
    name: Option<Box<str>>,
    future: F,
    spawned_at: &'static Location<'static>,
) -> (Runnable, JoinHandle<F::Output>)
where
    F: Future + Send + 'static,
    F::Output: Send + 'static,
{
    let scheduler = context::scheduler();
    let entry = registry::Entry::new(scheduler.number, spawned_at);
    let record = entry.record();
    let serial = record.serial();
    if let Some(name) = name {
        registry::set_name(record, name);
    }
    let (runnable, task) = Builder::new()
        .metadata(Meta { scheduler, record })
        .spawn(move |_| Life::new(future, entry), WithInfo(schedule));
    registry::keep_waker(record, runnable.waker());
    let handle = JoinHandle {
        task: Some(task.fallible()),
        id: TaskId { record, serial },
    };
    (runnable, handle)
}

// A plain function, so that a waker carries nothing and its task need not be kept alive while it is scheduled.
fn schedule(runnable: Runnable, info: ScheduleInfo) {
    runnable.metadata().record.set_queued();
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

/// Waits for the output of a task. Dropping it lets the task run on unobserved.
pub struct JoinHandle<T> {
    /// There until the handle is dropped.
    task: Option<FallibleTask<Outcome<T>, Meta>>,
    id: TaskId,
}

type Outcome<T> = Result<T, JoinError>;

#[derive(Clone, Copy)]
struct TaskId {
    record: &'static Record,
    serial: u32,
}

impl<T> JoinHandle<T> {
    /// Whether the task has ended, and awaiting it would not wait.
    pub fn is_finished(&self) -> bool {
        self.task.as_ref().is_some_and(FallibleTask::is_finished)
    }

    /// Ends the task at its next await point: its future is dropped there, by a worker, and then awaiting the handle gives
    /// [`JoinError::Aborted`]. A task that has ended already keeps its output.
    pub fn abort(&self) {
        self.abort_handle().abort();
    }

    /// What aborts the task from elsewhere.
    pub fn abort_handle(&self) -> AbortHandle {
        AbortHandle { id: self.id }
    }
}

/// Aborts a task, whoever waits for it. It may outlive the task.
#[derive(Clone)]
pub struct AbortHandle {
    id: TaskId,
}

impl AbortHandle {
    /// See [`JoinHandle::abort`].
    pub fn abort(&self) {
        registry::abort(self.id.record, self.id.serial);
    }
}

impl fmt::Debug for AbortHandle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("AbortHandle").field(&self.id.serial).finish()
    }
}

impl<T> Future for JoinHandle<T> {
    type Output = Result<T, JoinError>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let task = self
            .task
            .as_mut()
            .expect("there until the handle is dropped");
        let polled = Pin::new(task).poll(cx);
        if polled.is_pending() {
            waiting::note(Waiting::Task);
        }
        // None: it was dropped unfinished, as its runtime ended.
        polled.map(|outcome| outcome.unwrap_or(Err(JoinError::Aborted)))
    }
}

impl<T> Drop for JoinHandle<T> {
    fn drop(&mut self) {
        if let Some(task) = self.task.take() {
            task.detach();
        }
    }
}

impl<T> fmt::Debug for JoinHandle<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("JoinHandle")
            .field("task", &self.id.serial)
            .field("finished", &self.is_finished())
            .finish()
    }
}

/// Why a task has no output.
pub enum JoinError {
    /// It panicked.
    Panicked(Panic),
    /// It was aborted, or its runtime ended first.
    Aborted,
}

impl JoinError {
    /// The text of the panic, if it was one with a text.
    pub fn panic_message(&self) -> Option<&str> {
        match self {
            JoinError::Panicked(panic) => panic.message(),
            JoinError::Aborted => None,
        }
    }
}

/// What a panic left behind.
pub struct Panic {
    message: Option<Box<str>>,
    /// Locked only so that it may be shared: a payload need not be `Sync`.
    payload: Mutex<Box<dyn Any + Send>>,
}

impl Panic {
    /// Takes in what [`std::panic::catch_unwind`] has caught.
    pub fn new(payload: Box<dyn Any + Send>) -> Self {
        let text = payload.downcast_ref::<String>().map(String::as_str);
        let text = text.or_else(|| payload.downcast_ref::<&'static str>().copied());
        Self {
            message: text.map(Box::from),
            payload: Mutex::new(payload),
        }
    }

    /// Its text, if it was one with a text.
    pub fn message(&self) -> Option<&str> {
        self.message.as_deref()
    }

    /// What it was raised with, for [`std::panic::resume_unwind`].
    pub fn into_payload(self) -> Box<dyn Any + Send> {
        self.payload
            .into_inner()
            .unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for Panic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Panic").field(&self.message()).finish()
    }
}

impl fmt::Debug for JoinError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            JoinError::Panicked(panic) => {
                f.debug_tuple("Panicked").field(&panic.message()).finish()
            }
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
    /// A task's future and its place in the list of tasks. A panic of either becomes an error.
    struct Life<F> {
        // Gone once it is ready: then it is dropped here and now, where a panic of its destructor does no harm.
        #[pin]
        future: Option<F>,
        entry: registry::Entry,
    }

    impl<F> PinnedDrop for Life<F> {
        fn drop(this: Pin<&mut Self>) {
            if let Err(payload) = this.drop_future() {
                tracing::error!(panic = payload.message(), "a task panicked while it was dropped");
            }
        }
    }
}

impl<F> Life<F> {
    fn new(future: F, entry: registry::Entry) -> Self {
        Self {
            future: Some(future),
            entry,
        }
    }

    fn drop_future(self: Pin<&mut Self>) -> Result<(), Panic> {
        let mut future = self.project().future;
        catch_unwind(AssertUnwindSafe(|| future.set(None))).map_err(Panic::new)
    }
}

impl<F: Future> Future for Life<F> {
    type Output = Outcome<F::Output>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let this = self.as_mut().project();
        let record = this.entry.record();
        let outcome = if record.is_aborted() {
            Err(JoinError::Aborted)
        } else {
            let future = this.future.as_pin_mut().expect("not polled after its end");
            match catch_unwind(AssertUnwindSafe(|| future.poll(cx))) {
                Ok(Poll::Pending) => {
                    record.set_waiting(waiting::take_note());
                    return Poll::Pending;
                }
                Ok(Poll::Ready(output)) => Ok(output),
                Err(payload) => Err(JoinError::Panicked(Panic::new(payload))),
            }
        };
        Poll::Ready(match self.drop_future() {
            Ok(()) => outcome,
            Err(panic) => Err(JoinError::Panicked(panic)),
        })
    }
}
