//! The items, and a copy of each into a sink.

use thrum_rt::CancellationToken;
use thrum_rt::sync::channel::{self, Receiver, Sender};

use super::task::Task;
use crate::{Cause, Error, Result, Sink, Source, run};

/// A source whose items also go into a sink: [`Source::tee`].
#[derive(Debug)]
pub struct Tee<S: Source, T, F> {
    source: S,
    /// An item that was read and whose copy has not been sent.
    waiting: Option<S::Item>,
    /// What `source` has ended with, once it has.
    end: Option<Result<()>>,
    /// The sink's side, and who is told the result, until that is known.
    side: Option<Side<S::Item, T, F>>,
}

#[derive(Debug)]
struct Side<I, T, F> {
    copies: Sender<Result<Option<I>>>,
    /// Has the sink give up what it waits for.
    stop: CancellationToken,
    task: Task<Result<T>>,
    done: F,
}

impl<S, T, F> Tee<S, T, F>
where
    S: Source<Item: Clone + 'static>,
    T: Send + 'static,
    F: FnOnce(T) + Send,
{
    #[track_caller]
    pub(super) fn new<K>(source: S, sink: K, done: F) -> Self
    where
        K: Sink<S::Item, Output = T> + 'static,
    {
        let (copies, receiver) = channel::bounded(1);
        let stop = CancellationToken::new();
        let task = Task::spawn(feed(Copies(receiver), sink, stop.clone()));
        Tee {
            source,
            waiting: None,
            end: None,
            side: Some(Side {
                copies,
                stop,
                task,
                done,
            }),
        }
    }
}

impl<S, T, F> Source for Tee<S, T, F>
where
    S: Source<Item: Clone + 'static>,
    T: Send + 'static,
    F: FnOnce(T) + Send,
{
    type Item = S::Item;

    async fn next(&mut self) -> Result<Option<S::Item>> {
        if self.waiting.is_none() {
            match self.source.next().await {
                Ok(Some(item)) => self.waiting = Some(item),
                Ok(None) => {
                    self.end = Some(Ok(()));
                    return Ok(None);
                }
                Err(error) => {
                    self.end = Some(Err(copy(&error)));
                    return Err(error);
                }
            }
        }
        if let Some(side) = &mut self.side
            && side.copies.send(Ok(self.waiting.clone())).await.is_err()
        {
            // The sink has had enough, or has failed.
            let result = side.task.join("tee").await?;
            if let Some(side) = self.side.take() {
                (side.done)(result?);
            }
        }
        Ok(self.waiting.take())
    }

    async fn close(self) -> Result<()> {
        let closed = self.source.close().await;
        let Some(mut side) = self.side else {
            return closed;
        };
        let end = match (&closed, self.end) {
            (_, Some(Err(error))) => Err(error),
            (_, None) => Err(stopped()),
            (Err(error), _) => Err(copy(error)),
            (Ok(()), Some(Ok(()))) => Ok(None),
        };
        let whole = end.is_ok();
        if !whole {
            side.stop.cancel();
        }
        // It may have had enough before; then it has a result all the same.
        let _ = side.copies.send(end).await;
        match side.task.join("tee").await? {
            Ok(result) => (side.done)(result),
            Err(error) if whole => return Err(error),
            // It says what it was told.
            Err(_) => {}
        }
        closed
    }
}

/// The sink's side: it runs into the sink what it is sent, unless it is stopped.
async fn feed<I: Send, K: Sink<I>>(
    mut copies: Copies<I>,
    mut sink: K,
    stop: CancellationToken,
) -> Result<K::Output> {
    let feeding = run::feed(&mut copies, &mut sink);
    let fed = match stop.run_until_cancelled(feeding).await {
        Some(fed) => fed,
        None => Err(copies.error().await),
    };
    run::finish(copies.close(), sink, fed).await
}

/// The source of the sink's side.
struct Copies<I>(Receiver<Result<Option<I>>>);

impl<I: Send> Copies<I> {
    /// Why it was stopped: what is sent last.
    async fn error(&mut self) -> Error {
        loop {
            if let Err(error) = self.next().await {
                return error;
            }
        }
    }
}

impl<I: Send> Source for Copies<I> {
    type Item = I;

    async fn next(&mut self) -> Result<Option<I>> {
        // Dropped without a word about the end: it is not to pass for one.
        let next = self.0.recv().await;
        next.unwrap_or_else(|_| Err(stopped()))
    }
}

fn stopped() -> Error {
    Error::new("tee", Cause::Truncated("nobody reads on"))
}

/// The same for the sink's side, in words.
fn copy(error: &Error) -> Error {
    let cause = Cause::Other(error.cause().to_string().into());
    Error::new(error.stage().to_owned(), cause)
}
