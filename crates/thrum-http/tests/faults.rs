//! Faults that were found once: a test for each, so that they stay away.

mod support;

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use support::{
    connect, exchange, read_to_end, read_until, short, statuses, with_server, with_service,
};
use thrum_http::{
    Body, BodyError, Limits, Reject, Request, Response, Server, StatusCode, service_fn,
};
use thrum_rt::net::{Shutdown, UnixStream};
use thrum_rt::time::{sleep, timeout};

const MS: Duration = Duration::from_millis(1);

#[test]
fn a_hundred_never_comes_behind_the_final_head() {
    with_server(short(), async |address, _| {
        let stream = connect(address).await;
        let head = "POST /through HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\nExpect: 100-continue\r\n\r\n";
        stream.write_all(head.as_bytes()).await.unwrap();
        let mut answer = read_until(&stream, "\r\n\r\n").await;
        stream.write_all(b"hello").await.unwrap();
        stream.shutdown(Shutdown::Write).unwrap();
        answer += &read_to_end(&stream).await;
        assert_eq!(statuses(&answer), [100, 200], "{answer}");
        assert!(answer.ends_with("\r\n\r\nhello"), "{answer}");
    });
}

#[test]
fn a_body_that_is_there_already_needs_no_hundred_and_keeps_the_connection() {
    with_server(short(), async |address, _| {
        let request = "POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\nExpect: 100-continue\r\n\r\nhelloGET /next HTTP/1.1\r\nHost: a\r\n\r\n";
        let answer = exchange(address, request.as_bytes()).await;
        assert_eq!(statuses(&answer), [200, 200], "{answer}");
    });
}

#[test]
fn a_handler_that_pauses_is_not_blamed_on_its_client() {
    let slow = service_fn(async |mut request: Request<Body>| {
        let mut all = Vec::new();
        while let Some(data) = request.body_mut().chunk().await {
            match data {
                Ok(data) => all.extend_from_slice(&data),
                Err(error) => return Response::new(Body::from(format!("{error}"))),
            }
            sleep(MS * 300).await; // longer than the body timeout
        }
        Response::new(all.into())
    });
    with_service(short(), slow, async |address, _| {
        let stream = connect(address).await;
        stream
            .write_all(b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\n\r\n")
            .await
            .unwrap();
        sleep(MS * 20).await;
        stream.write_all(b"ab").await.unwrap();
        sleep(MS * 350).await;
        stream.write_all(b"cd").await.unwrap();
        stream.shutdown(Shutdown::Write).unwrap();
        let answer = read_to_end(&stream).await;
        assert!(answer.ends_with("abcd"), "{answer}");
    });
}

#[test]
fn chunk_framing_is_bounded_for_the_whole_body() {
    with_server(short(), async |address, _| {
        // 900 bytes of data with 900 KiB of extensions around them: every line is within its limit.
        let chunk = format!("1;{}\r\nx\r\n", "e".repeat(1000));
        let request = format!(
            "POST /echo HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n{}0\r\n\r\n",
            chunk.repeat(900)
        );
        let answer = exchange(address, request.as_bytes()).await;
        assert!(!answer.contains("xxxxxxxx"), "accepted");
    });
}

#[test]
fn a_large_answer_that_ends_the_connection_survives_what_the_client_sends_late() {
    with_server(short(), async |address, _| {
        let stream = connect(address).await;
        stream
            .write_all(b"GET /large HTTP/1.0\r\n\r\n")
            .await
            .unwrap();
        sleep(MS * 50).await;
        stream.write_all(b"\r\n").await.unwrap();
        let answer = read_to_end(&stream).await;
        let body = answer.split_once("\r\n\r\n").unwrap().1;
        assert_eq!(body.len(), 20_000_000);
    });
}

#[test]
fn an_empty_line_before_the_end_is_no_request() {
    with_server(short(), async |address, server| {
        let answer = exchange(
            address,
            b"POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\nhi\r\n",
        )
        .await;
        assert_eq!(statuses(&answer), [200], "{answer}");
        assert!(server.stats().rejects.is_empty());
    });
}

#[test]
fn an_empty_file_is_not_held_back() {
    let empty = service_fn(async |_: Request<Body>| {
        Response::new(Body::file(
            Arc::new(std::fs::File::open("/dev/null").unwrap()),
            0,
            0,
        ))
    });
    with_service(short(), empty, async |address, _| {
        let stream = connect(address).await;
        let begin = Instant::now();
        for _ in 0..3 {
            stream
                .write_all(b"GET / HTTP/1.1\r\nHost: a\r\n\r\n")
                .await
                .unwrap();
            read_until(&stream, "\r\n\r\n").await;
        }
        assert!(begin.elapsed() < MS * 150, "{:?}", begin.elapsed());
    });
}

#[test]
fn an_interim_status_is_no_final_answer() {
    for status in [100, 101, 103] {
        let interim = service_fn(move |_: Request<Body>| async move {
            let mut response = Response::new(Body::empty());
            *response.status_mut() = StatusCode::from_u16(status).unwrap();
            response
        });
        with_service(short(), interim, async |address, _| {
            let answer = exchange(address, b"GET / HTTP/1.1\r\nHost: a\r\n\r\n").await;
            assert_eq!(statuses(&answer), [500], "{answer}");
        });
    }
}

#[test]
fn any_connection_field_may_say_close() {
    let close = service_fn(async |_: Request<Body>| {
        let mut response = Response::new(Body::from("x"));
        response
            .headers_mut()
            .append("connection", "x-other".parse().unwrap());
        response
            .headers_mut()
            .append("connection", "close".parse().unwrap());
        response
    });
    with_service(short(), close, async |address, _| {
        let answer = exchange(
            address,
            b"GET / HTTP/1.1\r\nHost: a\r\n\r\nGET / HTTP/1.1\r\nHost: a\r\n\r\n",
        )
        .await;
        assert_eq!(statuses(&answer), [200], "{answer}");
    });
}

#[test]
fn a_host_has_the_form_of_one() {
    with_server(short(), async |address, _| {
        let mut accepted = Vec::new();
        for host in [
            "a:b", "a:80:80", "[::1", "::1]", "a]", "a:99999", ":80", "[a", "[]", "a[b]",
        ] {
            let request = format!("GET / HTTP/1.1\r\nHost: {host}\r\n\r\n");
            if statuses(&exchange(address, request.as_bytes()).await) != [400] {
                accepted.push(host);
            }
        }
        assert!(accepted.is_empty(), "{accepted:?}");
    });
}

#[test]
fn every_method_that_the_grammar_allows_reaches_the_handler_as_it_was_sent() {
    let method = service_fn(async |request: Request<Body>| {
        Response::new(Body::from(request.method().to_string()))
    });
    with_service(Server::new(), method, async |address, _| {
        for byte in (0x21..0x7fu8)
            .filter(|byte| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(byte))
        {
            let name = format!("X{}", byte as char);
            let answer = exchange(
                address,
                format!("{name} / HTTP/1.1\r\nHost: a\r\n\r\n").as_bytes(),
            )
            .await;
            assert!(
                answer.ends_with(&format!("\r\n\r\n{name}")),
                "{name}: {answer}"
            );
        }
    });
}

#[test]
fn a_panic_in_a_response_body_is_counted() {
    struct Bad;
    impl http_body::Body for Bad {
        type Data = bytes::Bytes;
        type Error = std::convert::Infallible;
        fn poll_frame(
            self: Pin<&mut Self>,
            _: &mut Context<'_>,
        ) -> Poll<Option<Result<http_body::Frame<bytes::Bytes>, Self::Error>>> {
            panic!("as asked")
        }
    }
    let bad = service_fn(async |_: Request<Body>| Response::new(Body::wrap(Bad)));
    with_service(short(), bad, async |address, server| {
        let answer = exchange(address, b"GET / HTTP/1.1\r\nHost: a\r\n\r\n").await;
        assert!(!answer.ends_with("0\r\n\r\n"));
        assert_eq!(server.stats().panics, 1, "{answer}");
    });
}

#[test]
fn malformed_chunks_are_counted() {
    with_server(short(), async |address, server| {
        exchange(
            address,
            b"POST /echo HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\ng\r\n",
        )
        .await;
        assert_eq!(server.stats().rejects.values().sum::<u64>(), 1);
    });
}

#[test]
fn an_overloaded_server_says_so_even_to_who_has_spoken() {
    let mut limits = Limits::default();
    limits.connections = 0;
    with_server(Server::new().limits(limits), async |address, _| {
        for _ in 0..50 {
            let stream = connect(address).await;
            let _ = stream.write_all(b"GET / HTTP/1.1\r\nHost: a\r\n\r\n").await;
            sleep(MS).await;
            assert_eq!(statuses(&read_to_end(&stream).await), [503]);
        }
    });
}

#[test]
fn a_body_that_is_too_large_is_the_clients_fault_whatever_the_handler_says() {
    async fn handle(request: Request<Body>) -> Result<Response<Body>, BodyError> {
        let path = request.uri().path().to_owned();
        let read = request.into_body().bytes(10_000).await;
        let mut response = Response::new(Body::empty());
        *response.status_mut() = match (read, path.as_str()) {
            (Err(error), "/fails") => return Err(error),
            (Err(_), "/says-400") => StatusCode::BAD_REQUEST,
            (Err(_), "/says-500") => StatusCode::INTERNAL_SERVER_ERROR,
            _ => StatusCode::OK,
        };
        Ok(response)
    }
    #[derive(Clone)]
    struct Handler;
    impl tower_service::Service<Request<Body>> for Handler {
        type Response = Response<Body>;
        type Error = BodyError;
        type Future = Pin<Box<dyn Future<Output = Result<Response<Body>, BodyError>> + Send>>;
        fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), BodyError>> {
            Poll::Ready(Ok(()))
        }
        fn call(&mut self, request: Request<Body>) -> Self::Future {
            Box::pin(handle(request))
        }
    }
    with_service(short(), Handler, async |address, server| {
        for (path, expected) in [
            ("/fails", 413),
            ("/says-400", 413),
            ("/says-500", 413),
            ("/", 200),
        ] {
            let chunk = format!("190\r\n{}\r\n", "x".repeat(400));
            let request = format!(
                "POST {path} HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n{}0\r\n\r\nGET / HTTP/1.1\r\nHost: a\r\n\r\n",
                chunk.repeat(3)
            );
            let answer = exchange(address, request.as_bytes()).await;
            assert_eq!(statuses(&answer), [expected], "{answer}");
            assert!(answer.contains("connection: close"), "{answer}");
        }
        let stats = server.stats();
        assert_eq!(stats.rejects.get(&Reject::BodyTooLarge), Some(&4));
        assert_eq!(stats.errors, 0);
    });
}

#[test]
fn a_connection_that_is_cut_drops_its_handler() {
    struct Flag(Arc<AtomicBool>);
    impl Drop for Flag {
        fn drop(&mut self) {
            self.0.store(true, Ordering::Relaxed);
        }
    }
    let dropped = Arc::new(AtomicBool::new(false));
    let stuck = service_fn({
        let dropped = dropped.clone();
        move |_: Request<Body>| {
            let flag = Flag(dropped.clone());
            async move {
                let _flag = flag;
                std::future::pending::<Response<Body>>().await
            }
        }
    });
    with_service(short(), stuck, async |address, server| {
        let stream = connect(address).await;
        let request = b"GET / HTTP/1.1\r\nHost: a\r\n\r\n";
        stream.write_all(request).await.unwrap();
        while server.stats().requests == 0 {
            sleep(MS).await;
        }
        let drained = server.shutdown(MS * 50).await;
        assert_eq!((drained.finished, drained.cut), (0, 1));
        let begin = Instant::now();
        while !dropped.load(Ordering::Relaxed) || server.stats().open > 0 {
            assert!(begin.elapsed() < MS * 10_000);
            sleep(MS).await;
        }
        assert_eq!(read_to_end(&stream).await, "");
    });
}

#[test]
fn a_connection_that_was_accepted_elsewhere_counts_and_ends_with_its_future() {
    thrum_rt::block_on(async {
        let mut limits = Limits::default();
        limits.connections = 1;
        let server = Server::new().limits(limits);
        let hello = service_fn(async |_: Request<Body>| Response::new("hello"));
        let (client, connection) = UnixStream::pair().unwrap();
        let (other, beyond) = UnixStream::pair().unwrap();
        let serving = timeout(MS * 300, server.serve_connection(connection, hello));
        let asking = async {
            let request = b"GET / HTTP/1.1\r\nHost: a\r\n\r\n";
            client.write_all(request).await.unwrap();
            let mut answer = [0; 1000];
            let length = client.read(&mut answer).await.unwrap();
            assert!(answer[..length].ends_with(b"hello"));
            server.serve_connection(beyond, hello).await;
            let length = other.read(&mut answer).await.unwrap();
            assert!(answer[..length].starts_with(b"HTTP/1.1 503 "));
            assert_eq!(client.read(&mut answer).await.unwrap(), 0);
        };
        let (served, ()) = thrum_rt::join!(serving, asking);
        assert!(served.is_err(), "the connection went on");
        assert_eq!((server.stats().accepted, server.stats().refused), (2, 1));
    });
}
