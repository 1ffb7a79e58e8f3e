//! What the tests of this folder share.

#[cfg(loom)]
pub(super) use self::models::model;
#[cfg(not(loom))]
pub(super) use self::polls::{Wakes, poll};

#[cfg(not(loom))]
mod polls {
    use std::future::Future;
    use std::pin::Pin;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::task::{Context, Poll, Wake, Waker};

    /// A poll whose waker nobody looks at.
    pub(crate) fn poll<F: Future>(future: Pin<&mut F>) -> Poll<F::Output> {
        future.poll(&mut Context::from_waker(Waker::noop()))
    }

    /// A waker that counts.
    #[derive(Default)]
    pub(crate) struct Wakes(AtomicUsize);

    impl Wakes {
        pub(crate) fn new() -> Arc<Self> {
            Arc::default()
        }

        pub(crate) fn count(&self) -> usize {
            self.0.load(Ordering::Relaxed)
        }

        /// A poll with this waker.
        pub(crate) fn poll<F: Future>(self: &Arc<Self>, future: Pin<&mut F>) -> Poll<F::Output> {
            future.poll(&mut Context::from_waker(&self.clone().into()))
        }
    }

    impl Wake for Wakes {
        fn wake(self: Arc<Self>) {
            self.0.fetch_add(1, Ordering::Relaxed);
        }
    }
}

#[cfg(loom)]
mod models {
    use crate::budget;

    /// Explores `run`. Its threads share an OS thread, and so a budget, which is to be the same in each run.
    pub(crate) fn model(run: impl Fn() + Send + Sync + 'static) {
        loom::model(move || {
            budget::renew();
            run();
        });
    }
}
