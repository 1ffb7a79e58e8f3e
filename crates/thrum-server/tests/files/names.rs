//! Which file answers, and what is said of it: try-lists, fallbacks, mounts, listings, types, how long it may be kept.

use std::fs;
use std::time::Duration;

use http::{HeaderValue, Request, StatusCode};
use thrum_server::files::{Files, FilesError, Freshness, Limits, Order, SortBy};

use crate::{SECRET, Site, answer, field, site, text};

impl Site {
    fn with(self, change: impl FnOnce(Files) -> Files) -> Self {
        let files = change(self.files.clone());
        Site { files, ..self }
    }
}

#[test]
fn what_is_tried_is_tried_in_order() {
    let site = site().with(|files| files.try_paths(["{path}", "{path}.html", "{path}/index.html"]));
    fs::write(site.root().join("sub/index.html"), "index").unwrap();
    for (uri, status, content) in [
        ("/sub/page", 200, "page"),
        ("/sub/page.html", 200, "page"),
        ("/sub", 200, "index"),
        ("/sub/", 200, "index"),
        ("/", 200, "<h1>home</h1>"),
        ("/sub/page/", 404, "404 Not Found\n"),
        ("/nope", 404, "404 Not Found\n"),
        ("/out", 404, "404 Not Found\n"),
        ("/.env", 404, "404 Not Found\n"),
    ] {
        let (found, body) = site.get(uri);
        assert_eq!((found.as_u16(), &*body), (status, content), "{uri}");
    }
    let site = site.with(|files| files.try_paths(["{path}.html", "{path}/", "sub/page.html"]));
    let moved = site.send("GET", "/sub?x", &[]);
    assert_eq!(field(&moved, "location"), "/sub/?x");
    assert_eq!(site.get("/sub/").1, "index");
    assert_eq!(site.get("/whatever").1, "page");
    assert_eq!(site.get("/../secret").0, StatusCode::BAD_REQUEST);
}

#[test]
#[should_panic(expected = "only {path} may stand in braces")]
fn other_braces_are_a_mistake() {
    let _ = site().files.clone().try_paths(["{uri}"]);
}

#[test]
fn the_fallback_answers_for_pages_but_not_for_missing_parts_of_them() {
    let site = site().with(|files| files.fallback("/index.html"));
    let page = ("accept", "text/html,application/xhtml+xml,*/*;q=0.8");
    for (uri, accept, status) in [
        ("/users/7", page, 200),
        ("/users/7", ("accept", "*/*"), 200),
        ("/users/john.doe", page, 200),
        ("/sub/", page, 200),
        ("/app.js", ("accept", "*/*"), 404),
        ("/logo.png", ("accept", "image/avif,*/*"), 404),
        ("/.env", page, 404),
        ("/%2e%2e", page, 400),
    ] {
        let response = site.send("GET", uri, &[accept]);
        assert_eq!(response.status().as_u16(), status, "{uri} {accept:?}");
        if status == 200 {
            // What depends on who asks is not to be kept for others.
            let vary = if uri.contains('.') { "accept" } else { "" };
            assert_eq!(field(&response, "vary"), vary, "{uri}");
            assert_eq!(text(response).1, "<h1>home</h1>");
        }
    }
    assert_eq!(
        site.get("/sub/page.html").1,
        "page",
        "what is there goes before"
    );
    let before = site.files.stats().entries;
    for index in 0..100 {
        site.get(&format!("/users/{index}"));
    }
    assert_eq!(
        site.files.stats().entries,
        before,
        "however many paths lead to it"
    );
}

#[test]
fn what_falls_back_once_it_is_gone_does_not_come_again() {
    let site = site().with(|files| files.fallback("index.html"));
    fs::write(site.root().join("gone"), "gone").unwrap();
    assert_eq!(site.get("/gone").1, "gone");
    fs::remove_file(site.root().join("gone")).unwrap();
    std::thread::sleep(Duration::from_millis(1000));
    for _ in 0..3 {
        assert_eq!(site.get("/gone").1, "<h1>home</h1>");
    }
}

#[test]
fn a_mount_stands_for_the_folder() {
    let site = site();
    let get = |uri: &str, mount: &str| {
        let request = Request::builder().uri(uri).body(()).unwrap();
        futures_lite::future::block_on(site.files.answer_beneath(&request, mount).response())
    };
    assert_eq!(text(get("/static/sub/page.html", "/static/")).1, "page");
    assert_eq!(text(get("/st%61tic/sub/page.html", "/static/")).1, "page");
    assert_eq!(text(get("/static/", "/static/")).1, "<h1>home</h1>");
    assert_eq!(field(&get("/static", "/static/"), "location"), "/static/");
    assert_eq!(
        field(&get("/static/sub", "/static/"), "location"),
        "/static/sub/"
    );
    assert_eq!(
        get("/static/../secret.txt", "/static/").status(),
        StatusCode::BAD_REQUEST
    );
    assert_eq!(
        get("/static/up/secret.txt", "/static/").status(),
        StatusCode::NOT_FOUND
    );
}

#[test]
fn one_file_answers_for_every_path() {
    let site = site();
    let files = Files::file(site.root().join("sub/page.html")).unwrap();
    for uri in ["/", "/x/y", "/favicon.ico"] {
        let response = answer(&files, Request::builder().uri(uri).body(()).unwrap());
        assert_eq!(field(&response, "content-type"), "text/html; charset=utf-8");
        assert_eq!(text(response), (StatusCode::OK, "page".into()), "{uri}");
    }
    assert_eq!(files.stats().entries, 1);
    for path in ["sub", "nope"] {
        let error = Files::file(site.root().join(path)).unwrap_err();
        assert!(matches!(error, FilesError::Root { .. }), "{error}");
    }
}

#[test]
fn the_index_of_a_directory_is_told() {
    let site = site().with(|files| files.index(["index.cgi", "page.html"]));
    let index = |path| site.files.index_of(path, "/cgi-bin/");
    assert_eq!(index("/cgi-bin/sub/").as_deref(), Some("sub/page.html"));
    fs::write(site.root().join("sub/index.cgi"), "").unwrap();
    assert_eq!(index("/cgi-bin/sub/").as_deref(), Some("sub/index.cgi"));
    for path in [
        "/cgi-bin/sub",
        "/cgi-bin/",
        "/cgi-bin/nope/",
        "/cgi-bin/../",
        "/cgi-bin/.git/",
    ] {
        assert_eq!(index(path), None, "{path}");
    }
}

#[test]
fn how_long_files_may_be_kept() {
    let site = site().with(|files| {
        let hour = Freshness::For(Duration::from_secs(3600));
        let files = files.cache(Freshness::Immutable, ["/sub/"]);
        files
            .cache(hour, ["*.bin", "index.html"])
            .cache(Freshness::Ask, ["empty"])
    });
    let said = |uri| field(&site.send("GET", uri, &[]), "cache-control").to_owned();
    assert_eq!(said("/sub/page.html"), "max-age=31536000, immutable");
    assert_eq!(said("/large.bin"), "max-age=3600");
    assert_eq!(said("/"), "max-age=3600", "the file that answers counts");
    assert_eq!(said("/empty"), "no-cache");
    assert_eq!(said("/a%20b.txt"), "");
    assert_eq!(said("/nope.bin"), "", "what is not there is not kept");
}

#[test]
fn types_and_charsets_can_be_set() {
    let site = site().with(|files| {
        let html = HeaderValue::from_static("application/xhtml+xml");
        files.media_type(".html", html).charset(Some("shift_jis"))
    });
    let said = |uri| field(&site.send("GET", uri, &[]), "content-type").to_owned();
    assert_eq!(said("/"), "application/xhtml+xml");
    assert_eq!(said("/a%20b.txt"), "text/plain; charset=shift_jis");
}

#[test]
fn hidden_names_can_be_served() {
    let site = site().with(|files| files.hidden(true));
    assert_eq!(site.get("/.env").1, SECRET);
    assert_eq!(site.get("/.git/config").1, SECRET);
    assert_eq!(site.get("/./.env").0, StatusCode::BAD_REQUEST);
}

#[test]
fn a_listing_for_programs() {
    let site = site().with(|files| files.listing(true));
    fs::create_dir(site.root().join("list")).unwrap();
    fs::write(site.root().join("list/a \"b\".txt"), "123").unwrap();
    fs::create_dir(site.root().join("list/sub")).unwrap();
    for (uri, fields) in [
        ("/list/?format=json", &[][..]),
        ("/list/", &[("accept", "application/json")][..]),
    ] {
        let response = site.send("GET", uri, fields);
        assert_eq!(field(&response, "content-type"), "application/json");
        assert_eq!(field(&response, "vary"), "accept");
        let listing: serde_json::Value = serde_json::from_str(&text(response).1).unwrap();
        assert_eq!(listing["path"], "/list/");
        assert_eq!(listing["omitted"], 0);
        assert_eq!(listing["entries"][0]["name"], "sub");
        assert_eq!(listing["entries"][0]["type"], "directory");
        assert_eq!(listing["entries"][1]["name"], "a \"b\".txt");
        assert_eq!(listing["entries"][1]["size"], 3);
        let modified = listing["entries"][1]["modified"].as_str().unwrap();
        assert!(
            modified.len() == 20 && modified.ends_with('Z'),
            "{modified}"
        );
    }
}

#[test]
fn a_listing_in_the_order_that_is_asked_for() {
    let order = Order {
        by: SortBy::Size,
        descending: true,
    };
    let site = site().with(|files| files.listing_by(order));
    fs::create_dir(site.root().join("list")).unwrap();
    for (name, size) in [("a.txt", 2), ("b.txt", 3), ("c.txt", 1)] {
        fs::write(site.root().join("list").join(name), vec![0; size]).unwrap();
    }
    let order = |query: &str| {
        let page = site.get(&format!("/list/{query}")).1;
        let mut names = ["a.txt", "b.txt", "c.txt"];
        names.sort_by_key(|name| page.find(&format!("href=\"./{name}\"")).unwrap());
        names.map(|name| &name[..1]).concat()
    };
    assert_eq!(order(""), "bac");
    assert_eq!(order("?sort=name&order=asc"), "abc");
    assert_eq!(order("?sort=name&order=desc"), "cba");
    assert_eq!(order("?order=asc"), "cab");
    assert_eq!(order("?sort=%3Cscript%3E"), "bac");
    let page = site.get("/list/").1;
    assert!(page.contains("?sort=size&amp;order=asc") && page.contains("?sort=time&amp;order=asc"));
}

#[test]
fn what_is_kept_is_bounded_and_counted() {
    let limits = Limits {
        entries: 5,
        bytes: 1000,
        open_files: 2,
        small_file: 100,
        recheck: Duration::from_secs(3600),
    };
    let site = site().with(|files| files.limits(limits));
    for index in 0..20 {
        fs::write(
            site.root().join(format!("{index}.txt")),
            vec![b'x'; index * 10],
        )
        .unwrap();
        assert_eq!(site.get(&format!("/{index}.txt")).1.len(), index * 10);
        let stats = site.files.stats();
        assert!(
            stats.entries <= 5 && stats.bytes <= 1000 && stats.open_files <= 2,
            "{stats:?}"
        );
    }
    let before = site.files.stats();
    assert!(before.evictions > 0 && before.open_files > 0, "{before:?}");
    site.get("/19.txt");
    site.get("/nope");
    let after = site.files.stats();
    assert_eq!(
        (after.hits - before.hits, after.misses - before.misses),
        (1, 1)
    );
    site.get("/1.txt");
    fs::write(site.root().join("1.txt"), "changed").unwrap();
    assert_eq!(site.get("/1.txt").1, "x".repeat(10), "believed for an hour");
}
