//! Stages joined to sources, to sinks, and to each other.

use std::fmt;

use crate::{Error, Input, Result, Sink, Source, Stage, Step};

/// A source with a stage behind it: [`Source::pipe`].
pub struct Pipe<S: Source, T> {
    source: S,
    stage: T,
    input: Input<S::Item>,
}

impl<S: Source, T> Pipe<S, T> {
    pub(crate) fn new(source: S, stage: T) -> Self {
        Pipe {
            source,
            stage,
            input: Input::new(),
        }
    }
}

impl<S: Source, T: Stage<S::Item>> Pipe<S, T> {
    /// The source, and what the stage has taken of it and not used, first things first.
    pub fn into_parts(mut self) -> (S, Vec<S::Item>) {
        let mut rest = self.stage.rest();
        rest.extend(self.input.take());
        (self.source, rest)
    }
}

impl<S: Source, T: Stage<S::Item>> Source for Pipe<S, T> {
    type Item = T::Item;

    async fn next(&mut self) -> Result<Option<T::Item>> {
        loop {
            match self.ready()? {
                Step::Item(item) => return Ok(Some(item)),
                Step::Done => return Ok(None),
                Step::Need => match self.source.next().await? {
                    Some(item) => self.input.give(item),
                    None => self.input.end(),
                },
            }
        }
    }

    fn ready(&mut self) -> Result<Step<T::Item>> {
        loop {
            match self.stage.step(&mut self.input)? {
                Step::Need => match self.source.ready()? {
                    Step::Item(item) => self.input.give(item),
                    Step::Done => self.input.end(),
                    Step::Need => return Ok(Step::Need),
                },
                other => return Ok(other),
            }
        }
    }

    async fn close(self) -> Result<()> {
        self.source.close().await
    }
}

/// A sink with a stage before it: [`Stage::to`].
pub struct Staged<T, K, I> {
    stage: T,
    sink: K,
    input: Input<I>,
}

impl<T, K, I> Staged<T, K, I> {
    pub(crate) fn new(stage: T, sink: K) -> Self {
        Staged {
            stage,
            sink,
            input: Input::new(),
        }
    }
}

impl<I: Send, T: Stage<I>, K: Sink<T::Item>> Staged<T, K, I> {
    /// Makes what is made at the end.
    async fn end(&mut self) -> Result<()> {
        // The item that was pushed last comes first.
        if self.wants().await? {
            self.input.end();
            self.wants().await?;
        }
        Ok(())
    }
}

impl<I: Send, T: Stage<I>, K: Sink<T::Item>> Sink<I> for Staged<T, K, I> {
    type Output = K::Output;

    /// Makes the items that can be made, for as long as the sink wants them: what is behind those is left over.
    async fn wants(&mut self) -> Result<bool> {
        while self.sink.wants().await? {
            match self.stage.step(&mut self.input)? {
                Step::Item(item) => self.sink.push(item).await?,
                Step::Need => return Ok(true),
                Step::Done => return Ok(false),
            }
        }
        Ok(false)
    }

    async fn push(&mut self, item: I) -> Result<()> {
        self.input.give(item);
        Ok(())
    }

    async fn flush(&mut self) -> Result<()> {
        self.sink.flush().await
    }

    fn rest(&mut self) -> Vec<I> {
        let mut rest = self.stage.rest();
        rest.extend(self.input.take());
        rest
    }

    async fn close(mut self) -> Result<K::Output> {
        match self.end().await {
            Ok(()) => self.sink.close().await,
            Err(error) => {
                self.sink.abort(&error).await;
                Err(error)
            }
        }
    }

    async fn abort(self, error: &Error) {
        self.sink.abort(error).await;
    }
}

/// Two stages as one: [`Stage::then`].
pub struct Then<A, B, M> {
    first: A,
    second: B,
    between: Input<M>,
}

impl<A, B, M> Then<A, B, M> {
    pub(crate) fn new(first: A, second: B) -> Self {
        Then {
            first,
            second,
            between: Input::new(),
        }
    }
}

impl<I, A: Stage<I>, B: Stage<A::Item>> Stage<I> for Then<A, B, A::Item> {
    type Item = B::Item;

    fn step(&mut self, input: &mut Input<I>) -> Result<Step<B::Item>> {
        loop {
            match self.second.step(&mut self.between)? {
                Step::Need => match self.first.step(input)? {
                    Step::Item(item) => self.between.give(item),
                    Step::Need => return Ok(Step::Need),
                    Step::Done => self.between.end(),
                },
                other => return Ok(other),
            }
        }
    }

    fn rest(&mut self) -> Vec<I> {
        self.first.rest()
    }
}

impl<S: Source + fmt::Debug, T: fmt::Debug> fmt::Debug for Pipe<S, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?} | {:?}", self.source, self.stage)
    }
}

impl<T: fmt::Debug, K: fmt::Debug, I> fmt::Debug for Staged<T, K, I> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?} | {:?}", self.stage, self.sink)
    }
}

impl<A: fmt::Debug, B: fmt::Debug, M> fmt::Debug for Then<A, B, M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?} | {:?}", self.first, self.second)
    }
}
