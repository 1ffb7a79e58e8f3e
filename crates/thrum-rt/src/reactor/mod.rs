//! Reactors: each is one I/O manager, with its registrations and its timers.
//!
//! A reactor is an object of its own, not a part of a thread. A worker that has nothing to run takes a *turn* of its
//! seat's reactor: it waits for events or the next deadline, and dispatches what came. The turn is locked only for that
//! long and never across a poll of a task, so that whoever gets the seat of a stuck worker can go on with its reactor at
//! once (DESIGN D3).
//!
//! Registering, arming a timer and waking take no turn and can be done from any thread.

mod backend;
#[cfg(target_os = "linux")]
mod epoll;
#[cfg(any(feature = "portable", not(target_os = "linux")))]
mod portable;
mod source;
mod table;
#[cfg(all(feature = "io-uring", target_os = "linux"))]
mod uring;
mod wheel;

use std::io::{self, IoSliceMut};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use rustix::net::RecvFlags;

use self::backend::Backend;
pub use self::backend::{Io, UnknownIo};
pub(crate) use self::source::Direction;
use self::source::Source;
use self::table::{Slot, Table};
pub(crate) use self::wheel::TimerKey;
use self::wheel::Wheel;
use crate::budget;
use crate::shim::{Mutex, MutexGuard};
use crate::time::clock;
use crate::waiting::{self, Waiting};

/// One I/O manager.
pub(crate) struct Reactor {
    backend: Backend,
    tells_ends: bool,
    sources: Table,
    /// Registered descriptors, for the watchdog: a reactor without any may be left alone.
    registered: AtomicUsize,
    timers: Mutex<Timers>,
    turn: Mutex<Turn>,
}

/// The right to wait and dispatch, and the memory for it.
#[derive(Default)]
pub(crate) struct Turn {
    due: Vec<Waker>,
}

struct Timers {
    wheel: Wheel,
    /// While a turn waits: until when, in milliseconds. A timer that is earlier must interrupt it.
    waiting_until: Option<u64>,
}

impl Reactor {
    /// A reactor with the back end `io`.
    pub(crate) fn new(io: Io) -> io::Result<Self> {
        let backend = Backend::new(io)?;
        Ok(Self {
            tells_ends: backend.tells_ends(),
            backend,
            sources: Table::new(),
            registered: AtomicUsize::new(0),
            timers: Mutex::new(Timers {
                wheel: Wheel::new(clock::now_ms()),
                waiting_until: None,
            }),
            turn: Mutex::default(),
        })
    }

    /// Its back end.
    pub(crate) fn io(&self) -> Io {
        self.backend.io()
    }

    /// The turn, if nobody has it.
    pub(crate) fn try_turn(&self) -> Option<MutexGuard<'_, Turn>> {
        self.turn.try_lock()
    }

    /// The turn. Whoever waits in it now is interrupted.
    pub(crate) fn take_turn(&self) -> MutexGuard<'_, Turn> {
        self.try_turn().unwrap_or_else(|| {
            self.interrupt();
            self.turn.lock()
        })
    }

    /// Waits until something happens, but no longer than `limit` if there is one, and wakes the tasks concerned.
    pub(crate) fn turn(&self, turn: &mut Turn, limit: Option<Duration>) {
        let timeout = if limit == Some(Duration::ZERO) {
            limit
        } else {
            self.begin_wait(limit)
        };
        let waited = self.backend.wait(timeout, |token, edge| {
            if let Some(source) = self.sources.get(token as u32) {
                source.dispatch((token >> 32) as u32, edge);
            }
        });
        if let Err(error) = waited {
            // Only a programming error gets here (EBADF, EINVAL, EFAULT).
            tracing::error!(%error, "the reactor cannot wait for events");
        }
        self.end_wait(&mut turn.due);
        turn.due.drain(..).for_each(Waker::wake);
    }

    fn begin_wait(&self, limit: Option<Duration>) -> Option<Duration> {
        let mut timers = self.timers.lock();
        let next = timers.wheel.next_ms();
        timers.waiting_until = Some(next.unwrap_or(u64::MAX));
        drop(timers);
        let timer = next.map(clock::until);
        match (timer, limit) {
            (Some(timer), Some(limit)) => Some(timer.min(limit)),
            (timer, limit) => timer.or(limit),
        }
    }

    fn end_wait(&self, due: &mut Vec<Waker>) {
        let mut timers = self.timers.lock();
        timers.waiting_until = None;
        if !timers.wheel.is_empty() {
            timers.wheel.advance(clock::now_ms(), due);
        }
    }

    /// When the next timer needs attention, for a clock that waits for it to be told.
    pub(crate) fn next_timer_ms(&self) -> Option<u64> {
        self.timers.lock().wheel.next_ms()
    }

    /// Ends the wait of a turn that is under way, or else of the next.
    pub(crate) fn interrupt(&self) {
        self.backend.interrupt();
    }

    /// Whether leaving this reactor alone could keep anyone waiting.
    pub(crate) fn has_waiters(&self) -> bool {
        self.registered.load(Ordering::Relaxed) > 0 || !self.timers.lock().wheel.is_empty()
    }

    /// Has `waker` woken at `at_ms` ([`clock::now_ms`]) or soon after.
    pub(crate) fn arm(&self, at_ms: u64, waker: Waker) -> TimerKey {
        let mut timers = self.timers.lock();
        let key = timers.wheel.insert(at_ms, waker);
        let interrupt = timers.waiting_until.is_some_and(|until| at_ms < until);
        drop(timers);
        if interrupt {
            self.interrupt();
        }
        key
    }

    /// Forgets a timer; nothing happens if it has fired.
    pub(crate) fn disarm(&self, key: TimerKey) {
        let waker = self.timers.lock().wheel.remove(key);
        drop(waker); // after the lock: dropping a waker may drop a task
    }

    /// Makes a timer wake `waker` from now on; false if it has fired.
    pub(crate) fn rewake(&self, key: TimerKey, waker: &Waker) -> bool {
        let mut timers = self.timers.lock();
        let Some(current) = timers.wheel.waker(key) else {
            return false;
        };
        let replaced =
            (!current.will_wake(waker)).then(|| std::mem::replace(current, waker.clone()));
        drop(timers);
        drop(replaced);
        true
    }

    /// Wakes all who wait, as the runtime ends: a task that is woken then is dropped. (Dropping its wakers is not enough: as
    /// long as somebody has its handle it would lie there, and never end.)
    pub(crate) fn release_waiters(&self) {
        let timers = self.timers.lock().wheel.take_all();
        timers.into_iter().for_each(Waker::wake);
        for source in self.sources.iter() {
            source.wake(Direction::Read);
            source.wake(Direction::Write);
        }
    }
}

/// A descriptor that is registered with a reactor, with its readiness.
///
/// All its methods take `&self`. More than one task may wait in one direction; all are woken.
pub(crate) struct Registered<T: AsFd> {
    io: Option<T>,
    reactor: Arc<Reactor>,
    slot: Slot,
    #[cfg(all(feature = "io-uring", target_os = "linux"))]
    inbox: Option<Arc<uring::inbox::Inbox>>,
}

impl<T: AsFd> Registered<T> {
    /// Registers `io`, which must be in non-blocking mode.
    pub(crate) fn new(reactor: Arc<Reactor>, io: T) -> io::Result<Self> {
        let registered = Self::claim(reactor, io)?;
        let (fd, token) = (registered.get().as_fd(), registered.token());
        registered.reactor.backend.add(fd, token)?;
        Ok(registered)
    }

    /// Registers a stream socket, which is then read with [`receive`](Self::receive) only.
    pub(crate) fn connected(reactor: Arc<Reactor>, io: T) -> io::Result<Self> {
        #[cfg(all(feature = "io-uring", target_os = "linux"))]
        if matches!(reactor.backend, Backend::Uring(_)) {
            return Self::claim(reactor, io).map(|it| it.received_ahead(true));
        }
        Self::new(reactor, io)
    }

    /// Registers a stream socket that is about to be connected; once it is, call [`has_connected`](Self::has_connected).
    pub(crate) fn connecting(reactor: Arc<Reactor>, io: T) -> io::Result<Self> {
        #[cfg(all(feature = "io-uring", target_os = "linux"))]
        if matches!(reactor.backend, Backend::Uring(_)) {
            return Self::claim(reactor, io).map(|it| it.received_ahead(false));
        }
        Self::new(reactor, io)
    }

    /// Takes a slot.
    fn claim(reactor: Arc<Reactor>, io: T) -> io::Result<Self> {
        let Some(slot) = reactor.sources.claim() else {
            return Err(io::Error::other("a reactor holds at most 2^30 descriptors"));
        };
        let registered = Self {
            io: Some(io),
            reactor,
            slot,
            #[cfg(all(feature = "io-uring", target_os = "linux"))]
            inbox: None,
        };
        let reactor = &registered.reactor;
        reactor.registered.fetch_add(1, Ordering::Relaxed);
        Ok(registered)
    }

    /// Names this life of the slot in events.
    fn token(&self) -> u64 {
        u64::from(self.source().generation()) << 32 | u64::from(self.slot.index)
    }

    pub(crate) fn get(&self) -> &T {
        self.io
            .as_ref()
            .expect("the descriptor is taken only by into_inner, which consumes self")
    }

    /// Takes the descriptor out of the reactor.
    ///
    /// # Errors
    /// When something was received ahead and not read.
    pub(crate) fn into_inner(mut self) -> io::Result<T> {
        #[cfg(all(feature = "io-uring", target_os = "linux"))]
        self.stop_ahead()?;
        let io = self.io.take().expect("the descriptor is taken only here");
        self.reactor.backend.remove(io.as_fd(), self.token())?;
        Ok(io)
    }

    fn source(&self) -> &Source {
        // SAFETY: the slot is of the table of this reactor, which lives as long as we do.
        unsafe { self.slot.source() }
    }

    /// Ready when an operation in this direction would not block, as far as is known. It may be mistaken.
    ///
    /// Pending also when this poll of the task has used up its budget; the task is woken again at once.
    pub(crate) fn poll_ready(&self, direction: Direction, cx: &mut Context<'_>) -> Poll<()> {
        if budget::exhausted(cx) {
            return Poll::Pending;
        }
        if self.source().wait(direction, cx.waker()) {
            return Poll::Ready(());
        }
        let fd = self.get().as_fd().as_raw_fd();
        #[cfg(all(feature = "io-uring", target_os = "linux"))]
        if direction == Direction::Write {
            self.writer_waits();
        }
        waiting::note(match direction {
            Direction::Read => Waiting::Readable(fd),
            Direction::Write => Waiting::Writable(fd),
        });
        Poll::Pending
    }

    /// Tries an operation, and remembers when it says that it would block.
    pub(crate) fn attempt<R>(
        &self,
        direction: Direction,
        operation: impl FnOnce(BorrowedFd<'_>) -> io::Result<R>,
    ) -> io::Result<R> {
        budget::spend(1);
        let seen = self.source().seen();
        #[cfg(all(feature = "io-uring", target_os = "linux"))]
        self.read_directly(direction, seen)?;
        let result = operation(self.get().as_fd());
        if let Err(error) = &result
            && error.kind() == io::ErrorKind::WouldBlock
        {
            self.source().clear_blocked(direction, seen);
        }
        result
    }

    /// Tries to move `wanted` bytes. After a short transfer the next wait goes straight to the reactor: the kernel had no
    /// more to give or to take, and asking again would only say so.
    pub(crate) fn attempt_bytes(
        &self,
        direction: Direction,
        wanted: usize,
        operation: impl FnOnce(BorrowedFd<'_>) -> rustix::io::Result<usize>,
    ) -> io::Result<usize> {
        let source = self.source();
        let seen = source.seen();
        #[cfg(all(feature = "io-uring", target_os = "linux"))]
        self.read_directly(direction, seen)?;
        let result = operation(self.get().as_fd());
        match result {
            Ok(moved) => {
                budget::spend_bytes(moved);
                if 0 < moved && moved < wanted && self.reactor.tells_ends {
                    source.clear(direction, seen);
                }
            }
            Err(rustix::io::Errno::AGAIN) => {
                budget::spend(1);
                source.clear_blocked(direction, seen);
            }
            Err(_) => budget::spend(1),
        }
        Ok(result?)
    }

    /// Reads from a stream socket.
    pub(crate) fn receive(&self, buffer: &mut [u8]) -> io::Result<usize> {
        #[cfg(all(feature = "io-uring", target_os = "linux"))]
        if let Some(received) = self.receive_ahead(buffer) {
            return received;
        }
        self.attempt_bytes(Direction::Read, buffer.len(), |fd| {
            rustix::net::recv(fd, buffer, RecvFlags::empty()).map(|(read, _)| read)
        })
    }

    /// Reads from a stream socket into several buffers.
    pub(crate) fn receive_vectored(&self, buffers: &mut [IoSliceMut<'_>]) -> io::Result<usize> {
        #[cfg(all(feature = "io-uring", target_os = "linux"))]
        if self.inbox.is_some() {
            let first = buffers.iter_mut().find(|buffer| !buffer.is_empty());
            return self.receive(first.map_or(&mut [], |buffer| &mut **buffer));
        }
        let wanted = buffers.iter().map(|buffer| buffer.len()).sum();
        self.attempt_bytes(Direction::Read, wanted, |fd| rustix::io::readv(fd, buffers))
    }

    /// Moves what was received ahead into an empty pipe, before something else reads the descriptor. Nothing if nothing was.
    pub(crate) fn move_ahead(&self, _pipe: BorrowedFd<'_>) -> Option<io::Result<usize>> {
        #[cfg(all(feature = "io-uring", target_os = "linux"))]
        {
            // It fits: a pipe holds a page at least.
            let mut buffer = [0; 4096];
            let peeked = self.peek_ahead(&mut buffer)?;
            let written = rustix::io::write(_pipe, &buffer[..peeked]);
            let moved = written.map_err(io::Error::from);
            Some(moved.and_then(|written| self.receive(&mut buffer[..written])))
        }
        #[cfg(not(all(feature = "io-uring", target_os = "linux")))]
        None
    }

    /// Reads from a stream socket, and leaves the bytes to be read again.
    pub(crate) fn peek(&self, buffer: &mut [u8]) -> io::Result<usize> {
        #[cfg(all(feature = "io-uring", target_os = "linux"))]
        if let Some(peeked) = self.peek_ahead(buffer) {
            return Ok(peeked);
        }
        self.attempt(Direction::Read, |fd| {
            Ok(rustix::net::recv(fd, buffer, RecvFlags::PEEK)?.0)
        })
    }

    /// A stream socket that was [`connecting`](Self::connecting) is connected.
    pub(crate) fn has_connected(&self) {
        #[cfg(all(feature = "io-uring", target_os = "linux"))]
        self.begin_ahead();
    }

    /// Waits and tries until the operation does something other than block.
    pub(crate) async fn perform<R>(
        &self,
        direction: Direction,
        mut operation: impl FnMut() -> io::Result<R>,
    ) -> io::Result<R> {
        std::future::poll_fn(|cx| self.poll_with(direction, cx, &mut operation)).await
    }

    /// The poll form of [`perform`](Self::perform).
    pub(crate) fn poll_with<R>(
        &self,
        direction: Direction,
        cx: &mut Context<'_>,
        mut operation: impl FnMut() -> io::Result<R>,
    ) -> Poll<io::Result<R>> {
        loop {
            std::task::ready!(self.poll_ready(direction, cx));
            match operation() {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                result => return Poll::Ready(result),
            }
        }
    }

    /// Wakes who waits in a direction, ready or not.
    pub(crate) fn wake(&self, direction: Direction) {
        self.source().wake(direction);
    }
}

impl<T: AsFd> Drop for Registered<T> {
    fn drop(&mut self) {
        self.reactor.registered.fetch_sub(1, Ordering::Relaxed);
        let token = self.token();
        self.source().retire();
        if let Some(io) = self.io.take() {
            self.reactor.backend.closing(io.as_fd(), token);
        }
        self.reactor.sources.release(&self.slot);
    }
}

impl<T: AsFd + std::fmt::Debug> std::fmt::Debug for Registered<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.io.fmt(f)
    }
}

#[cfg(all(test, loom))]
mod model {
    use std::time::Instant;

    use loom::thread;

    use super::*;

    const FAR_MS: u64 = 600_000;
    const NEAR_MS: u64 = 60_000;

    /// A timer that is armed while a turn begins to wait is in what the turn waits for, or interrupts it.
    #[test]
    fn a_timer_armed_beside_a_wait_is_not_slept_through() {
        loom::model(|| {
            let reactor = Arc::new(Reactor::new(Io::default()).unwrap());
            let now = clock::now_ms();
            reactor.arm(now + FAR_MS, Waker::noop().clone());
            let arms = thread::spawn({
                let reactor = reactor.clone();
                move || {
                    reactor.arm(now + NEAR_MS, Waker::noop().clone());
                }
            });
            let wait = reactor.begin_wait(None).unwrap();
            arms.join().unwrap();
            if wait > Duration::from_millis(NEAR_MS) {
                let begin = Instant::now();
                let limit = Duration::from_secs(10);
                reactor.backend.wait(Some(limit), |_, _| {}).unwrap();
                assert!(begin.elapsed() < limit, "it was not interrupted");
            }
        });
    }
}
