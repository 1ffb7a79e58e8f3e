//! Sinks for what is done with each item.

use std::future::Future;

use crate::{Cause, Error, Result, Sink};

/// Calls `act` with each item. Buffer: none.
///
/// ```
/// use thrum_stream::{Source, sink, source};
///
/// # thrum_rt::block_on(async {
/// source::iter(1..=3).run(sink::for_each(|n| println!("{n}"))).await?;
/// # thrum_stream::Result::Ok(())
/// # }).unwrap();
/// ```
pub const fn for_each<I, F: FnMut(I)>(act: F) -> ForEach<F> {
    ForEach(act)
}

/// See [`for_each`].
#[derive(Clone, Copy, Debug)]
pub struct ForEach<F>(F);

impl<I: Send, F: FnMut(I) + Send> Sink<I> for ForEach<F> {
    type Output = ();

    async fn push(&mut self, item: I) -> Result<()> {
        (self.0)(item);
        Ok(())
    }

    async fn close(self) -> Result<()> {
        Ok(())
    }
}

/// Calls `act` with each item and waits for what it does, one after the other. Buffer: one item.
///
/// # Errors
/// Those of `act`, in the stage `for_each_async`.
///
/// ```
/// use std::io;
/// use thrum_stream::{Source, sink, source};
///
/// # thrum_rt::block_on(async {
/// let sizes = source::iter(["/etc/passwd", "/etc/group"]);
/// let print = sink::for_each_async(|path| async move {
///     let metadata = thrum_rt::fs::metadata(path).await?;
///     println!("{path}: {} bytes", metadata.len());
///     io::Result::Ok(())
/// });
/// sizes.run(print).await?;
/// # thrum_stream::Result::Ok(())
/// # }).unwrap();
/// ```
pub const fn for_each_async<I, E, F, Fut>(act: F) -> ForEachAsync<F>
where
    F: FnMut(I) -> Fut,
    Fut: Future<Output = std::result::Result<(), E>>,
{
    ForEachAsync(act)
}

/// See [`for_each_async`].
#[derive(Clone, Copy, Debug)]
pub struct ForEachAsync<F>(F);

impl<I, E, F, Fut> Sink<I> for ForEachAsync<F>
where
    I: Send,
    E: Into<Cause>,
    F: FnMut(I) -> Fut + Send,
    Fut: Future<Output = std::result::Result<(), E>> + Send,
{
    type Output = ();

    async fn push(&mut self, item: I) -> Result<()> {
        let acted = (self.0)(item).await;
        acted.map_err(|cause| Error::new("for_each_async", cause))
    }

    async fn close(self) -> Result<()> {
        Ok(())
    }
}

/// Takes all items and does nothing with them. Buffer: none.
pub const fn drain() -> Drain {
    Drain(())
}

/// See [`drain`].
#[derive(Clone, Copy, Debug)]
pub struct Drain(());

impl<I: Send> Sink<I> for Drain {
    type Output = ();

    async fn push(&mut self, _: I) -> Result<()> {
        Ok(())
    }

    async fn close(self) -> Result<()> {
        Ok(())
    }
}
