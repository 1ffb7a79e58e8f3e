//! A server on a free port, and raw clients that say bytes and read bytes.
#![allow(dead_code, reason = "each test file uses its part")]

use std::future::Future;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use thrum_http::{
    Application, Body, Exchange, Limits, Observer, Request, Response, Server, StatusCode, Timeouts,
    note, service_fn,
};
use thrum_rt::net::{Shutdown, TcpListener, TcpStream};
use thrum_rt::time::timeout;

/// Nothing here takes longer.
const PATIENCE: Duration = Duration::from_secs(10);

/// Limits and times that a test can wait for.
pub(crate) fn short() -> Server {
    let mut limits = Limits::default();
    limits.head_bytes = 2048;
    limits.target_bytes = 512;
    limits.fields = 10;
    limits.body_bytes = 1000;
    limits.drain_bytes = 500;
    let mut timeouts = Timeouts::default();
    timeouts.head = Duration::from_millis(200);
    timeouts.idle = Duration::from_millis(400);
    timeouts.body = Duration::from_millis(200);
    timeouts.write = Duration::from_millis(300);
    timeouts.linger = Duration::from_millis(200);
    Server::new().limits(limits).timeouts(timeouts)
}

/// Runs a test against a server of the common application, and ends both.
pub(crate) fn with_server<F: Future<Output = ()>>(
    server: Server,
    test: impl FnOnce(SocketAddr, Server) -> F,
) {
    with_service(server, service_fn(application), test);
}

/// Runs a test against a server of an application of its own, and ends both.
pub(crate) fn with_service<F: Future<Output = ()>>(
    server: Server,
    application: impl Application,
    test: impl FnOnce(SocketAddr, Server) -> F,
) {
    let runtime = thrum_rt::Runtime::builder().workers(2).build().unwrap();
    runtime.block_on(async {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let serving = thrum_rt::spawn({
            let server = server.clone();
            async move { server.serve(listener, application).await }
        });
        timeout(PATIENCE * 3, test(address, server.clone()))
            .await
            .expect("the test takes too long");
        server.shutdown(Duration::from_millis(100)).await;
        serving.await.unwrap().unwrap();
    });
}

/// What the tests talk to.
async fn application(mut request: Request<Body>) -> Response<Body> {
    let path = request.uri().path().to_owned();
    match path.as_str() {
        "/echo" => {
            let mut all = Vec::new();
            while let Some(data) = request.body_mut().chunk().await {
                match data {
                    Ok(data) => all.extend_from_slice(&data),
                    Err(error) => return status(StatusCode::BAD_REQUEST, format!("{error}")),
                }
            }
            Response::new(all.into())
        }
        "/through" => Response::new(request.into_body()),
        "/elsewhere" => {
            let body = request.into_body();
            let reader = thrum_rt::spawn(async move { body.bytes(10_000).await });
            match reader.await.unwrap() {
                Ok(bytes) => Response::new(bytes.into()),
                Err(error) => status(StatusCode::BAD_REQUEST, format!("{error}")),
            }
        }
        "/ignore" => Response::new("ignored".into()),
        "/stream" => Response::new(Body::wrap(Counting(0))),
        "/large" => Response::new(vec![b'x'; 20_000_000].into()),
        "/slow" => {
            thrum_rt::time::sleep(Duration::from_millis(100)).await;
            Response::new("slow".into())
        }
        "/compute" => {
            let begin = std::time::Instant::now();
            while begin.elapsed() < Duration::from_millis(300) {
                std::hint::spin_loop();
            }
            Response::new("computed".into())
        }
        "/note" => {
            assert!(note(Arc::new(Left(" too early"))));
            thrum_rt::time::sleep(Duration::from_millis(1)).await;
            assert!(note(Arc::new(Left(" left"))));
            Response::new("noted".into())
        }
        "/panic" => panic!("as asked"),
        "/close" => {
            let mut response = Response::new(Body::from("closing"));
            response
                .headers_mut()
                .insert("connection", "close".parse().unwrap());
            response
        }
        "/nothing" => status(StatusCode::NO_CONTENT, String::new()),
        path => Response::new(path.to_owned().into()),
    }
}

fn status(status: StatusCode, text: String) -> Response<Body> {
    let mut response = Response::new(text.into());
    *response.status_mut() = status;
    response
}

/// A body of unknown length: three pieces.
struct Counting(u8);

impl http_body::Body for Counting {
    type Data = bytes::Bytes;
    type Error = std::convert::Infallible;

    fn poll_frame(
        mut self: std::pin::Pin<&mut Self>,
        _: &mut std::task::Context<'_>,
    ) -> std::task::Poll<Option<Result<http_body::Frame<bytes::Bytes>, Self::Error>>> {
        self.0 += 1;
        let piece = format!("piece {};", self.0);
        let frame = http_body::Frame::data(bytes::Bytes::from(piece));
        std::task::Poll::Ready((self.0 <= 3).then_some(Ok(frame)))
    }
}

pub(crate) async fn connect(address: SocketAddr) -> TcpStream {
    TcpStream::connect(address).await.unwrap()
}

/// All that comes until the server closes.
pub(crate) async fn read_to_end(stream: &TcpStream) -> String {
    let mut all = Vec::new();
    let mut buffer = [0; 65536];
    loop {
        match timeout(PATIENCE, stream.read(&mut buffer))
            .await
            .expect("the server closes")
        {
            Ok(0) | Err(_) => return String::from_utf8_lossy(&all).into_owned(),
            Ok(read) => all.extend_from_slice(&buffer[..read]),
        }
    }
}

/// Reads until the text has come.
pub(crate) async fn read_until(stream: &TcpStream, text: &str) -> String {
    let mut all = String::new();
    let mut buffer = [0; 65536];
    while !all.contains(text) {
        let read = timeout(PATIENCE, stream.read(&mut buffer))
            .await
            .expect("it comes")
            .unwrap();
        assert!(read > 0, "closed after {all:?}, without {text:?}");
        all.push_str(&String::from_utf8_lossy(&buffer[..read]));
    }
    all
}

/// Sends bytes, says that this is all, and reads what comes back.
pub(crate) async fn exchange(address: SocketAddr, bytes: &[u8]) -> String {
    let stream = connect(address).await;
    let _ = stream.write_all(bytes).await;
    let _ = stream.shutdown(Shutdown::Write);
    read_to_end(&stream).await
}

/// The statuses of the responses in a text.
pub(crate) fn statuses(text: &str) -> Vec<u16> {
    let lines = text.match_indices("HTTP/1.1 ");
    lines
        .map(|(at, _)| text[at + 9..at + 12].parse().unwrap())
        .collect()
}

/// What `/note` leaves for the observer.
struct Left(&'static str);

/// Notes what it is told.
#[derive(Default)]
pub(crate) struct Notes(pub(crate) Mutex<Vec<String>>);

impl Observer for Notes {
    fn finished(&self, exchange: &Exchange<'_>) {
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        assert_eq!(
            exchange.connection().map(|connection| connection.peer),
            Some(exchange.peer())
        );
        self.0.lock().unwrap().push(format!(
            "{} {} {} {} {}{}",
            text(exchange.method()),
            text(exchange.target()),
            exchange.status().as_u16(),
            exchange.body_bytes(),
            text(exchange.header("user-agent").unwrap_or(b"-")),
            exchange.note::<Left>().map_or("", |left| left.0),
        ));
    }
}

pub(crate) fn notes() -> Arc<Notes> {
    Arc::default()
}
