//! Task-locals: values that a future finds wherever it is polled.
//!
//! Each is a thread-local slot. The future of [`TaskLocal::scope`] owns the value, and swaps it with what is in the slot
//! around each of its polls and its drop; so it follows the task over the workers, and nobody else sees it.

use std::cell::RefCell;
use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::thread::LocalKey;

use pin_project_lite::pin_project;

/// Declares task-locals: see [`TaskLocal`](crate::task_local::TaskLocal).
///
/// ```
/// thrum_rt::task_local! {
///     /// Who asks.
///     static USER: String;
///     pub static REQUEST: u64;
/// }
///
/// # thrum_rt::block_on(async {
/// let greeting = USER.scope("ada".to_owned(), async {
///     thrum_rt::yield_now().await;
///     USER.with(|user| format!("hello, {user}"))
/// });
/// assert_eq!(greeting.await, "hello, ada");
/// assert!(REQUEST.try_with(|_| ()).is_err());
/// # });
/// ```
#[macro_export]
macro_rules! task_local {
    ($($(#[$attribute:meta])* $visibility:vis static $name:ident: $type:ty);+ $(;)?) => {
        $(
            $(#[$attribute])*
            $visibility static $name: $crate::task_local::TaskLocal<$type> = {
                ::std::thread_local! {
                    static SLOT: ::std::cell::RefCell<::std::option::Option<$type>> =
                        const { ::std::cell::RefCell::new(::std::option::Option::None) };
                }
                $crate::task_local::TaskLocal::__new(SLOT)
            };
        )+
    };
}

/// A value that is set while a future is polled. Declare it with [`task_local!`](crate::task_local!).
///
/// Tasks that the future spawns don't inherit it: give it to them with a `scope` of their own.
pub struct TaskLocal<T: 'static> {
    slot: LocalKey<RefCell<Option<T>>>,
}

impl<T: 'static> TaskLocal<T> {
    #[doc(hidden)]
    pub const fn __new(slot: LocalKey<RefCell<Option<T>>>) -> Self {
        Self { slot }
    }

    /// Runs `future` with the value set. It hides the value of an outer scope.
    ///
    /// # Panics
    /// When polled inside [`with`](Self::with) of the same task-local.
    pub fn scope<F: Future>(&'static self, value: T, future: F) -> Scoped<T, F> {
        Scoped {
            local: self,
            value: Some(value),
            future: Some(future),
        }
    }

    /// Calls `f` with the value set. It hides the value of an outer scope.
    ///
    /// # Panics
    /// Inside [`with`](Self::with) of the same task-local.
    #[track_caller]
    pub fn sync_scope<R>(&'static self, value: T, f: impl FnOnce() -> R) -> R {
        let mut value = Some(value);
        let _set = self.set(&mut value).expect(IN_USE);
        f()
    }

    /// Calls `f` with the value.
    ///
    /// # Panics
    /// Outside its scopes.
    #[track_caller]
    pub fn with<R>(&'static self, f: impl FnOnce(&T) -> R) -> R {
        match self.try_with(f) {
            Ok(result) => result,
            Err(not_set) => panic!("{not_set}"),
        }
    }

    /// Calls `f` with the value.
    ///
    /// # Errors
    /// [`NotSet`] outside its scopes.
    pub fn try_with<R>(&'static self, f: impl FnOnce(&T) -> R) -> Result<R, NotSet> {
        let called = self
            .slot
            .try_with(|slot| slot.borrow().as_ref().map(f))
            .ok(); // the thread is at its end
        called.flatten().ok_or(NotSet)
    }

    /// A clone of the value.
    ///
    /// # Panics
    /// Outside its scopes.
    #[track_caller]
    pub fn get(&'static self) -> T
    where
        T: Clone,
    {
        self.with(T::clone)
    }

    /// Sets the value until the guard is dropped; `None` if it can't be.
    fn set<'a>(&'static self, value: &'a mut Option<T>) -> Option<Set<'a, T>> {
        self.swap(value).then_some(Set { local: self, value })
    }

    fn swap(&'static self, value: &mut Option<T>) -> bool {
        let swapped = self.slot.try_with(|slot| {
            let mut slot = slot.try_borrow_mut().ok()?;
            std::mem::swap(&mut *slot, value);
            Some(())
        });
        matches!(swapped, Ok(Some(())))
    }
}

const IN_USE: &str = "a task-local can't be set inside its own `with`";

impl<T> fmt::Debug for TaskLocal<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TaskLocal").finish_non_exhaustive()
    }
}

/// Puts back what was there.
struct Set<'a, T: 'static> {
    local: &'static TaskLocal<T>,
    value: &'a mut Option<T>,
}

impl<T> Drop for Set<'_, T> {
    fn drop(&mut self) {
        self.local.swap(self.value);
    }
}

pin_project! {
    /// The future of [`TaskLocal::scope`].
    #[must_use = "futures do nothing unless awaited"]
    pub struct Scoped<T: 'static, F> {
        local: &'static TaskLocal<T>,
        value: Option<T>,
        #[pin]
        future: Option<F>,
    }

    impl<T: 'static, F> PinnedDrop for Scoped<T, F> {
        fn drop(this: Pin<&mut Self>) {
            let mut this = this.project();
            let _set = this.local.set(this.value);
            this.future.set(None);
        }
    }
}

impl<T, F: Future> Future for Scoped<T, F> {
    type Output = F::Output;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<F::Output> {
        let mut this = self.project();
        let _set = this.local.set(this.value).expect(IN_USE);
        let future = this.future.as_mut().as_pin_mut();
        let polled = future.expect("polled after it was done").poll(cx);
        if polled.is_ready() {
            this.future.set(None);
        }
        polled
    }
}

impl<T, F> fmt::Debug for Scoped<T, F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Scoped").finish_non_exhaustive()
    }
}

/// A task-local was asked for outside its scopes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NotSet;

impl fmt::Display for NotSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the task-local is not set here: this is outside its `scope`")
    }
}

impl std::error::Error for NotSet {}
