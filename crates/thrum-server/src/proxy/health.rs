//! Which upstreams are up: by what becomes of requests (passive), and by asking them (active).

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};
use std::{fmt, sync::LazyLock};

use http::{HeaderValue, Request, StatusCode, Uri, header};
use thrum_http::Body;
use thrum_rt::TaskSet;
use thrum_rt::time::{sleep, timeout};

use super::upstream::count;
use super::{Peer, Shared};
use crate::lock::lock;

/// When an upstream is taken to be down because requests to it failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Passive {
    /// Failures one after the other, without a response between them.
    pub(super) fails: u32,
    /// In this time; and how long it is down then.
    pub(super) period: Duration,
}

/// A question that an upstream is asked again and again, and the answer that says it is well.
///
/// ```
/// use std::time::Duration;
/// use thrum_server::proxy::Probe;
///
/// let probe = Probe::new("/healthz").every(Duration::from_secs(2)).expect([200, 204]);
/// # let _ = probe;
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[must_use = "a probe does nothing until a proxy has it"]
pub struct Probe {
    path: String,
    every: Duration,
    timeout: Duration,
    expect: Vec<u16>,
    fails: u32,
    passes: u32,
    host: Option<String>,
}

impl Probe {
    /// GET of a path, every 5 s, to be answered 200 within 2 s. One that failed twice is down, one that passed once is up.
    pub fn new(path: impl Into<String>) -> Self {
        Self {
            path: path.into(),
            every: Duration::from_secs(5),
            timeout: Duration::from_secs(2),
            expect: vec![200],
            fails: 2,
            passes: 1,
            host: None,
        }
    }

    /// Sets how long it is from an answer to the next question.
    pub fn every(mut self, every: Duration) -> Self {
        self.every = every;
        self
    }

    /// Sets how long an answer may take, its body included.
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = timeout;
        self
    }

    /// Sets the status codes of an upstream that is well.
    pub fn expect(mut self, status: impl IntoIterator<Item = u16>) -> Self {
        self.expect = status.into_iter().collect();
        self
    }

    /// Sets how many answers in a row make one that was up be down, and the other way round; at least one.
    pub fn after(mut self, fails: u32, passes: u32) -> Self {
        (self.fails, self.passes) = (fails.max(1), passes.max(1));
        self
    }

    /// Sets the `Host` that is asked. Default: the upstream's own.
    pub fn host(mut self, host: impl Into<String>) -> Self {
        self.host = Some(host.into());
        self
    }
}

/// What is known of an upstream's health.
#[derive(Default)]
pub(super) struct Health {
    /// Requests to it have failed of late.
    has_failed: AtomicBool,
    failed: Mutex<Failed>,
    /// When requests may go there again, in milliseconds of [`now`]; 0: they may.
    down_until: AtomicU64,
    /// It has not given the answer that it is asked for.
    is_ill: AtomicBool,
}

#[derive(Default)]
struct Failed {
    times: u32,
    since: u64,
}

/// Milliseconds of this process, from 1 on.
pub(super) fn now() -> u64 {
    static BEGIN: LazyLock<Instant> = LazyLock::new(Instant::now);
    BEGIN.elapsed().as_millis() as u64 + 1
}

impl Health {
    /// Whether requests may go there. One that was down for its time may have one request, which shows how it is now.
    pub(super) fn is_up(&self) -> bool {
        let down_until = self.down_until.load(Ordering::Relaxed);
        !self.is_ill.load(Ordering::Relaxed) && (down_until == 0 || now() >= down_until)
    }

    /// Takes the one request that shows how it is, if it is time for that. False: somebody else has.
    pub(super) fn begin(&self, passive: &Passive) -> bool {
        let until = self.down_until.load(Ordering::Relaxed);
        if until == 0 {
            return true;
        }
        let now = now();
        let next = now + passive.period.as_millis() as u64;
        now >= until
            && self
                .down_until
                .compare_exchange(until, next, Ordering::Relaxed, Ordering::Relaxed)
                .is_ok()
    }

    /// A request was answered. Whether it was down before.
    pub(super) fn succeeded(&self) -> bool {
        if !self.has_failed.load(Ordering::Relaxed) {
            return false; // nearly always
        }
        let mut failed = lock(&self.failed);
        *failed = Failed::default();
        self.has_failed.store(false, Ordering::Relaxed);
        self.down_until.swap(0, Ordering::Relaxed) != 0
    }

    /// A request was not answered. Whether it is down from now on, and was not before.
    pub(super) fn failed(&self, passive: &Passive) -> bool {
        if passive.fails == 0 {
            return false;
        }
        let period = passive.period.as_millis() as u64;
        let now = now();
        let mut failed = lock(&self.failed);
        if failed.times == 0 || now - failed.since > period {
            // One that was down and fails its one request is down again.
            let was_down = self.down_until.load(Ordering::Relaxed) != 0;
            failed.times = if was_down { passive.fails - 1 } else { 0 };
            failed.since = now;
        }
        failed.times = failed.times.saturating_add(1);
        self.has_failed.store(true, Ordering::Relaxed);
        failed.times >= passive.fails && self.down_until.swap(now + period, Ordering::Relaxed) == 0
    }
}

impl fmt::Debug for Health {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Health")
            .field("is_up", &self.is_up())
            .finish_non_exhaustive()
    }
}

/// Asks all upstreams of a proxy how they are, for as long as it is polled.
pub(super) async fn watch(shared: std::sync::Arc<Shared>, probe: Probe) {
    let mut watchers = TaskSet::new();
    let probe = std::sync::Arc::new(probe);
    for index in 0..shared.peers.len() {
        let (shared, probe) = (shared.clone(), probe.clone());
        watchers.spawn(async move { watch_one(&shared.peers[index], &probe).await });
    }
    while watchers.join_next().await.is_some() {}
}

async fn watch_one(peer: &Peer, probe: &Probe) {
    let upstream = &peer.upstream;
    let is_ill = &upstream.health.is_ill;
    let (mut fails, mut passes) = (0u32, 0u32);
    loop {
        let asked = match timeout(probe.timeout, ask(peer, probe)).await {
            Ok(asked) => asked,
            Err(_) => Err(format!("no answer within {:?}", probe.timeout)),
        };
        match asked {
            Ok(()) => {
                (fails, passes) = (0, passes.saturating_add(1));
                if passes >= probe.passes && is_ill.swap(false, Ordering::Relaxed) {
                    tracing::info!(upstream = %upstream.name, path = %probe.path, "an upstream is well again");
                }
            }
            Err(why) => {
                (fails, passes) = (fails.saturating_add(1), 0);
                if fails >= probe.fails && !is_ill.swap(true, Ordering::Relaxed) {
                    count(&upstream.counters.ejections);
                    tracing::warn!(upstream = %upstream.name, path = %probe.path, %why, "an upstream is not well");
                }
            }
        }
        sleep(probe.every.max(Duration::from_millis(10))).await;
    }
}

/// Bytes of an answer that are read, so that its connection can be used again.
const ANSWER_BYTES: usize = 64 * 1024;

async fn ask(peer: &Peer, probe: &Probe) -> Result<(), String> {
    let mut request = Request::new(Body::empty());
    *request.uri_mut() = Uri::try_from(probe.path.as_str()).map_err(|error| error.to_string())?;
    if let Some(host) = &probe.host {
        let host = HeaderValue::from_str(host).map_err(|error| error.to_string())?;
        request.headers_mut().insert(header::HOST, host);
    }
    let sent = peer.connections.send(&mut request).await;
    let response = sent.map_err(|failed| failed.error.to_string())?;
    let status: StatusCode = response.status();
    let read = response.into_body().bytes(ANSWER_BYTES).await;
    if !probe.expect.contains(&status.as_u16()) {
        return Err(format!("it answered {status}"));
    }
    read.map(drop).map_err(|error| error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    const PASSIVE: Passive = Passive {
        fails: 3,
        period: Duration::from_millis(50),
    };

    #[test]
    fn three_failures_in_a_row_eject_and_one_request_shows_how_it_is_then() {
        let health = Health::default();
        assert!(!health.failed(&PASSIVE) && !health.failed(&PASSIVE));
        assert!(!health.succeeded(), "it was not down");
        assert!(!health.failed(&PASSIVE) && !health.failed(&PASSIVE));
        assert!(health.is_up() && health.begin(&PASSIVE));
        assert!(health.failed(&PASSIVE), "the third in a row");
        assert!(!health.is_up() && !health.begin(&PASSIVE));
        std::thread::sleep(Duration::from_millis(60));
        assert!(health.is_up() && health.begin(&PASSIVE));
        assert!(!health.begin(&PASSIVE), "one request only");
        assert!(!health.failed(&PASSIVE), "it was down before");
        assert!(!health.is_up(), "and is again, after one failure");
        std::thread::sleep(Duration::from_millis(60));
        assert!(health.begin(&PASSIVE));
        assert!(health.succeeded());
        assert!(health.is_up() && health.begin(&PASSIVE) && health.begin(&PASSIVE));
    }

    #[test]
    fn without_a_count_nothing_is_ejected() {
        let health = Health::default();
        let passive = Passive {
            fails: 0,
            ..PASSIVE
        };
        assert!((0..100).all(|_| !health.failed(&passive)));
        assert!(health.is_up());
    }
}
