//! Sessions around a handler of a site, and around a service.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use http::{Request, Response};
use thrum_http::Body;
use tower_layer::Layer;
use tower_service::Service;

use super::{Session, SessionError, Sessions, forward};
use crate::kv::store_failed;
use crate::site::{Answer, Handler, Visit, reply};

/// Gives the requests of a service their sessions, as a [tower layer](Layer).
#[derive(Clone, Debug)]
pub struct SessionLayer {
    sessions: Sessions,
    secure: bool,
}

impl SessionLayer {
    pub(super) fn new(sessions: Sessions) -> Self {
        Self {
            sessions,
            secure: true,
        }
    }

    /// For a service that is not reached by TLS: its cookie is sent over plain connections too.
    pub fn insecure(mut self) -> Self {
        self.secure = false;
        self
    }
}

impl<S> Layer<S> for SessionLayer {
    type Service = SessionService<S>;

    fn layer(&self, inner: S) -> SessionService<S> {
        SessionService {
            inner,
            layer: self.clone(),
        }
    }
}

/// A service whose requests have sessions.
#[derive(Clone, Debug)]
pub struct SessionService<S> {
    inner: S,
    layer: SessionLayer,
}

impl<S, B> Service<Request<Body>> for SessionService<S>
where
    S: Service<Request<Body>, Response = Response<B>>,
    S::Future: Send + 'static,
    B: Into<Body>,
{
    type Response = Response<Body>;
    type Error = S::Error;
    type Future = Pin<Box<dyn Future<Output = Result<Response<Body>, S::Error>> + Send>>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), S::Error>> {
        self.inner.poll_ready(context)
    }

    fn call(&mut self, mut request: Request<Body>) -> Self::Future {
        let layer = &self.layer;
        let session = layer.sessions.open(request.headers(), layer.secure);
        request.extensions_mut().insert(session.clone());
        let response = self.inner.call(request);
        Box::pin(async move {
            let response = response.await?.map(Into::into);
            Ok(saved(&session, response).await)
        })
    }
}

/// A handler whose requests have sessions.
pub(super) struct WithSessions {
    pub(super) sessions: Sessions,
    /// Whether the session is told to programs, and they may change it.
    pub(super) forward: bool,
    pub(super) inner: Arc<dyn Handler>,
}

impl Handler for WithSessions {
    fn handle(&self, mut request: Request<Body>, mut visit: Visit) -> Answer {
        forward::strip(request.headers_mut());
        let session = self.sessions.open(request.headers(), visit.secure);
        request.extensions_mut().insert(session.clone());
        if !self.forward {
            return match self.inner.handle(request, visit) {
                Answer::Now(response) if !session.is_touched() => Answer::Now(response),
                Answer::Onward(request) => Answer::Onward(request),
                answer => Answer::later(async move {
                    let response = answer.response().await;
                    saved(&session, response).await
                }),
            };
        }
        let inner = self.inner.clone();
        let has_cookie = session.has_cookie();
        Answer::later(async move {
            if has_cookie {
                match forward::announce(&session, request.headers_mut()).await {
                    Ok(Some(user)) => visit.user = Some(user.into()),
                    Ok(None) => {}
                    Err(error) => return failed(&error),
                }
            }
            let answer = inner.handle(request, visit.clone());
            let mut response = visit.settle(answer).await;
            if forward::speaks(&response)
                && let Err(error) = forward::obey(&session, &mut response).await
            {
                return failed(&error);
            }
            saved(&session, response).await
        })
    }
}

/// The response with its session saved, or another one that says that this failed.
async fn saved(session: &Session, mut response: Response<Body>) -> Response<Body> {
    match session.save(&mut response).await {
        Ok(()) => response,
        Err(error) => failed(&error),
    }
}

fn failed(error: &SessionError) -> Response<Body> {
    match error {
        SessionError::Store(error) => store_failed(error),
        SessionError::TooLarge { .. } => {
            tracing::warn!("{error}");
            reply::status(http::StatusCode::INTERNAL_SERVER_ERROR)
        }
    }
}
