//! The examples, run as programs.

use std::io::{BufRead, BufReader, Write};
use std::net::{Shutdown, TcpStream};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// A program that listens; it says where in its first line, and is killed at the end.
struct Listening {
    child: Child,
    address: String,
}

impl Listening {
    fn start(program: &str) -> Self {
        Self::start_with(program, &[])
    }

    /// With these arguments ahead of the address.
    fn start_with(program: &str, arguments: &[&std::path::Path]) -> Self {
        Self::run(Command::new(program).args(arguments))
    }

    fn run(command: &mut Command) -> Self {
        let mut child = command
            .arg("127.0.0.1:0")
            .env("THRUM_WORKERS", "1")
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap())
            .read_line(&mut line)
            .unwrap();
        let address = line
            .trim()
            .trim_start_matches("http://")
            .trim_start_matches("https://")
            .trim_end_matches('/')
            .to_owned();
        Self { child, address }
    }

    fn send(&self, text: &str) -> TcpStream {
        let mut stream = TcpStream::connect(&self.address).unwrap();
        stream
            .set_read_timeout(Some(Duration::from_secs(60)))
            .unwrap();
        stream.write_all(text.as_bytes()).unwrap();
        stream
    }

    /// Says something and no more, and reads all that comes back.
    fn say(&self, text: &str) -> String {
        let stream = self.send(text);
        stream.shutdown(Shutdown::Write).unwrap();
        std::io::read_to_string(stream).unwrap()
    }

    /// A client that has closed its end counts as gone for HTTP, so this one leaves that open.
    fn ask(&self, request: &str) -> String {
        std::io::read_to_string(self.send(request)).unwrap()
    }

    fn get(&self, path: &str) -> String {
        self.ask(&format!(
            "GET {path} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"
        ))
    }
}

impl Drop for Listening {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn pong_says_pong() {
    let answer = Listening::start(env!("CARGO_BIN_EXE_pong")).get("/");
    assert!(
        answer.starts_with("HTTP/1.1 200 OK\r\n") && answer.ends_with("Pong!\r\n"),
        "{answer}"
    );
}

#[test]
fn simple_servers_say_pong_in_three_styles() {
    for program in [
        env!("CARGO_BIN_EXE_simple_callbacks"),
        env!("CARGO_BIN_EXE_simple_tasks"),
        env!("CARGO_BIN_EXE_simple_threads"),
    ] {
        let server = Listening::start(program);
        for _ in 0..3 {
            let answer = server.get("/");
            assert!(answer.ends_with("\r\n\r\nPong!\r\n"), "{program}: {answer}");
        }
    }
}

#[test]
fn pong_tls_takes_certificates_from_files() {
    let folder = tempfile::tempdir().unwrap();
    let (chain, key) = (
        folder.path().join("chain.pem"),
        folder.path().join("key.pem"),
    );
    let certified = rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap();
    std::fs::write(&chain, certified.cert.pem()).unwrap();
    std::fs::write(&key, certified.signing_key.serialize_pem()).unwrap();
    let server = Listening::start_with(env!("CARGO_BIN_EXE_pong_tls"), &[&chain, &key]);
    let answer = server.get("/");
    assert!(answer.contains("This port speaks HTTPS"), "{answer}");

    let url = format!("https://{}/", server.address);
    match Command::new("curl")
        .args(["-sk", "--http1.1", &url])
        .output()
    {
        Ok(pong) => assert_eq!(pong.stdout, b"Pong!\r\n"),
        Err(error) => eprintln!("skipped: curl cannot be run: {error}"),
    }
}

#[test]
#[cfg(feature = "axum")]
fn axum_routes() {
    let server = Listening::start(env!("CARGO_BIN_EXE_axum"));
    assert!(server.get("/").ends_with("\r\n\r\nPong!\r\n"));
    let answer = server.get("/hello/warp");
    let expected = "\r\n\r\nHello, warp! You are visitor 1.\r\n";
    assert!(answer.ends_with(expected), "{answer}");
}

#[test]
#[cfg(feature = "axum")]
fn axum_routes_of_the_book() {
    let server = Listening::start(env!("CARGO_BIN_EXE_routes"));
    let answer = server.get("/api/orders/7");
    assert!(answer.contains("\r\nx-api-version: 1\r\n"), "{answer}");
    assert!(
        answer.contains(r#"{"id":7,"shop":"Warp and weft","#),
        "{answer}"
    );
    let answer = server.get("/api/carts?from=8&count=3");
    assert!(answer.ends_with("\r\n\r\n[8,9,10]"), "{answer}");
}

#[test]
fn visitors_are_counted_over_a_restart() {
    let folder = tempfile::tempdir().unwrap();
    let start = || {
        let mut command = Command::new(env!("CARGO_BIN_EXE_sessions"));
        Listening::run(command.env("STORE", folder.path().join("sessions.redb")))
    };
    let visit = |server: &Listening, path: &str, cookie: &str| {
        let head = format!("GET {path} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n");
        server.ask(&format!("{head}Cookie: {cookie}\r\n\r\n"))
    };
    let server = start();
    let first = visit(&server, "/", "none=");
    assert!(first.ends_with("your visit 1\n"), "{first}");
    let (_, cookie) = first.split_once("set-cookie: ").unwrap();
    let cookie = cookie.split(';').next().unwrap();
    assert!(visit(&server, "/", cookie).ends_with("your visit 2\n"));
    assert!(visit(&server, "/", "session=forged").ends_with("your visit 1\n"));
    drop(server);
    let server = start();
    assert!(visit(&server, "/", cookie).ends_with("your visit 3\n"));
    assert!(visit(&server, "/bye", cookie).contains("Max-Age=0"));
    assert!(visit(&server, "/", cookie).ends_with("your visit 1\n"));
}

#[test]
#[cfg(feature = "sqlite")]
fn notes_are_kept_and_a_slow_query_holds_up_nobody() {
    let folder = tempfile::tempdir().unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_sqlite"));
    let server = Listening::run(command.env("NOTES", folder.path().join("notes.db")));
    let post = |text: &str| {
        let head = "POST /notes HTTP/1.1\r\nHost: a\r\nConnection: close\r\n";
        let request = format!("{head}Content-Length: {}\r\n\r\n{text}", text.len());
        std::io::read_to_string(server.send(&request)).unwrap()
    };
    assert!(post("buy milk").ends_with("\r\n\r\n{\"id\":1}"));
    assert!(post("call mum").ends_with("\r\n\r\n{\"id\":2}"));
    let answer = server.get("/notes/2");
    assert!(answer.ends_with("\r\n\r\ncall mum"), "{answer}");
    assert!(server.get("/notes/3").starts_with("HTTP/1.1 404 "));
    assert!(server.get("/notes/x").starts_with("HTTP/1.1 400 "));

    let mut slow =
        server.send("GET /slow/2000000 HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n");
    slow.set_nonblocking(true).unwrap();
    for n in 0.. {
        assert!(server.get("/notes").contains("[1,2]"));
        let unanswered = std::io::Read::read(&mut slow, &mut [0; 9]).is_err();
        if n == 5 {
            assert!(unanswered, "the others waited for the slow query");
        }
        if !unanswered {
            break;
        }
    }
}

#[test]
fn doubling_doubles_and_says_thanks() {
    let server = Listening::start(env!("CARGO_BIN_EXE_doubling"));
    let answer = server.say("7\n-3\nx\n9223372036854775807\n1\nend\n5\n");
    let lines: Vec<_> = answer.lines().collect();
    let expected = ["14", "-6", "not an integer: x", "18446744073709551614", "2"];
    assert_eq!(lines[..5], expected);
    assert!(
        lines[5].starts_with("Thank you") && lines.len() == 6,
        "nothing after the end: {answer}"
    );
    assert_eq!(
        server.say("8\n9"),
        "16\n18\n",
        "the last line may lack its end"
    );
    assert_eq!(
        server.say("8\r\nend\r\n").lines().count(),
        2,
        "as telnet sends it"
    );
    assert_eq!(
        server.say(&"1".repeat(4097)),
        "lines: longer than 4096 bytes\n"
    );
}

#[test]
fn the_fast_route_does_not_wait_for_the_slow_one() {
    let server = Listening::start(env!("CARGO_BIN_EXE_fibs"));
    std::thread::scope(|scope| {
        let slow = scope.spawn(|| {
            let begin = Instant::now();
            let answer = server.get("/fib/42");
            (answer, begin.elapsed())
        });
        std::thread::sleep(Duration::from_millis(20));
        let begin = Instant::now();
        for _ in 0..10 {
            assert!(server.get("/square/12").ends_with("\r\n144\n"));
        }
        let fast = begin.elapsed();
        let (answer, slow) = slow.join().unwrap();
        assert!(answer.ends_with("\r\n267914296\n"), "{answer}");
        assert!(
            fast < slow,
            "ten fast ones took {fast:?}, the slow one {slow:?}"
        );
    });
    assert!(server.get("/square/x").starts_with("HTTP/1.1 404"));
}

/// What a program prints that ends by itself, and well.
fn printed(program: &str, arguments: &[&str]) -> String {
    let output = Command::new(program).args(arguments).output().unwrap();
    assert!(output.status.success(), "{output:?}");
    String::from_utf8(output.stdout).unwrap()
}

/// The figure in the line that begins with these words.
fn figure(text: &str, words: &str) -> f64 {
    let line = text.lines().find_map(|line| line.strip_prefix(words));
    let number = line.and_then(|line| line.split_whitespace().next());
    number
        .and_then(|number| number.parse().ok())
        .unwrap_or_else(|| panic!("no {words:?} in {text}"))
}

#[test]
fn spawn_creates_and_destroys() {
    let text = printed(env!("CARGO_BIN_EXE_spawn"), &["1000"]);
    assert_eq!(text, "Created 1000 threads.\nDestroyed 1000 threads.\n");
}

#[test]
fn pipes_carry_each_message() {
    for arguments in ["1 1", "20 1000", "600 1200", "20 1000 60"] {
        let arguments: Vec<_> = arguments.split(' ').collect();
        let text = printed(env!("CARGO_BIN_EXE_pipes"), &arguments);
        assert!(figure(&text, "") >= 0.0, "{text}");
        assert!(text.contains("the kernel was asked by epoll"), "{text}");
    }
}

#[test]
fn timers_fire_when_they_are_due() {
    for count in ["1", "2001"] {
        let text = printed(env!("CARGO_BIN_EXE_timers"), &[count]);
        let (median, most) = (figure(&text, "late p50"), figure(&text, "late max"));
        assert!(0.0 <= median && median <= most, "{text}");
        assert!(most < 10_000.0, "{text}");
    }
}

#[test]
fn switch_measures_each_step() {
    let text = printed(env!("CARGO_BIN_EXE_switch"), &["100"]);
    for step in [
        "spawn and join",
        "wake across workers",
        "timer insert and cancel",
    ] {
        assert!(figure(&text, step) > 0.0, "{text}");
    }
}

#[test]
fn cpu_says_how_the_two_compare() {
    let fibs = Listening::start(env!("CARGO_BIN_EXE_fibs"));
    let url = format!("http://{}/fib/25", fibs.address);
    for argument in ["25", &url] {
        let text = printed(env!("CARGO_BIN_EXE_cpu"), &[argument]);
        assert!(
            figure(&text, "one after the other") > 0.0 && figure(&text, "ratio") > 0.0,
            "{text}"
        );
    }
}

#[test]
fn echo_sends_back_what_it_is_sent() {
    let server = Listening::start(env!("CARGO_BIN_EXE_echo"));
    let text = "twice as long as its buffer\n".repeat(300);
    assert_eq!(server.say(&text), text);
}

const REQUEST: &str = "GET /a HTTP/1.1\r\nHost: example.org\r\nAccept: */*\r\n\r\n";

/// Runs parse_requests over a file of this text, whole and in pieces: what it prints, or what it complains of.
fn parse_requests(text: &str) -> Vec<Result<String, String>> {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("requests");
    std::fs::write(&file, text).unwrap();
    let run = |chunk: Option<&str>| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_parse_requests"));
        let output = command.arg(&file).args(chunk).output().unwrap();
        let text = |bytes| String::from_utf8(bytes).unwrap();
        match output.status.code() {
            Some(0) => Ok(text(output.stdout)),
            Some(1) => Err(text(output.stderr)),
            _ => panic!("{output:?}"),
        }
    };
    let pieces = [None, Some("1"), Some("7"), Some("65536")];
    pieces.into_iter().map(run).collect()
}

#[test]
fn parse_requests_counts_them_whole_and_in_pieces() {
    for printed in parse_requests(&REQUEST.repeat(1000)) {
        let printed = printed.unwrap();
        let expected = format!(
            "1000 requests, 2000 header fields, {} bytes, ",
            1000 * REQUEST.len()
        );
        assert!(printed.starts_with(&expected), "{printed}");
        assert!(printed.contains("parsed in "), "{printed}");
        assert!(printed.ends_with(" MB/s\n"), "{printed}");
    }
    for printed in parse_requests("") {
        assert!(printed.unwrap().starts_with("0 requests, "));
    }
}

#[test]
fn parse_requests_shows_where_a_request_is_malformed() {
    let wrong = [REQUEST, REQUEST, "GET /b HTTP/1.1\r\nHost : a\r\n\r\n"].concat();
    let at = 2 * REQUEST.len() + "GET /b HTTP/1.1\r\nHost".len();
    for error in parse_requests(&wrong) {
        let error = error.unwrap_err();
        let expected = format!("byte {at}, in request 3: there is space between");
        assert!(error.contains(&expected), "{error}");
        assert!(
            error.contains("\n2:5: expected ':', found ' '\n  Host"),
            "{error}"
        );
        assert!(error.ends_with("\n      ^\n"), "{error}");
    }
    for error in parse_requests(&REQUEST[..REQUEST.len() - 3]) {
        assert!(
            error
                .unwrap_err()
                .contains("the input ended inside the head")
        );
    }
    let without_end = format!("GET / HTTP/1.1\r\nA: {}", "a".repeat(100_000));
    for error in parse_requests(&without_end) {
        assert!(error.unwrap_err().contains("the head is too large"));
    }
}

#[test]
fn parse_requests_parses_responses_too() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("responses");
    std::fs::write(&file, "HTTP/1.1 200 OK\r\nA: b\r\n\r\n".repeat(5)).unwrap();
    for chunk in [None, Some("3")] {
        let arguments = ["--responses", file.to_str().unwrap()];
        let arguments: Vec<_> = arguments.into_iter().chain(chunk).collect();
        let text = printed(env!("CARGO_BIN_EXE_parse_requests"), &arguments);
        assert!(
            text.starts_with("5 responses, 5 header fields, 125 bytes, "),
            "{text}"
        );
    }
}

#[test]
fn parse_requests_says_which_file_it_cannot_read() {
    let folder = tempfile::tempdir().unwrap();
    for file in [folder.path(), &folder.path().join("none")] {
        let mut command = Command::new(env!("CARGO_BIN_EXE_parse_requests"));
        let output = command.arg(file).output().unwrap();
        let error = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(1), "{error}");
        assert!(error.starts_with(file.to_str().unwrap()), "{error}");
    }
}

#[test]
fn parse_json_counts_values_or_shows_what_is_wrong() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("document");
    let run = |text: &str| {
        std::fs::write(&file, text).unwrap();
        let mut command = Command::new(env!("CARGO_BIN_EXE_parse_json"));
        command.arg(&file).arg("3").output().unwrap()
    };
    let output = run(r#"{"a": [1, 2.5, "three"], "b": null}"#);
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success(), "{text}");
    assert!(
        text.starts_with("6 values, 35 bytes, parsed 3 times in "),
        "{text}"
    );
    let output = run("[1, 2,]");
    let error = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(1), "{error}");
    assert!(
        error.contains("1:7: expected a value, found ']'"),
        "{error}"
    );
}

#[test]
fn text_measures_each_step() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("text");
    std::fs::write(&file, "The naïve façade\nof the Straße\n\n").unwrap();
    let text = printed(env!("CARGO_BIN_EXE_text"), &[file.to_str().unwrap()]);
    let results: Vec<_> = text
        .lines()
        .map(|line| {
            let (step, rest) = line.split_once(": ").unwrap();
            (step, rest.rsplit_once(' ').unwrap().1)
        })
        .collect();
    for expected in [
        ("decode", "32"),
        ("lines", "2"),
        ("split", "5"),
        ("words", "3"),
        ("find", "0"),
        ("count", "1"),
        ("replace", "30"),
        ("upper case", "33"),
        ("append", "64"),
        ("compare", "1"),
        ("bytes lines", "2"),
        ("bytes concat", "32"),
    ] {
        assert!(results.contains(&expected), "{expected:?} in {text}");
    }

    std::fs::write(&file, b"a\xff").unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_text"));
    let output = command.arg(&file).output().unwrap();
    let error = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(1), "{error}");
    assert!(error.contains("invalid utf-8 sequence"), "{error}");
}

/// One who chats: what is said, and what is heard.
fn joined(server: &Listening, name: &str) -> (TcpStream, BufReader<TcpStream>) {
    let mut says = TcpStream::connect(&server.address).unwrap();
    says.set_read_timeout(Some(Duration::from_secs(60)))
        .unwrap();
    let mut hears = BufReader::new(says.try_clone().unwrap());
    assert_eq!(next_line(&mut hears), "* your name?");
    writeln!(says, "{name}").unwrap();
    (says, hears)
}

fn next_line(hears: &mut impl BufRead) -> String {
    let mut line = String::new();
    hears.read_line(&mut line).unwrap();
    line.trim_end().to_owned()
}

#[test]
fn chat_tells_everybody_else() {
    let server = Listening::start(env!("CARGO_BIN_EXE_chat"));
    let (mut ann, mut ann_hears) = joined(&server, "ann");
    let (mut bob, mut bob_hears) = joined(&server, "bob");
    assert_eq!(next_line(&mut ann_hears), "* bob is here");
    write!(bob, "hello\r\nare you there?\n").unwrap();
    assert_eq!(next_line(&mut ann_hears), "bob: hello");
    assert_eq!(next_line(&mut ann_hears), "bob: are you there?");
    writeln!(ann, "\x1b[2Jyes").unwrap();
    assert_eq!(next_line(&mut bob_hears), "ann: [2Jyes");
    ann.shutdown(Shutdown::Both).unwrap();
    assert_eq!(next_line(&mut bob_hears), "* ann has left");
    bob.write_all(&[b'x'; 3000]).unwrap();
    assert_eq!(next_line(&mut bob_hears), "* too long");
}

#[test]
fn a_slow_reader_holds_up_nobody_and_is_told_what_it_missed() {
    let server = Listening::start(env!("CARGO_BIN_EXE_chat"));
    let (mut ann, mut ann_hears) = joined(&server, "ann");
    let (_bob, mut bob_hears) = joined(&server, "bob");
    assert_eq!(next_line(&mut ann_hears), "* bob is here");
    let (_slow, mut slow_hears) = joined(&server, "slow");
    assert_eq!(next_line(&mut ann_hears), "* slow is here");

    let until_the_last = |hears: &mut BufReader<TcpStream>| {
        let mut notes = 0;
        loop {
            match next_line(hears) {
                line if line == "ann: the last" => return notes,
                line => notes += usize::from(line.starts_with("* you missed ")),
            }
        }
    };
    // More than the sockets' buffers take.
    let line = "x".repeat(1000) + "\n";
    for _ in 0..20_000 {
        ann.write_all(line.as_bytes()).unwrap();
    }
    writeln!(ann, "the last").unwrap();
    until_the_last(&mut bob_hears);
    assert!(until_the_last(&mut slow_hears) > 0);
}

#[test]
#[cfg(feature = "websocket")]
fn the_chat_in_the_browser_tells_everybody_and_no_page_of_others() {
    use thrum::http::upgrade::Upgraded;
    use thrum::http::websocket::{Message, WebSocket, connect};

    async fn hears(socket: &mut WebSocket<Upgraded>, expected: &str) {
        let message = socket.receive().await.unwrap().unwrap();
        assert_eq!(message.as_text(), Some(expected));
    }

    let server = Listening::start(env!("CARGO_BIN_EXE_websocket_chat"));
    let page = server.get("/");
    assert!(page.contains("text/html") && page.contains("new WebSocket("));
    let elsewhere = server.get("/chat HTTP/1.1\r\nOrigin: http://evil.example\r\nX: ");
    assert!(elsewhere.starts_with("HTTP/1.1 403 "), "{elsewhere}");
    thrum::block_on(async {
        let url = format!("ws://{}/chat", server.address);
        let mut ann = connect(&url).await.unwrap();
        ann.send("ann").await.unwrap();
        hears(&mut ann, "* ann is here").await;
        let mut bob = connect(&url).await.unwrap();
        bob.send("bob").await.unwrap();
        hears(&mut bob, "* bob is here").await;
        hears(&mut ann, "* bob is here").await;
        bob.send("grüße").await.unwrap();
        hears(&mut ann, "bob: grüße").await;
        hears(&mut bob, "bob: grüße").await;
        bob.send("x".repeat(5000)).await.unwrap();
        let last = bob.receive().await.unwrap().unwrap();
        assert!(matches!(last, Message::Close(Some(frame)) if u16::from(frame.code) == 1009));
        hears(&mut ann, "* bob has left").await;
    });
}

#[test]
fn the_load_checks_each_answer() {
    let load = env!("CARGO_BIN_EXE_doubling_load");
    let port = |server: &Listening| server.address.rsplit_once(':').unwrap().1.to_owned();
    let doubling = Listening::start(env!("CARGO_BIN_EXE_doubling"));
    let text = printed(load, &[&port(&doubling), "3", "2", "1"]);
    assert!(figure(&text, "answers") >= 3.0, "{text}");
    let text = printed(load, &[&port(&doubling), "3", "2", "60", "5"]);
    assert_eq!(figure(&text, "answers"), 15.0, "{text}");

    let echo = Listening::start(env!("CARGO_BIN_EXE_echo"));
    let output = Command::new(load)
        .args([&port(&echo), "1", "1", "60"])
        .output()
        .unwrap();
    let error = String::from_utf8(output.stderr).unwrap();
    assert!(
        !output.status.success() && error.contains("1 is doubled to 1"),
        "{error}"
    );
}

#[test]
fn a_wrong_argument_is_answered_with_the_usage() {
    for (program, arguments) in [
        (env!("CARGO_BIN_EXE_chat"), "here:there"),
        (env!("CARGO_BIN_EXE_cpu"), "-7"),
        (env!("CARGO_BIN_EXE_doubling"), "--fast"),
        (env!("CARGO_BIN_EXE_doubling_load"), "70000"),
        (env!("CARGO_BIN_EXE_echo"), "127.0.0.1"),
        (env!("CARGO_BIN_EXE_fibs"), "127.0.0.1:0 again"),
        (env!("CARGO_BIN_EXE_parse_json"), "--fast"),
        (env!("CARGO_BIN_EXE_parse_json"), "file 0"),
        (env!("CARGO_BIN_EXE_parse_requests"), "file 0"),
        (env!("CARGO_BIN_EXE_parse_requests"), "file 1 2"),
        (env!("CARGO_BIN_EXE_parse_requests"), "--fast"),
        (env!("CARGO_BIN_EXE_pipes"), "100 1e6"),
        (env!("CARGO_BIN_EXE_pong"), "127.0.0.1:70000"),
        (env!("CARGO_BIN_EXE_pong_tls"), "chain.pem"),
        (env!("CARGO_BIN_EXE_pong_tls"), "chain.pem key.pem nowhere"),
        (env!("CARGO_BIN_EXE_simple_callbacks"), "127.0.0.1"),
        (env!("CARGO_BIN_EXE_simple_tasks"), "127.0.0.1"),
        (env!("CARGO_BIN_EXE_simple_threads"), "127.0.0.1"),
        (env!("CARGO_BIN_EXE_spawn"), "many"),
        (env!("CARGO_BIN_EXE_switch"), "0"),
        (env!("CARGO_BIN_EXE_text"), "--fast"),
        (env!("CARGO_BIN_EXE_text"), "a b"),
        (env!("CARGO_BIN_EXE_timers"), "1 2"),
        #[cfg(feature = "websocket")]
        (env!("CARGO_BIN_EXE_websocket_chat"), "here:there"),
    ] {
        let run = |arguments: &str| {
            let mut command = Command::new(program);
            command.args(arguments.split(' ')).output().unwrap()
        };
        let wrong = run(arguments);
        let error = String::from_utf8(wrong.stderr).unwrap();
        assert_eq!(
            wrong.status.code(),
            Some(2),
            "{program} {arguments}: {error}"
        );
        assert!(
            error.contains("\nusage: "),
            "{program} {arguments}: {error}"
        );
        let help = run("--help");
        assert!(
            help.status.success() && help.stdout.starts_with(b"usage: "),
            "{program}"
        );
    }
}
