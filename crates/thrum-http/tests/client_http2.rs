//! The client's HTTP/2 against servers that are written out here over the h2 crate, so that they can misbehave.

use std::future::{Future, poll_fn};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use bytes::Bytes;
use h2::server::{Builder, Connection, SendResponse};
use h2::{Reason, RecvStream};
use http_body::{Body as _, Frame};
use thrum_http::client::{Limits, Phase, Proxies, Timeouts};
use thrum_http::{Body, Client, HeaderMap, Request, Response, StatusCode, Version};
use thrum_rt::compat::Io;
use thrum_rt::net::{TcpListener, TcpStream};
use thrum_rt::time::{sleep, timeout};
use thrum_rt::{TaskSet, spawn};

type Inner = Connection<Io<TcpStream>, Bytes>;
type Respond = SendResponse<Bytes>;

/// A server; `serve` has each connection, and its number from 0.
async fn server<F>(builder: Builder, serve: impl Fn(usize, Inner) -> F + Send + 'static) -> String
where
    F: Future<Output = ()> + Send + 'static,
{
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/", listener.local_addr().unwrap());
    spawn(async move {
        for number in 0.. {
            let Ok((stream, _)) = listener.accept().await else {
                return;
            };
            if let Ok(connection) = builder.handshake(Io::new(stream)).await {
                spawn(serve(number, connection));
            }
        }
    });
    url
}

/// Answers each request by a task of its own.
async fn each<F>(mut connection: Inner, answer: impl Fn(Request<RecvStream>, Respond) -> F)
where
    F: Future<Output = ()> + Send + 'static,
{
    while let Some(Ok((request, respond))) = connection.accept().await {
        spawn(answer(request, respond));
    }
}

fn ok(mut respond: Respond, body: impl Into<Bytes>) {
    let mut stream = respond.send_response(Response::new(()), false).unwrap();
    stream.send_data(body.into(), true).unwrap();
}

fn client() -> Client {
    Client::builder().http2_prior_knowledge().build()
}

fn run(test: impl Future<Output = ()>) {
    let runtime = thrum_rt::Runtime::builder().workers(2).build().unwrap();
    let in_time = timeout(Duration::from_secs(30), test);
    runtime.block_on(in_time).expect("the test takes too long");
}

#[test]
fn a_hundred_requests_share_a_connection_and_wait_their_turn() {
    run(async {
        let connections = Arc::new(AtomicUsize::new(0));
        let (running, most) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
        let mut builder = Builder::new();
        builder.max_concurrent_streams(10);
        let url = server(builder, {
            let (connections, most) = (connections.clone(), most.clone());
            move |_, connection| {
                connections.fetch_add(1, Ordering::SeqCst);
                let (running, most) = (running.clone(), most.clone());
                each(connection, move |request, respond| {
                    let (running, most) = (running.clone(), most.clone());
                    async move {
                        most.fetch_max(
                            running.fetch_add(1, Ordering::SeqCst) + 1,
                            Ordering::SeqCst,
                        );
                        sleep(Duration::from_millis(2)).await;
                        running.fetch_sub(1, Ordering::SeqCst);
                        ok(
                            respond,
                            request.uri().query().unwrap_or_default().to_owned(),
                        );
                    }
                })
            }
        })
        .await;
        let client = client();
        // The first tells how many there may be at once.
        assert_eq!(client.get(&url).await.unwrap().version(), Version::HTTP_2);
        let mut tasks = TaskSet::new();
        for n in 0..100 {
            let request = client.get(format!("{url}?{n}"));
            tasks.spawn(async move { (n, request.await.unwrap().text().await.unwrap()) });
        }
        while let Some(done) = tasks.join_next().await {
            let (n, text) = done.unwrap();
            assert_eq!(text, n.to_string());
        }
        assert_eq!(connections.load(Ordering::SeqCst), 1);
        assert!(most.load(Ordering::SeqCst) <= 10);
    });
}

#[test]
fn the_first_requests_of_all_make_one_connection() {
    run(async {
        let connections = Arc::new(AtomicUsize::new(0));
        let count = connections.clone();
        let url = server(Builder::new(), move |_, connection| {
            count.fetch_add(1, Ordering::SeqCst);
            each(connection, |_, respond| async { ok(respond, "x") })
        })
        .await;
        let client = client();
        let mut tasks = TaskSet::new();
        for _ in 0..50 {
            let request = client.get(&url);
            tasks.spawn(async move { request.await.unwrap().text().await.unwrap() });
        }
        while let Some(done) = tasks.join_next().await {
            assert_eq!(done.unwrap(), "x");
        }
        assert_eq!(connections.load(Ordering::SeqCst), 1);
    });
}

/// Sends back what comes, with its trailers, as it comes.
async fn echo(request: Request<RecvStream>, mut respond: Respond) {
    let (head, mut body) = request.into_parts();
    let mut response = Response::new(());
    if let Some(length) = head.headers.get("content-length") {
        response.headers_mut().insert("x-length", length.clone());
    }
    let mut stream = respond.send_response(response, false).unwrap();
    while let Some(data) = body.data().await {
        let mut data = data.unwrap();
        body.flow_control().release_capacity(data.len()).unwrap();
        while !data.is_empty() {
            stream.reserve_capacity(data.len());
            let room = poll_fn(|cx| stream.poll_capacity(cx))
                .await
                .unwrap()
                .unwrap();
            stream
                .send_data(data.split_to(room.min(data.len())), false)
                .unwrap();
        }
    }
    match body.trailers().await.unwrap() {
        Some(trailers) => stream.send_trailers(trailers).unwrap(),
        None => stream.send_data(Bytes::new(), true).unwrap(),
    }
}

/// A body of frames that come one at a time.
struct Frames(std::vec::IntoIter<Frame<Bytes>>);

impl http_body::Body for Frames {
    type Data = Bytes;
    type Error = std::convert::Infallible;

    fn poll_frame(
        mut self: std::pin::Pin<&mut Self>,
        _: &mut std::task::Context<'_>,
    ) -> std::task::Poll<Option<Result<Frame<Bytes>, Self::Error>>> {
        std::task::Poll::Ready(self.0.next().map(Ok))
    }
}

#[test]
fn bodies_and_trailers_flow_both_ways() {
    run(async {
        let url = server(Builder::new(), |_, connection| each(connection, echo)).await;
        let client = client();
        // More than all windows hold.
        let large = Bytes::from(vec![7; 20_000_000]);
        let response = client.post(&url).body(large.clone()).await.unwrap();
        assert_eq!(response.headers()["x-length"], "20000000");
        assert_eq!(response.bytes().await.unwrap(), large);

        let mut trailers = HeaderMap::new();
        trailers.insert("sum", "x".parse().unwrap());
        let mut frames = Vec::new();
        for n in 0..50_u8 {
            frames.push(Frame::data(Bytes::from(vec![n; 10_000])));
        }
        frames.push(Frame::trailers(trailers));
        let response = client
            .post(&url)
            .body(Body::wrap(Frames(frames.into_iter())))
            .await
            .unwrap();
        assert!(!response.headers().contains_key("x-length"));
        let (mut size, mut sum, mut body) = (0, None, response.into_body());
        while let Some(frame) = poll_fn(|cx| std::pin::Pin::new(&mut body).poll_frame(cx)).await {
            match frame.unwrap().into_data() {
                Ok(data) => size += data.len(),
                Err(frame) => sum = frame.into_trailers().ok(),
            }
        }
        assert_eq!(
            (size, &sum.unwrap()["sum"]),
            (500_000, &"x".parse().unwrap())
        );
    });
}

#[test]
fn after_goaway_requests_go_elsewhere_and_the_old_ones_end() {
    run(async {
        let url = server(Builder::new(), |number, mut connection| async move {
            let mut first = true;
            while let Some(Ok((_, respond))) = connection.accept().await {
                let is_last = number == 0 && std::mem::take(&mut first);
                if is_last {
                    connection.graceful_shutdown();
                }
                spawn(async move {
                    sleep(Duration::from_millis(if is_last { 200 } else { 0 })).await;
                    ok(respond, number.to_string());
                });
            }
        })
        .await;
        let client = client();
        let slow = spawn({
            let request = client.get(&url);
            async move { request.await.unwrap().text().await.unwrap() }
        });
        sleep(Duration::from_millis(100)).await;
        // A body that can be sent again, as nothing is done twice.
        let next = client.post(&url).body("x").await.unwrap();
        assert_eq!(next.text().await.unwrap(), "1");
        assert_eq!(slow.await.unwrap(), "0");
    });
}

#[test]
fn goaway_for_requests_under_way_has_them_sent_again() {
    run(async {
        let url = server(Builder::new(), |number, mut connection| async move {
            while let Some(Ok((_, respond))) = connection.accept().await {
                if number > 0 {
                    ok(respond, number.to_string());
                    continue;
                }
                // It goes without having done anything about them.
                connection.abrupt_shutdown(Reason::NO_ERROR);
                drop(respond);
            }
        })
        .await;
        let client = client();
        let response = client.get(&url).await.unwrap();
        assert_eq!(response.text().await.unwrap(), "1");
    });
}

#[test]
fn what_is_refused_is_sent_again() {
    run(async {
        let seen = Arc::new(AtomicUsize::new(0));
        let count = seen.clone();
        let url = server(Builder::new(), move |_, connection| {
            let count = count.clone();
            each(connection, move |_, mut respond| {
                let count = count.clone();
                async move {
                    match count.fetch_add(1, Ordering::SeqCst) {
                        1 => ok(respond, "at last"),
                        _ => respond.send_reset(Reason::REFUSED_STREAM),
                    }
                }
            })
        })
        .await;
        let client = client();
        let response = client.post(&url).body("hello").await.unwrap();
        assert_eq!(response.text().await.unwrap(), "at last");
        // Eight retries, then it is told.
        let error = client.post(&url).body("hello").await.unwrap_err();
        assert_eq!(error.phase(), Phase::Head);
        assert_eq!(seen.load(Ordering::SeqCst), 2 + 9);
    });
}

#[test]
fn a_response_that_is_dropped_resets_its_stream_only() {
    run(async {
        let (sender, receiver) = thrum_rt::sync::channel::bounded(1);
        let url = server(Builder::new(), move |_, connection| {
            let sender = sender.clone();
            each(connection, move |request, mut respond| {
                let sender = sender.clone();
                async move {
                    if request.uri().path() == "/short" {
                        return ok(respond, "short");
                    }
                    let mut stream = respond.send_response(Response::new(()), false).unwrap();
                    stream.send_data("some".into(), false).unwrap();
                    let reason = poll_fn(|cx| stream.poll_reset(cx)).await;
                    let _ = sender.send(reason.unwrap()).await;
                }
            })
        })
        .await;
        let client = client();
        let mut response = client.get(&url).await.unwrap();
        assert_eq!(response.chunk().await.unwrap().unwrap(), "some");
        drop(response);
        assert_eq!(receiver.recv().await.unwrap(), Reason::CANCEL);
        let response = client.get(format!("{url}short")).await.unwrap();
        assert_eq!(response.text().await.unwrap(), "short");
    });
}

#[test]
fn a_server_may_answer_without_reading() {
    run(async {
        let url = server(Builder::new(), |_, connection| {
            each(connection, |_, respond| async { ok(respond, "no, thanks") })
        })
        .await;
        let client = client();
        for _ in 0..20 {
            let response = client.post(&url).body(vec![1; 10_000_000]).await.unwrap();
            assert_eq!(response.text().await.unwrap(), "no, thanks");
        }
    });
}

#[test]
fn what_breaks_off_is_an_error() {
    run(async {
        let url = server(Builder::new(), |_, connection| {
            each(connection, |_, mut respond| async move {
                let mut stream = respond.send_response(Response::new(()), false).unwrap();
                stream.send_data("some".into(), false).unwrap();
                sleep(Duration::from_millis(50)).await;
                stream.send_reset(Reason::INTERNAL_ERROR);
            })
        })
        .await;
        let error = client().get(&url).await.unwrap().text().await.unwrap_err();
        assert!(error.is_body(), "{error}");

        // One that speaks something else.
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/", listener.local_addr().unwrap());
        spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let _ = stream.read(&mut [0; 100]).await;
                let _ = stream.write_all(b"HTTP/1.1 400 Bad Request\r\n\r\n").await;
            }
        });
        assert!(client().get(&url).await.is_err());
    });
}

#[test]
fn silence_is_a_timeout_and_the_connection_is_left() {
    run(async {
        let connections = Arc::new(AtomicUsize::new(0));
        let count = connections.clone();
        let url = server(Builder::new(), move |number, mut connection| {
            count.fetch_add(1, Ordering::SeqCst);
            async move {
                let Some(Ok((_, respond))) = connection.accept().await else {
                    return;
                };
                if number == 0 {
                    ok(respond, "first");
                    // Sent, and from then on deaf and mute.
                    let quiet = poll_fn(|cx| connection.poll_closed(cx));
                    let _ = timeout(Duration::from_millis(50), quiet).await;
                    sleep(Duration::from_secs(20)).await;
                } else {
                    ok(respond, "new");
                    let _ = poll_fn(|cx| connection.poll_closed(cx)).await;
                }
            }
        })
        .await;
        let mut timeouts = Timeouts::default();
        timeouts.head = Duration::from_millis(300);
        let client = Client::builder()
            .http2_prior_knowledge()
            .timeouts(timeouts)
            .build();
        assert_eq!(
            client.get(&url).await.unwrap().text().await.unwrap(),
            "first"
        );
        sleep(Duration::from_millis(200)).await;
        let error = client.get(&url).await.unwrap_err();
        assert!(
            error.is_timeout() && error.phase() == Phase::Head,
            "{error}"
        );
        assert_eq!(client.get(&url).await.unwrap().text().await.unwrap(), "new");
        assert_eq!(connections.load(Ordering::SeqCst), 2);
    });
}

#[test]
fn limits_and_waiting_hold() {
    run(async {
        let mut builder = Builder::new();
        builder.max_concurrent_streams(1);
        let url = server(builder, |_, connection| {
            each(connection, |request, mut respond| async move {
                match request.uri().path() {
                    "/fields" => {
                        let mut response = Response::new(());
                        for n in 0..100 {
                            let name: http::HeaderName = format!("x-{n}").parse().unwrap();
                            response.headers_mut().insert(name, "x".parse().unwrap());
                        }
                        respond.send_response(response, true).unwrap();
                    }
                    "/interim" => {
                        for _ in 0..10 {
                            let hints = Response::builder().status(103).body(()).unwrap();
                            respond.send_informational(hints).unwrap();
                        }
                        ok(respond, "hints");
                    }
                    "/stuck" => {
                        sleep(Duration::from_secs(20)).await;
                        drop(respond);
                    }
                    _ => ok(respond, "fine"),
                }
            })
        })
        .await;
        let mut limits = Limits::default();
        (limits.fields, limits.interim_responses, limits.retries) = (50, 5, 0);
        let mut timeouts = Timeouts::default();
        timeouts.queue = Duration::from_millis(200);
        let client = Client::builder().http2_prior_knowledge();
        let client = client.limits(limits).timeouts(timeouts).build();
        assert_eq!(
            client.get(&url).await.unwrap().text().await.unwrap(),
            "fine"
        );
        let error = client.get(format!("{url}fields")).await.unwrap_err();
        assert_eq!(error.phase(), Phase::Head);
        let error = client.get(format!("{url}interim")).await.unwrap_err();
        assert!(error.to_string().contains("interim"), "{error}");
        // One is all that the server takes; what waits for it gives up, and what is dropped makes room.
        let stuck = spawn({
            let request = client.get(format!("{url}stuck"));
            async move {
                timeout(Duration::from_millis(600), request.send())
                    .await
                    .is_err()
            }
        });
        sleep(Duration::from_millis(100)).await;
        let error = client.get(&url).await.unwrap_err();
        assert!(
            error.is_timeout() && error.phase() == Phase::Queue,
            "{error}"
        );
        assert!(stuck.await.unwrap());
        assert_eq!(
            client.get(&url).await.unwrap().text().await.unwrap(),
            "fine"
        );
    });
}

#[test]
fn one_that_idles_is_closed() {
    run(async {
        let (sender, receiver) = thrum_rt::sync::channel::bounded(1);
        let url = server(Builder::new(), move |_, connection| {
            let sender = sender.clone();
            async move {
                each(connection, |_, respond| async { ok(respond, "x") }).await;
                let _ = sender.send(()).await;
            }
        })
        .await;
        let mut timeouts = Timeouts::default();
        timeouts.idle = Duration::from_millis(100);
        let client = Client::builder()
            .http2_prior_knowledge()
            .timeouts(timeouts)
            .build();
        client.get(&url).await.unwrap().text().await.unwrap();
        receiver.recv().await.unwrap();
        assert_eq!(client.get(&url).await.unwrap().status(), StatusCode::OK);
    });
}

#[test]
fn a_body_waits_for_the_100_that_it_expects() {
    run(async {
        let url = server(Builder::new(), |_, connection| {
            each(connection, |request, mut respond| async move {
                if request.uri().path() == "/refuse" {
                    let no = Response::builder().status(417).body(()).unwrap();
                    respond.send_response(no, true).unwrap();
                    return;
                }
                let mut body = request.into_body();
                let early = timeout(Duration::from_millis(100), body.data()).await;
                assert!(early.is_err(), "the body came unasked");
                let go = Response::builder().status(100).body(()).unwrap();
                respond.send_informational(go).unwrap();
                let data = body.data().await.unwrap().unwrap();
                ok(respond, data);
            })
        })
        .await;
        let ask = |path: &str| {
            let request = client().post(format!("{url}{path}"));
            request.header("expect", "100-continue").body("hello")
        };
        assert_eq!(ask("").await.unwrap().text().await.unwrap(), "hello");
        assert_eq!(ask("refuse").await.unwrap().status(), 417);
    });
}

#[test]
fn it_goes_through_a_tunnel() {
    run(async {
        let url = server(Builder::new(), |_, connection| each(connection, echo)).await;
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let proxy = listener.local_addr().unwrap().to_string();
        spawn(async move {
            let (here, _) = listener.accept().await.unwrap();
            let mut head = Vec::new();
            while !head.ends_with(b"\r\n\r\n") {
                let mut byte = [0];
                assert_eq!(here.read(&mut byte).await.unwrap(), 1);
                head.push(byte[0]);
            }
            let head = String::from_utf8(head).unwrap();
            let target = head
                .strip_prefix("CONNECT ")
                .unwrap()
                .split(' ')
                .next()
                .unwrap();
            let there = TcpStream::connect(target).await.unwrap();
            here.write_all(b"HTTP/1.1 200 OK\r\n\r\n").await.unwrap();
            let _ = thrum_rt::io::copy_bidirectional(here, there).await;
        });
        let proxies = Proxies::all(&proxy).unwrap();
        let client = Client::builder()
            .http2_prior_knowledge()
            .proxies(proxies)
            .build();
        let response = client.post(&url).body("through").await.unwrap();
        assert_eq!(response.text().await.unwrap(), "through");
    });
}
