//! The first items, or all but those.

use crate::{Input, Result, Stage, Step};

/// The first `count` items, or fewer if there are no more. It is done as soon as it has them, without asking for more.
/// Buffer: none.
///
/// ```
/// use thrum_stream::{Source, sink, source, stage};
///
/// # thrum_rt::block_on(async {
/// let some = source::iter(1..).pipe(stage::skip(2)).pipe(stage::take(3));
/// assert_eq!(some.run(sink::collect(10)).await?, [3, 4, 5]);
/// # thrum_stream::Result::Ok(())
/// # }).unwrap();
/// ```
pub const fn take(count: u64) -> Take {
    Take(count)
}

/// See [`take`].
#[derive(Clone, Copy, Debug)]
pub struct Take(u64);

impl<I: Send> Stage<I> for Take {
    type Item = I;

    fn step(&mut self, input: &mut Input<I>) -> Result<Step<I>> {
        if self.0 == 0 {
            return Ok(Step::Done);
        }
        let Some(item) = input.take() else {
            return Ok(input.starved());
        };
        self.0 -= 1;
        Ok(Step::Item(item))
    }
}

/// The items before the first one that `keep` says no to; that one is left over. Buffer: none.
///
/// ```
/// use thrum_stream::{Source, Stage, sink, source, stage};
///
/// # thrum_rt::block_on(async {
/// let mut numbers = source::iter(1..=6).resumable();
/// let small = stage::take_while(|n| *n < 4).to(sink::count());
/// assert_eq!(numbers.feed(small).await?, 3);
/// assert_eq!(numbers.run(sink::collect(10)).await?, [4, 5, 6]);
/// # thrum_stream::Result::Ok(())
/// # }).unwrap();
/// ```
pub const fn take_while<I, F: FnMut(&I) -> bool>(keep: F) -> TakeWhile<F> {
    TakeWhile { keep, done: false }
}

/// See [`take_while`].
#[derive(Clone, Copy, Debug)]
pub struct TakeWhile<F> {
    keep: F,
    done: bool,
}

impl<I: Send, F: FnMut(&I) -> bool + Send> Stage<I> for TakeWhile<F> {
    type Item = I;

    fn step(&mut self, input: &mut Input<I>) -> Result<Step<I>> {
        if self.done {
            return Ok(Step::Done);
        }
        let Some(item) = input.take() else {
            return Ok(input.starved());
        };
        if (self.keep)(&item) {
            return Ok(Step::Item(item));
        }
        self.done = true;
        input.put_back(item);
        Ok(Step::Done)
    }
}

/// All but the first `count` items. Buffer: none.
pub const fn skip(count: u64) -> Skip {
    Skip(count)
}

/// See [`skip`].
#[derive(Clone, Copy, Debug)]
pub struct Skip(u64);

impl<I: Send> Stage<I> for Skip {
    type Item = I;

    fn step(&mut self, input: &mut Input<I>) -> Result<Step<I>> {
        Ok(match input.take() {
            Some(item) if self.0 == 0 => Step::Item(item),
            Some(_) => {
                self.0 -= 1;
                input.starved()
            }
            None => input.starved(),
        })
    }
}

/// The items from the first one on that `skip` says no to. Buffer: none.
pub const fn skip_while<I, F: FnMut(&I) -> bool>(skip: F) -> SkipWhile<F> {
    SkipWhile { skip, begun: false }
}

/// See [`skip_while`].
#[derive(Clone, Copy, Debug)]
pub struct SkipWhile<F> {
    skip: F,
    /// Whether an item has passed.
    begun: bool,
}

impl<I: Send, F: FnMut(&I) -> bool + Send> Stage<I> for SkipWhile<F> {
    type Item = I;

    fn step(&mut self, input: &mut Input<I>) -> Result<Step<I>> {
        Ok(match input.take() {
            Some(item) if self.begun || !(self.skip)(&item) => {
                self.begun = true;
                Step::Item(item)
            }
            _ => input.starved(),
        })
    }
}
