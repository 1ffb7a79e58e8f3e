//! Those who wait for one thing, in the order in which they came.

use std::collections::VecDeque;
use std::num::NonZeroU64;
use std::task::Waker;

/// A place in a [`Line`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Ticket(NonZeroU64);

/// A line of waiters. It lives under its primitive's lock, so wakers are handed out, to be woken or dropped after that:
/// they are somebody's code.
#[derive(Debug)]
pub(super) struct Line {
    /// Tickets grow from front to back, so a place is found by bisection.
    waiters: VecDeque<(Ticket, Waker)>,
    last: u64,
}

impl Line {
    pub(super) const fn new() -> Self {
        Self {
            waiters: VecDeque::new(),
            last: 0,
        }
    }

    pub(super) fn len(&self) -> usize {
        self.waiters.len()
    }

    pub(super) fn contains(&self, ticket: Ticket) -> bool {
        self.place(ticket).is_ok()
    }

    /// Whether nobody stands before the holder of `ticket`; without one, whether nobody stands here at all.
    pub(super) fn is_turn(&self, ticket: Option<Ticket>) -> bool {
        match self.waiters.front() {
            None => true,
            Some((first, _)) => Some(*first) == ticket,
        }
    }

    /// Has `waker` woken from now on: at the place there is, or else at a new one at the end. Returns what is to be
    /// dropped.
    #[must_use = "dropped when the lock is free"]
    pub(super) fn wait(&mut self, ticket: &mut Option<Ticket>, waker: &Waker) -> Option<Waker> {
        if let Some(place) = ticket.and_then(|ticket| self.place(ticket).ok()) {
            let (_, mine) = &mut self.waiters[place];
            let stays = mine.will_wake(waker);
            return (!stays).then(|| std::mem::replace(mine, waker.clone()));
        }
        self.last += 1; // not in a human's time will it wrap
        let new = Ticket(NonZeroU64::new(self.last).expect("one or more"));
        self.waiters.push_back((new, waker.clone()));
        *ticket = Some(new);
        None
    }

    /// Gives a place up. Returns its waker, to be dropped; `None` if there is no such place, or no more.
    #[must_use = "dropped when the lock is free"]
    pub(super) fn leave(&mut self, ticket: &mut Option<Ticket>) -> Option<Waker> {
        let place = self.place(ticket.take()?).ok()?;
        self.waiters.remove(place).map(|(_, waker)| waker)
    }

    /// The waker of the first, who keeps its place.
    pub(super) fn first(&self) -> Option<Waker> {
        self.waiters.front().map(|(_, waker)| waker.clone())
    }

    /// Takes the first out.
    pub(super) fn pop(&mut self) -> Option<(Ticket, Waker)> {
        self.waiters.pop_front()
    }

    /// Takes everyone out.
    pub(super) fn take(&mut self) -> Taken {
        Taken(std::mem::take(&mut self.waiters))
    }

    fn place(&self, ticket: Ticket) -> Result<usize, usize> {
        // Nearly always it is the first.
        match self.waiters.front() {
            Some((first, _)) if *first == ticket => Ok(0),
            _ => self
                .waiters
                .binary_search_by_key(&ticket, |(ticket, _)| *ticket),
        }
    }
}

/// Waiters taken out of their line.
#[must_use = "they are to be woken"]
pub(super) struct Taken(VecDeque<(Ticket, Waker)>);

impl Taken {
    /// Wakes all of them, when the lock is free.
    pub(super) fn wake(self) {
        for (_, waker) in self.0 {
            waker.wake();
        }
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn places_are_kept_and_given_up() {
        let mut line = Line::new();
        let mut tickets = [None; 3];
        for ticket in &mut tickets {
            assert!(line.wait(ticket, Waker::noop()).is_none());
        }
        assert!(line.is_turn(tickets[0]));
        assert!(!line.is_turn(tickets[1]));
        assert!(!line.is_turn(None));
        let middle = tickets[1].unwrap();
        assert!(line.leave(&mut tickets[1]).is_some());
        assert!(!line.contains(middle));
        assert!(line.leave(&mut tickets[1]).is_none());
        assert_eq!(line.pop().map(|(ticket, _)| ticket), tickets[0]);
        assert!(line.is_turn(tickets[2]));
        line.take().wake();
        assert_eq!(line.len(), 0);
        assert!(line.is_turn(None));
    }

    #[test]
    fn waiting_again_keeps_the_place() {
        let mut line = Line::new();
        let (mut first, mut second) = (None, None);
        let _ = line.wait(&mut first, Waker::noop());
        let _ = line.wait(&mut second, Waker::noop());
        let before = first;
        let _ = line.wait(&mut first, Waker::noop());
        assert_eq!(first, before);
        assert_eq!(line.len(), 2);
    }
}
