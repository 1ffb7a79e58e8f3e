//! A value that is made once.

use std::convert::Infallible;
use std::fmt;
use std::future::Future;
use std::pin::pin;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::shim::const_fn;
use crate::waiting::{self, Waiting};

/// A place for a value that is made at its first use; who comes meanwhile waits for it.
///
/// ```
/// use thrum_rt::sync::OnceCell;
///
/// static GREETING: OnceCell<String> = OnceCell::new();
///
/// # thrum_rt::block_on(async {
/// let greeting = GREETING.get_or_init(|| async { "hello".to_owned() }).await;
/// assert_eq!(greeting, "hello");
/// # });
/// ```
#[derive(Default)]
pub struct OnceCell<T>(async_lock::OnceCell<T>);

impl<T> OnceCell<T> {
    const_fn! {
        /// An empty cell.
        pub fn new() -> Self {
            Self(async_lock::OnceCell::new())
        }
    }

    /// The value, if there is one.
    pub fn get(&self) -> Option<&T> {
        self.0.get()
    }

    /// The value, if there is one.
    pub fn get_mut(&mut self) -> Option<&mut T> {
        self.0.get_mut()
    }

    /// The value, if there is one.
    pub fn into_inner(self) -> Option<T> {
        self.0.into_inner()
    }

    /// Puts a value in, if nobody has and nobody is about to.
    ///
    /// # Errors
    /// The value, when there is one or it is just being made.
    pub fn set(&self, value: T) -> Result<(), T> {
        self.0.try_set(value)
    }

    /// Waits until there is a value.
    ///
    /// Dropping the future before it is done forgets the wait.
    pub async fn wait(&self) -> &T {
        waiting::on(Waiting::OnceCell, self.0.wait()).await
    }

    /// The value, made by `init` if there is none. Of several that come at once, one makes it and the others wait.
    ///
    /// Dropping the future before it is done, or a panic in it, leaves the cell empty, and another one that waits makes the
    /// value.
    pub async fn get_or_init<F: Future<Output = T>>(&self, init: impl FnOnce() -> F) -> &T {
        let made = self
            .get_or_try_init(|| async { Ok::<_, Infallible>(init().await) })
            .await;
        match made {
            Ok(value) => value,
            Err(never) => match never {},
        }
    }

    /// As [`get_or_init`](Self::get_or_init), with an `init` that may fail.
    ///
    /// # Errors
    /// What `init` says. The cell stays empty, and another one that waits tries next.
    pub async fn get_or_try_init<E, F: Future<Output = Result<T, E>>>(
        &self,
        init: impl FnOnce() -> F,
    ) -> Result<&T, E> {
        let initializing = AtomicBool::new(false);
        let mut value = pin!(self.0.get_or_try_init(|| {
            initializing.store(true, Ordering::Relaxed);
            init()
        }));
        std::future::poll_fn(|cx| {
            let polled = value.as_mut().poll(cx);
            // Who makes the value waits for what `init` waits for.
            if polled.is_pending() && !initializing.load(Ordering::Relaxed) {
                waiting::note(Waiting::OnceCell);
            }
            polled
        })
        .await
    }
}

impl<T> From<T> for OnceCell<T> {
    fn from(value: T) -> Self {
        Self(value.into())
    }
}

impl<T: fmt::Debug> fmt::Debug for OnceCell<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use std::task::Poll;

    use super::super::testing::{Wakes, poll};
    use super::*;

    #[test]
    fn one_makes_the_value_and_the_others_wait() {
        let cell = OnceCell::new();
        let wakes = Wakes::new();
        let mut gate = false;
        let mut maker = pin!(cell.get_or_init(|| {
            std::future::poll_fn(move |_| {
                if std::mem::replace(&mut gate, true) {
                    return Poll::Ready(1);
                }
                Poll::Pending
            })
        }));
        assert!(poll(maker.as_mut()).is_pending());
        let mut other = pin!(cell.get_or_init(|| async { 2 }));
        let mut third = pin!(cell.wait());
        assert!(wakes.poll(other.as_mut()).is_pending());
        assert!(wakes.poll(third.as_mut()).is_pending());
        assert_eq!(cell.set(3), Err(3));
        assert_eq!(poll(maker), Poll::Ready(&1));
        assert_eq!(wakes.count(), 2);
        assert_eq!(poll(other), Poll::Ready(&1));
        assert_eq!(poll(third), Poll::Ready(&1));
        assert_eq!(cell.get(), Some(&1));
    }

    #[test]
    fn a_maker_that_gives_up_or_fails_leaves_it_to_the_next() {
        let cell = OnceCell::new();
        let mut first = Box::pin(cell.get_or_init(std::future::pending));
        assert!(poll(first.as_mut()).is_pending());
        let (mut second, wakes) = (
            pin!(cell.get_or_try_init(|| async { Err("no") })),
            Wakes::new(),
        );
        assert!(wakes.poll(second.as_mut()).is_pending());
        drop(first);
        assert_eq!(wakes.count(), 1);
        assert_eq!(poll(second), Poll::Ready(Err("no")));
        assert_eq!(cell.get(), None);
        assert_eq!(cell.set(3), Ok(()));
        assert_eq!(cell.get(), Some(&3));
    }

    #[test]
    fn a_note_says_who_waits_for_whom() {
        let cell = OnceCell::<()>::new();
        waiting::take_note();
        let mut maker =
            pin!(cell.get_or_init(|| { waiting::on(Waiting::Signal, std::future::pending()) }));
        assert!(poll(maker.as_mut()).is_pending());
        assert_eq!(Waiting::unpack(waiting::take_note()), Waiting::Signal);
        assert!(poll(pin!(cell.get_or_init(std::future::pending))).is_pending());
        assert_eq!(Waiting::unpack(waiting::take_note()), Waiting::OnceCell);
    }
}
