//! A closure as an application.

use std::convert::Infallible;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

use http::{Request, Response};
use pin_project_lite::pin_project;
use tower_service::Service;

use crate::Body;

/// Makes an application of an asynchronous closure: `async |request| response`.
///
/// The response's body may be anything that turns into a [`Body`], such as a string.
pub fn service_fn<F, R, B>(f: F) -> ServiceFn<F>
where
    F: FnMut(Request<Body>) -> R,
    R: Future<Output = Response<B>>,
    B: Into<Body>,
{
    ServiceFn { f }
}

/// What [`service_fn`] makes.
#[derive(Clone, Copy, Debug)]
pub struct ServiceFn<F> {
    f: F,
}

impl<F, R, B> Service<Request<Body>> for ServiceFn<F>
where
    F: FnMut(Request<Body>) -> R,
    R: Future<Output = Response<B>>,
    B: Into<Body>,
{
    type Response = Response<Body>;
    type Error = Infallible;
    type Future = ServiceFuture<R>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<Body>) -> Self::Future {
        ServiceFuture {
            future: (self.f)(request),
        }
    }
}

pin_project! {
    /// The future of a [`ServiceFn`].
    #[derive(Debug)]
    pub struct ServiceFuture<R> {
        #[pin]
        future: R,
    }
}

impl<R, B> Future for ServiceFuture<R>
where
    R: Future<Output = Response<B>>,
    B: Into<Body>,
{
    type Output = Result<Response<Body>, Infallible>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let response = self.project().future.poll(cx);
        response.map(|response| Ok(response.map(Into::into)))
    }
}
