//! The `io_uring` back end: readiness by multishot polls, and streams received ahead of their readers ([`inbox`]).
//!
//! # Whose ring it is
//! The kernel completes a request in the context of the thread that submitted it, its next time in the kernel. A hog may
//! not be there for long, and a lowered one not even then: what it has submitted is stuck with it. Hence two rules. Only
//! the thread that takes the turn submits. And a thread that takes it over from another makes a ring of its own, closes the
//! old one, which cancels all that is in flight there, and submits it again. That costs some microseconds and one request a
//! descriptor, and it lets the ring be bound to its thread (SINGLE_ISSUER, DEFER_TASKRUN), which is where io_uring's gain
//! is, if any: completions are run in batches, when the thread waits, and by nobody else. So nothing is received into the reactor's
//! buffers once a ring is closed whose thread is not in the turn.
//!
//! Measured on Linux 6.18, pong on one core, CPU a request next to epoll's in the same minutes: as programs in C 0.91 to 1.02
//! so bound, about the same with COOP_TASKRUN alone, 2.0 with neither, which interrupts the thread for each completion. The
//! runtime: 0.89 to 1.01, which is within the noise. The system calls that are spared cost about what polling and choosing a
//! buffer cost inside the kernel; sending, which is the most of it, is the same.
//!
//! # Closing
//! A request holds its file: a descriptor that is closed while it has one lives on, and its peer would never hear of it. So a
//! request is cancelled before the descriptor is closed: at once if the ring is this thread's, else by the thread whose it
//! is. If that one waits, its answer is waited for, which is not long: who drops a listener may bind its address again.

mod ahead;
mod buffers;
pub(super) mod inbox;
mod receive;
mod requests;
mod ring;

use std::io;
use std::os::fd::{AsRawFd, BorrowedFd, OwnedFd};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex as StdMutex, PoisonError};
use std::time::Duration;

use io_uring::types::{SubmitArgs, Timespec};
use io_uring::{IoUring, cqueue, opcode, squeue};
use rustix::event::{EventfdFlags, PollFlags, eventfd};
use rustix::net::sockopt;

use self::buffers::Buffers;
use self::inbox::{Inbox, Way};
use self::requests::{
    IGNORED, Kinds, POLL, RECEIVE, Requested, Requests, WAKE, WRITES, index, kind, names, poll,
    this_thread, token_of,
};
use self::ring::{ENTER_GETEVENTS, Queue, is_harmless, make_ring};
use super::source::Edge;
use crate::shim::{Mutex, MutexGuard};

/// How long a closing descriptor waits for the end of its requests, at most.
const CANCEL: Duration = Duration::from_millis(2);

/// How long to wait with a ring that cannot be made, for want of memory or descriptors.
const RETRY: Duration = Duration::from_millis(10);

pub(super) struct Uring {
    buffers: Buffers,
    wake: OwnedFd,
    /// Guards the submission queue too: only the ring's thread submits, and under this lock. Taken after an inbox's lock.
    requests: Mutex<Requests>,
    /// Guards the completion queue.
    turn: Mutex<()>,
    /// A turn waits, so what is added must interrupt it.
    waiting: AtomicBool,
    /// Requests whose end is waited for.
    leaving: StdMutex<Vec<u64>>,
    left: Condvar,
}

impl Uring {
    /// The ring itself is made in the first turn, by the thread that takes it. Here is only tried whether that can be.
    pub(super) fn new() -> io::Result<Self> {
        let buffers = Buffers::new();
        match make_ring().and_then(|ring| buffers.register(&ring)) {
            Err(error) if error.kind() == io::ErrorKind::InvalidInput => {
                let message = "it takes Linux 6.1 or later";
                return Err(io::Error::new(io::ErrorKind::Unsupported, message));
            }
            result => result?,
        }
        Ok(Self {
            buffers,
            wake: eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)?,
            requests: Mutex::default(),
            turn: Mutex::default(),
            waiting: AtomicBool::new(false),
            leaving: StdMutex::default(),
            left: Condvar::new(),
        })
    }

    pub(super) fn add(&self, fd: BorrowedFd<'_>, token: u64) -> io::Result<()> {
        self.register(fd, token, None, POLL);
        Ok(())
    }

    /// Adds a stream socket that is received ahead: from now on if it is connected, else from [`connected`](Self::connected).
    pub(super) fn add_stream(
        &self,
        fd: BorrowedFd<'_>,
        token: u64,
        inbox: Arc<Inbox>,
        connected: bool,
    ) {
        // Receiving would take the error of a connection that fails.
        let wanted = if connected { RECEIVE } else { WRITES };
        self.register(fd, token, Some(inbox), wanted);
    }

    pub(super) fn connected(&self, token: u64) {
        self.change(token, RECEIVE, 0);
    }

    /// Has a stream told when it can be written.
    pub(super) fn writer_waits(&self, token: u64) {
        self.change(token, WRITES, 0);
    }

    fn register(&self, fd: BorrowedFd<'_>, token: u64, inbox: Option<Arc<Inbox>>, wanted: Kinds) {
        let mut requests = self.requests.lock();
        let index = index(token);
        if requests.sources.len() <= index {
            requests.sources.resize_with(index + 1, || None);
        }
        requests.sources[index] = Some(Requested {
            fd: fd.as_raw_fd(),
            token,
            inbox,
            wanted,
            submitted: 0,
        });
        requests.pending.push(index as u32);
        self.submit_soon(requests);
    }

    /// Asks for some kinds of requests, and no longer for others. True if one of the latter is still to end.
    fn change(&self, token: u64, more: Kinds, less: Kinds) -> bool {
        let mut requests = self.requests.lock();
        let Some(requested) = requests.get(token) else {
            return false;
        };
        let ending = requested.submitted & less != 0;
        let cancelled = requested.wanted & requested.submitted & less;
        let added = more & !requested.wanted & !requested.submitted;
        requested.wanted = (requested.wanted | more) & !less;
        requests.cancelled.extend(names(token, cancelled));
        if added != 0 {
            requests.pending.push(index(token) as u32);
        }
        if added | cancelled != 0 {
            self.submit_soon(requests);
        }
        ending
    }

    /// Interrupts a turn that waits. Under the lock: it has begun to wait under it.
    fn submit_soon(&self, requests: MutexGuard<'_, Requests>) {
        let waiting = self.waiting.load(Ordering::Relaxed);
        drop(requests);
        if waiting {
            self.interrupt();
        }
    }

    pub(super) fn remove(&self, _: BorrowedFd<'_>, token: u64) -> io::Result<()> {
        self.take_out(token);
        Ok(())
    }

    pub(super) fn closing(&self, fd: BorrowedFd<'_>, token: u64) {
        if self.take_out(token) {
            // The kernel would reset a connection that is closed before all is read. It does not know that it is.
            let _ = sockopt::set_socket_linger(fd, Some(Duration::ZERO));
        }
    }

    /// Ends all requests for a source. Returns whether something was received that nobody has read.
    fn take_out(&self, token: u64) -> bool {
        let mut requests = self.requests.lock();
        let slot = requests.sources.get_mut(index(token));
        let taken = slot.and_then(|slot| slot.take_if(|requested| requested.token == token));
        let Some(requested) = taken else { return false };
        requests.cancelled.extend(names(token, requested.submitted));
        if requests.thread == this_thread() {
            // Run what is cancelled, too: that is what lets go of the descriptor.
            if let Err(error) = self.submit(&mut requests, ENTER_GETEVENTS) {
                tracing::error!(%error, "the requests of a descriptor cannot be cancelled");
            }
            drop(requests);
        } else if self.waiting.load(Ordering::Relaxed) {
            self.cancel_elsewhere(requests, token, requested.submitted);
        } else {
            drop(requests);
        }
        let unread = |inbox: Arc<Inbox>| inbox.lock().close(&self.buffers);
        requested.inbox.is_some_and(unread)
    }

    /// Waits until the thread in the turn has seen some requests end.
    fn cancel_elsewhere(&self, requests: MutexGuard<'_, Requests>, token: u64, kinds: Kinds) {
        let leaving = || self.leaving.lock().unwrap_or_else(PoisonError::into_inner);
        leaving().extend(names(token, kinds));
        drop(requests);
        self.interrupt();
        let ours = |name: &u64| token_of(*name) == token;
        let still = |leaving: &mut Vec<u64>| leaving.iter().any(ours);
        let waited = self.left.wait_timeout_while(leaving(), CANCEL, still);
        let (mut leaving, _) = waited.unwrap_or_else(PoisonError::into_inner);
        leaving.retain(|name| !ours(name));
    }

    /// Whether the requests are this thread's: if not, it should not take a turn for a trifle.
    pub(super) fn is_submitter(&self) -> bool {
        self.requests.lock().thread == this_thread()
    }

    /// Tells who waits for it that a request has ended.
    fn has_left(&self, name: u64) {
        let mut leaving = self.leaving.lock().unwrap_or_else(PoisonError::into_inner);
        if leaving.contains(&name) {
            leaving.retain(|&other| other != name);
            self.left.notify_all();
        }
    }

    pub(super) fn interrupt(&self) {
        // It fails only with EAGAIN at 2^64 - 1 interrupts, which still leaves the edge.
        let _ = rustix::io::write(&self.wake, &1u64.to_ne_bytes());
    }

    pub(super) fn wait(
        &self,
        timeout: Option<Duration>,
        mut each: impl FnMut(u64, Edge),
    ) -> io::Result<()> {
        let _turn = self.turn.lock();
        let mut requests = self.requests.lock();
        if requests.thread != this_thread() {
            requests = self.move_in(requests, &mut each)?;
        }
        self.submit(&mut requests, 0)?;
        let blocking = timeout != Some(Duration::ZERO);
        self.waiting.store(blocking, Ordering::Relaxed);
        let Some(ring) = requests.ring.clone() else {
            return Ok(());
        };
        drop(requests);
        let timeout = timeout.map(Timespec::from);
        let args = SubmitArgs::new();
        let args = match &timeout {
            Some(timeout) => args.timespec(timeout),
            None => args,
        };
        let waited = ring
            .submitter()
            .submit_with_args(usize::from(blocking), &args);
        self.waiting.store(false, Ordering::Relaxed);
        if let Err(error) = waited
            && !is_harmless(&error)
        {
            return Err(error);
        }
        self.dispatch_all(&ring, &mut each);
        Ok(())
    }

    /// Makes a ring for this thread, with all requests still to be submitted. Called in the turn.
    fn move_in<'a>(
        &'a self,
        mut requests: MutexGuard<'a, Requests>,
        each: &mut impl FnMut(u64, Edge),
    ) -> io::Result<MutexGuard<'a, Requests>> {
        // From here on its thread leaves the old ring alone, so its last completions are there.
        requests.thread = 0;
        let old = requests.ring.take();
        drop(requests);
        if let Some(old) = old {
            self.dispatch_all(&old, each);
        }
        let made = make_ring().and_then(|ring| self.buffers.register(&ring).map(|()| ring));
        let ring = made.inspect_err(|_| std::thread::sleep(RETRY))?;
        let mut requests = self.requests.lock();
        let stopped = requests.begin(ring);
        drop(requests);
        for (token, inbox) in stopped {
            let mut inbox = inbox.lock();
            if matches!(inbox.way, Way::Stopping) {
                inbox.way = Way::Direct;
                self.change(token, POLL, 0);
            }
            drop(inbox);
            let readable = Edge {
                readable: true,
                ..Edge::default()
            };
            each(token, readable);
        }
        Ok(self.requests.lock())
    }

    fn dispatch_all(&self, ring: &IoUring, each: &mut impl FnMut(u64, Edge)) {
        // SAFETY: `turn` is locked, and there is no other use of the completion queue.
        let mut completions = unsafe { ring.completion_shared() };
        completions.sync();
        for completion in completions {
            self.dispatch(&completion, each);
        }
    }

    fn dispatch(&self, completion: &cqueue::Entry, each: &mut impl FnMut(u64, Edge)) {
        let name = completion.user_data();
        if name == IGNORED {
            return;
        }
        if name == WAKE {
            if !cqueue::more(completion.flags()) {
                self.requests.lock().wakes = false;
            }
            return;
        }
        if completion.result() == -libc::ECANCELED {
            self.has_left(name);
        }
        let token = token_of(name);
        let edge = match kind(name) {
            RECEIVE => self.received(completion, token),
            kind => self.polled(completion, token, kind),
        };
        if let Some(edge) = edge {
            each(token, edge);
        }
    }

    fn polled(&self, completion: &cqueue::Entry, token: u64, kind: Kinds) -> Option<Edge> {
        let result = completion.result();
        let edge = match u16::try_from(result) {
            Ok(events) => Some(edge(PollFlags::from_bits_retain(events))),
            Err(_) if result == -libc::ECANCELED => None,
            // It cannot be polled. Operations on it will say more.
            Err(_) => Some(Edge {
                read_closed: true,
                write_closed: true,
                ..Edge::default()
            }),
        };
        if !cqueue::more(completion.flags()) {
            let mut requests = self.requests.lock();
            let again = result >= 0 || result == -libc::ECANCELED;
            requests.ended(token, kind, again);
        }
        if kind == POLL {
            return edge;
        }
        // Its reader is told by what is received.
        edge.map(|edge| Edge {
            readable: false,
            read_closed: false,
            ..edge
        })
    }

    /// Submits what is pending. Called by the ring's thread.
    fn submit(&self, requests: &mut Requests, flags: u32) -> io::Result<()> {
        let Some(ring) = requests.ring.clone() else {
            return Ok(());
        };
        // SAFETY: `requests` is locked, and there is no other use of the submission queue.
        let mut queue = Queue(&ring, unsafe { ring.submission_shared() });
        while let Some(name) = requests.cancelled.pop() {
            let cancel = opcode::AsyncCancel::new(name).build();
            let cancel = cancel.flags(squeue::Flags::SKIP_SUCCESS);
            queue.push(&cancel.user_data(IGNORED))?;
        }
        if !requests.wakes {
            let poll = poll(self.wake.as_raw_fd(), PollFlags::IN);
            queue.push(&poll.user_data(WAKE))?;
            requests.wakes = true;
        }
        while let Some(index) = requests.pending.pop() {
            let Some(requested) = &mut requests.sources[index as usize] else {
                continue;
            };
            let missing = requested.wanted & !requested.submitted;
            for name in names(requested.token, missing) {
                queue.push(&requested.entry(kind(name)).user_data(name))?;
                requested.submitted |= kind(name);
            }
        }
        queue.flush(flags)
    }
}

impl Drop for Uring {
    fn drop(&mut self) {
        // Before the buffers.
        self.requests.lock().ring = None;
    }
}

fn edge(events: PollFlags) -> Edge {
    let gone = events.contains(PollFlags::HUP);
    let failed = events.contains(PollFlags::ERR);
    Edge {
        readable: events.contains(PollFlags::IN) || failed,
        writable: events.contains(PollFlags::OUT) || failed,
        read_closed: gone || events.contains(PollFlags::RDHUP),
        // A pipe whose reader is gone says ERR, never HUP.
        write_closed: gone || failed,
    }
}
