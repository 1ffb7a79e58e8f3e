//! The readiness of one descriptor: a word that the reactor sets and tasks clear, and who waits for it.
//!
//! Registration is edge-triggered and happens once, so the kernel tells each change one time only. What is known is kept
//! here in one atomic word:
//!
//! ```text
//! 63        40 39        8 7    6    5     4     3      2      1      0
//! generation   tick       --   --   WAITW WAITR CLOSEDW CLOSEDR WRITE  READ
//! ```
//!
//! * READ, WRITE: an operation would not block, as far as is known. Set by an event; cleared by a task after EAGAIN or a
//!   short transfer, so that its next wait goes straight to the reactor.
//! * CLOSEDR, CLOSEDW: the peer is gone in that direction. A short transfer leaves them: no further edge would come. Only
//!   EAGAIN clears them, by which the kernel says that somebody is there again: a named pipe has a new writer or reader.
//! * WAITR, WAITW: somebody waits in that direction. Set after its waker is stored; an event clears it and wakes.
//! * tick: counts events. A task may clear READ or WRITE only if no event came since it looked, else it would wipe out the
//!   edge that came between its short read and the clearing, and wait for ever.
//! * generation: counts the lives of a slot, so that an event of a descriptor closed meanwhile is told from one of the
//!   descriptor that has the slot now.

use std::task::Waker;

use crate::shim::{AtomicU64, Mutex, Ordering};
use crate::waiters::Waiters;

const READ: u64 = 1 << 0;
const WRITE: u64 = 1 << 1;
const CLOSED_READ: u64 = 1 << 2;
const CLOSED_WRITE: u64 = 1 << 3;
const WAIT_READ: u64 = 1 << 4;
const WAIT_WRITE: u64 = 1 << 5;

const TICK_SHIFT: u32 = 8;
const TICK_MASK: u64 = 0xffff_ffff << TICK_SHIFT;
const GENERATION_SHIFT: u32 = 40;

/// Generations wrap here.
pub(super) const GENERATION_MASK: u32 = (1 << 24) - 1;

/// The way that bytes flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Direction {
    /// From the descriptor to the task: reading, accepting.
    Read,
    /// From the task to the descriptor: writing, connecting.
    Write,
}

impl Direction {
    fn ready(self) -> u64 {
        match self {
            Direction::Read => READ | CLOSED_READ,
            Direction::Write => WRITE | CLOSED_WRITE,
        }
    }

    fn clearable(self) -> u64 {
        match self {
            Direction::Read => READ,
            Direction::Write => WRITE,
        }
    }

    fn waiting(self) -> u64 {
        match self {
            Direction::Read => WAIT_READ,
            Direction::Write => WAIT_WRITE,
        }
    }
}

/// What an event of the kernel says of a descriptor.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Edge {
    pub(super) readable: bool,
    pub(super) writable: bool,
    pub(super) read_closed: bool,
    pub(super) write_closed: bool,
}

impl Edge {
    fn bits(self) -> u64 {
        let bit = |set: bool, bit: u64| if set { bit } else { 0 };
        bit(self.readable, READ)
            | bit(self.writable, WRITE)
            | bit(self.read_closed, CLOSED_READ)
            | bit(self.write_closed, CLOSED_WRITE)
    }
}

/// What a task saw before it tried; it may clear only what has not changed since.
#[derive(Clone, Copy)]
pub(super) struct Seen(u64);

/// One descriptor's readiness and waiters. Slots live as long as their reactor and are used again and again.
#[derive(Debug)]
pub(super) struct Source {
    state: AtomicU64,
    readers: Mutex<Waiters>,
    writers: Mutex<Waiters>,
}

impl Source {
    pub(super) fn new() -> Self {
        Self {
            state: AtomicU64::new(0),
            readers: Mutex::new(Waiters::default()),
            writers: Mutex::new(Waiters::default()),
        }
    }

    /// The life that the slot is in.
    pub(super) fn generation(&self) -> u32 {
        (self.state.load(Ordering::Relaxed) >> GENERATION_SHIFT) as u32
    }

    pub(super) fn seen(&self) -> Seen {
        Seen(self.state.load(Ordering::Acquire))
    }

    pub(super) fn is_ready(&self, direction: Direction) -> bool {
        self.seen().0 & direction.ready() != 0
    }

    /// Whether the peer is known to be gone in that direction.
    #[cfg(all(feature = "io-uring", target_os = "linux"))]
    pub(super) fn ends(&self, direction: Direction) -> bool {
        self.seen().0 & direction.ready() & !direction.clearable() != 0
    }

    /// After a short transfer: forgets that the direction is ready, unless an event came since `seen`.
    pub(super) fn clear(&self, direction: Direction, seen: Seen) {
        self.clear_bits(direction.clearable(), seen);
    }

    /// After EAGAIN: as [`clear`](Self::clear), and the direction is not closed either.
    pub(super) fn clear_blocked(&self, direction: Direction, seen: Seen) {
        self.clear_bits(direction.ready(), seen);
    }

    fn clear_bits(&self, bits: u64, seen: Seen) {
        let mut state = seen.0;
        // Others may set or clear their own bits meanwhile; only a new tick (or a new life) calls it off.
        while state >> TICK_SHIFT == seen.0 >> TICK_SHIFT {
            let cleared = state & !bits;
            let exchange =
                self.state
                    .compare_exchange(state, cleared, Ordering::AcqRel, Ordering::Acquire);
            match exchange {
                Ok(_) => return,
                Err(actual) => state = actual,
            }
        }
    }

    /// Has `waker` woken when the direction becomes ready; true if it already is.
    #[inline]
    pub(super) fn wait(&self, direction: Direction, waker: &Waker) -> bool {
        self.is_ready(direction) || self.enlist(direction, waker)
    }

    /// Has `waker` woken; true if the direction has become ready meanwhile.
    fn enlist(&self, direction: Direction, waker: &Waker) -> bool {
        self.waiters(direction).lock().add(waker);
        // The waker is stored before the bit is set; an event sets readiness before it looks at the bit. So either the
        // event sees the bit and wakes, or the exchange fails and we see the event.
        let mut state = self.state.load(Ordering::Acquire);
        loop {
            if state & direction.ready() != 0 {
                return true;
            }
            let waiting = state | direction.waiting();
            let exchange =
                self.state
                    .compare_exchange(state, waiting, Ordering::AcqRel, Ordering::Acquire);
            match exchange {
                Ok(_) => return false,
                Err(actual) => state = actual,
            }
        }
    }

    /// Takes an event in and wakes who waits for it. Events of an earlier life are ignored.
    pub(super) fn dispatch(&self, generation: u32, edge: Edge) {
        let mut state = self.state.load(Ordering::Acquire);
        let awaited = loop {
            if (state >> GENERATION_SHIFT) as u32 != generation {
                return;
            }
            let ready = state | edge.bits();
            let mut awaited = 0;
            for direction in [Direction::Read, Direction::Write] {
                if ready & direction.ready() != 0 {
                    awaited |= state & direction.waiting();
                }
            }
            let tick = state.wrapping_add(1 << TICK_SHIFT) & TICK_MASK;
            let next = (ready & !TICK_MASK & !awaited) | tick;
            let exchange =
                self.state
                    .compare_exchange(state, next, Ordering::AcqRel, Ordering::Acquire);
            match exchange {
                Ok(_) => break awaited,
                Err(actual) => state = actual,
            }
        };
        for direction in [Direction::Read, Direction::Write] {
            if awaited & direction.waiting() != 0 {
                self.wake(direction);
            }
        }
    }

    /// Wakes who waits in a direction, whether or not it is ready.
    pub(super) fn wake(&self, direction: Direction) {
        let waiters = self.waiters(direction).lock().take();
        waiters.wake_all();
    }

    /// Ends this life of the slot: what it knew is forgotten, its wakers are dropped.
    pub(super) fn retire(&self) {
        let next = self.generation().wrapping_add(1) & GENERATION_MASK;
        self.state
            .store(u64::from(next) << GENERATION_SHIFT, Ordering::Release);
        for direction in [Direction::Read, Direction::Write] {
            let waiters = self.waiters(direction).lock().take();
            drop(waiters); // after the lock: dropping a waker may drop a task
        }
    }

    fn waiters(&self, direction: Direction) -> &Mutex<Waiters> {
        match direction {
            Direction::Read => &self.readers,
            Direction::Write => &self.writers,
        }
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::task::Wake;

    use super::*;

    #[derive(Default)]
    struct Count(AtomicUsize);

    impl Wake for Count {
        fn wake(self: Arc<Self>) {
            self.0.fetch_add(1, Ordering::Relaxed);
        }
    }

    fn readable() -> Edge {
        Edge {
            readable: true,
            ..Edge::default()
        }
    }

    #[test]
    fn an_event_wakes_only_who_waits_in_its_direction() {
        let (source, reader, writer) = (
            Source::new(),
            Arc::new(Count::default()),
            Arc::new(Count::default()),
        );
        assert!(!source.wait(Direction::Read, &reader.clone().into()));
        assert!(!source.wait(Direction::Write, &writer.clone().into()));
        source.dispatch(0, readable());
        assert_eq!(reader.0.load(Ordering::Relaxed), 1);
        assert_eq!(writer.0.load(Ordering::Relaxed), 0);
        source.dispatch(0, readable());
        assert_eq!(reader.0.load(Ordering::Relaxed), 1, "nobody waits any more");
    }

    #[test]
    fn clearing_is_called_off_by_an_event_in_between() {
        let source = Source::new();
        source.dispatch(0, readable());
        let seen = source.seen();
        source.dispatch(0, readable());
        source.clear(Direction::Read, seen);
        assert!(source.is_ready(Direction::Read));
        source.clear(Direction::Read, source.seen());
        assert!(!source.is_ready(Direction::Read));
    }

    #[test]
    fn a_closed_direction_stays_ready() {
        let source = Source::new();
        source.dispatch(
            0,
            Edge {
                readable: true,
                read_closed: true,
                ..Edge::default()
            },
        );
        source.clear(Direction::Read, source.seen());
        assert!(source.is_ready(Direction::Read));
        assert!(!source.is_ready(Direction::Write));
        source.clear_blocked(Direction::Read, source.seen());
        assert!(
            !source.is_ready(Direction::Read),
            "until the kernel says otherwise"
        );
    }

    #[test]
    fn an_event_of_an_earlier_life_is_ignored() {
        let source = Source::new();
        let before = source.generation();
        source.retire();
        source.dispatch(before, readable());
        assert!(!source.is_ready(Direction::Read));
        source.dispatch(source.generation(), readable());
        assert!(source.is_ready(Direction::Read));
    }

    #[test]
    fn the_tick_wraps_without_touching_its_neighbours() {
        let source = Source::new();
        source.retire();
        source.state.fetch_or(TICK_MASK, Ordering::Relaxed);
        let generation = source.generation();
        source.dispatch(generation, readable());
        assert_eq!(source.generation(), generation);
        assert!(source.is_ready(Direction::Read));
    }

    #[test]
    fn all_waiters_of_a_direction_are_woken() {
        let source = Source::new();
        let tasks: Vec<_> = (0..3).map(|_| Arc::new(Count::default())).collect();
        for task in &tasks {
            source.wait(Direction::Read, &task.clone().into());
        }
        source.dispatch(0, readable());
        assert!(tasks.iter().all(|task| task.0.load(Ordering::Relaxed) == 1));
    }
}

#[cfg(all(test, loom))]
mod model {
    use std::sync::Arc as StdArc;
    use std::task::Wake;

    use loom::sync::Arc;
    use loom::sync::atomic::{AtomicBool, Ordering};
    use loom::thread;

    use super::*;

    struct Flag(AtomicBool);

    impl Wake for Flag {
        fn wake(self: StdArc<Self>) {
            self.0.store(true, Ordering::SeqCst);
        }
    }

    /// No interleaving of a wait and an event loses the wake-up.
    #[test]
    fn a_wait_beside_an_event_is_woken_or_sees_it() {
        loom::model(|| {
            let source = Arc::new(Source::new());
            let flag = StdArc::new(Flag(AtomicBool::new(false)));
            let event = thread::spawn({
                let source = source.clone();
                move || {
                    source.dispatch(
                        0,
                        Edge {
                            readable: true,
                            ..Edge::default()
                        },
                    )
                }
            });
            let ready = source.wait(Direction::Read, &flag.clone().into());
            event.join().unwrap();
            assert!(ready || flag.0.load(Ordering::SeqCst));
        });
    }

    /// A short read clears readiness; an edge that comes at the same time must survive or wake.
    #[test]
    fn clear_then_wait_beside_an_event_loses_nothing() {
        loom::model(|| {
            let source = Arc::new(Source::new());
            source.dispatch(
                0,
                Edge {
                    readable: true,
                    ..Edge::default()
                },
            );
            let flag = StdArc::new(Flag(AtomicBool::new(false)));
            let seen = source.seen();
            let event = thread::spawn({
                let source = source.clone();
                move || {
                    source.dispatch(
                        0,
                        Edge {
                            readable: true,
                            ..Edge::default()
                        },
                    )
                }
            });
            source.clear(Direction::Read, seen);
            let ready = source.wait(Direction::Read, &flag.clone().into());
            event.join().unwrap();
            assert!(ready || flag.0.load(Ordering::SeqCst));
        });
    }

    /// Two directions at once do not disturb each other.
    #[test]
    fn reader_and_writer_are_both_woken() {
        loom::model(|| {
            let source = Arc::new(Source::new());
            let flag = StdArc::new(Flag(AtomicBool::new(false)));
            let writer = thread::spawn({
                let source = source.clone();
                move || {
                    let flag = StdArc::new(Flag(AtomicBool::new(false)));
                    let ready = source.wait(Direction::Write, &flag.clone().into());
                    (ready, flag)
                }
            });
            let ready = source.wait(Direction::Read, &flag.clone().into());
            source.dispatch(
                0,
                Edge {
                    readable: true,
                    writable: true,
                    ..Edge::default()
                },
            );
            let (writer_ready, writer_flag) = writer.join().unwrap();
            assert!(ready || flag.0.load(Ordering::SeqCst));
            assert!(writer_ready || writer_flag.0.load(Ordering::SeqCst));
        });
    }
}
