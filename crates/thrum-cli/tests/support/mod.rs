//! Runs the real `thrum` and talks to it over plain sockets. Nothing here waits for longer than [`PATIENCE`].
// Each test file uses a part of it.
#![allow(dead_code)]

pub(crate) mod place;

use std::io::{BufRead, BufReader, ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::{Arc, Mutex};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};

/// How long anything may take before the test fails.
pub(crate) const PATIENCE: Duration = Duration::from_secs(20);

/// A `thrum` command with nothing of the caller's environment that changes what it does.
pub(crate) fn thrum(args: &[&str]) -> Command {
    thrum_at(Path::new(env!("CARGO_BIN_EXE_thrum")), args)
}

/// The same with another copy of the program.
pub(crate) fn thrum_at(program: &Path, args: &[&str]) -> Command {
    let mut command = Command::new(program);
    command
        .args(args)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    for variable in [
        "THRUM_LOG",
        "THRUM_WORKERS",
        "THRUM_IO",
        "NO_COLOR",
        "CLICOLOR_FORCE",
    ] {
        command.env_remove(variable);
    }
    command
}

/// What a command that ended by itself said.
pub(crate) struct Said {
    pub(crate) status: ExitStatus,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Said {
    /// Expects an error of this exit code that says all of these, and nothing else on standard output.
    #[track_caller]
    pub(crate) fn expect(&self, code: i32, needed: &[&str]) {
        for needed in needed {
            assert!(
                self.stderr.contains(needed),
                "no {needed:?} in: {}",
                self.stderr
            );
        }
        assert_eq!(self.code(), Some(code), "{}", self.stderr);
        assert_eq!(self.stdout, "");
    }

    pub(crate) fn code(&self) -> Option<i32> {
        self.status.code()
    }
}

/// Runs a command that is to end by itself.
pub(crate) fn run(args: &[&str]) -> Said {
    Running::new(thrum(args)).ended()
}

/// A folder with an `index.html` that says `hello`.
pub(crate) fn site() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("index.html"), "hello").unwrap();
    folder
}

/// A server for a folder on a free port of this machine.
pub(crate) fn serve(folder: &Path, args: &[&str]) -> Running {
    let folder = folder.to_str().unwrap();
    let all = [&["serve", folder, "--listen", "127.0.0.1:0"], args].concat();
    let running = Running::new(thrum(&all));
    running.wait_for_stderr("Ctrl-C to stop");
    running
}

/// A process that is killed when the test is over.
pub(crate) struct Running {
    child: Child,
    stdout: Output,
    stderr: Output,
}

/// What a process has written so far, and the thread that reads on.
struct Output(Arc<Mutex<String>>, Option<JoinHandle<()>>);

impl Running {
    pub(crate) fn new(mut command: Command) -> Self {
        let start = Instant::now();
        let mut child = loop {
            match command.spawn() {
                // A copy of the program that was just written is still open in a process that another test is starting.
                Err(error)
                    if error.kind() == ErrorKind::ExecutableFileBusy
                        && start.elapsed() < PATIENCE =>
                {
                    thread::sleep(Duration::from_millis(5));
                }
                spawned => break spawned.unwrap(),
            }
        };
        Self {
            stdout: Output::of(child.stdout.take()),
            stderr: Output::of(child.stderr.take()),
            child,
        }
    }

    pub(crate) fn stdout(&self) -> String {
        self.stdout.0.lock().unwrap().clone()
    }

    pub(crate) fn stderr(&self) -> String {
        self.stderr.0.lock().unwrap().clone()
    }

    pub(crate) fn wait_for_stderr(&self, text: &str) {
        wait_until(
            &format!("{text:?} on standard error"),
            || self.stderr().contains(text),
            || self.stderr(),
        );
    }

    pub(crate) fn wait_for_stdout(&self, text: &str) {
        wait_until(
            &format!("{text:?} on standard output"),
            || self.stdout().contains(text),
            || self.stdout(),
        );
    }

    /// The addresses in the URLs that it printed.
    pub(crate) fn addresses(&self) -> Vec<SocketAddr> {
        let stderr = self.stderr();
        let urls = stderr
            .lines()
            .filter_map(|line| line.trim().strip_prefix("http://"));
        urls.filter_map(|rest| rest.strip_suffix('/')?.parse().ok())
            .collect()
    }

    /// A connection to the first of its addresses.
    pub(crate) fn connect(&self) -> TcpStream {
        connect(self.addresses()[0])
    }

    /// The response to a GET of a path, head and body.
    pub(crate) fn get(&self, path: &str) -> String {
        get(self.connect(), path)
    }

    pub(crate) fn signal(&self, signal: Signal) {
        let pid = Pid::from_child(&self.child);
        kill_process(pid, signal).unwrap();
    }

    /// How often its threads have gone to sleep since the start.
    pub(crate) fn wakes(&self) -> u64 {
        let of_thread = |folder: std::fs::DirEntry| {
            let status = std::fs::read_to_string(folder.path().join("status")).unwrap_or_default();
            let count = status
                .lines()
                .find_map(|line| line.strip_prefix("voluntary_ctxt_switches:"));
            count.map_or(0, |count| count.trim().parse::<u64>().unwrap())
        };
        let threads = std::fs::read_dir(format!("/proc/{}/task", self.child.id())).unwrap();
        threads.map(|folder| of_thread(folder.unwrap())).sum()
    }

    /// Whether it has ended.
    pub(crate) fn has_ended(&mut self) -> bool {
        self.child.try_wait().unwrap().is_some()
    }

    /// Waits for its end.
    pub(crate) fn ended(mut self) -> Said {
        let start = Instant::now();
        let status = loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                break status;
            }
            assert!(
                start.elapsed() < PATIENCE,
                "it does not end; it said: {}",
                self.stderr()
            );
            thread::sleep(Duration::from_millis(5));
        };
        Said {
            status,
            stdout: self.stdout.all(),
            stderr: self.stderr.all(),
        }
    }

    /// Presses Ctrl-C and waits for its end.
    pub(crate) fn interrupted(self) -> Said {
        self.signal(Signal::INT);
        self.ended()
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Output {
    fn of(pipe: Option<impl Read + Send + 'static>) -> Self {
        let text = Arc::new(Mutex::new(String::new()));
        let reader = pipe.map(|pipe| {
            let text = Arc::clone(&text);
            thread::spawn(move || {
                let mut pipe = BufReader::new(pipe);
                let mut line = Vec::new();
                while pipe.read_until(b'\n', &mut line).is_ok_and(|read| read > 0) {
                    text.lock()
                        .unwrap()
                        .push_str(&String::from_utf8_lossy(&line));
                    line.clear();
                }
            })
        });
        Self(text, reader)
    }

    /// All of it, after the process has ended.
    fn all(&mut self) -> String {
        if let Some(reader) = self.1.take() {
            reader.join().unwrap();
        }
        self.0.lock().unwrap().clone()
    }
}

/// A connection that gives up on a server that says nothing.
pub(crate) fn connect(address: SocketAddr) -> TcpStream {
    let stream = TcpStream::connect_timeout(&address, PATIENCE).unwrap();
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    stream.set_write_timeout(Some(PATIENCE)).unwrap();
    stream
}

/// Asks for a path and reads the whole response, after which the server closes.
pub(crate) fn get(mut stream: TcpStream, path: &str) -> String {
    write!(
        stream,
        "GET {path} HTTP/1.1\r\nHost: test\r\nConnection: close\r\n\r\n"
    )
    .unwrap();
    let mut response = Vec::new();
    stream.read_to_end(&mut response).unwrap();
    String::from_utf8_lossy(&response).into_owned()
}

/// Asks for a path on a connection that stays open, and reads the response, which ends with `end`.
pub(crate) fn get_and_stay(stream: &mut TcpStream, path: &str, end: &str) -> String {
    // In one write: what follows the first of several would wait for its acknowledgement.
    let request = format!("GET {path} HTTP/1.1\r\nHost: test\r\n\r\n");
    stream.write_all(request.as_bytes()).unwrap();
    let mut response = Vec::new();
    let mut chunk = [0; 4096];
    while !response.ends_with(end.as_bytes()) {
        let read = stream.read(&mut chunk).unwrap();
        assert!(read > 0, "closed within a response");
        response.extend_from_slice(&chunk[..read]);
    }
    String::from_utf8_lossy(&response).into_owned()
}

pub(crate) fn wait_until(what: &str, condition: impl Fn() -> bool, seen: impl Fn() -> String) {
    let start = Instant::now();
    while !condition() {
        assert!(
            start.elapsed() < PATIENCE,
            "no {what}; there is: {}",
            seen()
        );
        thread::sleep(Duration::from_millis(5));
    }
}

pub(crate) fn wait_for(what: &str, mut holds: impl FnMut() -> bool) {
    let start = Instant::now();
    while !holds() {
        assert!(start.elapsed() < PATIENCE, "{what} does not come");
        thread::sleep(Duration::from_millis(10));
    }
}
