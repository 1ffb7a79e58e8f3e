//! A task that ends with its owner.

use std::future::Future;
use std::panic::resume_unwind;

use thrum_rt::{JoinError, JoinHandle};

use crate::{Error, Result};

/// A task that is aborted when this is dropped.
#[derive(Debug)]
pub(super) struct Task<T>(JoinHandle<T>);

impl<T> Task<T> {
    #[track_caller]
    pub(super) fn spawn<F>(future: F) -> Self
    where
        F: Future<Output = T> + Send + 'static,
        T: Send + 'static,
    {
        Task(thrum_rt::spawn(future))
    }

    /// Waits for its output. A panic of the task goes on here, as if there were no task.
    ///
    /// Dropping the future loses nothing. It is not to be called again after it was done.
    ///
    /// # Errors
    /// The task was dropped with its runtime, in the stage `stage`.
    pub(super) async fn join(&mut self, stage: &'static str) -> Result<T> {
        match (&mut self.0).await {
            Ok(output) => Ok(output),
            Err(JoinError::Panicked(panic)) => resume_unwind(panic.into_payload()),
            Err(JoinError::Aborted) => Err(Error::of_user(stage, JoinError::Aborted)),
        }
    }

    /// Has the task dropped where it is.
    pub(super) fn abort(&self) {
        self.0.abort();
    }

    /// Waits until it has ended, whatever it has to say.
    pub(super) async fn ended(mut self) {
        let _ = (&mut self.0).await;
    }
}

impl<T> Drop for Task<T> {
    fn drop(&mut self) {
        self.abort();
    }
}
