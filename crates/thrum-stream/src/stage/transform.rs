//! Other items made of each item.

use std::error::Error as StdError;

use crate::{Error, Input, Result, Stage, Step};

/// Each item changed by `change`, which may fail. Buffer: none.
///
/// ```
/// use thrum_stream::{Source, sink, source, stage};
///
/// # thrum_rt::block_on(async {
/// let numbers = source::iter(["1", "two"]).pipe(stage::try_map(str::parse::<u32>));
/// let error = numbers.run(sink::collect(10)).await.unwrap_err();
/// assert_eq!(error.to_string(), "try_map: invalid digit found in string");
/// # });
/// ```
///
/// # Errors
/// The first one of `change`: an [`Error`] as it is, any other one in the stage `"try_map"`.
pub const fn try_map<I, T, E, F>(change: F) -> TryMap<F>
where
    F: FnMut(I) -> std::result::Result<T, E>,
    E: Into<Box<dyn StdError + Send + Sync>>,
{
    TryMap(change)
}

/// See [`try_map`].
#[derive(Clone, Copy, Debug)]
pub struct TryMap<F>(F);

impl<I, T, E, F> Stage<I> for TryMap<F>
where
    T: Send,
    E: Into<Box<dyn StdError + Send + Sync>>,
    F: FnMut(I) -> std::result::Result<T, E> + Send,
{
    type Item = T;

    fn step(&mut self, input: &mut Input<I>) -> Result<Step<T>> {
        match input.take() {
            Some(item) => (self.0)(item)
                .map(Step::Item)
                .map_err(|error| Error::of_user("try_map", error)),
            None => Ok(input.starved()),
        }
    }
}

/// What `change` makes of the items of which it makes something. Buffer: none.
///
/// ```
/// use thrum_stream::{Source, sink, source, stage};
///
/// # thrum_rt::block_on(async {
/// let words = source::iter(["1", "two", "3"]);
/// let numbers = words.pipe(stage::filter_map(|word: &str| word.parse::<u32>().ok()));
/// assert_eq!(numbers.run(sink::collect(10)).await?, [1, 3]);
/// # thrum_stream::Result::Ok(())
/// # }).unwrap();
/// ```
pub const fn filter_map<I, T, F: FnMut(I) -> Option<T>>(change: F) -> FilterMap<F> {
    FilterMap(change)
}

/// See [`filter_map`].
#[derive(Clone, Copy, Debug)]
pub struct FilterMap<F>(F);

impl<I, T: Send, F: FnMut(I) -> Option<T> + Send> Stage<I> for FilterMap<F> {
    type Item = T;

    fn step(&mut self, input: &mut Input<I>) -> Result<Step<T>> {
        Ok(match input.take().and_then(&mut self.0) {
            Some(item) => Step::Item(item),
            None => input.starved(),
        })
    }
}

/// All that `change` makes of each item, one by one: nothing is made before it is wanted. Buffer: the iterator that is
/// made of one item.
///
/// ```
/// use thrum_stream::{Source, sink, source, stage};
///
/// # thrum_rt::block_on(async {
/// let words = source::iter(["to be", "or not"]).pipe(stage::flat_map(str::split_whitespace));
/// assert_eq!(words.run(sink::collect(10)).await?, ["to", "be", "or", "not"]);
/// # thrum_stream::Result::Ok(())
/// # }).unwrap();
/// ```
pub const fn flat_map<I, T: IntoIterator, F: FnMut(I) -> T>(change: F) -> FlatMap<T::IntoIter, F> {
    FlatMap {
        change,
        items: None,
    }
}

/// See [`flat_map`].
#[derive(Clone, Debug)]
pub struct FlatMap<T, F> {
    change: F,
    /// What is yet to come of the last item.
    items: Option<T>,
}

impl<I, T, F> Stage<I> for FlatMap<T::IntoIter, F>
where
    T: IntoIterator<Item: Send, IntoIter: Send>,
    F: FnMut(I) -> T + Send,
{
    type Item = T::Item;

    fn step(&mut self, input: &mut Input<I>) -> Result<Step<T::Item>> {
        loop {
            if let Some(item) = self.items.as_mut().and_then(Iterator::next) {
                return Ok(Step::Item(item));
            }
            self.items = input.take().map(|item| (self.change)(item).into_iter());
            if self.items.is_none() {
                return Ok(input.starved());
            }
        }
    }
}

/// What `change` makes of each item and of a state that it may change, until it makes nothing. The item of which it made
/// nothing is used up. Buffer: the state.
///
/// ```
/// use thrum_stream::{Source, sink, source, stage};
///
/// # thrum_rt::block_on(async {
/// let sums = source::iter(1..).pipe(stage::scan(0, |sum, n| {
///     *sum += n;
///     (*sum < 10).then_some(*sum)
/// }));
/// assert_eq!(sums.run(sink::collect(10)).await?, [1, 3, 6]);
/// # thrum_stream::Result::Ok(())
/// # }).unwrap();
/// ```
pub const fn scan<V, I, T, F>(state: V, change: F) -> Scan<V, F>
where
    F: FnMut(&mut V, I) -> Option<T>,
{
    Scan {
        state,
        change,
        done: false,
    }
}

/// See [`scan`].
#[derive(Clone, Copy, Debug)]
pub struct Scan<V, F> {
    state: V,
    change: F,
    done: bool,
}

impl<V: Send, I, T: Send, F: FnMut(&mut V, I) -> Option<T> + Send> Stage<I> for Scan<V, F> {
    type Item = T;

    fn step(&mut self, input: &mut Input<I>) -> Result<Step<T>> {
        if self.done {
            return Ok(Step::Done);
        }
        let Some(item) = input.take() else {
            return Ok(input.starved());
        };
        let made = (self.change)(&mut self.state, item);
        self.done = made.is_none();
        Ok(made.map_or(Step::Done, Step::Item))
    }
}

/// Each item with its number; the first is 0. Buffer: none.
pub const fn enumerate() -> Enumerate {
    Enumerate(0)
}

/// See [`enumerate`].
#[derive(Clone, Copy, Debug)]
pub struct Enumerate(u64);

impl<I: Send> Stage<I> for Enumerate {
    type Item = (u64, I);

    fn step(&mut self, input: &mut Input<I>) -> Result<Step<(u64, I)>> {
        let Some(item) = input.take() else {
            return Ok(input.starved());
        };
        let number = self.0;
        self.0 += 1;
        Ok(Step::Item((number, item)))
    }
}

/// The items as they are; `look` sees each of them. Buffer: none.
pub const fn inspect<I, F: FnMut(&I)>(look: F) -> Inspect<F> {
    Inspect(look)
}

/// See [`inspect`].
#[derive(Clone, Copy, Debug)]
pub struct Inspect<F>(F);

impl<I: Send, F: FnMut(&I) + Send> Stage<I> for Inspect<F> {
    type Item = I;

    fn step(&mut self, input: &mut Input<I>) -> Result<Step<I>> {
        let Some(item) = input.take() else {
            return Ok(input.starved());
        };
        (self.0)(&item);
        Ok(Step::Item(item))
    }
}
