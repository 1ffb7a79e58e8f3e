//! The I/O budget of a poll.
//!
//! A task whose descriptors are always ready would never give way: each wait would be over before it began. So a poll
//! may do only so much; after that the next wait says *pending* and has the task woken again, at the end of the queue.
//! Without it such a task would also be taken for a hog, and lowered.

use std::cell::Cell;
use std::task::Context;

/// Operations a poll may do.
const OPERATIONS: u32 = 128;

/// So many bytes count as one operation: 1 MiB uses a poll's budget up, about a quarter of a millisecond.
const BYTES: usize = 8 * 1024;

thread_local! {
    static LEFT: Cell<u32> = const { Cell::new(OPERATIONS) };
}

/// Gives the poll that begins a full budget.
pub(crate) fn renew() {
    LEFT.set(OPERATIONS);
}

/// Whether nothing is left; the task is then woken, to go on in its next poll.
pub(crate) fn exhausted(cx: &Context<'_>) -> bool {
    let exhausted = LEFT.get() == 0;
    if exhausted {
        cx.waker().wake_by_ref();
    }
    exhausted
}

pub(crate) fn spend(operations: u32) {
    LEFT.set(LEFT.get().saturating_sub(operations));
}

pub(crate) fn spend_bytes(bytes: usize) {
    spend(1 + u32::try_from(bytes / BYTES).unwrap_or(OPERATIONS));
}
