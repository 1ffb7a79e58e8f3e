//! `limit-concurrency`: how many requests are answered at the same time.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use http::{Request, Response};
use http_body::{Body as HttpBody, Frame, SizeHint};
use thrum_http::{Body, BodyError};
use thrum_rt::sync::OwnedPermit;

use super::{Guard, busy, kept_name, refused};
use crate::config::{Kind, Setting, Settings};
use crate::places::Places;
use crate::site::{Answer, Building, Handler, Layer, Visit};

/// `limit-concurrency`.
pub(crate) static SETTINGS: &[Setting] = &[Setting {
    block: &[
        Setting {
            default: "100",
            ..Setting::new(
                "queue",
                &[Kind::Count(0, 1_000_000)],
                "How many more may wait.",
                "queue 50",
            )
        },
        Setting {
            default: "10s",
            ..Setting::new(
                "wait",
                &[Kind::Duration],
                "How long one may wait.",
                "wait 2s",
            )
        },
    ],
    ..Setting::new(
        "limit-concurrency",
        &[Kind::Count(0, 1_000_000)],
        "How many requests are answered at the same time, 0 for any number. More of them wait, and beyond these they are \
         answered with 503. In a site: for all its routes together.",
        "limit-concurrency 200 { queue 50; wait 2s }",
    )
}];

pub(crate) static LAYER: Layer = Layer {
    settings: SETTINGS,
    build,
};

/// A limit of requests that are answered at the same time. A request counts until its response has begun; until its end, if
/// the response's body is made as it is sent.
///
/// Clones share the limit.
///
/// ```
/// use std::time::Duration;
/// use thrum_server::guard::Concurrency;
///
/// // 200 at the same time; 50 more wait for up to 2 seconds.
/// let limit = Concurrency::new(200, 50, Duration::from_secs(2));
/// # let _ = limit;
/// ```
#[derive(Clone, Debug)]
pub struct Concurrency {
    places: Places,
}

impl Concurrency {
    /// So many requests at the same time, so many that wait, each for so long.
    pub fn new(requests: usize, queue: usize, wait: Duration) -> Self {
        Self {
            places: Places::new(requests, queue, wait),
        }
    }

    /// Guards a handler.
    pub fn around(self, handler: Arc<dyn Handler>) -> Arc<dyn Handler> {
        Arc::new(Guarded {
            places: self.places,
            handler,
        })
    }
}

struct Guarded {
    places: Places,
    handler: Arc<dyn Handler>,
}

impl Handler for Guarded {
    fn handle(&self, request: Request<Body>, visit: Visit) -> Answer {
        if let Some(place) = self.places.try_take() {
            let answer = self.handler.handle(request, visit);
            return answer.map(|response| hold(response, place));
        }
        let (places, handler) = (self.places.clone(), self.handler.clone());
        Answer::later(async move {
            let Some(place) = places.take().await else {
                refused(Guard::Concurrency, &visit);
                return busy();
            };
            let answer = handler.handle(request, visit.clone());
            let mut response = visit.settle(answer).await;
            hold(&mut response, place);
            response
        })
    }
}

/// Holds the place as long as the body is being made.
fn hold(response: &mut Response<Body>, place: OwnedPermit) {
    if !response.body().is_in_memory() {
        let body = std::mem::take(response.body_mut());
        *response.body_mut() = Body::wrap(Held {
            body,
            _place: place,
        });
    }
}

struct Held {
    body: Body,
    _place: OwnedPermit,
}

impl HttpBody for Held {
    type Data = Bytes;
    type Error = BodyError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, BodyError>>> {
        Pin::new(&mut self.body).poll_frame(cx)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

fn build(
    settings: &Settings,
    handler: Arc<dyn Handler>,
    building: &mut Building<'_>,
) -> Arc<dyn Handler> {
    let Some((entry, block)) = settings
        .written("limit-concurrency")
        .and_then(|entry| Some((entry, entry.block()?)))
    else {
        return handler;
    };
    let (requests, queue) = (
        settings.count("limit-concurrency") as usize,
        block.count("queue") as usize,
    );
    let wait = block.duration("wait");
    if requests == 0 {
        return handler;
    }
    let name = kept_name(entry, &(requests, queue, wait));
    let limit = building
        .kept
        .get(&name, || Concurrency::new(requests, queue, wait));
    Concurrency::clone(&limit).around(handler)
}

#[cfg(test)]
mod tests {
    use thrum_rt::sync::Notify;

    use super::super::testing::{Inner, from, get, now};
    use super::*;

    /// A handler that waits to be told.
    fn slow(gate: Arc<Notify>) -> Arc<dyn Handler> {
        Arc::new(Inner(move |_: Request<Body>, _: Visit| {
            let gate = gate.clone();
            Answer::later(async move {
                gate.notified().await;
                Response::new(Body::from("done"))
            })
        }))
    }

    #[test]
    fn more_wait_and_beyond_them_are_sent_away() {
        thrum_rt::block_on(async {
            let gate = Arc::new(Notify::new());
            let limit = Concurrency::new(1, 1, Duration::from_secs(60));
            let guarded = limit.around(slow(gate.clone()));
            let ask = || guarded.handle(get(&[]), from("192.0.2.1"));
            let first = ask();
            let second = thrum_rt::spawn(ask().response());
            thrum_rt::yield_now().await;
            thrum_rt::time::sleep(Duration::from_millis(20)).await;
            let third = ask().response().await;
            assert_eq!(third.status(), 503);
            assert_eq!(third.headers()["retry-after"], "1");
            gate.notify_one();
            assert_eq!(first.response().await.status(), 200);
            gate.notify_one();
            assert_eq!(second.await.unwrap().status(), 200);
        });
    }

    #[test]
    fn a_client_that_leaves_gives_its_place_up() {
        thrum_rt::block_on(async {
            let gate = Arc::new(Notify::new());
            let limit = Concurrency::new(1, 0, Duration::from_secs(60));
            let guarded = limit.around(slow(gate.clone()));
            drop(guarded.handle(get(&[]), from("192.0.2.1")));
            let answer = guarded.handle(get(&[]), from("192.0.2.1"));
            gate.notify_one();
            assert_eq!(answer.response().await.status(), 200);
        });
    }

    #[test]
    fn a_body_that_is_made_counts_until_its_end() {
        thrum_rt::block_on(async {
            let limit = Concurrency::new(1, 0, Duration::ZERO);
            let streams = Inner(|request: Request<Body>, _: Visit| {
                let body = match request.headers().contains_key("stream") {
                    true => Body::wrap(Held2(Body::from("made"))),
                    false => Body::from("there"),
                };
                Response::new(body).into()
            });
            let guarded = limit.around(Arc::new(streams));
            let ask = |fields: &[(&str, &str)]| guarded.handle(get(fields), from("192.0.2.1"));
            let there = now(ask(&[]));
            let made = now(ask(&[("stream", "")]));
            assert_eq!(ask(&[]).response().await.status(), 503);
            assert_eq!(&made.into_body().bytes(9).await.unwrap()[..], b"made");
            assert_eq!(now(ask(&[])).status(), 200);
            drop(there);
        });
    }

    /// A stream, for what the server knows.
    struct Held2(Body);

    impl HttpBody for Held2 {
        type Data = Bytes;
        type Error = BodyError;

        fn poll_frame(
            mut self: Pin<&mut Self>,
            cx: &mut Context<'_>,
        ) -> Poll<Option<Result<Frame<Bytes>, BodyError>>> {
            Pin::new(&mut self.0).poll_frame(cx)
        }
    }
}
