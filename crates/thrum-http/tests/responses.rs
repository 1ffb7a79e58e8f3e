//! What a handler can and cannot make of a response: its framing, files, streams, and the number of writes.

mod support;

use std::io::Write;
use std::sync::Arc;

use support::{connect, exchange, read_until, short, statuses, with_server, with_service};
use thrum_http::{Body, HeaderValue, Request, Response, StatusCode, service_fn};

const GET: &[u8] = b"GET / HTTP/1.1\r\nHost: a\r\n\r\n";

#[test]
fn a_burst_is_answered_in_one_write() {
    with_server(short(), async |address, _| {
        let stream = connect(address).await;
        stream.write_all(&GET.repeat(20)).await.unwrap();
        let mut buffer = [0; 65536];
        let read = stream.read(&mut buffer).await.unwrap();
        let answer = String::from_utf8_lossy(&buffer[..read]);
        assert_eq!(statuses(&answer), [200; 20], "all of it in one read");
    });
}

#[test]
fn a_value_cannot_hold_a_line_end() {
    for evil in ["a\r\nSet-Cookie: b", "a\nb", "a\rb", "a\0b"] {
        assert!(HeaderValue::from_str(evil).is_err());
        assert!(HeaderValue::from_bytes(evil.as_bytes()).is_err());
    }
}

#[test]
fn what_a_handler_says_of_the_framing_does_not_count() {
    let liar = service_fn(async |request: Request<Body>| {
        let mut response = Response::new(Body::from("hello"));
        let headers = response.headers_mut();
        headers.append("content-length", HeaderValue::from_static("99"));
        headers.append("content-length", HeaderValue::from_static("1"));
        headers.append("transfer-encoding", HeaderValue::from_static("chunked"));
        headers.append("connection", HeaderValue::from_static("upgrade, x-a"));
        headers.append("upgrade", HeaderValue::from_static("h2c"));
        headers.append("trailer", HeaderValue::from_static("x"));
        if request.uri().path() == "/204" {
            *response.status_mut() = StatusCode::NO_CONTENT;
        }
        if request.uri().path() == "/304" {
            *response.status_mut() = StatusCode::NOT_MODIFIED;
        }
        response
    });
    with_service(short(), liar, async |address, _| {
        let answer = exchange(address, &GET.repeat(2)).await;
        assert_eq!(statuses(&answer), [200, 200]);
        assert!(answer.ends_with("\r\n\r\nhello"));
        assert_eq!(answer.matches("content-length: 5\r\n").count(), 2);
        for field in [
            "content-length: 99",
            "content-length: 1",
            "transfer-encoding",
            "upgrade",
            "trailer",
        ] {
            assert!(!answer.contains(field), "{field} in {answer}");
        }
        for (path, status) in [("/204", 204), ("/304", 304)] {
            let request = format!("GET {path} HTTP/1.1\r\nHost: a\r\n\r\n").repeat(2);
            let answer = exchange(address, request.as_bytes()).await;
            assert_eq!(statuses(&answer), [status; 2], "{answer}");
            assert!(!answer.contains("hello"), "no body: {answer}");
        }
    });
}

#[test]
fn a_file_is_sent_in_its_place_among_other_answers() {
    let file = Arc::new(temporary(&vec![b'f'; 3_000_000]));
    let part = service_fn(move |request: Request<Body>| {
        let file = file.clone();
        async move {
            match request.uri().path() {
                "/file" => Response::new(Body::file(file, 1000, 2_000_000)),
                path => Response::new(Body::from(path.to_owned())),
            }
        }
    });
    with_service(short(), part, async |address, _| {
        let requests = ["/one", "/file", "/two", "/file"]
            .map(|path| format!("GET {path} HTTP/1.1\r\nHost: a\r\n\r\n"))
            .concat();
        let answer = exchange(address, requests.as_bytes()).await;
        assert_eq!(statuses(&answer), [200; 4]);
        assert_eq!(answer.matches("content-length: 2000000\r\n").count(), 2);
        let two = answer.find("\r\n\r\n/two").unwrap();
        let (before, after) = answer.split_at(two);
        for part in [before, after] {
            let run = part.split(|c| c != 'f').map(str::len).max().unwrap();
            assert!(run >= 2_000_000, "the file came in one piece");
        }
        let answer = exchange(address, b"HEAD /file HTTP/1.1\r\nHost: a\r\n\r\n").await;
        assert!(answer.contains("content-length: 2000000\r\n"));
        assert!(answer.ends_with("\r\n\r\n"));
    });
}

#[test]
fn a_file_that_has_shrunk_ends_the_connection() {
    let file = Arc::new(temporary(b"short"));
    let shrunk = service_fn(move |_: Request<Body>| {
        let file = file.clone();
        async move { Response::new(Body::file(file, 0, 10)) }
    });
    with_service(short(), shrunk, async |address, _| {
        let answer = exchange(address, &GET.repeat(2)).await;
        assert_eq!(statuses(&answer), [200], "no second answer: {answer}");
        assert!(answer.ends_with("short"), "{answer}");
    });
}

#[test]
fn requests_of_a_connection_are_limited_and_the_last_says_so() {
    let mut limits = thrum_http::Limits::default();
    limits.requests = Some(3);
    with_server(short().limits(limits), async |address, _| {
        let answer = exchange(address, &GET.repeat(5)).await;
        assert_eq!(statuses(&answer), [200; 3]);
        assert_eq!(answer.matches("connection: close\r\n").count(), 1);
    });
}

#[test]
fn a_handler_that_fails_is_a_500_and_is_counted() {
    #[derive(Clone)]
    struct Failing;
    impl tower_service::Service<Request<Body>> for Failing {
        type Response = Response<Body>;
        type Error = &'static str;
        type Future = std::future::Ready<Result<Response<Body>, &'static str>>;
        fn poll_ready(
            &mut self,
            _: &mut std::task::Context<'_>,
        ) -> std::task::Poll<Result<(), &'static str>> {
            std::task::Poll::Ready(Ok(()))
        }
        fn call(&mut self, _: Request<Body>) -> Self::Future {
            std::future::ready(Err("a secret reason"))
        }
    }
    with_service(short(), Failing, async |address, server| {
        let answer = exchange(address, &GET.repeat(2)).await;
        assert_eq!(statuses(&answer), [500]);
        assert!(!answer.contains("secret"), "the client is not told why");
        assert_eq!((server.stats().errors, server.stats().panics), (1, 0));
    });
}

#[test]
fn the_rest_of_a_stream_waits_for_who_does_not_read() {
    // Back-pressure: a body that could go on for ever is only asked for what the client takes.
    struct Endless(Arc<std::sync::atomic::AtomicUsize>);
    impl http_body::Body for Endless {
        type Data = bytes::Bytes;
        type Error = std::convert::Infallible;
        fn poll_frame(
            self: std::pin::Pin<&mut Self>,
            _: &mut std::task::Context<'_>,
        ) -> std::task::Poll<Option<Result<http_body::Frame<bytes::Bytes>, Self::Error>>> {
            self.0
                .fetch_add(10_000, std::sync::atomic::Ordering::Relaxed);
            let frame = http_body::Frame::data(bytes::Bytes::from(vec![b'x'; 10_000]));
            std::task::Poll::Ready(Some(Ok(frame)))
        }
    }
    let asked = Arc::new(std::sync::atomic::AtomicUsize::new(0));
    let counter = asked.clone();
    let endless = service_fn(move |_: Request<Body>| {
        let counter = counter.clone();
        async move { Response::new(Body::wrap(Endless(counter))) }
    });
    with_service(short(), endless, async |address, server| {
        let stream = connect(address).await;
        stream.write_all(GET).await.unwrap();
        read_until(&stream, "\r\n\r\n").await;
        while server.stats().write_timeouts == 0 {
            thrum_rt::time::sleep(std::time::Duration::from_millis(20)).await;
        }
        let asked = asked.load(std::sync::atomic::Ordering::Relaxed);
        assert!(
            asked < 50_000_000,
            "{asked} bytes for a client that stopped"
        );
    });
}

/// A file without a name that holds `bytes`.
fn temporary(bytes: &[u8]) -> std::fs::File {
    static NUMBER: std::sync::atomic::AtomicU32 = std::sync::atomic::AtomicU32::new(0);
    let number = NUMBER.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
    let name = format!("thrum-http-{}-{number}", std::process::id());
    let path = std::env::temp_dir().join(name);
    let mut file = std::fs::File::create_new(&path).unwrap();
    file.write_all(bytes).unwrap();
    let file = std::fs::File::open(&path).unwrap();
    std::fs::remove_file(&path).unwrap();
    file
}
