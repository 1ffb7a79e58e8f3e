//! The wall clock is set by an hour, back and forth, while the server runs.

use std::fs::OpenOptions;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use crate::support::place::Place;
use crate::support::{Running, connect, get_and_stay, wait_for};

/// For how long the upstream's pages are good.
const FRESH: Duration = Duration::from_secs(2);

#[test]
fn a_clock_that_is_set_harms_nobody() {
    let Some(library) = faketime() else {
        return skipped();
    };
    let upstream = upstream();
    let place = Place::new("");
    let folder = place.folder.path();
    std::fs::write(folder.join("small.txt"), "small").unwrap();
    place.write(&format!(
        "store memory\n\
         127.0.0.1:0 {{\n\
         \x20log access.log combined {{ rotate hourly }}\n\
         \x20/cached/ >> {upstream} {{ cache on }}\n\
         \x20/app/ >> {upstream} {{ sessions {{ forward on; idle 3h }} }}\n\
         \x20/notes/ kv notes {{ write anyone }}\n\
         \x20/limited respond 200 admitted {{ limit-rate 2/s {{ burst 1 }} }}\n\
         \x20/ -> .\n}}\n"
    ));
    let setting = Setting(folder.join("offset"));
    setting.set(0);
    let mut command = place.command(&["--no-sandbox"]);
    command
        .env("LD_PRELOAD", library)
        .env("FAKETIME_TIMESTAMP_FILE", &setting.0)
        .env("FAKETIME_NO_CACHE", "1")
        .env("FAKETIME_DONT_FAKE_MONOTONIC", "1")
        .env("NO_FAKE_STAT", "1");
    let server = Running::new(command);
    server.wait_for_stderr("Ctrl-C to stop");
    let mut visit = Visit::begin(&server);

    for hours in [0, -1, 1, -1, 0] {
        // A page is kept, and while it is the clock is set.
        let page = visit.page();
        let kept = Instant::now();
        setting.set(hours);
        let now = visit.now();
        let same = visit.page();
        assert!(
            same == page || kept.elapsed() >= FRESH,
            "at {hours} h it is not kept"
        );
        visit.is_well();
        // It is kept no longer than it may, for all that.
        thread::sleep((FRESH + Duration::from_millis(500)).saturating_sub(kept.elapsed()));
        assert!(visit.page() > page, "at {hours} h it is kept for too long");
        assert_eq!(place.tell("reload").code(), Some(0));
        eprintln!("{hours:+} h: the server takes it to be {now}, and all is well");
    }
    let said = server.stderr();
    assert!(!said.contains("panicked"), "{said}");
    let files = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name());
    let logs: Vec<_> = files
        .filter(|name| name.to_string_lossy().starts_with("access.log"))
        .collect();
    assert!(logs.len() <= 2, "{logs:?}");
    assert_eq!(place.tell("stop").code(), Some(0));
    let said = server.ended();
    assert_eq!(said.code(), Some(0), "{}", said.stderr);
}

/// By how much the clock is off, in a file that the library reads.
struct Setting(PathBuf);

impl Setting {
    fn set(&self, hours: i32) {
        let aside = self.0.with_extension("new");
        std::fs::write(&aside, format!("{:+}\n", hours * 3600)).unwrap();
        std::fs::rename(aside, &self.0).unwrap();
    }
}

/// A visitor, over one connection for all of it.
struct Visit {
    address: SocketAddr,
    stream: TcpStream,
    cookie: String,
}

impl Visit {
    fn begin(server: &Running) -> Self {
        let address = server.addresses()[0];
        let mut visit = Self {
            address,
            stream: connect(address),
            cookie: String::new(),
        };
        let (head, _) = visit.ask("GET", "/app/login", "");
        let set = field(&head, "set-cookie").expect("a session begins");
        visit.cookie = set.split(';').next().unwrap().to_owned();
        let (head, _) = visit.ask("PUT", "/notes/lasting", "Cache-Control: max-age=10800\r\n");
        assert!(head.starts_with("HTTP/1.1 2"), "{head}");
        visit
    }

    /// The number of the page that is kept.
    fn page(&mut self) -> u64 {
        let (head, body) = self.ask("GET", "/cached/page", "");
        body.parse().unwrap_or_else(|_| panic!("{head}{body}"))
    }

    /// What time the server takes it to be.
    fn now(&mut self) -> String {
        let (head, _) = self.ask("PUT", "/notes/now", "");
        assert!(head.starts_with("HTTP/1.1 2"), "{head}");
        let (head, _) = self.ask("GET", "/notes/now", "");
        field(&head, "last-modified").unwrap().to_owned()
    }

    /// What was there before the clock was set is there, and what has to be waited for comes soon.
    fn is_well(&mut self) {
        let (head, body) = self.ask("GET", "/app/", "");
        assert!(body.contains("\"visitor\":7"), "{head}{body}");
        let (head, _) = self.ask("GET", "/notes/lasting", "");
        assert!(head.starts_with("HTTP/1.1 200 "), "{head}");
        let start = Instant::now();
        wait_for("another turn", || {
            self.ask("GET", "/limited", "").1 == "admitted"
        });
        assert!(start.elapsed() < Duration::from_secs(5));
        get_and_stay(&mut connect(self.address), "/small.txt", "small");
    }

    fn ask(&mut self, method: &str, path: &str, fields: &str) -> (String, String) {
        let cookie = match &self.cookie[..] {
            "" => String::new(),
            cookie => format!("Cookie: {cookie}\r\n"),
        };
        let body = if method == "PUT" { "text" } else { "" };
        write!(
            self.stream,
            "{method} {path} HTTP/1.1\r\nHost: test\r\n{cookie}{fields}Content-Length: {}\r\n\r\n{body}",
            body.len()
        )
        .unwrap();
        answer(&mut self.stream)
    }
}

/// A response with a length: its head, in lower case but for values, and its body.
fn answer(stream: &mut TcpStream) -> (String, String) {
    let mut head = Vec::new();
    let mut byte = [0];
    while !head.ends_with(b"\r\n\r\n") {
        stream.read_exact(&mut byte).unwrap();
        head.extend_from_slice(&byte);
    }
    let head = String::from_utf8(head).unwrap();
    let length = field(&head, "content-length").map_or(0, |length| length.parse().unwrap());
    let mut body = vec![0; length];
    stream.read_exact(&mut body).unwrap();
    (head, String::from_utf8(body).unwrap())
}

fn field<'a>(head: &'a str, name: &str) -> Option<&'a str> {
    let fields = head.lines().filter_map(|line| line.split_once(": "));
    let mut found = fields.filter(|(field, _)| field.eq_ignore_ascii_case(name));
    found.next().map(|(_, value)| value)
}

/// Gives a number, another one each time, that may be kept; or says what it was told of a session.
fn upstream() -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    thread::spawn(move || {
        let numbers = AtomicU64::new(1);
        for stream in listener.incoming() {
            let _ = serve(stream.unwrap(), &numbers);
        }
    });
    address
}

fn serve(mut stream: TcpStream, numbers: &AtomicU64) -> std::io::Result<()> {
    let mut lines = BufReader::new(stream.try_clone()?).lines();
    let first = lines.next().unwrap_or_else(|| Ok(String::new()))?;
    let mut data = String::new();
    for line in lines {
        let line = line?;
        if line.is_empty() {
            break;
        }
        if let Some((_, value)) = line
            .split_once(": ")
            .filter(|(name, _)| name.eq_ignore_ascii_case("x-session-data"))
        {
            data = value.to_owned();
        }
    }
    let (fields, body) = match first.split(' ').nth(1) {
        Some("/app/login") => ("X-Session-Data: {\"visitor\":7}", String::new()),
        Some(path) if path.starts_with("/app/") => ("Cache-Control: no-store", data),
        _ => {
            let number = numbers.fetch_add(1, Ordering::Relaxed);
            ("Cache-Control: max-age=2", number.to_string())
        }
    };
    write!(
        stream,
        "HTTP/1.1 200 OK\r\n{fields}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{body}",
        body.len()
    )
}

/// The library that has a program see another time.
fn faketime() -> Option<PathBuf> {
    let folders = ["/usr/lib", "/usr/local/lib", "/usr/lib64"].map(PathBuf::from);
    let inner = std::fs::read_dir("/usr/lib")
        .into_iter()
        .flatten()
        .flatten();
    let all = folders.into_iter().chain(inner.map(|entry| entry.path()));
    let mut libraries = all.map(|folder| folder.join("faketime/libfaketimeMT.so.1"));
    libraries.find(|library| library.exists())
}

fn skipped() {
    eprintln!("skipped: faketime is not installed");
    if let Some(list) = std::env::var_os("THRUM_SKIPPED") {
        let mut list = OpenOptions::new().append(true).open(list).unwrap();
        writeln!(list, "a clock that is set (faketime is not installed)").unwrap();
    }
}
