//! The client's HTTP/2 over TLS against nginx, where that is installed.

use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use thrum_http::tls::{Connector, Roots};
use thrum_http::{Client, Version};
use thrum_rt::{TaskSet, time};

/// Ends with the test.
struct Nginx(Child);

impl Drop for Nginx {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Starts nginx in a folder of its own; `None` if there is none.
fn nginx(folder: &Path) -> Option<(Nginx, SocketAddr)> {
    Command::new("nginx")
        .arg("-v")
        .stderr(Stdio::null())
        .status()
        .ok()?;
    let free = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = free.local_addr().unwrap();
    drop(free);
    let folder_text = folder.display();
    let config = format!(
        "daemon off; master_process off; pid {folder_text}/pid; error_log {folder_text}/error.log;
        events {{ worker_connections 64; }}
        http {{
            access_log off; gzip on; gzip_min_length 1; gzip_types text/plain; default_type text/plain;
            client_body_temp_path {folder_text}/body; proxy_temp_path {folder_text}/proxy;
            fastcgi_temp_path {folder_text}/fastcgi; uwsgi_temp_path {folder_text}/uwsgi;
            scgi_temp_path {folder_text}/scgi; keepalive_requests 50; http2_max_concurrent_streams 8;
            server {{
                listen {address} ssl http2;
                ssl_certificate {folder_text}/cert.pem; ssl_certificate_key {folder_text}/key.pem;
                root {folder_text};
                location = /old {{ return 301 /file; }}
                location = /version {{ return 200 $server_protocol; }}
            }}
        }}"
    );
    std::fs::write(folder.join("nginx.conf"), config).unwrap();
    let mut command = Command::new("nginx");
    command
        .arg("-p")
        .arg(folder)
        .arg("-c")
        .arg(folder.join("nginx.conf"));
    let child = command.stderr(Stdio::null()).spawn().unwrap();
    let nginx = Nginx(child);
    let start = Instant::now();
    while TcpStream::connect(address).is_err() {
        assert!(
            start.elapsed() < Duration::from_secs(10),
            "nginx does not come up"
        );
        std::thread::sleep(Duration::from_millis(20));
    }
    Some((nginx, address))
}

#[test]
fn nginx_is_spoken_to() {
    let folder = tempfile::tempdir().unwrap();
    let key = rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap();
    std::fs::write(folder.path().join("cert.pem"), key.cert.pem()).unwrap();
    std::fs::write(
        folder.path().join("key.pem"),
        key.signing_key.serialize_pem(),
    )
    .unwrap();
    let large = "a line of text\n".repeat(100_000);
    std::fs::write(folder.path().join("file"), &large).unwrap();
    let Some((_nginx, address)) = nginx(folder.path()) else {
        eprintln!("there is no nginx here");
        return;
    };
    let runtime = thrum_rt::Runtime::builder().workers(2).build().unwrap();
    let test = async {
        let roots = Roots::from_pem(key.cert.pem().as_bytes()).unwrap();
        let tls = Connector::builder().roots(roots).build().unwrap();
        let client = Client::builder().tls(tls.clone()).build();
        let base = format!("https://localhost:{}", address.port());
        let response = client.get(format!("{base}/old")).await.unwrap();
        assert_eq!(response.version(), Version::HTTP_2);
        assert_eq!(response.url().path(), "/file");
        assert_eq!(response.text().await.unwrap(), large);
        // More than it takes at once, and on more than one connection: each is for 50.
        let mut tasks = TaskSet::new();
        for _ in 0..200 {
            let request = client.get(format!("{base}/version"));
            tasks.spawn(async move { request.await.unwrap().text().await.unwrap() });
        }
        while let Some(done) = tasks.join_next().await {
            assert_eq!(done.unwrap(), "HTTP/2.0");
        }
        let old = Client::builder().tls(tls).http1_only().build();
        let response = old.get(format!("{base}/version")).await.unwrap();
        assert_eq!(response.text().await.unwrap(), "HTTP/1.1");
    };
    let in_time = time::timeout(Duration::from_secs(60), test);
    runtime.block_on(in_time).expect("the test takes too long");
}
