//! Models of a hand-off, on the scheduler's own code: what a hog wakes meanwhile, and two who hand off the same seat.
//!
//! Run queues are not of the model checker's kind: in its eyes each operation on one happens at once.

use std::panic::Location;
use std::sync::Arc;

use loom::thread;

use super::standby::{Assignment, Verdict};
use super::{Member, Scheduler, Worker};
use crate::context::{self, Context};
use crate::reactor::Io;
use crate::task::{self, Runnable};

/// A task of a runtime.
pub(super) fn runnable(scheduler: &Arc<Scheduler>) -> Runnable {
    let _entered = context::enter(Context::BlockOn(scheduler.clone()));
    task::prepare(None, async {}, Location::caller()).0
}

/// A runtime of one seat. The first worker holds it and is in a poll, the second one waits on standby.
fn hog_and_standby() -> (Arc<Scheduler>, Worker, Worker) {
    let scheduler = Arc::new(Scheduler::new(1, 2, Io::Epoll).unwrap());
    let hog = Worker::in_a_poll(scheduler.clone(), 0);
    let standby = Worker::new(scheduler.clone(), scheduler.members.claim().unwrap());
    scheduler.standbys.add(standby.member());
    (scheduler, hog, standby)
}

/// What the watchdog does.
fn hand_off(scheduler: &Arc<Scheduler>, hog: &Arc<Member>) -> bool {
    scheduler.hand_off(0, hog, Verdict::Asleep, false)
}

fn assignment(worker: &Worker) -> Option<Assignment> {
    worker.member().desk.lock().take()
}

/// A task that a hog wakes while its seat is handed off ends where somebody runs it.
fn wake_beside_hand_off(slot_is_full: bool) {
    loom::model(move || {
        let (scheduler, hog, standby) = hog_and_standby();
        let woken = 1 + usize::from(slot_is_full);
        if slot_is_full {
            hog.push(runnable(&scheduler), false);
        }
        let member = hog.member().clone();
        let task = runnable(&scheduler);
        let hog = thread::spawn(move || {
            hog.push(task, false);
            hog
        });
        assert!(hand_off(&scheduler, &member));
        standby.sit_down(assignment(&standby).unwrap());
        let hog = hog.join().unwrap();
        let mut ready = Vec::new();
        standby.take_ready(&mut ready);
        assert_eq!(ready.len(), woken);
        assert!(!hog.member().has_tasks());
    });
}

#[test]
fn what_a_hog_puts_in_its_empty_slot_is_found() {
    wake_beside_hand_off(false);
}

#[test]
fn what_a_hog_puts_in_its_queue_is_found() {
    wake_beside_hand_off(true);
}

/// The watchdog hands a seat off at the moment that its holder does so itself, and is back: one of them gives it away.
#[test]
fn a_seat_is_handed_off_once() {
    loom::model(|| {
        let (scheduler, hog, standby) = hog_and_standby();
        let second = Worker::new(scheduler.clone(), scheduler.members.claim().unwrap());
        scheduler.standbys.add(second.member());
        let member = hog.member().clone();
        let itself = thread::spawn(move || {
            let handed = hog.hand_off_before_blocking();
            if handed {
                hog.scheduler().come_back(hog.member());
            }
            handed
        });
        let watchdog = hand_off(&scheduler, &member);
        let itself = itself.join().unwrap();
        assert!(watchdog ^ itself);
        let seated = [&standby, &second].into_iter().filter_map(assignment);
        assert_eq!(seated.count(), 1);
        let census = scheduler.standbys.census();
        assert_eq!((census.asleep, census.waiting), (usize::from(watchdog), 1));
    });
}
