//! A hierarchical timer wheel: insert and cancel in constant time, a resolution of one millisecond.
//!
//! Six levels of 64 slots; a slot of level `l` covers 64^l ms. A timer sits at the level where its deadline first differs
//! from the present; when time reaches its slot it moves down, at the last level it fires. (Varghese and Lauck, "Hashed
//! and hierarchical timing wheels", 1987, scheme 6.) It knows no clock: the caller says what time it is.
//!
//! A deadline further away than 64^6 ms, two years, sits in the last slot and moves on from there.

use std::task::Waker;

use slab::Slab;

const LEVELS: usize = 6;
const SLOTS: usize = 64;
const SLOT_BITS: u32 = 6;
const SPAN: u64 = 1 << (SLOT_BITS * LEVELS as u32);

/// Names a timer until it has fired or was removed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TimerKey {
    index: u32,
    /// Tells a timer from the one that had its place before.
    serial: u32,
}

pub(super) struct Wheel {
    now: u64,
    entries: Slab<Entry>,
    levels: [Level; LEVELS],
    next_serial: u32,
}

struct Level {
    /// A bit for each slot that holds a timer.
    occupied: u64,
    /// The first entry of each slot.
    heads: [Link; SLOTS],
    /// No entry of the slot is due before this, while there is one. (The one that was may have been removed.)
    earliest: [u64; SLOTS],
}

/// A timer, in a doubly linked list of its slot.
struct Entry {
    at: u64,
    waker: Waker,
    serial: u32,
    place: Place,
    prev: Link,
    next: Link,
}

/// An entry's index, or none: half the size of an `Option`.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Link(u32);

impl Link {
    const NONE: Self = Self(u32::MAX);

    fn index(self) -> Option<usize> {
        (self != Self::NONE).then_some(self.0 as usize)
    }
}

#[derive(Clone, Copy)]
struct Place {
    level: u8,
    slot: u8,
}

impl Wheel {
    pub(super) fn new(now: u64) -> Self {
        Self {
            now,
            entries: Slab::new(),
            levels: std::array::from_fn(|_| Level {
                occupied: 0,
                heads: [Link::NONE; SLOTS],
                earliest: [0; SLOTS],
            }),
            next_serial: 0,
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Adds a timer; one that is due already fires at the next [`advance`](Self::advance).
    ///
    /// # Panics
    /// At 2^32 - 1 timers.
    pub(super) fn insert(&mut self, at: u64, waker: Waker) -> TimerKey {
        let serial = self.next_serial;
        self.next_serial = serial.wrapping_add(1);
        let place = self.place(at);
        let entry = Entry {
            at,
            waker,
            serial,
            place,
            prev: Link::NONE,
            next: Link::NONE,
        };
        let index = u32::try_from(self.entries.insert(entry))
            .ok()
            .filter(|&index| Link(index) != Link::NONE)
            .expect("fewer than 2^32 - 1 timers");
        self.link(index);
        TimerKey { index, serial }
    }

    /// Takes a timer out before it fires.
    pub(super) fn remove(&mut self, key: TimerKey) -> Option<Waker> {
        self.waker(key)?;
        self.unlink(key.index);
        Some(self.entries.remove(key.index as usize).waker)
    }

    /// The waker of a timer that has not fired.
    pub(super) fn waker(&mut self, key: TimerKey) -> Option<&mut Waker> {
        let entry = self.entries.get_mut(key.index as usize)?;
        (entry.serial == key.serial).then_some(&mut entry.waker)
    }

    /// When [`advance`](Self::advance) is to be called next: no timer is due before. Timers of the higher levels need not be
    /// moved down at the time: they are on the way, when the first of them is due.
    pub(super) fn next_ms(&self) -> Option<u64> {
        let (place, _) = self.next_slot()?;
        Some(self.levels[place.level as usize].earliest[place.slot as usize])
    }

    /// Moves time on and collects the wakers of the timers that are due.
    pub(super) fn advance(&mut self, now: u64, due: &mut Vec<Waker>) {
        while let Some((place, at)) = self.next_slot()
            && at <= now
        {
            self.now = self.now.max(at);
            let level = &mut self.levels[place.level as usize];
            level.occupied &= !(1 << place.slot);
            let head = &mut level.heads[place.slot as usize];
            let mut head = std::mem::replace(head, Link::NONE);
            while let Some(index) = head.index() {
                let entry = &mut self.entries[index];
                head = entry.next;
                if entry.at <= self.now {
                    due.push(self.entries.remove(index).waker);
                } else {
                    let place = self.place(self.entries[index].at);
                    self.entries[index].place = place;
                    self.link(index as u32);
                }
            }
        }
        self.now = self.now.max(now);
    }

    /// Empties the wheel.
    pub(super) fn take_all(&mut self) -> Vec<Waker> {
        let wakers = self.entries.drain().map(|entry| entry.waker).collect();
        *self = Self {
            next_serial: self.next_serial,
            ..Self::new(self.now)
        };
        wakers
    }

    /// A deadline that is past belongs to the coming millisecond, one that is too far away to the last there is.
    fn within_reach(&self, at: u64) -> u64 {
        at.clamp(self.now + 1, self.now + SPAN - 1)
    }

    /// Where a deadline belongs, seen from the present.
    fn place(&self, at: u64) -> Place {
        let at = self.within_reach(at);
        let differing = (at ^ self.now) | (SLOTS as u64 - 1);
        let level = ((63 - differing.leading_zeros()) / SLOT_BITS).min(LEVELS as u32 - 1);
        Place {
            level: level as u8,
            slot: (at >> (level * SLOT_BITS)) as u8 % SLOTS as u8,
        }
    }

    /// The next slot that time reaches, and when. All that a lower level holds comes before what the higher ones hold.
    fn next_slot(&self) -> Option<(Place, u64)> {
        let (index, level) = self
            .levels
            .iter()
            .enumerate()
            .find(|(_, level)| level.occupied != 0)?;
        let shift = index as u32 * SLOT_BITS;
        let present = (self.now >> shift) % SLOTS as u64;
        // The present slot itself can hold only what lies a whole turn ahead, so look from the one after it.
        let ahead = level
            .occupied
            .rotate_right(present as u32 + 1)
            .trailing_zeros() as u64
            + 1;
        let slot = (present + ahead) % SLOTS as u64;
        let at = ((self.now >> shift) + ahead) << shift;
        Some((
            Place {
                level: index as u8,
                slot: slot as u8,
            },
            at,
        ))
    }

    fn link(&mut self, index: u32) {
        let Entry { at, place, .. } = self.entries[index as usize];
        let at = self.within_reach(at);
        let Place { level, slot } = place;
        let level = &mut self.levels[level as usize];
        let head = std::mem::replace(&mut level.heads[slot as usize], Link(index));
        level.occupied |= 1 << slot;
        let earliest = &mut level.earliest[slot as usize];
        *earliest = match head {
            Link::NONE => at,
            _ => at.min(*earliest),
        };
        if let Some(head) = head.index() {
            self.entries[head].prev = Link(index);
        }
        let entry = &mut self.entries[index as usize];
        (entry.prev, entry.next) = (Link::NONE, head);
    }

    fn unlink(&mut self, index: u32) {
        let &Entry {
            place: Place { level, slot },
            prev,
            next,
            ..
        } = &self.entries[index as usize];
        if let Some(next) = next.index() {
            self.entries[next].prev = prev;
        }
        match prev.index() {
            Some(prev) => self.entries[prev].next = next,
            None => {
                let level = &mut self.levels[level as usize];
                level.heads[slot as usize] = next;
                if next == Link::NONE {
                    level.occupied &= !(1 << slot);
                }
            }
        }
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use std::collections::BTreeMap;
    use std::sync::Arc;
    use std::sync::Mutex;
    use std::task::Wake;

    use proptest::prelude::*;

    use super::*;

    /// Notes its name when woken.
    struct Named(u64, Arc<Mutex<Vec<u64>>>);

    impl Wake for Named {
        fn wake(self: Arc<Self>) {
            self.1.lock().unwrap().push(self.0);
        }
    }

    #[derive(Clone, Debug)]
    enum Step {
        Insert(u64),
        Remove(usize),
        Advance(u64),
    }

    fn steps() -> impl Strategy<Value = Vec<Step>> {
        let distance = prop_oneof![
            0..130u64,
            0..10_000u64,
            0..100_000_000u64,
            Just(SPAN),
            Just(u64::MAX / 2)
        ];
        let step = prop_oneof![
            3 => distance.clone().prop_map(Step::Insert),
            1 => any::<prop::sample::Index>().prop_map(|index| Step::Remove(index.index(64))),
            2 => distance.prop_map(|distance| Step::Advance(distance.min(SPAN * 2))),
        ];
        prop::collection::vec(step, 1..120)
    }

    proptest! {
        /// The wheel does what a sorted map does: never early, never late, never twice, never lost.
        #[test]
        fn behaves_as_a_sorted_map(start in 0..1u64 << 40, steps in steps()) {
            let fired = Arc::new(Mutex::new(Vec::new()));
            let mut wheel = Wheel::new(start);
            let mut now = start;
            let mut model: BTreeMap<u64, (u64, TimerKey)> = BTreeMap::new();
            for (name, step) in steps.into_iter().enumerate() {
                let name = name as u64;
                match step {
                    Step::Insert(distance) => {
                        let at = now.saturating_add(distance);
                        let waker = Arc::new(Named(name, fired.clone())).into();
                        model.insert(name, (at, wheel.insert(at, waker)));
                    }
                    Step::Remove(index) => {
                        if let Some((&name, &(_, key))) = model.iter().nth(index) {
                            prop_assert!(wheel.remove(key).is_some());
                            prop_assert!(wheel.remove(key).is_none());
                            model.remove(&name);
                        }
                    }
                    Step::Advance(distance) => {
                        now += distance.max(1);
                        let mut due = Vec::new();
                        wheel.advance(now, &mut due);
                        due.into_iter().for_each(Waker::wake);
                        let mut fired = std::mem::take(&mut *fired.lock().unwrap());
                        fired.sort_unstable();
                        let expected: Vec<u64> =
                            model.iter().filter(|(_, (at, _))| *at <= now).map(|(name, _)| *name).collect();
                        prop_assert_eq!(fired, expected);
                        model.retain(|_, (at, _)| *at > now);
                    }
                }
                let next = model.values().map(|(at, _)| *at).min();
                prop_assert_eq!(wheel.next_ms().is_some(), next.is_some());
                if let (Some(wheel), Some(next)) = (wheel.next_ms(), next) {
                    prop_assert!(wheel <= next.max(now + 1), "the wheel would sleep through a deadline");
                    prop_assert!(wheel > now);
                }
            }
        }
    }

    #[test]
    fn a_timer_alone_is_waited_for_once() {
        let mut wheel = Wheel::new(12_345);
        for distance in [1, 63, 64, 2_500, 60_000, 3_600_000, 400_000_000] {
            let at = wheel.now + distance;
            wheel.insert(at, Waker::noop().clone());
            assert_eq!(wheel.next_ms(), Some(at), "no wake-up on the way");
            let mut due = Vec::new();
            wheel.advance(at, &mut due);
            assert_eq!(due.len(), 1);
        }
    }

    #[test]
    fn a_key_of_a_fired_timer_names_nothing() {
        let mut wheel = Wheel::new(0);
        let key = wheel.insert(5, Waker::noop().clone());
        let mut due = Vec::new();
        wheel.advance(5, &mut due);
        assert_eq!(due.len(), 1);
        let other = wheel.insert(9, Waker::noop().clone());
        assert!(wheel.remove(key).is_none());
        assert!(wheel.remove(other).is_some());
    }
}
