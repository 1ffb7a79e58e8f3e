//! The watchdog's decision, without threads and clocks: samples in, actions out.

use std::time::Duration;

use super::kernel::Thread;
use crate::scheduler::Verdict;

/// What the watchdog keeps to.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limits {
    /// How long one poll may take before it is suspect, at the least: see [`Slice`].
    pub(crate) slice: Duration,
    /// How many threads may be stuck asleep.
    pub(crate) asleep: usize,
    /// How many threads may be stuck computing.
    pub(crate) computing: usize,
}

/// How many threads are stuck at present, their seats handed off.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Busy {
    pub(super) asleep: usize,
    pub(super) computing: usize,
}

/// A look at one seat.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sample {
    pub(super) seat: usize,
    /// The thread that holds it.
    pub(super) member: usize,
    /// How many polls that thread has begun.
    pub(super) polls: u64,
    /// The thread is not parked.
    pub(super) awake: bool,
    /// Something waits for this seat: a task, or what the reactor may bring.
    pub(super) waiting: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Action {
    /// Give the seat to a standby.
    HandOff {
        seat: usize,
        member: usize,
        verdict: Verdict,
    },
    /// It should be handed off, but there are as many extra threads as there may be.
    AtCap { member: usize, verdict: Verdict },
}

#[derive(Debug, Default)]
pub(super) struct Outcome {
    pub(super) actions: Vec<Action>,
    /// When to look again; not until somebody wakes up, if `None`.
    pub(super) next: Option<Duration>,
}

/// The slice, as it adapts. A hand-off is wasted if the hog is back at once: then tasks are of the kind that take about a
/// slice, and the slice grows. While none is wasted it shrinks again.
#[derive(Clone, Copy, Debug)]
pub(super) struct Slice {
    least: Duration,
    now: Duration,
    changed: Duration,
}

impl Slice {
    /// It grows to this many times its least.
    const MOST: u32 = 4;
    /// So long it stands before it shrinks.
    const STANDS: Duration = Duration::from_secs(1);

    fn new(least: Duration) -> Self {
        Self {
            least,
            now: least,
            changed: Duration::ZERO,
        }
    }

    /// Takes in how many hand-offs turned out to be wasted since the last time.
    fn adapt(&mut self, now: Duration, wasted: u64) {
        if wasted > 0 {
            self.now = (self.now * 5 / 4).min(self.least * Self::MOST);
            self.changed = now;
        } else if self.now > self.least && now.saturating_sub(self.changed) >= Self::STANDS {
            self.now = (self.now * 4 / 5).max(self.least);
            self.changed = now;
        }
    }
}

/// Remembers what each seat did when it was last looked at.
pub(super) struct Decider {
    limits: Limits,
    slice: Slice,
    seats: Vec<History>,
}

#[derive(Clone, Copy, Default)]
struct History {
    /// The thread and its poll, while it is awake.
    poll: Option<(usize, u64)>,
    /// When the poll was first seen to last, and what the kernel said then.
    suspect: Option<(Duration, Thread)>,
}

impl Decider {
    pub(super) fn new(limits: Limits, seats: usize) -> Self {
        Self {
            limits,
            slice: Slice::new(limits.slice),
            seats: vec![History::default(); seats],
        }
    }

    /// The slice that holds at present.
    pub(super) fn slice(&self) -> Duration {
        self.slice.now
    }

    /// Takes in how many hand-offs turned out to be wasted since the last look.
    pub(super) fn learn(&mut self, now: Duration, wasted: u64) {
        self.slice.adapt(now, wasted);
    }

    /// Decides what to do about `samples`, taken at `now`. `ask` tells what the kernel knows of a member.
    ///
    /// The first sample of a poll makes it known, the second makes it suspect, the third, half a slice later, settles it.
    pub(super) fn decide(
        &mut self,
        now: Duration,
        samples: &[Sample],
        mut busy: Busy,
        mut ask: impl FnMut(usize) -> Option<Thread>,
    ) -> Outcome {
        let slice = self.slice.now;
        let mut outcome = Outcome::default();
        let mut look_again = |after: Duration| {
            outcome.next = Some(outcome.next.map_or(after, |next| next.min(after)));
        };
        for sample in samples {
            let history = &mut self.seats[sample.seat];
            let poll = (sample.member, sample.polls);
            let before = history.poll;
            if !sample.awake {
                // If it has run since the last look, it may soon again: look once more before going to sleep.
                if before.is_some() {
                    look_again(slice);
                }
                *history = History::default();
                continue;
            }
            if before != Some(poll) {
                look_again(slice);
                *history = History {
                    poll: Some(poll),
                    suspect: None,
                };
                continue;
            }
            let Some(thread) = ask(sample.member) else {
                look_again(slice);
                continue;
            };
            let Some((since, then)) = history.suspect else {
                look_again(slice / 2);
                history.suspect = Some((now, thread));
                continue;
            };
            look_again(slice);
            let Some(verdict) = judge(now.saturating_sub(since), then, thread, slice) else {
                continue;
            };
            if !sample.waiting {
                continue;
            }
            let (count, cap) = match verdict {
                Verdict::Computing => (&mut busy.computing, self.limits.computing),
                Verdict::Asleep => (&mut busy.asleep, self.limits.asleep),
            };
            let member = sample.member;
            outcome.actions.push(if *count < cap {
                *count += 1;
                Action::HandOff {
                    seat: sample.seat,
                    member,
                    verdict,
                }
            } else {
                Action::AtCap { member, verdict }
            });
        }
        outcome
    }
}

/// What holds a suspect up. `None`: it only lost its CPU to somebody else, and will go on when it gets it back.
fn judge(elapsed: Duration, then: Thread, now: Thread, slice: Duration) -> Option<Verdict> {
    let used = now.cpu.saturating_sub(then.cpu);
    if used >= elapsed / 10 || used >= slice {
        Some(Verdict::Computing)
    } else if now.runnable {
        None
    } else {
        Some(Verdict::Asleep)
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const MS: Duration = Duration::from_millis(1);
    const LIMITS: Limits = Limits {
        slice: MS,
        asleep: 2,
        computing: 1,
    };

    fn busy_seat(polls: u64) -> Sample {
        Sample {
            seat: 0,
            member: 0,
            polls,
            awake: true,
            waiting: true,
        }
    }

    /// Steps a decider over one seat whose thread uses CPU as told.
    fn run(samples: &[Sample], cpu_share: u32, runnable: bool) -> Vec<Vec<Action>> {
        let mut decider = Decider::new(LIMITS, 1);
        let mut now = Duration::ZERO;
        let step = |sample: &Sample| {
            now += MS;
            let cpu = now * cpu_share / 100;
            let ask = |_| Some(Thread { cpu, runnable });
            decider
                .decide(now, std::slice::from_ref(sample), Busy::default(), ask)
                .actions
        };
        samples.iter().map(step).collect()
    }

    #[test]
    fn a_computing_hog_is_handed_off_at_the_third_sample() {
        let actions = run(&[busy_seat(1); 3], 100, true);
        let hand_off = Action::HandOff {
            seat: 0,
            member: 0,
            verdict: Verdict::Computing,
        };
        assert_eq!(actions, [vec![], vec![], vec![hand_off]]);
    }

    #[test]
    fn a_sleeping_hog_is_told_from_a_computing_one() {
        let actions = run(&[busy_seat(1); 3], 0, false);
        let hand_off = Action::HandOff {
            seat: 0,
            member: 0,
            verdict: Verdict::Asleep,
        };
        assert_eq!(actions[2], [hand_off]);
    }

    #[test]
    fn a_worker_that_lost_its_cpu_is_left_alone() {
        assert!(run(&[busy_seat(1); 9], 0, true).concat().is_empty());
    }

    #[test]
    fn a_worker_that_gets_on_is_left_alone() {
        let samples: Vec<_> = (0..9).map(busy_seat).collect();
        assert!(run(&samples, 100, true).concat().is_empty());
    }

    #[test]
    fn nothing_happens_while_nothing_waits() {
        let idle = Sample {
            waiting: false,
            ..busy_seat(1)
        };
        assert!(run(&[idle; 9], 100, true).concat().is_empty());
        let actions = run(&[idle, idle, idle, busy_seat(1)], 100, true);
        assert_eq!(
            actions[3].len(),
            1,
            "but it is known to be stuck when something comes"
        );
    }

    #[test]
    fn a_cap_is_kept() {
        let mut decider = Decider::new(LIMITS, 3);
        let samples: Vec<_> = (0..3)
            .map(|seat| Sample {
                seat,
                member: seat,
                ..busy_seat(1)
            })
            .collect();
        let mut actions = Vec::new();
        for ms in 1..4 {
            let ask = |_| {
                Some(Thread {
                    cpu: MS * ms,
                    runnable: true,
                })
            };
            actions = decider
                .decide(MS * ms, &samples, Busy::default(), ask)
                .actions;
        }
        let hand_offs = actions
            .iter()
            .filter(|action| matches!(action, Action::HandOff { .. }));
        assert_eq!((hand_offs.count(), actions.len()), (LIMITS.computing, 3));
    }

    #[test]
    fn all_parked_means_no_timer() {
        let parked = Sample {
            awake: false,
            ..busy_seat(1)
        };
        let mut decider = Decider::new(LIMITS, 1);
        let mut next = |sample| {
            decider
                .decide(MS, &[sample], Busy::default(), |_| None)
                .next
        };
        assert!(next(busy_seat(1)).is_some());
        assert!(
            next(parked).is_some(),
            "one more look, so that a busy server rings no bell"
        );
        assert!(next(parked).is_none());
    }

    #[test]
    fn the_slice_grows_with_wasted_hand_offs_and_shrinks_again() {
        let mut decider = Decider::new(LIMITS, 1);
        for ms in 1..100 {
            decider.learn(MS * ms, 1);
        }
        assert_eq!(decider.slice(), MS * Slice::MOST);
        decider.learn(MS * 200, 0);
        assert_eq!(decider.slice(), MS * Slice::MOST, "not at once");
        for second in 2..30 {
            decider.learn(MS * 1000 * second, 0);
        }
        assert_eq!(decider.slice(), MS);
    }

    proptest! {
        /// Whatever is seen: never a hand-off without a reason, never above a cap, always a next look while one is awake.
        #[test]
        fn keeps_its_promises(
            script in prop::collection::vec(
                (prop::collection::vec((0..3u64, any::<bool>(), any::<bool>(), any::<bool>()), 3), 0..3u64),
                1..60,
            ),
            asleep in 0..3usize,
            computing in 0..3usize,
        ) {
            let mut decider = Decider::new(LIMITS, 3);
            let mut last: Vec<Option<u64>> = vec![None; 3];
            let mut cpu = Duration::ZERO;
            for (step, (seats, used)) in script.into_iter().enumerate() {
                cpu += MS * used as u32;
                let samples: Vec<Sample> = seats.iter().enumerate()
                    .map(|(seat, &(polls, awake, waiting, _))| Sample { seat, member: seat, polls, awake, waiting })
                    .collect();
                let ask = |member: usize| Some(Thread { cpu, runnable: seats[member].3 });
                let outcome = decider.decide(MS * step as u32, &samples, Busy { asleep, computing }, ask);
                let (mut more_asleep, mut more_computing) = (0, 0);
                for action in outcome.actions {
                    let (Action::HandOff { member, verdict, .. } | Action::AtCap { member, verdict }) = action;
                    let sample = samples[member];
                    prop_assert!(sample.awake && sample.waiting);
                    prop_assert_eq!(last[member], Some(sample.polls), "it got on since the last look");
                    if matches!(action, Action::HandOff { .. }) {
                        match verdict {
                            Verdict::Asleep => more_asleep += 1,
                            Verdict::Computing => more_computing += 1,
                        }
                    }
                }
                prop_assert!(more_asleep == 0 || asleep + more_asleep <= LIMITS.asleep);
                prop_assert!(more_computing == 0 || computing + more_computing <= LIMITS.computing);
                prop_assert!(outcome.next.is_some() || samples.iter().all(|sample| !sample.awake));
                last = samples.iter().map(|sample| sample.awake.then_some(sample.polls)).collect();
            }
        }
    }
}
