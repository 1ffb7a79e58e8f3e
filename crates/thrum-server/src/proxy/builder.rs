//! What a proxy is made of: its upstreams, its limits, and what it changes.

use std::fmt::Write;
use std::sync::Arc;
use std::sync::atomic::AtomicUsize;
use std::time::Duration;

use http::{HeaderMap, HeaderName, HeaderValue, StatusCode};
use thiserror::Error;
use thrum_http::client::{self, Limits, Timeouts};
use thrum_http::tls::Connector;
use thrum_http::{Client, early_hints};

use super::balance::Chooser;
use super::health::Passive;
use super::retry::{Budget, Retries};
use super::room::{Queue, Room};
use super::rules::Rule;
use super::target::{Place, Protocol};
use crate::forwarded::TrustedProxies;

use super::{
    Balance, Forwarded, HostField, Peer, Probe, Proxy, Shared, Target, Template, Upstreams, hop,
};

/// Makes a [`Proxy`].
#[derive(Clone, Debug)]
#[must_use = "a builder does nothing until it builds"]
pub struct ProxyBuilder {
    targets: Vec<(Target, u32)>,
    balance: Balance,
    room: Room,
    connect_timeout: Duration,
    timeout: Duration,
    idle_timeout: Duration,
    tunnel_timeout: Duration,
    passive: Passive,
    probe: Option<Probe>,
    retries: Retries,
    rules: Vec<Rule>,
    forwarded: Forwarded,
    trusted: TrustedProxies,
    host: HostField,
    via: bool,
    buffer: Option<u64>,
    keep_alive: usize,
    keep_alive_timeout: Duration,
    connection_age: Duration,
    tls: Option<Connector>,
    tls_name: Option<String>,
    /// What tells connections apart that are made in different ways.
    tls_key: String,
    upstreams: Option<Arc<Upstreams>>,
}

/// Why there is no proxy.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum BadProxy {
    /// It has no upstream.
    #[error("there is no upstream to ask")]
    NoTarget,
    /// A target that no request could be sent to.
    #[error("{0}")]
    Target(#[from] client::Error),
}

/// The largest weight: the turns of all upstreams are written down.
pub(super) const MOST_WEIGHT: u32 = 1000;

impl Default for ProxyBuilder {
    fn default() -> Self {
        Self {
            targets: Vec::new(),
            balance: Balance::RoundRobin,
            room: Room {
                limit: 1000,
                queue: 1000,
                patience: Duration::from_secs(10),
            },
            connect_timeout: Duration::from_secs(5),
            timeout: Duration::from_secs(60),
            idle_timeout: Duration::from_secs(60),
            tunnel_timeout: Duration::from_secs(3600),
            passive: Passive {
                fails: 3,
                period: Duration::from_secs(10),
            },
            probe: None,
            retries: Retries {
                count: 2,
                period: Duration::from_secs(10),
                percent: 20,
            },
            rules: Vec::new(),
            forwarded: Forwarded::X,
            trusted: TrustedProxies::default(),
            host: HostField::Kept,
            via: true,
            buffer: None,
            keep_alive: 100,
            keep_alive_timeout: Duration::from_secs(50),
            connection_age: Duration::from_secs(15 * 60),
            tls: None,
            tls_name: None,
            tls_key: String::new(),
            upstreams: None,
        }
    }
}

impl ProxyBuilder {
    /// Adds an upstream, of weight 1.
    pub fn to(self, target: Target) -> Self {
        self.to_weighted(target, 1)
    }

    /// Adds an upstream that gets so many times as much as one of weight 1: 1 to 1,000.
    pub fn to_weighted(mut self, target: Target, weight: u32) -> Self {
        self.targets.push((target, weight.clamp(1, MOST_WEIGHT)));
        self
    }

    /// Sets how upstreams are chosen. Default: by turns.
    pub fn balance(mut self, balance: Balance) -> Self {
        self.balance = balance;
        self
    }

    /// Sets how many requests each upstream has at once, how many wait when all have as many, and how long. Default: 1,000,
    /// 1,000, 10 s. Beyond it: 503.
    pub fn limit(mut self, limit: usize, queue: usize, patience: Duration) -> Self {
        self.room = Room {
            limit: limit.max(1),
            queue,
            patience,
        };
        self
    }

    /// Sets how long looking up and connecting may take, and as long the TLS handshake. Default: 5 s.
    pub fn connect_timeout(mut self, timeout: Duration) -> Self {
        self.connect_timeout = timeout;
        self
    }

    /// Sets how long the upstream may take from the end of a request to the head of its response. Default: 60 s.
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = timeout;
        self
    }

    /// Sets how long the upstream may take none of a request's body, or send none of its response's. Default: 60 s.
    pub fn idle_timeout(mut self, timeout: Duration) -> Self {
        self.idle_timeout = timeout;
        self
    }

    /// Sets how long nothing may move on an upgraded connection. Default: 1 h.
    pub fn tunnel_timeout(mut self, timeout: Duration) -> Self {
        self.tunnel_timeout = timeout;
        self
    }

    /// Sets after how many failures in a row an upstream is down, in what time; it is down for as long, and then one request
    /// shows how it is. 0: never. Default: 3, 10 s. When all are down, all are asked.
    pub fn passive(mut self, fails: u32, period: Duration) -> Self {
        self.passive = Passive { fails, period };
        self
    }

    /// Has upstreams asked how they are: see [`Proxy::watch`]. Default: no.
    pub fn probe(mut self, probe: Probe) -> Self {
        self.probe = Some(probe);
        self
    }

    /// Sets what is asked again when an upstream fails: so many others, each once, in so long from the first, and of a
    /// hundred requests so many in the long run. Default: 2, 10 s, 20.
    ///
    /// Only what does no harm twice is asked again: nothing of it had reached the upstream, or its method is idempotent; and
    /// its body was not begun or lies in memory ([`buffer`](Self::buffer)).
    pub fn retries(mut self, count: u32, period: Duration, percent: u32) -> Self {
        self.retries = Retries {
            count,
            period,
            percent: percent.min(100),
        };
        self
    }

    /// Sets a field of requests. They are done in the order in which they were added.
    pub fn set_header(mut self, name: HeaderName, value: Template) -> Self {
        self.rules.push(Rule::Set(name, value));
        self
    }

    /// Removes a field from requests.
    pub fn remove_header(mut self, name: HeaderName) -> Self {
        self.rules.push(Rule::Remove(name));
        self
    }

    /// Sets which fields say who asks. Default: `X-Forwarded-*`.
    pub fn forwarded(mut self, forwarded: Forwarded) -> Self {
        self.forwarded = forwarded;
        self
    }

    /// Sets the proxies in front of this one whose word is passed on, of who asks. Default: none.
    pub fn trust(mut self, proxies: TrustedProxies) -> Self {
        self.trusted = proxies;
        self
    }

    /// Sets the `Host` that upstreams are asked for. Default: the client's.
    pub fn host(mut self, host: HeaderValue) -> Self {
        self.host = HostField::Fixed(host);
        self
    }

    /// Asks each upstream for its own host and port, not for the client's `Host`.
    pub fn own_host(mut self) -> Self {
        self.host = HostField::Upstream;
        self
    }

    /// Sets whether requests say by `Via` that they came through here. Default: true.
    pub fn via(mut self, via: bool) -> Self {
        self.via = via;
        self
    }

    /// Keeps so many bytes of a body here, so that the slower side does not hold the other: a request's body up to that size
    /// is read before an upstream is asked, and so can be sent again; of a response's, so much is read ahead. Default: bodies
    /// flow both ways at the slower side's pace.
    pub fn buffer(mut self, bytes: u64) -> Self {
        self.buffer = Some(bytes);
        self
    }

    /// Sets how many connections to each upstream are kept while they idle, for how long, and the age from which none is used
    /// again, so that a name's new addresses are seen. Default: 100, 50 s, 15 min.
    pub fn keep_alive(mut self, count: usize, idle: Duration, age: Duration) -> Self {
        (
            self.keep_alive,
            self.keep_alive_timeout,
            self.connection_age,
        ) = (count, idle, age);
        self
    }

    /// Sets whom it trusts and who it is, to upstreams of `https`. Default: it trusts whom the system trusts. Proxies that
    /// share [`Upstreams`] share connections if `key`, the other settings and the address are the same.
    pub fn tls(mut self, connector: Connector, key: &str) -> Self {
        self.tls = Some(connector);
        key.clone_into(&mut self.tls_key);
        self
    }

    /// Sets the name that an upstream's certificate must have. Default: its host.
    pub fn tls_name(mut self, name: impl Into<String>) -> Self {
        self.tls_name = Some(name.into());
        self
    }

    /// Shares what is known of upstreams, and the connections to them, with other proxies. Default: none.
    pub fn upstreams(mut self, upstreams: Arc<Upstreams>) -> Self {
        self.upstreams = Some(upstreams);
        self
    }

    /// The proxy.
    ///
    /// # Errors
    /// When it has no upstream, or one that no request can be sent to.
    pub fn build(self) -> Result<Proxy, BadProxy> {
        if self.targets.is_empty() {
            return Err(BadProxy::NoTarget);
        }
        let upstreams = self.upstreams.clone().unwrap_or_default();
        let peers: Result<Vec<_>, client::Error> = self
            .targets
            .iter()
            .map(|(target, _)| {
                let connections =
                    upstreams.connections(&self.key(target), || self.connections(target));
                Ok(Peer {
                    upstream: upstreams.get(&target.name()),
                    connections: connections?,
                    path: target.path.clone(),
                    active: AtomicUsize::new(0),
                })
            })
            .collect();
        let names: Vec<_> = self
            .targets
            .iter()
            .map(|(target, weight)| (target.to_string(), *weight))
            .collect();
        let names = names.iter().map(|(name, weight)| (name.as_str(), *weight));
        let changes_target = self.host == HostField::Upstream
            || self.targets.iter().any(|(target, _)| target.path.is_some());
        Ok(Proxy {
            shared: Arc::new(Shared {
                peers: peers?,
                chooser: Chooser::new(self.balance, names),
                room: self.room,
                queue: Queue::default(),
                passive: self.passive,
                probe: self.probe,
                retries: self.retries,
                budget: Budget::new(),
                rules: self.rules,
                forwarded: self.forwarded,
                trusted: self.trusted,
                host: self.host,
                via: self.via,
                buffer: self.buffer,
                tunnel_timeout: self.tunnel_timeout,
                changes_target,
                upstreams,
            }),
        })
    }

    /// Whatever connections depend on.
    fn key(&self, target: &Target) -> String {
        let mut key = target.name();
        let _ = write!(
            key,
            " {:?} {:?} {:?} {:?} {:?} {:?} {:?} {:?} {}",
            self.room,
            self.connect_timeout,
            self.timeout,
            self.idle_timeout,
            self.keep_alive,
            self.keep_alive_timeout,
            self.connection_age,
            self.tls_name,
            self.tls_key,
        ); // a String takes all
        key
    }

    fn connections(&self, target: &Target) -> Result<client::Upstream, client::Error> {
        let mut limits = Limits::default();
        // The room has let the request in; what is shared with others of the same settings must not hold it up.
        limits.connections_per_host = usize::MAX;
        limits.idle_per_host = self.keep_alive;
        limits.idle = self.keep_alive;
        let mut timeouts = Timeouts::default();
        timeouts.connect = self.connect_timeout;
        timeouts.handshake = self.connect_timeout;
        timeouts.head = self.timeout;
        timeouts.write = self.idle_timeout;
        timeouts.body = self.idle_timeout;
        timeouts.idle = self.keep_alive_timeout;
        timeouts.lifetime = self.connection_age;
        let mut client = Client::builder().limits(limits).timeouts(timeouts);
        if target.protocol == Protocol::H2c {
            client = client.http2_prior_knowledge();
        }
        if let Place::Unix(path) = &target.place {
            client = client.unix_socket(path);
        }
        if let Some(connector) = &self.tls {
            client = client.tls(connector.clone());
        }
        if let Some(name) = &self.tls_name {
            client = client.server_name(name);
        }
        Ok(client.upstream(target.url())?.on_interim(pass_on))
    }
}

/// Hands early hints on to the client. Other interim responses are between two hops.
fn pass_on(status: StatusCode, headers: &HeaderMap) {
    if status == StatusCode::EARLY_HINTS {
        let mut headers = headers.clone();
        hop::strip_response(&mut headers);
        early_hints(headers);
    }
}
