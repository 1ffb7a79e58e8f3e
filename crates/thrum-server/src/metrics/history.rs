//! The last ten minutes, second by second: what a page or a terminal shows while it happens.

use std::collections::{HashMap, VecDeque};
use std::fmt::Write;
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::histogram::Times;
use super::meters::{Meters, Totals};
use crate::log::escape::write_json_text;

/// How many seconds are kept.
const SECONDS: usize = 600;
/// How many routes of a second are named.
const TOP: usize = 5;

/// What happened in each of the last ten minutes' seconds.
///
/// It looks at the [`Meters`] once a second, so requests pay nothing for it.
#[derive(Debug, Default)]
pub struct History {
    kept: Mutex<Kept>,
}

#[derive(Debug, Default)]
struct Kept {
    seconds: VecDeque<Second>,
    /// What the meters said last, by site and route.
    last: HashMap<(String, String), Totals>,
    looked: bool,
}

/// One second.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Second {
    /// When it ended, in seconds since 1970 by a clock that goes on when the wall clock is set.
    pub at: u64,
    /// Responses by the class of their status: 1xx, 2xx, 3xx, 4xx, 5xx, others.
    pub classes: [u64; 6],
    /// Bytes of response bodies that were sent.
    pub bytes: u64,
    /// How many requests took how long: a column of a heat map. The first number is of those below 4 us, and each next one of
    /// those below twice the time: 8 us, 16 us, ... 134 s.
    pub latency: Vec<u64>,
    /// The routes with the most requests: site, route, how many.
    pub top: Vec<(String, String, u64)>,
    /// Connections that were open at its end.
    pub connections: u64,
}

impl History {
    /// Takes down a second that is over. To be called once a second; the first call only looks.
    pub fn look(&self, meters: &Meters, connections: u64, at: u64) {
        let totals = meters.totals();
        let mut kept = self.lock();
        let mut second = Second {
            at,
            connections,
            ..Second::default()
        };
        let mut times = Times::default();
        for (meter, now) in totals {
            let key = (meter.site().to_owned(), meter.route().to_owned());
            let before = kept.last.entry(key).or_default();
            let requests = now.requests().saturating_sub(before.requests());
            if requests > 0 {
                let named = (meter.site().to_owned(), meter.route().to_owned(), requests);
                second.top.push(named);
            }
            for (class, count) in second.classes.iter_mut().enumerate() {
                *count += now.classes[class].saturating_sub(before.classes[class]);
            }
            second.bytes += now.bytes.saturating_sub(before.bytes);
            for (bucket, count) in times.counts.iter_mut().enumerate() {
                *count += now.times.counts[bucket].saturating_sub(before.times.counts[bucket]);
            }
            *before = now;
        }
        second.latency = times.octaves().map(|(_, count)| count).collect();
        second
            .top
            .sort_by_key(|(.., count)| std::cmp::Reverse(*count));
        second.top.truncate(TOP);
        if std::mem::replace(&mut kept.looked, true) {
            if kept.seconds.len() == SECONDS {
                kept.seconds.pop_front();
            }
            kept.seconds.push_back(second);
        }
    }

    /// The seconds that ended after a moment, oldest first.
    pub fn since(&self, at: u64) -> Vec<Second> {
        let kept = self.lock();
        let later = kept.seconds.iter().filter(|second| second.at > at);
        later.cloned().collect()
    }

    /// The same as JSON: an array of objects with the keys `at`, `classes`, `bytes`, `latency`, `top` (each with `site`,
    /// `route`, `requests`), `connections`.
    pub fn json_since(&self, at: u64) -> String {
        let mut out = String::from("[");
        for (number, second) in self.since(at).iter().enumerate() {
            let comma = if number == 0 { "" } else { "," };
            let Second {
                at,
                classes,
                bytes,
                latency,
                top,
                connections,
            } = second;
            let _ = write!(
                out,
                "{comma}{{\"at\":{at},\"classes\":{classes:?},\"bytes\":{bytes},\"latency\":{latency:?},\
                 \"connections\":{connections},\"top\":["
            );
            for (number, (site, route, requests)) in top.iter().enumerate() {
                out.push_str(if number == 0 {
                    "{\"site\":"
                } else {
                    ",{\"site\":"
                });
                write_json_text(site, &mut out);
                out.push_str(",\"route\":");
                write_json_text(route, &mut out);
                let _ = write!(out, ",\"requests\":{requests}}}");
            }
            out.push_str("]}");
        }
        out.push(']');
        out
    }

    fn lock(&self) -> MutexGuard<'_, Kept> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn each_second_has_what_came_in_it() {
        let meters = Meters::default();
        let history = History::default();
        let add = |route: &str, count: usize, status| {
            let route = meters.route("a\"b", route);
            (0..count).for_each(|_| route.add(status, 100, Duration::from_micros(5)));
        };
        add("/", 7, 200); // before anybody looked
        history.look(&meters, 1, 100);
        add("/", 2, 200);
        add("/x", 3, 404);
        history.look(&meters, 4, 101);
        history.look(&meters, 0, 102);

        let seconds = history.since(0);
        assert_eq!(seconds.len(), 2);
        let first = &seconds[0];
        assert_eq!((first.at, first.bytes, first.connections), (101, 500, 4));
        assert_eq!(first.classes, [0, 2, 0, 3, 0, 0]);
        assert_eq!(first.latency[..3], [0, 5, 0]);
        let top = |route: &str, count| ("a\"b".to_owned(), route.to_owned(), count);
        assert_eq!(first.top, [top("/x", 3), top("/", 2)]);
        assert_eq!(seconds[1].classes, [0; 6]);
        assert!(seconds[1].top.is_empty());
        assert_eq!(history.since(101), seconds[1..]);

        let json: serde_json::Value = serde_json::from_str(&history.json_since(0)).unwrap();
        assert_eq!(json[0]["top"][0]["site"], "a\"b");
        assert_eq!(json[0]["top"][1]["requests"], 2);
        assert_eq!(json[0]["latency"][1], 5);
        assert_eq!(json.as_array().unwrap().len(), 2);
    }

    #[test]
    fn only_so_much_is_kept() {
        let (meters, history) = (Meters::default(), History::default());
        for at in 0..2000 {
            history.look(&meters, 0, at);
        }
        let seconds = history.since(0);
        assert_eq!(seconds.len(), SECONDS);
        assert_eq!((seconds[0].at, seconds[SECONDS - 1].at), (1400, 1999));
    }
}
