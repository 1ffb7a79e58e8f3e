//! Cancellation tokens: a tree of flags that can be waited for.
//!
//! A token holds its parent alive, a parent knows its children weakly. So a node is freed when the last token at or below
//! it is, and takes itself out of its parent's list then.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Weak};
use std::task::{Context, Poll, Waker};

use slab::Slab;

use crate::shim::{AtomicBool, Mutex, Ordering};
use crate::waiting::{self, Waiting};

/// Tells others that they should stop. Clones are one token; cancelling a token cancels its
/// [children](Self::child), and theirs, but not its parent.
///
/// ```
/// use thrum_rt::CancellationToken;
///
/// # thrum_rt::block_on(async {
/// let server = CancellationToken::new();
/// let connection = server.child();
/// let task = thrum_rt::spawn(async move {
///     connection.cancelled().await;
///     "asked to stop"
/// });
/// server.cancel();
/// assert_eq!(task.await.unwrap(), "asked to stop");
/// # });
/// ```
#[derive(Clone)]
pub struct CancellationToken {
    node: Arc<Node>,
}

impl CancellationToken {
    /// A token without a parent.
    pub fn new() -> Self {
        Self::of(false, None)
    }

    fn of(cancelled: bool, parent: Option<Place>) -> Self {
        Self {
            node: Arc::new(Node {
                cancelled: AtomicBool::new(cancelled),
                lists: Mutex::new(Lists::default()),
                parent,
            }),
        }
    }

    /// A token that is cancelled with this one, or alone.
    pub fn child(&self) -> Self {
        let mut lists = self.node.lists.lock();
        if self.is_cancelled() {
            return Self::of(true, None);
        }
        let entry = lists.children.vacant_entry();
        let place = Place {
            parent: self.node.clone(),
            key: entry.key(),
        };
        let child = Self::of(false, Some(place));
        entry.insert(Arc::downgrade(&child.node));
        child
    }

    /// Cancels the token and all below it. When this returns, whoever waits for one of them has been woken.
    pub fn cancel(&self) {
        let mut nodes = vec![self.node.clone()]; // no recursion: a tree may be deep
        while let Some(node) = nodes.pop() {
            let Lists { children, waiters } = node.cancel();
            nodes.extend(children.iter().filter_map(|(_, child)| child.upgrade()));
            waiters.into_iter().for_each(|(_, waker)| waker.wake());
        }
    }

    /// Whether the token, or one above it, was cancelled.
    pub fn is_cancelled(&self) -> bool {
        self.node.cancelled.load(Ordering::Acquire)
    }

    /// Waits until the token is cancelled.
    ///
    /// Dropping the future before it is done forgets the wait.
    pub fn cancelled(&self) -> Cancelled<'_> {
        Cancelled {
            token: self,
            key: None,
        }
    }

    /// Runs `future` to its end, or drops it when the token is cancelled: then the result is `None`.
    ///
    /// When both come at once, the output counts; but a token that is cancelled already starts nothing.
    ///
    /// Dropping the future before it is done drops the inner one.
    pub async fn run_until_cancelled<F: Future>(&self, future: F) -> Option<F::Output> {
        if self.is_cancelled() {
            return None;
        }
        crate::select! {
            biased;
            output = future => Some(output),
            () = self.cancelled() => None,
        }
    }

    /// Cancels the token when the guard is dropped.
    pub fn drop_guard(self) -> DropGuard {
        DropGuard(Some(self))
    }
}

impl Default for CancellationToken {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for CancellationToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CancellationToken")
            .field("cancelled", &self.is_cancelled())
            .finish()
    }
}

/// The future of [`CancellationToken::cancelled`].
#[must_use = "futures do nothing unless awaited"]
#[derive(Debug)]
pub struct Cancelled<'a> {
    token: &'a CancellationToken,
    /// Its place among the waiters.
    key: Option<usize>,
}

impl Future for Cancelled<'_> {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let token = self.token;
        let mut lists = token.node.lists.lock();
        if token.is_cancelled() {
            return Poll::Ready(());
        }
        let before = match self.key {
            Some(key) => Some(std::mem::replace(
                &mut lists.waiters[key],
                cx.waker().clone(),
            )),
            None => {
                self.key = Some(lists.waiters.insert(cx.waker().clone()));
                None
            }
        };
        drop(lists);
        drop(before); // after the lock: a waker is somebody's code
        waiting::note(Waiting::Cancellation);
        Poll::Pending
    }
}

impl Drop for Cancelled<'_> {
    fn drop(&mut self) {
        if let Some(key) = self.key {
            let mut lists = self.token.node.lists.lock();
            let waker = lists.waiters.try_remove(key);
            drop(lists);
            drop(waker);
        }
    }
}

/// Cancels a token when it is dropped: see [`CancellationToken::drop_guard`].
#[must_use = "dropping the guard cancels the token"]
#[derive(Debug)]
pub struct DropGuard(Option<CancellationToken>);

impl DropGuard {
    /// Gives the token back, not cancelled.
    pub fn disarm(mut self) -> CancellationToken {
        self.0.take().unwrap_or_default() // it is taken here only
    }
}

impl Drop for DropGuard {
    fn drop(&mut self) {
        if let Some(token) = &self.0 {
            token.cancel();
        }
    }
}

struct Node {
    /// Changed under the lock only.
    cancelled: AtomicBool,
    lists: Mutex<Lists>,
    parent: Option<Place>,
}

/// Empty for ever once the node is cancelled, so that no key is used twice after that.
#[derive(Default)]
struct Lists {
    children: Slab<Weak<Node>>,
    waiters: Slab<Waker>,
}

/// A node's place in its parent's list.
struct Place {
    parent: Arc<Node>,
    key: usize,
}

impl Node {
    /// Sets the flag and takes out who is to be told of it.
    fn cancel(&self) -> Lists {
        let mut lists = self.lists.lock();
        self.cancelled.store(true, Ordering::Release);
        std::mem::take(&mut *lists)
    }
}

impl Drop for Node {
    fn drop(&mut self) {
        let mut place = self.parent.take();
        // No recursion: with the last token of a long chain the whole chain goes.
        while let Some(Place { parent, key }) = place {
            parent.lists.lock().children.try_remove(key);
            place = Arc::into_inner(parent).and_then(|mut parent| parent.parent.take());
        }
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn dropped_children_leave_nothing_behind() {
        let parent = CancellationToken::new();
        for _ in 0..100_000 {
            drop(parent.child().child());
        }
        let children = parent.node.lists.lock().children.capacity();
        assert!(children < 100, "{children}");
    }

    #[test]
    fn dropped_waits_leave_nothing_behind() {
        let token = CancellationToken::new();
        let mut cx = Context::from_waker(Waker::noop());
        for _ in 0..100_000 {
            assert!(Pin::new(&mut token.cancelled()).poll(&mut cx).is_pending());
        }
        let waiters = token.node.lists.lock().waiters.capacity();
        assert!(waiters < 100, "{waiters}");
    }

    #[test]
    fn a_long_chain_is_cancelled_and_dropped_without_recursion() {
        let root = CancellationToken::new();
        let mut last = root.child();
        for _ in 0..100_000 {
            last = last.child();
        }
        root.cancel();
        assert!(last.is_cancelled());
        drop(root);
        drop(last);
    }
}

#[cfg(all(test, loom))]
mod model {
    use loom::future::block_on;
    use loom::thread;

    use super::*;

    /// A child made, and waited for, while its parent is cancelled: the wait ends.
    #[test]
    fn a_child_made_beside_cancel_is_cancelled() {
        loom::model(|| {
            let parent = CancellationToken::new();
            let canceller = thread::spawn({
                let parent = parent.clone();
                move || parent.cancel()
            });
            let child = parent.child();
            drop(parent);
            block_on(child.cancelled());
            canceller.join().unwrap();
        });
    }

    /// A child dropped while its parent is cancelled.
    #[test]
    fn a_child_may_go_beside_cancel() {
        loom::model(|| {
            let parent = CancellationToken::new();
            let child = parent.child();
            let dropper = thread::spawn(move || drop(child));
            parent.cancel();
            dropper.join().unwrap();
            assert!(parent.child().is_cancelled());
        });
    }
}
