//! Loads against servers of thrum's own, in the same runtime: what is counted, and how long it says that things took.

use std::collections::BTreeSet;
use std::io;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use thrum_http::tls::{Acceptor, Identity};
use thrum_http::{
    Application, Body, HeaderValue, Method, Request, Response, Server, StatusCode, serve,
    service_fn, websocket,
};
use thrum_load::{
    Arrivals, BodyText, ErrorKind, HttpVersion, Load, LoadError, Plan, Rate, RequestText, Results,
};
use thrum_rt::net::{TcpListener, UnixListener};
use thrum_rt::time::{sleep, timeout};

const MS: Duration = Duration::from_millis(1);

/// A server of that application, until the test ends; its URL.
async fn server(application: impl Application) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    thrum_rt::spawn(serve(listener, application));
    format!("http://{address}/")
}

/// Always the same answer.
fn hello() -> impl Application {
    service_fn(async |_| Response::new(Body::from("hello")))
}

fn plan(url: &str) -> Plan {
    let mut plan = Plan::new(url.parse().unwrap()).unwrap();
    plan.connections = 4;
    plan.warm_up = Duration::ZERO;
    plan.timeout = Duration::from_secs(5);
    plan
}

async fn run(plan: Plan) -> Results {
    let load = Load::start(plan).await.unwrap();
    timeout(Duration::from_secs(30), load.finish())
        .await
        .expect("it ends")
}

fn test(body: impl Future<Output = ()>) {
    thrum_rt::block_on(body);
}

#[test]
fn asks_as_often_as_it_is_told_and_counts_all_of_it() {
    test(async {
        let (asked, seen) = (
            Arc::new(AtomicU64::new(0)),
            Arc::new(Mutex::new(BTreeSet::new())),
        );
        let (count, peers) = (asked.clone(), seen.clone());
        let url = server(service_fn(move |_| {
            count.fetch_add(1, Ordering::Relaxed);
            let peer = thrum_http::connection().unwrap().peer;
            peers.lock().unwrap().insert(peer);
            async { Response::new(Body::from("hello")) }
        }))
        .await;
        for (in_flight, burst) in [(1, None), (8, None), (1, Some(7))] {
            asked.store(0, Ordering::Relaxed);
            let mut plan = plan(&url);
            plan.requests_total = Some(1000);
            (plan.in_flight, plan.burst) = (in_flight, burst);
            let results = run(plan).await;
            assert_eq!(asked.load(Ordering::Relaxed), 1000);
            assert_eq!((results.answered, results.failed()), (1000, 0));
            assert_eq!(results.statuses[&200], 1000);
            assert_eq!(results.latency.count(), 1000);
            assert_eq!(results.connect.count(), 4);
            assert!(results.received_bytes > 5 * 1000 && results.sent_bytes > 18 * 1000);
            assert_eq!(
                results
                    .seconds
                    .iter()
                    .map(|second| second.answered)
                    .sum::<u64>(),
                1000
            );
        }
        assert_eq!(seen.lock().unwrap().len(), 12);
    });
}

#[test]
fn a_session_is_a_connection() {
    test(async {
        let url = server(hello()).await;
        let mut plan = plan(&url);
        plan.requests_total = Some(100);
        plan.connections = 1;
        plan.session = Some(10);
        plan.think = MS;
        let results = run(plan).await;
        assert_eq!((results.answered, results.failed()), (100, 0));
        assert_eq!(results.connect.count(), 10);
        assert!(results.elapsed() >= 90 * MS, "{:?}", results.elapsed());
    });
}

#[test]
fn a_server_that_stalls_delays_all_that_was_due() {
    test(async {
        let begin = Instant::now();
        let url = server(service_fn(move |_| async move {
            // From 1.0 to 1.5 s after the beginning, nothing is answered.
            let since = begin.elapsed();
            if (1000 * MS..1500 * MS).contains(&since) {
                sleep(1500 * MS - since).await;
            }
            Response::new(Body::from("hello"))
        }))
        .await;
        let mut plan = plan(&url);
        plan.rate = Some(Rate::Constant(200.0));
        plan.duration = Some(Duration::from_secs(3));
        let results = run(plan).await;
        assert!(
            (550..=601).contains(&results.answered),
            "{}",
            results.answered
        );
        // A sixth of all was due in the stall, and waited for half of it on average. Only four requests, one of each
        // connection, were under way.
        let waited = results.latency.percentile(95.0);
        assert!(waited >= 250 * MS, "{waited:?}");
        assert!(results.service.percentile(95.0) < waited);
        assert!(results.latency.percentile(50.0) < waited);
    });
}

#[test]
fn poisson_arrivals_and_ramps_come_to_their_mean() {
    test(async {
        let url = server(hello()).await;
        let mut plan = plan(&url);
        plan.rate = Some(Rate::Ramp(0.0, 800.0));
        plan.arrivals = Arrivals::Poisson;
        plan.duration = Some(Duration::from_secs(2));
        let results = run(plan).await;
        assert!(
            (680..=920).contains(&results.answered),
            "{}",
            results.answered
        );
        let (first, second) = (results.seconds[0].answered, results.seconds[1].answered);
        assert!(second > 2 * first, "{first} then {second}");
    });
}

#[test]
fn the_injected_latency_is_found() {
    test(async {
        let number = Arc::new(AtomicU64::new(0));
        let url = server(service_fn(move |_| {
            // One of ten takes 200 ms, the others 20.
            let slow = number.fetch_add(1, Ordering::Relaxed) % 10 == 9;
            async move {
                sleep(if slow { 200 * MS } else { 20 * MS }).await;
                Response::new(Body::from("hello"))
            }
        }))
        .await;
        let mut plan = plan(&url);
        plan.connections = 20;
        plan.requests_total = Some(1000);
        let results = run(plan).await;
        for (percent, least, most) in [(50.0, 20, 120), (85.0, 20, 150), (95.0, 200, 400)] {
            let found = results.latency.percentile(percent);
            assert!(
                (least * MS..most * MS).contains(&found),
                "p{percent}: {found:?}"
            );
        }
    });
}

#[test]
fn answers_that_are_not_as_expected_are_errors() {
    test(async {
        let url = server(service_fn(async |request: Request<Body>| {
            let mut response = Response::new(Body::from("a small body"));
            match request.uri().path() {
                "/missing" => *response.status_mut() = StatusCode::NOT_FOUND,
                "/marked" => drop(
                    response
                        .headers_mut()
                        .insert("x-mark", "seen".parse().unwrap()),
                ),
                _ => {}
            }
            response
        }))
        .await;
        let asked = async |path: &str, change: fn(&mut Plan)| {
            let mut plan = plan(&format!("{}{path}", url.trim_end_matches('/')));
            plan.requests_total = Some(20);
            change(&mut plan);
            let results = run(plan).await;
            (
                results.answered,
                results.errors.into_iter().collect::<Vec<_>>(),
            )
        };
        assert_eq!(asked("/", |_| {}).await, (20, vec![]));
        assert_eq!(
            asked("/missing", |_| {}).await,
            (0, vec![(ErrorKind::Status, 20)])
        );
        let not_found = |plan: &mut Plan| plan.expect.statuses = vec!["404".parse().unwrap()];
        assert_eq!(asked("/missing", not_found).await, (20, vec![]));
        let marked = |plan: &mut Plan| plan.expect.fields = vec!["X-Mark: seen".parse().unwrap()];
        assert_eq!(asked("/marked", marked).await, (20, vec![]));
        assert_eq!(asked("/", marked).await, (0, vec![(ErrorKind::Header, 20)]));
        let large = |plan: &mut Plan| plan.expect.body = Some(b"large".to_vec());
        assert_eq!(asked("/", large).await, (0, vec![(ErrorKind::Body, 20)]));
        let small = |plan: &mut Plan| plan.expect.body = Some(b"small".to_vec());
        assert_eq!(asked("/", small).await, (20, vec![]));
        let (answered, errors) = asked("/missing", |plan| plan.stop_on_error = true).await;
        assert_eq!(answered, 0);
        assert!(errors[0].1 < 20, "{errors:?}");
    });
}

#[test]
fn bodies_lists_and_cookies_are_sent_as_they_were_asked_for() {
    test(async {
        let seen = Arc::new(Mutex::new(Vec::new()));
        let log = seen.clone();
        let url = server(service_fn(move |request: Request<Body>| {
            let log = log.clone();
            async move {
                let (parts, body) = request.into_parts();
                let text = String::from_utf8(body.bytes(1000).await.unwrap().to_vec()).unwrap();
                let cookie = parts.headers.get("cookie").cloned();
                let seen = (parts.method, parts.uri.path().to_owned(), text, cookie);
                log.lock().unwrap().push(seen);
                let response = Response::builder().header("set-cookie", "id=7");
                response.body(Body::from("hello")).unwrap()
            }
        }))
        .await;
        let mut plan = plan(&url);
        plan.connections = 1;
        plan.requests_total = Some(4);
        plan.cookies = true;
        let request = |method: Method, target: &str, body: BodyText| RequestText {
            method,
            target: target.to_owned(),
            fields: vec![],
            body,
        };
        plan.requests = vec![
            request(Method::GET, "/a/{n}", BodyText::None),
            request(Method::PUT, "/b", BodyText::Text("number {n}".to_owned())),
        ];
        let results = run(plan).await;
        assert_eq!(results.answered, 4);
        let cookie = Some(HeaderValue::from_static("id=7"));
        let expected = [
            (Method::GET, "/a/0".to_owned(), String::new(), None),
            (
                Method::PUT,
                "/b".to_owned(),
                "number 1".to_owned(),
                cookie.clone(),
            ),
            (
                Method::GET,
                "/a/2".to_owned(),
                String::new(),
                cookie.clone(),
            ),
            (Method::PUT, "/b".to_owned(), "number 3".to_owned(), cookie),
        ];
        assert_eq!(*seen.lock().unwrap(), expected);
    });
}

#[test]
fn speaks_http2_with_and_without_tls() {
    test(async {
        let key = rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap();
        let identity = Identity::from_pem(
            key.cert.pem().as_bytes(),
            key.signing_key.serialize_pem().as_bytes(),
        );
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let hello = service_fn(async |request: Request<Body>| {
            Response::new(Body::from(format!("{:?}", request.version())))
        });
        let server = Server::new().tls(Acceptor::new(identity.unwrap()));
        thrum_rt::spawn(async move { server.serve(listener, hello).await });
        let mut secure = plan(&format!("https://localhost:{port}/"));
        secure.target.insecure = true;
        secure.in_flight = 10;
        secure.requests_total = Some(200);
        secure.expect.body = Some(b"HTTP/2.0".to_vec());
        let results = run(secure.clone()).await;
        assert_eq!((results.answered, results.failed()), (200, 0));
        assert_eq!(results.tls.count(), 4);
        secure.target.insecure = false;
        secure.duration = Some(200 * MS);
        let refused = run(secure).await;
        assert_eq!(refused.answered, 0);
        assert!(refused.errors[&ErrorKind::Tls] >= 4);

        let url = server_of_versions().await;
        let mut plain = plan(&url);
        plain.requests_total = Some(200);
        plain.expect.body = Some(b"HTTP/1.1".to_vec());
        assert_eq!(run(plain.clone()).await.answered, 200);
        plain.target.version = HttpVersion::Http2;
        plain.expect.body = Some(b"HTTP/2.0".to_vec());
        assert_eq!(run(plain).await.answered, 200);
    });
}

async fn server_of_versions() -> String {
    server(service_fn(async |request: Request<Body>| {
        Response::new(Body::from(format!("{:?}", request.version())))
    }))
    .await
}

#[test]
fn speaks_websocket_lines_and_over_unix_sockets() {
    test(async {
        let url = server(service_fn(async |mut request: Request<Body>| {
            websocket::upgrade(&mut request, async |mut socket| {
                while let Some(Ok(message)) = socket.receive().await {
                    let _ = socket.send(message).await;
                }
            })
        }))
        .await;
        let mut messages = plan(&url.replace("http", "ws"));
        messages.requests_total = Some(200);
        messages.in_flight = 3;
        messages.expect.body = Some(b"hello".to_vec());
        let results = run(messages).await;
        assert_eq!((results.answered, results.failed()), (200, 0));

        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let mut lines = plan(&format!("tcp://{}", listener.local_addr().unwrap()));
        thrum_rt::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                thrum_rt::spawn(async move { thrum_rt::io::copy(&stream, &stream).await });
            }
        });
        lines.requests_total = Some(200);
        lines.burst = Some(5);
        let results = run(lines).await;
        assert_eq!((results.answered, results.failed()), (200, 0));

        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("socket");
        let listener = UnixListener::bind(&path).unwrap();
        thrum_rt::spawn(serve(listener, hello()));
        let mut local = plan("http://anything/");
        local.target.unix_socket = Some(path);
        local.requests_total = Some(50);
        assert_eq!(run(local).await.answered, 50);
    });
}

#[test]
fn lost_connections_are_counted_and_opened_anew() {
    test(async {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/", listener.local_addr().unwrap());
        thrum_rt::spawn(async move {
            // Each connection answers twice, and is cut at the third request.
            while let Ok((stream, _)) = listener.accept().await {
                thrum_rt::spawn(async move {
                    let mut buffer = [0; 1024];
                    for _ in 0..2 {
                        stream.read(&mut buffer).await?;
                        stream
                            .write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
                            .await?;
                    }
                    stream.read(&mut buffer).await?;
                    io::Result::Ok(())
                });
            }
        });
        let mut plan = plan(&url);
        plan.connections = 1;
        plan.requests_total = Some(60);
        let results = run(plan).await;
        assert_eq!((results.answered, results.failed()), (40, 20));
        assert_eq!(results.errors[&ErrorKind::Lost], 20);
        assert_eq!(results.connect.count(), 20);
    });
}

#[test]
fn what_does_not_answer_or_listen_is_told_by_its_kind() {
    test(async {
        let silent = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/", silent.local_addr().unwrap());
        let mut waits = plan(&url);
        waits.timeout = 200 * MS;
        waits.requests_total = Some(4);
        assert_eq!(run(waits).await.errors[&ErrorKind::Timeout], 4);
        drop(silent);
        let mut refused = plan(&url);
        refused.duration = Some(300 * MS);
        let results = run(refused).await;
        assert_eq!(results.answered, 0);
        assert!(results.errors[&ErrorKind::Connect] >= 4);

        let babble = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let mut hears = plan(&format!("http://{}/", babble.local_addr().unwrap()));
        thrum_rt::spawn(async move {
            while let Ok((stream, _)) = babble.accept().await {
                let _ = stream.write_all(b"SSH-2.0-OpenSSH\r\n\r\n").await;
            }
        });
        hears.requests_total = Some(4);
        assert_eq!(run(hears).await.errors[&ErrorKind::Protocol], 4);

        let unknown = Load::start(plan("http://no-such-host.invalid/")).await;
        assert!(matches!(unknown, Err(LoadError::Lookup(..))));
    });
}

#[test]
fn stopping_gives_what_was_seen_so_far() {
    test(async {
        let url = server(hello()).await;
        let mut plan = plan(&url);
        plan.duration = Some(Duration::from_secs(600));
        let load = Load::start(plan).await.unwrap();
        let (stopper, observer) = (load.stopper(), load.observer());
        thrum_rt::spawn(async move {
            while observer().answered < 10 {
                sleep(MS).await;
            }
            stopper.cancel();
        });
        let results = timeout(Duration::from_secs(20), load.finish())
            .await
            .expect("it was stopped");
        assert!(results.answered >= 10 && results.elapsed() < Duration::from_secs(20));
    });
}
