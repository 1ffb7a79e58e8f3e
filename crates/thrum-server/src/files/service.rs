//! [`Files`] as a handler of a route, and as a service of its own.

use std::convert::Infallible;
use std::task::{Context, Poll};

use http::{Request, Response};
use thrum_http::Body;
use tower_service::Service;

use super::Files;
use crate::site::{Answer, AnswerFuture, Handler, Visit};

impl Handler for Files {
    fn handle(&self, request: Request<Body>, visit: Visit) -> Answer {
        self.answer_beneath(&request, &visit.route.mount)
    }
}

impl<T> Service<Request<T>> for Files {
    type Response = Response<Body>;
    type Error = Infallible;
    type Future = AnswerFuture;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<T>) -> AnswerFuture {
        AnswerFuture(Some(self.answer(&request)))
    }
}
