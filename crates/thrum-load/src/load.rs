//! A load while it runs: what its places share, how it ends, and what comes of it.

use std::io;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::Context;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use http::{HeaderName, HeaderValue, Method, Uri};
use nix::sys::resource::{UsageWho, getrusage};
use thiserror::Error;
use thrum_http::client::Dialer;
use thrum_http::tls;
use thrum_rt::sync::Semaphore;
use thrum_rt::{CancellationToken, TaskSet};

use crate::check::Expect;
use crate::clock::Clock;
use crate::dial::{allow_descriptors, dialers};
use crate::lane::Lane;
use crate::pace::{Rate, Schedule};
use crate::plan::{BadPlan, Plan, Protocol};
use crate::record::Record;
use crate::requests::{Asker, BadRequest, BodyText, RequestText, Requests};
use crate::turns::{Arrivals, Manner, Turns};
use crate::{ClientCost, ErrorKind, FORM, Results};

/// Connections that are being opened at the same time: what most servers let wait for them.
const DIALS: usize = 128;
/// Above this share of its threads' time the load generator measures itself.
const BUSY: f64 = 0.9;

/// Why a load cannot begin.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum LoadError {
    /// The plan contradicts itself.
    #[error(transparent)]
    Plan(#[from] BadPlan),
    /// A request cannot be sent.
    #[error(transparent)]
    Request(#[from] BadRequest),
    /// The host has no address.
    #[error("{0} has no address: {1}")]
    Lookup(String, #[source] io::Error),
    /// The URL, or what TLS needs.
    #[error(transparent)]
    Client(#[from] thrum_http::client::Error),
    /// What TLS needs.
    #[error(transparent)]
    Tls(#[from] tls::Error),
    /// More connections than there can be.
    #[error(
        "{connections} connections need as many open files, and this process may have {allowed}: raise `ulimit -n`"
    )]
    Descriptors {
        /// What was asked for.
        connections: usize,
        /// What there may be.
        allowed: u64,
    },
    /// No thread for the clock.
    #[error("no thread can be started: {0}")]
    Thread(#[source] io::Error),
}

/// A load that runs. Dropped, it ends.
pub struct Load {
    shared: Arc<Shared>,
    lanes: TaskSet<()>,
}

/// How far a load has come.
#[derive(Clone, Debug)]
pub struct Progress {
    /// How long it has measured; `None` during the warm-up.
    pub elapsed: Option<Duration>,
    /// How long it will; `None`: until all requests are sent.
    pub duration: Option<Duration>,
    /// Requests still to be sent, where their number is known.
    pub left: Option<u64>,
    /// Answers as expected.
    pub answered: u64,
    /// Errors by kind.
    pub errors: Vec<(ErrorKind, u64)>,
    /// Answers and the 99th percentile of the latency, second by second.
    pub seconds: Vec<(u64, Duration)>,
}

/// What all places of a load share.
pub(crate) struct Shared {
    pub(crate) plan: Plan,
    pub(crate) protocol: Protocol,
    pub(crate) expect: Arc<Expect>,
    /// Fields of the request that a WebSocket begins with.
    pub(crate) fields: Vec<(HeaderName, HeaderValue)>,
    /// So many connections are opened at the same time.
    pub(crate) dials: Semaphore,
    dialers: Vec<Dialer>,
    requests: Arc<Requests>,
    records: Vec<Mutex<Record>>,
    clock: Clock,
    start: Instant,
    begin: Instant,
    end: Option<Instant>,
    left: Option<AtomicU64>,
    stop: CancellationToken,
}

impl Load {
    /// Looks up the host, and begins.
    ///
    /// # Errors
    /// [`LoadError`].
    ///
    /// # Panics
    /// Outside a runtime.
    pub async fn start(plan: Plan) -> Result<Self, LoadError> {
        plan.check()?;
        let protocol = plan.target.protocol()?;
        allow_descriptors(plan.connections)?;
        let dialers = dialers(&plan).await?;
        let requests = Requests::new(texts(&plan, protocol), host_field(&plan.target.url))?;
        let fields = plan
            .requests
            .first()
            .map(|first| first.fields.clone())
            .unwrap_or_default();
        let fields = fields
            .into_iter()
            .filter_map(|(name, value)| Some((name, value.try_into().ok()?)));
        let clock = Clock::start().map_err(LoadError::Thread)?;
        let start = Instant::now();
        let begin = start + plan.warm_up;
        let end = plan.run().map(|run| begin + run);
        let shared = Arc::new(Shared {
            protocol,
            expect: Arc::new(plan.expect.clone()),
            fields: fields.collect(),
            dials: Semaphore::new(DIALS),
            dialers,
            requests: Arc::new(requests),
            records: (0..plan.threads)
                .map(|_| Mutex::new(Record::new(begin, end)))
                .collect(),
            clock,
            start,
            begin,
            end,
            left: plan.requests_total.map(AtomicU64::new),
            stop: CancellationToken::new(),
            plan,
        });
        let mut lanes = TaskSet::new();
        for index in 0..shared.plan.connections {
            let lane = Lane::new(shared.clone(), index);
            let stop = shared.stop.clone();
            lanes.spawn(async move {
                stop.run_until_cancelled(lane.run()).await;
            });
        }
        Ok(Self { shared, lanes })
    }

    /// Ends it: [`finish`](Self::finish) then gives what was seen so far.
    pub fn stopper(&self) -> CancellationToken {
        self.shared.stop.clone()
    }

    /// What asks how far it has come, while somebody waits for the end.
    pub fn observer(&self) -> impl Fn() -> Progress + Send + Sync + use<> {
        let shared = self.shared.clone();
        move || shared.progress()
    }

    /// Waits for the end, and says what was seen.
    ///
    /// Dropping the future ends the load.
    pub async fn finish(mut self) -> Results {
        let shared = self.shared.clone();
        let warm = shared.begin.saturating_duration_since(Instant::now());
        shared
            .stop
            .run_until_cancelled(thrum_rt::time::sleep(warm))
            .await;
        let before = cpu();
        self.lanes.join_all().await;
        let cost = cpu();
        shared.results(ClientCost {
            threads: shared.plan.threads,
            user_s: cost.user_s - before.user_s,
            system_s: cost.system_s - before.system_s,
        })
    }
}

impl Shared {
    /// The turns of a place.
    pub(crate) fn turns(&self, index: usize) -> Turns {
        let manner = Manner {
            in_flight: self.plan.in_flight,
            burst: self.plan.burst,
            session: self.plan.session,
            think: self.plan.think,
        };
        let arrivals = self
            .plan
            .rate
            .as_ref()
            .map(|rate| self.arrivals(rate, index));
        Turns::new(manner, arrivals, self.start)
    }

    /// Those of the warm-up, at the first rate, and then those of the run.
    fn arrivals(&self, rate: &Rate, index: usize) -> Arrivals {
        let Plan {
            arrivals,
            connections,
            warm_up,
            ..
        } = self.plan;
        let run = self.plan.run().unwrap_or(Duration::MAX);
        let first = Rate::Constant(rate.first());
        let warming = Schedule::new(&first, arrivals, warm_up, index, connections);
        let then = Schedule::new(rate, arrivals, run, index, connections);
        Box::new(warming.chain(then.map(move |due| due + warm_up)))
    }

    pub(crate) fn asker(&self, index: usize) -> Asker {
        Asker::new(self.requests.clone(), index as u64)
    }

    pub(crate) fn dialer(&self, index: usize) -> &Dialer {
        &self.dialers[index % self.dialers.len()]
    }

    pub(crate) fn has_sessions(&self) -> bool {
        self.plan.session.is_some()
    }

    /// When it is to end, if that is known.
    pub(crate) fn end(&self) -> Option<Instant> {
        self.end
    }

    /// Whether nothing more is to be sent.
    pub(crate) fn is_over(&self, now: Instant) -> bool {
        let all_sent = |left: &AtomicU64| left.load(Ordering::Relaxed) == 0;
        self.end.is_some_and(|end| now >= end) || self.left.as_ref().is_some_and(all_sent)
    }

    /// Takes one of the requests that there are to be in all; whether there was one left.
    pub(crate) fn claim(&self, due: Instant) -> bool {
        let Some(left) = self.left.as_ref().filter(|_| due >= self.begin) else {
            return true;
        };
        let less = |left: u64| left.checked_sub(1);
        let before = left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, less);
        if before == Ok(1) {
            self.clock.wake_all(); // for some that were to send later, it is over
        }
        before.is_ok()
    }

    /// Wakes the task of that place at that time, or at the end.
    pub(crate) fn wake_at(&self, at: Instant, index: usize, cx: &Context<'_>) {
        let at = self.end.map_or(at, |end| at.min(end));
        self.clock.wake_at(at, index, cx);
    }

    /// Has something noted by the recorder of that place.
    pub(crate) fn note(&self, index: usize, note: impl FnOnce(&mut Record, Instant)) {
        let mut record = lock(&self.records[index % self.records.len()]);
        let before = record.errors.len();
        note(&mut record, Instant::now());
        if self.plan.stop_on_error && record.errors.len() > before {
            self.stop.cancel();
        }
    }

    fn merged(&self) -> Record {
        let mut all = Record::new(self.begin, self.end);
        for record in &self.records {
            all.add(&lock(record));
        }
        all
    }

    fn progress(&self) -> Progress {
        let now = Instant::now();
        let all = self.merged();
        Progress {
            elapsed: now.checked_duration_since(self.begin),
            duration: self.plan.run(),
            left: self.left.as_ref().map(|left| left.load(Ordering::Relaxed)),
            answered: all.answered,
            errors: all.errors.into_iter().collect(),
            seconds: all
                .seconds
                .iter()
                .map(|second| (second.answered, second.latency.percentile(99.0)))
                .collect(),
        }
    }

    fn results(&self, client: ClientCost) -> Results {
        let record = self.merged();
        let now = Instant::now();
        let ended = match (self.end, &self.left) {
            _ if self.stop.is_cancelled() => now,
            (Some(end), None) => end,
            (end, _) => record.last.unwrap_or(now).min(end.unwrap_or(now)),
        };
        let elapsed = ended.saturating_duration_since(self.begin);
        let since_1970 = SystemTime::now()
            .duration_since(UNIX_EPOCH)
            .unwrap_or_default();
        let began = since_1970.saturating_sub(now.saturating_duration_since(self.begin));
        Results {
            form: FORM,
            target: self.plan.target.url.to_string(),
            plan: self.plan.words(),
            began_ms: began.as_millis() as u64,
            elapsed_s: elapsed.as_secs_f64(),
            answered: record.answered,
            received_bytes: record.received_bytes,
            sent_bytes: record.sent_bytes,
            statuses: record.statuses,
            errors: record.errors,
            latency: record.latency,
            service: record.service,
            first_byte: record.first_byte,
            connect: record.connect,
            tls: record.tls,
            seconds: record.seconds,
            warnings: warnings(&client, elapsed, record.answered, record.unsent),
            client,
        }
    }
}

/// What makes the figures doubtful.
fn warnings(client: &ClientCost, elapsed: Duration, answered: u64, unsent: u64) -> Vec<String> {
    let mut warnings = Vec::new();
    let busy = client.busy(elapsed);
    if busy > BUSY {
        let percent = (busy * 100.0).min(100.0);
        warnings.push(format!(
            "the load generator was busy {percent:.0} % of its time, so this may be its own speed: give it more --threads, or a \
             machine of its own"
        ));
    }
    // Some are always due in the last moment.
    if unsent > answered / 100 {
        warnings.push(format!(
            "{unsent} requests were due and never sent: the server did not keep up with the rate, and the latencies would have \
             grown on"
        ));
    }
    warnings
}

/// What is asked: what the plan says, or its URL.
fn texts(plan: &Plan, protocol: Protocol) -> Vec<RequestText> {
    if !plan.requests.is_empty() {
        return plan.requests.clone();
    }
    let target = plan.target.url.path_and_query();
    vec![RequestText {
        method: Method::GET,
        target: target.map_or("/", |target| target.as_str()).to_owned(),
        fields: Vec::new(),
        body: match protocol {
            Protocol::Http => BodyText::None,
            Protocol::WebSocket | Protocol::Line => BodyText::Text("hello".to_owned()),
        },
    }]
}

/// What the field `Host` says, without user and password.
fn host_field(url: &Uri) -> HeaderValue {
    let host = url.authority().map_or("", |authority| authority.as_str());
    let host = host.rsplit_once('@').map_or(host, |(_, host)| host);
    HeaderValue::from_str(host).unwrap_or_else(|_| HeaderValue::from_static(""))
}

/// CPU time of this process so far.
fn cpu() -> ClientCost {
    let usage = getrusage(UsageWho::RUSAGE_SELF).ok();
    let seconds =
        |time: nix::sys::time::TimeVal| time.tv_sec() as f64 + time.tv_usec() as f64 / 1e6;
    ClientCost {
        threads: 0,
        user_s: usage.map_or(0.0, |usage| seconds(usage.user_time())),
        system_s: usage.map_or(0.0, |usage| seconds(usage.system_time())),
    }
}

fn lock(record: &Mutex<Record>) -> MutexGuard<'_, Record> {
    record.lock().unwrap_or_else(PoisonError::into_inner)
}
