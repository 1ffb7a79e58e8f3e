//! What the kernel has received for a stream ahead of its reader.
//!
//! A stream is in one of two ways of receiving. *Ahead*: the kernel receives into the reactor's buffers, and the reader
//! copies from them, which spares it a system call. *Direct*: the reader calls recv(2) itself, when a poll says that there is
//! something. A stream goes direct when its reader lags behind or no buffer is free: so it holds a bounded number of them,
//! what it does not read stays in the kernel, where its peer feels it, and large transfers go right into the reader's
//! buffer. It goes ahead again once it has read all there was.
//!
//! ```text
//!            BOUND chunks wait                the last completion
//!    Ahead -------------------> Stopping ---------------------------> Direct
//!      |                                                                 |
//!      +--------------------- no buffer is free ------------------------>+
//!      +<-------------- all is read, and nobody else reads it -----------+
//! ```
//!
//! While the kernel may still receive, nobody else may: the bytes would get out of order.

use std::collections::VecDeque;
use std::io;

use super::buffers::{Buffers, Filled};
use crate::shim::Mutex;

/// So many buffers may wait for a reader before it has to receive for itself.
const BOUND: usize = 8;

#[derive(Default)]
pub(in crate::reactor) struct Inbox(Mutex<State>);

#[derive(Default)]
pub(super) struct State {
    filled: VecDeque<Filled>,
    pub(super) way: Way,
    /// The descriptor is read by other means than recv(2): it stays direct.
    pub(super) pinned: bool,
}

#[derive(Debug, Default)]
pub(super) enum Way {
    #[default]
    Ahead,
    /// No longer ahead, but the kernel has not said its last yet.
    Stopping,
    Direct,
    /// There is no more to come: the end, or an error that is told once.
    Ended(Option<io::Error>),
    /// Nobody reads any more.
    Closed,
}

impl Inbox {
    pub(super) fn lock(&self) -> crate::shim::MutexGuard<'_, State> {
        self.0.lock()
    }
}

impl State {
    pub(super) fn is_empty(&self) -> bool {
        self.filled.is_empty()
    }

    /// Takes in what was received; true if that is enough.
    pub(super) fn put(&mut self, filled: Filled, buffers: &Buffers) -> bool {
        if matches!(self.way, Way::Closed) {
            buffers.give_back(filled);
            return false;
        }
        self.filled.push_back(filled);
        self.filled.len() >= BOUND
    }

    /// Copies from what was received, as much as there is or there is room for.
    pub(super) fn take(&mut self, mut to: &mut [u8], buffers: &Buffers) -> usize {
        let mut taken = 0;
        while let Some(filled) = self.filled.front_mut()
            && !to.is_empty()
        {
            let copied = buffers.copy(filled, to);
            taken += copied;
            to = &mut to[copied..];
            if filled.is_empty()
                && let Some(filled) = self.filled.pop_front()
            {
                buffers.give_back(filled);
            }
        }
        taken
    }

    /// Copies as [`take`](Self::take) does, and leaves everything where it is.
    pub(super) fn peek(&self, mut to: &mut [u8], buffers: &Buffers) -> usize {
        let mut copied = 0;
        for filled in &self.filled {
            let length = buffers.peek(filled, to);
            copied += length;
            to = &mut to[length..];
        }
        copied
    }

    /// Gives all buffers back. Returns whether there was anything in them.
    pub(super) fn close(&mut self, buffers: &Buffers) -> bool {
        self.way = Way::Closed;
        let unread = !self.filled.is_empty();
        self.filled
            .drain(..)
            .for_each(|filled| buffers.give_back(filled));
        unread
    }
}
