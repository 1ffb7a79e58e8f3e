//! A request's body on its way from the connection, which reads it, to the handler, which may be in another task.
//!
//! One chunk at a time: the connection reads only while the handler waits for data. So a slow handler slows its client down,
//! and a body takes one buffer of memory.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

use bytes::Bytes;
use http::HeaderMap;
use http_body::Frame;

use crate::BodyError;

/// The handler's end.
pub(crate) struct Incoming {
    slot: Arc<Slot>,
    /// From Content-Length.
    size: Option<u64>,
}

/// The connection's end.
pub(crate) struct Feed {
    slot: Arc<Slot>,
}

#[derive(Default)]
struct Slot(Mutex<State>);

#[derive(Default)]
struct State {
    chunk: Option<Bytes>,
    /// What follows the last chunk.
    trailers: Option<HeaderMap>,
    /// No more chunks come: the end, or why it ends too early.
    end: Option<Result<(), BodyError>>,
    /// The handler waits for data.
    wanted: bool,
    /// The handler has dropped its end.
    abandoned: bool,
    reader: Option<Waker>,
    feeder: Option<Waker>,
}

/// The two ends of a body.
pub(crate) fn channel(size: Option<u64>) -> (Feed, Incoming) {
    let slot = Arc::new(Slot::default());
    (Feed { slot: slot.clone() }, Incoming { slot, size })
}

impl Slot {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Incoming {
    pub(crate) fn size(&self) -> Option<u64> {
        self.size
    }

    pub(crate) fn poll_frame(
        &mut self,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, BodyError>>> {
        let mut state = self.slot.lock();
        if let Some(chunk) = state.chunk.take() {
            self.size = self
                .size
                .map(|size| size.saturating_sub(chunk.len() as u64));
            return Poll::Ready(Some(Ok(Frame::data(chunk))));
        }
        if let Some(trailers) = state.trailers.take() {
            return Poll::Ready(Some(Ok(Frame::trailers(trailers))));
        }
        match state.end.take() {
            Some(Ok(())) => {
                state.end = Some(Ok(()));
                return Poll::Ready(None);
            }
            Some(Err(error)) => {
                state.end = Some(Ok(())); // an error is told once
                return Poll::Ready(Some(Err(error)));
            }
            None => {}
        }
        if !state
            .reader
            .as_ref()
            .is_some_and(|reader| reader.will_wake(cx.waker()))
        {
            state.reader = Some(cx.waker().clone());
        }
        let feeder = if std::mem::replace(&mut state.wanted, true) {
            None
        } else {
            state.feeder.take()
        };
        drop(state);
        // In the connection's own task there is no need to wake: it looks here after the handler.
        if let Some(feeder) = feeder.filter(|feeder| !feeder.will_wake(cx.waker())) {
            feeder.wake();
        }
        Poll::Pending
    }
}

impl Drop for Incoming {
    fn drop(&mut self) {
        self.slot.lock().abandoned = true;
    }
}

impl Feed {
    /// Ready when the handler waits for data. Never once it has dropped its end.
    pub(crate) fn poll_wanted(&self, cx: &mut Context<'_>) -> Poll<()> {
        let mut state = self.slot.lock();
        if state.wanted && !state.abandoned && state.end.is_none() {
            return Poll::Ready(());
        }
        state.feeder = Some(cx.waker().clone());
        Poll::Pending
    }

    /// Whether the handler has dropped its end.
    pub(crate) fn is_abandoned(&self) -> bool {
        self.slot.lock().abandoned
    }

    pub(crate) fn chunk(&self, chunk: Bytes) {
        self.tell(|state| state.chunk = Some(chunk));
    }

    /// Tells the fields behind the body; [`end`](Self::end) follows.
    pub(crate) fn trailers(&self, trailers: HeaderMap) {
        self.slot.lock().trailers = Some(trailers);
    }

    pub(crate) fn end(&self, end: Result<(), BodyError>) {
        self.tell(|state| {
            state.end.get_or_insert(end);
        });
    }

    fn tell(&self, change: impl FnOnce(&mut State)) {
        let mut state = self.slot.lock();
        change(&mut state);
        state.wanted = false;
        let reader = state.reader.take();
        drop(state);
        if let Some(reader) = reader {
            reader.wake();
        }
    }
}

impl Drop for Feed {
    fn drop(&mut self) {
        self.end(Err(BodyError::Over));
    }
}
