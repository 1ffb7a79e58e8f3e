//! Files and error pages through their public faces.

mod config;
mod error_pages;
mod forms;
mod names;
mod service;

use std::fs;
use std::os::unix::fs::symlink;

use futures_lite::future::block_on;
use http::{Request, Response, StatusCode};
use thrum_http::Body;
use thrum_server::files::Files;

pub(crate) const SECRET: &str = "this must never be seen";

/// A folder with a secret beside it.
struct Site {
    folder: tempfile::TempDir,
    files: Files,
}

fn site() -> Site {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().join("root");
    fs::create_dir_all(root.join("sub/deep")).unwrap();
    fs::create_dir_all(root.join(".git")).unwrap();
    fs::create_dir_all(root.join(".well-known")).unwrap();
    fs::write(folder.path().join("secret.txt"), SECRET).unwrap();
    fs::write(root.join("index.html"), "<h1>home</h1>").unwrap();
    fs::write(root.join("a b.txt"), "0123456789").unwrap();
    fs::write(root.join("large.bin"), vec![7; 200_000]).unwrap();
    fs::write(root.join("empty"), "").unwrap();
    fs::write(root.join(".env"), SECRET).unwrap();
    fs::write(root.join(".git/config"), SECRET).unwrap();
    fs::write(root.join(".well-known/x"), "known").unwrap();
    fs::write(root.join("sub/page.html"), "page").unwrap();
    symlink("../secret.txt", root.join("out.txt")).unwrap();
    symlink(folder.path(), root.join("up")).unwrap();
    symlink("sub/page.html", root.join("within.html")).unwrap();
    let files = Files::new(&root).unwrap();
    Site { folder, files }
}

impl Site {
    fn root(&self) -> std::path::PathBuf {
        self.folder.path().join("root")
    }

    fn send(&self, method: &str, uri: &str, fields: &[(&str, &str)]) -> Response<Body> {
        let mut request = Request::builder().method(method).uri(uri);
        for (name, value) in fields {
            request = request.header(*name, *value);
        }
        answer(&self.files, request.body(()).unwrap())
    }

    fn get(&self, uri: &str) -> (StatusCode, String) {
        text(self.send("GET", uri, &[]))
    }
}

fn text(response: Response<Body>) -> (StatusCode, String) {
    let status = response.status();
    let bytes = block_on(response.into_body().bytes(1_000_000)).unwrap();
    (status, String::from_utf8_lossy(&bytes).into_owned())
}

fn field<'a>(response: &'a Response<Body>, name: &str) -> &'a str {
    response
        .headers()
        .get(name)
        .map_or("", |value| value.to_str().unwrap())
}

fn answer(files: &Files, request: Request<()>) -> Response<Body> {
    block_on(files.answer(&request).response())
}
