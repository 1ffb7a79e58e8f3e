//! Requests and responses over HTTP/2, with the h2 crate's client.

mod support;

use std::convert::Infallible;
use std::io::Write;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use bytes::Bytes;
use h2::client::SendRequest;
use h2::{Reason, RecvStream};
use http::{HeaderMap, Method, Request, Response, StatusCode, Version};
use http_body::Frame;
use support::*;
use thrum_http::{Body, Limits, Reject, Server, early_hints, service_fn};
use thrum_rt::JoinHandle;
use thrum_rt::compat::Io;
use thrum_rt::time::{sleep, timeout};

/// A client, and the task that moves its connection.
async fn client(address: SocketAddr) -> (SendRequest<Bytes>, JoinHandle<Result<(), h2::Error>>) {
    let (client, connection) = h2::client::Builder::new()
        .initial_window_size(1 << 20)
        .initial_connection_window_size(1 << 20)
        .handshake(Io::new(connect(address).await))
        .await
        .unwrap();
    let moving = thrum_rt::spawn(connection);
    (client, moving)
}

fn get(path: &str) -> Request<()> {
    Request::get(format!("http://test{path}")).body(()).unwrap()
}

fn post(path: &str) -> Request<()> {
    Request::post(format!("http://test{path}"))
        .body(())
        .unwrap()
}

async fn read(body: &mut RecvStream) -> Result<Vec<u8>, h2::Error> {
    let mut all = Vec::new();
    while let Some(data) = body.data().await {
        let data = data?;
        body.flow_control().release_capacity(data.len())?;
        all.extend_from_slice(&data);
    }
    Ok(all)
}

/// A request with that body, and its response with all of its body.
async fn ask(
    client: &SendRequest<Bytes>,
    request: Request<()>,
    body: Option<Vec<u8>>,
) -> Result<Response<Vec<u8>>, h2::Error> {
    let mut client = client.clone().ready().await?;
    let (response, mut stream) = client.send_request(request, body.is_none())?;
    if let Some(body) = body {
        stream.send_data(body.into(), true)?;
    }
    let (parts, mut body) = response.await?.into_parts();
    Ok(Response::from_parts(parts, read(&mut body).await?))
}

#[test]
fn requests_and_responses() {
    with_server(Server::new(), async |address, server| {
        let (client, _moving) = client(address).await;
        let response = ask(&client, get("/a?b"), None).await.unwrap();
        assert_eq!(response.version(), Version::HTTP_2);
        assert_eq!(response.body(), b"/a");
        assert_eq!(response.headers()["content-length"], "2");
        assert!(response.headers().contains_key("date"));

        let head = Request::head("http://test/abc").body(()).unwrap();
        let response = ask(&client, head, None).await.unwrap();
        assert_eq!(response.headers()["content-length"], "4");
        assert!(response.body().is_empty());

        let response = ask(&client, get("/nothing"), None).await.unwrap();
        assert_eq!(response.status(), StatusCode::NO_CONTENT);
        assert!(!response.headers().contains_key("content-length"));

        let response = ask(&client, get("/stream"), None).await.unwrap();
        assert!(!response.headers().contains_key("content-length"));
        assert_eq!(response.body(), b"piece 1;piece 2;piece 3;");

        let response = ask(&client, get("/large"), None).await.unwrap();
        assert_eq!(response.body().len(), 20_000_000);

        // More than any window holds, there and back, all at once.
        for path in ["/echo", "/through", "/elsewhere"] {
            let size = if path == "/elsewhere" {
                9_999
            } else {
                1_000_000
            };
            let sent = vec![b'y'; size];
            let response = ask(&client, post(path), Some(sent.clone())).await.unwrap();
            assert!(
                *response.body() == sent,
                "{path}: {}",
                response.body().len()
            );
        }

        let response = ask(&client, get("/close"), None).await.unwrap();
        assert!(!response.headers().contains_key("connection"));

        let response = ask(&client, get("/panic"), None).await.unwrap();
        assert_eq!(response.status(), StatusCode::INTERNAL_SERVER_ERROR);
        assert_eq!(server.stats().panics, 1);
        assert_eq!(server.stats().requests, 10);
        let response = ask(&client, get("/after"), None).await.unwrap();
        assert_eq!(response.status(), StatusCode::OK);
    });
}

#[test]
fn what_is_left_for_the_observer_is_of_one_stream() {
    let notes = notes();
    with_server(Server::new().observer(notes.clone()), async |address, _| {
        let (client, _moving) = client(address).await;
        for path in ["/note", "/b"] {
            ask(&client, get(path), None).await.unwrap();
        }
    });
    let notes = notes.0.lock().unwrap();
    assert_eq!(notes[..], ["GET /note 200 5 - left", "GET /b 200 2 -"]);
}

#[test]
fn what_is_refused() {
    let mut limits = Limits::default();
    limits.body_bytes = 1000;
    limits.fields = 10;
    let notes = notes();
    let server = Server::new().limits(limits).observer(notes.clone());
    with_server(server, async |address, server| {
        let (client, _moving) = client(address).await;
        let with = |name: &str, value: &str| {
            let mut request = post("/echo");
            request.headers_mut().append(
                name.parse::<http::HeaderName>().unwrap(),
                value.parse().unwrap(),
            );
            request
        };
        let mut many = get("/");
        for _ in 0..11 {
            many.headers_mut().append("x", "y".parse().unwrap());
        }
        let connect = Request::builder().method(Method::CONNECT).uri("test:80");
        for (request, status, reject) in [
            (with("content-length", "1001"), 413, Reject::BodyTooLarge),
            (with("host", "other"), 400, Reject::BadHost),
            (with("expect", "more"), 417, Reject::UnsupportedExpectation),
            (connect.body(()).unwrap(), 501, Reject::Connect),
        ] {
            let body = (status == 413).then(|| vec![0; 1001]);
            let response = ask(&client, request, body).await;
            assert_eq!(response.unwrap().status(), status, "{reject}");
            assert_eq!(server.stats().rejects[&reject], 1, "{reject}");
        }
        assert_eq!(ask(&client, many, None).await.unwrap().status(), 431);
        // A body that turns out to be too large is refused by whoever reads it.
        let response = ask(&client, post("/echo"), Some(vec![0; 1001]))
            .await
            .unwrap();
        assert_eq!(response.status(), 400);
        assert_eq!(server.stats().rejects[&Reject::BodyTooLarge], 2);
        assert_eq!(server.stats().requests, 1);
        let notes = notes.0.lock().unwrap();
        assert_eq!(notes.len(), 6);
        assert_eq!(
            notes[0].split(' ').take(3).collect::<Vec<_>>(),
            ["POST", "/echo", "413"]
        );
    });
}

/// Trailers of the request come back as those of the response, behind a hint and what the handler was told.
#[test]
fn trailers_hints_and_continue() {
    let echo = service_fn(async |request: Request<Body>| {
        let mut hint = HeaderMap::new();
        hint.insert("link", "</x>; rel=preload".parse().unwrap());
        assert!(early_hints(hint));
        sleep(Duration::from_millis(10)).await;
        let peer = thrum_http::connection().unwrap().peer.unwrap();
        assert_eq!(request.headers()["host"], "test");
        assert_eq!(request.headers()["cookie"], "a=1; b=2");
        let mut response = Response::new(request.into_body());
        response
            .headers_mut()
            .insert("peer", peer.to_string().parse().unwrap());
        response
    });
    with_service(Server::new(), echo, async |address, _| {
        let (mut client, _moving) = client(address).await;
        let mut request = post("/");
        request
            .headers_mut()
            .insert("expect", "100-continue".parse().unwrap());
        for cookie in ["a=1", "b=2"] {
            request
                .headers_mut()
                .append("cookie", cookie.parse().unwrap());
        }
        let (mut response, mut stream) = client.send_request(request, false).unwrap();
        stream.send_data("data".into(), false).unwrap();
        let mut trailers = HeaderMap::new();
        trailers.insert("end", "seen".parse().unwrap());
        stream.send_trailers(trailers).unwrap();
        let mut interim = Vec::new();
        let response = std::future::poll_fn(|cx| {
            while let std::task::Poll::Ready(Some(Ok(response))) = response.poll_informational(cx) {
                interim.push(response.status().as_u16());
            }
            Future::poll(std::pin::Pin::new(&mut response), cx)
        });
        let (parts, mut body) = response.await.unwrap().into_parts();
        assert_eq!(interim, [100, 103]);
        assert!(
            parts.headers["peer"]
                .to_str()
                .unwrap()
                .starts_with("127.0.0.1:")
        );
        assert_eq!(read(&mut body).await.unwrap(), b"data");
        assert_eq!(body.trailers().await.unwrap().unwrap()["end"], "seen");
    });
}

#[test]
fn files_and_bodies_that_break_off() {
    struct Broken(bool);
    impl http_body::Body for Broken {
        type Data = Bytes;
        type Error = std::io::Error;
        fn poll_frame(
            mut self: std::pin::Pin<&mut Self>,
            _: &mut std::task::Context<'_>,
        ) -> std::task::Poll<Option<Result<Frame<Bytes>, std::io::Error>>> {
            let first = !std::mem::replace(&mut self.0, true);
            std::task::Poll::Ready(Some(if first {
                Ok(Frame::data("some".into()))
            } else {
                Err(std::io::Error::other("broken"))
            }))
        }
    }
    let content: Vec<u8> = (0..200_000).map(|i| (i % 251) as u8).collect();
    let mut file = tempfile::tempfile().unwrap();
    file.write_all(&content).unwrap();
    let opened = Arc::new(file);
    let service = service_fn(move |request: Request<Body>| {
        let file = opened.clone();
        async move {
            Response::new(match request.uri().path() {
                "/file" => Body::file(file, 1, 199_999),
                "/short" => Body::file(file, 1, 200_000),
                _ => Body::wrap(Broken(false)),
            })
        }
    });
    with_service(Server::new(), service, async |address, _| {
        let (client, _moving) = client(address).await;
        let response = ask(&client, get("/file"), None).await.unwrap();
        assert!(*response.body() == content[1..]);
        for path in ["/short", "/broken"] {
            let error = ask(&client, get(path), None).await.unwrap_err();
            assert_eq!(error.reason(), Some(Reason::INTERNAL_ERROR), "{path}");
        }
    });
}

/// Handlers that block or compute in their first step, next to others on the same connection.
#[test]
fn a_stream_waits_for_no_slow_neighbour() {
    let service = service_fn(async |request: Request<Body>| {
        if request.uri().path() == "/block" {
            std::thread::sleep(Duration::from_secs(2));
        }
        Response::new("done")
    });
    with_service(Server::new(), service, async |address, _| {
        let (client, _moving) = client(address).await;
        let begin = Instant::now();
        let blocked: Vec<_> = (0..3)
            .map(|_| {
                let client = client.clone();
                thrum_rt::spawn(async move { ask(&client, get("/block"), None).await.unwrap() })
            })
            .collect();
        for _ in 0..20 {
            ask(&client, get("/"), None).await.unwrap();
        }
        let took = begin.elapsed();
        assert!(took < Duration::from_millis(1500), "{took:?}");
        for blocked in blocked {
            blocked.await.unwrap();
        }
    });
}

#[test]
fn a_request_that_is_taken_back_ends_its_handler() {
    static BEGUN: AtomicBool = AtomicBool::new(false);
    static DROPPED: AtomicBool = AtomicBool::new(false);
    struct Noticed;
    impl Drop for Noticed {
        fn drop(&mut self) {
            DROPPED.store(true, Ordering::SeqCst);
        }
    }
    let service = service_fn(async |_: Request<Body>| {
        let _noticed = Noticed;
        BEGUN.store(true, Ordering::SeqCst);
        sleep(Duration::from_secs(3600)).await;
        Response::new("")
    });
    with_service(Server::new(), service, async |address, _| {
        let (mut client, _moving) = client(address).await;
        let (_response, mut stream) = client.send_request(get("/"), true).unwrap();
        until(|| BEGUN.load(Ordering::SeqCst)).await;
        stream.send_reset(Reason::CANCEL);
        until(|| DROPPED.load(Ordering::SeqCst)).await;
    });
}

async fn until(mut is_so: impl FnMut() -> bool) {
    let wait = async {
        while !is_so() {
            sleep(Duration::from_millis(5)).await;
        }
    };
    timeout(Duration::from_secs(10), wait).await.unwrap();
}

#[test]
fn the_server_s_end_finishes_what_runs() {
    with_server(Server::new(), async |address, server| {
        let (client, moving) = client(address).await;
        let slow = thrum_rt::spawn({
            let client = client.clone();
            async move { ask(&client, get("/slow"), None).await }
        });
        until(|| server.stats().requests == 1).await;
        let drained = server.shutdown(Duration::from_secs(10)).await;
        assert_eq!((drained.finished, drained.cut), (1, 0));
        assert_eq!(slow.await.unwrap().unwrap().body(), b"slow");
        moving.await.unwrap().unwrap();
        drop(client);
    });
}

#[test]
fn a_connection_has_as_many_requests_as_it_may() {
    let mut limits = Limits::default();
    limits.requests = Some(3);
    with_server(Server::new().limits(limits), async |address, server| {
        let (client, moving) = client(address).await;
        for _ in 0..3 {
            ask(&client, get("/"), None).await.unwrap();
        }
        timeout(Duration::from_secs(10), moving)
            .await
            .unwrap()
            .unwrap()
            .unwrap();
        assert!(ask(&client, get("/"), None).await.is_err());
        assert_eq!(server.stats().requests, 3);
    });
}

/// A client that sends too slowly, one that does not take its answer, and one that rests.
#[test]
fn timeouts() {
    with_server(short(), async |address, server| {
        let (client, moving) = client(address).await;
        let mut ready = client.clone().ready().await.unwrap();
        let (response, mut stream) = ready.send_request(post("/echo"), false).unwrap();
        stream.send_data("some".into(), false).unwrap();
        let response = timeout(Duration::from_secs(10), response)
            .await
            .unwrap()
            .unwrap();
        assert_eq!(response.status(), 400);
        assert_eq!(server.stats().body_timeouts, 1);
        drop((response, stream, ready));

        let mut ready = client.clone().ready().await.unwrap();
        let (response, _) = ready.send_request(get("/large"), true).unwrap();
        let mut body = response.await.unwrap().into_body();
        let ended = async {
            while let Some(data) = body.data().await {
                data?;
            }
            Ok::<_, h2::Error>(())
        };
        let error = timeout(Duration::from_secs(10), ended)
            .await
            .unwrap()
            .unwrap_err();
        assert_eq!(error.reason(), Some(Reason::INTERNAL_ERROR));
        assert_eq!(server.stats().write_timeouts, 1);
        drop((body, ready));

        timeout(Duration::from_secs(10), moving)
            .await
            .unwrap()
            .unwrap()
            .unwrap();
        until(|| server.stats().open == 0).await;
    });
}

/// A service that is not always ready: each stream asks a clone of its own.
#[test]
fn services_that_must_be_waited_for() {
    #[derive(Clone)]
    struct Second(Arc<AtomicU64>, bool);
    impl tower_service::Service<Request<Body>> for Second {
        type Response = Response<Body>;
        type Error = Infallible;
        type Future = std::future::Ready<Result<Response<Body>, Infallible>>;
        fn poll_ready(
            &mut self,
            cx: &mut std::task::Context<'_>,
        ) -> std::task::Poll<Result<(), Infallible>> {
            if std::mem::replace(&mut self.1, true) {
                return std::task::Poll::Ready(Ok(()));
            }
            cx.waker().wake_by_ref();
            std::task::Poll::Pending
        }
        fn call(&mut self, _: Request<Body>) -> Self::Future {
            assert!(std::mem::take(&mut self.1));
            self.0.fetch_add(1, Ordering::Relaxed);
            std::future::ready(Ok(Response::new("ready".into())))
        }
    }
    let calls = Arc::new(AtomicU64::new(0));
    with_service(
        Server::new(),
        Second(calls.clone(), false),
        async |address, _| {
            let (client, _moving) = client(address).await;
            for _ in 0..5 {
                assert_eq!(ask(&client, get("/"), None).await.unwrap().body(), b"ready");
            }
            assert_eq!(calls.load(Ordering::Relaxed), 5);
        },
    );
}
