//! Items changed by tasks, several at a time.

use std::collections::VecDeque;
use std::error::Error as StdError;
use std::future::Future;

use super::task::Task;
use crate::{Error, Result, Source};

/// A source whose items are changed by an async function in tasks of their own: [`Source::map_concurrent`].
#[derive(Debug)]
pub struct MapConcurrent<S, F, O> {
    source: S,
    change: F,
    limit: usize,
    /// The tasks of the items that were read, in their order.
    tasks: VecDeque<Task<O>>,
    /// What the source has ended with, once it has.
    end: Option<Result<()>>,
}

impl<S, F, O> MapConcurrent<S, F, O> {
    pub(super) fn new(source: S, limit: usize, change: F) -> Self {
        MapConcurrent {
            source,
            change,
            limit: limit.max(1),
            tasks: VecDeque::new(),
            end: None,
        }
    }
}

impl<S, T, E, F, Fut> Source for MapConcurrent<S, F, std::result::Result<T, E>>
where
    S: Source,
    T: Send + 'static,
    E: Into<Box<dyn StdError + Send + Sync>> + Send + 'static,
    F: FnMut(S::Item) -> Fut + Send,
    Fut: Future<Output = std::result::Result<T, E>> + Send + 'static,
{
    type Item = T;

    async fn next(&mut self) -> Result<Option<T>> {
        loop {
            let open = self.end.is_none() && self.tasks.len() < self.limit;
            thrum_rt::select! {
                biased;
                next = self.source.next(), if open => match next {
                    Ok(Some(item)) => self.tasks.push_back(Task::spawn((self.change)(item))),
                    Ok(None) => self.end = Some(Ok(())),
                    // Those before it come first.
                    Err(error) => self.end = Some(Err(error)),
                },
                made = first(&mut self.tasks), if !self.tasks.is_empty() => {
                    self.tasks.pop_front();
                    let made = made?.map(Some);
                    return made.map_err(|error| Error::of_user("map_concurrent", error));
                },
                else => {
                    let end = self.end.replace(Ok(()));
                    return end.unwrap_or(Ok(())).map(|()| None);
                },
            }
        }
    }

    async fn close(self) -> Result<()> {
        self.tasks.iter().for_each(Task::abort);
        for task in self.tasks {
            task.ended().await;
        }
        self.source.close().await
    }
}

/// What the first task gives, when there is one.
async fn first<O>(tasks: &mut VecDeque<Task<O>>) -> Result<O> {
    match tasks.front_mut() {
        Some(task) => task.join("map_concurrent").await,
        None => std::future::pending().await,
    }
}
