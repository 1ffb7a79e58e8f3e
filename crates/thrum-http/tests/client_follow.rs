//! The client's upper half against our own server: redirects, cookies, compressed responses, forms and JSON.

mod support;

use std::collections::HashMap;
use std::net::SocketAddr;

use bytes::Bytes;
use support::with_service;
use thrum_http::client::redirect::{Action, Policy};
use thrum_http::client::{CookieJar, Limits, Phase};
use thrum_http::{Body, Client, Request, Response, Server, StatusCode, header, service_fn};
use thrum_stream::stage::compress;
use thrum_stream::{Source, sink, source};

/// What the client asks: `/to?STATUS&URL` redirects, `/show` tells what has come, and others below.
async fn site(request: Request<Body>) -> Response<Body> {
    let query = request.uri().query().unwrap_or_default().to_owned();
    let response = Response::builder();
    let response = match request.uri().path() {
        "/to" => {
            let (status, location) = query.split_once('&').unwrap();
            let response = response.status(status).header(header::LOCATION, location);
            return response.body("moved".into()).unwrap();
        }
        "/set" => {
            let response = response.status(302).header(header::LOCATION, "/show");
            let response = response.header(header::SET_COOKIE, query);
            return response.body(Body::empty()).unwrap();
        }
        "/show" => {
            let head = shown(&request);
            let body = request.into_body().bytes(1 << 20).await.unwrap();
            return Response::new([head.as_bytes(), &body].concat().into());
        }
        "/echo" => {
            let kind = request.headers().get("content-type").cloned();
            let mut response = Response::new(request.into_body());
            response.headers_mut().insert("x-kind", kind.unwrap());
            return response;
        }
        "/coded" => response.header(header::CONTENT_ENCODING, &query),
        "/asked" => {
            let asked = request.headers().get(header::ACCEPT_ENCODING).cloned();
            return Response::new(asked.map_or("", |_| "asked").into());
        }
        _ => return Response::builder().status(404).body(Body::empty()).unwrap(),
    };
    let size = request.headers().get("x-size");
    let size = size.map_or(100, |size| size.to_str().unwrap().parse().unwrap());
    drop(request);
    let plain = source::once(Bytes::from(vec![b'a'; size]));
    let limit = 1 << 20;
    let coded = match query.as_str() {
        "gzip" => plain.pipe(compress::gzip()).run(sink::concat(limit)).await,
        "br" => {
            plain
                .pipe(compress::brotli())
                .run(sink::concat(limit))
                .await
        }
        _ => plain.pipe(compress::zstd()).run(sink::concat(limit)).await,
    };
    response.body(coded.unwrap().into()).unwrap()
}

/// What `/show` tells of a request's head.
fn shown(request: &Request<Body>) -> String {
    let field = |name: &str| {
        let value = request.headers().get(name);
        value.map_or("-", |value| value.to_str().unwrap())
    };
    let (kind, cookie) = (field("content-type"), field("cookie"));
    format!(
        "{} {kind} {cookie} {}|",
        request.method(),
        field("authorization")
    )
}

fn with_site<F: Future<Output = ()>>(test: impl FnOnce(SocketAddr) -> F) {
    with_service(Server::new(), service_fn(site), |address, _| test(address));
}

async fn text(client: &Client, url: String) -> String {
    client.get(url).await.unwrap().text().await.unwrap()
}

#[test]
fn redirects_are_followed_with_method_and_body() {
    with_site(|address| async move {
        let client = Client::new();
        let base = format!("http://{address}");
        for (status, expected) in [
            (301, "GET - - -|"),
            (302, "GET - - -|"),
            (303, "GET - - -|"),
            (307, "POST text/x - -|hello"),
            (308, "POST text/x - -|hello"),
        ] {
            let request = client.post(format!("{base}/to?{status}&/show"));
            let request = request.header("content-type", "text/x").body("hello");
            let response = request.await.unwrap();
            assert_eq!(response.url().path(), "/show");
            assert_eq!(response.text().await.unwrap(), expected, "{status}");
        }
        // A body that cannot be sent again: the redirect itself is the response.
        let stream = Body::wrap(Once(Some("hello".into())));
        let response = client
            .post(format!("{base}/to?307&/show"))
            .body(stream)
            .await
            .unwrap();
        assert_eq!(response.status(), StatusCode::TEMPORARY_REDIRECT);
        let stream = Body::wrap(Once(Some("hello".into())));
        let response = client
            .post(format!("{base}/to?303&/show"))
            .body(stream)
            .await
            .unwrap();
        assert_eq!(response.text().await.unwrap(), "GET - - -|");
    });
}

/// A body that comes once, of unknown length.
struct Once(Option<Bytes>);

impl http_body::Body for Once {
    type Data = Bytes;
    type Error = std::convert::Infallible;

    fn poll_frame(
        mut self: std::pin::Pin<&mut Self>,
        _: &mut std::task::Context<'_>,
    ) -> std::task::Poll<Option<Result<http_body::Frame<Bytes>, Self::Error>>> {
        std::task::Poll::Ready(self.0.take().map(|bytes| Ok(http_body::Frame::data(bytes))))
    }
}

#[test]
fn credentials_stay_with_their_host() {
    with_site(|address| async move {
        let client = Client::new();
        let (ours, other) = (
            format!("http://{address}"),
            format!("http://localhost:{}", address.port()),
        );
        let ask = async |to: &str| {
            let request = client
                .get(format!("{ours}/to?302&{to}/show"))
                .bearer_auth("secret");
            let request = request.header("cookie", "own=1");
            request.await.unwrap().text().await.unwrap()
        };
        assert_eq!(ask("").await, "GET - own=1 Bearer secret|");
        assert_eq!(ask(&ours).await, "GET - own=1 Bearer secret|");
        assert_eq!(ask(&other).await, "GET - - -|");
        // Neither does a password in the URL go along.
        let url = format!("http://a:b@{address}/to?302&{other}/show");
        assert_eq!(text(&client, url).await, "GET - - -|");
    });
}

#[test]
fn a_circle_ends_and_policies_decide() {
    with_site(|address| async move {
        let url = format!("http://{address}/to?302&/to?302%26/x");
        let circle = format!("http://{address}/to?302&");
        let error = Client::new().get(&circle).await.unwrap_err();
        assert_eq!(error.phase(), Phase::Response);
        assert!(error.to_string().contains("too many redirects"), "{error}");
        assert_eq!(error.to_string().matches("->").count(), 10, "{error}");

        let none = Client::builder().redirects(Policy::none()).build();
        assert_eq!(none.get(&url).await.unwrap().status(), StatusCode::FOUND);
        let custom = Policy::custom(|attempt| match attempt.previous().len() {
            1 => Action::Follow,
            2 => Action::Stop,
            _ => Action::Fail,
        });
        let custom = Client::builder().redirects(custom).build();
        let response = custom.get(&circle).await.unwrap();
        assert_eq!(response.text().await.unwrap(), "moved");
        let bad = Client::new()
            .get(format!("http://{address}/to?302&ftp://x/"))
            .await;
        assert!(bad.unwrap_err().to_string().contains("leads nowhere"));
    });
}

#[test]
fn cookies_go_along_through_redirects() {
    with_site(|address| async move {
        let jar = CookieJar::new();
        let client = Client::builder().cookie_jar(jar.clone()).build();
        let base = format!("http://{address}");
        assert_eq!(
            text(&client, format!("{base}/set?a=1")).await,
            "GET - a=1 -|"
        );
        assert_eq!(
            text(&client, format!("{base}/set?b=2;Path=/x")).await,
            "GET - a=1 -|"
        );
        assert_eq!(jar.len(), 2);
        // Another host has none of them.
        let other = format!("http://localhost:{}", address.port());
        assert_eq!(
            text(&client, format!("{base}/to?302&{other}/show")).await,
            "GET - - -|"
        );
        assert_eq!(
            text(&client, format!("{other}/to?302&{base}/show")).await,
            "GET - a=1 -|"
        );
        let own = client
            .get(format!("{base}/show"))
            .header("cookie", "own=1")
            .await
            .unwrap();
        assert_eq!(own.text().await.unwrap(), "GET - own=1 -|");
        // Off unless asked for.
        let without = Client::new();
        assert_eq!(
            text(&without, format!("{base}/set?a=1")).await,
            "GET - - -|"
        );
    });
}

#[test]
fn responses_are_decoded() {
    with_site(|address| async move {
        let client = Client::new();
        for coding in ["gzip", "br", "zstd"] {
            let url = format!("http://{address}/coded?{coding}");
            let response = client.get(&url).header("x-size", "1000000").await.unwrap();
            assert!(!response.headers().contains_key(header::CONTENT_ENCODING));
            assert!(!response.headers().contains_key(header::CONTENT_LENGTH));
            assert!(
                response
                    .bytes()
                    .await
                    .unwrap()
                    .iter()
                    .eq([b'a'; 1_000_000].iter()),
                "{coding}"
            );
            let head = client.head(&url).await.unwrap();
            assert_eq!(head.headers()[header::CONTENT_ENCODING], coding);
            let raw = client
                .get(&url)
                .header("accept-encoding", coding)
                .await
                .unwrap();
            assert_eq!(raw.headers()[header::CONTENT_ENCODING], coding);
        }
        assert_eq!(
            text(&client, format!("http://{address}/asked")).await,
            "asked"
        );
        let off = Client::builder().decompress(false).build();
        assert_eq!(text(&off, format!("http://{address}/asked")).await, "");
    });
}

#[test]
fn a_bomb_is_an_error() {
    with_site(|address| async move {
        let mut limits = Limits::default();
        limits.decoded_bytes = 100_000;
        let client = Client::builder().limits(limits).build();
        for coding in ["gzip", "br", "zstd"] {
            let url = format!("http://{address}/coded?{coding}");
            let fits = client.get(&url).header("x-size", "100000").await.unwrap();
            assert_eq!(fits.bytes().await.unwrap().len(), 100_000);
            let mut bomb = client.get(&url).header("x-size", "50000000").await.unwrap();
            let mut seen = 0;
            let error = loop {
                match bomb.chunk().await {
                    Ok(chunk) => seen += chunk.unwrap().len(),
                    Err(error) => break error,
                }
            };
            assert!(
                error.is_body() && error.to_string().contains("too large"),
                "{error}"
            );
            assert!(seen <= 100_000);
        }
    });
}

#[test]
fn forms_and_json() {
    with_site(|address| async move {
        let (client, url) = (Client::new(), format!("http://{address}/echo"));
        let form = client
            .post(&url)
            .form(&[("a", "b c"), ("d&", "=ü")])
            .await
            .unwrap();
        assert_eq!(
            form.headers()["x-kind"],
            "application/x-www-form-urlencoded"
        );
        assert_eq!(form.text().await.unwrap(), "a=b%20c&d%26=%3D%C3%BC");

        let ages = HashMap::from([("ann".to_owned(), 30_u32)]);
        let response = client.post(&url).json(&ages).await.unwrap();
        assert_eq!(response.headers()["x-kind"], "application/json");
        assert_eq!(response.json::<HashMap<String, u32>>().await.unwrap(), ages);
        let response = client
            .post(&url)
            .header("content-type", "x/json")
            .json(&1)
            .await
            .unwrap();
        assert_eq!(response.headers()["x-kind"], "x/json");
        let error = response.json::<String>().await.unwrap_err();
        assert_eq!(error.phase(), Phase::Response);
        let bad = HashMap::from([(vec![1], 1)]); // a key that JSON does not have
        let error = client.post(&url).json(&bad).await.unwrap_err();
        assert!(error.is_request(), "{error}");
    });
}
