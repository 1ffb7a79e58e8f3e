//! How many requests there may be, and how long they may take.

use std::sync::Arc;
use std::time::Duration;

use http::{Request, Response};
use thrum_http::{Body, Client, service_fn};
use thrum_rt::sync::channel::{Sender, bounded};
use thrum_rt::time::sleep;

use super::support::*;

/// An upstream that answers when it is told to.
async fn waits() -> (std::net::SocketAddr, Sender<()>) {
    let (free, wait) = bounded::<()>(10);
    let wait = Arc::new(wait);
    let address = serve(service_fn(move |_: Request<Body>| {
        let wait = wait.clone();
        async move {
            let _ = wait.recv().await;
            Response::new("done")
        }
    }))
    .await;
    (address, free)
}

fn status(url: String) -> thrum_rt::JoinHandle<u16> {
    thrum_rt::spawn(async move { thrum_http::get(url).await.unwrap().status().as_u16() })
}

#[test]
fn beyond_the_limit_requests_wait_and_beyond_the_queue_they_are_refused() {
    run(async {
        let (upstream, free) = waits().await;
        let front = front(&format!("/ >> {upstream} {{ limit 2; queue 1 }}")).await;
        let first = [status(front.url("/")), status(front.url("/"))];
        until("both are there", || front.status(upstream).active == 2).await;
        let waiting = status(front.url("/"));
        sleep(Duration::from_millis(100)).await;
        assert_eq!(
            status(front.url("/")).await.unwrap(),
            503,
            "the queue is full"
        );
        assert_eq!(front.status(upstream).requests, 2);
        for _ in 0..3 {
            free.send(()).await.unwrap();
        }
        for request in first {
            assert_eq!(request.await.unwrap(), 200);
        }
        assert_eq!(waiting.await.unwrap(), 200);
        assert_eq!(front.status(upstream).requests, 3);
    });
}

#[test]
fn who_waits_too_long_is_refused_and_who_leaves_makes_room() {
    run(async {
        let (upstream, free) = waits().await;
        let front = front(&format!(
            "/ >> {upstream} {{ limit 1; queue 10; queue-timeout 200ms }}"
        ))
        .await;
        let leaves = front.say("GET / HTTP/1.1\r\nhost: a\r\n\r\n").await;
        until("it is there", || front.status(upstream).active == 1).await;
        assert_eq!(status(front.url("/")).await.unwrap(), 503);
        drop(leaves);
        free.send(()).await.unwrap();
        until("the place is free", || front.status(upstream).active == 0).await;
        free.send(()).await.unwrap();
        assert_eq!(status(front.url("/")).await.unwrap(), 200);
    });
}

#[test]
fn an_upstream_that_stops_in_its_response_or_takes_no_body_is_given_up() {
    run(async {
        let stops = by_hand(async |stream| {
            read_until(&stream, "\r\n\r\n").await;
            let answer = "HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nsome";
            stream.write_all(answer.as_bytes()).await.unwrap();
            sleep(PATIENCE).await;
        })
        .await;
        let takes_nothing = by_hand(async |stream| {
            sleep(PATIENCE).await;
            drop(stream);
        })
        .await;
        let front = front(&format!(
            "/stops >> {stops} {{ idle-timeout 100ms }}
             /takes >> {takes_nothing} {{ idle-timeout 100ms }}"
        ))
        .await;
        let response = thrum_http::get(front.url("/stops")).await.unwrap();
        assert!(response.text().await.unwrap_err().is_body());
        let much = vec![0; 9 << 20];
        let response = Client::new()
            .post(front.url("/takes"))
            .body(much)
            .send()
            .await;
        // The refusal comes while the body is sent.
        assert_eq!(response.unwrap().status(), 504);
    });
}

/// A client whose body breaks off is not the upstream's fault.
#[test]
fn a_client_that_leaves_while_it_sends_is_no_failure_of_the_upstream() {
    run(async {
        let (upstream, _) = says("never").await;
        let front = front(&format!("/ >> {upstream} {{ fails 1 }}")).await;
        let client = front
            .say("POST / HTTP/1.1\r\nhost: a\r\ntransfer-encoding: chunked\r\n\r\n3\r\nabc\r\nnonsense\r\n")
            .await;
        let text = read_to_end(&client).await;
        assert!(
            text.starts_with("HTTP/1.1 400") || text.starts_with("HTTP/1.1 200"),
            "{text}"
        );
        let client = front
            .say("POST / HTTP/1.1\r\nhost: a\r\ncontent-length: 9\r\n\r\nabc")
            .await;
        sleep(Duration::from_millis(100)).await;
        drop(client);
        until("nobody is left", || front.status(upstream).active == 0).await;
        assert_eq!(front.status(upstream).failures, 0);
        assert!(front.status(upstream).is_up);
    });
}
