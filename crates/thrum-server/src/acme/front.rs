//! What plain HTTP does for certificates: it answers authorities, and spares visitors those that nobody trusts.

use std::convert::Infallible;
use std::pin::Pin;
use std::task::{Context, Poll};

use http::{Request, Response};
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
    type Future = FrontFuture;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<Body>) -> FrontFuture {
        if let Some(text) = self.challenges.text(request.uri().path()) {
            return FrontFuture::Challenge(Some(text));
        }
        let application = match &mut self.secure {
            Some(secure) if self.challenges.is_pending(host_of(&request)) => secure,
            _ => &mut self.application,
        };
        FrontFuture::Application(application.call(request))
    }
}

/// The response of a [`Front`], to come.
#[derive(Debug)]
pub enum FrontFuture {
    /// The text that an authority asked for.
    Challenge(Option<String>),
    /// The application's.
    Application(AnswerFuture),
}

impl Future for FrontFuture {
    type Output = Result<Response<Body>, Infallible>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        match &mut *self {
            Self::Challenge(text) => {
                let text = text.take().unwrap_or_default();
                Poll::Ready(Ok(reply::text(http::StatusCode::OK, text)))
            }
            Self::Application(response) => Pin::new(response).poll(cx),
        }
    }
}
