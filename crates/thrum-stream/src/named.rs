//! Names of one's own, for errors.

use std::borrow::Cow;

use crate::{Error, Input, Result, Sink, Source, Stage, Step};

/// A source, stage or sink whose errors carry a name of one's own. See [`Source::named`], [`Stage::named`],
/// [`Sink::named`].
#[derive(Clone, Debug)]
pub struct Named<T> {
    inner: T,
    name: Cow<'static, str>,
}

impl<T> Named<T> {
    pub(crate) fn new(inner: T, name: impl Into<Cow<'static, str>>) -> Self {
        Named {
            inner,
            name: name.into(),
        }
    }
}

impl<S: Source> Source for Named<S> {
    type Item = S::Item;

    async fn next(&mut self) -> Result<Option<S::Item>> {
        let next = self.inner.next().await;
        next.map_err(|error: Error| error.in_stage(self.name.clone()))
    }

    fn ready(&mut self) -> Result<Step<S::Item>> {
        let ready = self.inner.ready();
        ready.map_err(|error| error.in_stage(self.name.clone()))
    }

    async fn close(self) -> Result<()> {
        let closed = self.inner.close().await;
        closed.map_err(|error| error.in_stage(self.name.clone()))
    }
}

impl<I, T: Stage<I>> Stage<I> for Named<T> {
    type Item = T::Item;

    fn step(&mut self, input: &mut Input<I>) -> Result<Step<T::Item>> {
        let step = self.inner.step(input);
        step.map_err(|error| error.in_stage(self.name.clone()))
    }

    fn rest(&mut self) -> Vec<I> {
        self.inner.rest()
    }
}

impl<I: Send, K: Sink<I>> Sink<I> for Named<K> {
    type Output = K::Output;

    async fn wants(&mut self) -> Result<bool> {
        let wants = self.inner.wants().await;
        wants.map_err(|error| error.in_stage(self.name.clone()))
    }

    async fn push(&mut self, item: I) -> Result<()> {
        let pushed = self.inner.push(item).await;
        pushed.map_err(|error| error.in_stage(self.name.clone()))
    }

    async fn flush(&mut self) -> Result<()> {
        let flushed = self.inner.flush().await;
        flushed.map_err(|error| error.in_stage(self.name.clone()))
    }

    fn rest(&mut self) -> Vec<I> {
        self.inner.rest()
    }

    async fn close(self) -> Result<K::Output> {
        let closed = self.inner.close().await;
        closed.map_err(|error| error.in_stage(self.name.clone()))
    }

    async fn abort(self, error: &Error) {
        self.inner.abort(error).await;
    }
}
