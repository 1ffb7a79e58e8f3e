//! A body that is kept while it is sent.

use std::pin::Pin;
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use http_body::{Body as HttpBody, Frame, SizeHint};
use thrum_http::{Body, BodyError};

/// Passes a body on and remembers what goes through. When all of it has, `keep` gets it; when it turns out to be longer than
/// `most` bytes, or its reader goes away before the end, what was remembered is let go of.
pub(super) struct Record<K: FnOnce(Bytes) + Send + Unpin + 'static> {
    body: Body,
    heard: Vec<Bytes>,
    size: u64,
    most: u64,
    /// `None` once it is known that there is nothing to keep.
    keep: Option<K>,
}

impl<K: FnOnce(Bytes) + Send + Unpin + 'static> Record<K> {
    pub(super) fn new(body: Body, most: u64, keep: K) -> Self {
        let mut record = Self {
            body,
            heard: Vec::new(),
            size: 0,
            most,
            keep: Some(keep),
        };
        // It may not be polled at all.
        if record.body.is_end_stream() {
            record.finish();
        }
        record
    }

    fn note(&mut self, data: &Bytes) {
        self.size += data.len() as u64;
        if self.size > self.most {
            self.keep = None;
            self.heard = Vec::new();
        } else if self.keep.is_some() {
            self.heard.push(data.clone());
        }
    }

    fn finish(&mut self) {
        if let Some(keep) = self.keep.take() {
            let heard = std::mem::take(&mut self.heard);
            keep(match &heard[..] {
                [one] => one.clone(),
                pieces => pieces.concat().into(),
            });
        }
    }
}

impl<K: FnOnce(Bytes) + Send + Unpin + 'static> HttpBody for Record<K> {
    type Data = Bytes;
    type Error = BodyError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, BodyError>>> {
        let frame = ready!(Pin::new(&mut self.body).poll_frame(cx));
        match &frame {
            Some(Ok(frame)) => {
                if let Some(data) = frame.data_ref() {
                    self.note(data);
                } else {
                    self.keep = None; // trailers are not kept, so this response is not
                }
                // Who knows the length does not ask for the end.
                if self.body.is_end_stream() {
                    self.finish();
                }
            }
            Some(Err(_)) => self.keep = None,
            None => self.finish(),
        }
        Poll::Ready(frame)
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }
}
