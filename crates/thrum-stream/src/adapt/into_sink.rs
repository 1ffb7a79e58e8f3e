//! One of our sinks as a sink of the ecosystem.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use futures_sink::Sink as FuturesSink;

use crate::{Cause, Error, Result, Sink};

/// Takes items for a sink: [`Sink::into_futures`]. One item is under way at a time.
pub struct IntoSink<'a, K, T> {
    state: State<'a, K, T>,
}

type Call<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

enum State<'a, K, T> {
    Idle(K),
    /// An item is pushed.
    Pushing(Call<'a, (K, Result<()>)>),
    Flushing(Call<'a, (K, Result<()>)>),
    Closing(Call<'a, Result<T>>),
    Closed(Option<T>),
}

impl<K, T> IntoSink<'_, K, T> {
    pub(crate) fn new(sink: K) -> Self {
        IntoSink {
            state: State::Idle(sink),
        }
    }

    /// What came of it, once it is closed.
    pub fn into_output(self) -> Option<T> {
        match self.state {
            State::Closed(output) => output,
            _ => None,
        }
    }

    /// Waits for the call that is under way.
    fn poll_idle(&mut self, cx: &mut Context<'_>) -> Poll<Result<()>> {
        if let State::Pushing(call) | State::Flushing(call) = &mut self.state {
            let (sink, done) = ready!(call.as_mut().poll(cx));
            // What has failed is only dropped: nobody is left to tell it why.
            self.state = match done {
                Ok(()) => State::Idle(sink),
                Err(_) => State::Closed(None),
            };
            return Poll::Ready(done);
        }
        Poll::Ready(Ok(()))
    }

    /// Starts the call that `call` makes of the sink, if it is idle.
    fn start(&mut self, call: impl FnOnce(K) -> Self) {
        *self = match std::mem::replace(&mut self.state, State::Closed(None)) {
            State::Idle(sink) => call(sink),
            state => IntoSink { state },
        };
    }
}

impl<'a, I, K> FuturesSink<I> for IntoSink<'a, K, K::Output>
where
    I: Send + 'a,
    K: Sink<I> + Unpin + 'a,
    K::Output: Unpin,
{
    type Error = Error;

    fn poll_ready(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Result<()>> {
        self.get_mut().poll_idle(cx)
    }

    fn start_send(self: Pin<&mut Self>, item: I) -> Result<()> {
        let this = self.get_mut();
        if !matches!(this.state, State::Idle(_)) {
            return Err(Error::new("sink", Cause::Other("it is closed".into())));
        }
        this.start(|mut sink| {
            let call = Box::pin(async move {
                let pushed = sink.push(item).await;
                (sink, pushed)
            });
            IntoSink {
                state: State::Pushing(call),
            }
        });
        Ok(())
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Result<()>> {
        let this = self.get_mut();
        if !matches!(this.state, State::Flushing(_)) {
            ready!(this.poll_idle(cx))?;
            this.start(|mut sink| {
                let call = Box::pin(async move {
                    let flushed = sink.flush().await;
                    (sink, flushed)
                });
                IntoSink {
                    state: State::Flushing(call),
                }
            });
        }
        this.poll_idle(cx)
    }

    fn poll_close(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Result<()>> {
        let this = self.get_mut();
        ready!(this.poll_idle(cx))?;
        this.start(|sink| IntoSink {
            state: State::Closing(Box::pin(sink.close())),
        });
        if let State::Closing(call) = &mut this.state {
            let output = ready!(call.as_mut().poll(cx));
            this.state = State::Closed(None);
            this.state = State::Closed(Some(output?));
        }
        Poll::Ready(Ok(()))
    }
}

impl<K: fmt::Debug, T> fmt::Debug for IntoSink<'_, K, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self.state {
            State::Idle(_) => "IntoSink(idle)",
            State::Pushing(_) => "IntoSink(pushing)",
            State::Flushing(_) => "IntoSink(flushing)",
            State::Closing(_) => "IntoSink(closing)",
            State::Closed(_) => "IntoSink(closed)",
        })
    }
}
