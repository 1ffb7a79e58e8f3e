//! Who is asked.

use std::collections::HashSet;
use std::sync::atomic::Ordering;

use http::{Request, Response};
use thrum_http::{Body, Client, service_fn};

use super::support::*;

#[test]
fn by_turns_and_weights() {
    run(async {
        let ((one, asked_one), (two, asked_two)) = (says("1").await, says("2").await);
        let front = front(&format!("/ >> {one} {two} {{ weight {two} 3 }}")).await;
        for _ in 0..40 {
            front.get("/").await;
        }
        assert_eq!(asked_one.load(Ordering::SeqCst), 10);
        assert_eq!(asked_two.load(Ordering::SeqCst), 30);
    });
}

#[test]
fn the_same_for_the_same_cookie() {
    run(async {
        let ((one, _), (two, _), (three, _)) = (says("1").await, says("2").await, says("3").await);
        let front = front(&format!(
            "/ >> {one} {two} {three} {{ balance cookie sid }}"
        ))
        .await;
        let client = Client::new();
        let mut seen = HashSet::new();
        for sid in 0..30 {
            let mut texts = HashSet::new();
            for _ in 0..3 {
                let request = client
                    .get(front.url("/"))
                    .header("cookie", format!("x=1; sid={sid}"));
                texts.insert(request.send().await.unwrap().text().await.unwrap());
            }
            assert_eq!(texts.len(), 1);
            seen.extend(texts);
        }
        assert_eq!(seen.len(), 3, "and all of them have some");
    });
}

#[test]
fn the_one_with_the_fewest_requests() {
    run(async {
        let (free, wait) = thrum_rt::sync::channel::bounded::<()>(1);
        let wait = std::sync::Arc::new(wait);
        let slow = serve(service_fn(move |_: Request<Body>| {
            let wait = wait.clone();
            async move {
                let _ = wait.recv().await;
                Response::new("slow")
            }
        }))
        .await;
        let (fast, _) = says("fast").await;
        let front = front(&format!(
            "/ >> {slow} {fast} {{ balance least-connections }}"
        ))
        .await;
        let url = front.url("/");
        // At first either is at none: one of the first few waits at the slow one.
        let waiting = loop {
            let url = url.clone();
            let asking = thrum_rt::spawn(async move {
                thrum_http::get(url).await.unwrap().text().await.unwrap()
            });
            let waits = || front.status(slow).active == 1;
            until("it waits or is answered", || {
                asking.is_finished() || waits()
            })
            .await;
            if waits() {
                break asking;
            }
        };
        for _ in 0..10 {
            assert_eq!(front.get("/").await.2, "fast");
        }
        free.send(()).await.unwrap();
        assert_eq!(waiting.await.unwrap(), "slow");
    });
}

/// What is known of an upstream outlives the configuration it was learnt under.
#[test]
fn a_reload_forgets_nothing() {
    run(async {
        let down = nobody();
        let (good, _) = says("good").await;
        let routes = format!("/ >> {down} {good} {{ fails 1; for 1h }}");
        let front = front(&routes).await;
        for _ in 0..4 {
            assert_eq!(front.get("/").await.2, "good");
        }
        let before = front.status(down);
        assert!(!before.is_up);
        let routes = format!("/ >> {good} {down} {{ fails 1; for 1h; limit 7 }}");
        front.app.swap(sites(&routes, &front.kept).unwrap());
        for _ in 0..4 {
            assert_eq!(front.get("/").await.2, "good");
        }
        assert_eq!(front.status(down), before);
        assert_eq!(front.status(good).requests, 8);
    });
}
