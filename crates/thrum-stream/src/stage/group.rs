//! Several items as one.

use std::collections::VecDeque;

use crate::{Input, Result, Stage, Step};

/// Items in groups of `size`; the last group has what is left, and is never empty. Buffer: `size` items.
///
/// A group waits until it is full, and an error of the source drops it; see [`Source::batch_timeout`](crate::Source::batch_timeout) for one that does not.
///
/// ```
/// use thrum_stream::{Source, sink, source, stage};
///
/// # thrum_rt::block_on(async {
/// let pairs = source::iter(1..=5).pipe(stage::batch(2));
/// assert_eq!(pairs.run(sink::collect(10)).await?, [vec![1, 2], vec![3, 4], vec![5]]);
/// # thrum_stream::Result::Ok(())
/// # }).unwrap();
/// ```
///
/// # Panics
/// If `size` is zero.
pub const fn batch<I>(size: usize) -> Batch<I> {
    assert!(size > 0, "a batch has at least one item");
    Batch {
        size,
        items: Vec::new(),
    }
}

/// See [`batch`].
#[derive(Clone, Debug)]
pub struct Batch<I> {
    size: usize,
    items: Vec<I>,
}

impl<I: Send> Stage<I> for Batch<I> {
    type Item = Vec<I>;

    fn step(&mut self, input: &mut Input<I>) -> Result<Step<Vec<I>>> {
        self.items.extend(input.take());
        let full = self.items.len() == self.size;
        Ok(if full || input.is_at_end() && !self.items.is_empty() {
            Step::Item(std::mem::take(&mut self.items))
        } else {
            input.starved()
        })
    }

    fn rest(&mut self) -> Vec<I> {
        std::mem::take(&mut self.items)
    }
}

/// Each item with the `size - 1` before it, in their order; nothing before there are so many. Buffer: `size` items.
///
/// ```
/// use thrum_stream::{Source, sink, source, stage};
///
/// # thrum_rt::block_on(async {
/// let windows = source::iter(1..=4).pipe(stage::window(3));
/// assert_eq!(windows.run(sink::collect(10)).await?, [[1, 2, 3], [2, 3, 4]]);
/// # thrum_stream::Result::Ok(())
/// # }).unwrap();
/// ```
///
/// # Panics
/// If `size` is zero.
pub const fn window<I: Clone>(size: usize) -> Window<I> {
    assert!(size > 0, "a window has at least one item");
    Window {
        size,
        items: VecDeque::new(),
    }
}

/// See [`window`].
#[derive(Clone, Debug)]
pub struct Window<I> {
    size: usize,
    /// Full once it has been.
    items: VecDeque<I>,
}

impl<I: Clone + Send> Stage<I> for Window<I> {
    type Item = Vec<I>;

    fn step(&mut self, input: &mut Input<I>) -> Result<Step<Vec<I>>> {
        let Some(item) = input.take() else {
            return Ok(input.starved());
        };
        if self.items.len() == self.size {
            self.items.pop_front();
        }
        self.items.push_back(item);
        Ok(if self.items.len() == self.size {
            Step::Item(self.items.iter().cloned().collect())
        } else {
            input.starved()
        })
    }

    fn rest(&mut self) -> Vec<I> {
        // All items of a full window have been in one.
        let unused = self.items.len() < self.size;
        Vec::from_iter(unused.then(|| self.items.drain(..)).into_iter().flatten())
    }
}
