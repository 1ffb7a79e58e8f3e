//! What a route and each layer cost, in time on a CPU. `cargo test --release -p thrum-http --test cost -- --ignored --nocapture`

use std::convert::Infallible;
use std::future::{Ready, ready};
use std::pin::pin;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use thrum_http::middleware::{BasicAuth, ConcurrencyLimit, Layer, RateLimit, Timeout, compression};
use thrum_http::router::{Params, Router};
use thrum_http::{Body, Request, Response, header};
use tower_service::Service;

const ROUNDS: u32 = 1_000_000;

/// Answers with nothing at once.
#[derive(Clone)]
struct Nothing;

impl Service<Request<Body>> for Nothing {
    type Response = Response<Body>;
    type Error = Infallible;
    type Future = Ready<Result<Response<Body>, Infallible>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, _: Request<Body>) -> Self::Future {
        ready(Ok(Response::new(Body::empty())))
    }
}

fn measure<S, B>(what: &str, mut service: S, uri: &str, field: Option<&str>)
where
    S: Service<Request<Body>, Response = Response<B>>,
{
    let uri: http::Uri = uri.parse().unwrap();
    let field = field.map(|field| field.parse::<header::HeaderValue>().unwrap());
    let begin = on_cpu();
    for _ in 0..ROUNDS {
        let mut request = Request::new(Body::empty());
        *request.uri_mut() = uri.clone();
        if let Some(field) = &field {
            request
                .headers_mut()
                .insert(header::AUTHORIZATION, field.clone());
        }
        let future = pin!(service.call(request));
        let Poll::Ready(Ok(response)) = future.poll(&mut Context::from_waker(Waker::noop())) else {
            panic!("it is ready");
        };
        assert!(response.status().as_u16() < 500);
    }
    println!("{what:40} {:6} ns", (on_cpu() - begin) / u64::from(ROUNDS));
}

/// The nanoseconds that this thread has run, whatever else the machine does.
fn on_cpu() -> u64 {
    let times = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap();
    times.split(' ').next().unwrap().parse().unwrap()
}

#[test]
#[ignore = "a measurement"]
fn what_they_cost() {
    let bare = async || Response::new(Body::empty());
    let mut router = Router::new()
        .get("/", bare)
        .get("/users/{id}", async |_: Request<Body>, params: Params| {
            assert_eq!(params.parse::<u64>("id"), Ok(17));
            Response::new(Body::empty())
        })
        .get("/text", async || "text")
        .mount("/mount", Nothing);
    for n in 0..50 {
        router = router.get(&format!("/route{n}/of/some/{{length}}"), bare);
    }
    measure("a service alone", Nothing, "/users/17", None);
    measure("a route of 54: /", router.clone(), "/", None);
    measure(
        "a route with a number: /users/17",
        router.clone(),
        "/users/17",
        None,
    );
    measure("a route that says text", router.clone(), "/text", None);
    measure("a mounted service", router.clone(), "/mount/a/b", None);
    measure("404", router.clone(), "/none", None);
    let second = Duration::from_secs(1);
    measure("timeout", Timeout::new(second).layer(Nothing), "/", None);
    measure(
        "concurrency limit",
        ConcurrencyLimit::new(9, 9).layer(Nothing),
        "/",
        None,
    );
    let limit = RateLimit::new(u32::MAX, second).key(|_| Some(1));
    measure("rate limit, one key", limit.layer(Nothing), "/", None);
    let keys = std::sync::atomic::AtomicU64::new(0);
    let limit = RateLimit::new(100, second)
        .key(move |_| Some(keys.fetch_add(1, std::sync::atomic::Ordering::Relaxed)));
    measure(
        "rate limit, a million keys",
        limit.layer(Nothing),
        "/",
        None,
    );
    let auth = BasicAuth::new("r", [("alice", "rabbit")]).layer(Nothing);
    measure(
        "(a field alone)",
        Nothing,
        "/",
        Some("Basic YWxpY2U6cmFiYml0"),
    );
    measure("basic auth", auth, "/", Some("Basic YWxpY2U6cmFiYml0"));
    measure(
        "compression that does not",
        compression().layer(Nothing),
        "/",
        None,
    );
}
