//! `max-body`: how large a request's body may be.

use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use http::{Request, StatusCode};
use http_body::{Body as HttpBody, Frame, SizeHint};
use thrum_http::{Body, BodyError};

use super::{Guard, refused};
use crate::config::{Kind, Setting, Settings};
use crate::site::{Answer, Building, Handler, Layer, Visit, reply};

/// `max-body`.
pub(crate) static SETTINGS: &[Setting] = &[Setting {
    default: "10MiB",
    ..Setting::new(
        "max-body",
        &[Kind::SizeOrOff],
        "How large a request's body may be; larger ones are answered with 413, and cut if their length was not said.",
        "max-body 100MiB",
    )
}];

pub(crate) static LAYER: Layer = Layer {
    settings: SETTINGS,
    build,
};

/// A limit of the size of requests' bodies.
///
/// A body whose length is known beforehand is refused before it is read. Another one ends with
/// [`BodyError::TooLarge`] at the limit, and whatever the handler makes of that, the response is 413.
///
/// ```
/// let limit = thrum_server::guard::BodyLimit::new(10 << 20);
/// # let _ = limit;
/// ```
#[derive(Clone, Copy, Debug)]
pub struct BodyLimit {
    bytes: u64,
}

impl BodyLimit {
    /// So many bytes.
    pub fn new(bytes: u64) -> Self {
        Self { bytes }
    }

    /// Guards a handler.
    pub fn around(self, handler: Arc<dyn Handler>) -> Arc<dyn Handler> {
        Arc::new(Guarded {
            bytes: self.bytes,
            handler,
        })
    }
}

struct Guarded {
    bytes: u64,
    handler: Arc<dyn Handler>,
}

impl Handler for Guarded {
    fn handle(&self, request: Request<Body>, visit: Visit) -> Answer {
        match request.body().size() {
            Some(size) if size <= self.bytes => self.handler.handle(request, visit),
            Some(_) => {
                refused(Guard::Body, &visit);
                reply::status(StatusCode::PAYLOAD_TOO_LARGE).into()
            }
            None => self.counted(request, visit),
        }
    }
}

impl Guarded {
    fn counted(&self, request: Request<Body>, visit: Visit) -> Answer {
        let exceeded = Arc::new(AtomicBool::new(false));
        let request = request.map(|body| {
            Body::wrap(Counted {
                body,
                left: self.bytes,
                exceeded: exceeded.clone(),
            })
        });
        let answer = self.handler.handle(request, visit.clone());
        answer.map(move |response| {
            if exceeded.load(Ordering::Relaxed) {
                refused(Guard::Body, &visit);
                *response = reply::status(StatusCode::PAYLOAD_TOO_LARGE);
            }
        })
    }
}

/// A body that ends with an error when it is too large.
struct Counted {
    body: Body,
    left: u64,
    exceeded: Arc<AtomicBool>,
}

impl HttpBody for Counted {
    type Data = Bytes;
    type Error = BodyError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, BodyError>>> {
        if self.exceeded.load(Ordering::Relaxed) {
            return Poll::Ready(Some(Err(BodyError::TooLarge)));
        }
        let frame = ready!(Pin::new(&mut self.body).poll_frame(cx));
        if let Some(Ok(frame)) = &frame
            && let Some(data) = frame.data_ref()
        {
            match self.left.checked_sub(data.len() as u64) {
                Some(left) => self.left = left,
                None => {
                    self.exceeded.store(true, Ordering::Relaxed);
                    return Poll::Ready(Some(Err(BodyError::TooLarge)));
                }
            }
        }
        Poll::Ready(frame)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

fn build(settings: &Settings, handler: Arc<dyn Handler>, _: &mut Building<'_>) -> Arc<dyn Handler> {
    match settings.size_or_off("max-body") {
        Some(bytes) => BodyLimit::new(bytes).around(handler),
        None => handler,
    }
}

#[cfg(test)]
mod tests {
    use http::Response;

    use super::super::testing::{Inner, from, text};
    use super::*;

    /// A body without a length.
    struct Stream(Body);

    impl HttpBody for Stream {
        type Data = Bytes;
        type Error = BodyError;

        fn poll_frame(
            mut self: Pin<&mut Self>,
            cx: &mut Context<'_>,
        ) -> Poll<Option<Result<Frame<Bytes>, BodyError>>> {
            Pin::new(&mut self.0).poll_frame(cx)
        }
    }

    /// Gives back what it got; makes its own of errors.
    fn echo() -> Arc<dyn Handler> {
        Arc::new(Inner(|request: Request<Body>, _: Visit| {
            Answer::later(async {
                match request.into_body().bytes(1 << 20).await {
                    Ok(all) => Response::new(all.into()),
                    Err(_) => reply::status(StatusCode::BAD_GATEWAY),
                }
            })
        }))
    }

    #[test]
    fn known_and_unknown_lengths() {
        let guarded = BodyLimit::new(4).around(echo());
        let post = |body: Body| {
            let request = Request::post("/").body(body).unwrap();
            thrum_rt::block_on(guarded.handle(request, from("192.0.2.1")).response())
        };
        for body in [Body::from("four"), Body::wrap(Stream(Body::from("four")))] {
            let response = post(body);
            assert_eq!(response.status(), 200);
            assert_eq!(thrum_rt::block_on(text(response)), "four");
        }
        assert_eq!(post(Body::from("fives")).status(), 413);
        assert_eq!(post(Body::wrap(Stream(Body::from("fives")))).status(), 413);
        assert_eq!(post(Body::empty()).status(), 200);
    }
}
