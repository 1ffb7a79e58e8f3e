//! A limit of requests in a time, for each client.
//!
//! The generic cell rate algorithm (GCRA): all that is kept of a client is the time at which it would be back at zero, had it
//! sent its requests evenly. The table of these has a fixed size.

use std::fmt;
use std::hash::{BuildHasher, Hash, RandomState};
use std::net::IpAddr;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Duration;

use http::request::Parts;
use http::{HeaderName, HeaderValue, Response, StatusCode};
use thrum_rt::time::Instant;
use tower_layer::Layer;

use super::gate::{Gate, Gated, Refusal};
use super::refused::{Refused, answer, retry_after};
use crate::Body;

/// Clients that are remembered, if nothing else is said.
const CLIENTS: usize = 64 * 1024;

/// Limits how many requests a client may send in a time. Those beyond are answered with 429, `retry-after`, and the fields
/// `ratelimit-policy` and `ratelimit` of [the draft](https://datatracker.ietf.org/doc/draft-ietf-httpapi-ratelimit-headers/).
///
/// A client that has been quiet may send all of them at once, and then at the even rate.
///
/// A client is its address, of IPv6 the first 64 bits, which are what one subscriber has. Behind a proxy all have the proxy's:
/// say what a client is with [`key`](Self::key). Over a Unix socket there is no address, and no limit until it is said.
///
/// The layer's clones, and all services that it is put around, share one table.
///
/// ```
/// use std::time::Duration;
/// use thrum_http::middleware::RateLimit;
///
/// let by_address = RateLimit::new(100, Duration::from_secs(60));
/// // What a proxy of ours says, which clients cannot.
/// let by_header = RateLimit::new(5, Duration::from_secs(1))
///     .key(|head| head.headers.get("x-real-ip").cloned());
/// ```
#[derive(Clone)]
pub struct RateLimit {
    rate: Rate,
    key: Arc<Key>,
    secret: RandomState,
    policy: HeaderValue,
    table: Arc<Table>,
    begin: Arc<OnceLock<Instant>>,
    refused: Refused,
}

/// A hash of what a client is, with a secret.
type Key = dyn Fn(&Parts, &RandomState) -> Option<u64> + Send + Sync;

impl RateLimit {
    /// So many requests in `period`, for each client's address. 65,536 clients are remembered, in 1.1 MiB.
    ///
    /// # Panics
    /// If either is zero.
    pub fn new(requests: u32, period: Duration) -> Self {
        assert!(requests > 0 && !period.is_zero(), "a rate of zero");
        let seconds = period.as_nanos().div_ceil(1_000_000_000);
        let policy = format!("\"default\";q={requests};w={seconds}");
        Self {
            rate: Rate::new(requests, period),
            key: keyed(|_| address()),
            secret: RandomState::new(),
            policy: HeaderValue::try_from(policy).unwrap_or(HeaderValue::from_static("")),
            table: Arc::new(Table::new(CLIENTS)),
            begin: Arc::default(),
            refused: Refused::default(),
        }
    }

    /// What a client is, from its request's head: equal keys share a limit. `None`: not limited.
    ///
    /// Only a hash of it is kept, with a secret that is new in each process.
    #[must_use]
    pub fn key<K: Hash>(
        mut self,
        of: impl Fn(&Parts) -> Option<K> + Send + Sync + 'static,
    ) -> Self {
        self.key = keyed(of);
        self
    }

    /// How many requests may come at once after a client has been quiet. Default: as many as in `period`.
    ///
    /// # Panics
    /// If it is zero.
    #[must_use]
    pub fn burst(mut self, requests: u32) -> Self {
        assert!(requests > 0, "a burst of zero");
        self.rate.burst = self.rate.each.saturating_mul(requests.into());
        self
    }

    /// How many clients are remembered, rounded up to a power of two, 17 bytes each. Beyond them those are forgotten that
    /// have used the least of their limit. Default: 65,536.
    #[must_use]
    pub fn clients(mut self, clients: usize) -> Self {
        self.table = Arc::new(Table::new(clients));
        self
    }

    /// Counts a request of a client, whatever that is; the response to it if it comes too fast. For those who are no layer.
    ///
    /// # Errors
    /// The response, with status 429.
    pub fn admit(&self, client: &impl Hash) -> Result<(), Box<Response<Body>>> {
        self.count(self.secret.hash_one(client))
    }

    /// Requests refused so far.
    pub fn refused(&self) -> u64 {
        self.refused.total()
    }

    /// Clients forgotten so far that had used some of their limit, for want of room.
    pub fn forgotten(&self) -> u64 {
        self.table.forgotten.load(Ordering::Relaxed)
    }

    fn now(&self) -> u64 {
        let now = Instant::now();
        let begin = *self.begin.get_or_init(|| now);
        let passed = now.checked_duration_since(begin).unwrap_or_default();
        passed.as_nanos() as u64
    }
}

impl RateLimit {
    fn count(&self, key: u64) -> Result<(), Refusal> {
        let Err(wait) = self.table.admit(key, self.now(), self.rate) else {
            return Ok(());
        };
        self.refused.count("rate limit");
        let mut response = answer(StatusCode::TOO_MANY_REQUESTS);
        let seconds = retry_after(&mut response, Duration::from_nanos(wait));
        let fields = response.headers_mut();
        fields.insert(
            HeaderName::from_static("ratelimit-policy"),
            self.policy.clone(),
        );
        if let Ok(left) = HeaderValue::try_from(format!("\"default\";r=0;t={seconds}")) {
            fields.insert(HeaderName::from_static("ratelimit"), left);
        }
        Err(Box::new(response))
    }
}

impl Gate for RateLimit {
    fn admit(&self, head: &mut Parts) -> Result<(), Refusal> {
        let key = (self.key)(head, &self.secret);
        key.map_or(Ok(()), |key| self.count(key))
    }
}

impl<S> Layer<S> for RateLimit {
    type Service = Gated<S, Self>;

    fn layer(&self, service: S) -> Self::Service {
        Gated::new(service, self.clone())
    }
}

impl fmt::Debug for RateLimit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RateLimit")
            .field("policy", &self.policy)
            .field("refused", &self.refused())
            .finish_non_exhaustive()
    }
}

fn keyed<K: Hash>(of: impl Fn(&Parts) -> Option<K> + Send + Sync + 'static) -> Arc<Key> {
    Arc::new(move |head, secret| of(head).map(|key| secret.hash_one(key)))
}

/// The client's address, or its network's.
fn address() -> Option<IpAddr> {
    let peer = crate::connection()?.peer?;
    Some(network(peer.ip()))
}

fn network(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V4(address) => address.into(),
        IpAddr::V6(address) => {
            let network = u128::from(address) & (u128::MAX << 64);
            IpAddr::V6(network.into())
        }
    }
}

/// A rate, in nanoseconds.
#[derive(Clone, Copy, Debug)]
struct Rate {
    /// From one request to the next.
    each: u64,
    /// How far ahead of time a client may be.
    burst: u64,
}

impl Rate {
    fn new(requests: u32, period: Duration) -> Self {
        // A century is as good as more, and cannot overflow.
        let period = period
            .min(Duration::from_secs(100 * 365 * 86400))
            .as_nanos() as u64;
        let each = (period / u64::from(requests)).max(1);
        Self {
            each,
            burst: each * u64::from(requests),
        }
    }
}

/// Clients that fall into one place of the table.
const WAYS: usize = 8;

/// What is remembered of clients: sets of eight, each with a lock of its own.
struct Table {
    sets: Box<[Mutex<[Client; WAYS]>]>,
    forgotten: AtomicU64,
}

#[derive(Clone, Copy, Default)]
struct Client {
    key: u64,
    /// When it would be back at zero. Nobody that it has passed for needs to be remembered.
    until: u64,
}

impl Table {
    fn new(clients: usize) -> Self {
        let sets = clients.div_ceil(WAYS).next_power_of_two();
        Self {
            sets: (0..sets).map(|_| Mutex::default()).collect(),
            forgotten: AtomicU64::new(0),
        }
    }

    /// Counts a request, or says how many nanoseconds too early it is.
    fn admit(&self, key: u64, now: u64, rate: Rate) -> Result<(), u64> {
        let place = key as usize & (self.sets.len() - 1);
        let mut set = self.sets[place]
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        if let Some(client) = set.iter_mut().find(|client| client.key == key) {
            let until = client.until.max(now).saturating_add(rate.each);
            let early = until.saturating_sub(now).saturating_sub(rate.burst);
            if early > 0 {
                return Err(early);
            }
            client.until = until;
            return Ok(());
        }
        if let Some(client) = set.iter_mut().min_by_key(|client| client.until) {
            if client.until > now {
                self.forgotten.fetch_add(1, Ordering::Relaxed);
            }
            *client = Client {
                key,
                until: now.saturating_add(rate.each),
            };
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: u64 = 1_000_000_000;

    #[test]
    fn all_at_once_and_then_evenly() {
        let table = Table::new(1);
        let rate = Rate::new(10, Duration::from_secs(1));
        let admit = |now| table.admit(7, now, rate);
        for _ in 0..10 {
            admit(5 * SECOND).unwrap();
        }
        assert_eq!(admit(5 * SECOND), Err(SECOND / 10));
        assert_eq!(admit(5 * SECOND + SECOND / 20), Err(SECOND / 20));
        admit(5 * SECOND + SECOND / 10).unwrap();
        assert!(admit(5 * SECOND + SECOND / 10).is_err());
        // In any ten seconds at most a hundred, and ten more for having been quiet.
        let asked = (0..10_000).map(|n| admit(60 * SECOND + n * SECOND / 1000));
        assert_eq!(asked.filter(Result::is_ok).count(), 109);
    }

    #[test]
    fn a_burst_is_not_the_rate() {
        let limit = RateLimit::new(1, Duration::from_secs(3600)).burst(3);
        for _ in 0..3 {
            limit.admit(&"alice").unwrap();
        }
        let refused = limit.admit(&"alice").unwrap_err();
        assert_eq!(refused.status(), 429);
        limit.admit(&"bob").unwrap();
        assert_eq!(limit.refused(), 1);
    }

    #[test]
    fn the_table_is_bounded_and_forgets_who_used_least() {
        let table = Table::new(8);
        let rate = Rate::new(3, Duration::from_secs(3));
        for _ in 0..3 {
            table.admit(1, 0, rate).unwrap();
        }
        assert!(table.admit(1, 0, rate).is_err());
        for key in 2..1000 {
            table.admit(key, 1, rate).unwrap();
        }
        assert!(table.admit(1, 1, rate).is_err(), "it is still known");
        assert_eq!(table.sets.len(), 1);
        assert_eq!(table.forgotten.load(Ordering::Relaxed), 998 - 7);
    }

    #[test]
    fn a_subscriber_is_one_client() {
        let network = |text: &str| network(text.parse().unwrap()).to_string();
        assert_eq!(network("192.0.2.7"), "192.0.2.7");
        assert_eq!(network("::ffff:192.0.2.7"), "192.0.2.7");
        assert_eq!(network("2001:db8:1:2:3:4:5:6"), "2001:db8:1:2::");
    }
}
