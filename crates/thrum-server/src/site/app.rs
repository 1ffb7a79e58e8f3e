//! The application that a server serves: sites that can be swapped while it runs.

use std::collections::BTreeMap;
use std::convert::Infallible;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};

use arc_swap::ArcSwap;
use http::{Request, Response, StatusCode};
use thrum_http::Body;
use thrum_rt::TaskSet;
use tower_service::Service;

use super::building::Start;
use super::handler::{Answer, Visit};
use super::name::Endpoint;
use super::reply;
use super::sites::{Hosts, host_of};
use crate::forwarded::TrustedProxies;
use crate::observe;
use crate::session;

/// All sites of a configuration.
pub struct Sites {
    pub(super) endpoints: BTreeMap<Endpoint, (bool, Hosts)>,
    pub(super) trusted: TrustedProxies,
    pub(super) starts: Vec<Start>,
}

impl Sites {
    /// Where it is to be listened, and whether with TLS.
    pub fn endpoints(&self) -> impl Iterator<Item = (&Endpoint, bool)> {
        self.endpoints
            .iter()
            .map(|(endpoint, (secure, _))| (endpoint, *secure))
    }
}

/// The sites that are served now. Clones are the same application.
#[derive(Clone)]
pub struct App {
    current: Arc<ArcSwap<Live>>,
    /// Held while sites are swapped.
    swapping: Arc<Mutex<()>>,
}

/// Sites that have come to life, with the tasks they have.
struct Live {
    endpoints: BTreeMap<Endpoint, (bool, Hosts)>,
    trusted: TrustedProxies,
    _tasks: TaskSet<()>,
}

impl App {
    /// Serves sites. To be called in the runtime: what goes on behind them is started.
    pub fn new(sites: Sites) -> Self {
        Self {
            current: Arc::new(ArcSwap::from_pointee(Live::start(sites))),
            swapping: Arc::default(),
        }
    }

    /// Serves these sites from the next request on. Requests that are being answered are finished by the sites they came
    /// to. What went on behind those ends.
    pub fn swap(&self, sites: Sites) {
        let _swapping = self.swapping.lock().unwrap_or_else(PoisonError::into_inner);
        self.current.store(Arc::new(Live::start(sites)));
    }

    /// Whether an endpoint is served with TLS now.
    pub fn is_secure(&self, endpoint: &Endpoint) -> bool {
        let live = self.current.load();
        live.endpoints
            .get(endpoint)
            .is_some_and(|(secure, _)| *secure)
    }

    /// What is served at one endpoint.
    pub fn at(&self, endpoint: Endpoint) -> AppAt {
        AppAt {
            app: self.clone(),
            endpoint: endpoint.into(),
        }
    }
}

impl Live {
    fn start(sites: Sites) -> Self {
        let mut tasks = TaskSet::new();
        for start in sites.starts {
            start(&mut tasks);
        }
        Self {
            endpoints: sites.endpoints,
            trusted: sites.trusted,
            _tasks: tasks,
        }
    }
}

/// An application as it is at one endpoint.
#[derive(Clone)]
pub struct AppAt {
    app: App,
    endpoint: Arc<Endpoint>,
}

impl AppAt {
    /// Answers a request that came over the connection of [`thrum_http::connection`].
    pub fn answer(&self, mut request: Request<Body>) -> Answer {
        // What only a session may say, whether the route has sessions or not.
        session::strip(request.headers_mut());
        let live = self.app.current.load();
        let connection = thrum_http::connection().unwrap_or_default();
        let client = live.trusted.client(
            connection.peer.map(|peer| peer.ip()),
            connection.tls.is_some(),
            request.headers(),
        );
        let direct = connection.peer.map(|peer| peer.ip().to_canonical());
        if let Some(address) = client.address.filter(|_| client.address != direct) {
            thrum_http::note(Arc::new(observe::Client(address)));
        }
        let visit = Visit::new(client.address, client.secure);
        let hosts = live.endpoints.get(&*self.endpoint);
        let Some(site) = hosts.and_then(|(_, hosts)| hosts.find(host_of(&request))) else {
            // RFC 9110, 15.5.20: it came to a server that is not able to answer for that host.
            return reply::status(StatusCode::MISDIRECTED_REQUEST).into();
        };
        site.answer(request, visit)
    }
}

impl Service<Request<Body>> for AppAt {
    type Response = Response<Body>;
    type Error = Infallible;
    type Future = AnswerFuture;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<Body>) -> AnswerFuture {
        AnswerFuture(Some(self.answer(request)))
    }
}

/// The response of an [`AppAt`] or of files, to come.
#[derive(Debug)]
pub struct AnswerFuture(pub(crate) Option<Answer>);

impl From<Response<Body>> for AnswerFuture {
    fn from(response: Response<Body>) -> Self {
        Self(Some(Answer::Now(response)))
    }
}

impl Future for AnswerFuture {
    type Output = Result<Response<Body>, Infallible>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        if let Some(Answer::Later(response)) = &mut self.0 {
            return response.as_mut().poll(cx).map(Ok);
        }
        match self.0.take() {
            Some(Answer::Now(response)) => Poll::Ready(Ok(response)),
            // Neither sites nor files give requests back; whatever it were, nothing answers it.
            _ => Poll::Ready(Ok(reply::status(StatusCode::NOT_FOUND))),
        }
    }
}
