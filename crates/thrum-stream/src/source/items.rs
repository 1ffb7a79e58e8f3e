//! Items that are there already.

use crate::{Result, Source};

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
    Iter(items.into_iter())
}

/// See [`iter`].
#[derive(Clone, Debug)]
pub struct Iter<I>(I);

impl<I> Source for Iter<I>
where
    I: Iterator<Item: Send> + Send,
{
    type Item = I::Item;

    async fn next(&mut self) -> Result<Option<I::Item>> {
        Ok(self.0.next())
    }
}
