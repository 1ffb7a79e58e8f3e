//! The client through proxies, which are written out here.

mod support;

use std::net::SocketAddr;
use std::sync::{Arc, Mutex};

use futures_lite::AsyncReadExt;
use support::with_service;
use thrum_http::client::Proxies;
use thrum_http::{Body, Client, Request, Response, Server, StatusCode, header, service_fn};
use thrum_rt::io::copy_bidirectional;
use thrum_rt::net::{TcpListener, TcpStream};

async fn origin(request: Request<Body>) -> Response<Body> {
    let fields = request.headers();
    let leaked = fields.contains_key(header::PROXY_AUTHORIZATION);
    Response::new(format!("origin {} {leaked}", request.uri().path()).into())
}

/// What a proxy was asked, one entry for each connection or request.
type Asked = Arc<Mutex<Vec<String>>>;

/// Starts a proxy of either kind.
async fn proxy(socks: bool) -> (SocketAddr, Asked) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let asked = Asked::default();
    let log = asked.clone();
    thrum_rt::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            let log = log.clone();
            thrum_rt::spawn(async move {
                let _ = match socks {
                    true => serve_socks(stream, log).await,
                    false => serve_http(stream, log).await,
                };
            });
        }
    });
    (address, asked)
}

async fn serve_http(mut stream: TcpStream, asked: Asked) -> std::io::Result<()> {
    loop {
        let mut head = Vec::new();
        while !head.ends_with(b"\r\n\r\n") {
            let mut byte = [0];
            stream.read_exact(&mut byte).await?;
            head.push(byte[0]);
        }
        let head = String::from_utf8(head).unwrap().to_lowercase();
        asked.lock().unwrap().push(head.clone());
        let target = head.split(' ').nth(1).unwrap();
        if head.starts_with("connect ") {
            if !head.contains("proxy-authorization: basic ") {
                stream
                    .write_all(b"HTTP/1.1 407 No\r\nContent-Length: 0\r\n\r\n")
                    .await?;
                return Ok(());
            }
            let there = TcpStream::connect(target).await?;
            stream
                .write_all(b"HTTP/1.1 200 Connected\r\nVia: test\r\n\r\n")
                .await?;
            return join(stream, there).await;
        }
        let body = format!("proxied {target}");
        let response = format!(
            "HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n{body}",
            body.len()
        );
        stream.write_all(response.as_bytes()).await?;
    }
}

async fn serve_socks(mut stream: TcpStream, asked: Asked) -> std::io::Result<()> {
    let mut start = [0; 2];
    stream.read_exact(&mut start).await?;
    stream.read_exact(&mut vec![0; start[1].into()]).await?;
    stream.write_all(&[5, 0]).await?;
    let mut request = [0; 4];
    stream.read_exact(&mut request).await?;
    let host = match request[3] {
        1 => {
            let mut address = [0; 4];
            stream.read_exact(&mut address).await?;
            std::net::Ipv4Addr::from(address).to_string()
        }
        3 => {
            let mut length = [0];
            stream.read_exact(&mut length).await?;
            let mut name = vec![0; length[0].into()];
            stream.read_exact(&mut name).await?;
            String::from_utf8(name).unwrap()
        }
        _ => "::1".to_owned(),
    };
    let mut port = [0; 2];
    stream.read_exact(&mut port).await?;
    let port = u16::from_be_bytes(port);
    asked.lock().unwrap().push(format!("{host}:{port}"));
    // Names are all the same here.
    match TcpStream::connect(("127.0.0.1", port)).await {
        Ok(there) => {
            stream.write_all(&[5, 0, 0, 1, 0, 0, 0, 0, 0, 0]).await?;
            join(stream, there).await
        }
        Err(_) => stream.write_all(&[5, 5, 0, 1, 0, 0, 0, 0, 0, 0]).await,
    }
}

async fn join(here: TcpStream, there: TcpStream) -> std::io::Result<()> {
    copy_bidirectional(here, there).await.map(|_| ())
}

fn with_origin<F: Future<Output = ()>>(test: impl FnOnce(SocketAddr) -> F) {
    with_service(Server::new(), service_fn(origin), |address, _| {
        test(address)
    });
}

async fn text(client: &Client, url: String) -> String {
    client.get(url).await.unwrap().text().await.unwrap()
}

#[test]
fn http_is_asked_for_by_its_whole_url() {
    with_origin(|origin| async move {
        let (proxy, asked) = proxy(false).await;
        let proxies = Proxies::all(&format!("http://me:word@{proxy}")).unwrap();
        let client = Client::builder()
            .proxies(proxies.except("127.0.0.1"))
            .build();
        let reply = text(&client, "http://x.example/a?b#c".to_owned()).await;
        assert_eq!(reply, "proxied http://x.example/a?b");
        text(&client, "http://x.example/again".to_owned()).await;
        for head in asked.lock().unwrap().iter() {
            assert!(head.contains("\r\nhost: x.example\r\n"), "{head}");
            assert!(head.contains("\r\nproxy-authorization: basic "), "{head}");
        }
        // What is excepted goes straight, and the proxy's password stays at home.
        let reply = text(&client, format!("http://{origin}/direct")).await;
        assert_eq!(reply, "origin /direct false");
        assert_eq!(asked.lock().unwrap().len(), 2);
    });
}

#[test]
fn https_is_asked_for_through_a_tunnel() {
    with_origin(|_| async move {
        let (proxy, asked) = proxy(false).await;
        let client = Client::builder()
            .proxies(Proxies::all(&proxy.to_string()).unwrap())
            .build();
        let error = client.get("https://x.example/").await.unwrap_err();
        assert!(
            error.is_connect() && error.to_string().contains("407"),
            "{error}"
        );
        assert!(
            asked.lock().unwrap()[0]
                .starts_with("connect x.example:443 http/1.1\r\nhost: x.example:443\r\n")
        );
    });
}

#[test]
fn socks_makes_connections() {
    with_origin(|origin| async move {
        let (proxy, asked) = proxy(true).await;
        let client = |scheme: &str| {
            let proxies = Proxies::all(&format!("{scheme}://{proxy}")).unwrap();
            Client::builder().proxies(proxies).build()
        };
        let reply = text(&client("socks5"), format!("http://{origin}/a")).await;
        assert_eq!(reply, "origin /a false");
        let named = format!("http://no.such.name.invalid:{}/b", origin.port());
        assert_eq!(
            text(&client("socks5h"), named.clone()).await,
            "origin /b false"
        );
        assert!(client("socks5").get(&named).await.unwrap_err().is_connect());
        let error = client("socks5h")
            .get("http://127.0.0.1:1/")
            .await
            .unwrap_err();
        assert!(error.to_string().contains("refused"), "{error}");
        let expected = [
            origin.to_string(),
            format!("no.such.name.invalid:{}", origin.port()),
        ];
        assert_eq!(asked.lock().unwrap()[..2], expected);
    });
}

#[test]
fn a_proxy_that_is_not_there_is_a_connect_error() {
    with_origin(|origin| async move {
        let gone = TcpListener::bind("127.0.0.1:0")
            .await
            .unwrap()
            .local_addr()
            .unwrap();
        let proxies = Proxies::none().http(&gone.to_string()).unwrap();
        let client = Client::builder().proxies(proxies).build();
        assert!(
            client
                .get(format!("http://{origin}/"))
                .await
                .unwrap_err()
                .is_connect()
        );
        let straight = Client::new()
            .get(format!("http://{origin}/"))
            .await
            .unwrap();
        assert_eq!(straight.status(), StatusCode::OK);
    });
}
