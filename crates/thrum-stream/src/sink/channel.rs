//! Messages to other tasks.

use thrum_rt::sync::channel::Sender;

use crate::{Result, Sink};

/// Each item sent over a [channel](thrum_rt::sync::channel), waiting while that is full. Its result is how many were sent.
///
/// When the channel is closed it has enough; an item that was refused is left over. Its end drops the sender, be it a
/// close, an error or a drop: a receiver that has to tell these apart is sent `Result`s.
///
/// Buffer: that of the channel and one item.
///
/// ```
/// use thrum_rt::sync::channel;
/// use thrum_stream::{Source, sink, source};
///
/// # thrum_rt::block_on(async {
/// let (sender, receiver) = channel::bounded(1);
/// let sent = thrum_rt::spawn(source::iter(1..=3).run(sink::channel(sender)));
/// assert_eq!(source::channel(receiver).run(sink::collect(10)).await?, [1, 2, 3]);
/// assert_eq!(sent.await.unwrap()?, 3);
/// # thrum_stream::Result::Ok(())
/// # }).unwrap();
/// ```
pub fn channel<I>(sender: Sender<I>) -> Channel<I> {
    Channel {
        sender,
        sent: 0,
        refused: None,
    }
}

/// See [`channel`].
#[derive(Debug)]
pub struct Channel<I> {
    sender: Sender<I>,
    sent: u64,
    refused: Option<I>,
}

impl<I: Send> Sink<I> for Channel<I> {
    type Output = u64;

    async fn wants(&mut self) -> Result<bool> {
        Ok(!self.sender.is_closed())
    }

    async fn push(&mut self, item: I) -> Result<()> {
        match self.sender.send(item).await {
            Ok(()) => self.sent += 1,
            Err(refused) => self.refused = Some(refused.0),
        }
        Ok(())
    }

    fn rest(&mut self) -> Vec<I> {
        Vec::from_iter(self.refused.take())
    }

    async fn close(self) -> Result<u64> {
        Ok(self.sent)
    }
}
