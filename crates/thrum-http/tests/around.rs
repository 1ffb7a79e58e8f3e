//! What stands around a request and its response: early hints, trailers, upgrades, the client's address, Unix sockets.

mod support;

use std::time::Duration;

use futures_lite::{AsyncReadExt, AsyncWriteExt};
use http_body::Body as _;
use support::{connect, exchange, read_to_end, read_until, short, statuses, with_service};
use thrum_http::{
    Body, HeaderMap, HeaderName, HeaderValue, Request, Response, StatusCode, connection,
    early_hints, header, service_fn, upgrade,
};
use thrum_rt::net::{UnixListener, UnixStream};

/// What the tests here talk to.
async fn application(mut request: Request<Body>) -> Response<Body> {
    match request.uri().path() {
        "/hints" => {
            let style = HeaderValue::from_static("</style.css>; rel=preload");
            let framing = (header::CONTENT_LENGTH, HeaderValue::from_static("5"));
            early_hints(HeaderMap::from_iter([(header::LINK, style), framing]));
            thrum_rt::time::sleep(Duration::from_millis(50)).await;
            Response::new("page".into())
        }
        "/trailers" => {
            let mut told = String::new();
            let mut body = request.into_body();
            while let Some(frame) =
                std::future::poll_fn(|cx| std::pin::Pin::new(&mut body).poll_frame(cx)).await
            {
                match frame.unwrap().into_trailers() {
                    Ok(trailers) => told.push_str(&format!("trailers: {trailers:?}")),
                    Err(frame) => told.push_str(&format!("data: {:?};", frame.data_ref().unwrap())),
                }
            }
            Response::new(told.into())
        }
        "/summed" => Response::new(Body::wrap(Summed(0))),
        "/peer" => Response::new(format!("{:?}", connection().unwrap().peer).into()),
        "/shout" => {
            let Some(upgrade) = upgrade::on(&mut request) else {
                return status(StatusCode::UPGRADE_REQUIRED);
            };
            assert!(upgrade::on(&mut request).is_none());
            thrum_rt::spawn(async move {
                let mut connection = upgrade.await.unwrap();
                let mut line = [0; 80];
                while let Ok(read @ 1..) = connection.read(&mut line).await {
                    let loud = line[..read].to_ascii_uppercase();
                    connection.write_all(&loud).await.unwrap();
                }
            });
            let mut response = status(StatusCode::SWITCHING_PROTOCOLS);
            let protocol = HeaderValue::from_static("shout");
            response.headers_mut().insert(header::UPGRADE, protocol);
            response
        }
        "/unasked" => status(StatusCode::SWITCHING_PROTOCOLS),
        "/declined" => {
            let declined = upgrade::on(&mut request).unwrap();
            thrum_rt::spawn(async move { declined.await.unwrap_err() });
            Response::new("no".into())
        }
        _ => status(StatusCode::NOT_FOUND),
    }
}

fn status(status: StatusCode) -> Response<Body> {
    let mut response = Response::new(Body::empty());
    *response.status_mut() = status;
    response
}

/// A piece, and a trailer behind it.
struct Summed(u8);

impl http_body::Body for Summed {
    type Data = bytes::Bytes;
    type Error = std::convert::Infallible;

    fn poll_frame(
        mut self: std::pin::Pin<&mut Self>,
        _: &mut std::task::Context<'_>,
    ) -> std::task::Poll<Option<Result<http_body::Frame<bytes::Bytes>, Self::Error>>> {
        self.0 += 1;
        std::task::Poll::Ready(match self.0 {
            1 => Some(Ok(http_body::Frame::data("piece".into()))),
            2 => Some(Ok(http_body::Frame::trailers(HeaderMap::from_iter([
                (
                    HeaderName::from_static("sum"),
                    HeaderValue::from_static("42"),
                ),
                (header::CONTENT_LENGTH, HeaderValue::from_static("42")),
            ])))),
            _ => None,
        })
    }
}

#[test]
fn early_hints_come_before_the_page_is_ready() {
    with_service(short(), service_fn(application), async |address, _| {
        let stream = connect(address).await;
        let request = b"GET /hints HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n";
        stream.write_all(request).await.unwrap();
        let hints = read_until(&stream, "\r\n\r\n").await;
        assert_eq!(
            hints,
            "HTTP/1.1 103 Early Hints\r\nlink: </style.css>; rel=preload\r\n\r\n"
        );
        let page = read_to_end(&stream).await;
        assert_eq!(statuses(&page), [200]);
        // Not by `exchange`: whoever ends its side while the page is made has left.
        let stream = connect(address).await;
        let request = b"GET /hints HTTP/1.0\r\n\r\n";
        stream.write_all(request).await.unwrap();
        let old = read_to_end(&stream).await;
        assert_eq!(statuses(&old), [200], "{old}");
    });
    assert!(!early_hints(HeaderMap::new()), "there is no exchange here");
}

#[test]
fn trailers_reach_the_handler_without_those_that_frame() {
    with_service(short(), service_fn(application), async |address, _| {
        let request = "POST /trailers HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n2\r\nhi\r\n0\r\nSum: 42\r\nContent-Length: 5\r\nHost: b\r\n\r\n";
        let answer = exchange(address, request.as_bytes()).await;
        assert!(
            answer.ends_with("data: b\"hi\";trailers: {\"sum\": \"42\"}"),
            "{answer}"
        );
    });
}

#[test]
fn trailers_go_to_those_who_take_them() {
    with_service(short(), service_fn(application), async |address, _| {
        let get = async |fields: &str| {
            let request =
                format!("GET /summed HTTP/1.1\r\nHost: a\r\nConnection: close\r\n{fields}\r\n");
            exchange(address, request.as_bytes()).await
        };
        let answer = get("TE: gzip, Trailers\r\n").await;
        assert!(
            answer.ends_with("\r\n\r\n5\r\npiece\r\n0\r\nsum: 42\r\n\r\n"),
            "{answer}"
        );
        let answer = get("").await;
        assert!(answer.ends_with("5\r\npiece\r\n0\r\n\r\n"), "{answer}");
    });
}

#[test]
fn a_connection_goes_on_in_another_protocol() {
    with_service(short(), service_fn(application), async |address, server| {
        let stream = connect(address).await;
        // The first words come with the request.
        let request = b"GET /shout HTTP/1.1\r\nHost: a\r\nConnection: keep-alive, Upgrade\r\nUpgrade: shout\r\n\r\nhello";
        stream.write_all(request).await.unwrap();
        let answer = read_until(&stream, "HELLO").await;
        assert!(answer.starts_with("HTTP/1.1 101 Switching Protocols\r\n"));
        assert!(answer.contains("\r\nconnection: upgrade\r\n"), "{answer}");
        assert!(answer.contains("\r\nupgrade: shout\r\n\r\n"), "{answer}");
        stream.write_all(b"again").await.unwrap();
        read_until(&stream, "AGAIN").await;
        assert_eq!(server.stats().open, 1, "the server still knows of it");
    });
}

#[test]
fn an_upgrade_takes_two() {
    with_service(short(), service_fn(application), async |address, _| {
        let ask = async |path: &str, fields: &str| {
            let request = format!("GET {path} HTTP/1.1\r\nHost: a\r\n{fields}\r\n");
            statuses(&exchange(address, request.as_bytes()).await)
        };
        let both = "Connection: upgrade\r\nUpgrade: shout\r\n";
        assert_eq!(ask("/shout", "Upgrade: shout\r\n").await, [426]);
        assert_eq!(ask("/shout", "Connection: upgrade\r\n").await, [426]);
        assert_eq!(ask("/shout", "").await, [426]);
        assert_eq!(ask("/unasked", "").await, [500]);
        assert_eq!(ask("/declined", both).await, [200]);
        let old = b"GET /shout HTTP/1.0\r\nConnection: upgrade\r\nUpgrade: shout\r\n\r\n";
        assert_eq!(statuses(&exchange(address, old).await), [426]);
    });
}

#[test]
fn a_handler_knows_its_client() {
    with_service(short(), service_fn(application), async |address, _| {
        let stream = connect(address).await;
        let request = b"GET /peer HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n";
        stream.write_all(request).await.unwrap();
        let answer = read_to_end(&stream).await;
        let peer = format!("Some({})", stream.local_addr().unwrap());
        assert!(answer.ends_with(&peer), "{answer}");
    });
    assert!(connection().is_none(), "there is no exchange here");
}

#[test]
fn a_unix_socket_serves_as_well() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("socket");
    thrum_rt::block_on(async {
        let listener = UnixListener::bind(&path).unwrap();
        let server = short();
        let serving = thrum_rt::spawn({
            let server = server.clone();
            async move { server.serve(listener, service_fn(application)).await }
        });
        let stream = UnixStream::connect(&path).await.unwrap();
        let request = b"GET /peer HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n";
        stream.write_all(request).await.unwrap();
        let mut answer = [0; 4096];
        let mut length = 0;
        while let Ok(read @ 1..) = stream.read(&mut answer[length..]).await {
            length += read;
        }
        assert!(answer[..length].ends_with(b"\r\n\r\nNone"));
        server.shutdown(Duration::from_secs(1)).await;
        serving.await.unwrap().unwrap();
    });
}
