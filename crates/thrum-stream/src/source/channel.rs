//! What other tasks send.

use thrum_rt::sync::channel::Receiver;

use crate::{Result, Source};

/// The messages of a [channel](thrum_rt::sync::channel), until it is closed and empty. Closing or dropping it drops the
/// receiver. Buffer: that of the channel.
///
/// ```
/// use thrum_rt::sync::channel;
/// use thrum_stream::{Source, sink, source};
///
/// # thrum_rt::block_on(async {
/// let (sender, receiver) = channel::bounded(2);
/// let sum = thrum_rt::spawn(source::channel(receiver).run(sink::fold(0, |sum, n| *sum += n)));
/// for n in 1..=4 {
///     sender.send(n).await.unwrap();
/// }
/// drop(sender);
/// assert_eq!(sum.await.unwrap()?, 10);
/// # thrum_stream::Result::Ok(())
/// # }).unwrap();
/// ```
pub fn channel<I>(receiver: Receiver<I>) -> Channel<I> {
    Channel(receiver)
}

/// See [`channel`].
#[derive(Debug)]
pub struct Channel<I>(Receiver<I>);

impl<I: Send> Source for Channel<I> {
    type Item = I;

    async fn next(&mut self) -> Result<Option<I>> {
        Ok(self.0.recv().await.ok())
    }
}
