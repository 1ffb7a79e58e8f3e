//! Whose turn it is on a connection: the load's, to send, or the server's, to answer. No I/O, no clock.

use std::time::{Duration, Instant};

/// How a connection is used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Manner {
    /// Requests that may wait for their answers at the same time.
    pub(crate) in_flight: usize,
    /// Requests that are sent at once. Before the next are sent, all of them are answered.
    pub(crate) burst: Option<usize>,
    /// Requests of a session, after which the connection is closed.
    pub(crate) session: Option<u64>,
    /// The pause between answers and the next request, or burst.
    pub(crate) think: Duration,
}

/// The arrivals of an open loop, since its beginning.
pub(crate) type Arrivals = Box<dyn Iterator<Item = Duration> + Send>;

/// What the load does next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Turn {
    /// Send a request, which was due then.
    Send(Instant),
    /// Nothing until then.
    Wait(Instant),
    /// Nothing until an answer comes.
    Listen,
    /// Close the connection; there will be another.
    Close,
    /// There is nothing left to be sent.
    End,
}

/// The state of one connection's place, which outlives the connections that take it one after the other.
pub(crate) struct Turns {
    manner: Manner,
    schedule: Option<Arrivals>,
    begin: Instant,
    /// When the next arrival is due, once it is known; `None` within: there is none any more.
    arrival: Option<Option<Instant>>,
    outstanding: usize,
    /// What is left to be sent of a burst that was due then.
    burst: Option<(usize, Instant)>,
    /// What is left of the session that has begun.
    session: Option<u64>,
    /// The pause ends then.
    pause: Option<Instant>,
}

impl Turns {
    pub(crate) fn new(manner: Manner, schedule: Option<Arrivals>, begin: Instant) -> Self {
        Self {
            manner,
            schedule,
            begin,
            arrival: None,
            outstanding: 0,
            burst: None,
            session: None,
            pause: None,
        }
    }

    /// Requests that wait for their answers.
    pub(crate) fn outstanding(&self) -> usize {
        self.outstanding
    }

    /// What to do now. A request that it says to send counts as sent.
    pub(crate) fn next(&mut self, now: Instant) -> Turn {
        if let Some((left, due)) = self.burst {
            self.burst = (left > 1).then_some((left - 1, due));
            return self.send(due);
        }
        let is_full = match self.manner.burst {
            Some(_) => self.outstanding > 0,
            None => self.outstanding >= self.manner.in_flight,
        };
        if is_full {
            return Turn::Listen;
        }
        if self.session == Some(0) {
            if self.outstanding > 0 {
                return Turn::Listen;
            }
            self.session = None;
            self.pause = None;
            return Turn::Close;
        }
        let due = match self.due(now) {
            Some(due) if due > now => return Turn::Wait(due),
            Some(due) => due,
            None if self.outstanding > 0 => return Turn::Listen,
            None => return Turn::End,
        };
        self.arrival = None;
        self.pause = None;
        if self.session.is_none() {
            self.session = self.manner.session;
        }
        let size = self.manner.burst.unwrap_or(1) as u64;
        let size = size.min(self.session.unwrap_or(u64::MAX)) as usize;
        self.burst = (size > 1).then_some((size - 1, due));
        self.send(due)
    }

    /// The request that was just to be sent is not.
    pub(crate) fn unsend(&mut self) {
        self.outstanding -= 1;
    }

    /// A request has been answered, or has failed.
    pub(crate) fn answered(&mut self, now: Instant) {
        self.outstanding -= 1;
        if !self.manner.think.is_zero() && (self.outstanding == 0 || self.manner.burst.is_none()) {
            self.pause = Some(now + self.manner.think);
        }
    }

    /// The connection is lost, and what was outstanding with it: how many these are.
    pub(crate) fn lost(&mut self) -> usize {
        self.burst = None;
        self.session = None;
        self.pause = None;
        std::mem::take(&mut self.outstanding)
    }

    /// How many arrivals were due before `now` that were not sent.
    pub(crate) fn overdue(mut self, now: Instant) -> u64 {
        let next = self.arrival.take().flatten().filter(|at| *at <= now);
        let begin = self.begin;
        let rest = self.schedule.take().into_iter().flatten();
        let rest = rest.take_while(|due| begin + *due <= now).count() as u64;
        u64::from(next.is_some()) + rest
    }

    fn send(&mut self, due: Instant) -> Turn {
        self.outstanding += 1;
        if let Some(left) = &mut self.session {
            *left -= 1;
        }
        Turn::Send(due)
    }

    /// When the next request, or burst, is due; `None` if there is none.
    pub(crate) fn due(&mut self, now: Instant) -> Option<Instant> {
        let pause = self.pause.unwrap_or(now);
        match &mut self.schedule {
            // Within a session its own pauses hold.
            Some(schedule) if self.session.is_none() => {
                let begin = self.begin;
                let next = || schedule.next().map(|due| begin + due);
                *self.arrival.get_or_insert_with(next)
            }
            _ => Some(pause),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PLAIN: Manner = Manner {
        in_flight: 1,
        burst: None,
        session: None,
        think: Duration::ZERO,
    };
    const MS: Duration = Duration::from_millis(1);

    fn open(manner: Manner, rate: f64, begin: Instant) -> Turns {
        let arrivals = (0..).map(move |count| Duration::from_secs_f64(f64::from(count) / rate));
        let within = arrivals.take_while(|due| due.as_secs() < 1);
        Turns::new(manner, Some(Box::new(within)), begin)
    }

    #[test]
    fn a_closed_loop_sends_when_it_was_answered() {
        let now = Instant::now();
        let mut turns = Turns::new(
            Manner {
                in_flight: 2,
                ..PLAIN
            },
            None,
            now,
        );
        assert_eq!(turns.next(now), Turn::Send(now));
        assert_eq!(turns.next(now), Turn::Send(now));
        assert_eq!(turns.next(now), Turn::Listen);
        turns.answered(now + MS);
        assert_eq!(turns.next(now + MS), Turn::Send(now + MS));
        assert_eq!(turns.outstanding(), 2);
    }

    #[test]
    fn a_burst_waits_for_all_of_the_last_and_then_thinks() {
        let now = Instant::now();
        let manner = Manner {
            burst: Some(3),
            think: 5 * MS,
            ..PLAIN
        };
        let mut turns = Turns::new(manner, None, now);
        for _ in 0..3 {
            assert_eq!(turns.next(now), Turn::Send(now));
        }
        for _ in 0..3 {
            assert_eq!(turns.next(now), Turn::Listen);
            turns.answered(now + MS);
        }
        assert_eq!(turns.next(now + MS), Turn::Wait(now + 6 * MS));
        assert_eq!(turns.next(now + 7 * MS), Turn::Send(now + 6 * MS));
    }

    #[test]
    fn an_open_loop_is_due_by_the_clock_however_late_the_answer() {
        let begin = Instant::now();
        let mut turns = open(PLAIN, 100.0, begin);
        assert_eq!(turns.next(begin), Turn::Send(begin));
        assert_eq!(turns.next(begin + 35 * MS), Turn::Listen);
        turns.answered(begin + 35 * MS);
        for due in [10, 20, 30] {
            assert_eq!(turns.next(begin + 35 * MS), Turn::Send(begin + due * MS));
            turns.answered(begin + 35 * MS);
        }
        assert_eq!(turns.next(begin + 35 * MS), Turn::Wait(begin + 40 * MS));
        assert_eq!(turns.overdue(begin + 100 * MS), 7);
    }

    #[test]
    fn the_end_comes_with_that_of_the_schedule() {
        let begin = Instant::now();
        let mut turns = open(PLAIN, 2.0, begin);
        let late = begin + 900 * MS;
        assert_eq!(turns.next(late), Turn::Send(begin));
        turns.answered(late);
        assert_eq!(turns.next(late), Turn::Send(begin + 500 * MS));
        assert_eq!(turns.next(late), Turn::Listen);
        turns.answered(late);
        assert_eq!(turns.next(late), Turn::End);
    }

    #[test]
    fn a_session_closes_its_connection_and_the_next_one_begins() {
        let now = Instant::now();
        let manner = Manner {
            session: Some(2),
            think: MS,
            ..PLAIN
        };
        let mut turns = Turns::new(manner, None, now);
        for _ in 0..2 {
            assert_eq!(turns.next(now), Turn::Send(now));
            turns.answered(now);
            assert_eq!(turns.next(now), Turn::Wait(now + MS));
            assert_eq!(turns.next(now + MS), Turn::Send(now + MS));
            turns.answered(now + MS);
            assert_eq!(turns.next(now + MS), Turn::Close);
        }
    }

    #[test]
    fn arrivals_of_an_open_loop_are_those_of_sessions() {
        let begin = Instant::now();
        let manner = Manner {
            session: Some(2),
            think: MS,
            ..PLAIN
        };
        let mut turns = open(manner, 10.0, begin);
        assert_eq!(turns.next(begin), Turn::Send(begin));
        turns.answered(begin);
        assert_eq!(turns.next(begin), Turn::Wait(begin + MS));
        assert_eq!(turns.next(begin + MS), Turn::Send(begin + MS));
        turns.answered(begin + MS);
        assert_eq!(turns.next(begin + MS), Turn::Close);
        assert_eq!(turns.next(begin + MS), Turn::Wait(begin + 100 * MS));
    }

    #[test]
    fn what_a_lost_connection_had_is_counted_once() {
        let now = Instant::now();
        let mut turns = Turns::new(
            Manner {
                burst: Some(4),
                ..PLAIN
            },
            None,
            now,
        );
        turns.next(now);
        turns.next(now);
        assert_eq!(turns.lost(), 2);
        assert_eq!(turns.lost(), 0);
        for _ in 0..4 {
            assert_eq!(turns.next(now), Turn::Send(now));
        }
        assert_eq!(turns.next(now), Turn::Listen);
    }
}
