//! A request over a connection of its own.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use bytes::{Buf, Bytes};
use thrum_http::Body;
use thrum_parse::In;
use thrum_rt::sync::OwnedPermit;

use super::connection::Connection;
use super::pool::{Pool, Taken, Unanswered};
use super::record::{self, Record, Type, record};
use crate::gateway::{ErrorLines, Failure, Input, Piece, Program};

/// Bytes of a body that go into one record.
const PIECE: usize = 32 * 1024;

/// A request that is answered by an application.
pub(super) struct Exchange {
    state: State,
    pool: Arc<Pool>,
    /// What the request begins with; empty once it cannot be sent again.
    begin: Vec<u8>,
    output: Vec<u8>,
    /// Bytes of the output that are written.
    written: usize,
    /// The request's body; `None` once all of it is in the output.
    input: Option<Input>,
    taken: u64,
    /// What was read, and where the next record starts in it.
    buffer: Vec<u8>,
    start: usize,
    end: usize,
    unanswered: Option<Unanswered>,
    errors: ErrorLines,
    _permit: OwnedPermit,
}

enum State {
    Works(Connection),
    /// The connection had been closed meanwhile: another one is made.
    Connects(Pin<Box<dyn Future<Output = io::Result<Connection>> + Send>>),
    Ended,
}

impl Exchange {
    /// Sends a request. `again`: it may be sent a second time, should the connection prove to be closed.
    pub(super) fn new(
        taken: Taken,
        pool: &Arc<Pool>,
        begin: Vec<u8>,
        input: Option<(Bytes, Body)>,
        again: bool,
        name: Arc<str>,
        permit: OwnedPermit,
    ) -> Self {
        let mut this = Self {
            state: State::Works(taken.connection),
            pool: pool.clone(),
            begin: Vec::new(),
            output: begin,
            written: 0,
            input: input.map(|(ahead, body)| Input::new(ahead, body)),
            taken: 0,
            buffer: vec![0; record::LONGEST],
            start: 0,
            end: 0,
            unanswered: Some(Unanswered::new(pool)),
            errors: ErrorLines::new(name),
            _permit: permit,
        };
        if this.input.is_none() {
            record::put(&mut this.output, Type::Stdin, b"");
        }
        if again && taken.used {
            this.begin = this.output.clone();
        }
        this
    }

    /// Sends what is to be sent. An application that does not take it may answer all the same.
    fn poll_send(&mut self, cx: &mut Context<'_>) -> Result<(), Failure> {
        let State::Works(connection) = &self.state else {
            return Ok(());
        };
        loop {
            while self.written < self.output.len() {
                match connection.try_write(&self.output[self.written..]) {
                    Ok(written) => self.written += written,
                    Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                        if connection.poll_writable(cx)?.is_pending() {
                            return Ok(());
                        }
                    }
                    Err(_) => {
                        self.input = None;
                        self.written = self.output.len();
                    }
                }
            }
            let Some(input) = &mut self.input else {
                return Ok(());
            };
            let Poll::Ready(piece) = input.poll_piece(cx).map_err(Failure::Request)? else {
                return Ok(());
            };
            self.output.clear();
            self.written = 0;
            match piece {
                Piece::Some(piece) => {
                    let length = piece.len().min(PIECE);
                    record::put(&mut self.output, Type::Stdin, &piece[..length]);
                    piece.advance(length);
                    self.taken += length as u64;
                }
                Piece::End => {
                    record::put(&mut self.output, Type::Stdin, b"");
                    self.input = None;
                }
            }
        }
    }

    /// Looks at the records that were read. `None`: more has to be.
    fn next(&mut self) -> Option<Option<Result<Bytes, Failure>>> {
        loop {
            let mut i = In::partial(&self.buffer[self.start..self.end]);
            let found = match record(&mut i) {
                Ok(found) => found,
                Err(stop) if stop.is_need() => return None,
                Err(_) => {
                    let error = Failure::Ended("what it sends is not FastCGI".into());
                    return Some(Some(Err(error)));
                }
            };
            self.start += i.position();
            self.unanswered = None;
            self.begin = Vec::new();
            match found {
                Record::Stdout(b"") | Record::Other => {}
                Record::Stdout(content) => return Some(Some(Ok(Bytes::copy_from_slice(content)))),
                Record::Stderr(content) => self.errors.push(content),
                Record::End(end) => return Some(self.finish(end)),
            }
        }
    }

    /// The request is over; what its response's end is.
    fn finish(&mut self, end: record::End) -> Option<Result<Bytes, Failure>> {
        let all_sent = self.input.is_none() && self.written == self.output.len();
        let all_read = self.start == self.end;
        if let State::Works(connection) = std::mem::replace(&mut self.state, State::Ended)
            && all_sent
            && all_read
        {
            self.pool.put(connection);
        }
        let problem = match end {
            record::End {
                protocol: 0,
                code: 0,
            } => return None,
            record::End { protocol: 0, code } => format!("it ended with exit code {code}"),
            record::End { protocol: 2, .. } => "the application is overloaded".to_owned(),
            record::End { protocol, .. } => {
                format!("the application refuses the request (protocol status {protocol})")
            }
        };
        Some(Err(Failure::Ended(problem)))
    }

    /// Reads more. True: there is more.
    fn poll_read(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<bool>> {
        if self.start > 0 {
            self.buffer.copy_within(self.start..self.end, 0);
            (self.start, self.end) = (0, self.end - self.start);
        }
        let State::Works(connection) = &self.state else {
            return Poll::Ready(Ok(false));
        };
        loop {
            // A record fits in, so that there is room.
            match connection.try_read(&mut self.buffer[self.end..]) {
                Ok(read) => {
                    self.end += read;
                    return Poll::Ready(Ok(read > 0));
                }
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                    ready!(connection.poll_readable(cx))?;
                }
                Err(error) => return Poll::Ready(Err(error)),
            }
        }
    }
}

impl Program for Exchange {
    fn poll_output(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<Bytes, Failure>>> {
        loop {
            match &mut self.state {
                State::Ended => return Poll::Ready(None),
                State::Connects(connecting) => match ready!(connecting.as_mut().poll(cx)) {
                    Ok(connection) => {
                        self.state = State::Works(connection);
                        self.output = std::mem::take(&mut self.begin);
                        self.written = 0;
                    }
                    Err(error) => return Poll::Ready(Some(Err(error.into()))),
                },
                State::Works(_) => {}
            }
            if let Err(failure) = self.poll_send(cx) {
                return Poll::Ready(Some(Err(failure)));
            }
            if let Some(next) = self.next() {
                return Poll::Ready(next);
            }
            match ready!(self.poll_read(cx)) {
                Ok(true) => {}
                // It was closed while it rested.
                _ if !self.begin.is_empty() => {
                    let pool = self.pool.clone();
                    let connecting = async move { Connection::to(pool.address()).await };
                    self.state = State::Connects(Box::pin(connecting));
                }
                Ok(false) => {
                    let problem = "the application closed the connection".into();
                    return Poll::Ready(Some(Err(Failure::Ended(problem))));
                }
                Err(error) => return Poll::Ready(Some(Err(error.into()))),
            }
        }
    }

    fn taken(&self) -> u64 {
        self.taken
    }
}

impl Drop for Exchange {
    fn drop(&mut self) {
        // Closing the connection says it too, but to those only who look.
        if let State::Works(connection) = &self.state
            && self.written == self.output.len()
        {
            let mut abort = Vec::new();
            record::put(&mut abort, Type::Abort, b"");
            let _ = connection.try_write(&abort);
        }
    }
}
