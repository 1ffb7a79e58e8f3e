//! The `io_uring` back end: readiness by multishot polls, and streams received ahead of their readers ([`inbox`]).
//!
//! [`inbox`]: super::inbox
//!
//! # Who runs a completion
//! The kernel completes a request in the context of the thread that submitted it: its next time in the kernel. A hog may
//! not be there for long, and a lowered one not even then, so what it has submitted is stuck with it. Hence the rule: only
//! the thread that takes the turn submits, and a thread that takes it over from another cancels all that is in flight and
//! submits it again. For the same reason the ring is not bound to one thread (no SINGLE_ISSUER, no DEFER_TASKRUN);
//! COOP_TASKRUN spares each completion an interrupt, which would double the cost of a request. A thread that ends has its
//! requests cancelled by the kernel; its successor has submitted them again by then.
//!
//! # Closing
//! A request holds its file: a descriptor that is closed while it has one lives on, and its peer would never hear of it.
//! So a request is cancelled before the descriptor is closed, by a system call of its own, from whatever thread. The thread
//! that submitted it completes that too. If it is another one and waits in its turn, which it does not for long, it is waited
//! for: who drops a listener may bind its address again.
//!
//! # Names
//! `user_data` is the token of the source, and in bits that it leaves free the kind of the request and the epoch, which says
//! in which thread's turn it was submitted:
//!
//! ```text
//! 63   56 55        32 31  30 29     0
//!  epoch   generation   kind   index
//! ```

use std::io;
use std::os::fd::{AsRawFd, BorrowedFd, OwnedFd, RawFd};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex as StdMutex, PoisonError};
use std::time::Duration;

use io_uring::types::{CancelBuilder, Fd, SubmitArgs, Timespec};
use io_uring::{IoUring, cqueue, opcode, squeue};
use rustix::event::{EventfdFlags, PollFlags, eventfd};
use rustix::net::sockopt;

use super::buffers::{self, Buffers};
use super::inbox::{Inbox, Way};
use super::source::Edge;
use crate::shim::{Mutex, MutexGuard};

/// Requests submitted in one call. More take more calls.
const SUBMISSIONS: u32 = 256;

/// Completions that wait to be dispatched. The kernel keeps what is more.
const COMPLETIONS: u32 = 2048;

/// How long a closing descriptor waits for the end of its requests, at most.
const CANCEL: Duration = Duration::from_millis(2);

/// The token of the eventfd; no source has it, as a slot's index stays below 2^30.
const WAKE: u64 = EPOCH - 1;

/// The unit of the epoch in `user_data`. A token stays below it.
const EPOCH: u64 = 1 << 56;

const KIND_SHIFT: u32 = 30;
const KIND_MASK: u64 = 0b11 << KIND_SHIFT;

/// Kinds of requests, as a set; in `user_data`, as the number of the bit.
type Kinds = u8;
/// Both directions are polled.
const POLL: Kinds = 1 << 0;
/// Writing is polled: for a stream that is received ahead and has a writer that waits.
const WRITES: Kinds = 1 << 1;
/// A stream is received ahead.
const RECEIVE: Kinds = 1 << 2;

pub(super) struct Uring {
    ring: IoUring,
    buffers: Buffers,
    wake: OwnedFd,
    /// Guards the submission queue too. Locked after an inbox, if both are.
    requests: Mutex<Requests>,
    /// Guards the completion queue.
    turn: Mutex<()>,
    /// A turn waits, so what is added must interrupt it.
    waiting: AtomicBool,
    /// Requests whose end is waited for.
    leaving: StdMutex<Vec<u64>>,
    left: Condvar,
}

/// What is asked of the kernel, or is to be.
#[derive(Default)]
struct Requests {
    /// By the index in the token.
    sources: Vec<Option<Requested>>,
    /// Indices of those with something to submit in the next turn.
    pending: Vec<u32>,
    /// The eventfd is polled.
    wakes: bool,
    /// The thread that has submitted; 0 at first.
    thread: u64,
    /// Changes with the thread, and wraps.
    epoch: u8,
}

struct Requested {
    fd: RawFd,
    token: u64,
    inbox: Option<Arc<Inbox>>,
    wanted: Kinds,
    /// Those whose last completion has not come yet.
    submitted: Kinds,
}

/// What [`Uring::receive`] did.
pub(super) struct Received {
    pub(super) result: io::Result<usize>,
    /// There was no more.
    pub(super) drained: bool,
}

impl Uring {
    pub(super) fn new() -> io::Result<Self> {
        let ring = IoUring::builder()
            .setup_coop_taskrun()
            .setup_taskrun_flag()
            .setup_cqsize(COMPLETIONS)
            .dontfork()
            .build(SUBMISSIONS)?;
        // Nothing is there to cancel. A kernel before 6.0 does not even know the call.
        match cancel(&ring, CancelBuilder::any()) {
            Err(error) if error.kind() == io::ErrorKind::InvalidInput => {
                let message = "it takes Linux 6.0 or later";
                return Err(io::Error::new(io::ErrorKind::Unsupported, message));
            }
            result => result?,
        }
        Ok(Self {
            buffers: Buffers::new(&ring)?,
            ring,
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

    /// Asks for some kinds of requests, and no longer for others.
    fn change(&self, token: u64, more: Kinds, less: Kinds) {
        let mut requests = self.requests.lock();
        let epoch = requests.epoch;
        let Some(requested) = requests.get(token) else {
            return;
        };
        let cancelled = requested.wanted & requested.submitted & less;
        let added = more & !requested.wanted;
        requested.wanted = (requested.wanted | more) & !less;
        if added & !requested.submitted != 0 {
            requests.pending.push(index(token) as u32);
            self.submit_soon(requests);
        } else {
            drop(requests);
        }
        for name in names(epoch, token, cancelled) {
            self.cancel(name);
        }
    }

    /// Interrupts a turn that waits. Under the lock: it has begun to wait under it.
    fn submit_soon(&self, requests: MutexGuard<'_, Requests>) {
        let waiting = self.waiting.load(Ordering::Relaxed);
        drop(requests);
        if waiting {
            self.interrupt();
        }
    }

    fn cancel(&self, name: u64) {
        if let Err(error) = cancel(&self.ring, CancelBuilder::user_data(name)) {
            tracing::error!(%error, "a request cannot be cancelled");
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
        let elsewhere = requests.thread != this_thread() && self.waiting.load(Ordering::Relaxed);
        let epoch = requests.epoch;
        drop(requests);
        for name in names(epoch, token, requested.submitted) {
            if elsewhere {
                self.cancel_elsewhere(name);
            } else {
                self.cancel(name);
            }
        }
        let unread = |inbox: Arc<Inbox>| inbox.lock().close(&self.buffers);
        requested.inbox.is_some_and(unread)
    }

    /// Cancels a request and waits until the thread in the turn has seen it end.
    fn cancel_elsewhere(&self, name: u64) {
        let leaving = || self.leaving.lock().unwrap_or_else(PoisonError::into_inner);
        leaving().push(name);
        self.cancel(name);
        let still = |leaving: &mut Vec<u64>| leaving.contains(&name);
        let waited = self.left.wait_timeout_while(leaving(), CANCEL, still);
        let (mut leaving, _) = waited.unwrap_or_else(PoisonError::into_inner);
        leaving.retain(|&other| other != name);
    }

    /// Reads from a stream that is received ahead; `direct` is recv(2).
    pub(super) fn receive(
        &self,
        inbox: &Inbox,
        token: u64,
        buffer: &mut [u8],
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
                if drained && !inbox.pinned {
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
            Way::Ahead | Way::Stopping => {
                inbox.way = Way::Stopping;
                self.change(token, 0, RECEIVE);
                Err(io::ErrorKind::WouldBlock.into())
            }
        }
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
        let blocking = timeout != Some(Duration::ZERO);
        let mut requests = self.requests.lock();
        self.submit(&mut requests)?;
        self.waiting.store(blocking, Ordering::Relaxed);
        drop(requests);
        // SAFETY: `turn` is locked, and there is no other use of the completion queue.
        let mut completions = unsafe { self.ring.completion_shared() };
        completions.sync();
        if completions.is_empty() {
            let timeout = timeout.map(Timespec::from);
            let args = SubmitArgs::new();
            let args = match &timeout {
                Some(timeout) => args.timespec(timeout),
                None => args,
            };
            let waited = self
                .ring
                .submitter()
                .submit_with_args(usize::from(blocking), &args);
            if let Err(error) = waited
                && !is_harmless(&error)
            {
                return Err(error);
            }
            completions.sync();
        }
        self.waiting.store(false, Ordering::Relaxed);
        for completion in completions {
            self.dispatch(&completion, &mut each);
        }
        Ok(())
    }

    fn dispatch(&self, completion: &cqueue::Entry, each: &mut impl FnMut(u64, Edge)) {
        let name = completion.user_data();
        if completion.result() == -libc::ECANCELED {
            self.has_left(name);
        }
        if name % EPOCH == WAKE {
            if !cqueue::more(completion.flags()) {
                self.requests.lock().wake_ended(epoch(name));
            }
            return;
        }
        let token = (name % EPOCH) & !KIND_MASK;
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
            requests.ended(token, kind, epoch(completion.user_data()), again);
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

    fn received(&self, completion: &cqueue::Entry, token: u64) -> Option<Edge> {
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
                    self.change(token, 0, RECEIVE);
                }
            }
        }
        if !cqueue::more(completion.flags()) {
            let mut requests = self.requests.lock();
            let again = result != -libc::ENOBUFS;
            let ended = requests.ended(token, RECEIVE, epoch(completion.user_data()), again);
            if ended && matches!(inbox.way, Way::Ahead | Way::Stopping) {
                inbox.way = Way::Direct;
                requests.want(token, POLL);
            }
        }
        Some(edge)
    }

    /// Submits what is pending; everything, if the turn was another thread's before.
    fn submit(&self, requests: &mut Requests) -> io::Result<()> {
        let thread = this_thread();
        if requests.thread != thread {
            if requests.thread != 0 {
                cancel(&self.ring, CancelBuilder::any())?;
            }
            requests.begin_epoch(thread);
        }
        let epoch = requests.epoch;
        if !requests.wakes {
            let poll = poll(self.wake.as_raw_fd(), PollFlags::IN);
            self.push(&poll.user_data(u64::from(epoch) * EPOCH + WAKE))?;
            requests.wakes = true;
        }
        while let Some(index) = requests.pending.pop() {
            let Some(requested) = &mut requests.sources[index as usize] else {
                continue;
            };
            let missing = requested.wanted & !requested.submitted;
            for name in names(epoch, requested.token, missing) {
                if let Err(error) = self.push(&requested.entry(kind(name)).user_data(name)) {
                    requests.pending.push(index);
                    return Err(error);
                }
                requested.submitted |= kind(name);
            }
        }
        // SAFETY: `requests` is locked, and there is no other use of the submission queue.
        if !unsafe { self.ring.submission_shared() }.is_empty() {
            self.flush()?;
        }
        Ok(())
    }

    /// Puts a request into the submission queue. Called with `requests` locked.
    fn push(&self, entry: &squeue::Entry) -> io::Result<()> {
        // SAFETY: `requests` is locked, and there is no other use of the submission queue.
        if unsafe { self.ring.submission_shared() }.is_full() {
            self.flush()?;
        }
        // SAFETY: as before; the request refers to no memory but the registered buffers.
        let pushed = unsafe { self.ring.submission_shared().push(entry) };
        pushed.map_err(io::Error::other)
    }

    fn flush(&self) -> io::Result<()> {
        match self.ring.submitter().submit() {
            Err(error) if !is_harmless(&error) => Err(error),
            _ => Ok(()),
        }
    }
}

impl Drop for Uring {
    fn drop(&mut self) {
        // The kernel ends requests some time after the ring is closed, but the buffers go at once.
        if let Err(error) = cancel(&self.ring, CancelBuilder::any()) {
            tracing::error!(%error, "the requests of a reactor cannot be cancelled");
        }
        self.buffers.withdraw(&self.ring.submitter());
    }
}

impl Requests {
    fn get(&mut self, token: u64) -> Option<&mut Requested> {
        let requested = self.sources.get_mut(index(token))?.as_mut()?;
        (requested.token == token).then_some(requested)
    }

    fn want(&mut self, token: u64, kinds: Kinds) {
        if let Some(requested) = self.get(token) {
            requested.wanted |= kinds;
            self.pending.push(index(token) as u32);
        }
    }

    /// Has all submitted again, in the name of `thread`.
    fn begin_epoch(&mut self, thread: u64) {
        self.thread = thread;
        self.epoch = self.epoch.wrapping_add(1);
        self.wakes = false;
        self.pending.clear();
        for (index, slot) in self.sources.iter_mut().enumerate() {
            if let Some(requested) = slot {
                // One that was being stopped: its last completion may be long in coming. Stop a new one, if need be.
                if requested.submitted & !requested.wanted & RECEIVE != 0 {
                    requested.wanted |= RECEIVE;
                }
                requested.submitted = 0;
                self.pending.push(index as u32);
            }
        }
    }

    fn wake_ended(&mut self, epoch: u8) {
        if epoch == self.epoch {
            self.wakes = false;
        }
    }

    /// A request has ended, unless it is one of an earlier epoch or life. It is submitted again if it is still wanted and may
    /// be; else this is true.
    fn ended(&mut self, token: u64, kind: Kinds, epoch: u8, again: bool) -> bool {
        if epoch != self.epoch {
            return false;
        }
        let Some(requested) = self.get(token) else {
            return false;
        };
        requested.submitted &= !kind;
        if !again {
            requested.wanted &= !kind;
        }
        if requested.wanted & kind == 0 {
            return true;
        }
        self.pending.push(index(token) as u32);
        false
    }
}

impl Requested {
    fn entry(&self, kind: Kinds) -> squeue::Entry {
        match kind {
            RECEIVE => opcode::RecvMulti::new(Fd(self.fd), buffers::GROUP).build(),
            WRITES => poll(self.fd, PollFlags::OUT),
            _ => poll(self.fd, PollFlags::IN | PollFlags::OUT | PollFlags::RDHUP),
        }
    }
}

/// An edge-triggered poll that goes on until it is cancelled.
fn poll(fd: RawFd, events: PollFlags) -> squeue::Entry {
    opcode::PollAdd::new(Fd(fd), u32::from(events.bits()))
        .multi(true)
        .build()
}

/// Cancels requests. That there are none is no error.
fn cancel(ring: &IoUring, which: CancelBuilder) -> io::Result<()> {
    match ring.submitter().register_sync_cancel(None, which) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

fn index(token: u64) -> usize {
    token as u32 as usize
}

/// The `user_data` of each of some kinds of requests.
fn names(epoch: u8, token: u64, kinds: Kinds) -> impl Iterator<Item = u64> {
    let numbers = (0..3u32).filter(move |number| kinds & 1 << number != 0);
    numbers.map(move |number| u64::from(epoch) * EPOCH + token + (u64::from(number) << KIND_SHIFT))
}

fn kind(name: u64) -> Kinds {
    1 << ((name & KIND_MASK) >> KIND_SHIFT)
}

fn epoch(name: u64) -> u8 {
    (name / EPOCH) as u8
}

/// A timeout, a signal, or completions that must be taken out first.
fn is_harmless(error: &io::Error) -> bool {
    let errno = error.raw_os_error();
    [libc::ETIME, libc::EINTR, libc::EBUSY, libc::EAGAIN]
        .iter()
        .any(|&harmless| errno == Some(harmless))
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

fn this_thread() -> u64 {
    THREAD.with(|thread| *thread)
}

thread_local! {
    /// A number for each thread, never used again, unlike those of the system.
    static THREAD: u64 = {
        static LAST: AtomicU64 = AtomicU64::new(0);
        LAST.fetch_add(1, Ordering::Relaxed) + 1
    };
}
