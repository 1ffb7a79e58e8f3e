//! The loop of a worker thread.

use std::cell::Cell;
use std::rc::Rc;
use std::sync::Arc;
use std::time::{Duration, Instant};

use crossbeam_deque::{Steal, Worker as Queue};

use super::standby::{Assignment, Verdict};
use super::{Member, Scheduler, Seat};
use crate::budget;
use crate::context::{self, Context};
use crate::reactor::Reactor;
use crate::shim::{Ordering, fence};
use crate::task::Runnable;

/// So many polls pass between two looks at the injector and the reactor while the queue never empties. A prime, as in Go
/// and tokio, so that it does not beat with a pattern of the load.
const LOOK_AROUND: u32 = 61;

/// So many tasks in a row may come from the last-in slot: two that wake each other must not shut out the queue.
const LAST_IN_STREAK: u8 = 3;

/// A worker that was woken by others so often in a row, and not by its reactor, has company: it lingers before it sleeps.
const COMPANY: u8 = 3;

/// Looks at the queues while it lingers: five to ten microseconds. It must outlast what it takes to wake the other, or
/// the two would never be awake at the same time.
const LINGER: u32 = 256;

/// A worker, as its own thread sees it.
pub(crate) struct Worker {
    scheduler: Arc<Scheduler>,
    member: Arc<Member>,
    queue: Queue<Runnable>,
    seat: Cell<Option<usize>>,
    /// Polls since the last look around.
    polls: Cell<u32>,
    streak: Cell<u8>,
    /// A task is being polled on this thread, as opposed to a turn of the reactor.
    polling: Cell<bool>,
    /// Where the next search for a victim begins.
    victim: Cell<usize>,
    /// How often in a row it was woken by others, up to [`COMPANY`].
    company: Cell<u8>,
}

impl Worker {
    /// The life of a thread: it takes a seat, runs tasks until the seat is taken from it, waits for another.
    pub(super) fn live(scheduler: Arc<Scheduler>, member: Arc<Member>, first: Assignment) {
        let worker = Rc::new(Self::new(scheduler, member));
        let entered = context::enter(Context::Worker(worker.clone()));
        let mut assignment = Some(first);
        while let Some(next) = assignment {
            worker.sit_down(next);
            worker.run();
            worker.stand_up();
            worker.scheduler.come_back(&worker.member);
            assignment = worker.scheduler.standbys.retire(&worker.member);
        }
        drop(entered);
        if let Ok(worker) = Rc::try_unwrap(worker).map_err(drop) {
            worker.member.move_out(worker.queue);
        }
    }

    /// The worker of a simulation: it has the only seat, for good.
    pub(super) fn alone(scheduler: Arc<Scheduler>) -> Rc<Self> {
        let member = scheduler.members.claim().expect("nobody has a place yet");
        let worker = Self::new(scheduler, member);
        worker.seat.set(Some(0));
        Rc::new(worker)
    }

    /// A worker that holds a seat and is in a poll.
    #[cfg(all(test, loom))]
    pub(super) fn in_a_poll(scheduler: Arc<Scheduler>, seat: usize) -> Self {
        let member = scheduler.members.claim().expect("there is a place");
        let worker = Self::new(scheduler, member);
        worker.sit_down(Assignment {
            seat,
            predecessor: None,
        });
        worker.polling.set(true);
        worker
    }

    pub(super) fn new(scheduler: Arc<Scheduler>, member: Arc<Member>) -> Self {
        Self {
            queue: member.move_in(),
            victim: Cell::new(member.id + 1),
            scheduler,
            member,
            seat: Cell::new(None),
            polls: Cell::new(0),
            streak: Cell::new(0),
            polling: Cell::new(false),
            company: Cell::new(0),
        }
    }

    /// Takes all the tasks that are ready, whichever queue they are in.
    pub(super) fn take_ready(&self, ready: &mut Vec<Runnable>) {
        while let Some(runnable) = self.next().or_else(|| self.take_injected()) {
            ready.push(runnable);
        }
    }

    pub(crate) fn scheduler(&self) -> &Arc<Scheduler> {
        &self.scheduler
    }

    #[cfg(all(test, loom))]
    pub(super) fn member(&self) -> &Arc<Member> {
        &self.member
    }

    pub(crate) fn is_of(&self, scheduler: &Arc<Scheduler>) -> bool {
        Arc::ptr_eq(&self.scheduler, scheduler)
    }

    /// The reactor of its seat.
    pub(crate) fn reactor(&self) -> Option<Arc<Reactor>> {
        Some(self.scheduler.seats[self.seat.get()?].reactor.clone())
    }

    /// Adds a task that was woken on this thread.
    pub(crate) fn push(&self, runnable: Runnable, woken_while_running: bool) {
        if !self.polling.get() {
            // The reactor woke it. The whole batch is announced once, after the turn.
            self.queue.push(runnable);
            return;
        }
        // A task that woke itself wants others to go first.
        let displaced = if woken_while_running {
            Some(runnable)
        } else {
            self.member.last_in.put(runnable)
        };
        match displaced {
            // Its own empty slot was filled: it comes right after this poll, on this thread. Nobody need wake for it.
            None => fence(Ordering::SeqCst),
            Some(displaced) => {
                self.queue.push(displaced);
                self.scheduler.notify();
            }
        }
        // After the fence. If the seat is lost, this poll may go on for long: let others have it.
        if self.member.is_superseded() {
            self.give_away();
        }
    }

    /// Hands its seat over before it does what is known to block. False if this thread has none to hand over.
    pub(crate) fn hand_off_before_blocking(&self) -> bool {
        let seat = self.seat.get().filter(|_| self.polling.get());
        seat.is_some_and(|seat| {
            self.scheduler
                .hand_off(seat, &self.member, Verdict::Asleep, true)
        })
    }

    pub(super) fn sit_down(&self, Assignment { seat, predecessor }: Assignment) {
        self.seat.set(Some(seat));
        self.seat().set_holder(self.member.id);
        // A thread that was not stuck after all may get its own seat back.
        let predecessor = predecessor.filter(|&id| id != self.member.id);
        if let Some(predecessor) = predecessor.and_then(|id| self.scheduler.members.get(id)) {
            // The flag of the predecessor was set before; what it pushes from now on it gives away itself.
            fence(Ordering::SeqCst);
            while let Some(runnable) = predecessor.steal_into(&self.queue) {
                self.queue.push(runnable);
            }
            if let Some(runnable) = predecessor.last_in.take() {
                self.queue.push(runnable);
            }
            // The predecessor may have begun to wait in the reactor: end that.
            drop(self.seat().reactor.take_turn());
        }
    }

    fn stand_up(&self) {
        // It may have marked the seat awake after its successor had gone to sleep there: that one looks again.
        self.seat().reactor.interrupt();
        self.seat.set(None);
        self.give_away();
    }

    /// Puts all its tasks where others find them.
    fn give_away(&self) {
        let last_in = self.member.last_in.take();
        for runnable in last_in
            .into_iter()
            .chain(std::iter::from_fn(|| self.queue.pop()))
        {
            self.scheduler.inject(runnable);
        }
    }

    fn seat(&self) -> &Seat {
        &self.scheduler.seats[self.seat.get().expect("a worker that runs has a seat")]
    }

    /// Runs tasks until the seat is lost or the runtime ends.
    fn run(&self) {
        while !self.member.is_superseded() && !self.scheduler.has_ended() {
            if self.polls.get() >= LOOK_AROUND {
                self.look_around();
            }
            match self.next().or_else(|| self.search()) {
                Some(runnable) => self.poll(runnable),
                None => self.park(),
            }
        }
    }

    pub(super) fn poll(&self, runnable: Runnable) {
        let polls = self.polls.get();
        self.polls.set(polls + 1);
        let record = runnable.metadata().record;
        record.set_running(Some(self.member.id as u32));
        let activity = &self.member.activity;
        activity.begin_poll(record);
        budget::renew();
        // The clock is read for one poll in each round: a sample is enough, and every poll would feel it.
        let begun = (polls == 0).then(Instant::now);
        self.polling.set(true);
        runnable.run();
        self.polling.set(false);
        if let Some(begun) = begun {
            activity.poll_times().add(begun.elapsed());
        }
    }

    /// The next task of its own.
    fn next(&self) -> Option<Runnable> {
        if self.streak.get() < LAST_IN_STREAK
            && let Some(runnable) = self.member.last_in.take()
        {
            self.streak.set(self.streak.get() + 1);
            return Some(runnable);
        }
        self.streak.set(0);
        self.queue.pop().or_else(|| self.member.last_in.take())
    }

    /// Gives the injector and the reactor their share, though there is enough to do.
    fn look_around(&self) {
        self.polls.set(0);
        if let Some(runnable) = self.take_injected() {
            self.queue.push(runnable);
        }
        // Tasks that a thread took just before it noticed that it had lost its seat.
        let superseded = self
            .scheduler
            .members
            .iter()
            .filter(|member| member.is_superseded());
        for runnable in superseded.filter_map(|member| member.steal_into(&self.queue)) {
            self.queue.push(runnable);
        }
        self.turn(Some(Duration::ZERO));
        self.share();
    }

    fn take_injected(&self) -> Option<Runnable> {
        let injector = &self.scheduler.injector;
        while !injector.is_empty() {
            if let Steal::Success(runnable) = injector.steal_batch_and_pop(&self.queue) {
                return Some(runnable);
            }
        }
        None
    }

    /// A task of somebody else's.
    fn search(&self) -> Option<Runnable> {
        if let Some(runnable) = self.take_injected() {
            if self.scheduler.has_injected() {
                self.scheduler.notify();
            }
            return Some(runnable);
        }
        if self.scheduler.members.len() < 2 {
            return None;
        }
        self.scheduler.searching.fetch_add(1, Ordering::SeqCst);
        let found = self.steal();
        let was_last = self.scheduler.searching.fetch_sub(1, Ordering::SeqCst) == 1;
        if found.is_some() {
            self.scheduler.counts.steals.fetch_add(1, Ordering::Relaxed);
            if was_last {
                // There may be more where that came from.
                self.scheduler.notify();
            }
        }
        found
    }

    fn steal(&self) -> Option<Runnable> {
        let members = &self.scheduler.members;
        let count = members.len();
        let first = self.victim.get();
        let others = || {
            let ids = (0..count).map(move |offset| (first + offset) % count);
            ids.filter(|&id| id != self.member.id)
                .filter_map(|id| members.get(id))
        };
        let queued = others().find_map(|member| Some((member.id, member.steal_into(&self.queue)?)));
        if let Some((victim, runnable)) = queued {
            self.victim.set(victim);
            return Some(runnable);
        }
        // Only now the last-in tasks: their owners will most likely run them at once.
        others().find_map(|member| member.last_in.take())
    }

    /// Two tasks on two workers that wake each other would put both to sleep each time. So a worker whose company has
    /// been good stays awake for a moment; if nothing comes of that, not again soon. True if there is something to do.
    fn linger(&self) -> bool {
        let scheduler = &self.scheduler;
        if self.company.get() < COMPANY || !scheduler.has_cpus {
            return false;
        }
        // Counted as searching, so nobody makes a system call to wake it.
        scheduler.searching.fetch_add(1, Ordering::SeqCst);
        let found = (0..LINGER).any(|_| {
            std::hint::spin_loop();
            scheduler.has_tasks()
        });
        scheduler.searching.fetch_sub(1, Ordering::SeqCst);
        if !found {
            self.company.set(0);
        }
        found
    }

    /// Waits in a turn of the reactor until there is something to do.
    fn park(&self) {
        let Some(seat) = self.seat.get() else { return };
        if self.linger() {
            return;
        }
        let scheduler = &self.scheduler;
        scheduler.sleepers.fall_asleep(seat);
        fence(Ordering::SeqCst);
        let anything_to_do =
            scheduler.has_tasks() || self.member.is_superseded() || scheduler.has_ended();
        if !anything_to_do {
            self.turn(None);
        }
        self.company.set(if scheduler.sleepers.wake_up(seat) {
            0
        } else {
            COMPANY.min(self.company.get() + 1)
        });
        // Whoever runs must be watched.
        scheduler.bell.ring_if_asleep();
        self.share();
    }

    /// Has another worker wake up, if there is more to do than one task. Only once this one's seat is marked awake, or it
    /// would wake itself.
    fn share(&self) {
        if self.queue.len() > 1 {
            self.scheduler.notify();
        }
    }

    /// Takes a turn of the reactor, unless somebody else has it.
    pub(super) fn turn(&self, limit: Option<Duration>) {
        let reactor = &self.seat().reactor;
        let Some(mut turn) = reactor.try_turn() else {
            return;
        };
        reactor.turn(&mut turn, limit);
    }
}
