//! Other programs as upstreams, where they are installed.

use std::net::{SocketAddr, TcpStream};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use thrum_http::Client;

use super::support::*;

/// Ends with the test.
struct Program(Child);

impl Drop for Program {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Starts a program that listens; `None` if it is not installed.
fn start(command: &mut Command, address: SocketAddr) -> Option<Program> {
    let name = command.get_program().to_string_lossy().into_owned();
    let child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn();
    let Ok(child) = child else {
        skipped(&name);
        return None;
    };
    let program = Program(child);
    let begin = Instant::now();
    while TcpStream::connect(address).is_err() {
        assert!(begin.elapsed() < PATIENCE, "{name} does not start");
        std::thread::sleep(Duration::from_millis(20));
    }
    Some(program)
}

#[test]
fn nginx_behind_the_proxy() {
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path().display();
    let address = nobody();
    let large = "a line of text\n".repeat(200_000);
    std::fs::write(folder.path().join("file.txt"), &large).unwrap();
    let config = format!(
        "daemon off; master_process off; pid {here}/pid; error_log {here}/error.log;
        events {{ worker_connections 64; }}
        http {{
            access_log off; gzip on; gzip_min_length 1; gzip_types text/plain; default_type text/plain;
            client_body_temp_path {here}/body; proxy_temp_path {here}/proxy; keepalive_requests 7;
            fastcgi_temp_path {here}/fastcgi; uwsgi_temp_path {here}/uwsgi; scgi_temp_path {here}/scgi;
            server {{
                listen {address}; root {here};
                location = /who {{ return 200 \"$host $http_x_forwarded_for $http_x_forwarded_proto\"; }}
            }}
        }}"
    );
    let file = folder.path().join("nginx.conf");
    std::fs::write(&file, config).unwrap();
    let mut command = Command::new("nginx");
    command.arg("-p").arg(folder.path()).arg("-c").arg(&file);
    let Some(_nginx) = start(&mut command, address) else {
        return;
    };
    run(async {
        let front = front(&format!("/ >> {address} {{ via off }}")).await;
        let host = front.address.ip().to_string();
        // More than a connection is for.
        for _ in 0..50 {
            assert_eq!(front.get("/who").await.2, format!("{host} 127.0.0.1 http"));
        }
        assert_eq!(front.status(address).failures, 0);
        let (_, headers, text) = front.get("/file.txt").await;
        assert!(text == large && headers.contains_key("etag"));
        let client = Client::new();
        let part = client
            .get(front.url("/file.txt"))
            .header("range", "bytes=5-10");
        let part = part.send().await.unwrap();
        assert_eq!(
            (part.status().as_u16(), part.text().await.unwrap()),
            (206, large[5..11].to_owned())
        );
        // Made as it is sent, so in chunks.
        let packed = client
            .get(front.url("/file.txt"))
            .header("accept-encoding", "gzip");
        let packed = packed.send().await.unwrap();
        assert_eq!(packed.headers()["content-encoding"], "gzip");
        let bytes = packed.bytes().await.unwrap();
        assert!(bytes.starts_with(&[0x1f, 0x8b]) && bytes.len() < large.len() / 10);
        let none = client.get(front.url("/none")).send().await.unwrap();
        assert_eq!(none.status(), 404);
    });
}

/// It speaks HTTP/1.0: a response ends with its connection.
#[test]
fn python_behind_the_proxy() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("a.txt"), "from python").unwrap();
    let address = nobody();
    let mut command = Command::new("python3");
    command
        .args(["-m", "http.server", "--bind", "127.0.0.1", "--directory"])
        .arg(folder.path())
        .arg(address.port().to_string());
    let Some(_python) = start(&mut command, address) else {
        return;
    };
    run(async {
        let front = front(&format!("/py/ >> {address}/")).await;
        for _ in 0..5 {
            let (status, headers, text) = front.get("/py/a.txt").await;
            assert_eq!((status, text.as_str()), (200, "from python"));
            assert_eq!(headers["content-length"], "11");
        }
        assert!(front.get("/py/").await.2.contains("a.txt"));
        assert_eq!(front.get("/py/none").await.0, 404);
    });
}
