//! Lines: one is sent, one comes back, as an echo or the doubling server of the examples does.

use std::collections::VecDeque;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Instant;

use futures_io::{AsyncRead, AsyncWrite};
use thrum_http::upgrade::Upgraded;

use super::{Answer, Conversation, kind_of_io};
use crate::ErrorKind;
use crate::check::Expect;
use crate::record::Times;
use crate::requests::Asker;

/// Bytes that are read at a time.
const READ_BYTES: usize = 16 * 1024;
/// A line that is longer is none.
const LINE_BYTES: usize = 16 * 1024 * 1024;

pub(crate) struct Lines {
    stream: Upgraded,
    expect: Arc<Expect>,
    waiting: VecDeque<(Instant, Instant)>,
    output: Vec<u8>,
    input: Vec<u8>,
    /// Bytes of the input in which no line ends.
    searched: usize,
    /// When the first byte of the input came, and the last.
    came: Option<(Instant, Instant)>,
    received: u64,
    sent: u64,
}

impl Lines {
    pub(crate) fn new(stream: Upgraded, expect: Arc<Expect>) -> Self {
        Self {
            stream,
            expect,
            waiting: VecDeque::new(),
            output: Vec::new(),
            input: Vec::new(),
            searched: 0,
            came: None,
            received: 0,
            sent: 0,
        }
    }

    fn poll_read(&mut self, cx: &mut Context<'_>) -> Poll<Result<usize, ErrorKind>> {
        if self.input.len() > LINE_BYTES {
            return Poll::Ready(Err(ErrorKind::Protocol));
        }
        let before = self.input.len();
        self.input.resize(before + READ_BYTES, 0);
        let read = Pin::new(&mut self.stream).poll_read(cx, &mut self.input[before..]);
        let count = match &read {
            Poll::Ready(Ok(count)) => *count,
            _ => 0,
        };
        self.input.truncate(before + count);
        self.received += count as u64;
        if count > 0 {
            let now = Instant::now();
            let first = self.came.map_or(now, |came| came.0);
            self.came = Some((if before == 0 { now } else { first }, now));
        }
        read.map_err(|error| kind_of_io(&error))
    }
}

impl Conversation for Lines {
    fn ask(&mut self, asker: &mut Asker, due: Instant, now: Instant) {
        let before = self.output.len();
        self.output.extend_from_slice(asker.next_text().as_bytes());
        self.output.push(b'\n');
        self.sent += (self.output.len() - before) as u64;
        self.waiting.push_back((due, now));
    }

    fn poll_flush(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), ErrorKind>> {
        let lost = |error| kind_of_io(&error);
        while !self.output.is_empty() {
            let stream = Pin::new(&mut self.stream);
            let count = ready!(stream.poll_write(cx, &self.output)).map_err(lost)?;
            self.output.drain(..count);
        }
        Pin::new(&mut self.stream).poll_flush(cx).map_err(lost)
    }

    fn poll_answer(&mut self, cx: &mut Context<'_>) -> Poll<Result<Answer, ErrorKind>> {
        loop {
            let unsearched = &self.input[self.searched..];
            if let (Some(end), Some((first, last))) = (memchr::memchr(b'\n', unsearched), self.came)
                && let Some((due, sent)) = self.waiting.pop_front()
            {
                let end = self.searched + end;
                let verdict = self.expect.body(&self.input[..end]);
                self.input.drain(..=end);
                self.searched = 0;
                let first_byte = first.max(sent);
                let times = Times {
                    due,
                    sent,
                    first_byte,
                    done: last,
                };
                return Poll::Ready(Ok(Answer {
                    times,
                    status: None,
                    verdict,
                    goes_on: true,
                }));
            }
            self.searched = self.input.len();
            if ready!(self.poll_read(cx))? == 0 {
                return Poll::Ready(Err(ErrorKind::Lost));
            }
        }
    }

    fn is_usable(&mut self, cx: &mut Context<'_>) -> bool {
        self.input.is_empty() && self.poll_read(cx).is_pending()
    }

    fn moved(&self) -> (u64, u64) {
        (self.received, self.sent)
    }
}
