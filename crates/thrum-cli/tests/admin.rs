//! The admin page of a running server: what it says over the wire, in a browser, and in `thrum top`.

mod support;

use std::fs;
use std::io::{Read, Write};
use std::net::SocketAddr;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Instant;

use serde_json::Value;
use support::{PATIENCE, Running, connect, get, run, thrum};

/// A server with an admin page and a site.
struct Watched {
    folder: tempfile::TempDir,
    server: Running,
}

impl Watched {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let text = format!(
            "pid-file {}\nwatch off\nadmin 127.0.0.2:0\nhttp://127.0.0.1:0 {{\n/files/ -> .\n/ok health\n}}\n",
            folder.path().join("thrum.pid").display()
        );
        fs::write(folder.path().join("thrum.conf"), text).unwrap();
        fs::write(folder.path().join("a.txt"), "a").unwrap();
        let config = folder.path().join("thrum.conf");
        let server = Running::new(thrum(&["run", config.to_str().unwrap()]));
        server.wait_for_stderr("Ctrl-C to stop");
        Self { folder, server }
    }

    fn at(&self, host: &str) -> SocketAddr {
        let mut addresses = self.server.addresses().into_iter();
        let found = addresses.find(|address| address.ip().to_string() == host);
        found.unwrap_or_else(|| panic!("{}", self.server.stderr()))
    }

    fn admin(&self) -> SocketAddr {
        self.at("127.0.0.2")
    }

    /// Asks for things until the second in which they were has been taken down.
    fn make_requests(&self) -> Value {
        let start = Instant::now();
        loop {
            for path in ["/ok", "/files/a.txt", "/files/a.txt", "/missing"] {
                get(connect(self.at("127.0.0.1")), path);
            }
            let data = self.data();
            let second = |second: &Value| second["classes"][1].as_u64() > Some(0);
            let seconds = data["seconds"].as_array().unwrap();
            if seconds.iter().filter(|one| second(one)).count() >= 2 {
                return data;
            }
            assert!(start.elapsed() < PATIENCE, "{data}");
            std::thread::sleep(std::time::Duration::from_millis(100));
        }
    }

    fn data(&self) -> Value {
        let answer = self.ask("localhost", "/data.json");
        assert!(answer.starts_with("HTTP/1.1 200 "), "{answer}");
        let (_, body) = answer.split_once("\r\n\r\n").unwrap();
        serde_json::from_str(body).unwrap()
    }

    fn ask(&self, host: &str, path: &str) -> String {
        let head = format!("GET {path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n");
        let mut stream = connect(self.admin());
        stream.write_all(head.as_bytes()).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        answer
    }
}

#[test]
fn the_numbers_over_the_wire() {
    let watched = Watched::new();
    let data = watched.make_requests();
    assert_eq!(data["not_ready"], Value::Array(Vec::new()));
    assert!(data["connections"]["accepted"].as_u64() > Some(3), "{data}");
    assert!(data["runtime"]["workers"].as_u64() > Some(0), "{data}");
    let routes = data["routes"].as_array().unwrap();
    let route = routes.iter().find(|one| one["route"] == "/files/").unwrap();
    assert!(route["requests"].as_u64() >= Some(4), "{data}");
    assert!(route["recent"].as_u64() > Some(0), "{data}");
    assert!(route["median_us"].as_u64() > Some(0), "{data}");
    // Who looks on is not among them.
    assert!(
        routes.iter().all(|one| one["site"] == "http://127.0.0.1:0"),
        "{data}"
    );
    let cache = &data["caches"][0];
    assert_eq!(cache["kind"], "files");
    assert!(cache["hits"].as_u64() > Some(0), "{data}");

    let seconds = data["seconds"].as_array().unwrap();
    let last = seconds.last().unwrap()["at"].as_u64().unwrap();
    let newer = watched.ask("localhost", &format!("/data.json?since={}", last + 1000));
    assert!(newer.contains("\"seconds\":[]"), "{newer}");
    let metrics = watched.ask("127.0.0.1", "/metrics");
    assert!(metrics.contains("thrum_http_requests_total{"), "{metrics}");
}

#[test]
fn names_that_are_led_here_are_refused() {
    let watched = Watched::new();
    for path in ["/", "/data.json", "/metrics"] {
        let answer = watched.ask("rebound.example", path);
        assert!(answer.starts_with("HTTP/1.1 403 "), "{answer}");
        assert!(!answer.contains("seconds"), "{answer}");
    }
    let page = watched.ask("localhost:9900", "/");
    assert!(page.starts_with("HTTP/1.1 200 "), "{page}");
    let head = page.to_ascii_lowercase();
    assert!(
        head.contains("content-security-policy: default-src 'none'"),
        "{page}"
    );
}

#[test]
fn top_shows_it_once_where_there_is_no_terminal() {
    let watched = Watched::new();
    watched.make_requests();
    let said = run(&["top", &watched.admin().to_string()]);
    assert_eq!(said.code(), Some(0), "{}", said.stderr);
    for needed in [
        "ready",
        "requests/s",
        "last minute",
        "2xx ",
        "http://127.0.0.1:0 /files/",
        "workers ",
    ] {
        assert!(said.stdout.contains(needed), "{needed}\n{}", said.stdout);
    }
    assert!(!said.stdout.contains('\u{1b}'), "{}", said.stdout);
}

#[test]
fn top_says_why_it_cannot() {
    let folder = tempfile::tempdir().unwrap();
    let config = folder.path().join("thrum.conf");
    fs::write(&config, "http://127.0.0.1:0 {\n/ok health\n}\n").unwrap();
    run(&["top", config.to_str().unwrap()])
        .expect(1, &["has no admin page", "admin localhost:9900"]);
    fs::write(
        &config,
        "admin :9900\nhttp://127.0.0.1:0 {\n/ok health\n}\n",
    )
    .unwrap();
    run(&["top", config.to_str().unwrap()]).expect(1, &["other machines could read"]);
    run(&["top", "127.0.0.1:1"]).expect(1, &["the server at 127.0.0.1:1 does not say"]);
}

#[test]
fn a_browser_shows_the_numbers() {
    let watched = Watched::new();
    let data = watched.make_requests();
    let url = format!("http://{}/", watched.admin());
    let screenshot = watched.folder.path().join("page.png");
    let Some(page) = chromium(watched.folder.path(), &url, &screenshot) else {
        return;
    };
    let process = format!("process {} on {}", data["pid"], watched.admin());
    for needed in [
        &process[..],
        ">ready<",
        "/files/",
        "2xx",
        "<path class=\"area\"",
        "<rect class=\"f2\"",
    ] {
        assert!(page.contains(needed), "no {needed} in\n{page}");
    }
    // A number that only the server can have said, in the place for it.
    let text = page.split_once("id=\"rate\">").unwrap().1;
    let rate = text.split_once('<').unwrap().0;
    assert!(
        rate.starts_with(|first: char| first.is_ascii_digit()),
        "{rate}"
    );
    let hits = page.split_once("<small> ").unwrap().1;
    assert!(hits.contains('%'), "{page}");
    let image = fs::read(&screenshot).unwrap();
    assert!(
        image.starts_with(b"\x89PNG") && image.len() > 10_000,
        "{} bytes",
        image.len()
    );
}

/// The page as the browser has made it after some seconds, and a picture of it. Nothing where there is no browser.
fn chromium(folder: &Path, url: &str, screenshot: &Path) -> Option<String> {
    let browse = |more: &[String]| {
        let profile = tempfile::tempdir_in(folder).unwrap();
        let mut command = Command::new("chromium");
        command
            .args([
                "--headless",
                "--no-sandbox",
                "--disable-gpu",
                "--disable-quic",
                "--no-first-run",
            ])
            .args([
                "--disable-background-networking",
                "--disable-component-update",
                "--disable-sync",
            ])
            .args([
                "--virtual-time-budget=3000",
                "--timeout=15000",
                "--window-size=1200,1400",
            ])
            .arg(format!("--user-data-dir={}", profile.path().display()))
            .args(more)
            .arg(url)
            .stdin(Stdio::null());
        match command.output() {
            Ok(output) => Some(String::from_utf8_lossy(&output.stdout).into_owned()),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                skipped();
                None
            }
            Err(error) => panic!("{error}"),
        }
    };
    let page = browse(&["--dump-dom".to_owned()])?;
    browse(&[format!("--screenshot={}", screenshot.display())])?;
    Some(page)
}

fn skipped() {
    eprintln!("skipped: chromium is not installed");
    if let Some(list) = std::env::var_os("THRUM_SKIPPED") {
        let mut list = fs::OpenOptions::new().append(true).open(list).unwrap();
        writeln!(list, "the admin page in chromium (not installed)").unwrap();
    }
}
