//! Bodies that are made while they are sent: events reach a client when they happen, and a client that leaves ends them.

mod support;

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use support::{connect, read_until, with_service};
use thrum_http::sse::{self, Event};
use thrum_http::{Body, Request, Server, service_fn};
use thrum_rt::sync::Notify;
use thrum_rt::sync::channel::bounded;

#[test]
fn an_event_reaches_the_client_at_once() {
    let (next, events) = bounded::<Event>(4);
    let service = service_fn(move |_: Request<Body>| {
        let events = events.clone();
        async move { sse::events(events) }
    });
    with_service(Server::new(), service, async move |address, _| {
        let client = connect(address).await;
        client
            .write_all(b"GET / HTTP/1.1\r\nhost: x\r\n\r\n")
            .await
            .unwrap();
        let head = read_until(&client, "\r\n\r\n").await;
        assert!(
            head.contains("content-type: text/event-stream\r\n"),
            "{head}"
        );
        assert!(head.contains("cache-control: no-store\r\n"), "{head}");
        // Each is read before the next one happens.
        for n in 0..3 {
            next.send(Event::new().data(n.to_string())).await.unwrap();
            read_until(&client, &format!("data: {n}\n\n")).await;
        }
    });
}

#[test]
fn a_client_that_leaves_ends_the_task() {
    let ended = Arc::new(Notify::new());
    let sent = Arc::new(AtomicU64::new(0));
    let service = service_fn({
        let (ended, sent) = (ended.clone(), sent.clone());
        move |_: Request<Body>| {
            let (ended, sent) = (ended.clone(), sent.clone());
            async move {
                let (mut sender, body) = Body::channel();
                thrum_rt::spawn(async move {
                    while sender.send("piece").await.is_ok() {
                        sent.fetch_add(1, Ordering::Relaxed);
                        thrum_rt::time::sleep(Duration::from_millis(5)).await;
                    }
                    ended.notify_one();
                });
                thrum_http::Response::new(body)
            }
        }
    });
    with_service(Server::new(), service, async move |address, _| {
        let client = connect(address).await;
        client
            .write_all(b"GET / HTTP/1.1\r\nhost: x\r\n\r\n")
            .await
            .unwrap();
        read_until(&client, "piece").await;
        drop(client);
        ended.notified().await;
        assert!(sent.load(Ordering::Relaxed) > 0);
    });
}

#[test]
fn a_body_that_is_cut_is_not_taken_for_a_whole_one() {
    let service = service_fn(async |_: Request<Body>| {
        let (mut sender, body) = Body::channel();
        thrum_rt::spawn(async move { sender.send("part").await });
        thrum_http::Response::new(body)
    });
    with_service(Server::new(), service, async move |address, _| {
        let text = support::exchange(address, b"GET / HTTP/1.1\r\nhost: x\r\n\r\n").await;
        assert!(text.contains("part"), "{text}");
        assert!(!text.ends_with("0\r\n\r\n"), "{text}");
    });
}
