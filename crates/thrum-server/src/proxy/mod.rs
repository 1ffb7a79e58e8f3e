//! A reverse proxy: requests go to one of several upstreams, and its responses come back, as they flow.
//!
//! | module | what is in it |
//! |---|---|
//! | `config` | from how it is written, `/api/ >> 127.0.0.1:3000 { timeout 10s }`, to a proxy; `settings`: what may be written |
//! | `builder` | [`ProxyBuilder`] |
//! | `target` | [`Target`]: where an upstream is |
//! | `upstream` | [`Upstreams`]: what is known of each, whichever routes go there |
//! | `exchange` | one request, and what becomes of it |
//! | `balance` | [`Balance`]: which upstream is asked |
//! | `room` | how many requests one has at once, and who waits |
//! | `health` | which are up: by what becomes of requests, and by asking them |
//! | `retry` | what is asked again |
//! | `hop`, `forwarded`, `rules` | the fields of a request on its way through |
//! | `relay` | bodies |
//! | `tunnel` | connections that were upgraded |

mod balance;
mod builder;
pub mod config;
mod exchange;
mod forwarded;
mod health;
mod hop;
mod relay;
mod retry;
mod room;
mod rules;
mod settings;
mod target;
mod tunnel;
mod upstream;

use std::sync::Arc;
use std::sync::atomic::AtomicUsize;
use std::time::Duration;

use http::{HeaderValue, Request};
use thrum_http::{Body, client};

pub use self::balance::{Balance, HashKey};
pub use self::builder::{BadProxy, ProxyBuilder};
pub use self::config::{KIND, VERB};
pub use self::forwarded::Forwarded;
pub use self::health::Probe;
pub use self::rules::{BadTemplate, Template};
pub use self::target::{BadTarget, Target};
pub use self::upstream::{Status, Upstreams};

use self::balance::Chooser;
use self::health::Passive;
use self::retry::{Budget, Retries};
use self::room::{Queue, Room};
use self::rules::Rule;
use self::upstream::Upstream;
use crate::forwarded::TrustedProxies;
use crate::site::{Answer, Handler, Visit};

/// Takes requests to one of several upstreams. Clones share all of it.
///
/// ```
/// use std::time::Duration;
/// use thrum_server::proxy::{Balance, Proxy};
///
/// let proxy = Proxy::builder()
///     .to("127.0.0.1:3000".parse()?)
///     .to("127.0.0.1:3001".parse()?)
///     .balance(Balance::LeastConnections)
///     .timeout(Duration::from_secs(10))
///     .build()?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct Proxy {
    shared: Arc<Shared>,
}

/// What a proxy is made of.
struct Shared {
    peers: Vec<Peer>,
    chooser: Chooser,
    room: Room,
    queue: Queue,
    passive: Passive,
    probe: Option<Probe>,
    retries: Retries,
    budget: Budget,
    rules: Vec<Rule>,
    forwarded: Forwarded,
    trusted: TrustedProxies,
    host: HostField,
    via: bool,
    /// Bytes of a body that are kept here, each way.
    buffer: Option<u64>,
    tunnel_timeout: Duration,
    /// Some upstream is asked for another path or host than the client has asked for.
    changes_target: bool,
    /// Keeps them from being forgotten.
    upstreams: Arc<Upstreams>,
}

/// An upstream as one of a proxy's.
struct Peer {
    upstream: Arc<Upstream>,
    connections: Arc<client::Upstream>,
    /// What the route's path is replaced by.
    path: Option<String>,
    /// Requests of this proxy that it is at.
    active: AtomicUsize,
}

/// Which `Host` upstreams are asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
enum HostField {
    /// The client's.
    Kept,
    /// Their own.
    Upstream,
    Fixed(HeaderValue),
}

impl Proxy {
    /// Makes one.
    pub fn builder() -> ProxyBuilder {
        ProxyBuilder::default()
    }

    /// What is known of its upstreams, in their order.
    pub fn status(&self) -> Vec<Status> {
        let peers = self.shared.peers.iter();
        peers.map(|peer| peer.upstream.status()).collect()
    }

    /// All upstreams that this proxy shares what is known with.
    pub fn upstreams(&self) -> &Arc<Upstreams> {
        &self.shared.upstreams
    }

    /// Asks the upstreams how they are, if the proxy has a [`Probe`], for as long as it is polled: it is for a task of its own.
    ///
    /// Dropping the future ends the asking; what was found out so far holds.
    pub fn watch(&self) -> impl Future<Output = ()> + Send + 'static {
        let shared = self.shared.clone();
        async move {
            if let Some(probe) = shared.probe.clone() {
                health::watch(shared, probe).await;
            }
        }
    }
}

impl Handler for Proxy {
    fn handle(&self, request: Request<Body>, visit: Visit) -> Answer {
        Answer::later(exchange::exchange(self.shared.clone(), request, visit))
    }
}

impl std::fmt::Debug for Proxy {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Proxy")
            .field("status", &self.status())
            .finish_non_exhaustive()
    }
}
