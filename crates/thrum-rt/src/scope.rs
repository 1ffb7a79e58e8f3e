//! Scopes: tasks that are over when the scope is.

use std::convert::Infallible;
use std::fmt;
use std::future::{Future, poll_fn};
use std::panic::{AssertUnwindSafe, Location, catch_unwind, resume_unwind};
use std::pin::pin;
use std::sync::Arc;
use std::task::Poll;

use crate::sync::MVar;
use crate::task::{JoinError, Panic};
use crate::task_set::{Children, TaskSet};
use crate::waiting::{self, Waiting};

/// Runs `body`, which may spawn tasks into the scope, and returns its output when all of them have ended.
///
/// If the body or a child panics, the others are cancelled and waited for, and then the panic goes on here. So when this
/// is over, in whatever way, nothing that it started runs any more.
///
/// ```
/// # thrum_rt::block_on(async {
/// let sum = thrum_rt::scope(|scope| async move {
///     let one = scope.spawn(async { 1 });
///     let two = scope.spawn(async { 2 });
///     one.join().await + two.join().await
/// })
/// .await;
/// assert_eq!(sum, 3);
/// # });
/// ```
///
/// Dropping the future before it is done aborts the children, each at its next await point, and does not wait for them.
///
/// That is also why a child can't borrow from the code around the scope, as a thread of [`std::thread::scope`] can: a
/// future may be dropped or forgotten at any await point, and a child that is in a poll on another worker just then would
/// outlive what it borrows. Children own what they use, or share it by [`Arc`].
///
/// # Panics
/// When the body or a child does, or when a child is spawned outside a runtime.
pub async fn scope<R, F>(body: impl FnOnce(Scope) -> F) -> R
where
    F: Future<Output = R>,
{
    let Ok(output) = try_scope(|scope| async { Ok(body(scope).await) }).await;
    output
}

/// A [`scope`] that ends at the first error of the body or of a child: the others are cancelled and waited for, and the
/// error is returned.
///
/// ```
/// # thrum_rt::block_on(async {
/// let parsed: Result<u32, std::num::ParseIntError> = thrum_rt::try_scope(|scope| async move {
///     let one = scope.try_spawn(async { "1".parse::<u32>() });
///     let two = scope.try_spawn(async { "two".parse::<u32>() });
///     Ok(one.join().await + two.join().await)
/// })
/// .await;
/// assert!(parsed.is_err());
/// # });
/// ```
///
/// Dropping the future before it is done aborts the children, each at its next await point, and does not wait for them.
///
/// # Errors
/// The first of the body or a child.
///
/// # Panics
/// When the body or a child does, or when a child is spawned outside a runtime.
pub async fn try_scope<R, E, F>(body: impl FnOnce(Scope<E>) -> F) -> Result<R, E>
where
    F: Future<Output = Result<R, E>>,
{
    let mut children = TaskSet::new();
    let scope = Scope {
        children: children.children(),
    };
    let outcome = run(&mut children, async { body(scope).await }).await;
    children.close();
    while children.join_next().await.is_some() {}
    outcome.map_err(|failure| match failure {
        Failure::Error(error) => error,
        Failure::Panic(panic) => resume_unwind(panic.into_payload()),
    })
}

/// Why a scope ends early.
enum Failure<E> {
    Error(E),
    Panic(Panic),
}

/// Runs the body and the children to their ends, or to the first failure. The body is dropped when this returns.
async fn run<R, E>(
    children: &mut TaskSet<Result<(), E>>,
    body: impl Future<Output = Result<R, E>>,
) -> Result<R, Failure<E>> {
    let mut body = pin!(body);
    let mut output = None;
    poll_fn(|cx| {
        // The body first: what it spawns in this poll is waited for in the same one.
        if output.is_none() {
            match catch_unwind(AssertUnwindSafe(|| body.as_mut().poll(cx))) {
                Ok(Poll::Pending) => {}
                Ok(Poll::Ready(Ok(done))) => output = Some(done),
                Ok(Poll::Ready(Err(error))) => return Poll::Ready(Err(Failure::Error(error))),
                Err(payload) => return Poll::Ready(Err(Failure::Panic(Panic::new(payload)))),
            }
        }
        loop {
            match children.poll_join_next(cx) {
                Poll::Ready(Some(ended)) => {
                    if let Some(failure) = failure_of(ended) {
                        return Poll::Ready(Err(failure));
                    }
                }
                Poll::Ready(None) => {
                    return output
                        .take()
                        .map_or(Poll::Pending, |done| Poll::Ready(Ok(done)));
                }
                Poll::Pending => return Poll::Pending,
            }
        }
    })
    .await
}

/// One that was aborted was so by the end of the scope or of the runtime.
fn failure_of<E>(ended: Result<Result<(), E>, JoinError>) -> Option<Failure<E>> {
    match ended {
        Ok(Err(error)) => Some(Failure::Error(error)),
        Err(JoinError::Panicked(panic)) => Some(Failure::Panic(panic)),
        Ok(Ok(())) | Err(JoinError::Aborted) => None,
    }
}

/// What tasks are spawned into a [`scope`] with. Clone it into a child that is to spawn more.
pub struct Scope<E = Infallible> {
    children: Arc<Children<Result<(), E>>>,
}

impl<E: Send + 'static> Scope<E> {
    /// Starts a task in the scope. See [`spawn`](crate::spawn).
    ///
    /// When the scope is over, the future is dropped instead.
    ///
    /// # Panics
    /// Outside a runtime.
    #[track_caller]
    pub fn spawn<F>(&self, future: F) -> ScopedTask<F::Output>
    where
        F: Future + Send + 'static,
        F::Output: Send + 'static,
    {
        self.start(async { Ok(future.await) }, Location::caller())
    }

    /// Starts a task in the scope that may fail, which ends the scope. See [`try_scope`].
    ///
    /// When the scope is over, the future is dropped instead.
    ///
    /// # Panics
    /// Outside a runtime.
    #[track_caller]
    pub fn try_spawn<T, F>(&self, future: F) -> ScopedTask<T>
    where
        F: Future<Output = Result<T, E>> + Send + 'static,
        T: Send + 'static,
    {
        self.start(future, Location::caller())
    }

    #[track_caller]
    fn start<T, F>(&self, future: F, spawned_at: &'static Location<'static>) -> ScopedTask<T>
    where
        F: Future<Output = Result<T, E>> + Send + 'static,
        T: Send + 'static,
    {
        let output = Arc::new(MVar::empty());
        let task = ScopedTask {
            output: output.clone(),
        };
        let child = async move {
            let done = future.await?;
            output.put(done).await;
            Ok(())
        };
        self.children.spawn(child, spawned_at);
        task
    }
}

impl<E> Clone for Scope<E> {
    fn clone(&self) -> Self {
        Self {
            children: self.children.clone(),
        }
    }
}

impl<E> fmt::Debug for Scope<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Scope").finish_non_exhaustive()
    }
}

/// A task of a [`scope`]. Dropping this lets the task run on; the scope waits for it.
pub struct ScopedTask<T> {
    output: Arc<MVar<T>>,
}

impl<T> ScopedTask<T> {
    /// Waits for the output.
    ///
    /// There is no error to handle: when a task of the scope fails, all that waits inside it is cancelled. Outside the
    /// scope this may wait for ever.
    ///
    /// Dropping the future before it is done loses the output; the task runs on.
    pub async fn join(self) -> T {
        waiting::on(Waiting::Task, self.output.take()).await
    }
}

impl<T> fmt::Debug for ScopedTask<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ScopedTask").finish_non_exhaustive()
    }
}
