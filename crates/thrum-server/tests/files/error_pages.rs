//! Error pages, around handlers that fail in all kinds of ways.

use std::fs;
use std::sync::Arc;
use std::time::Duration;

use futures_lite::future::block_on;
use http::{Request, Response, StatusCode};
use thrum_http::Body;
use thrum_server::error_pages::ErrorPages;
use thrum_server::site::{Answer, Handler, Visit, reply};

use crate::{field, site, text};

/// Answers with the status that the path says: by itself, later, or in its own words.
struct Fails;

impl Handler for Fails {
    fn handle(&self, request: Request<Body>, _: Visit) -> Answer {
        let path = request.uri().path().trim_start_matches('/').to_owned();
        let (how, status) = path.split_once('/').unwrap();
        let status = StatusCode::from_bytes(status.as_bytes()).unwrap();
        match how {
            "now" => {
                let mut response = reply::status(status);
                let retry = "7".parse().unwrap();
                response.headers_mut().insert("retry-after", retry);
                response.into()
            }
            "later" => Answer::later(async move { reply::status(status) }),
            _ => reply::text(status, "own words").into(),
        }
    }
}

struct Pages {
    folder: tempfile::TempDir,
    handler: ErrorPages,
}

fn pages(names: &[&str]) -> Pages {
    let folder = tempfile::tempdir().unwrap();
    for name in names {
        fs::write(folder.path().join(name), format!("<p>{name}")).unwrap();
    }
    let handler = ErrorPages::new(folder.path(), Arc::new(Fails)).unwrap();
    Pages { folder, handler }
}

impl Pages {
    fn send(&self, uri: &str, fields: &[(&str, &str)]) -> Response<Body> {
        let mut request = Request::builder().uri(uri);
        for (name, value) in fields {
            request = request.header(*name, *value);
        }
        let request = request.body(Body::empty()).unwrap();
        let answer = self.handler.handle(request, Visit::new(None, false));
        block_on(answer.response())
    }

    fn get(&self, uri: &str, fields: &[(&str, &str)]) -> String {
        text(self.send(uri, fields)).1
    }
}

#[test]
fn a_page_for_a_status_or_its_class() {
    let pages = pages(&["404.html", "4xx.html", "5xx.html", "200.html", "README"]);
    for (uri, expected) in [
        ("/now/404", "<p>404.html"),
        ("/later/404", "<p>404.html"),
        ("/now/403", "<p>4xx.html"),
        ("/now/503", "<p>5xx.html"),
        ("/own/404", "own words"),
        ("/now/200", "200 OK\n"),
        ("/now/304", "304 Not Modified\n"),
    ] {
        assert_eq!(pages.get(uri, &[]), expected, "{uri}");
    }
    let response = pages.send("/now/503", &[]);
    assert_eq!(response.status(), StatusCode::SERVICE_UNAVAILABLE);
    assert_eq!(field(&response, "retry-after"), "7");
    assert_eq!(field(&response, "content-type"), "text/html; charset=utf-8");
}

#[test]
fn a_page_in_the_reader_s_language() {
    let pages = pages(&["404.html", "404.html.ja", "5xx.html.fr", "5xx.html.ja"]);
    let get = |uri, language| pages.get(uri, &[("accept-language", language)]);
    assert_eq!(get("/now/404", "ja-JP"), "<p>404.html.ja");
    assert_eq!(get("/now/404", "de"), "<p>404.html");
    assert_eq!(get("/now/500", "ja"), "<p>5xx.html.ja");
    assert_eq!(
        get("/now/500", "de"),
        "<p>5xx.html.fr",
        "one is better than none"
    );
    let response = pages.send("/now/404", &[("accept-language", "ja")]);
    assert_eq!(field(&response, "content-language"), "ja");
    assert_eq!(field(&response, "vary"), "accept, accept-language");
}

#[test]
fn programs_get_what_they_can_read() {
    let pages = pages(&["404.html"]);
    let get = |accept| pages.get("/now/404", &[("accept", accept)]);
    let plain = "404 Not Found\n";
    assert_eq!(get("text/html,*/*;q=0.8"), "<p>404.html");
    assert_eq!(get("*/*"), "<p>404.html");
    assert_eq!(get("application/json"), plain);
    assert_eq!(get("application/json, */*;q=0.5"), plain);
    assert_eq!(get("image/png"), plain);
}

#[test]
fn pages_that_change_or_cannot_be_read() {
    let pages = pages(&["404.html"]);
    fs::create_dir(pages.folder.path().join("403.html")).unwrap();
    fs::write(pages.folder.path().join("500.html"), vec![b'x'; 300_000]).unwrap();
    std::os::unix::fs::symlink("nowhere", pages.folder.path().join("410.html")).unwrap();
    fs::write(pages.folder.path().join("404.html"), "changed").unwrap();
    std::thread::sleep(Duration::from_millis(1100));
    assert_eq!(pages.get("/now/404", &[]), "changed");
    assert_eq!(pages.get("/now/403", &[]), "403 Forbidden\n", "a folder");
    assert_eq!(
        pages.get("/now/500", &[]),
        "500 Internal Server Error\n",
        "too large"
    );
    assert_eq!(
        pages.get("/now/410", &[]),
        "410 Gone\n",
        "a link to nowhere"
    );
    fs::remove_dir_all(pages.folder.path()).unwrap();
    std::thread::sleep(Duration::from_millis(1100));
    assert_eq!(
        pages.get("/now/404", &[]),
        "changed",
        "the old ones are better than none"
    );
}

#[test]
fn around_files_with_all_that_a_status_needs() {
    let site = site();
    let folder = pages(&["404.html", "405.html", "416.html"]);
    let handler = ErrorPages::new(folder.folder.path(), Arc::new(site.files.clone())).unwrap();
    let send = |method: &str, uri: &str, range: &str| {
        let request = Request::builder()
            .method(method)
            .uri(uri)
            .header("range", range);
        let request = request.body(Body::empty()).unwrap();
        let answer = handler.handle(request, Visit::new(None, false));
        block_on(answer.response())
    };
    let response = send("POST", "/", "");
    assert_eq!(field(&response, "allow"), "GET, HEAD");
    assert_eq!(text(response).1, "<p>405.html");
    let response = send("GET", "/a%20b.txt", "bytes=100-");
    assert_eq!(field(&response, "content-range"), "bytes */10");
    assert_eq!(
        text(response),
        (StatusCode::RANGE_NOT_SATISFIABLE, "<p>416.html".into())
    );
    assert_eq!(
        text(send("GET", "/nope", "")),
        (StatusCode::NOT_FOUND, "<p>404.html".into())
    );
    assert_eq!(text(send("GET", "/", "")).1, "<h1>home</h1>");
    let missing = ErrorPages::new(folder.folder.path().join("nope"), Arc::new(Fails));
    assert!(missing.is_err());
}
