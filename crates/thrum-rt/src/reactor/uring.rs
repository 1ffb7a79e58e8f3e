//! The `io_uring` back end: readiness by multishot polls, and streams received ahead of their readers ([`inbox`]).
//!
//! [`inbox`]: super::inbox
//!
//! # Whose ring it is
//! The kernel completes a request in the context of the thread that submitted it, its next time in the kernel. A hog may
//! not be there for long, and a lowered one not even then: what it has submitted is stuck with it. Hence two rules. Only
//! the thread that takes the turn submits. And a thread that takes it over from another makes a ring of its own, closes the
//! old one, which cancels all that is in flight there, and submits it again. That costs some microseconds and one request a
//! descriptor, and it lets the ring be bound to its thread (SINGLE_ISSUER, DEFER_TASKRUN), which is where io_uring's gain
//! is: completions are run in batches, when the thread waits, and by nobody else. So nothing is received into the reactor's
//! buffers once a ring is closed whose thread is not in the turn. Measured as programs in C, pong on one core at 64
//! connections, CPU a request next to epoll's: 0.93 so bound, 0.98 with COOP_TASKRUN alone, 2.0 with neither.
//!
//! # Closing
//! A request holds its file: a descriptor that is closed while it has one lives on, and its peer would never hear of it. So a
//! request is cancelled before the descriptor is closed: at once if the ring is this thread's, else by the thread whose it
//! is. If that one waits, its answer is waited for, which is not long: who drops a listener may bind its address again.
//!
//! # Names
//! `user_data` is the token of the source and, in two bits that it leaves free, the kind of the request:
//!
//! ```text
//! 55        32 31  30 29     0
//!  generation   kind   index
//! ```

use std::io;
use std::os::fd::{AsRawFd, BorrowedFd, OwnedFd, RawFd};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex as StdMutex, PoisonError};
use std::time::Duration;

use io_uring::types::{Fd, SubmitArgs, Timespec};
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

/// How long to wait with a ring that cannot be made, for want of memory or descriptors.
const RETRY: Duration = Duration::from_millis(10);

/// Names the poll of the eventfd. No source has it, as there are but three kinds.
const WAKE: u64 = u64::MAX;

/// Names what has no answer worth reading.
const IGNORED: u64 = u64::MAX - 1;

/// The flag of io_uring_enter(2) that has completions run.
const ENTER_GETEVENTS: u32 = 1;

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

/// What is asked of the kernel, or is to be.
#[derive(Default)]
struct Requests {
    /// By the index in the token.
    sources: Vec<Option<Requested>>,
    /// Indices of those with something to submit in the next turn.
    pending: Vec<u32>,
    /// The eventfd is polled.
    wakes: bool,
    /// Names of those to cancel in the next turn.
    cancelled: Vec<u64>,
    /// None before the first turn.
    ring: Option<Arc<IoUring>>,
    /// Whose ring it is; 0 at first.
    thread: u64,
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

/// The submission queue of a ring.
struct Queue<'a>(&'a IoUring, squeue::SubmissionQueue<'a>);

impl Queue<'_> {
    fn push(&mut self, entry: &squeue::Entry) -> io::Result<()> {
        if self.1.is_full() {
            self.flush(0)?;
        }
        // SAFETY: the request refers to no memory but the registered buffers.
        let pushed = unsafe { self.1.push(entry) };
        pushed.map_err(io::Error::other)
    }

    fn flush(&mut self, flags: u32) -> io::Result<()> {
        self.1.sync();
        let count = self.1.len() as u32;
        if count == 0 {
            return Ok(());
        }
        // SAFETY: there is no argument.
        let result = unsafe { self.0.submitter().enter::<()>(count, 0, flags, None) };
        self.1.sync();
        match result {
            Err(error) if !is_harmless(&error) => Err(error),
            _ => Ok(()),
        }
    }
}

impl Drop for Uring {
    fn drop(&mut self) {
        // Before the buffers.
        self.requests.lock().ring = None;
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

    /// Has all submitted again, to a ring of this thread. Returns the streams that were being stopped, and now are.
    fn begin(&mut self, ring: IoUring) -> Vec<(u64, Arc<Inbox>)> {
        self.ring = Some(Arc::new(ring));
        self.thread = this_thread();
        self.wakes = false;
        self.cancelled.clear();
        self.pending.clear();
        let mut stopped = Vec::new();
        for (index, slot) in self.sources.iter_mut().enumerate() {
            if let Some(requested) = slot {
                if requested.submitted & !requested.wanted & RECEIVE != 0
                    && let Some(inbox) = &requested.inbox
                {
                    stopped.push((requested.token, inbox.clone()));
                }
                requested.submitted = 0;
                self.pending.push(index as u32);
            }
        }
        stopped
    }

    /// A request has ended. It is submitted again if it is still wanted and may be; if not, this is true.
    fn ended(&mut self, token: u64, kind: Kinds, again: bool) -> bool {
        let Some(requested) = self.get(token) else {
            return false; // that was an earlier life
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

/// A ring of this thread.
fn make_ring() -> io::Result<IoUring> {
    IoUring::builder()
        .setup_single_issuer()
        .setup_defer_taskrun()
        .setup_taskrun_flag()
        .setup_cqsize(COMPLETIONS)
        .dontfork()
        .build(SUBMISSIONS)
}

fn index(token: u64) -> usize {
    token as u32 as usize
}

/// The `user_data` of each of some kinds of requests.
fn names(token: u64, kinds: Kinds) -> impl Iterator<Item = u64> {
    let numbers = (0..3u32).filter(move |number| kinds & 1 << number != 0);
    numbers.map(move |number| token + (u64::from(number) << KIND_SHIFT))
}

fn kind(name: u64) -> Kinds {
    1 << ((name & KIND_MASK) >> KIND_SHIFT)
}

fn token_of(name: u64) -> u64 {
    name & !KIND_MASK
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
