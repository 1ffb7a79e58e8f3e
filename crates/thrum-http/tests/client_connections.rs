//! The client's connections: when one is used again, when not, and what a request does when one turns out to be closed.

#[path = "support/scripted.rs"]
#[allow(dead_code, reason = "each test file uses its part")]
mod scripted;
mod support;

use std::future::IntoFuture;
use std::time::Duration;

use thrum_http::client::{Error, Limits, Phase, Timeouts};
use thrum_http::{Body, Client, Server};
use thrum_rt::time::sleep;

use scripted::{HEAD, Scripted, Step, answer, run, say};
use support::with_server;

const OK: &str = "HTTP/1.1 200 OK|Content-Length: 2||hi";

/// A connection that answers so many requests with this, and stays open.
fn answers(count: usize, text: &str) -> Vec<Step> {
    let mut script: Vec<_> = (0..count).flat_map(|_| answer(text)).collect();
    script.push(Step::UntilClosed);
    script
}

async fn get(client: &Client, server: &Scripted) -> Result<String, Error> {
    client.get(server.url()).await?.text().await
}

#[test]
fn a_connection_is_used_again_if_nothing_speaks_against_it() {
    run(async {
        for (text, connections) in [
            (OK, 1),
            ("HTTP/1.1 200 OK|Transfer-Encoding: chunked||2|hi|0||", 1),
            (
                "HTTP/1.0 200 OK|Connection: keep-alive|Content-Length: 2||hi",
                1,
            ),
            (
                "HTTP/1.1 100 Continue||HTTP/1.1 200 OK|Content-Length: 2||hi",
                1,
            ),
            ("HTTP/1.1 200 OK|Connection: close|Content-Length: 2||hi", 2),
            ("HTTP/1.0 200 OK|Content-Length: 2||hi", 2),
            // More than was asked for: whose answer would it be?
            (
                "HTTP/1.1 200 OK|Content-Length: 2||hiHTTP/1.1 200 OK|Content-Length: 4||evil",
                2,
            ),
        ] {
            let server = Scripted::start(vec![answers(2, text)]).await;
            let client = Client::new();
            for _ in 0..2 {
                assert_eq!(get(&client, &server).await.unwrap(), "hi", "{text}");
            }
            assert_eq!(server.accepted(), connections, "{text}");
        }
    });
}

#[test]
fn what_comes_unasked_is_no_answer() {
    run(async {
        let mut first = answer(OK).to_vec();
        first.push(Step::Pause(Duration::from_millis(20)));
        first.push(say("HTTP/1.1 200 OK|Content-Length: 4||evil"));
        first.push(Step::UntilClosed);
        let server = Scripted::start(vec![first, answers(1, OK)]).await;
        let client = Client::new();
        assert_eq!(get(&client, &server).await.unwrap(), "hi");
        sleep(Duration::from_millis(200)).await;
        assert_eq!(get(&client, &server).await.unwrap(), "hi");
        assert_eq!(server.accepted(), 2);
    });
}

#[test]
fn a_connection_that_was_closed_while_it_idled_is_replaced() {
    run(async {
        // Noticed before it is used, even for a request that must not be sent twice.
        let server = Scripted::start(vec![answer(OK).to_vec(), answers(1, OK)]).await;
        let client = Client::new();
        get(&client, &server).await.unwrap();
        sleep(Duration::from_millis(100)).await;
        let response = client.post(server.url()).body("x").await.unwrap();
        assert_eq!(response.text().await.unwrap(), "hi");
        assert_eq!(server.accepted(), 2);
    });
}

#[test]
fn what_is_safe_is_sent_again() {
    run(async {
        // It reads the second request, and closes without an answer.
        let closes = || [answer(OK).to_vec(), vec![HEAD]].concat();
        let server = Scripted::start(vec![closes(), answers(1, OK)]).await;
        let client = Client::new();
        get(&client, &server).await.unwrap();
        assert_eq!(get(&client, &server).await.unwrap(), "hi", "sent again");
        assert_eq!(server.accepted(), 2);

        let server = Scripted::start(vec![closes(), answers(1, OK)]).await;
        get(&client, &server).await.unwrap();
        let put = client.put(server.url()).body("x").await.unwrap();
        assert_eq!(put.text().await.unwrap(), "hi");

        let server = Scripted::start(vec![closes(), answers(1, OK)]).await;
        get(&client, &server).await.unwrap();
        let post = client
            .post(server.url())
            .header("idempotency-key", "1")
            .await;
        assert_eq!(post.unwrap().text().await.unwrap(), "hi");

        let server = Scripted::start(vec![closes(), answers(1, OK)]).await;
        get(&client, &server).await.unwrap();
        let error = client.post(server.url()).body("x").await.unwrap_err();
        assert_eq!(error.phase(), Phase::Head, "{error}");
        assert_eq!(server.accepted(), 1, "the server may have done it");

        // A connection that was new, and an answer that had begun, are no reason to try again.
        let server = Scripted::start(vec![vec![HEAD], answers(1, OK)]).await;
        get(&client, &server).await.unwrap_err();
        let half = [answer(OK).to_vec(), answer("HTTP/1.1 200 O").to_vec()].concat();
        let server = Scripted::start(vec![half, answers(1, OK)]).await;
        get(&client, &server).await.unwrap();
        get(&client, &server).await.unwrap_err();
        assert_eq!(server.accepted(), 1);
    });
}

#[test]
fn bodies_that_nobody_reads() {
    run(async {
        let large = format!(
            "HTTP/1.1 200 OK|Content-Length: 1000000||{}",
            "x".repeat(1_000_000)
        );
        for (text, connections) in [
            (OK, 1),
            ("HTTP/1.1 200 OK|Transfer-Encoding: chunked||2|hi|0||", 1),
            (large.as_str(), 2),
            ("HTTP/1.1 200 OK|Content-Length: 20||not all of it", 2),
        ] {
            let server = Scripted::start(vec![answers(2, text)]).await;
            let client = Client::new();
            for _ in 0..2 {
                let response = client.get(server.url()).await.unwrap();
                sleep(Duration::from_millis(50)).await;
                drop(response);
            }
            assert_eq!(server.accepted(), connections, "{} bytes", text.len());
        }
    });
}

#[test]
fn a_request_that_is_dropped_closes_its_connection() {
    run(async {
        let server = Scripted::start(vec![vec![HEAD, Step::UntilClosed], answers(2, OK)]).await;
        let mut limits = Limits::default();
        limits.connections_per_host = 1;
        let client = Client::builder().limits(limits).build();
        let dropped = thrum_rt::time::timeout(
            Duration::from_millis(50),
            client.get(server.url()).into_future(),
        );
        assert!(dropped.await.is_err());
        assert_eq!(
            get(&client, &server).await.unwrap(),
            "hi",
            "its place is free"
        );
        assert_eq!(server.accepted(), 2);
    });
}

#[test]
fn those_beyond_the_limit_wait_their_turn() {
    with_server(Server::new(), async |address, server| {
        let mut limits = Limits::default();
        limits.connections_per_host = 2;
        let client = Client::builder().limits(limits).build();
        let tasks: Vec<_> = (0..20)
            .map(|n| {
                let request = client.get(format!("http://{address}/slow?{n}"));
                thrum_rt::spawn(async move { request.await.unwrap().text().await.unwrap() })
            })
            .collect();
        for task in tasks {
            assert_eq!(task.await.unwrap(), "slow");
        }
        assert_eq!(server.stats().accepted, 2);
        assert_eq!(server.stats().requests, 20);
    });
}

#[test]
fn idle_connections_are_closed_in_time_and_in_number() {
    with_server(Server::new(), async |address, server| {
        let mut limits = Limits::default();
        limits.idle_per_host = 2;
        let mut timeouts = Timeouts::default();
        timeouts.idle = Duration::from_millis(300);
        let client = Client::builder().limits(limits).timeouts(timeouts).build();
        let tasks: Vec<_> = (0..6)
            .map(|_| thrum_rt::spawn(client.get(format!("http://{address}/slow")).into_future()))
            .collect();
        for task in tasks {
            task.await.unwrap().unwrap();
        }
        let open = async |expected: usize| {
            for _ in 0..500 {
                if server.stats().open == expected {
                    return;
                }
                sleep(Duration::from_millis(10)).await;
            }
            panic!("{} are open, not {expected}", server.stats().open);
        };
        open(2).await;
        open(0).await;
        // And again, with a new task that looks after them.
        client.get(format!("http://{address}/")).await.unwrap();
        open(1).await;
        open(0).await;
        client.get(format!("http://{address}/")).await.unwrap();
        open(1).await;
        drop(client);
        open(0).await;
    });
}

#[test]
fn a_client_outlives_its_runtime() {
    let client = Client::new();
    for _ in 0..2 {
        let client = client.clone();
        with_server(Server::new(), async move |address, server| {
            for _ in 0..2 {
                let response = client.get(format!("http://{address}/a")).await.unwrap();
                assert_eq!(response.text().await.unwrap(), "/a");
            }
            assert_eq!(server.stats().accepted, 1);
        });
    }
    // The body of a response may be dropped where there is no runtime.
    let runtime = thrum_rt::Runtime::builder().workers(1).build().unwrap();
    let response = runtime.block_on(async {
        let server = Scripted::start(vec![answers(
            1,
            "HTTP/1.1 200 OK|Transfer-Encoding: chunked||2|hi|0||",
        )])
        .await;
        client.get(server.url()).await.unwrap()
    });
    drop(response);
}

#[test]
fn bodies_of_requests_arrive() {
    with_server(Server::new(), async |address, _| {
        let client = Client::new();
        let url = format!("http://{address}/echo");
        for size in [0, 1, 16 * 1024, 16 * 1024 + 1, 5_000_000] {
            let body = vec![b'x'; size];
            let response = client.post(&url).body(body.clone()).await.unwrap();
            assert_eq!(response.bytes().await.unwrap(), body);
        }
        let mut file = tempfile::tempfile().unwrap();
        std::io::Write::write_all(&mut file, &vec![b'f'; 300_000]).unwrap();
        let body = Body::file(std::sync::Arc::new(file), 100_000, 200_000);
        let response = client.post(&url).body(body).await.unwrap();
        assert_eq!(response.bytes().await.unwrap(), vec![b'f'; 200_000]);
    });
}

#[test]
fn bodies_flow_both_ways_at_once() {
    let mut limits = thrum_http::Limits::default();
    limits.body_bytes = 20_000_000;
    with_server(Server::new().limits(limits), async |address, _| {
        let client = Client::new();
        // What comes back is what goes out, by and by, through both ends' small memory.
        let first = client.get(format!("http://{address}/large")).await.unwrap();
        let url = format!("http://{address}/through");
        let mut response = client.post(&url).body(first.into_body()).await.unwrap();
        let mut length = 0;
        while let Some(chunk) = response.chunk().await.unwrap() {
            length += chunk.len();
        }
        assert_eq!(length, 20_000_000);
    });
}

#[test]
fn an_early_refusal_ends_the_upload() {
    run(async {
        let text = "HTTP/1.1 413 Too Large|Content-Length: 3||no!";
        let server = Scripted::start(vec![vec![HEAD, say(text), Step::UntilClosed]]).await;
        let request = Client::new().post(server.url()).body(vec![0; 50_000_000]);
        let response = request.await.unwrap();
        assert_eq!(response.status(), 413);
        assert_eq!(response.text().await.unwrap(), "no!");
        // Even if it closes with it.
        let server = Scripted::start(vec![vec![
            HEAD,
            say(text),
            Step::Pause(Duration::from_millis(300)),
        ]])
        .await;
        let request = Client::new().post(server.url()).body(vec![0; 50_000_000]);
        assert_eq!(request.await.unwrap().status(), 413);
    });
}

#[test]
fn a_body_waits_to_be_asked_for() {
    run(async {
        let asked = vec![
            HEAD,
            Step::Pause(Duration::from_millis(50)),
            say("HTTP/1.1 100 Continue||"),
            Step::Await("hello"),
            say(OK),
            Step::UntilClosed,
        ];
        let refused = vec![
            HEAD,
            say("HTTP/1.1 417 No|Content-Length: 0||"),
            Step::UntilClosed,
        ];
        let silent = vec![HEAD, Step::Await("hello"), say(OK), Step::UntilClosed];
        for (script, status) in [(asked, 200), (refused, 417), (silent, 200)] {
            let server = Scripted::start(vec![script]).await;
            let request = Client::new().post(server.url()).body("hello");
            let response = request.header("expect", "100-continue").await.unwrap();
            assert_eq!(response.status(), status);
        }
    });
}

#[test]
fn unix_sockets_and_local_addresses() {
    run(async {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("socket");
        let listener = thrum_rt::net::UnixListener::bind(&path).unwrap();
        let hello = thrum_http::service_fn(async |request: thrum_http::Request<Body>| {
            let host = request.headers()["host"].to_str().unwrap().to_owned();
            thrum_http::Response::new(format!("{host}{}", request.uri()))
        });
        thrum_rt::spawn(thrum_http::serve(listener, hello));
        let client = Client::builder().unix_socket(&path).build();
        let text = client
            .get("http://anything/at/all")
            .await
            .unwrap()
            .text()
            .await
            .unwrap();
        assert_eq!(text, "anything/at/all");

        let server = Scripted::start(vec![answers(1, OK)]).await;
        let client = Client::builder()
            .local_address("127.0.0.2".parse().unwrap())
            .build();
        assert_eq!(get(&client, &server).await.unwrap(), "hi");
        let client = Client::builder()
            .local_address("::1".parse().unwrap())
            .build();
        assert!(get(&client, &server).await.unwrap_err().is_connect());
    });
}
