//! Upstreams that fail: before they answer, while they answer, for a while.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use http::{Request, Response};
use thrum_http::{Body, Client, Server, service_fn};
use thrum_rt::net::TcpStream;
use thrum_rt::time::sleep;

use super::support::*;

/// Serves one response and is gone; its connection is reset or closed.
async fn dies_after(text: &'static str) -> std::net::SocketAddr {
    by_hand(move |stream: TcpStream| async move {
        read_until(&stream, "\r\n\r\n").await;
        stream.write_all(text.as_bytes()).await.unwrap();
    })
    .await
}

/// Whoever reads it must not take what came for all there is.
#[test]
fn a_response_that_breaks_off_is_seen_to_break_off() {
    run(async {
        for (said, expected_end) in [
            (
                "HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nshort",
                "short",
            ),
            (
                "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n5\r\nshort\r\n",
                "5\r\nshort\r\n",
            ),
            (
                "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n5\r\nsho",
                "3\r\nsho\r\n",
            ),
        ] {
            for settings in ["", "{ buffer on }"] {
                let upstream = dies_after(said).await;
                let front = front(&format!("/ >> {upstream} {settings}")).await;
                let client = front.say("GET / HTTP/1.1\r\nhost: a\r\n\r\n").await;
                let text = read_to_end(&client).await; // and it is closed
                assert!(text.ends_with(expected_end), "{text}");
                assert_eq!(front.status(upstream).broken, 1);
                let response = thrum_http::get(front.url("/")).await.unwrap();
                assert!(response.text().await.unwrap_err().is_body());
            }
        }
    });
}

#[test]
fn what_is_no_response_is_502_and_none_in_time_is_504() {
    run(async {
        let nonsense = dies_after("SSH-2.0-OpenSSH_9.6\r\n").await;
        let closes = dies_after("").await;
        let silent = by_hand(async |stream| drop(read_to_end(&stream).await)).await;
        let down = nobody();
        let front = front(&format!(
            "/nonsense >> {nonsense}
             /closes >> {closes}
             /silent >> {silent} {{ timeout 100ms }}
             /down >> {down}"
        ))
        .await;
        for (path, status) in [
            ("/nonsense", 502),
            ("/closes", 502),
            ("/silent", 504),
            ("/down", 502),
        ] {
            let (found, _, text) = front.get(path).await;
            assert_eq!(found, status, "{path}");
            assert!(text.starts_with(&status.to_string()), "{text}");
        }
        let status = front.status(silent);
        assert_eq!((status.failures, status.timeouts, status.active), (1, 1, 0));
    });
}

/// The first that is asked takes requests and closes; what may be asked again of the other is, once.
#[test]
fn what_is_safe_is_asked_again_and_counted() {
    run(async {
        let taken = Arc::new(AtomicUsize::new(0));
        let count = taken.clone();
        let bad = by_hand(move |stream: TcpStream| {
            let count = count.clone();
            async move {
                read_until(&stream, "\r\n\r\n").await;
                count.fetch_add(1, Ordering::SeqCst);
            }
        })
        .await;
        let (good, asked) = says("good").await;
        // All of one key: those that go to the bad one first are known by its count.
        let front = front(&format!(
            "/ >> {bad} {good} {{ fails 0; retries 1; retry-budget 100; balance header x-key }}"
        ))
        .await;
        let client = Client::new();
        let mut key = None;
        for candidate in 0..100 {
            let before = taken.load(Ordering::SeqCst);
            let response = client
                .get(front.url("/"))
                .header("x-key", candidate.to_string());
            assert_eq!(response.send().await.unwrap().status(), 200);
            if taken.load(Ordering::SeqCst) > before {
                key = Some(candidate.to_string());
                break;
            }
        }
        let key = key.expect("a key of the bad one");
        let (taken_before, asked_before) =
            (taken.load(Ordering::SeqCst), asked.load(Ordering::SeqCst));
        let send = |method: &'static str, body: Body| {
            let request = Request::builder()
                .method(method)
                .uri(front.url("/"))
                .header("x-key", &key)
                .body(body)
                .unwrap();
            let client = client.clone();
            async move { client.execute(request).await.unwrap().status().as_u16() }
        };
        for _ in 0..5 {
            assert_eq!(send("GET", Body::empty()).await, 200);
            assert_eq!(send("DELETE", Body::empty()).await, 200);
            assert_eq!(send("POST", "x".into()).await, 502, "it may have been done");
            assert_eq!(send("PUT", "x".into()).await, 502, "its body is gone");
        }
        assert_eq!(taken.load(Ordering::SeqCst) - taken_before, 20);
        assert_eq!(asked.load(Ordering::SeqCst) - asked_before, 10);
        let status = front.status(bad);
        assert_eq!(status.requests, status.failures);
        assert_eq!(status.retries, 11, "and the one that found the key");
    });
}

/// A body that lies in the buffer can be sent again.
#[test]
fn what_is_buffered_is_sent_again_if_its_method_allows() {
    run(async {
        let bad = by_hand(async |stream| drop(read_until(&stream, "\r\n\r\n").await)).await;
        let echo = serve(service_fn(async |request: Request<Body>| {
            Response::new(request.into_body())
        }))
        .await;
        let front = front(&format!(
            "/ >> {bad} {echo} {{ fails 0; buffer on; retry-budget 100 }}"
        ))
        .await;
        let client = Client::new();
        for _ in 0..6 {
            let put = Request::put(front.url("/")).body("again".into()).unwrap();
            let response = client.execute(put).await.unwrap();
            assert_eq!(response.text().await.unwrap(), "again");
        }
        assert_eq!(front.status(bad).retries, 3);
        assert_eq!(front.status(echo).requests, 6);
    });
}

#[test]
fn one_that_is_down_is_left_alone_and_comes_back() {
    run(async {
        let down = nobody();
        let (good, _) = says("good").await;
        let front = front(&format!("/ >> {down} {good} {{ fails 3; for 300ms }}")).await;
        for _ in 0..40 {
            assert_eq!(front.get("/").await.2, "good");
        }
        let status = front.status(down);
        assert!(!status.is_up && status.ejections == 1, "{status:?}");
        assert!((3..=6).contains(&status.requests), "{status:?}");
        serve_on(
            &down.to_string(),
            Server::new(),
            service_fn(async |_: Request<Body>| Response::new("back")),
        )
        .await;
        sleep(Duration::from_millis(350)).await;
        let mut back = 0;
        for _ in 0..40 {
            back += usize::from(front.get("/").await.2 == "back");
        }
        assert_eq!(back, 20);
        assert!(front.status(down).is_up);
    });
}

/// The only one there is is asked whatever is known of it.
#[test]
fn the_last_one_is_never_given_up() {
    run(async {
        let down = nobody();
        let front = front(&format!(
            "/ >> {down} {{ fails 1; for 1h; health /ok {{ every 10ms; fails 1 }} }}"
        ))
        .await;
        for _ in 0..3 {
            assert_eq!(front.get("/").await.0, 502);
        }
        until("it is known to be down", || !front.status(down).is_up).await;
        serve_on(
            &down.to_string(),
            Server::new(),
            service_fn(async |_: Request<Body>| Response::new("back")),
        )
        .await;
        assert_eq!(front.get("/").await.2, "back");
    });
}

#[test]
fn one_that_does_not_answer_well_when_asked_gets_no_requests() {
    run(async {
        let is_well = Arc::new(AtomicUsize::new(1));
        let well = is_well.clone();
        let picky = serve(service_fn(move |request: Request<Body>| {
            let is_well = well.load(Ordering::SeqCst) == 1;
            async move {
                let mut response = Response::new("picky");
                if request.uri().path() == "/healthz" && !is_well {
                    *response.status_mut() = http::StatusCode::SERVICE_UNAVAILABLE;
                }
                response
            }
        }))
        .await;
        let (other, _) = says("other").await;
        let front = front(&format!(
            "/ >> {picky} {other} {{ health /healthz {{ every 10ms; expect 200 204 }} }}"
        ))
        .await;
        assert!(front.status(picky).is_up && front.status(other).is_up);
        is_well.store(0, Ordering::SeqCst);
        until("it is found to be ill", || !front.status(picky).is_up).await;
        for _ in 0..10 {
            assert_eq!(front.get("/").await.2, "other");
        }
        is_well.store(1, Ordering::SeqCst);
        until("it is found to be well", || front.status(picky).is_up).await;
        let texts = [front.get("/").await.2, front.get("/").await.2];
        assert!(texts.contains(&"picky".to_owned()), "{texts:?}");
    });
}

/// An upstream that closes what idles, without a word, costs nobody an answer.
#[test]
fn a_kept_connection_that_was_closed_is_no_failure() {
    run(async {
        let upstream = by_hand(async |stream| {
            read_until(&stream, "\r\n\r\n").await;
            let answer = "HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok";
            stream.write_all(answer.as_bytes()).await.unwrap();
        })
        .await;
        let front = front(&format!("/ >> {upstream}")).await;
        for _ in 0..50 {
            assert_eq!(front.get("/").await.2, "ok");
        }
        assert_eq!(front.status(upstream).failures, 0);
    });
}
