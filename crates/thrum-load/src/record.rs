//! Noting what happens while it happens, at little cost: a recorder for each thread, merged when somebody asks.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use crate::{ErrorKind, Latency, Second};

/// Seconds that are told one by one; what comes later is noted with the last.
const MOST_SECONDS: usize = 24 * 60 * 60;

/// What was seen so far.
#[derive(Clone, Debug)]
pub(crate) struct Record {
    /// When it began to count: after the warm-up.
    begin: Instant,
    /// When it was to end, if that is known.
    end: Option<Instant>,
    /// Answers as expected, until the end.
    pub(crate) answered: u64,
    pub(crate) received_bytes: u64,
    pub(crate) sent_bytes: u64,
    pub(crate) statuses: BTreeMap<u16, u64>,
    pub(crate) errors: BTreeMap<ErrorKind, u64>,
    pub(crate) latency: Latency,
    pub(crate) service: Latency,
    pub(crate) first_byte: Latency,
    pub(crate) connect: Latency,
    pub(crate) tls: Latency,
    pub(crate) seconds: Vec<Second>,
    /// When the last answer came.
    pub(crate) last: Option<Instant>,
    pub(crate) unsent: u64,
}

/// A request's times.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Times {
    pub(crate) due: Instant,
    pub(crate) sent: Instant,
    pub(crate) first_byte: Instant,
    pub(crate) done: Instant,
}

impl Record {
    pub(crate) fn new(begin: Instant, end: Option<Instant>) -> Self {
        Self {
            begin,
            end,
            answered: 0,
            received_bytes: 0,
            sent_bytes: 0,
            statuses: BTreeMap::new(),
            errors: BTreeMap::new(),
            latency: Latency::new(),
            service: Latency::new(),
            first_byte: Latency::new(),
            connect: Latency::new(),
            tls: Latency::new(),
            seconds: Vec::new(),
            last: None,
            unsent: 0,
        }
    }

    /// An answer that is as expected, or not. Requests of the warm-up do not count.
    pub(crate) fn answer(
        &mut self,
        times: Times,
        status: Option<u16>,
        verdict: Result<(), ErrorKind>,
    ) {
        if times.due < self.begin {
            return;
        }
        if let Some(status) = status {
            *self.statuses.entry(status).or_default() += 1;
        }
        self.last = self.last.max(Some(times.done));
        if let Err(kind) = verdict {
            self.error(kind, times.done, 1);
            return;
        }
        let latency = times.done - times.due;
        self.latency.record(latency);
        self.service.record(times.done - times.sent);
        self.first_byte.record(times.first_byte - times.sent);
        let is_in_time = self.end.is_none_or(|end| times.done <= end);
        self.answered += u64::from(is_in_time);
        let second = self.second(times.done);
        second.answered += 1;
        second.latency.record(latency);
    }

    /// Requests that came to nothing.
    pub(crate) fn error(&mut self, kind: ErrorKind, now: Instant, count: u64) {
        if now < self.begin || count == 0 {
            return;
        }
        *self.errors.entry(kind).or_default() += count;
        self.second(now).errors += count;
    }

    pub(crate) fn connected(&mut self, now: Instant, connect: Duration, tls: Option<Duration>) {
        if now < self.begin {
            return;
        }
        self.connect.record(connect);
        if let Some(tls) = tls {
            self.tls.record(tls);
        }
    }

    pub(crate) fn moved(&mut self, now: Instant, received: u64, sent: u64) {
        if now < self.begin {
            return;
        }
        self.received_bytes += received;
        self.sent_bytes += sent;
        self.second(now).received_bytes += received;
    }

    /// Adds what another saw of the same run.
    pub(crate) fn add(&mut self, other: &Self) {
        self.answered += other.answered;
        self.received_bytes += other.received_bytes;
        self.sent_bytes += other.sent_bytes;
        self.unsent += other.unsent;
        for (status, count) in &other.statuses {
            *self.statuses.entry(*status).or_default() += count;
        }
        for (kind, count) in &other.errors {
            *self.errors.entry(*kind).or_default() += count;
        }
        for (mine, its) in [
            (&mut self.latency, &other.latency),
            (&mut self.service, &other.service),
            (&mut self.first_byte, &other.first_byte),
            (&mut self.connect, &other.connect),
            (&mut self.tls, &other.tls),
        ] {
            mine.add(its);
        }
        self.reach(other.seconds.len());
        for (mine, its) in self.seconds.iter_mut().zip(&other.seconds) {
            mine.answered += its.answered;
            mine.errors += its.errors;
            mine.received_bytes += its.received_bytes;
            mine.latency.add(&its.latency);
        }
        self.last = self.last.max(other.last);
    }

    fn second(&mut self, now: Instant) -> &mut Second {
        let index = now.saturating_duration_since(self.begin).as_secs() as usize;
        let index = index.min(MOST_SECONDS - 1);
        self.reach(index + 1);
        &mut self.seconds[index]
    }

    fn reach(&mut self, seconds: usize) {
        if self.seconds.len() < seconds {
            self.seconds.resize_with(seconds, Second::default);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: Duration = Duration::from_millis(1);

    fn times(due: Instant, wait: u32, service: u32) -> Times {
        let sent = due + wait * MS;
        let done = sent + service * MS;
        Times {
            due,
            sent,
            first_byte: done,
            done,
        }
    }

    #[test]
    fn the_warm_up_does_not_count() {
        let start = Instant::now();
        let begin = start + 1000 * MS;
        let mut record = Record::new(begin, None);
        record.answer(times(start + 999 * MS, 0, 5), Some(200), Ok(()));
        record.error(ErrorKind::Lost, start, 3);
        record.moved(start, 100, 100);
        assert_eq!((record.answered, record.received_bytes), (0, 0));
        assert!(record.errors.is_empty() && record.statuses.is_empty());
        record.answer(times(begin, 0, 5), Some(200), Ok(()));
        assert_eq!(record.answered, 1);
    }

    #[test]
    fn waiting_to_be_sent_is_latency_but_not_service() {
        let begin = Instant::now();
        let mut record = Record::new(begin, Some(begin + 1500 * MS));
        record.answer(times(begin, 990, 10), Some(200), Ok(()));
        record.answer(times(begin + 1490 * MS, 0, 20), Some(500), Ok(()));
        record.answer(times(begin, 0, 10), Some(404), Err(ErrorKind::Status));
        assert_eq!(record.answered, 1, "one was late, one was wrong");
        assert_eq!(record.latency.count(), 2);
        assert!(record.latency.max() >= 1000 * MS && record.service.max() < 21 * MS);
        assert_eq!(record.seconds.len(), 2);
        assert_eq!(record.seconds[0].errors, 1);
        let mut both = Record::new(begin, None);
        both.add(&record);
        both.add(&record);
        assert_eq!((both.answered, both.seconds[1].answered), (2, 4));
        assert_eq!(both.statuses[&404], 2);
    }
}
