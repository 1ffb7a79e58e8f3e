//! Responses that are kept: what a client and the handler behind the cache see of it.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use http::{HeaderMap, Method, Request, Response, StatusCode};
use thrum_http::Body;
use thrum_rt::{block_on, time};
use thrum_server::cache::{Cache, CacheLimits, Cached};
use thrum_server::site::{Answer, Handler, Visit};

/// Answers as it is told, and remembers how often and with what it was asked.
#[derive(Default)]
struct Origin {
    asked: AtomicUsize,
    fields: Mutex<Vec<HeaderMap>>,
    say: Mutex<Option<Said>>,
    delay: Duration,
}

/// A status, fields, and a body.
type Said = (StatusCode, Vec<(&'static str, String)>, String);

impl Origin {
    fn saying(control: &str) -> Arc<Self> {
        let origin = Self::default();
        origin.now_says(StatusCode::OK, &[("cache-control", control)], "hello");
        Arc::new(origin)
    }

    fn slow(control: &str, delay: u64) -> Arc<Self> {
        let origin = Self {
            delay: Duration::from_millis(delay),
            ..Self::default()
        };
        origin.now_says(StatusCode::OK, &[("cache-control", control)], "hello");
        Arc::new(origin)
    }

    fn now_says(&self, status: StatusCode, fields: &[(&'static str, &str)], body: &str) {
        let fields = fields
            .iter()
            .map(|(name, value)| (*name, (*value).to_owned()));
        let said = (status, fields.collect(), body.to_owned());
        *self.say.lock().unwrap() = Some(said);
    }

    fn asked(&self) -> usize {
        self.asked.load(Ordering::SeqCst)
    }

    fn last(&self, name: &str) -> Option<String> {
        let fields = self.fields.lock().unwrap();
        Some(fields.last()?.get(name)?.to_str().unwrap().to_owned())
    }
}

struct Behind(Arc<Origin>);

impl Handler for Behind {
    fn handle(&self, request: Request<Body>, _: Visit) -> Answer {
        let origin = self.0.clone();
        origin.asked.fetch_add(1, Ordering::SeqCst);
        origin
            .fields
            .lock()
            .unwrap()
            .push(request.headers().clone());
        Answer::later(async move {
            time::sleep(origin.delay).await;
            let (status, fields, body) = origin.say.lock().unwrap().clone().unwrap();
            let mut response = Response::builder().status(status);
            for (name, value) in fields {
                response = response.header(name, value);
            }
            response.body(Body::from(body)).unwrap()
        })
    }
}

fn cached(origin: &Arc<Origin>) -> (Arc<Cached>, Arc<Cache>) {
    let cache = Arc::new(Cache::in_memory(CacheLimits::default()));
    (over(origin, &cache), cache)
}

fn over(origin: &Arc<Origin>, cache: &Arc<Cache>) -> Arc<Cached> {
    Arc::new(Cached::new(Arc::new(Behind(origin.clone())), cache.clone()))
}

struct Seen {
    status: StatusCode,
    headers: HeaderMap,
    body: String,
}

impl Seen {
    fn told(&self) -> &str {
        self.headers["cache-status"].to_str().unwrap()
    }
}

async fn ask(cached: &Cached, method: Method, path: &str, fields: &[(&str, &str)]) -> Seen {
    let mut request = Request::builder().method(method).uri(path);
    request = request.header("host", "example.com");
    for (name, value) in fields {
        request = request.header(*name, *value);
    }
    let request = request.body(Body::empty()).unwrap();
    let visit = Visit::new(None, false);
    let (head, body) = cached.handle(request, visit).response().await.into_parts();
    let body = body.bytes(1 << 20).await.unwrap();
    Seen {
        status: head.status,
        headers: head.headers,
        body: String::from_utf8(body.to_vec()).unwrap(),
    }
}

async fn get(cached: &Cached, path: &str) -> Seen {
    ask(cached, Method::GET, path, &[]).await
}

#[test]
fn the_second_request_is_a_hit() {
    block_on(async {
        let origin = Origin::saying("max-age=60");
        let (cached, cache) = cached(&origin);
        let first = get(&cached, "/a").await;
        assert_eq!(first.told(), "thrum; fwd=uri-miss; stored");
        let second = get(&cached, "/a").await;
        assert_eq!((second.status, &*second.body), (StatusCode::OK, "hello"));
        assert!(second.told().starts_with("thrum; hit; ttl="));
        assert_eq!(second.headers["age"], "0");
        assert_eq!(second.headers["content-length"], "5");
        let head = ask(&cached, Method::HEAD, "/a", &[]).await;
        assert!(head.told().starts_with("thrum; hit"));
        assert_eq!(origin.asked(), 1);
        get(&cached, "/b").await;
        assert_eq!(origin.asked(), 2);
        assert_eq!((cache.counts().hits, cache.counts().misses), (2, 2));
    });
}

#[test]
fn what_must_not_be_kept_is_not() {
    block_on(async {
        for control in ["no-store", "private, max-age=60", "", "max-age=0"] {
            let origin = Origin::saying(control);
            let (cached, cache) = cached(&origin);
            for _ in 0..2 {
                assert_eq!(get(&cached, "/").await.body, "hello");
            }
            assert_eq!((origin.asked(), cache.counts().stored), (2, 0), "{control}");
        }
        let origin = Origin::saying("max-age=60");
        let (cached, cache) = cached(&origin);
        ask(&cached, Method::GET, "/", &[("cache-control", "no-store")]).await;
        ask(&cached, Method::GET, "/", &[("range", "bytes=0-1")]).await;
        ask(
            &cached,
            Method::GET,
            "/",
            &[("authorization", "Basic eA==")],
        )
        .await;
        assert_eq!(cache.counts().stored, 0);
    });
}

#[test]
fn stale_responses_are_asked_after() {
    block_on(async {
        let origin = Origin::default();
        let fields = [
            ("cache-control", "max-age=0, s-maxage=0"),
            ("etag", "\"1\""),
        ];
        origin.now_says(StatusCode::OK, &fields, "hello");
        let origin = Arc::new(origin);
        let (cached, cache) = cached(&origin);
        get(&cached, "/").await;
        let fresh = [
            ("cache-control", "max-age=60"),
            ("etag", "\"1\""),
            ("x-new", "1"),
        ];
        origin.now_says(StatusCode::NOT_MODIFIED, &fresh, "");
        let seen = get(&cached, "/").await;
        assert_eq!(origin.last("if-none-match").as_deref(), Some("\"1\""));
        assert_eq!((seen.status, &*seen.body), (StatusCode::OK, "hello"));
        assert_eq!(seen.told(), "thrum; fwd=stale; fwd-status=304");
        assert_eq!(seen.headers["x-new"], "1");
        assert_eq!(cache.counts().revalidated, 1);
        get(&cached, "/").await;
        assert_eq!(origin.asked(), 2, "what was found good is fresh again");
    });
}

#[test]
fn clients_that_have_it_are_told_so() {
    block_on(async {
        let origin = Origin::default();
        let fields = [("cache-control", "max-age=60"), ("etag", "\"1\"")];
        origin.now_says(StatusCode::OK, &fields, "hello");
        let origin = Arc::new(origin);
        let (cached, cache) = cached(&origin);
        // Even when it has to be fetched: then all of it is, and kept.
        for _ in 0..2 {
            let fields = [("if-none-match", "\"0\", W/\"1\"")];
            let seen = ask(&cached, Method::GET, "/", &fields).await;
            assert_eq!((seen.status, &*seen.body), (StatusCode::NOT_MODIFIED, ""));
            assert_eq!(seen.headers["etag"], "\"1\"");
            while cache.counts().stored == 0 {
                time::sleep(Duration::from_millis(5)).await;
            }
        }
        assert_eq!(origin.last("if-none-match"), None);
        assert_eq!(origin.asked(), 1);
        let seen = ask(&cached, Method::GET, "/", &[("if-none-match", "\"2\"")]).await;
        assert_eq!((seen.status, &*seen.body), (StatusCode::OK, "hello"));
    });
}

#[test]
fn variants_are_told_apart() {
    block_on(async {
        let origin = Origin::default();
        let fields = [("cache-control", "max-age=60"), ("vary", "Accept-Language")];
        origin.now_says(StatusCode::OK, &fields, "hello");
        let origin = Arc::new(origin);
        let (cached, _) = cached(&origin);
        for (language, asked) in [("en", 1), ("de", 2), ("en", 2), ("de", 2), ("fr", 3)] {
            ask(&cached, Method::GET, "/", &[("accept-language", language)]).await;
            assert_eq!(origin.asked(), asked, "{language}");
        }
    });
}

#[test]
fn a_change_makes_the_kept_useless() {
    block_on(async {
        let origin = Origin::saying("max-age=60");
        let (cached, _) = cached(&origin);
        get(&cached, "/a").await;
        get(&cached, "/b").await;
        origin.now_says(StatusCode::INTERNAL_SERVER_ERROR, &[], "");
        ask(&cached, Method::POST, "/a", &[]).await;
        origin.now_says(StatusCode::OK, &[("location", "/b")], "");
        assert_eq!(
            get(&cached, "/a").await.body,
            "hello",
            "a failure changes nothing"
        );
        ask(&cached, Method::PUT, "/a", &[]).await;
        let before = origin.asked();
        get(&cached, "/a").await;
        get(&cached, "/b").await;
        assert_eq!(origin.asked(), before + 2);
    });
}

#[test]
fn stale_while_revalidate_answers_at_once() {
    block_on(async {
        let origin = Origin::default();
        let fields = [
            ("cache-control", "max-age=60, stale-while-revalidate=60"),
            ("age", "61"),
        ];
        origin.now_says(StatusCode::OK, &fields, "old");
        let origin = Arc::new(origin);
        let (cached, cache) = cached(&origin);
        get(&cached, "/").await;
        origin.now_says(StatusCode::OK, &[("cache-control", "max-age=60")], "new");
        assert_eq!(get(&cached, "/").await.body, "old");
        while cache.counts().stored < 2 {
            time::sleep(Duration::from_millis(5)).await;
        }
        assert_eq!(get(&cached, "/").await.body, "new");
        assert_eq!((origin.asked(), cache.counts().stale), (2, 1));
    });
}

#[test]
fn stale_if_error_answers_for_a_failing_upstream() {
    block_on(async {
        let origin = Origin::default();
        let fields = [
            ("cache-control", "max-age=60, stale-if-error=60"),
            ("age", "61"),
        ];
        origin.now_says(StatusCode::OK, &fields, "old");
        let origin = Arc::new(origin);
        let (cached, _) = cached(&origin);
        get(&cached, "/").await;
        origin.now_says(StatusCode::BAD_GATEWAY, &[], "");
        let seen = get(&cached, "/").await;
        assert_eq!((seen.status, &*seen.body), (StatusCode::OK, "old"));
        assert_eq!(seen.told(), "thrum; hit; fwd=stale; fwd-status=502");
        origin.now_says(StatusCode::NOT_FOUND, &[], "");
        assert_eq!(get(&cached, "/").await.status, StatusCode::NOT_FOUND);
    });
}

#[test]
fn requests_for_the_same_wait_for_one() {
    block_on(async {
        let origin = Origin::slow("max-age=60", 100);
        let (cached, cache) = cached(&origin);
        let asking: Vec<_> = (0..20)
            .map(|_| {
                let cached = cached.clone();
                thrum_rt::spawn(async move { get(&cached, "/").await.body })
            })
            .collect();
        for asked in asking {
            assert_eq!(asked.await.unwrap(), "hello");
        }
        assert_eq!(origin.asked(), 1);
        assert_eq!(cache.counts().coalesced, 19);
    });
}

#[test]
fn what_cannot_be_kept_is_not_waited_for_twice() {
    block_on(async {
        let origin = Origin::slow("private", 500);
        let (cached, _) = cached(&origin);
        let asking: Vec<_> = (0..10)
            .map(|_| {
                let cached = cached.clone();
                thrum_rt::spawn(async move { get(&cached, "/").await.body })
            })
            .collect();
        let all = async {
            for asked in asking {
                assert_eq!(asked.await.unwrap(), "hello");
            }
        };
        // One after the other they would take five seconds.
        time::timeout(Duration::from_secs(4), all).await.unwrap();
        assert_eq!(origin.asked(), 10);
    });
}

#[test]
fn one_that_gives_up_lets_the_next_one_go() {
    block_on(async {
        let origin = Origin::slow("max-age=60", 100);
        let (cached, _) = cached(&origin);
        let first = thrum_rt::spawn({
            let cached = cached.clone();
            async move { get(&cached, "/").await.body }
        });
        while origin.asked() == 0 {
            time::sleep(Duration::from_millis(1)).await;
        }
        let second = thrum_rt::spawn({
            let cached = cached.clone();
            async move { get(&cached, "/").await.body }
        });
        time::sleep(Duration::from_millis(20)).await;
        first.abort();
        assert_eq!(second.await.unwrap(), "hello");
        assert_eq!(origin.asked(), 2);
    });
}

#[test]
fn only_if_cached_asks_nobody() {
    block_on(async {
        let origin = Origin::saying("max-age=60");
        let (cached, _) = cached(&origin);
        let only = [("cache-control", "only-if-cached")];
        let seen = ask(&cached, Method::GET, "/", &only).await;
        assert_eq!(
            (seen.status, origin.asked()),
            (StatusCode::GATEWAY_TIMEOUT, 0)
        );
        get(&cached, "/").await;
        let seen = ask(&cached, Method::GET, "/", &only).await;
        assert_eq!((seen.status, origin.asked()), (StatusCode::OK, 1));
    });
}

#[test]
fn memory_is_bounded_and_large_bodies_stay_out() {
    block_on(async {
        let limits = CacheLimits {
            memory: 64 << 10,
            object: 4 << 10,
            ..CacheLimits::default()
        };
        let cache = Arc::new(Cache::in_memory(limits));
        let origin = Origin::saying("max-age=60");
        let cached = over(&origin, &cache);
        let fields = [("cache-control", "max-age=60")];
        origin.now_says(StatusCode::OK, &fields, &"x".repeat(1000));
        for n in 0..1000 {
            get(&cached, &format!("/{n}")).await;
        }
        let bytes = cache.counts().memory_bytes;
        assert!((32 << 10..=64 << 10).contains(&bytes), "{bytes}");
        let stored = cache.counts().stored;
        origin.now_says(StatusCode::OK, &fields, &"x".repeat(5000));
        assert_eq!(get(&cached, "/large").await.body.len(), 5000);
        assert_eq!(cache.counts().stored, stored);
    });
}

#[test]
fn a_folder_keeps_over_restarts_within_its_bound() {
    block_on(async {
        let folder = tempfile::tempdir().unwrap();
        let limits = CacheLimits {
            disk: 300 << 10,
            ..CacheLimits::default()
        };
        let fields = [
            ("cache-control", "max-age=60"),
            ("vary", "accept"),
            ("x-odd", "caf\u{e9}"),
        ];
        let origin = Origin::saying("");
        let body = "y".repeat(100 << 10);
        origin.now_says(StatusCode::OK, &fields, &body);
        let open = || Arc::new(Cache::on_disk(folder.path(), limits).unwrap());
        get(&over(&origin, &open()), "/a").await;
        let cache = open();
        let kept = over(&origin, &cache);
        let seen = get(&kept, "/a").await;
        assert_eq!((origin.asked(), seen.body == body), (1, true));
        assert_eq!(seen.headers["x-odd"].as_bytes(), "caf\u{e9}".as_bytes());
        for n in 0..10 {
            get(&kept, &format!("/{n}")).await;
            assert!(cache.counts().disk_bytes <= 300 << 10);
        }
        drop(kept);
        // Whatever is damaged is as if it were not there.
        for entry in walk(folder.path()) {
            let half = std::fs::metadata(&entry).unwrap().len() / 2;
            std::fs::OpenOptions::new()
                .write(true)
                .open(&entry)
                .unwrap()
                .set_len(half)
                .unwrap();
        }
        let before = origin.asked();
        assert_eq!(get(&over(&origin, &open()), "/9").await.body, body);
        assert_eq!(origin.asked(), before + 1);
    });
}

fn walk(folder: &std::path::Path) -> Vec<std::path::PathBuf> {
    let entries = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path());
    entries
        .flat_map(|path| {
            if path.is_dir() {
                walk(&path)
            } else {
                vec![path]
            }
        })
        .collect()
}
