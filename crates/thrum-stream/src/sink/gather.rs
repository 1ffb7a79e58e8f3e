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

/// As [`fold`], with a change that can fail. Buffer: the value.
///
/// # Errors
/// Those of `change`, in the stage `try_fold`.
///
/// ```
/// use thrum_stream::{Cause, Source, sink, source};
///
/// # thrum_rt::block_on(async {
/// let sum = sink::try_fold(0u8, |sum, n| {
///     *sum = sum.checked_add(n).ok_or(Cause::Malformed("a sum over 255".into()))?;
///     Ok::<(), Cause>(())
/// });
/// let error = source::iter([200, 100]).run(sum).await.unwrap_err();
/// assert_eq!(error.to_string(), "try_fold: a sum over 255");
/// # });
/// ```
pub const fn try_fold<I, T, E, F>(value: T, change: F) -> TryFold<T, F>
where
    F: FnMut(&mut T, I) -> std::result::Result<(), E>,
{
    TryFold { value, change }
}

/// See [`try_fold`].
#[derive(Clone, Debug)]
pub struct TryFold<T, F> {
    value: T,
    change: F,
}

impl<I, T, E, F> Sink<I> for TryFold<T, F>
where
    I: Send,
    T: Send,
    E: Into<Cause>,
    F: FnMut(&mut T, I) -> std::result::Result<(), E> + Send,
{
    type Output = T;

    async fn push(&mut self, item: I) -> Result<()> {
        let changed = (self.change)(&mut self.value, item);
        changed.map_err(|cause| Error::new("try_fold", cause))
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

/// The last item. Buffer: one item.
pub const fn last<I>() -> Last<I> {
    Last(None)
}

/// See [`last`].
#[derive(Clone, Copy, Debug)]
pub struct Last<I>(Option<I>);

impl<I: Send> Sink<I> for Last<I> {
    type Output = Option<I>;

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

/// All bytes as text, which is to be UTF-8. Buffer: `limit` bytes.
///
/// # Errors
/// More bytes are [`Cause::TooLong`]; other bytes are [`Cause::Malformed`], from the close.
///
/// ```
/// use thrum_stream::{Source, sink, source};
///
/// # thrum_rt::block_on(async {
/// let text = source::reader("grün".as_bytes()).chunk(3).run(sink::text(80)).await?;
/// assert_eq!(text, "grün");
/// # thrum_stream::Result::Ok(())
/// # }).unwrap();
/// ```
pub const fn text(limit: usize) -> Text {
    Text(concat(limit))
}

/// See [`text`].
#[derive(Clone, Debug)]
pub struct Text(Concat);

impl Sink<Bytes> for Text {
    type Output = String;

    async fn push(&mut self, piece: Bytes) -> Result<()> {
        let pushed = self.0.push(piece).await;
        pushed.map_err(|error| error.in_stage("text".into()))
    }

    async fn close(self) -> Result<String> {
        String::from_utf8(self.0.bytes).map_err(|error| {
            let at = error.utf8_error().valid_up_to();
            let malformed = format!("not UTF-8 at byte {at}");
            Error::new("text", Cause::Malformed(malformed))
        })
    }
}
