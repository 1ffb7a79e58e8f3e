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
    /// Below zero: how often it has been refused since it was used up.
    static LEFT: Cell<i32> = const { Cell::new(OPERATIONS as i32) };
}

/// Gives the poll that begins a full budget.
pub(crate) fn renew() {
    LEFT.set(OPERATIONS as i32);
}

/// Whether nothing is left; the task is then woken, to go on in its next poll.
///
/// Another executor's polls begin without telling: there it is renewed once it has been refused as often as it may be
/// spent, else what waits there would be refused for ever.
pub(crate) fn exhausted(cx: &Context<'_>) -> bool {
    let left = LEFT.get();
    if left > 0 {
        return false;
    }
    if left <= -(OPERATIONS as i32) {
        renew();
    } else {
        LEFT.set(left - 1);
    }
    cx.waker().wake_by_ref();
    true
}

pub(crate) fn spend(operations: u32) {
    let left = LEFT.get();
    if left > 0 {
        // Not below zero, where refusals are counted.
        let spent = operations.min(left.unsigned_abs());
        LEFT.set(left - spent as i32);
    }
}

pub(crate) fn spend_bytes(bytes: usize) {
    spend(1 + (bytes / BYTES).min(OPERATIONS as usize) as u32);
}

#[cfg(all(test, not(loom)))]
mod tests {
    use std::task::Waker;

    use super::*;

    #[test]
    fn a_poll_may_do_so_much() {
        let cx = Context::from_waker(Waker::noop());
        renew();
        spend(OPERATIONS - 1);
        assert!(!exhausted(&cx));
        spend(2);
        assert!(exhausted(&cx));
        renew();
        assert!(!exhausted(&cx));
    }

    #[test]
    fn where_nobody_renews_it_is_not_refused_for_ever() {
        let cx = Context::from_waker(Waker::noop());
        spend(OPERATIONS);
        let refused = (0..10 * OPERATIONS).take_while(|_| exhausted(&cx)).count();
        assert_eq!(refused, OPERATIONS as usize + 1);
    }
}
