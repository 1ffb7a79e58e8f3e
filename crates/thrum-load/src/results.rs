//! What one run of a load saw: the figures, without a word about how they are shown.

use std::collections::BTreeMap;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::latency::Latency;

/// The form of [`Results`] that this version writes and reads.
pub const FORM: u32 = 1;

/// What one run of a load saw. Times are those of the part that was measured, after the warm-up.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Results {
    /// The form of this record: [`FORM`].
    pub form: u32,
    /// The URL that was asked.
    pub target: String,
    /// What was asked of the load, as pairs of words: `("connections", "50")`.
    pub plan: Vec<(String, String)>,
    /// When it began to measure, in milliseconds since 1970 (UTC).
    pub began_ms: u64,
    /// How long it measured, in seconds.
    pub elapsed_s: f64,
    /// Requests that were answered as expected.
    pub answered: u64,
    /// Bytes of all that was received, and of all that was sent, over TLS before it is encrypted.
    pub received_bytes: u64,
    /// See `received_bytes`.
    pub sent_bytes: u64,
    /// How many answers had which status.
    pub statuses: BTreeMap<u16, u64>,
    /// What went wrong, and how often.
    pub errors: BTreeMap<ErrorKind, u64>,
    /// From when a request was due until the last byte of its answer. In a closed loop it is due when it is sent; in an open
    /// one by the clock, however long the server keeps the load from sending it.
    pub latency: Latency,
    /// From when a request was sent until the last byte of its answer: what a closed loop's latency is, and in an open loop what
    /// is left without the correction for coordinated omission.
    pub service: Latency,
    /// From when a request was sent until the head of its answer (the first byte, where there are no heads).
    pub first_byte: Latency,
    /// Until a connection was there, without TLS.
    pub connect: Latency,
    /// What TLS took beyond that.
    pub tls: Latency,
    /// Second by second.
    pub seconds: Vec<Second>,
    /// What it cost to measure.
    pub client: ClientCost,
    /// What makes the figures doubtful, in sentences.
    pub warnings: Vec<String>,
}

/// One second of a run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Second {
    /// Requests that were answered as expected.
    pub answered: u64,
    /// What went wrong.
    pub errors: u64,
    /// Bytes received.
    pub received_bytes: u64,
    /// As [`Results::latency`], to two digits.
    pub latency: Latency,
}

/// What the load generator itself needed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ClientCost {
    /// Its threads that send and receive.
    pub threads: usize,
    /// CPU time in its own code, in seconds.
    pub user_s: f64,
    /// CPU time that the kernel spent for it, in seconds.
    pub system_s: f64,
}

/// What can go wrong with a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ErrorKind {
    /// No connection.
    Connect,
    /// No agreement on TLS.
    Tls,
    /// The connection was lost, or closed in the middle of an answer.
    Lost,
    /// No answer in time.
    Timeout,
    /// What came is not of the protocol.
    Protocol,
    /// Another status than was expected; by default one of 400 or above.
    Status,
    /// A header field that was expected is missing or differs.
    Header,
    /// A body that is not as expected.
    Body,
}

impl ErrorKind {
    /// Every kind there is.
    pub const ALL: [Self; 8] = [
        Self::Connect,
        Self::Tls,
        Self::Lost,
        Self::Timeout,
        Self::Protocol,
        Self::Status,
        Self::Header,
        Self::Body,
    ];

    /// Its name in reports: `connect`, `tls`, `lost` and so on.
    pub fn name(self) -> &'static str {
        match self {
            Self::Connect => "connect",
            Self::Tls => "tls",
            Self::Lost => "lost",
            Self::Timeout => "timeout",
            Self::Protocol => "protocol",
            Self::Status => "status",
            Self::Header => "header",
            Self::Body => "body",
        }
    }
}

impl Results {
    /// How many requests went wrong.
    pub fn failed(&self) -> u64 {
        self.errors.values().sum()
    }

    /// The share of all requests that went wrong, of 1.
    pub fn failed_share(&self) -> f64 {
        match self.answered + self.failed() {
            0 => 0.0,
            all => self.failed() as f64 / all as f64,
        }
    }

    /// The seconds that were measured to their end: without the rest that a run may end with.
    pub fn whole_seconds(&self) -> &[Second] {
        // A clock that is a little early still ends its second.
        let whole = (self.elapsed_s + 0.05) as usize;
        &self.seconds[..whole.min(self.seconds.len())]
    }

    /// Several runs of one load as one, in the order they were made; `None` of none. Of the seconds it has the whole ones,
    /// one run's after the other's. Its plan says how many rounds there were.
    pub fn join<'a>(rounds: impl IntoIterator<Item = &'a Self>) -> Option<Self> {
        let mut rounds = rounds.into_iter();
        let first = rounds.next()?;
        let mut all = first.clone();
        all.seconds = first.whole_seconds().to_vec();
        let mut count = 1;
        for round in rounds {
            all.append(round);
            count += 1;
        }
        if count > 1 {
            all.plan.push(("rounds".to_owned(), count.to_string()));
        }
        Some(all)
    }

    fn append(&mut self, next: &Self) {
        self.elapsed_s += next.elapsed_s;
        self.answered += next.answered;
        self.received_bytes += next.received_bytes;
        self.sent_bytes += next.sent_bytes;
        for (status, count) in &next.statuses {
            *self.statuses.entry(*status).or_default() += count;
        }
        for (kind, count) in &next.errors {
            *self.errors.entry(*kind).or_default() += count;
        }
        self.latency.add(&next.latency);
        self.service.add(&next.service);
        self.first_byte.add(&next.first_byte);
        self.connect.add(&next.connect);
        self.tls.add(&next.tls);
        self.seconds.extend_from_slice(next.whole_seconds());
        self.client.user_s += next.client.user_s;
        self.client.system_s += next.client.system_s;
        for warning in &next.warnings {
            if !self.warnings.contains(warning) {
                self.warnings.push(warning.clone());
            }
        }
    }

    /// Whether requests that were due had to wait until they were sent: in an open loop whose server did not keep up.
    pub fn waited(&self) -> bool {
        self.service.count() > 0 && self.latency != self.service
    }

    /// Requests that were answered as expected, a second.
    pub fn rate(&self) -> f64 {
        if self.elapsed_s > 0.0 {
            self.answered as f64 / self.elapsed_s
        } else {
            0.0
        }
    }

    /// How long it measured.
    pub fn elapsed(&self) -> Duration {
        Duration::from_secs_f64(self.elapsed_s)
    }
}

impl ClientCost {
    /// CPU time a request, of those that were answered; zero if none was.
    pub fn a_request(&self, answered: u64) -> Duration {
        match answered {
            0 => Duration::ZERO,
            answered => Duration::from_secs_f64((self.user_s + self.system_s) / answered as f64),
        }
    }

    /// The share of its threads' time that it was busy: near 1 it measures itself.
    pub fn busy(&self, elapsed: Duration) -> f64 {
        let available = elapsed.as_secs_f64() * self.threads as f64;
        if available > 0.0 {
            (self.user_s + self.system_s) / available
        } else {
            0.0
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples;

    #[test]
    fn rounds_make_one_run() {
        let one = samples::run(1, 3, 10.0, 100);
        let mut other = samples::run(2, 2, 10.0, 100);
        other.elapsed_s = 2.4;
        other.seconds.push(Second::default());
        other.errors = [(ErrorKind::Lost, 3)].into();
        other.warnings = vec!["doubtful".to_owned()];
        let all = Results::join([&one, &other, &other]).unwrap();
        assert_eq!(all.answered, 700);
        assert_eq!(all.latency.count(), 700);
        assert_eq!(all.seconds.len(), 7);
        assert_eq!(all.whole_seconds().len(), 7);
        assert_eq!(all.failed(), 6);
        assert_eq!(all.failed_share(), 6.0 / 706.0);
        assert_eq!(all.warnings.len(), 1);
        assert!((all.elapsed_s - 7.8).abs() < 1e-9);
        assert_eq!(all.plan.last().unwrap().1, "3");
        assert_eq!(Results::join([&one]), Some(one));
        assert_eq!(Results::join([]), None);
    }

    #[test]
    fn the_rest_of_a_second_is_no_second() {
        let mut results = samples::run(1, 3, 10.0, 100);
        for (elapsed, whole) in [(0.5, 0), (2.96, 3), (3.0, 3), (2.9, 2), (9.0, 3)] {
            results.elapsed_s = elapsed;
            assert_eq!(results.whole_seconds().len(), whole, "{elapsed}");
        }
    }
}
