//! The `io_uring` back end: readiness by multishot polls.
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
//! A request holds its file: a descriptor that is closed while it is polled lives on, and its peer would never hear of it.
//! So a poll is cancelled before the descriptor is closed, by a system call of its own, from whatever thread. The thread
//! that submitted it completes that too. If it is another one and waits in its turn, which it does not for long, it is waited
//! for: who drops a listener may bind its address again.
//!
//! # Names
//! `user_data` is the token of the source and, in its upper byte, the epoch: which thread's turn it was submitted in.

use std::io;
use std::os::fd::{AsRawFd, BorrowedFd, OwnedFd, RawFd};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Condvar, Mutex as StdMutex, PoisonError};
use std::time::Duration;

use io_uring::types::{CancelBuilder, Fd, SubmitArgs, Timespec};
use io_uring::{IoUring, cqueue, opcode};
use rustix::event::{EventfdFlags, PollFlags, eventfd};

use super::source::Edge;
use crate::shim::Mutex;

/// Requests submitted in one call. More take more calls.
const SUBMISSIONS: u32 = 256;

/// Completions that wait to be dispatched. The kernel keeps what is more.
const COMPLETIONS: u32 = 2048;

/// How long a closing descriptor waits for the thread that polls it, at most.
const CANCEL: Duration = Duration::from_millis(2);

/// The token of the eventfd; no source has it, as a slot's index stays below 2^30.
const WAKE: u64 = EPOCH - 1;

/// The unit of the epoch in `user_data`. A token stays below it.
const EPOCH: u64 = 1 << 56;

pub(super) struct Uring {
    ring: IoUring,
    wake: OwnedFd,
    /// Guards the submission queue too.
    polls: Mutex<Polls>,
    /// Guards the completion queue.
    turn: Mutex<()>,
    /// A turn waits, so what is added must interrupt it.
    waiting: AtomicBool,
    /// Polls whose cancelling is waited for.
    leaving: StdMutex<Vec<u64>>,
    left: Condvar,
}

/// What is polled, or is to be.
#[derive(Default)]
struct Polls {
    /// By the index in the token.
    sources: Vec<Option<Polled>>,
    /// Indices of those to submit in the next turn.
    pending: Vec<u32>,
    /// The eventfd is polled.
    wakes: bool,
    /// The thread that has submitted; 0 at first.
    thread: u64,
    /// Changes with the thread, and wraps.
    epoch: u8,
}

struct Polled {
    fd: RawFd,
    token: u64,
    submitted: bool,
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
            ring,
            wake: eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)?,
            polls: Mutex::default(),
            turn: Mutex::default(),
            waiting: AtomicBool::new(false),
            leaving: StdMutex::default(),
            left: Condvar::new(),
        })
    }

    pub(super) fn add(&self, fd: BorrowedFd<'_>, token: u64) -> io::Result<()> {
        let mut polls = self.polls.lock();
        let index = index(token);
        if polls.sources.len() <= index {
            polls.sources.resize_with(index + 1, || None);
        }
        polls.sources[index] = Some(Polled {
            fd: fd.as_raw_fd(),
            token,
            submitted: false,
        });
        polls.pending.push(index as u32);
        // Under the lock: a turn that waits has begun to under it.
        let interrupt = self.waiting.load(Ordering::Relaxed);
        drop(polls);
        if interrupt {
            self.interrupt();
        }
        Ok(())
    }

    pub(super) fn remove(&self, _: BorrowedFd<'_>, token: u64) -> io::Result<()> {
        let mut polls = self.polls.lock();
        let slot = polls.sources.get_mut(index(token));
        let removed = slot.and_then(|slot| slot.take_if(|polled| polled.token == token));
        if !removed.is_some_and(|polled| polled.submitted) {
            return Ok(());
        }
        let name = name(polls.epoch, token);
        let elsewhere = polls.thread != this_thread() && self.waiting.load(Ordering::Relaxed);
        drop(polls);
        if elsewhere {
            self.cancel_elsewhere(name)
        } else {
            cancel(&self.ring, CancelBuilder::user_data(name))
        }
    }

    /// Cancels a poll and waits until the thread in the turn has seen it end.
    fn cancel_elsewhere(&self, name: u64) -> io::Result<()> {
        let leaving = || self.leaving.lock().unwrap_or_else(PoisonError::into_inner);
        leaving().push(name);
        let cancelled = cancel(&self.ring, CancelBuilder::user_data(name));
        let still = |leaving: &mut Vec<u64>| cancelled.is_ok() && leaving.contains(&name);
        let waited = self.left.wait_timeout_while(leaving(), CANCEL, still);
        let (mut leaving, _) = waited.unwrap_or_else(PoisonError::into_inner);
        leaving.retain(|&other| other != name);
        cancelled
    }

    /// Tells who waits for it that a poll has ended.
    fn has_left(&self, name: u64) {
        let mut leaving = self.leaving.lock().unwrap_or_else(PoisonError::into_inner);
        if leaving.contains(&name) {
            leaving.retain(|&other| other != name);
            self.left.notify_all();
        }
    }

    pub(super) fn closing(&self, fd: BorrowedFd<'_>, token: u64) {
        if let Err(error) = self.remove(fd, token) {
            tracing::error!(%error, "the poll of a descriptor cannot be cancelled");
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
        let mut polls = self.polls.lock();
        self.submit(&mut polls)?;
        self.waiting.store(blocking, Ordering::Relaxed);
        drop(polls);
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
        let token = completion.user_data() % EPOCH;
        let cancelled = completion.result() == -libc::ECANCELED;
        if token != WAKE && !cancelled {
            let edge = match u16::try_from(completion.result()) {
                Ok(events) => edge(PollFlags::from_bits_retain(events)),
                // It cannot be polled. Operations on it will say more.
                Err(_) => Edge {
                    read_closed: true,
                    write_closed: true,
                    ..Edge::default()
                },
            };
            each(token, edge);
        }
        if cancelled {
            self.has_left(completion.user_data());
        }
        let failed = completion.result() < 0 && !cancelled;
        if !cqueue::more(completion.flags()) && !failed {
            self.polls
                .lock()
                .renew(token, (completion.user_data() / EPOCH) as u8);
        }
    }

    /// Submits what is pending; everything, if the turn was another thread's before.
    fn submit(&self, polls: &mut Polls) -> io::Result<()> {
        let thread = this_thread();
        if polls.thread != thread {
            if polls.thread != 0 {
                cancel(&self.ring, CancelBuilder::any())?;
            }
            polls.begin_epoch(thread);
        }
        if !polls.wakes {
            let events = PollFlags::IN;
            self.push(self.wake.as_raw_fd(), events, name(polls.epoch, WAKE))?;
            polls.wakes = true;
        }
        while let Some(index) = polls.pending.pop() {
            let epoch = polls.epoch;
            if let Some(polled) = &mut polls.sources[index as usize]
                && !polled.submitted
            {
                let events = PollFlags::IN | PollFlags::OUT | PollFlags::RDHUP;
                if let Err(error) = self.push(polled.fd, events, name(epoch, polled.token)) {
                    polls.pending.push(index);
                    return Err(error);
                }
                polled.submitted = true;
            }
        }
        // SAFETY: `polls` is locked, and there is no other use of the submission queue.
        if !unsafe { self.ring.submission_shared() }.is_empty() {
            self.flush()?;
        }
        Ok(())
    }

    /// Puts a poll into the submission queue. Called with `polls` locked.
    fn push(&self, fd: RawFd, events: PollFlags, name: u64) -> io::Result<()> {
        let poll = opcode::PollAdd::new(Fd(fd), u32::from(events.bits()))
            .multi(true)
            .build()
            .user_data(name);
        // SAFETY: `polls` is locked, and there is no other use of the submission queue.
        if unsafe { self.ring.submission_shared() }.is_full() {
            self.flush()?;
        }
        // SAFETY: as before; the request refers to no memory.
        let pushed = unsafe { self.ring.submission_shared().push(&poll) };
        pushed.map_err(io::Error::other)
    }

    fn flush(&self) -> io::Result<()> {
        match self.ring.submitter().submit() {
            Err(error) if !is_harmless(&error) => Err(error),
            _ => Ok(()),
        }
    }
}

impl Polls {
    /// Has all polled again, in the name of `thread`.
    fn begin_epoch(&mut self, thread: u64) {
        self.thread = thread;
        self.epoch = self.epoch.wrapping_add(1);
        self.wakes = false;
        self.pending.clear();
        for (index, slot) in self.sources.iter_mut().enumerate() {
            if let Some(polled) = slot {
                polled.submitted = false;
                self.pending.push(index as u32);
            }
        }
    }

    /// Has a source polled again whose poll has ended, unless that was one of an earlier epoch or life.
    fn renew(&mut self, token: u64, epoch: u8) {
        if epoch != self.epoch {
            return;
        }
        if token == WAKE {
            self.wakes = false;
        } else if let Some(Some(polled)) = self.sources.get_mut(index(token))
            && polled.token == token
        {
            polled.submitted = false;
            self.pending.push(index(token) as u32);
        }
    }
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

fn name(epoch: u8, token: u64) -> u64 {
    u64::from(epoch) * EPOCH + token
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
