//! Items one by one.

use crate::{Input, Result, Stage, Step};

/// Each item changed by `change`. Buffer: none.
///
/// ```
/// use thrum_stream::{Source, sink, source, stage};
///
/// # thrum_rt::block_on(async {
/// let doubled = source::iter([1, 2]).pipe(stage::map(|n| 2 * n));
/// assert_eq!(doubled.run(sink::collect(10)).await?, [2, 4]);
/// # thrum_stream::Result::Ok(())
/// # }).unwrap();
/// ```
pub const fn map<I, T, F: FnMut(I) -> T>(change: F) -> Map<F> {
    Map(change)
}

/// See [`map`].
#[derive(Clone, Copy, Debug)]
pub struct Map<F>(F);

impl<I, T: Send, F: FnMut(I) -> T + Send> Stage<I> for Map<F> {
    type Item = T;

    #[inline]
    fn step(&mut self, input: &mut Input<I>) -> Result<Step<T>> {
        Ok(match input.take() {
            Some(item) => Step::Item((self.0)(item)),
            None => input.starved(),
        })
    }
}

/// The items that `keep` says yes to. Buffer: none.
///
/// ```
/// use thrum_stream::{Source, sink, source, stage};
///
/// # thrum_rt::block_on(async {
/// let odd = source::iter(1..=5).pipe(stage::filter(|n| n % 2 == 1));
/// assert_eq!(odd.run(sink::collect(10)).await?, [1, 3, 5]);
/// # thrum_stream::Result::Ok(())
/// # }).unwrap();
/// ```
pub const fn filter<I, F: FnMut(&I) -> bool>(keep: F) -> Filter<F> {
    Filter(keep)
}

/// See [`filter`].
#[derive(Clone, Copy, Debug)]
pub struct Filter<F>(F);

impl<I: Send, F: FnMut(&I) -> bool + Send> Stage<I> for Filter<F> {
    type Item = I;

    #[inline]
    fn step(&mut self, input: &mut Input<I>) -> Result<Step<I>> {
        Ok(match input.take() {
            Some(item) if (self.0)(&item) => Step::Item(item),
            _ => input.starved(),
        })
    }
}
