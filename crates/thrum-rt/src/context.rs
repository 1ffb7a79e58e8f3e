//! What the current OS thread is to the runtime: one of its workers, the one inside `block_on`, or a stranger.

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;

use crate::reactor::Reactor;
use crate::scheduler::{Scheduler, Worker};

thread_local! {
    static CONTEXT: RefCell<Option<Context>> = const { RefCell::new(None) };
}

#[derive(Clone)]
pub(crate) enum Context {
    Worker(Rc<Worker>),
    BlockOn(Arc<Scheduler>),
}

impl Context {
    fn scheduler(&self) -> &Arc<Scheduler> {
        match self {
            Context::Worker(worker) => worker.scheduler(),
            Context::BlockOn(scheduler) => scheduler,
        }
    }
}

/// Sets the context until the guard is dropped.
pub(crate) fn enter(context: Context) -> Entered {
    Entered {
        before: CONTEXT.replace(Some(context)),
    }
}

pub(crate) struct Entered {
    before: Option<Context>,
}

impl Drop for Entered {
    fn drop(&mut self) {
        // A thread that ends may have lost its context already.
        let _ = CONTEXT.try_with(|context| context.replace(self.before.take()));
    }
}

/// Calls `f` with this thread's worker, if it has one.
pub(crate) fn with_worker<R>(f: impl FnOnce(Option<&Worker>) -> R) -> R {
    let worker = CONTEXT.try_with(|context| match &*context.borrow() {
        Some(Context::Worker(worker)) => Some(worker.clone()),
        _ => None,
    });
    f(worker.ok().flatten().as_deref())
}

/// The scheduler of this thread's runtime, if it is in one.
pub(crate) fn try_scheduler() -> Option<Arc<Scheduler>> {
    let scheduler = CONTEXT.try_with(|context| {
        context
            .borrow()
            .as_ref()
            .map(|context| context.scheduler().clone())
    });
    scheduler.ok().flatten()
}

/// The number of this thread's runtime, if it is in one.
pub(crate) fn try_number() -> Option<u32> {
    let number = CONTEXT.try_with(|context| {
        let context = context.borrow();
        context.as_ref().map(|context| context.scheduler().number)
    });
    number.ok().flatten()
}

/// The scheduler of this thread's runtime.
///
/// # Panics
/// Outside a runtime.
#[track_caller]
pub(crate) fn scheduler() -> Arc<Scheduler> {
    match try_scheduler() {
        Some(scheduler) => scheduler,
        None => outside(),
    }
}

/// The reactor of this thread's seat, or some reactor where the thread has no seat.
///
/// # Panics
/// Outside a runtime.
#[track_caller]
pub(crate) fn reactor() -> Arc<Reactor> {
    match with_worker(|worker| worker.and_then(Worker::reactor)) {
        Some(reactor) => reactor,
        None => scheduler().any_reactor(),
    }
}

/// The next reactor in turn, for what should be spread over all of them.
///
/// # Panics
/// Outside a runtime.
#[track_caller]
pub(crate) fn next_reactor() -> Arc<Reactor> {
    scheduler().any_reactor()
}

#[track_caller]
fn outside() -> ! {
    panic!(
        "this needs a thrum runtime, and the current thread is in none: \
         call it inside `thrum::block_on(..)` or a function marked `#[thrum::main]`"
    )
}
