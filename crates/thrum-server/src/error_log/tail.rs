//! The last lines of what the server said, kept for whoever looks.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use tracing::{Event, Subscriber};
use tracing_subscriber::Layer;
use tracing_subscriber::layer::Context;

use super::ErrorFormat;
use super::event::{Told, Wrap, up_to};
use crate::log::{stamp, target::Envelope};

/// How many lines are kept.
const LINES: usize = 50;
/// How many bytes of a line are kept.
const LINE: usize = 512;

/// Keeps the last fifty events as lines of at most 512 bytes: a layer for a [`tracing_subscriber::Registry`]. Clones are the
/// same lines.
///
/// ```
/// use thrum_server::error_log::Tail;
/// use tracing_subscriber::Registry;
/// use tracing_subscriber::layer::SubscriberExt;
///
/// let tail = Tail::default();
/// let subscriber = Registry::default().with(tail.clone());
/// tracing::subscriber::with_default(subscriber, || tracing::warn!("the disk is full"));
/// assert!(tail.lines()[0].ends_with("the disk is full"));
/// ```
#[derive(Clone, Default)]
pub struct Tail(Arc<Mutex<Kept>>);

struct Kept {
    lines: VecDeque<String>,
    stamp: stamp::Stamp,
}

impl Default for Kept {
    fn default() -> Self {
        Self {
            lines: VecDeque::new(),
            stamp: stamp::Stamp::new(),
        }
    }
}

impl Tail {
    /// The one of this process: as there is one global subscriber, so there is one tail of what it was told.
    pub fn of_process() -> Self {
        static TAIL: OnceLock<Tail> = OnceLock::new();
        TAIL.get_or_init(Self::default).clone()
    }

    /// The lines, oldest first.
    pub fn lines(&self) -> Vec<String> {
        self.lock().lines.iter().cloned().collect()
    }

    fn lock(&self) -> MutexGuard<'_, Kept> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<S: Subscriber> Layer<S> for Tail {
    fn on_event(&self, event: &Event<'_>, _: Context<'_, S>) {
        // Before the lock is held: a field may say something itself.
        let told = Told::of(event);
        let mut kept = self.lock();
        let mut line = Vec::new();
        let time = kept.stamp.iso(stamp::now());
        Wrap::new(Envelope::Bare, ErrorFormat::Text).write(&told, time, &mut line);
        let line = String::from_utf8_lossy(&line);
        let line = line.trim_end();
        let line = up_to(line, LINE).to_owned();
        if kept.lines.len() == LINES {
            kept.lines.pop_front();
        }
        kept.lines.push_back(line);
    }
}

impl std::fmt::Debug for Tail {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Tail").finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use tracing_subscriber::Registry;
    use tracing_subscriber::layer::SubscriberExt;

    use super::*;

    #[test]
    fn only_so_much_is_kept() {
        let tail = Tail::default();
        let subscriber = Registry::default().with(tail.clone());
        tracing::subscriber::with_default(subscriber, || {
            for number in 0..LINES + 7 {
                tracing::warn!(number, "{}\n", "é".repeat(LINE));
            }
            tracing::error!("last");
        });
        let lines = tail.lines();
        assert_eq!(lines.len(), LINES);
        assert!(
            lines
                .iter()
                .all(|line| line.len() <= LINE && !line.contains('\n'))
        );
        assert!(lines[LINES - 1].contains(" ERROR ") && lines[LINES - 1].ends_with("last"));
    }
}
