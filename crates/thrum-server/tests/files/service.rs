//! What it answers by itself, and that nothing outside its folder is ever reached.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::time::Duration;

use http::{Request, StatusCode, header};
use proptest::prelude::*;
use thrum_server::files::{Files, FilesError};

use crate::{SECRET, Site, answer, field, site, text};

#[test]
fn files_with_their_type_and_validators() {
    let site = site();
    let response = site.send("GET", "/a%20b.txt", &[]);
    assert_eq!(
        field(&response, "content-type"),
        "text/plain; charset=utf-8"
    );
    assert_eq!(field(&response, "accept-ranges"), "bytes");
    assert!(
        field(&response, "etag").starts_with('"')
            && field(&response, "last-modified").ends_with("GMT")
    );
    assert_eq!(text(response), (StatusCode::OK, "0123456789".into()));
    assert_eq!(site.get("/"), (StatusCode::OK, "<h1>home</h1>".into()));
    assert_eq!(site.get("/empty"), (StatusCode::OK, String::new()));
    assert_eq!(site.get("/within.html").1, "page");
    assert_eq!(site.get("/.well-known/x").1, "known");
    let large = text(site.send("GET", "/large.bin", &[]));
    assert_eq!(large.1.len(), 200_000);
}

#[test]
fn what_is_not_there_and_what_is_not_allowed() {
    let site = site();
    for (uri, status) in [
        ("/nope", 404),
        ("/sub/", 404),
        ("/index.html/", 404),
        ("/index.html/x", 404),
        ("/.env", 404),
        ("/%2eenv", 404),
        ("/.git/config", 404),
        ("/out.txt", 404),
        ("/up/secret.txt", 404),
        ("/../secret.txt", 400),
        ("/sub/../index.html", 400),
        ("/%2e%2e/secret.txt", 400),
        ("/a%2fb", 400),
        ("/a%00", 400),
        ("/a%5cb", 400),
        ("/%zz", 400),
    ] {
        let (found, body) = site.get(uri);
        assert_eq!(found.as_u16(), status, "{uri}");
        assert!(!body.contains(SECRET));
    }
    for method in ["POST", "PUT", "DELETE", "OPTIONS", "PROPFIND"] {
        let response = site.send(method, "/", &[]);
        assert_eq!(response.status(), StatusCode::METHOD_NOT_ALLOWED);
        assert_eq!(field(&response, "allow"), "GET, HEAD");
    }
    let long = format!("/{}", "a".repeat(5000));
    assert_eq!(site.get(&long).0, StatusCode::NOT_FOUND);
}

#[test]
fn a_directory_without_its_slash_is_redirected_within() {
    let site = site();
    for (uri, location) in [
        ("/sub", "/sub/"),
        ("/sub?a=b&c", "/sub/?a=b&c"),
        ("//sub/deep", "/sub/deep/"),
    ] {
        let response = site.send("GET", uri, &[]);
        assert_eq!(response.status(), StatusCode::MOVED_PERMANENTLY, "{uri}");
        assert_eq!(field(&response, "location"), location);
    }
}

#[test]
fn conditions_and_ranges() {
    let site = site();
    let etag = field(&site.send("GET", "/a%20b.txt", &[]), "etag").to_owned();
    let ask = |fields: &[(&str, &str)]| site.send("GET", "/a%20b.txt", fields);
    let response = ask(&[("if-none-match", &etag)]);
    assert_eq!(response.status(), StatusCode::NOT_MODIFIED);
    assert_eq!(
        (field(&response, "etag"), field(&response, "content-type")),
        (etag.as_str(), "")
    );
    assert_eq!(
        ask(&[("if-match", "\"other\"")]).status(),
        StatusCode::PRECONDITION_FAILED
    );
    let response = ask(&[("range", "bytes=2-4")]);
    assert_eq!(field(&response, "content-range"), "bytes 2-4/10");
    assert_eq!(text(response), (StatusCode::PARTIAL_CONTENT, "234".into()));
    let response = ask(&[("range", "bytes=20-")]);
    assert_eq!(response.status(), StatusCode::RANGE_NOT_SATISFIABLE);
    assert_eq!(field(&response, "content-range"), "bytes */10");
    assert_eq!(
        text(ask(&[("range", "bytes=2-4"), ("if-range", &etag)])).1,
        "234"
    );
    assert_eq!(
        text(ask(&[("range", "bytes=2-4"), ("if-range", "\"other\"")])).1,
        "0123456789"
    );
    let response = site.send("GET", "/large.bin", &[("range", "bytes=199990-")]);
    assert_eq!(text(response).1.len(), 10);
}

#[test]
fn several_ranges_come_as_parts() {
    let site = site();
    for uri in ["/a%20b.txt", "/large.bin"] {
        let response = site.send("GET", uri, &[("range", "bytes=0-1,5-6")]);
        assert_eq!(response.status(), StatusCode::PARTIAL_CONTENT);
        let content_type = field(&response, "content-type").to_owned();
        let boundary = content_type
            .strip_prefix("multipart/byteranges; boundary=")
            .unwrap();
        let size = response.body().size().unwrap();
        let (_, body) = text(response);
        assert_eq!(body.len() as u64, size, "the size is known beforehand");
        assert_eq!(body.matches(&format!("--{boundary}\r\n")).count(), 2);
        assert!(body.ends_with(&format!("--{boundary}--\r\n")));
        assert!(body.contains("content-range: bytes 5-6/"));
    }
}

#[test]
fn a_change_is_seen_within_a_second() {
    let site = site();
    let file = site.root().join("a b.txt");
    assert_eq!(site.get("/a%20b.txt").1, "0123456789");
    fs::write(&file, "changed").unwrap();
    std::thread::sleep(Duration::from_millis(1000));
    assert_eq!(site.get("/a%20b.txt").1, "changed");
    fs::remove_file(&file).unwrap();
    std::thread::sleep(Duration::from_millis(1000));
    assert_eq!(site.get("/a%20b.txt").0, StatusCode::NOT_FOUND);
}

#[test]
fn a_deploy_that_swaps_a_link_is_seen() {
    let folder = tempfile::tempdir().unwrap();
    let release = |name: &str| {
        fs::create_dir(folder.path().join(name)).unwrap();
        fs::write(folder.path().join(name).join("index.html"), name).unwrap();
        let next = folder.path().join("next");
        symlink(name, &next).unwrap();
        fs::rename(next, folder.path().join("current")).unwrap();
    };
    release("one");
    let files = Files::new(folder.path().join("current")).unwrap();
    let get = || {
        text(answer(
            &files,
            Request::builder().uri("/").body(()).unwrap(),
        ))
        .1
    };
    assert_eq!(get(), "one");
    release("two");
    std::thread::sleep(Duration::from_millis(1000));
    assert_eq!(get(), "two");
}

#[test]
fn a_listing_is_a_page_and_only_if_wanted() {
    let site = site();
    let listed = Site {
        files: site.files.clone().listing(true),
        folder: site.folder,
    };
    let response = listed.send("GET", "/sub/", &[]);
    assert_eq!(field(&response, "content-type"), "text/html; charset=utf-8");
    assert!(field(&response, "content-security-policy").starts_with("default-src 'none'"));
    let (_, page) = text(response);
    assert!(
        page.contains("href=\"./deep/\"")
            && page.contains("href=\"./page.html\"")
            && page.contains("href=\"../\"")
    );
    assert_eq!(listed.get("/").1, "<h1>home</h1>", "an index goes before");
}

#[test]
fn index_names_are_tried_in_order() {
    let site = site();
    let files = site.files.clone().index(["default.htm", "page.html"]);
    let response = answer(&files, Request::builder().uri("/sub/").body(()).unwrap());
    assert_eq!(text(response).1, "page");
}

#[test]
fn what_is_neither_file_nor_folder_is_not_served_and_does_not_block() {
    let site = site();
    let fifo = site.root().join("fifo");
    rustix::fs::mknodat(
        rustix::fs::CWD,
        &fifo,
        rustix::fs::FileType::Fifo,
        rustix::fs::Mode::RUSR | rustix::fs::Mode::WUSR,
        0,
    )
    .unwrap();
    assert_eq!(site.get("/fifo").0, StatusCode::NOT_FOUND);
}

#[test]
fn a_folder_that_cannot_be_served_says_so() {
    for path in ["/nonexistent/folder", "/etc/hostname"] {
        let error = Files::new(Path::new(path)).unwrap_err();
        assert!(error.to_string().contains(path), "{error}");
        assert!(matches!(error, FilesError::Root { .. }));
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]
    /// However a path is written, it never leads to the secret.
    #[test]
    fn no_path_leads_out(paths in prop::collection::vec("(/|\\.|%2e|%2f|%5c|\\\\|up|out\\.txt|secret\\.txt|sub|\\.env|%00|a){1,12}", 32)) {
        let site = site();
        for path in paths {
            let uri = format!("/{path}");
            let Ok(request) = Request::builder().uri(&uri).body(()) else { continue };
            let (status, body) = text(answer(&site.files, request));
            prop_assert!(!body.contains(SECRET), "{}", uri);
            prop_assert!(!status.is_server_error(), "{} gave {}", uri, status);
        }
    }

    /// A range of a file, in memory or not, is that part of it.
    #[test]
    fn a_range_is_that_part(first in 0..10u64, length in 1..10u64) {
        let site = site();
        let range = format!("bytes={first}-{}", first + length - 1);
        let (_, part) = text(site.send("GET", "/a%20b.txt", &[(header::RANGE.as_str(), &range)]));
        let end = (first + length).min(10) as usize;
        prop_assert_eq!(part, &"0123456789"[first as usize..end]);
    }
}
