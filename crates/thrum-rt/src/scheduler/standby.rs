//! Standby threads, and the hand-off of a seat to one of them.

use std::io;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use rustix::process::{Pid, setpriority_process};

use super::Scheduler;
use super::member::Member;
use super::worker::Worker;
use crate::shim::{Condvar, Mutex, MutexGuard};

/// Standbys that are kept for good, without a timer. More than these go after [`RETIRE_AFTER`].
const WARM: usize = 2;

/// How long a standby beyond [`WARM`] waits for work.
const RETIRE_AFTER: Duration = Duration::from_secs(10);

/// A hog that is back so soon would better have been waited for.
const WASTED: Duration = Duration::from_micros(500);

/// The priority of a thread that computes in one poll, where SCHED_IDLE is not to be had: about 1.5 % of the CPU beside one
/// other.
const LOWEST: i32 = 19;

/// How a stuck thread was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// It uses its CPU.
    Computing,
    /// It waits in the kernel: for a lock, a disk, another process.
    Asleep,
}

/// A seat to take.
#[derive(Clone, Copy, Debug)]
pub(super) struct Assignment {
    pub(super) seat: usize,
    /// Whose seat it was, if that thread is stuck and left tasks behind.
    pub(super) predecessor: Option<usize>,
}

#[derive(Default)]
pub(crate) struct Standbys {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    /// Those that wait, the latest last: its stack and cache are the warmest.
    waiting: Vec<Arc<Member>>,
    /// Seats that nobody could be found for. The next thread that comes back takes one.
    vacant: Vec<Assignment>,
    /// All threads that have not ended.
    alive: usize,
    /// Superseded threads that are not back yet.
    computing: usize,
    asleep: usize,
    ended: bool,
}

/// Threads by what they do, at one time.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Census {
    pub(crate) alive: usize,
    pub(crate) waiting: usize,
    pub(crate) computing: usize,
    pub(crate) asleep: usize,
}

impl Standbys {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock()
    }

    pub(crate) fn census(&self) -> Census {
        let state = self.lock();
        Census {
            alive: state.alive,
            waiting: state.waiting.len(),
            computing: state.computing,
            asleep: state.asleep,
        }
    }

    /// Waits for a seat to take. `None`: the thread is to end.
    fn wait(&self, member: &Arc<Member>) -> Option<Assignment> {
        let mut state = self.lock();
        if state.ended {
            return None;
        }
        if let Some(vacant) = state.vacant.pop() {
            return Some(vacant);
        }
        state.waiting.push(member.clone());
        let retires = state.waiting.len() > WARM;
        drop(state);

        let retire_at = retires.then(|| Instant::now() + RETIRE_AFTER);
        let mut desk = member.desk.lock();
        loop {
            if let Some(assignment) = desk.take() {
                return Some(assignment);
            }
            let left = retire_at.map(|at| at.saturating_duration_since(Instant::now()));
            if left == Some(Duration::ZERO) || self.lock().ended {
                let mut state = self.lock();
                let before = state.waiting.len();
                state.waiting.retain(|other| other.id != member.id);
                if state.waiting.len() < before {
                    return None;
                }
                // It is no longer in the list: an assignment is on its way.
                drop(state);
            }
            let left = left.filter(|left| !left.is_zero());
            desk = match left {
                Some(left) => member.called.wait_timeout(desk, left),
                None => member.called.wait(desk),
            };
        }
    }

    /// Gives a seat to a standby; false if there is none.
    fn call(&self, assignment: Assignment) -> bool {
        let Some(member) = self.lock().waiting.pop() else {
            return false;
        };
        assign(&member, assignment);
        true
    }

    /// Gives a seat to the next thread that comes back.
    fn leave_vacant(&self, assignment: Assignment) {
        let mut state = self.lock();
        match state.waiting.pop() {
            None => state.vacant.push(assignment),
            Some(member) => {
                drop(state);
                assign(&member, assignment);
            }
        }
    }

    fn count(&self, verdict: Verdict, change: isize) {
        let mut state = self.lock();
        let count = match verdict {
            Verdict::Computing => &mut state.computing,
            Verdict::Asleep => &mut state.asleep,
        };
        *count = count.saturating_add_signed(change);
    }

    /// Sends the standbys home and waits for all threads, but no longer than `grace`. Returns how many are left.
    pub(super) fn end(&self, grace: Duration) -> usize {
        let mut state = self.lock();
        state.ended = true;
        let waiting = state.waiting.clone();
        drop(state);
        for member in waiting {
            let _desk = member.desk.lock();
            member.called.notify_one();
        }
        let begin = Instant::now();
        let mut state = self.lock();
        while state.alive > 0
            && let Some(left) = grace.checked_sub(begin.elapsed())
        {
            state = self.changed.wait_timeout(state, left);
        }
        state.alive
    }
}

impl Scheduler {
    /// Gives the seat of a stuck thread to another. True if that was done. A thread that blocks knowingly has announced it.
    pub(crate) fn hand_off(
        self: &Arc<Self>,
        seat: usize,
        stuck: &Arc<Member>,
        verdict: Verdict,
        announced: bool,
    ) -> bool {
        // A simulation's seat has no holder, so nobody stands in for it.
        if self.has_ended() || !self.seats[seat].vacate(stuck.id) {
            return false;
        }
        if verdict == Verdict::Computing {
            lower(stuck);
        }
        self.standbys.count(verdict, 1);
        stuck.supersede(verdict, announced);
        let assignment = Assignment {
            seat,
            predecessor: Some(stuck.id),
        };
        self.counts.hand_offs.fetch_add(1, Ordering::Relaxed);
        if self.standbys.call(assignment) {
            return true;
        }
        if let Err(error) = self.start_thread(seat, Some(stuck.id)) {
            tracing::error!(%error, "no thread can be started to stand in for a stuck worker");
            self.standbys.leave_vacant(assignment);
        }
        true
    }

    /// Takes a thread in that is back from the poll that it was superseded in.
    pub(super) fn come_back(&self, member: &Member) {
        let Some(found) = member.come_back() else {
            return;
        };
        self.standbys.count(found.verdict, -1);
        if found.announced {
            return;
        }
        let took = found.at.elapsed();
        if took < WASTED {
            self.counts.wasted.fetch_add(1, Ordering::Relaxed);
        }
        if let Some(spawned_at) = found.spawned_at {
            self.hogs.note(spawned_at, found.verdict, took);
        }
    }

    /// Starts a thread that takes a seat, unless the runtime has ended.
    pub(super) fn start_thread(
        self: &Arc<Self>,
        seat: usize,
        predecessor: Option<usize>,
    ) -> io::Result<()> {
        let member = self
            .members
            .claim()
            .ok_or_else(|| io::Error::other("the runtime has as many threads as it may have"))?;
        let scheduler = self.clone();
        let id = member.id;
        if !self.standbys.enter() {
            self.members.release(id);
            return Ok(());
        }
        let started = std::thread::Builder::new()
            .name(format!("thrum-{id}"))
            .spawn(move || {
                Worker::live(scheduler.clone(), member, Assignment { seat, predecessor });
                scheduler.members.release(id);
                scheduler.standbys.leave();
            });
        if started.is_err() {
            self.members.release(id);
            self.standbys.leave();
        }
        started.map(drop)
    }
}

impl Standbys {
    /// Counts a thread in; false if the runtime has ended, and nobody waits for it any more.
    fn enter(&self) -> bool {
        let mut state = self.lock();
        state.alive += usize::from(!state.ended);
        !state.ended
    }

    fn leave(&self) {
        self.lock().alive -= 1;
        self.changed.notify_all();
    }

    /// What a superseded thread does when its poll is over: waits until it is needed again. `None`: it is to end.
    pub(super) fn retire(&self, member: &Arc<Member>) -> Option<Assignment> {
        if member.is_lowered() && !raise(member) {
            return self.lock().vacant.pop(); // better a slow thread than none
        }
        self.wait(member)
    }
}

fn assign(member: &Member, assignment: Assignment) {
    *member.desk.lock() = Some(assignment);
    member.called.notify_one();
}

/// Lowers a thread to the least priority there is, from outside.
fn lower(member: &Member) {
    let Some(thread) = thread(member) else { return };
    member.mark_lowered();
    let lowered = set_policy(thread, libc::SCHED_IDLE)
        .and_then(|()| Ok(setpriority_process(Some(thread), LOWEST)?));
    if let Err(error) = lowered {
        tracing::debug!(%error, "the priority of a computing thread could not be lowered");
    }
}

/// Gives a thread its priority back, which takes CAP_SYS_NICE or a high RLIMIT_NICE. Without, it is not used again.
fn raise(member: &Member) -> bool {
    let Some(thread) = thread(member) else {
        return false;
    };
    let raised = setpriority_process(Some(thread), 0).is_ok()
        && set_policy(thread, libc::SCHED_OTHER).is_ok();
    if raised {
        member.clear_lowered();
    }
    raised
}

/// Sets how a thread is scheduled. Beside SCHED_IDLE any other thread gets the CPU the moment that it wants it; beside nice
/// 19 alone it may wait for the end of a slice, up to 4 ms.
fn set_policy(thread: Pid, policy: libc::c_int) -> io::Result<()> {
    // The kernel's `sched_param`. musl's has more in it, and its function of this name does nothing.
    let priority: libc::c_int = 0;
    let thread = thread.as_raw_nonzero().get();
    // SAFETY: the parameters are valid for the call, which keeps nothing of them.
    match unsafe {
        libc::syscall(
            libc::SYS_sched_setscheduler,
            thread,
            policy,
            &raw const priority,
        )
    } {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}

/// Linux takes a thread's number where POSIX has a process's.
fn thread(member: &Member) -> Option<Pid> {
    Pid::from_raw(member.tid() as i32)
}

#[cfg(all(test, loom))]
impl Standbys {
    /// Adds a standby that the model takes assignments from itself.
    pub(super) fn add(&self, member: &Arc<Member>) {
        self.lock().waiting.push(member.clone());
    }
}

#[cfg(all(test, loom))]
mod model {
    use loom::thread;

    use super::*;

    const SEAT: Assignment = Assignment {
        seat: 0,
        predecessor: None,
    };

    fn standby(id: usize, standbys: &Arc<Standbys>) -> thread::JoinHandle<Option<Assignment>> {
        let standbys = standbys.clone();
        let member = Arc::new(Member::new(id));
        thread::spawn(move || standbys.wait(&member))
    }

    /// A seat that is given away while a thread comes back to wait is taken by it.
    #[test]
    fn no_assignment_is_lost() {
        loom::model(|| {
            let standbys = Arc::new(Standbys::default());
            let thread = standby(0, &standbys);
            if !standbys.call(SEAT) {
                standbys.leave_vacant(SEAT);
            }
            assert!(thread.join().unwrap().is_some());
        });
    }

    /// A seat that is given away while all are sent home is taken, or nobody was there to take it.
    #[test]
    fn the_end_loses_no_assignment() {
        loom::model(|| {
            let standbys = Arc::new(Standbys::default());
            let thread = standby(0, &standbys);
            let caller = thread::spawn({
                let standbys = standbys.clone();
                move || standbys.call(SEAT)
            });
            standbys.end(Duration::ZERO);
            let called = caller.join().unwrap();
            assert_eq!(thread.join().unwrap().is_some(), called);
        });
    }

    /// One seat and two standbys: one of them takes it.
    #[test]
    fn a_seat_goes_to_one_thread() {
        let mut model = loom::model::Builder::new();
        model.preemption_bound = Some(2);
        model.check(|| {
            let standbys = Arc::new(Standbys::default());
            let threads = [0, 1].map(|id| standby(id, &standbys));
            let called = standbys.call(SEAT);
            standbys.end(Duration::ZERO);
            let taken = threads.map(|thread| usize::from(thread.join().unwrap().is_some()));
            assert_eq!(taken.into_iter().sum::<usize>(), usize::from(called));
        });
    }
}
