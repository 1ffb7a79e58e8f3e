//! An item and the one before it.

use crate::{Input, Result, Stage, Step};

/// The items without those that are equal to the one before. Buffer: one item.
///
/// ```
/// use thrum_stream::{Source, sink, source, stage};
///
/// # thrum_rt::block_on(async {
/// let changes = source::iter([1, 1, 2, 1]).pipe(stage::dedup());
/// assert_eq!(changes.run(sink::collect(10)).await?, [1, 2, 1]);
/// # thrum_stream::Result::Ok(())
/// # }).unwrap();
/// ```
pub const fn dedup<I: Clone + PartialEq>() -> Dedup<I> {
    Dedup(None)
}

/// See [`dedup`].
#[derive(Clone, Copy, Debug)]
pub struct Dedup<I>(Option<I>);

impl<I: Clone + PartialEq + Send> Stage<I> for Dedup<I> {
    type Item = I;

    fn step(&mut self, input: &mut Input<I>) -> Result<Step<I>> {
        Ok(match input.take() {
            Some(item) if self.0.as_ref() != Some(&item) => {
                self.0 = Some(item.clone());
                Step::Item(item)
            }
            _ => input.starved(),
        })
    }
}

/// The items with a `separator` between any two. Buffer: the separator.
///
/// ```
/// use thrum_stream::{Source, sink, source, stage};
///
/// # thrum_rt::block_on(async {
/// let list = source::iter(["a", "b"]).pipe(stage::intersperse(", "));
/// assert_eq!(list.run(sink::collect(10)).await?, ["a", ", ", "b"]);
/// # thrum_stream::Result::Ok(())
/// # }).unwrap();
/// ```
pub const fn intersperse<I: Clone>(separator: I) -> Intersperse<I> {
    Intersperse {
        separator,
        due: false,
    }
}

/// See [`intersperse`].
#[derive(Clone, Copy, Debug)]
pub struct Intersperse<I> {
    separator: I,
    /// Whether the separator comes before the next item.
    due: bool,
}

impl<I: Clone + Send> Stage<I> for Intersperse<I> {
    type Item = I;

    fn step(&mut self, input: &mut Input<I>) -> Result<Step<I>> {
        let Some(item) = input.take() else {
            return Ok(input.starved());
        };
        let separate = self.due;
        self.due = !separate;
        Ok(Step::Item(if separate {
            input.put_back(item);
            self.separator.clone()
        } else {
            item
        }))
    }
}
