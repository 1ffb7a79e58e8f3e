//! How much has passed, for whoever wants to see it meanwhile.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::{Input, Result, Stage, Step};

/// A number of items or bytes that have passed, to be read by others while they do: a progress bar, a metrics page.
///
/// Its clones are one number. Several stages may add to it.
///
/// ```
/// use thrum_stream::{Source, sink, source, stage};
///
/// # thrum_rt::block_on(async {
/// let (bytes, lines) = (stage::Tally::new(), stage::Tally::new());
/// let log = source::reader(&b"GET /\nPUT /a\n"[..]);
/// log.pipe(bytes.bytes()).pipe(stage::lines(80)).pipe(lines.items()).run(sink::count()).await?;
/// assert_eq!((bytes.total(), lines.total()), (13, 2));
/// # thrum_stream::Result::Ok(())
/// # }).unwrap();
/// ```
#[derive(Clone, Debug, Default)]
pub struct Tally(Arc<AtomicU64>);

impl Tally {
    /// Zero.
    pub fn new() -> Self {
        Self::default()
    }

    /// What has passed so far, in all stages that add to it. It may wrap around after 2^64.
    pub fn total(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }

    /// A stage that adds 1 for each item. Buffer: none.
    pub fn items<I>(&self) -> Tallied<I> {
        self.stage(|_| 1)
    }

    /// A stage that adds the length of each item in bytes. Buffer: none.
    pub fn bytes<I: AsRef<[u8]>>(&self) -> Tallied<I> {
        self.stage(|item| item.as_ref().len() as u64)
    }

    pub(super) fn add(&self, worth: u64) {
        // Nothing else is ordered by this number.
        self.0.fetch_add(worth, Ordering::Relaxed);
    }

    fn stage<I>(&self, worth: fn(&I) -> u64) -> Tallied<I> {
        Tallied {
            tally: self.clone(),
            worth,
        }
    }
}

/// See [`Tally::items`] and [`Tally::bytes`].
#[derive(Clone, Debug)]
pub struct Tallied<I> {
    tally: Tally,
    /// How much an item adds.
    worth: fn(&I) -> u64,
}

impl<I: Send> Stage<I> for Tallied<I> {
    type Item = I;

    fn step(&mut self, input: &mut Input<I>) -> Result<Step<I>> {
        let Some(item) = input.take() else {
            return Ok(input.starved());
        };
        self.tally.add((self.worth)(&item));
        Ok(Step::Item(item))
    }
}
