//! What is written is what is served.

use std::fs;

use futures_lite::future::block_on;
use http::{Request, Response, StatusCode};
use thrum_http::Body;
use thrum_server::config::Config;
use thrum_server::site::{App, AppAt, Kept, Sites, TABLES};

use crate::{Site, field, site, text};

/// One site that is served at port 8080; what stands in it may name the folder ROOT.
struct Served {
    app: AppAt,
    _site: Site,
}

impl Served {
    fn new(site: Site, routes: &str) -> Self {
        let app = serve(&site, routes, &Kept::default());
        Self { app, _site: site }
    }

    fn send(&self, uri: &str, fields: &[(&str, &str)]) -> Response<Body> {
        let mut request = Request::builder().uri(uri).header("host", "localhost:8080");
        for (name, value) in fields {
            request = request.header(*name, *value);
        }
        let request = request.body(Body::empty()).unwrap();
        block_on(self.app.answer(request).response())
    }

    fn get(&self, uri: &str) -> (StatusCode, String) {
        text(self.send(uri, &[]))
    }
}

fn serve(site: &Site, routes: &str, kept: &Kept) -> AppAt {
    let sites = build(site, routes, kept).unwrap();
    let endpoint = sites.endpoints().next().unwrap().0.clone();
    thrum_rt::block_on(async { App::new(sites).at(endpoint) })
}

fn build(site: &Site, routes: &str, kept: &Kept) -> Result<Sites, Vec<String>> {
    let root = site.root().display().to_string();
    let text = format!(":8080 {{\n{}\n}}\n", routes.replace("ROOT", &root));
    let config = Config::parse(&text, &TABLES).map_err(|report| messages(report.problems()))?;
    Sites::build(&config, kept).map_err(|problems| messages(&problems))
}

fn messages(problems: &[thrum_server::config::Problem]) -> Vec<String> {
    problems
        .iter()
        .map(|problem| problem.message.clone())
        .collect()
}

#[test]
fn folders_and_files_at_their_paths() {
    let served = Served::new(
        site(),
        "/static/ -> ROOT\n/one.txt -> ROOT/sub/page.html\n/ -> ROOT/sub { index page.html }",
    );
    assert_eq!(served.get("/static/a%20b.txt").1, "0123456789");
    assert_eq!(served.get("/static/").1, "<h1>home</h1>");
    assert_eq!(
        field(&served.send("/static/sub", &[]), "location"),
        "/static/sub/"
    );
    assert_eq!(served.get("/one.txt").1, "page");
    assert_eq!(served.get("/").1, "page");
    assert_eq!(served.get("/a%20b.txt").0, StatusCode::NOT_FOUND);
}

#[test]
fn everything_that_can_be_written() {
    let site = site();
    fs::write(site.root().join("a.css"), "x".repeat(5000)).unwrap();
    fs::write(site.root().join("b.css"), "plain").unwrap();
    fs::write(site.root().join("b.css.gz"), "gzip!").unwrap();
    fs::write(site.root().join("page.html"), "hello").unwrap();
    fs::write(site.root().join("page.html.ja"), "konnichiwa").unwrap();
    fs::write(site.root().join("404.html"), "nothing here").unwrap();
    fs::write(site.root().join("x.note"), "note").unwrap();
    let served = Served::new(
        site,
        "errors ROOT
         / -> ROOT {
            listing on { sort size; order descending }
            try /{path} /{path}.html /{path}/
            hidden serve
            languages en ja
            compress br { brotli-level 1; min 1KiB }
            cache-control immutable *.css
            cache-control 1h /page.html
            type .note text/x-note
            charset off
            file-cache { entries 100; recheck 2s }
         }",
    );
    let response = served.send("/a.css", &[("accept-encoding", "br")]);
    assert_eq!(field(&response, "content-encoding"), "br");
    assert_eq!(
        field(&response, "cache-control"),
        "max-age=31536000, immutable"
    );
    let response = served.send("/b.css", &[("accept-encoding", "gzip")]);
    assert_eq!(text(response).1, "gzip!", "by default");
    let response = served.send("/page", &[("accept-language", "ja")]);
    assert_eq!(field(&response, "cache-control"), "max-age=3600");
    assert_eq!(text(response).1, "konnichiwa");
    let note = served.send("/x.note", &[]);
    assert_eq!(field(&note, "content-type"), "text/x-note");
    assert_eq!(served.get("/.env").0, StatusCode::OK);
    assert_eq!(
        served.get("/nope"),
        (StatusCode::NOT_FOUND, "nothing here".into())
    );
    let listing = served.get("/sub/?format=json").1;
    assert!(listing.contains("page.html"), "{listing}");
}

#[test]
fn what_holds_when_nothing_is_written() {
    let site = site();
    fs::write(site.root().join("a.css"), "x".repeat(5000)).unwrap();
    let served = Served::new(site, "/ -> ROOT");
    let response = served.send("/a.css", &[("accept-encoding", "br")]);
    assert_eq!(field(&response, "content-encoding"), "");
    assert_eq!(field(&response, "content-type"), "text/css; charset=utf-8");
    assert_eq!(field(&response, "cache-control"), "");
    assert_eq!(served.get("/.env").0, StatusCode::NOT_FOUND);
    assert_eq!(served.get("/sub/").0, StatusCode::NOT_FOUND);
    assert_eq!(served.get("/nope").1, "404 Not Found\n");
}

#[test]
fn a_single_page_application() {
    let served = Served::new(site(), "/ -> ROOT { fallback index.html }");
    assert_eq!(served.get("/users/7").1, "<h1>home</h1>");
    assert_eq!(served.get("/missing.js").0, StatusCode::NOT_FOUND);
}

#[test]
fn mistakes_are_found_before_anything_is_served() {
    for (routes, expected) in [
        ("/ -> ROOT/nope", "cannot serve"),
        (
            "/ -> ROOT { fallback nope.html }",
            "there is no file nope.html",
        ),
        ("/ -> ROOT { try /{uri} }", "`{path}` is all"),
        (
            "/ -> ROOT { cache-control forever }",
            "`forever` does not say how long",
        ),
        (
            "/ -> ROOT { type .md markdown }",
            "`markdown` is no media type",
        ),
        ("/ -> ROOT { charset \"a b\" }", "no name of a charset"),
        ("/ -> ROOT { precompressed lzma }", "`lzma`"),
        ("errors ROOT/nope\n/ -> ROOT", "nope"),
    ] {
        let Err(problems) = build(&site(), routes, &Kept::default()) else {
            panic!("{routes} is taken");
        };
        assert!(problems[0].contains(expected), "{routes}: {problems:?}");
    }
}

#[test]
fn what_is_known_outlives_a_reload() {
    let site = site();
    let kept = Kept::default();
    let serve = |routes: &str| serve(&site, routes, &kept);
    let get = |app: &AppAt| {
        let request = Request::builder().uri("/").header("host", "localhost:8080");
        let request = request.body(Body::empty()).unwrap();
        text(block_on(app.answer(request).response())).1
    };
    // What is believed for an hour tells which cache answers.
    let routes = "/ -> ROOT { file-cache { recheck 1h } }";
    let first = serve(routes);
    assert_eq!(get(&first), "<h1>home</h1>");
    fs::write(site.root().join("index.html"), "changed").unwrap();
    let second = serve(routes);
    assert_eq!(get(&second), "<h1>home</h1>");
    let other = serve("/ -> ROOT { file-cache { recheck 2h } }");
    assert_eq!(get(&other), "changed");
}
