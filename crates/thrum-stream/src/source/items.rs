//! Items that are there already.

use std::iter::{self, Fuse};

use crate::{Cause, Error, Result, Source};

/// What an iterator gives.
///
/// ```
/// use thrum_stream::{Source, sink, source};
///
/// # thrum_rt::block_on(async {
/// let all = source::iter(1..=3).run(sink::collect(10)).await?;
/// assert_eq!(all, [1, 2, 3]);
/// # thrum_stream::Result::Ok(())
/// # }).unwrap();
/// ```
pub fn iter<I: IntoIterator>(items: I) -> Iter<I::IntoIter> {
    Iter(items.into_iter().fuse())
}

/// See [`iter()`].
#[derive(Clone, Debug)]
pub struct Iter<I>(Fuse<I>);

impl<I> Source for Iter<I>
where
    I: Iterator<Item: Send> + Send,
{
    type Item = I::Item;

    async fn next(&mut self) -> Result<Option<I::Item>> {
        Ok(self.0.next())
    }
}

/// One item.
pub fn once<I>(item: I) -> Iter<iter::Once<I>> {
    iter(iter::once(item))
}

/// No item.
pub fn empty<I>() -> Iter<iter::Empty<I>> {
    iter(iter::empty())
}

/// What an iterator of results gives, up to the first error.
///
/// # Errors
/// That error, in the stage `try_iter`.
///
/// ```
/// use thrum_stream::{Source, sink, source};
///
/// # thrum_rt::block_on(async {
/// let folder = source::try_iter(std::fs::read_dir("/").unwrap());
/// assert!(folder.run(sink::count()).await? > 0);
/// # thrum_stream::Result::Ok(())
/// # }).unwrap();
/// ```
pub fn try_iter<I: IntoIterator>(items: I) -> TryIter<I::IntoIter> {
    TryIter(items.into_iter().fuse())
}

/// See [`try_iter`].
#[derive(Clone, Debug)]
pub struct TryIter<I>(Fuse<I>);

impl<I, T, E> Source for TryIter<I>
where
    I: Iterator<Item = std::result::Result<T, E>> + Send,
    T: Send,
    E: Into<Cause>,
{
    type Item = T;

    async fn next(&mut self) -> Result<Option<T>> {
        let next = self.0.next().transpose();
        next.map_err(|cause| Error::new("try_iter", cause))
    }
}
