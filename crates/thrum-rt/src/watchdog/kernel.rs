//! What the kernel says of a thread: how much CPU time it has used, and whether it sleeps.
//!
//! CPU time comes from the thread's own clock, which is exact; `/proc/self/task/TID/schedstat` is brought up to date only at
//! a scheduler tick, up to ten milliseconds late. The state comes from `/proc`, and only when CPU time does not tell.

use std::fs;
use std::time::Duration;

/// What is known of a thread at one moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Thread {
    /// CPU time used since it started.
    pub(super) cpu: Duration,
    /// It has something to compute, whether or not it has a CPU now.
    pub(super) runnable: bool,
}

/// Asks about a thread of this process. `None` if it has ended.
pub(super) fn ask(tid: u32) -> Option<Thread> {
    Some(Thread {
        cpu: cpu_time(tid)?,
        runnable: is_runnable(tid)?,
    })
}

/// Reads the CPU clock of a thread.
fn cpu_time(tid: u32) -> Option<Duration> {
    // As in pthread_getcpuclockid(3): the number's complement, then "of a thread" (4) and "scheduler's" (2).
    let clock = (!(tid as libc::clockid_t) << 3) | 4 | 2;
    let mut time = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    // SAFETY: `time` is a valid place for the answer, and any clock number may be asked for.
    let result = unsafe { libc::clock_gettime(clock, &mut time) };
    (result == 0).then(|| Duration::new(time.tv_sec as u64, time.tv_nsec as u32))
}

/// Reads the state, the word after the name in parentheses, which may itself hold spaces and parentheses.
fn is_runnable(tid: u32) -> Option<bool> {
    let stat = fs::read_to_string(format!("/proc/self/task/{tid}/stat")).ok()?;
    let state = stat.rsplit_once(')')?.1.trim_start().chars().next()?;
    Some(state == 'R')
}

#[cfg(all(test, not(loom)))]
mod tests {
    use std::sync::mpsc;
    use std::thread;
    use std::time::Instant;

    use super::*;

    fn tid() -> u32 {
        rustix::thread::gettid().as_raw_nonzero().get() as u32
    }

    #[test]
    fn this_thread_runs_and_its_clock_goes() {
        let before = ask(tid()).unwrap();
        let begin = Instant::now();
        while begin.elapsed() < Duration::from_millis(20) {
            std::hint::spin_loop();
        }
        let after = ask(tid()).unwrap();
        assert!(after.runnable);
        assert!(after.cpu > before.cpu);
    }

    #[test]
    fn a_sleeping_thread_is_not_runnable() {
        let (send, receive) = mpsc::channel();
        let (end, wait) = mpsc::channel::<()>();
        let sleeper = thread::spawn(move || {
            send.send(tid()).unwrap();
            let _ = wait.recv();
        });
        let tid = receive.recv().unwrap();
        thread::sleep(Duration::from_millis(50));
        assert!(!ask(tid).unwrap().runnable);
        drop(end);
        sleeper.join().unwrap();
    }

    #[test]
    fn a_thread_that_is_not_there_says_nothing() {
        assert_eq!(ask(u32::MAX >> 2), None);
    }
}
