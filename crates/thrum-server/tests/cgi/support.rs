//! A folder of programs, a server that runs them, and requests to it.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use tempfile::TempDir;
use thrum_http::{Application, Body, Request, Server, service_fn};
use thrum_rt::net::TcpListener;
use thrum_server::cgi::Cgi;
use thrum_server::config::{Config, Problem};
use thrum_server::site::{App, Handler, Kept, Route, Sites, TABLES, Visit};

pub(crate) const SECONDS: Duration = Duration::from_secs(30);

/// A folder of programs.
pub(crate) struct Programs(TempDir);

impl Programs {
    pub(crate) fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.0.path().canonicalize().unwrap().join(name)
    }

    /// Adds a script of the shell.
    pub(crate) fn shell(self, name: &str, script: &str) -> Self {
        self.file(name, &format!("#!/bin/sh\n{script}\n"), 0o755)
    }

    pub(crate) fn file(self, name: &str, text: &str, mode: u32) -> Self {
        let path = self.path(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        // Written by a process of its own: a file that is open for writing, be it in a child that another test has just
        // forked, may not be run.
        let mut child = std::process::Command::new("sh")
            .args(["-c", "cat > \"$0\"", path.to_str().unwrap()])
            .stdin(std::process::Stdio::piped())
            .spawn()
            .unwrap();
        child
            .stdin
            .take()
            .unwrap()
            .write_all(text.as_bytes())
            .unwrap();
        assert!(child.wait().unwrap().success());
        std::fs::set_permissions(&path, PermissionsExt::from_mode(mode)).unwrap();
        self
    }

    pub(crate) fn cgi(&self) -> Cgi {
        Cgi::new(self.0.path()).unwrap()
    }

    /// Waits for a file that a program writes, and reads it.
    pub(crate) fn written(&self, name: &str) -> String {
        let path = self.path(name);
        wait_for(|| {
            std::fs::read_to_string(&path)
                .ok()
                .filter(|text| text.ends_with('\n'))
        })
    }
}

/// Asks again and again, for some seconds.
pub(crate) fn wait_for<T>(mut ask: impl FnMut() -> Option<T>) -> T {
    let start = Instant::now();
    loop {
        if let Some(found) = ask() {
            return found;
        }
        assert!(start.elapsed() < SECONDS, "it does not happen");
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// Waits until a process has ended and been waited for.
pub(crate) fn gone(pid: &str) {
    let process = PathBuf::from(format!("/proc/{}", pid.trim()));
    wait_for(|| (!process.exists()).then_some(()));
}

/// Serves `/cgi-bin/` while `test` runs.
pub(crate) fn serve(cgi: Cgi, test: impl FnOnce(SocketAddr)) {
    serve_at("/cgi-bin/", cgi, test);
}

pub(crate) fn serve_at(mount: &str, handler: impl Handler + Clone, test: impl FnOnce(SocketAddr)) {
    let route = Arc::new(Route {
        mount: mount.to_owned(),
        ..Route::default()
    });
    let service = service_fn(move |request: Request<Body>| {
        let connection = thrum_http::connection().unwrap();
        let mut visit = Visit::new(connection.peer.map(|peer| peer.ip()), false);
        visit.route = route.clone();
        let user = request.headers().get("x-user");
        visit.user = user.map(|user| user.to_str().unwrap().into());
        handler.handle(request, visit).response()
    });
    serve_application(service, test);
}

/// Serves the one site of a configuration while `test` runs.
pub(crate) fn serve_config(routes: &str, test: impl FnOnce(SocketAddr)) {
    let sites = build(routes).unwrap_or_else(|problems| panic!("{problems:?}"));
    thrum_rt::block_on(async {
        let endpoint = sites.endpoints().next().unwrap().0.clone();
        let app = App::new(sites).at(endpoint);
        listen(app, test).await;
    });
}

/// What is wrong with the routes of a configuration.
pub(crate) fn problems(routes: &str) -> Vec<String> {
    build(routes).err().unwrap_or_default()
}

fn build(routes: &str) -> Result<Sites, Vec<String>> {
    let messages = |problems: &[Problem]| {
        let messages = problems.iter().map(|problem| problem.message.clone());
        messages.collect::<Vec<_>>()
    };
    let text = format!(":8080 {{\n{routes}\n}}\n");
    let config = Config::parse(&text, &TABLES).map_err(|report| messages(report.problems()))?;
    Sites::build(&config, &Kept::default()).map_err(|problems| messages(&problems))
}

fn serve_application(application: impl Application, test: impl FnOnce(SocketAddr)) {
    thrum_rt::block_on(listen(application, test));
}

async fn listen(application: impl Application, test: impl FnOnce(SocketAddr)) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let server = Server::new();
    let serving = server.clone();
    let task = thrum_rt::spawn(async move { serving.serve(listener, application).await });
    thrum_rt::blocking(|| test(address));
    server.shutdown(Duration::from_secs(5)).await;
    task.abort();
}

/// A response: status, head, and body without its chunks; `cut` if it ends before its end.
#[derive(Debug)]
pub(crate) struct Response {
    pub(crate) status: u16,
    pub(crate) head: String,
    pub(crate) body: Vec<u8>,
    pub(crate) cut: bool,
}

impl Response {
    pub(crate) fn text(&self) -> &str {
        std::str::from_utf8(&self.body).unwrap()
    }

    pub(crate) fn field(&self, name: &str) -> Option<&str> {
        let mut lines = self.head.lines().filter_map(|line| line.split_once(": "));
        lines.find_map(|(found, value)| found.eq_ignore_ascii_case(name).then_some(value))
    }
}

pub(crate) fn connect(address: SocketAddr) -> TcpStream {
    let stream = TcpStream::connect(address).unwrap();
    stream.set_read_timeout(Some(SECONDS)).unwrap();
    stream.set_write_timeout(Some(SECONDS)).unwrap();
    stream
}

pub(crate) fn get(address: SocketAddr, target: &str) -> Response {
    ask(
        address,
        &format!("GET {target} HTTP/1.1\r\nHost: www.example.com:8080\r\n"),
        b"",
    )
}

/// Sends a head, to which what ends it is added, and a body; reads the response.
pub(crate) fn ask(address: SocketAddr, head: &str, body: &[u8]) -> Response {
    let mut stream = connect(address);
    stream
        .write_all(format!("{head}Connection: close\r\n\r\n").as_bytes())
        .unwrap();
    let mut sending = stream.try_clone().unwrap();
    std::thread::scope(|scope| {
        scope.spawn(move || sending.write_all(body));
        read(stream)
    })
}

pub(crate) fn read(mut stream: TcpStream) -> Response {
    let mut all = Vec::new();
    let lost = stream.read_to_end(&mut all).is_err();
    let end = all.windows(4).position(|four| four == b"\r\n\r\n");
    let end = end.unwrap_or_else(|| panic!("no head: {:?}", String::from_utf8_lossy(&all)));
    let head = String::from_utf8(all[..end].to_vec()).unwrap();
    let rest = &all[end + 4..];
    let mut response = Response {
        status: head[9..12].parse().unwrap(),
        head,
        body: rest.to_vec(),
        cut: lost,
    };
    if response.field("transfer-encoding") == Some("chunked") {
        let (body, whole) = unchunk(rest);
        response.body = body;
        response.cut |= !whole;
    } else if let Some(length) = response.field("content-length") {
        response.cut |= rest.len() < length.parse::<usize>().unwrap();
    }
    response
}

/// A body without its chunks, and whether it has an end.
fn unchunk(mut rest: &[u8]) -> (Vec<u8>, bool) {
    let mut body = Vec::new();
    loop {
        let Some(end) = rest.windows(2).position(|two| two == b"\r\n") else {
            return (body, false);
        };
        let size = std::str::from_utf8(&rest[..end]).unwrap();
        let size = usize::from_str_radix(size, 16).unwrap();
        rest = &rest[end + 2..];
        if size == 0 {
            return (body, true);
        }
        let size = size.min(rest.len());
        body.extend_from_slice(&rest[..size]);
        rest = rest.get(size + 2..).unwrap_or_default();
    }
}

/// Notes a test that could not run.
pub(crate) fn skipped(what: &str, program: &str) {
    eprintln!("skipped: {program} is not installed");
    if let Some(list) = std::env::var_os("THRUM_SKIPPED") {
        let mut list = std::fs::OpenOptions::new().append(true).open(list).unwrap();
        writeln!(list, "{what} ({program} is not installed)").unwrap();
    }
}
