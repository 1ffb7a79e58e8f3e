//! A connection that was upgraded, WebSocket mostly: bytes both ways until both ends have said their last.

use std::future::poll_fn;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use futures_io::{AsyncRead, AsyncWrite};
use thrum_rt::time::Deadline;

/// Bytes that are moved at a time. They are on the stack while they are moved, so a silent tunnel has no buffer.
const PIECE: usize = 16 * 1024;

/// How a tunnel has ended.
#[derive(Debug)]
pub(super) enum Ended {
    /// Both ends have said their last.
    Well,
    /// Nobody has said anything for too long.
    Idle,
    Lost(io::Error),
}

/// Bytes one way.
#[derive(Default)]
struct Way {
    /// What was read and not taken yet.
    rest: Vec<u8>,
    taken: usize,
    state: State,
}

#[derive(Default, PartialEq, Eq)]
enum State {
    #[default]
    Open,
    Flushing,
    Closing,
    Closed,
}

/// Moves bytes both ways until both ends have said their last, or nothing has moved for `idle`.
///
/// Dropping the future closes both connections.
pub(super) async fn run<A, B>(mut one: A, mut other: B, idle: Duration) -> Ended
where
    A: AsyncRead + AsyncWrite + Unpin,
    B: AsyncRead + AsyncWrite + Unpin,
{
    let (mut there, mut back) = (Way::default(), Way::default());
    let mut deadline = Deadline::new();
    deadline.set(idle);
    poll_fn(|cx| {
        let mut moved = false;
        let there_ended = there.poll(&mut one, &mut other, &mut moved, cx);
        let back_ended = back.poll(&mut other, &mut one, &mut moved, cx);
        for ended in [&there_ended, &back_ended] {
            if let Poll::Ready(Err(error)) = ended {
                return Poll::Ready(Ended::Lost(io::Error::new(error.kind(), error.to_string())));
            }
        }
        if there_ended.is_ready() && back_ended.is_ready() {
            return Poll::Ready(Ended::Well);
        }
        if moved {
            deadline.set(idle);
        }
        deadline.poll_expired(cx).map(|()| Ended::Idle)
    })
    .await
}

impl Way {
    /// Moves what there is. Ready once the reader's last is with the writer, which has been told that it was the last.
    fn poll<R, W>(
        &mut self,
        reader: &mut R,
        writer: &mut W,
        moved: &mut bool,
        cx: &mut Context<'_>,
    ) -> Poll<io::Result<()>>
    where
        R: AsyncRead + Unpin,
        W: AsyncWrite + Unpin,
    {
        loop {
            while self.taken < self.rest.len() {
                let rest = &self.rest[self.taken..];
                let taken = ready!(Pin::new(&mut *writer).poll_write(cx, rest))?;
                if taken == 0 {
                    return Poll::Ready(Err(io::ErrorKind::WriteZero.into()));
                }
                self.taken += taken;
                *moved = true;
                self.state = State::Flushing;
            }
            (self.rest, self.taken) = (Vec::new(), 0);
            match self.state {
                State::Closed => return Poll::Ready(Ok(())),
                State::Closing => {
                    ready!(Pin::new(&mut *writer).poll_close(cx))?;
                    self.state = State::Closed;
                    continue;
                }
                State::Open | State::Flushing => {}
            }
            let mut piece = [0; PIECE];
            match Pin::new(&mut *reader).poll_read(cx, &mut piece) {
                Poll::Ready(Ok(0)) => self.state = State::Closing,
                Poll::Ready(Ok(read)) => {
                    *moved = true;
                    let piece = &piece[..read];
                    let taken = match Pin::new(&mut *writer).poll_write(cx, piece)? {
                        Poll::Ready(taken) => taken,
                        Poll::Pending => 0,
                    };
                    self.rest = piece[taken..].to_vec();
                    self.state = State::Flushing;
                }
                Poll::Ready(Err(error)) => return Poll::Ready(Err(error)),
                Poll::Pending => {
                    // What is held back (TLS) goes out before this waits.
                    if self.state == State::Flushing {
                        ready!(Pin::new(&mut *writer).poll_flush(cx))?;
                        self.state = State::Open;
                    }
                    return Poll::Pending;
                }
            }
        }
    }
}
