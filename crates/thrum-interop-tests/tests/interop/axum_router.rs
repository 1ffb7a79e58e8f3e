//! An axum router, served by hyper on thrum and by thrum's own HTTP engine.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use axum::extract::{Path, Query, Request, State};
use axum::http::{HeaderValue, StatusCode, header};
use axum::middleware::{Next, from_fn};
use axum::response::Response;
use axum::routing::{get, post};
use axum::{Json, Router};
use bytes::Bytes;
use http_body_util::Full;
use hyper::client;
use hyper_util::service::TowerToHyperService;
use serde::{Deserialize, Serialize};
use thrum::compat::{Executor, Io, Timer};
use thrum::net::{SocketAddr, TcpListener, TcpStream};
use tower::util::MapResponseLayer;

use crate::{full, text};

type Counter = Arc<AtomicU64>;

#[derive(Serialize, Deserialize)]
struct Sum {
    left: i64,
    right: i64,
}

fn router() -> Router {
    let api = Router::new()
        .route(
            "/sum",
            get(async |Query(sum): Query<Sum>| (sum.left + sum.right).to_string()),
        )
        .route(
            "/swap",
            post(async |Json(sum): Json<Sum>| {
                Json(Sum {
                    left: sum.right,
                    right: sum.left,
                })
            }),
        )
        .route(
            "/count",
            get(async |State(counter): State<Counter>| {
                counter.fetch_add(1, Ordering::Relaxed).to_string()
            }),
        );
    Router::new()
        .route(
            "/hello/{name}",
            get(async |Path(name): Path<String>| format!("Hello, {name}!")),
        )
        .route(
            "/blocking",
            get(async || std::thread::sleep(Duration::from_secs(2))),
        )
        .nest("/api", api)
        .layer(from_fn(async |request: Request, next: Next| {
            thrum::time::sleep(Duration::from_millis(1)).await;
            next.run(request).await
        }))
        .layer(MapResponseLayer::new(|mut response: Response| {
            let layered = HeaderValue::from_static("yes");
            response.headers_mut().insert("x-layered", layered);
            response
        }))
        .with_state(Counter::default())
}

async fn serve_http1(listener: TcpListener, router: Router) {
    while let Ok((connection, _)) = listener.accept().await {
        let service = TowerToHyperService::new(router.clone());
        thrum::spawn(
            hyper::server::conn::http1::Builder::new()
                .timer(Timer)
                .serve_connection(Io::new(connection), service),
        );
    }
}

async fn send(
    address: SocketAddr,
    request: hyper::Request<Full<Bytes>>,
) -> hyper::Response<hyper::body::Incoming> {
    let connection = Io::new(TcpStream::connect(address).await.unwrap());
    let (mut sender, connection) = client::conn::http1::handshake(connection).await.unwrap();
    thrum::spawn(connection);
    sender.send_request(request).await.unwrap()
}

fn request(path: &str) -> hyper::Request<Full<Bytes>> {
    hyper::Request::get(path)
        .header(header::HOST, "localhost")
        .body(full(""))
        .unwrap()
}

async fn check(address: SocketAddr) {
    let get = async |path| send(address, request(path)).await;
    let response = get("/hello/warp").await;
    assert_eq!(response.headers()["x-layered"], "yes");
    assert_eq!(text(response).await, "Hello, warp!");
    assert_eq!(text(get("/api/sum?left=40&right=2").await).await, "42");
    let refused = get("/api/sum?left=x").await;
    assert_eq!(refused.status(), StatusCode::BAD_REQUEST);
    assert_eq!(get("/nowhere").await.status(), StatusCode::NOT_FOUND);

    let mut swap = request("/api/swap").map(|_| full(r#"{"left":1,"right":2}"#));
    *swap.method_mut() = hyper::Method::POST;
    let json = HeaderValue::from_static("application/json");
    swap.headers_mut().insert(header::CONTENT_TYPE, json);
    let swapped = send(address, swap).await;
    assert_eq!(text(swapped).await, r#"{"left":2,"right":1}"#);

    assert_eq!(text(get("/api/count").await).await, "0");
    assert_eq!(text(get("/api/count").await).await, "1");
}

async fn listen() -> (TcpListener, SocketAddr) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    (listener, address)
}

#[test]
fn hyper_serves_a_router() {
    thrum::block_on(async {
        let (listener, address) = listen().await;
        let server = thrum::spawn(serve_http1(listener, router()));
        check(address).await;
        server.abort();
    });
}

#[test]
fn hyper_serves_a_router_over_http2() {
    thrum::block_on(async {
        let (near, far) = crate::pair().await;
        let service = TowerToHyperService::new(router());
        thrum::spawn(
            hyper::server::conn::http2::Builder::new(Executor).serve_connection(far, service),
        );
        let (mut sender, connection) = client::conn::http2::handshake(Executor, near)
            .await
            .unwrap();
        thrum::spawn(connection);
        let hello = hyper::Request::get("http://localhost/hello/weft")
            .body(full(""))
            .unwrap();
        assert_eq!(
            text(sender.send_request(hello).await.unwrap()).await,
            "Hello, weft!"
        );
    });
}

#[test]
fn thrum_serves_a_router_itself() {
    thrum::block_on(async {
        let (listener, address) = listen().await;
        let server = thrum::spawn(thrum::http::serve(listener, router()));
        check(address).await;
        server.abort();
    });
}

/// On the same port, without asking: the client begins with HTTP/2.
#[test]
fn thrum_serves_a_router_itself_over_http2() {
    thrum::block_on(async {
        let (listener, address) = listen().await;
        let server = thrum::spawn(thrum::http::serve(listener, router()));
        let connection = Io::new(TcpStream::connect(address).await.unwrap());
        let (mut sender, connection) = client::conn::http2::handshake(Executor, connection)
            .await
            .unwrap();
        let connection = thrum::spawn(connection);
        let mut ask = async |path: &str, body: Option<&'static str>| {
            let request = match body {
                None => hyper::Request::get(format!("http://localhost{path}")),
                Some(_) => hyper::Request::post(format!("http://localhost{path}"))
                    .header(header::CONTENT_TYPE, "application/json"),
            };
            let request = request.body(full(body.unwrap_or_default())).unwrap();
            let response = sender.send_request(request).await.unwrap();
            assert_eq!(response.headers()["x-layered"], "yes");
            text(response).await
        };
        assert_eq!(ask("/hello/weft", None).await, "Hello, weft!");
        assert_eq!(ask("/api/sum?left=40&right=2", None).await, "42");
        let swapped = ask("/api/swap", Some(r#"{"left":1,"right":2}"#)).await;
        assert_eq!(swapped, r#"{"left":2,"right":1}"#);
        drop(sender);
        connection.await.unwrap().unwrap();
        server.abort();
    });
}

/// What thrum promises holds for axum's handlers: one of them blocks, on the only worker there is.
#[test]
fn nobody_waits_for_a_handler_that_blocks() {
    let runtime = thrum::Runtime::builder().workers(1).build().unwrap();
    runtime.block_on(async {
        let (listener, address) = listen().await;
        let server = thrum::spawn(serve_http1(listener, router()));
        let blocking = thrum::spawn(async move {
            let status = send(address, request("/blocking")).await.status();
            (status, Instant::now())
        });
        thrum::time::sleep(Duration::from_millis(200)).await;
        for _ in 0..10 {
            let hello = send(address, request("/hello/fast")).await;
            assert_eq!(text(hello).await, "Hello, fast!");
        }
        let fast = Instant::now();
        let (status, slow) = blocking.await.unwrap();
        assert_eq!(status, StatusCode::OK);
        assert!(fast < slow, "ten fast ones are done before the slow one");
        server.abort();
    });
}
