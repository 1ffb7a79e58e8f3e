//! Redis servers of our own, on loopback.

use std::fs;
use std::net::TcpListener;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use tempfile::TempDir;

/// A running server, which ends with this value.
pub(crate) struct Server {
    pub(crate) port: u16,
    folder: PathBuf,
    arguments: Vec<String>,
    process: Option<Child>,
}

/// Whether the programs are there; says so where the test run wants to know if not.
pub(crate) fn have_redis() -> bool {
    let found = ["redis-server", "redis-cli"].iter().all(|program| {
        let output = Command::new(program).arg("--version").output();
        output.is_ok_and(|output| output.status.success())
    });
    if !found && let Some(list) = std::env::var_os("THRUM_SKIPPED") {
        use std::io::Write;
        let mut list = fs::OpenOptions::new().append(true).open(list).unwrap();
        writeln!(list, "stores in Redis (redis-server is not installed)").unwrap();
    }
    found
}

/// A port that nobody listens on, for a program that cannot take port 0; in a cluster, the one 10,000 above it too.
pub(crate) fn free_port() -> u16 {
    for _ in 0..1000 {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        if port < 55_000 && TcpListener::bind(("127.0.0.1", port + 10_000)).is_ok() {
            return port;
        }
    }
    panic!("no free port");
}

impl Server {
    pub(crate) fn start(folder: &TempDir, arguments: &[&str]) -> Self {
        let port = free_port();
        let folder = folder.path().join(port.to_string());
        fs::create_dir_all(&folder).unwrap();
        let mut server = Self {
            port,
            folder,
            arguments: arguments.iter().map(|&word| word.into()).collect(),
            process: None,
        };
        server.restart();
        server
    }

    /// Starts it, if it does not run, and waits until it answers.
    pub(crate) fn restart(&mut self) {
        let process = Command::new("redis-server")
            .args(["--port", &self.port.to_string(), "--bind", "127.0.0.1"])
            .args(["--save", "", "--daemonize", "no", "--dir"])
            .arg(&self.folder)
            .args(&self.arguments)
            .stdout(Stdio::null())
            .spawn();
        self.process = Some(process.unwrap());
        let end = Instant::now() + Duration::from_secs(20);
        while self.ask(&["ping"]).is_none_or(|answer| answer.is_empty()) {
            assert!(Instant::now() < end, "redis-server does not answer");
            std::thread::sleep(Duration::from_millis(30));
        }
    }

    /// SIGKILL.
    pub(crate) fn kill(&mut self) {
        if let Some(mut process) = self.process.take() {
            let _ = process.kill();
            let _ = process.wait();
        }
    }

    /// What redis-cli says; `None` when there is no server.
    pub(crate) fn ask(&self, command: &[&str]) -> Option<String> {
        let output = Command::new("redis-cli")
            .args(["-p", &self.port.to_string()])
            .args(command)
            .output()
            .unwrap();
        let text = String::from_utf8_lossy(&output.stdout).trim().to_owned();
        (output.status.success() && !text.starts_with("Could not connect")).then_some(text)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.kill();
    }
}
