//! A limit of requests that are handled at the same time.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll, ready};
use std::time::Duration;

use bytes::Bytes;
use http::{Request, Response, StatusCode};
use pin_project_lite::pin_project;
use thrum_rt::sync::{OwnedPermit, Semaphore};
use tower_layer::Layer;
use tower_service::Service;

use super::refused::{Refused, answer, retry_after};
use crate::Body;

/// What those are told who find the line full.
const RETRY_AFTER: Duration = Duration::from_secs(1);

/// Limits how many requests are handled at the same time: more wait in line, and beyond the line they are answered with 503 and
/// `retry-after: 1`.
///
/// A request counts until its response's head is there; bodies that are sent do not. How long one may wait in line is the
/// matter of a [`Timeout`](super::Timeout) around this.
///
/// The layer's clones, and all services that it is put around, share one limit.
///
/// ```
/// use thrum_http::middleware::ConcurrencyLimit;
///
/// let layer = ConcurrencyLimit::new(100, 50); // 100 at a time, 50 in line
/// ```
#[derive(Clone, Debug)]
pub struct ConcurrencyLimit {
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    running: Arc<Semaphore>,
    waiting: AtomicUsize,
    most_waiting: usize,
    refused: Refused,
}

impl ConcurrencyLimit {
    /// So many at a time, and so many in line.
    pub fn new(running: usize, waiting: usize) -> Self {
        Self {
            shared: Arc::new(Shared {
                running: Arc::new(Semaphore::new(running)),
                waiting: AtomicUsize::new(0),
                most_waiting: waiting,
                refused: Refused::default(),
            }),
        }
    }

    /// Requests refused so far.
    pub fn refused(&self) -> u64 {
        self.shared.refused.total()
    }

    /// Requests that are in line now.
    pub fn waiting(&self) -> usize {
        self.shared.waiting.load(Ordering::Relaxed)
    }
}

impl<S> Layer<S> for ConcurrencyLimit {
    type Service = ConcurrencyLimited<S>;

    fn layer(&self, service: S) -> Self::Service {
        ConcurrencyLimited {
            service,
            shared: self.shared.clone(),
        }
    }
}

/// A place in line, given up when it is dropped.
struct Place(Arc<Shared>);

impl Place {
    fn take(shared: &Arc<Shared>) -> Option<Self> {
        let place = Self(shared.clone());
        let ahead = shared.waiting.fetch_add(1, Ordering::Relaxed);
        (ahead < shared.most_waiting).then_some(place)
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.0.waiting.fetch_sub(1, Ordering::Relaxed);
    }
}

/// A service with a [`ConcurrencyLimit`].
#[derive(Clone, Debug)]
pub struct ConcurrencyLimited<S> {
    service: S,
    shared: Arc<Shared>,
}

impl<S, R, B> Service<Request<R>> for ConcurrencyLimited<S>
where
    S: Service<Request<R>, Response = Response<B>> + Clone,
    B: http_body::Body<Data = Bytes> + Send + 'static,
    B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
{
    type Response = Response<Body>;
    type Error = S::Error;
    type Future = ConcurrencyFuture<S, R>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), S::Error>> {
        self.service.poll_ready(cx)
    }

    fn call(&mut self, request: Request<R>) -> Self::Future {
        let running = &self.shared.running;
        let state = if let Some(permit) = running.clone().try_acquire_owned() {
            State::Running {
                future: self.service.call(request),
                permit,
            }
        } else if let Some(place) = Place::take(&self.shared) {
            // The one that has said to be ready takes the request; its clone has not.
            let clone = self.service.clone();
            State::Waiting {
                waiting: Box::new(Waiting {
                    permit: Box::pin(running.clone().acquire_owned()),
                    service: std::mem::replace(&mut self.service, clone),
                    request,
                    _place: place,
                }),
            }
        } else {
            self.shared.refused.count("concurrency limit");
            State::Refused
        };
        ConcurrencyFuture { state }
    }
}

/// Who is in line.
struct Waiting<S, R> {
    permit: Pin<Box<dyn Future<Output = OwnedPermit> + Send>>,
    service: S,
    request: Request<R>,
    _place: Place,
}

pin_project! {
    /// The future of a [`ConcurrencyLimited`] service.
    pub struct ConcurrencyFuture<S, R>
    where
        S: Service<Request<R>>,
    {
        #[pin]
        state: State<S, R>,
    }
}

pin_project! {
    #[project = StateProjected]
    #[project_replace = StateReplaced]
    enum State<S, R>
    where
        S: Service<Request<R>>,
    {
        Waiting { waiting: Box<Waiting<S, R>> },
        Running { #[pin] future: S::Future, permit: OwnedPermit },
        Refused,
    }
}

impl<S, R, B> Future for ConcurrencyFuture<S, R>
where
    S: Service<Request<R>, Response = Response<B>>,
    B: http_body::Body<Data = Bytes> + Send + 'static,
    B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
{
    type Output = Result<Response<Body>, S::Error>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let mut state = self.project().state;
        loop {
            match state.as_mut().project() {
                StateProjected::Waiting { waiting } => {
                    let permit = ready!(waiting.permit.as_mut().poll(cx));
                    let StateReplaced::Waiting { waiting } =
                        state.as_mut().project_replace(State::Refused)
                    else {
                        unreachable!("it was just looked at");
                    };
                    let Waiting {
                        mut service,
                        request,
                        ..
                    } = *waiting;
                    let future = service.call(request);
                    state.set(State::Running { future, permit });
                }
                StateProjected::Running { future, .. } => {
                    let result = ready!(future.poll(cx));
                    // Whoever is next in line need not wait until this future is dropped.
                    state.set(State::Refused);
                    return Poll::Ready(result.map(|response| response.map(Body::wrap)));
                }
                StateProjected::Refused => {
                    let mut response = answer(StatusCode::SERVICE_UNAVAILABLE);
                    retry_after(&mut response, RETRY_AFTER);
                    return Poll::Ready(Ok(response));
                }
            }
        }
    }
}
