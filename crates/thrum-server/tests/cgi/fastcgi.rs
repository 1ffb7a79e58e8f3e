//! FastCGI to an application that says what the test wants, byte by byte.

use std::collections::BTreeMap;
use std::io::{self, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use thrum_server::fastcgi::{FastCgi, Pool};

use crate::support::*;

/// A request as the application has got it.
#[derive(Debug, Default)]
struct Asked {
    keep: bool,
    variables: BTreeMap<String, String>,
    body: Vec<u8>,
}

const STDOUT: u8 = 6;
const STDERR: u8 = 7;
const END: u8 = 3;

fn record(kind: u8, content: &[u8]) -> Vec<u8> {
    let length = u16::try_from(content.len()).unwrap().to_be_bytes();
    let mut record = vec![1, kind, 0, 1, length[0], length[1], 3, 0];
    record.extend_from_slice(content);
    record.extend_from_slice(&[9; 3]); // padding
    record
}

fn end(code: u8, protocol: u8) -> Vec<u8> {
    record(END, &[0, 0, 0, code, protocol, 0, 0, 0])
}

/// Reads a request. `None`: the connection was closed before it.
fn receive(stream: &mut TcpStream) -> io::Result<Option<Asked>> {
    let (mut asked, mut params) = (Asked::default(), Vec::new());
    loop {
        let mut head = [0; 8];
        match stream.read_exact(&mut head) {
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Ok(None),
            read => read?,
        }
        let mut content = vec![0; usize::from(u16::from_be_bytes([head[4], head[5]]))];
        stream.read_exact(&mut content)?;
        assert_eq!((head[0], head[3], head[6]), (1, 1, 0));
        match head[1] {
            1 => asked.keep = content[2] == 1,
            4 if content.is_empty() => asked.variables = variables(&params),
            4 => params.extend(content),
            5 if content.is_empty() => return Ok(Some(asked)),
            5 => asked.body.extend(content),
            2 => return Err(io::ErrorKind::ConnectionAborted.into()),
            kind => panic!("a record of type {kind}"),
        }
    }
}

fn variables(mut params: &[u8]) -> BTreeMap<String, String> {
    let mut found = BTreeMap::new();
    let length = |params: &mut &[u8]| {
        let short = params[0] < 128;
        let (length, rest) = params.split_at(if short { 1 } else { 4 });
        *params = rest;
        match short {
            true => usize::from(length[0]),
            false => u32::from_be_bytes(length.try_into().unwrap()) as usize & 0x7fff_ffff,
        }
    };
    while !params.is_empty() {
        let (name, value) = (length(&mut params), length(&mut params));
        let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
        found.insert(text(&params[..name]), text(&params[name..name + value]));
        params = &params[name + value..];
    }
    found
}

/// An application. `answer` gets each request, and writes what comes back; false: it closes the connection.
fn application(
    answer: impl Fn(Asked, &mut TcpStream) -> bool + Send + Sync + 'static,
) -> (FastCgi, Arc<AtomicUsize>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let connections = Arc::new(AtomicUsize::new(0));
    let (answer, counted) = (Arc::new(answer), connections.clone());
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let (mut stream, answer) = (stream.unwrap(), answer.clone());
            counted.fetch_add(1, Ordering::SeqCst);
            std::thread::spawn(move || {
                while let Ok(Some(asked)) = receive(&mut stream) {
                    assert!(asked.keep);
                    if !answer(asked, &mut stream) {
                        return;
                    }
                }
            });
        }
    });
    (
        FastCgi::new(address.to_string().parse().unwrap()),
        connections,
    )
}

fn page(text: &str) -> Vec<u8> {
    record(
        STDOUT,
        format!("Content-Type: text/plain\r\n\r\n{text}").as_bytes(),
    )
}

#[test]
fn requests_and_responses() {
    let (app, connections) = application(|asked, stream| {
        let of = |name: &str| asked.variables.get(name).cloned().unwrap_or("-".to_owned());
        let text = format!(
            "{} {} {} {} {}",
            of("SCRIPT_NAME"),
            of("PATH_INFO"),
            of("CONTENT_LENGTH"),
            of("A"),
            asked.body.len()
        );
        stream.write_all(&record(STDERR, b"a warning\n")).unwrap();
        stream.write_all(&[page(&text), end(0, 0)].concat()).is_ok()
    });
    let long = "x".repeat(100_000);
    serve_at(
        "/app/",
        app.parameter("A", "b").parameter("LONG", long),
        |address| {
            assert_eq!(get(address, "/app/x%20y").text(), "/app /x y - b 0");
            let head = "POST /app/ HTTP/1.1\r\nHost: x\r\nContent-Length: 200000\r\n";
            assert_eq!(
                ask(address, head, &[7; 200_000]).text(),
                "/app / 200000 b 200000"
            );
            let head = "POST /app/ HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n";
            assert_eq!(
                ask(address, head, b"3\r\nabc\r\n0\r\n\r\n").text(),
                "/app / 3 b 3"
            );
            for _ in 0..5 {
                get(address, "/app/");
            }
            assert_eq!(connections.load(Ordering::SeqCst), 1, "it is kept");
        },
    );
}

#[test]
fn bodies_that_are_too_long_to_be_held() {
    let (app, _) = application(|asked, stream| {
        let length = asked.variables.contains_key("CONTENT_LENGTH");
        let text = format!("{length} {}", asked.body.len());
        stream.write_all(&[page(&text), end(0, 0)].concat()).is_ok()
    });
    let head = "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n";
    let body = b"5\r\nabcde\r\n0\r\n\r\n";
    serve_at("/", app.clone().buffer(Some(4)), |address| {
        assert_eq!(ask(address, head, body).status, 411);
    });
    serve_at("/", app.buffer(None), |address| {
        assert_eq!(ask(address, head, body).text(), "false 5");
    });
}

#[test]
fn large_responses_come_in_pieces() {
    let (app, _) = application(|_, stream| {
        let mut all = record(STDOUT, b"Content-Ty");
        all.extend(record(STDOUT, b"pe: text/plain\n\n"));
        for _ in 0..50 {
            all.extend(record(STDOUT, &[b'x'; 60_000]));
        }
        all.extend(record(STDOUT, b""));
        all.extend(end(0, 0));
        stream.write_all(&all).is_ok()
    });
    serve_at("/", app, |address| {
        let response = get(address, "/");
        assert_eq!((response.body.len(), response.cut), (3_000_000, false));
    });
}

#[test]
fn what_goes_wrong() {
    let (app, _) = application(|asked, stream| {
        let (bytes, goes_on) = match asked.variables["PATH_INFO"].as_str() {
            "/overloaded" => (end(0, 2), true),
            "/silent" => (end(0, 0), true),
            "/closed" => (Vec::new(), false),
            "/http" => (b"HTTP/1.1 200 OK\r\n\r\n".to_vec(), false),
            "/failed" => ([page("part"), end(1, 0)].concat(), true),
            "/cut" => (page("part"), false),
            _ => {
                std::thread::sleep(Duration::from_secs(5));
                (Vec::new(), false)
            }
        };
        stream.write_all(&bytes).is_ok() && goes_on
    });
    serve_at("/", app.timeout(Duration::from_millis(300)), |address| {
        for name in ["overloaded", "silent", "closed", "http"] {
            assert_eq!(get(address, &format!("/{name}")).status, 502, "{name}");
        }
        for name in ["failed", "cut"] {
            let response = get(address, &format!("/{name}"));
            assert_eq!(
                (response.status, response.text(), response.cut),
                (200, "part", true)
            );
        }
        assert_eq!(get(address, "/slow").status, 504);
    });
    let nobody = FastCgi::new("unix:/nowhere/at/all".parse().unwrap());
    serve_at("/", nobody, |address| {
        assert_eq!(get(address, "/").status, 502)
    });
}

/// An application may close a connection at the moment when it is used again.
#[test]
fn a_kept_connection_that_is_closed() {
    let asked_before = Arc::new(AtomicUsize::new(0));
    let (app, connections) = application(move |_, stream| {
        // Every second request meets a connection that is closed without an answer.
        if asked_before.fetch_add(1, Ordering::SeqCst) % 2 == 1 {
            return false;
        }
        stream
            .write_all(&[page("here"), end(0, 0)].concat())
            .is_ok()
    });
    serve_at("/", app, |address| {
        for _ in 0..4 {
            assert_eq!(get(address, "/").text(), "here");
        }
        assert!(connections.load(Ordering::SeqCst) >= 3);
        // What may have been done is not done again.
        let head = "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\n";
        let statuses: Vec<_> = (0..4).map(|_| ask(address, head, b"x").status).collect();
        assert!(statuses.contains(&502), "{statuses:?}");
    });
}

#[test]
fn connections_are_not_kept_for_ever() {
    let (ended, ends) = std::sync::mpsc::channel();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        receive(&mut stream).unwrap();
        stream
            .write_all(&[page("here"), end(0, 0)].concat())
            .unwrap();
        ended.send(receive(&mut stream).unwrap().is_none()).unwrap();
    });
    let keep = Some(Duration::from_millis(50));
    let pool = Arc::new(Pool::keeping(address.to_string().parse().unwrap(), keep));
    serve_at("/", FastCgi::with_pool(pool), |address| {
        assert_eq!(get(address, "/").text(), "here");
        assert_eq!(
            ends.recv_timeout(SECONDS),
            Ok(true),
            "the connection is closed"
        );
    });
}

#[test]
fn a_client_that_leaves_aborts() {
    let (aborted, aborts) = std::sync::mpsc::channel();
    let (app, _) = application(move |_, stream| {
        stream.write_all(&page("part")).unwrap();
        let end = receive(stream).map(|asked| asked.is_none());
        aborted.send(end.map_err(|error| error.kind())).unwrap();
        false
    });
    serve_at("/", app, |address| {
        let mut stream = connect(address);
        stream
            .write_all(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")
            .unwrap();
        assert!(stream.read(&mut [0; 1000]).unwrap() > 0);
        drop(stream);
        let end = aborts.recv_timeout(SECONDS).unwrap();
        assert_eq!(
            end,
            Err(io::ErrorKind::ConnectionAborted),
            "by a record of its own"
        );
    });
}
