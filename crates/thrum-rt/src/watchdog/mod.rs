//! The watchdog: an OS thread that notices a worker stuck in one poll, and has its seat handed off (DESIGN D2).
//!
//! It samples every seat once in a slice while some worker is awake, and sleeps without a timer while all are parked. What
//! it makes of the samples is a pure function, [`decide`]; what a suspect does in the kernel's eyes is asked for in
//! [`kernel`], only on the second stale sample.

mod bell;
mod decide;
mod kernel;

use std::collections::HashMap;
use std::io;
use std::panic::Location;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

pub(crate) use self::bell::Bell;
pub(crate) use self::decide::Limits;
use self::decide::{Action, Busy, Decider, Sample};
use crate::scheduler::{Scheduler, Verdict};
use crate::shim;

/// A cap that is reached is reported so often at most.
const REPORT_EVERY: Duration = Duration::from_secs(1);

/// A task stuck for so long is reported before it is back.
const STUCK: Duration = Duration::from_secs(1);

/// Starts the watchdog of a runtime. It ends with it.
pub(crate) fn start(scheduler: Arc<Scheduler>, limits: Limits) -> io::Result<JoinHandle<()>> {
    thread::Builder::new()
        .name("thrum-watchdog".into())
        .spawn(move || {
            scheduler.bell.belongs_to(shim::current());
            let decider = Decider::new(limits, scheduler.seats.len());
            Watchdog {
                scheduler,
                decider,
                wasted: 0,
                reported: HashMap::new(),
            }
            .run();
        })
}

struct Watchdog {
    scheduler: Arc<Scheduler>,
    decider: Decider,
    /// Wasted hand-offs that it knows of.
    wasted: u64,
    /// When a cap was last reported for each spawn site.
    reported: HashMap<Option<&'static Location<'static>>, Instant>,
}

impl Watchdog {
    fn run(mut self) {
        let started = Instant::now();
        while !self.scheduler.has_ended() {
            let samples = self.samples();
            let census = self.scheduler.standbys.census();
            let busy = Busy {
                asleep: census.asleep,
                computing: census.computing,
            };
            let ask = |member: usize| {
                let member = self.scheduler.members.get(member)?;
                kernel::ask(member.tid())
            };
            let now = started.elapsed();
            let outcome = self.decider.decide(now, &samples, busy, ask);
            self.learn(now);
            if census.asleep + census.computing > 0 {
                self.report_stuck();
            }
            for action in outcome.actions {
                self.act(action);
            }
            match outcome.next {
                Some(pause) => thread::park_timeout(pause.min(self.decider.slice())),
                None => self.sleep(),
            }
        }
    }

    fn samples(&self) -> Vec<Sample> {
        let scheduler = &self.scheduler;
        let sample = |(index, seat): (usize, &crate::scheduler::Seat)| {
            let member = scheduler.members.get(seat.holder()?)?;
            Some(Sample {
                seat: index,
                member: member.id,
                polls: member.activity.polls(),
                awake: !scheduler.is_asleep(index),
                waiting: member.has_tasks()
                    || scheduler.has_injected()
                    || seat.reactor.has_waiters(),
            })
        };
        scheduler
            .seats
            .iter()
            .enumerate()
            .filter_map(sample)
            .collect()
    }

    fn act(&mut self, action: Action) {
        match action {
            Action::HandOff {
                seat,
                member,
                verdict,
            } => {
                if let Some(stuck) = self.scheduler.members.get(member) {
                    self.scheduler.hand_off(seat, stuck, verdict, false);
                }
            }
            Action::AtCap { member, verdict } => self.report_cap(member, verdict),
        }
    }

    fn learn(&mut self, now: Duration) {
        let wasted = self.scheduler.counts.wasted.load(Ordering::Relaxed);
        self.decider.learn(now, wasted - self.wasted);
        self.wasted = wasted;
        let slice = self.decider.slice().as_micros() as u64;
        self.scheduler
            .counts
            .slice_us
            .store(slice, Ordering::Relaxed);
    }

    /// Says of those that have been stuck for long where they were spawned; they may never come back to say it.
    fn report_stuck(&self) {
        for member in self.scheduler.members.iter() {
            let Some(found) = member.found() else {
                continue;
            };
            let so_far = found.at.elapsed();
            if so_far >= STUCK
                && !found.announced
                && let Some(spawned_at) = found.spawned_at
            {
                self.scheduler
                    .hogs
                    .note_stuck(spawned_at, found.verdict, so_far);
            }
        }
    }

    fn report_cap(&mut self, member: usize, verdict: Verdict) {
        self.scheduler.counts.at_cap.fetch_add(1, Ordering::Relaxed);
        let spawned_at = self
            .scheduler
            .members
            .get(member)
            .and_then(|member| member.activity.spawned_at());
        let now = Instant::now();
        let recent = |at: &Instant| now.duration_since(*at) < REPORT_EVERY;
        if self.reported.get(&spawned_at).is_some_and(recent) {
            return;
        }
        self.reported.insert(spawned_at, now);
        let at = spawned_at.map(tracing::field::display);
        let cap = match verdict {
            Verdict::Computing => "max_computing",
            Verdict::Asleep => "max_asleep",
        };
        tracing::warn!(
            task = at,
            cap,
            "a task holds up its worker, and no more threads may stand in"
        );
    }

    /// Sleeps until a worker wakes up.
    fn sleep(&self) {
        let scheduler = &self.scheduler;
        let slept = scheduler.bell.sleep_if(|| {
            (0..scheduler.seats.len()).all(|seat| scheduler.is_asleep(seat))
                && !scheduler.has_ended()
        });
        if !slept {
            // Somebody just woke up, or a thread is on its way to a seat.
            thread::park_timeout(self.decider.slice());
        }
    }
}
