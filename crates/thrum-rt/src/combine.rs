//! Waiting for several futures in one task: `join!`, `try_join!`, [`race`], [`race_all`].

use std::future::{Future, IntoFuture, poll_fn};
use std::pin::Pin;
use std::task::{Context, Poll};

use pin_project_lite::pin_project;

use crate::select::at_random;

/// Waits for all of some futures, and gives the tuple of their outputs.
///
/// They take turns in the current task: nothing is spawned or allocated, and they may borrow. One that computes holds up
/// the others; to use more than one worker, [`spawn`](crate::spawn) them.
///
/// ```
/// # async fn read(name: &str) -> usize { name.len() }
/// # thrum_rt::block_on(async {
/// let (one, other) = thrum_rt::join!(read("one"), read("other"));
/// assert_eq!(one + other, 8);
/// # });
/// ```
///
/// Dropping the future that this is part of drops all of them.
#[macro_export]
macro_rules! join {
    ($($future:expr),+ $(,)?) => { $crate::__join!(@name join [] $($future,)+) };
}

/// Waits for all of some futures that may fail, and gives `Ok` of the tuple of their values, or the first error; then those
/// that are not done are dropped.
///
/// Otherwise it is like [`join!`](crate::join).
///
/// ```
/// # async fn parse(text: &str) -> Result<u32, std::num::ParseIntError> { text.parse() }
/// # thrum_rt::block_on(async {
/// let both = thrum_rt::try_join!(parse("1"), parse("2"));
/// assert_eq!(both, Ok((1, 2)));
/// assert!(thrum_rt::try_join!(parse("1"), parse("two")).is_err());
/// # });
/// ```
#[macro_export]
macro_rules! try_join {
    ($($future:expr),+ $(,)?) => { $crate::__join!(@name try_join [] $($future,)+) };
}

#[doc(hidden)]
#[macro_export]
macro_rules! __join {
    // Gives each future a name. They all read `future`, but hygiene makes each a different one.
    (@name $kind:ident [$($named:tt)*] $next:expr, $($rest:expr,)*) => {
        $crate::__join!(@name $kind [$($named)* (future $next)] $($rest,)*)
    };
    (@name $kind:ident [$($named:tt)+]) => {
        $crate::__join!(@$kind $($named)+)
    };

    // A `match`, so that what the futures borrow lives as long as they do.
    (@join $(($name:ident $future:expr))+) => {
        match ($($crate::__private::Joined::new($future),)+) {
            ($($name,)+) => {
                $(let mut $name = ::core::pin::pin!($name);)+
                $crate::__private::poll_fn(|cx| {
                    let mut done = true;
                    $(done &= $name.as_mut().is_done(cx);)+
                    if done {
                        $crate::__private::Poll::Ready(($($name.as_mut().output(),)+))
                    } else {
                        $crate::__private::Poll::Pending
                    }
                })
                .await
            }
        }
    };
    (@try_join $(($name:ident $future:expr))+) => {
        match ($($crate::__private::Joined::new($future),)+) {
            ($($name,)+) => {
                $(let mut $name = ::core::pin::pin!($name);)+
                $crate::__private::poll_fn(|cx| {
                    let mut done = true;
                    $(
                        match $name.as_mut().is_ok(cx) {
                            Ok(is_ok) => done &= is_ok,
                            Err(error) => return $crate::__private::Poll::Ready(Err(error)),
                        }
                    )+
                    if done {
                        $crate::__private::Poll::Ready(Ok(($($name.as_mut().value(),)+)))
                    } else {
                        $crate::__private::Poll::Pending
                    }
                })
                .await
            }
        }
    };
}

pin_project! {
    /// A future of a `join!`, then its output.
    #[derive(Debug)]
    pub struct Joined<F: Future> {
        #[pin]
        future: Option<F>,
        output: Option<F::Output>,
    }
}

/// `output` and `value` are called once, when all are done.
const ALL_DONE: &str = "a future of a `join!` has an output when all are done";

impl<F: Future> Joined<F> {
    /// From what can be awaited.
    pub fn new(future: impl IntoFuture<IntoFuture = F>) -> Self {
        Self {
            future: Some(future.into_future()),
            output: None,
        }
    }

    /// Polls the future, unless it is done.
    pub fn is_done(self: Pin<&mut Self>, cx: &mut Context<'_>) -> bool {
        let mut this = self.project();
        if let Some(future) = this.future.as_mut().as_pin_mut() {
            let Poll::Ready(output) = future.poll(cx) else {
                return false;
            };
            *this.output = Some(output);
            this.future.set(None);
        }
        true
    }

    /// Takes the output.
    pub fn output(self: Pin<&mut Self>) -> F::Output {
        self.project().output.take().expect(ALL_DONE)
    }
}

impl<T, E, F: Future<Output = Result<T, E>>> Joined<F> {
    /// Polls the future, unless it is done. Takes its error.
    ///
    /// # Errors
    /// That of the future.
    pub fn is_ok(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Result<bool, E> {
        let done = self.as_mut().is_done(cx);
        match self.project().output.take_if(|output| output.is_err()) {
            Some(Err(error)) => Err(error),
            _ => Ok(done),
        }
    }

    /// Takes the value.
    pub fn value(self: Pin<&mut Self>) -> T {
        self.output().ok().expect(ALL_DONE)
    }
}

/// Waits for the first of two futures, and drops the other. When both are ready, one is chosen at random.
///
/// For futures with different outputs, or more than two, there is [`select!`](crate::select).
///
/// ```
/// use std::time::Duration;
/// use thrum_rt::{race, time::sleep};
///
/// # thrum_rt::block_on(async {
/// let slow = async { sleep(Duration::from_secs(60)).await; "slow" };
/// assert_eq!(race(slow, async { "fast" }).await, "fast");
/// # });
/// ```
///
/// Dropping the future before it is done drops both.
pub async fn race<T>(one: impl Future<Output = T>, other: impl Future<Output = T>) -> T {
    crate::select! {
        output = one => output,
        output = other => output,
    }
}

/// Waits for the first of any number of futures, and drops the others; `None` if there are none. When several are ready,
/// one is chosen at random.
///
/// Each wake-up polls all of them. For more than a few dozen, spawn them into a [`TaskSet`](crate::TaskSet).
///
/// ```
/// # use std::time::Duration;
/// # use thrum_rt::time::sleep;
/// # thrum_rt::block_on(async {
/// let mirrors = [60_000, 1, 60_000].map(|ms| async move {
///     sleep(Duration::from_millis(ms)).await;
///     ms
/// });
/// assert_eq!(thrum_rt::race_all(mirrors).await, Some(1));
/// # });
/// ```
///
/// Dropping the future before it is done drops all of them.
pub async fn race_all<F: Future>(futures: impl IntoIterator<Item = F>) -> Option<F::Output> {
    let mut futures: Vec<_> = futures.into_iter().map(Box::pin).collect();
    if futures.is_empty() {
        return None;
    }
    let output = poll_fn(|cx| {
        let start = at_random(futures.len());
        let (before, after) = futures.split_at_mut(start);
        for future in after.iter_mut().chain(before) {
            if let Poll::Ready(output) = future.as_mut().poll(cx) {
                return Poll::Ready(output);
            }
        }
        Poll::Pending
    });
    Some(output.await)
}
