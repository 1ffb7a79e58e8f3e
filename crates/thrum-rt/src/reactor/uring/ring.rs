//! A ring, and putting requests into it.

use std::io;

use io_uring::{IoUring, squeue};

/// Requests submitted in one call. More take more calls.
const SUBMISSIONS: u32 = 256;

/// Completions that wait to be dispatched. The kernel keeps what is more.
const COMPLETIONS: u32 = 2048;

/// The flag of io_uring_enter(2) that has completions run.
pub(super) const ENTER_GETEVENTS: u32 = 1;

/// A ring of this thread.
pub(super) fn make_ring() -> io::Result<IoUring> {
    IoUring::builder()
        .setup_single_issuer()
        .setup_defer_taskrun()
        .setup_taskrun_flag()
        .setup_cqsize(COMPLETIONS)
        .dontfork()
        .build(SUBMISSIONS)
}

/// The submission queue of a ring.
pub(super) struct Queue<'a>(
    pub(super) &'a IoUring,
    pub(super) squeue::SubmissionQueue<'a>,
);

impl Queue<'_> {
    pub(super) fn push(&mut self, entry: &squeue::Entry) -> io::Result<()> {
        if self.1.is_full() {
            self.flush(0)?;
        }
        // SAFETY: the request refers to no memory but the registered buffers.
        let pushed = unsafe { self.1.push(entry) };
        pushed.map_err(io::Error::other)
    }

    pub(super) fn flush(&mut self, flags: u32) -> io::Result<()> {
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

/// A timeout, a signal, or completions that must be taken out first.
pub(super) fn is_harmless(error: &io::Error) -> bool {
    let errno = error.raw_os_error();
    [libc::ETIME, libc::EINTR, libc::EBUSY, libc::EAGAIN]
        .iter()
        .any(|&harmless| errno == Some(harmless))
}
