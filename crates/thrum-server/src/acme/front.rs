//! What plain HTTP does for certificates: it answers authorities, and spares visitors those that nobody trusts.

use std::convert::Infallible;
use std::task::{Context, Poll};

use http::{Request, Response, StatusCode};
use thrum_http::Body;
use tower_service::Service;

use super::Challenges;
use crate::site::{AnswerFuture, AppAt, host_of, reply};

/// An application with the challenges of certificates in front of it. Where plain HTTP would lead to a site whose certificate
/// is not there yet, the site answers itself.
#[derive(Clone)]
pub struct Front {
    application: AppAt,
    /// The sites with TLS, of a listener that leads there.
    secure: Option<AppAt>,
    challenges: Challenges,
}

impl Front {
    /// Puts challenges in front of an application; `secure` is the one that it leads to, if it does.
    pub fn new(application: AppAt, secure: Option<AppAt>, challenges: Challenges) -> Self {
        Self {
            application,
            secure,
            challenges,
        }
    }
}

impl Service<Request<Body>> for Front {
    type Response = Response<Body>;
    type Error = Infallible;
    type Future = AnswerFuture;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<Body>) -> AnswerFuture {
        if let Some(text) = self.challenges.text(request.uri().path()) {
            return reply::text(StatusCode::OK, text).into();
        }
        let application = match &mut self.secure {
            Some(secure) if self.challenges.is_pending(host_of(&request)) => secure,
            _ => &mut self.application,
        };
        application.call(request)
    }
}
