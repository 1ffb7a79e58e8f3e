//! Streams that are received ahead: how their completions are taken in, and how they are read.

use std::io;

use io_uring::cqueue;

use super::Uring;
use super::inbox::{Inbox, Way};
use super::requests::{POLL, RECEIVE};
use crate::reactor::source::Edge;

/// What [`Uring::receive`] did.
pub(super) struct Received {
    pub(super) result: io::Result<usize>,
    /// There was no more.
    pub(super) drained: bool,
}

impl Uring {
    /// Reads from a stream that is received ahead; `direct` is recv(2). Once it is known to end there is nothing to go ahead
    /// for.
    pub(super) fn receive(
        &self,
        inbox: &Inbox,
        token: u64,
        buffer: &mut [u8],
        ends: bool,
        direct: impl FnOnce(&mut [u8]) -> io::Result<usize>,
    ) -> Received {
        let mut inbox = inbox.lock();
        if !inbox.is_empty() {
            let result = Ok(inbox.take(buffer, &self.buffers));
            let drained = inbox.is_empty() && matches!(inbox.way, Way::Ahead | Way::Stopping);
            return Received { result, drained };
        }
        match &mut inbox.way {
            Way::Ahead | Way::Stopping | Way::Closed => Received {
                result: Err(io::ErrorKind::WouldBlock.into()),
                drained: true,
            },
            Way::Ended(error) => Received {
                result: error.take().map_or(Ok(0), Err),
                drained: false,
            },
            Way::Direct => {
                let wanted = buffer.len();
                let result = direct(buffer);
                let drained = match &result {
                    Ok(read) => (1..wanted).contains(read),
                    Err(error) => error.kind() == io::ErrorKind::WouldBlock,
                };
                if drained && !inbox.pinned && !ends {
                    inbox.way = Way::Ahead;
                    self.change(token, RECEIVE, POLL);
                }
                Received { result, drained }
            }
        }
    }

    /// Has a stream read by other means than [`receive`](Self::receive) from now on.
    ///
    /// # Errors
    /// `WouldBlock` if the kernel may still receive; the source is readable once it does not. Another one if something is
    /// there that it has received already.
    pub(super) fn read_directly(&self, inbox: &Inbox, token: u64) -> io::Result<()> {
        let mut inbox = inbox.lock();
        inbox.pinned = true;
        if !inbox.is_empty() {
            return Err(io::Error::other(
                "what was received ahead must be read first",
            ));
        }
        match inbox.way {
            Way::Direct | Way::Ended(_) | Way::Closed => Ok(()),
            Way::Ahead | Way::Stopping if self.change(token, POLL, RECEIVE) => {
                inbox.way = Way::Stopping;
                Err(io::ErrorKind::WouldBlock.into())
            }
            Way::Ahead | Way::Stopping => {
                inbox.way = Way::Direct;
                Ok(())
            }
        }
    }

    /// Takes in what a receive has completed with.
    pub(super) fn received(&self, completion: &cqueue::Entry, token: u64) -> Option<Edge> {
        let result = completion.result();
        let filled = cqueue::buffer_select(completion.flags()).map(|number| {
            let length = usize::try_from(result).unwrap_or(0);
            self.buffers.filled(number, length)
        });
        let inbox = self
            .requests
            .lock()
            .get(token)
            .and_then(|it| it.inbox.clone());
        let Some(inbox) = inbox else {
            if let Some(filled) = filled {
                self.buffers.give_back(filled);
            }
            return None;
        };
        let mut inbox = inbox.lock();
        let mut edge = Edge {
            readable: true,
            ..Edge::default()
        };
        match (result, filled) {
            (1.., Some(filled)) => {
                if inbox.put(filled, &self.buffers) && !matches!(inbox.way, Way::Closed) {
                    inbox.way = Way::Stopping;
                    self.change(token, 0, RECEIVE);
                }
            }
            (other, filled) => {
                if let Some(filled) = filled {
                    self.buffers.give_back(filled);
                }
                let error = match -other {
                    libc::ECANCELED | libc::ENOBUFS => None,
                    0 => Some(None),
                    errno => Some(Some(io::Error::from_raw_os_error(errno))),
                };
                if let Some(error) = error {
                    edge.read_closed = true;
                    edge.write_closed = error.is_some();
                    inbox.way = Way::Ended(error);
                }
            }
        }
        if !cqueue::more(completion.flags()) {
            let mut requests = self.requests.lock();
            let again = result != -libc::ENOBUFS && !matches!(inbox.way, Way::Ended(_));
            let ended = requests.ended(token, RECEIVE, again);
            if ended && matches!(inbox.way, Way::Ahead | Way::Stopping) {
                inbox.way = Way::Direct;
                requests.want(token, POLL);
            }
        }
        Some(edge)
    }
}
