//! Reading ahead, in a task of its own.

use thrum_rt::CancellationToken;
use thrum_rt::sync::channel::{self, Receiver, Sender};

use super::task::Task;
use crate::{Result, Source};

/// A source that runs in its own task: [`Source::ahead`].
#[derive(Debug)]
pub struct Ahead<S: Source> {
    /// What `next` of the source has answered.
    answers: Receiver<Result<Option<S::Item>>>,
    /// Gives what the close of the source gave.
    task: Task<Result<()>>,
    stop: CancellationToken,
    ended: bool,
}

impl<S: Source<Item: 'static> + 'static> Ahead<S> {
    #[track_caller]
    pub(super) fn new(source: S, items: usize) -> Self {
        let (sender, answers) = channel::bounded(items.max(1));
        let stop = CancellationToken::new();
        Ahead {
            answers,
            task: Task::spawn(read(source, sender, stop.clone())),
            stop,
            ended: false,
        }
    }
}

/// Reads until the source has ended or is to stop, and closes it.
async fn read<S: Source>(
    mut source: S,
    answers: Sender<Result<Option<S::Item>>>,
    stop: CancellationToken,
) -> Result<()> {
    let all = async {
        loop {
            let answer = source.next().await;
            let more = matches!(answer, Ok(Some(_)));
            if answers.send(answer).await.is_err() || !more {
                break;
            }
        }
    };
    stop.run_until_cancelled(all).await;
    source.close().await
}

impl<S: Source<Item: 'static> + 'static> Source for Ahead<S> {
    type Item = S::Item;

    async fn next(&mut self) -> Result<Option<S::Item>> {
        if self.ended {
            return Ok(None);
        }
        let Ok(answer) = self.answers.recv().await else {
            // The last answer is never `Some`: the task was cut short, and this is where its panic goes on.
            self.ended = true;
            return self.task.join("ahead").await?.map(|()| None);
        };
        self.ended = !matches!(answer, Ok(Some(_)));
        answer
    }

    async fn close(mut self) -> Result<()> {
        self.stop.cancel();
        self.task.join("ahead").await?
    }
}
