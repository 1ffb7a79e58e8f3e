use std::future::Future;
use std::pin::pin;
use std::task::{Context, Poll, Waker};

use bytes::Bytes;
use http::{Method, Request, Response, StatusCode};
use tower_service::Service;

use super::{IntoResponse, ParamError, Params, Router, plain};
use crate::{Body, service_fn};

/// What a router answers at once: status and body.
fn ask(router: &Router, method: Method, uri: &str) -> (u16, String) {
    let response = call(router, method, uri, Body::empty());
    let status = response.status().as_u16();
    (status, text(response))
}

fn call(router: &Router, method: Method, uri: &str, body: Body) -> Response<Body> {
    let mut request = Request::new(body);
    *request.method_mut() = method;
    *request.uri_mut() = uri.parse().unwrap();
    let Ok(response) = now(router.clone().call(request));
    response
}

fn text(response: Response<Body>) -> String {
    let bytes = now(response.into_body().bytes(10_000)).unwrap();
    String::from_utf8(bytes.to_vec()).unwrap()
}

fn now<F: Future>(future: F) -> F::Output {
    match pin!(future).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(output) => output,
        Poll::Pending => panic!("it is not ready"),
    }
}

async fn path(request: Request<Body>) -> String {
    request.uri().to_string()
}

async fn shown(_: Request<Body>, params: Params) -> String {
    format!("{params:?}")
}

#[test]
fn methods_and_paths() {
    let router = Router::new()
        .get("/", async || "index")
        .get("/users/{id}", async |_: Request<Body>, params: Params| {
            params.parse::<u64>("id").map(|id| format!("user {id}"))
        })
        .put("/users/{id}", async || StatusCode::NO_CONTENT)
        .get("/users/me", async || "me")
        .get("/files/{*rest}", shown)
        .get("/{a}/x/{b}.png", shown)
        .any("/any", async |request: Request<Body>| {
            request.method().to_string()
        });
    for (method, uri, status, body) in [
        (Method::GET, "/", 200, "index"),
        (Method::GET, "http://example.com?q=1", 200, "index"),
        (Method::HEAD, "/", 200, "index"), // the server sends no body
        (Method::GET, "/users/17?x=/y", 200, "user 17"),
        (Method::GET, "/users/me", 200, "me"),
        (
            Method::GET,
            "/users/you",
            400,
            "the path's id is malformed\n",
        ),
        (Method::PUT, "/users/1", 204, ""),
        (Method::DELETE, "/users/1", 405, ""),
        (Method::OPTIONS, "/users/1", 204, ""),
        (Method::GET, "/users/1/", 404, ""),
        (Method::GET, "/users/", 404, ""),
        (Method::GET, "/files/a/b%20c", 200, r#"{"rest": "a/b%20c"}"#),
        (Method::GET, "/files/", 404, ""),
        (Method::GET, "/1/x/2.png", 200, r#"{"a": "1", "b": "2"}"#),
        (Method::DELETE, "/any", 200, "DELETE"),
        (Method::OPTIONS, "/any", 200, "OPTIONS"),
        (Method::OPTIONS, "*", 204, ""),
        (Method::GET, "/none", 404, ""),
    ] {
        assert_eq!(
            ask(&router, method.clone(), uri),
            (status, body.to_owned()),
            "{method} {uri}"
        );
    }
    let response = call(&router, Method::POST, "/users/1", Body::empty());
    assert_eq!(response.headers()["allow"], "GET, PUT, HEAD, OPTIONS");
    let response = call(&router, Method::OPTIONS, "/", Body::empty());
    assert_eq!(response.headers()["allow"], "GET, HEAD, OPTIONS");
}

#[test]
fn params_are_decoded() {
    async fn twice(_: Request<Body>, params: Params) -> Result<String, ParamError> {
        Ok(format!("{} {}", params.get("a")?, params.get("b")?))
    }
    async fn unknown(_: Request<Body>, params: Params) -> Result<String, ParamError> {
        params.get("nobody").map(Into::into)
    }
    let router = Router::new()
        .get("/{a}/{b}", twice)
        .get("/unknown", unknown);
    let get = |uri| ask(&router, Method::GET, uri);
    assert_eq!(get("/x%2Fy/%C3%BC"), (200, "x/y ü".into()));
    assert_eq!(get("/x%/y").0, 400);
    assert_eq!(get("/x/%FF").0, 400);
    assert_eq!(get("/unknown").0, 500);
}

#[test]
fn nested_and_mounted() {
    let inner = Router::new()
        .get("/", path)
        .get("/{id}", shown)
        .mount("/deep", service_fn(path_response));
    let mounted = Router::new()
        .get("/", path)
        .get("/a/{b}", path)
        .fallback(async || (StatusCode::NOT_FOUND, "mounted fallback"));
    let router = Router::new()
        .nest("/users/{user}/notes", inner)
        .mount("/m", mounted)
        .fallback(async || (StatusCode::NOT_FOUND, "fallback"));
    let get = |uri| ask(&router, Method::GET, uri);
    assert_eq!(get("/users/1/notes"), (200, "/users/1/notes".into()));
    assert_eq!(
        get("/users/1/notes/2"),
        (200, r#"{"user": "1", "id": "2"}"#.into())
    );
    assert_eq!(
        get("/users/1/notes/deep/x/y?q"),
        (
            200,
            "/x/y?q {\"user\": \"1\", \"thrum.rest\": \"x/y\"}".into()
        )
    );
    assert_eq!(get("/users/1/notes/").1, "fallback");
    assert_eq!(get("/m"), (200, "/".into()));
    assert_eq!(get("/m/?q=1"), (200, "/?q=1".into()));
    assert_eq!(get("/m/a/b%2F"), (200, "/a/b%2F".into()));
    assert_eq!(get("http://h:80/m/a/b?"), (200, "http://h:80/a/b?".into()));
    assert_eq!(get("/m/none"), (404, "mounted fallback".into()));
    assert_eq!(get("/none"), (404, "fallback".into()));

    let all = Router::new()
        .get("/a", async || "a")
        .mount("/", service_fn(path_response));
    assert_eq!(ask(&all, Method::GET, "/a").1, "a");
    assert_eq!(ask(&all, Method::GET, "/b/c/").1, "/b/c/ None");
    assert_eq!(ask(&all, Method::GET, "/").1, "/ None");
}

async fn path_response(request: Request<Body>) -> Response<Body> {
    let params = request.extensions().get::<Params>();
    let params = params.map_or("None".to_owned(), |params| format!("{params:?}"));
    Response::new(format!("{} {params}", request.uri()).into())
}

#[test]
fn an_error_of_a_mounted_service_is_500() {
    #[derive(Clone)]
    struct Failing;
    impl Service<Request<Body>> for Failing {
        type Response = Response<Body>;
        type Error = String;
        type Future = std::future::Ready<Result<Response<Body>, String>>;
        fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), String>> {
            Poll::Ready(Ok(()))
        }
        fn call(&mut self, _: Request<Body>) -> Self::Future {
            std::future::ready(Err("broken".to_owned()))
        }
    }
    let router = Router::new().mount("/broken", Failing);
    assert_eq!(ask(&router, Method::GET, "/broken").0, 500);
}

#[test]
fn plain_functions_get_the_whole_body() {
    fn length(request: Request<Bytes>, params: Params) -> Result<String, ParamError> {
        Ok(format!("{} {}", params.get("name")?, request.body().len()))
    }
    let router = Router::new().post("/{name}", plain(length).body_limit(10));
    let post = |body: &'static str| call(&router, Method::POST, "/x", body.into());
    assert_eq!(text(post("0123456789")), "x 10");
    assert_eq!(post("01234567890").status(), StatusCode::PAYLOAD_TOO_LARGE);

    let mut application = plain(|request: Request<Bytes>| request.into_body());
    let Ok(response) = now(application.call(Request::new("whole".into())));
    assert_eq!(
        response.headers()["content-type"],
        "application/octet-stream"
    );
    assert_eq!(text(response), "whole");
}

#[test]
fn answers() {
    type R = Result<(StatusCode, String), StatusCode>;
    let created: R = Ok((StatusCode::CREATED, "made".into()));
    let response = created.into_response();
    assert_eq!(response.status(), 201);
    assert_eq!(
        response.headers()["content-type"],
        "text/plain; charset=utf-8"
    );
    assert_eq!(text(response), "made");
    let refused: R = Err(StatusCode::CONFLICT);
    assert_eq!(refused.into_response().status(), 409);
    assert!(Response::new("bare").into_response().headers().is_empty());
}

#[cfg(feature = "json")]
#[test]
fn json() {
    let response = super::Json(std::collections::BTreeMap::from([("a", 1)])).into_response();
    assert_eq!(response.headers()["content-type"], "application/json");
    assert_eq!(text(response), r#"{"a":1}"#);
    // A map whose keys are no strings cannot be written.
    let bad = std::collections::BTreeMap::from([((1, 2), 1)]);
    assert_eq!(super::Json(bad).into_response().status(), 500);
}

#[test]
#[should_panic(expected = "GET /a has a handler already")]
fn a_method_has_one_handler() {
    let _ = Router::new().get("/a", async || ()).get("/a", async || ());
}

#[test]
#[should_panic(expected = "cannot be added")]
fn paths_that_mean_the_same_are_refused() {
    let _ = Router::new()
        .get("/{a}", async || ())
        .get("/{b}", async || ());
}

#[test]
#[should_panic(expected = "mounted, not nested")]
fn a_fallback_is_not_lost() {
    let other = Router::new().fallback(async || ());
    let _ = Router::new().nest("/a", other);
}
