//! What a function gives.

use std::fmt;
use std::future::Future;
use std::pin::Pin;

use crate::{Cause, Error, Result, Source};

/// What `step` gives, which takes a state and gives an item and the next state, or `None` at the end. A `next` that is
/// dropped leaves the step under way, and the following one goes on with it. Buffer: the state.
///
/// # Errors
/// Those of `step`, in the stage `unfold`.
///
/// ```
/// use std::io;
///
/// use thrum_stream::{Source, sink, source};
///
/// # thrum_rt::block_on(async {
/// let halves = source::unfold(20, |n: u32| async move {
///     thrum_rt::yield_now().await;
///     io::Result::Ok((n > 0).then_some((n, n / 2)))
/// });
/// assert_eq!(halves.run(sink::collect(10)).await?, [20, 10, 5, 2, 1]);
/// # thrum_stream::Result::Ok(())
/// # }).unwrap();
/// ```
pub fn unfold<S, T, E, F, Fut>(state: S, step: F) -> Unfold<S, F, Fut>
where
    F: FnMut(S) -> Fut + Send,
    Fut: Future<Output = std::result::Result<Option<(T, S)>, E>> + Send,
    E: Into<Cause>,
{
    Unfold {
        state: Some(state),
        step,
        running: Box::pin(None),
    }
}

/// See [`unfold`].
pub struct Unfold<S, F, Fut> {
    /// None while a step is under way, and after the end.
    state: Option<S>,
    step: F,
    /// Its place is allocated once.
    running: Pin<Box<Option<Fut>>>,
}

impl<S, T, E, F, Fut> Source for Unfold<S, F, Fut>
where
    S: Send,
    T: Send,
    E: Into<Cause>,
    F: FnMut(S) -> Fut + Send,
    Fut: Future<Output = std::result::Result<Option<(T, S)>, E>> + Send,
{
    type Item = T;

    async fn next(&mut self) -> Result<Option<T>> {
        if let Some(state) = self.state.take() {
            self.running.set(Some((self.step)(state)));
        }
        let Some(running) = self.running.as_mut().as_pin_mut() else {
            return Ok(None);
        };
        let step = running.await.map_err(|cause| Error::new("unfold", cause));
        self.running.set(None);
        Ok(step?.map(|(item, state)| {
            self.state = Some(state);
            item
        }))
    }
}

impl<S: fmt::Debug, F, Fut> fmt::Debug for Unfold<S, F, Fut> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Unfold")
            .field("state", &self.state)
            .finish_non_exhaustive()
    }
}
