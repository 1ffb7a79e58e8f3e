//! Layers around applications, as a client sees them.

mod support;

use std::io::{Read, Write};
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use flate2::Compression;
use flate2::read::{GzDecoder, GzEncoder};
use support::{connect, read_until, statuses, with_service};
use thrum_http::header::{HeaderName, HeaderValue};
use thrum_http::middleware::{
    BasicAuth, BearerAuth, CatchPanicLayer, ConcurrencyLimit, CorsLayer, Layer, MakeRequestUuid,
    NormalizePathLayer, PropagateRequestIdLayer, RateLimit, RequestBodyLimitLayer,
    SetRequestIdLayer, SetResponseHeaderLayer, SetSensitiveHeadersLayer, Timeout, TraceLayer, User,
    ValidateRequestHeaderLayer, compression, decompression,
};
use thrum_http::router::{IntoResponse, Router, plain};
use thrum_http::{Body, BodyError, Method, Request, Response, Server, StatusCode, header};
use thrum_rt::sync::Notify;
use thrum_rt::time::{sleep, timeout};

/// One request on a connection of its own: head and body of the answer.
async fn ask(address: SocketAddr, head: &str, body: &[u8]) -> (String, Vec<u8>) {
    let client = connect(address).await;
    let head = format!("{head}host: x\r\nconnection: close\r\n\r\n");
    let _ = client.write_all(head.as_bytes()).await;
    let _ = client.write_all(body).await; // it may be refused before it is read
    let mut all = Vec::new();
    let mut buffer = [0; 4096];
    while let Ok(read @ 1..) = client.read(&mut buffer).await {
        all.extend_from_slice(&buffer[..read]);
    }
    let end = all.windows(4).position(|bytes| bytes == b"\r\n\r\n");
    let end = end.expect("a whole head") + 4;
    let head = String::from_utf8(all[..end].to_vec()).unwrap();
    (head, all[end..].to_vec())
}

async fn status(address: SocketAddr, head: &str) -> u16 {
    statuses(&ask(address, head, b"").await.0)[0]
}

async fn echo(request: Request<Body>) -> Result<Vec<u8>, BodyError> {
    Ok(request.into_body().bytes(10_000_000).await?.to_vec())
}

#[test]
fn bodies_are_compressed_both_ways() {
    let text = "all work and no play makes jack a dull boy\n".repeat(1000);
    let page = text.clone();
    let router = Router::new()
        .get("/page", move || std::future::ready(page.clone()))
        .get("/small", async || "small")
        .post("/", echo)
        .post(
            "/plain",
            plain(|request: Request<bytes::Bytes>| request.body().len().to_string()),
        );
    let layers = (compression(), decompression(100_000));
    with_service(Server::new(), layers.layer(router), async |address, _| {
        let get = "GET /page HTTP/1.0\r\n";
        let (head, body) = ask(address, &format!("{get}accept-encoding: gzip\r\n"), b"").await;
        assert!(head.contains("content-encoding: gzip\r\n"), "{head}");
        assert!(head.contains("vary: accept-encoding\r\n"), "{head}");
        let mut decoded = String::new();
        GzDecoder::new(&*body).read_to_string(&mut decoded).unwrap();
        assert_eq!(decoded, text);
        for encoding in ["zstd", "br"] {
            let accept = format!("{get}accept-encoding: {encoding}\r\n");
            let (head, body) = ask(address, &accept, b"").await;
            assert!(
                head.contains(&format!("content-encoding: {encoding}\r\n")),
                "{head}"
            );
            assert!(body.len() < text.len() / 10);
        }
        let (head, body) = ask(address, get, b"").await;
        assert!(!head.contains("content-encoding"), "{head}");
        assert_eq!(body, text.as_bytes());
        let (head, _) = ask(
            address,
            "GET /small HTTP/1.0\r\naccept-encoding: gzip\r\n",
            b"",
        )
        .await;
        assert!(!head.contains("content-encoding"), "{head}");

        let mut packed = Vec::new();
        GzEncoder::new(text.as_bytes(), Compression::fast())
            .read_to_end(&mut packed)
            .unwrap();
        let post = |path: &str, length: usize| {
            format!(
                "POST {path} HTTP/1.1\r\ncontent-encoding: gzip\r\ncontent-length: {length}\r\n"
            )
        };
        let (head, body) = ask(address, &post("/", packed.len()), &packed).await;
        assert_eq!(statuses(&head), [200]);
        assert_eq!(body, text.as_bytes());

        // A bomb: 8 MB of nothing, in 8 KB.
        let mut bomb = Vec::new();
        GzEncoder::new(std::io::repeat(0).take(8_000_000), Compression::best())
            .read_to_end(&mut bomb)
            .unwrap();
        assert!(bomb.len() < 20_000);
        for path in ["/", "/plain"] {
            let (head, _) = ask(address, &post(path, bomb.len()), &bomb).await;
            assert_eq!(statuses(&head), [413], "{path}");
        }
        let long = "POST / HTTP/1.1\r\ncontent-length: 100001\r\n";
        assert_eq!(status(address, long).await, 413, "by what it says to have");
        let odd = "POST / HTTP/1.1\r\ncontent-encoding: odd\r\ncontent-length: 1\r\n";
        assert_eq!(statuses(&ask(address, odd, b"x").await.0), [415]);
    });
}

#[test]
fn compression_holds_nothing_back() {
    let next = Arc::new(Notify::new());
    let router = {
        let next = next.clone();
        Router::new().get("/", move || {
            let next = next.clone();
            async move {
                let (mut sender, body) = Body::channel();
                thrum_rt::spawn(async move {
                    sender.send("first").await.unwrap();
                    next.notified().await;
                    sender.send("second").await.unwrap();
                    sender.finish();
                });
                let mut response = Response::new(body);
                let text = HeaderValue::from_static("text/plain");
                response.headers_mut().insert(header::CONTENT_TYPE, text);
                response
            }
        })
    };
    with_service(
        Server::new(),
        compression().layer(router),
        async move |address, _| {
            let client = connect(address).await;
            let head = "GET / HTTP/1.0\r\naccept-encoding: gzip\r\n\r\n";
            client.write_all(head.as_bytes()).await.unwrap();
            let mut decoder = flate2::write::GzDecoder::new(Vec::new());
            let mut head = Vec::new();
            let mut buffer = [0; 4096];
            let mut read_on = async || {
                let read = timeout(Duration::from_secs(10), client.read(&mut buffer)).await;
                let read = read.expect("it is not held back").unwrap();
                if read == 0 {
                    return None;
                }
                head.extend_from_slice(&buffer[..read]);
                let begin = head.windows(4).position(|bytes| bytes == b"\r\n\r\n")? + 4;
                decoder.write_all(&head.split_off(begin)).unwrap();
                decoder.flush().unwrap();
                Some(decoder.get_ref().clone())
            };
            while read_on().await.unwrap_or_default() != b"first" {}
            next.notify_one();
            while read_on().await.unwrap() != b"firstsecond" {}
        },
    );
}

#[test]
fn handlers_and_bodies_that_take_too_long() {
    let router = Router::new()
        .get("/fast", async || "fast")
        .get("/slow", async || sleep(Duration::from_secs(60)).await)
        .get("/pause", async || {
            let (mut sender, body) = Body::channel();
            thrum_rt::spawn(async move {
                sender.send("part").await.unwrap();
                sleep(Duration::from_secs(60)).await;
                sender.finish();
            });
            Response::new(body)
        });
    let layer = Timeout::new(Duration::from_millis(50)).body_idle(Duration::from_millis(50));
    let application = layer.clone().layer(router);
    with_service(Server::new(), application, async move |address, _| {
        assert_eq!(status(address, "GET /fast HTTP/1.1\r\n").await, 200);
        assert_eq!(layer.refused(), 0);
        assert_eq!(status(address, "GET /slow HTTP/1.1\r\n").await, 503);
        assert_eq!(layer.refused(), 1);
        let (head, body) = ask(address, "GET /pause HTTP/1.1\r\n", b"").await;
        assert_eq!(statuses(&head), [200]);
        assert_eq!(body, b"4\r\npart\r\n", "cut");
        assert_eq!(layer.refused(), 2);
    });
}

#[test]
fn no_more_at_a_time_than_allowed() {
    let (entered, leave) = (Arc::new(Notify::new()), Arc::new(Notify::new()));
    let router = {
        let (entered, leave) = (entered.clone(), leave.clone());
        Router::new().get("/", move || {
            let (entered, leave) = (entered.clone(), leave.clone());
            async move {
                entered.notify_one();
                leave.notified().await;
            }
        })
    };
    let layer = ConcurrencyLimit::new(1, 1);
    let application = layer.clone().layer(router);
    with_service(Server::new(), application, async move |address, _| {
        let get = "GET / HTTP/1.1\r\n";
        let first = thrum_rt::spawn(async move { status(address, get).await });
        entered.notified().await;
        let second = thrum_rt::spawn(async move { status(address, get).await });
        while layer.waiting() == 0 {
            sleep(Duration::from_millis(1)).await;
        }
        let (head, _) = ask(address, get, b"").await;
        assert_eq!(statuses(&head), [503]);
        assert!(head.contains("retry-after: 1\r\n"), "{head}");
        assert_eq!(layer.refused(), 1);
        leave.notify_one();
        assert_eq!(first.await.unwrap(), 200);
        entered.notified().await;
        assert_eq!(layer.waiting(), 0);
        leave.notify_one();
        assert_eq!(second.await.unwrap(), 200);
    });
}

#[test]
fn no_faster_than_allowed() {
    let by_address = RateLimit::new(3, Duration::from_secs(3600));
    let by_key =
        RateLimit::new(1, Duration::from_secs(3600)).key(|head| head.headers.get("x-key").cloned());
    let router = Router::new()
        .mount(
            "/address",
            by_address.layer(Router::new().get("/", async || "ok")),
        )
        .mount("/key", by_key.layer(Router::new().get("/", async || "ok")));
    with_service(Server::new(), router, async move |address, _| {
        for _ in 0..3 {
            assert_eq!(status(address, "GET /address HTTP/1.1\r\n").await, 200);
        }
        let (head, _) = ask(address, "GET /address HTTP/1.1\r\n", b"").await;
        assert_eq!(statuses(&head), [429]);
        assert!(
            head.contains("ratelimit-policy: \"default\";q=3;w=3600\r\n"),
            "{head}"
        );
        assert!(
            head.contains("retry-after: 1"),
            "about 1200 seconds: {head}"
        );
        assert!(head.contains("ratelimit: \"default\";r=0;t=1"), "{head}");
        assert_eq!((by_address.refused(), by_address.forgotten()), (1, 0));

        for (key, answer) in [("a", 200), ("b", 200), ("a", 429), ("b", 429), ("c", 200)] {
            let head = format!("GET /key HTTP/1.1\r\nx-key: {key}\r\n");
            assert_eq!(status(address, &head).await, answer, "{key}");
        }
        for _ in 0..3 {
            assert_eq!(
                status(address, "GET /key HTTP/1.1\r\n").await,
                200,
                "no key, no limit"
            );
        }
        assert_eq!(by_key.refused(), 2);
    });
}

#[test]
fn nobody_gets_in_without_a_password() {
    async fn name(request: Request<Body>) -> String {
        let User(name) = request.extensions().get::<User>().cloned().unwrap();
        name
    }
    let basic = BasicAuth::new("r", [("alice", "rabbit")]);
    let bearer = BearerAuth::new("r", ["token"]);
    let router = Router::new()
        .mount("/basic", basic.layer(Router::new().get("/", name)))
        .mount(
            "/bearer",
            bearer.layer(Router::new().get("/", async || "in")),
        );
    with_service(Server::new(), router, async move |address, _| {
        let (head, _) = ask(address, "GET /basic HTTP/1.1\r\n", b"").await;
        assert_eq!(statuses(&head), [401]);
        assert!(
            head.contains("www-authenticate: Basic realm=\"r\""),
            "{head}"
        );
        // alice:rabbit
        let right = "GET /basic HTTP/1.1\r\nauthorization: Basic YWxpY2U6cmFiYml0\r\n";
        let (head, body) = ask(address, right, b"").await;
        assert_eq!(statuses(&head), [200]);
        assert_eq!(body, b"alice");
        let wrong = "GET /basic HTTP/1.1\r\nauthorization: Basic YWxpY2U6cmFiYml1\r\n";
        assert_eq!(status(address, wrong).await, 401);
        assert_eq!(basic.refused(), 2);

        assert_eq!(status(address, "GET /bearer HTTP/1.1\r\n").await, 401);
        let right = "GET /bearer HTTP/1.1\r\nauthorization: Bearer token\r\n";
        assert_eq!(status(address, right).await, 200);
        assert_eq!(bearer.refused(), 1);
    });
}

#[test]
fn layers_of_tower_http_run_here() {
    let id = HeaderName::from_static("x-request-id");
    let router = Router::new()
        .get("/a", async |request: Request<Body>| {
            let secret = &request.headers()["authorization"];
            (
                StatusCode::OK,
                format!("sensitive: {}", secret.is_sensitive()),
            )
        })
        .get("/panic", async || -> () { panic!("as asked") })
        .post("/echo", echo);
    let layers = (
        NormalizePathLayer::trim_trailing_slash(),
        SetSensitiveHeadersLayer::new([header::AUTHORIZATION]),
        SetRequestIdLayer::new(id.clone(), MakeRequestUuid),
        TraceLayer::new_for_http(),
        PropagateRequestIdLayer::new(id),
        CorsLayer::permissive().allow_methods([Method::GET]),
        SetResponseHeaderLayer::overriding(header::SERVER, HeaderValue::from_static("mine")),
        CatchPanicLayer::new(),
        (
            RequestBodyLimitLayer::new(10),
            ValidateRequestHeaderLayer::accept("text/plain"),
        ),
    );
    with_service(Server::new(), layers.layer(router), async |address, _| {
        let get = "GET /a/ HTTP/1.1\r\nauthorization: secret\r\norigin: http://o\r\n";
        let (head, body) = ask(address, get, b"").await;
        assert_eq!(statuses(&head), [200]);
        assert_eq!(body, b"sensitive: true");
        for field in [
            "x-request-id: ",
            "access-control-allow-origin: *",
            "server: mine",
        ] {
            assert!(head.contains(field), "{field}: {head}");
        }
        let preflight = "OPTIONS /a HTTP/1.1\r\norigin: http://o\r\n\
                         access-control-request-method: GET\r\n";
        let (head, _) = ask(address, preflight, b"").await;
        assert!(head.contains("access-control-allow-methods: GET"), "{head}");
        let (head, _) = ask(address, "GET /panic HTTP/1.1\r\n", b"").await;
        assert_eq!(statuses(&head), [500]);
        assert!(
            head.contains("server: mine"),
            "the layer saw a response: {head}"
        );
        let long = "POST /echo HTTP/1.1\r\ncontent-length: 11\r\n";
        assert_eq!(statuses(&ask(address, long, b"01234567890").await.0), [413]);
        let chunked = "POST /echo HTTP/1.1\r\ntransfer-encoding: chunked\r\n";
        let body = b"b\r\n01234567890\r\n0\r\n\r\n";
        assert_eq!(statuses(&ask(address, chunked, body).await.0), [413]);
        let other = "GET /a HTTP/1.1\r\naccept: image/png\r\n";
        assert_eq!(status(address, other).await, 406);
    });
}

#[test]
fn others_go_on_while_a_plain_function_blocks() {
    fn slow(_: Request<bytes::Bytes>) -> Response<Body> {
        std::thread::sleep(Duration::from_millis(300));
        "slow".into_response()
    }
    let router = Router::new()
        .get("/slow", plain(slow))
        .get("/fast", async || "fast");
    let runtime = thrum_rt::Runtime::builder().workers(1).build().unwrap();
    runtime.block_on(async {
        let listener = thrum_rt::net::TcpListener::bind("127.0.0.1:0")
            .await
            .unwrap();
        let address = listener.local_addr().unwrap();
        thrum_rt::spawn(thrum_http::serve(listener, router));
        let client = connect(address).await;
        let get = b"GET /fast HTTP/1.1\r\nhost: x\r\n\r\n";
        let (mut fast, mut rounds) = (0, 0);
        while fast < 20 {
            let slow =
                thrum_rt::spawn(async move { status(address, "GET /slow HTTP/1.1\r\n").await });
            while !slow.is_finished() {
                client.write_all(get).await.unwrap();
                read_until(&client, "fast").await;
                fast += 1;
            }
            assert_eq!(slow.await.unwrap(), 200);
            rounds += 1;
            // Had they waited for it, there would be one or two a round.
            assert!(rounds < 5, "{fast} fast ones in {rounds} rounds");
        }
    });
}
