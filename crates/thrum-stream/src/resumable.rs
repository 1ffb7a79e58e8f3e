//! One sink after the other.

use std::collections::VecDeque;

use crate::{Result, Sink, Source, Step, run};

/// A source that is read by one sink after the other. What a sink leaves over, the next one gets.
///
/// ```
/// use thrum_stream::{Source, Stage, sink, source, stage};
///
/// # thrum_rt::block_on(async {
/// let mut input = source::reader(&b"2\nabcdef"[..]).resumable();
/// let line = input.feed(stage::lines(80).to(sink::head())).await?;
/// assert_eq!(line.as_deref(), Some(&b"2"[..]));
/// let body = input.feed(stage::take_bytes(4).to(sink::concat(80))).await?;
/// assert_eq!(body, b"abcd");
/// assert_eq!(input.run(sink::concat(80)).await?, b"ef");
/// # thrum_stream::Result::Ok(())
/// # }).unwrap();
/// ```
#[derive(Debug)]
pub struct Resumable<S: Source> {
    source: S,
    /// What was handed back, the next item first.
    leftover: VecDeque<S::Item>,
    /// After an error, too.
    ended: bool,
}

impl<S: Source> Resumable<S> {
    pub(crate) fn new(source: S) -> Self {
        Resumable {
            source,
            leftover: VecDeque::new(),
            ended: false,
        }
    }

    /// Feeds `sink` until it has enough or the source has ended, and closes the sink; the source stays open.
    ///
    /// Dropping the future before it is done loses what the sink has taken.
    ///
    /// # Errors
    /// Those of the source and of the sink. The sink was aborted then, and what it had taken is lost. A source that has
    /// failed has ended.
    pub async fn feed<K: Sink<S::Item>>(&mut self, mut sink: K) -> Result<K::Output> {
        let fed = run::feed(self, &mut sink).await;
        // At the end of the source there is nothing to leave: the start of a line is the last line.
        if let Ok(true) = fed {
            for item in sink.rest().into_iter().rev() {
                self.unread(item);
            }
        }
        run::finish(std::future::ready(Ok(())), sink, fed).await
    }

    /// Puts an item in front of what comes next.
    pub fn unread(&mut self, item: S::Item) {
        self.leftover.push_front(item);
    }

    /// The source, and what was handed back, the next item first.
    pub fn into_parts(self) -> (S, Vec<S::Item>) {
        (self.source, self.leftover.into())
    }
}

impl<S: Source> Source for Resumable<S> {
    type Item = S::Item;

    async fn next(&mut self) -> Result<Option<S::Item>> {
        match self.ready()? {
            Step::Item(item) => return Ok(Some(item)),
            Step::Done => return Ok(None),
            Step::Need => {}
        }
        let next = self.source.next().await;
        self.ended = !matches!(next, Ok(Some(_)));
        next
    }

    fn ready(&mut self) -> Result<Step<S::Item>> {
        if let Some(item) = self.leftover.pop_front() {
            return Ok(Step::Item(item));
        }
        if self.ended {
            return Ok(Step::Done);
        }
        let ready = self.source.ready();
        self.ended = matches!(ready, Ok(Step::Done) | Err(_));
        ready
    }

    async fn close(self) -> Result<()> {
        self.source.close().await
    }
}
