//! Children that nobody waits for any more are reaped, lest they stay as zombies.
//!
//! A task waits for each. If there is no runtime, or it ends first, the child goes to a list; whoever spawns the next one
//! goes through it.

use std::process::Child;
use std::sync::{Mutex, PoisonError};

use super::exit::Exit;
use crate::context;
use crate::task;

static LEFT: Mutex<Vec<Child>> = Mutex::new(Vec::new());

/// Has a child reaped when it ends.
pub(super) fn adopt(child: Child, exit: Exit) {
    let mut orphan = Orphan(Some(child));
    if orphan.has_ended() || context::try_scheduler().is_none() {
        return;
    }
    drop(task::spawn(orphan.reap(exit)));
}

/// Reaps those of the list that have ended.
pub(super) fn sweep() {
    let mut left = LEFT.lock().unwrap_or_else(PoisonError::into_inner);
    left.retain_mut(|child| matches!(child.try_wait(), Ok(None)));
}

/// A child that is still to be reaped; when it is dropped, by a later [`sweep`].
struct Orphan(Option<Child>);

impl Orphan {
    async fn reap(mut self, mut exit: Exit) {
        if let Some(child) = &mut self.0 {
            // Whether it has ended is asked when this is dropped.
            let _ = exit.wait(child).await;
        }
    }

    fn has_ended(&mut self) -> bool {
        let running = |child: &mut Child| matches!(child.try_wait(), Ok(None));
        let ended = !self.0.as_mut().is_some_and(running);
        if ended {
            self.0 = None;
        }
        ended
    }
}

impl Drop for Orphan {
    fn drop(&mut self) {
        if !self.has_ended() {
            let mut left = LEFT.lock().unwrap_or_else(PoisonError::into_inner);
            left.extend(self.0.take());
        }
    }
}
