//! Sinks that make a value of what they get.

use bytes::Bytes;

use crate::{Cause, Error, Result, Sink};

/// A value that each item changes. Buffer: the value.
///
/// ```
/// use thrum_stream::{Source, sink, source};
///
/// # thrum_rt::block_on(async {
/// let sum = source::iter(1..=4).run(sink::fold(0, |sum, n| *sum += n)).await?;
/// assert_eq!(sum, 10);
/// # thrum_stream::Result::Ok(())
/// # }).unwrap();
/// ```
pub const fn fold<I, T, F: FnMut(&mut T, I)>(value: T, change: F) -> Fold<T, F> {
    Fold { value, change }
}

/// See [`fold`].
#[derive(Clone, Debug)]
pub struct Fold<T, F> {
    value: T,
    change: F,
}

impl<I: Send, T: Send, F: FnMut(&mut T, I) + Send> Sink<I> for Fold<T, F> {
    type Output = T;

    async fn push(&mut self, item: I) -> Result<()> {
        (self.change)(&mut self.value, item);
        Ok(())
    }

    async fn close(self) -> Result<T> {
        Ok(self.value)
    }
}

/// How many items there are. Buffer: none.
pub const fn count() -> Count {
    Count(0)
}

/// See [`count`].
#[derive(Clone, Copy, Debug)]
pub struct Count(u64);

impl<I: Send> Sink<I> for Count {
    type Output = u64;

    async fn push(&mut self, _: I) -> Result<()> {
        self.0 += 1;
        Ok(())
    }

    async fn close(self) -> Result<u64> {
        Ok(self.0)
    }
}

/// The first item; the others are left over. Buffer: one item.
pub const fn head<I>() -> Head<I> {
    Head(None)
}

/// See [`head`].
#[derive(Clone, Copy, Debug)]
pub struct Head<I>(Option<I>);

impl<I: Send> Sink<I> for Head<I> {
    type Output = Option<I>;

    async fn wants(&mut self) -> Result<bool> {
        Ok(self.0.is_none())
    }

    async fn push(&mut self, item: I) -> Result<()> {
        self.0 = Some(item);
        Ok(())
    }

    async fn close(self) -> Result<Option<I>> {
        Ok(self.0)
    }
}

/// All items. Buffer: `limit` items.
///
/// # Errors
/// More items are [`Cause::TooLong`].
pub const fn collect<I>(limit: usize) -> Collect<I> {
    Collect {
        limit,
        items: Vec::new(),
    }
}

/// See [`collect`].
#[derive(Clone, Debug)]
pub struct Collect<I> {
    limit: usize,
    items: Vec<I>,
}

impl<I: Send> Sink<I> for Collect<I> {
    type Output = Vec<I>;

    async fn push(&mut self, item: I) -> Result<()> {
        if self.items.len() == self.limit {
            let limit = self.limit as u64;
            let unit = "items";
            return Err(Error::new("collect", Cause::TooLong { limit, unit }));
        }
        self.items.push(item);
        Ok(())
    }

    async fn close(self) -> Result<Vec<I>> {
        Ok(self.items)
    }
}

/// All bytes. Buffer: `limit` bytes.
///
/// # Errors
/// More bytes are [`Cause::TooLong`].
pub const fn concat(limit: usize) -> Concat {
    Concat {
        limit,
        bytes: Vec::new(),
    }
}

/// See [`concat()`].
#[derive(Clone, Debug)]
pub struct Concat {
    limit: usize,
    bytes: Vec<u8>,
}

impl Sink<Bytes> for Concat {
    type Output = Vec<u8>;

    async fn push(&mut self, piece: Bytes) -> Result<()> {
        if piece.len() > self.limit - self.bytes.len() {
            return Err(Error::too_long("concat", self.limit));
        }
        self.bytes.extend_from_slice(&piece);
        Ok(())
    }

    async fn close(self) -> Result<Vec<u8>> {
        Ok(self.bytes)
    }
}
