//! What is passed on of a request and of its response, and when.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use http::{Request, Response, StatusCode};
use thrum_http::{Body, Client, early_hints, service_fn};
use thrum_rt::time::sleep;

use super::support::*;

#[test]
fn a_request_goes_through_with_what_the_upstream_should_know() {
    run(async {
        let upstream = mirror().await;
        let front = front(&format!(
            "/keep/ >> {upstream}
             /cut/ >> {upstream}/v1/ {{ host upstream; via off; forwarded rfc }}
             /u/{{id}} >> {upstream} {{
                 request-header set X-Id \"{{id}} of {{client}}\"
                 request-header remove Cookie
                 forwarded off
                 host app.example
             }}"
        ))
        .await;
        let client = Client::new();
        let get = |path: &str| {
            let request = client.get(front.url(path)).header("host", "a.example:1");
            let request = request
                .header("connection", "close")
                .header("te", "trailers");
            let request = request
                .header("x-forwarded-for", "9.9.9.9")
                .header("forwarded", "for=9");
            let request = request
                .header("proxy", "evil")
                .header("x_forwarded_for", "9");
            let request = request.header("keep-alive", "5").header("cookie", "a=b");
            async move { request.send().await.unwrap().text().await.unwrap() }
        };
        let mut lines: Vec<_> = get("/keep/x?q=1")
            .await
            .lines()
            // The client says what it can decode, if it was built with that.
            .filter(|line| !line.starts_with("accept-encoding:"))
            .map(str::to_owned)
            .collect();
        lines.sort();
        assert_eq!(
            lines,
            [
                "GET /keep/x?q=1",
                "connection: te",
                "cookie: a=b",
                "host: a.example:1",
                "te: trailers",
                "via: 1.1 thrum",
                "x-forwarded-for: 127.0.0.1",
                "x-forwarded-host: a.example:1",
                "x-forwarded-proto: http",
            ]
        );
        let text = get("/cut/x?q=1").await;
        assert!(text.starts_with("GET /v1/x?q=1\n"), "{text}");
        assert!(text.contains(&format!("host: {upstream}\n")), "{text}");
        assert!(
            !text.contains("via") && !text.contains("x-forwarded"),
            "{text}"
        );
        assert!(
            text.contains("forwarded: for=127.0.0.1;host=\"a.example:1\";proto=http\n"),
            "{text}"
        );
        let text = get("/u/7").await;
        assert!(text.contains("x-id: 7 of 127.0.0.1\n"), "{text}");
        assert!(text.contains("host: app.example\n"), "{text}");
        assert!(
            !text.contains("cookie") && !text.contains("forwarded"),
            "{text}"
        );
    });
}

#[test]
fn bodies_and_lengths_come_as_they_are() {
    run(async {
        let echo = serve(service_fn(async |request: Request<Body>| {
            let mut response = Response::new(Body::empty());
            response.headers_mut().insert("x-hop", "1".parse().unwrap());
            response
                .headers_mut()
                .insert("keep-alive", "timeout=1".parse().unwrap());
            *response.body_mut() = request.into_body();
            response
        }))
        .await;
        for settings in ["", "{ buffer on }", "{ buffer on; buffer-size 1KiB }"] {
            let front = front(&format!("/ >> {echo} {settings}")).await;
            let client = Client::new();
            for size in [0, 1, 5_000, 300_000, 3_000_000] {
                let sent: Vec<u8> = (0..size).map(|n| (n % 251) as u8).collect();
                let response = client.post(front.url("/")).body(sent.clone()).send().await;
                let response = response.unwrap();
                assert_eq!(response.headers()["x-hop"], "1");
                assert!(!response.headers().contains_key("keep-alive"));
                let length = response.headers()["content-length"].to_str().unwrap();
                assert_eq!(length, size.to_string());
                assert!(response.bytes().await.unwrap() == sent, "{size} {settings}");
            }
            // Without a length, both ways.
            let pieces = (0..100).map(|n| Ok::<_, std::io::Error>(format!("piece {n};")));
            let body = Body::from_stream(futures_lite::stream::iter(pieces));
            let response = client.post(front.url("/")).body(body).send().await.unwrap();
            let text = response.text().await.unwrap();
            assert!(text.starts_with("piece 0;") && text.ends_with("piece 99;"));
        }
        let (sized, _) = says("twelve bytes").await;
        let front = front(&format!("/ >> {sized}")).await;
        let response = Client::new().head(front.url("/")).send().await.unwrap();
        assert_eq!(response.headers()["content-length"], "12");
        assert_eq!(response.text().await.unwrap(), "");
    });
}

/// The first event is there while the second has not been made.
#[test]
fn what_is_streamed_is_not_held_back() {
    run(async {
        let (ask, asked) = thrum_rt::sync::channel::bounded::<()>(1);
        let asked = Arc::new(asked);
        let upstream = serve(service_fn(move |_: Request<Body>| {
            let asked = asked.clone();
            async move {
                let (mut sender, body) = Body::channel();
                thrum_rt::spawn(async move {
                    sender.send("data: one\n\n").await.unwrap();
                    asked.recv().await.unwrap();
                    sender.send("data: two\n\n").await.unwrap();
                    sender.finish();
                });
                let mut response = Response::new(body);
                let events = "text/event-stream".parse().unwrap();
                response.headers_mut().insert("content-type", events);
                response
            }
        }))
        .await;
        for settings in ["", "{ buffer on }"] {
            let front = front(&format!("/ >> {upstream} {settings}")).await;
            let mut response = thrum_http::get(front.url("/")).await.unwrap();
            assert_eq!(response.chunk().await.unwrap().unwrap(), "data: one\n\n");
            ask.send(()).await.unwrap();
            assert_eq!(response.chunk().await.unwrap().unwrap(), "data: two\n\n");
            assert_eq!(response.chunk().await.unwrap(), None);
        }
    });
}

#[test]
fn trailers_and_interim_responses_come_through() {
    run(async {
        let upstream = by_hand(async |stream| {
            read_until(&stream, "\r\n\r\n").await;
            let answer = "HTTP/1.1 102 Processing\r\n\r\n\
                 HTTP/1.1 103 Early Hints\r\nlink: </a.css>\r\nconnection: x\r\nx: 1\r\n\r\n\
                 HTTP/1.1 200 OK\r\ntrailer: x-sum\r\ntransfer-encoding: chunked\r\n\r\n\
                 3\r\nabc\r\n0\r\nx-sum: 6\r\n\r\n";
            stream.write_all(answer.as_bytes()).await.unwrap();
            read_to_end(&stream).await;
        })
        .await;
        let front = front(&format!("/ >> {upstream}")).await;
        let client = front
            .say("GET / HTTP/1.1\r\nhost: a\r\nte: trailers\r\n\r\n")
            .await;
        let text = read_until(&client, "x-sum: 6\r\n\r\n").await;
        assert!(
            text.starts_with(
                "HTTP/1.1 103 Early Hints\r\nlink: </a.css>\r\n\r\nHTTP/1.1 200 OK\r\n"
            ),
            "{text}"
        );
        assert!(
            text.ends_with("3\r\nabc\r\n0\r\nx-sum: 6\r\n\r\n"),
            "{text}"
        );
    });
}

#[test]
fn early_hints_of_an_upstream_of_ours() {
    run(async {
        let upstream = serve(service_fn(async |_: Request<Body>| {
            early_hints(
                [(http::header::LINK, "</b.css>".parse().unwrap())]
                    .into_iter()
                    .collect(),
            );
            sleep(Duration::from_millis(5)).await;
            Response::new("there")
        }))
        .await;
        let front = front(&format!("/ >> {upstream}")).await;
        let client = front.say("GET / HTTP/1.1\r\nhost: a\r\n\r\n").await;
        let text = read_until(&client, "there").await;
        assert!(
            text.contains("103 Early Hints\r\nlink: </b.css>\r\n\r\nHTTP/1.1 200"),
            "{text}"
        );
    });
}

/// The client is asked for its body when the upstream asks for it, and not when that has refused.
#[test]
fn who_waits_to_be_asked_for_a_body_is_asked_by_the_upstream() {
    run(async {
        let upstream = serve(service_fn(async |request: Request<Body>| {
            if request.uri().path() == "/refuse" {
                let mut response = Response::new(Body::from("no"));
                *response.status_mut() = StatusCode::FORBIDDEN;
                return response;
            }
            Response::new(request.into_body().bytes(100).await.unwrap().into())
        }))
        .await;
        let front = front(&format!("/ >> {upstream}")).await;
        let head = |path| {
            format!(
                "POST {path} HTTP/1.1\r\nhost: a\r\nexpect: 100-continue\r\ncontent-length: 4\r\n\r\n"
            )
        };
        let client = front.say(head("/")).await;
        let text = read_until(&client, "\r\n\r\n").await;
        assert_eq!(text, "HTTP/1.1 100 Continue\r\n\r\n");
        client.write_all(b"body").await.unwrap();
        let text = read_until(&client, "body").await;
        assert!(text.starts_with("HTTP/1.1 200 OK"), "{text}");
        let client = front.say(head("/refuse")).await;
        let text = read_to_end(&client).await;
        assert!(
            text.starts_with("HTTP/1.1 403") && !text.contains("100 Continue"),
            "{text}"
        );
    });
}

/// An upstream has as many bytes ready as one asks for. What was taken from it is what buffers of sockets hold.
#[test]
fn a_client_that_does_not_read_holds_the_upstream_not_the_memory() {
    run(async {
        let made = Arc::new(AtomicUsize::new(0));
        let count = made.clone();
        let upstream = serve(service_fn(move |_: Request<Body>| {
            let count = count.clone();
            async move {
                let pieces = std::iter::repeat_with(move || {
                    count.fetch_add(64 * 1024, Ordering::SeqCst);
                    Ok::<_, std::io::Error>(vec![b'x'; 64 * 1024])
                });
                Response::new(Body::from_stream(futures_lite::stream::iter(
                    pieces.take(4096),
                )))
            }
        }))
        .await;
        let front = front(&format!("/ >> {upstream}\n")).await;
        let client = front.say("GET / HTTP/1.1\r\nhost: a\r\n\r\n").await;
        read_until(&client, "xxxx").await;
        let mut before = 0;
        loop {
            sleep(Duration::from_millis(300)).await;
            let now = made.load(Ordering::SeqCst);
            if now == before {
                break; // it waits
            }
            before = now;
        }
        assert!(before < 64 << 20, "{before} bytes of 256 MiB were taken");
        drop(client);
        until("the place is free again", || {
            front.status(upstream).active == 0
        })
        .await;
    });
}

/// With a buffer, the upstream is done before the client has taken anything.
#[test]
fn a_buffer_lets_the_upstream_go() {
    run(async {
        let upstream = serve(service_fn(async |_: Request<Body>| {
            let pieces = (0..1000).map(|_| Ok::<_, std::io::Error>(vec![b'x'; 16 * 1024]));
            Response::new(Body::from_stream(futures_lite::stream::iter(pieces)))
        }))
        .await;
        let front = front(&format!(
            "/ >> {upstream} {{ buffer on; buffer-size 64MiB }}"
        ))
        .await;
        let client = front.say("GET / HTTP/1.0\r\nhost: a\r\n\r\n").await;
        until("it was asked", || front.status(upstream).requests == 1).await;
        until("the place is free", || front.status(upstream).active == 0).await;
        let text = read_to_end(&client).await;
        assert_eq!(text.matches('x').count(), 16_384_000);
    });
}

/// Who is here is a proxy in front of this one.
#[test]
fn a_trusted_proxys_word_is_passed_on() {
    run(async {
        let upstream = mirror().await;
        let front = front_of(&format!(
            "trust-proxy 127.0.0.1\n:8080 {{\n/ >> {upstream}\n}}\n"
        ))
        .await;
        let request = Client::new()
            .get(front.url("/"))
            .header("x-forwarded-for", "192.0.2.7");
        let request = request
            .header("x-forwarded-proto", "https")
            .header("forwarded", "for=6.6.6.6");
        let text = request.send().await.unwrap().text().await.unwrap();
        assert!(
            text.contains("x-forwarded-for: 192.0.2.7, 127.0.0.1\n"),
            "{text}"
        );
        assert!(text.contains("x-forwarded-proto: https\n"), "{text}");
        assert!(!text.contains("6.6.6.6"), "{text}");
    });
}
