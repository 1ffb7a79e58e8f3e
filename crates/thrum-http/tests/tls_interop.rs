//! What others say over TLS: curl and openssl.
#![cfg(feature = "tls")]

mod support;

use std::io::Write;
use std::net::SocketAddr;
use std::process::{Command, Output, Stdio};

use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, DnType, IsCa, KeyPair};
use support::{short, with_server};
use tempfile::TempDir;
use thrum_http::Server;
use thrum_http::tls::{Acceptor, HandshakeFailure, Roots};

/// Certificates in files, all signed by `authority.pem`: the server's for `a.test`, and a client's.
struct Files(TempDir);

impl Files {
    fn new() -> Self {
        let files = Self(tempfile::tempdir().unwrap());
        let mut params = CertificateParams::new(Vec::new()).unwrap();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        params
            .distinguished_name
            .push(DnType::CommonName, "authority");
        let authority = CertifiedIssuer::self_signed(params, KeyPair::generate().unwrap()).unwrap();
        files.write("authority.pem", &authority.pem());
        for (file, name) in [("server", "a.test"), ("client", "client.test")] {
            let key = KeyPair::generate().unwrap();
            let params = CertificateParams::new([name.to_owned()]).unwrap();
            let certificate = params.signed_by(&key, &authority).unwrap();
            files.write(&format!("{file}.pem"), &certificate.pem());
            files.write(&format!("{file}.key"), &key.serialize_pem());
        }
        files
    }

    fn write(&self, name: &str, text: &str) {
        std::fs::write(self.0.path().join(name), text).unwrap();
    }

    fn path(&self, name: &str) -> String {
        self.0.path().join(name).display().to_string()
    }

    fn server(&self, ask_clients: bool) -> Server {
        let mut acceptor =
            Acceptor::builder().files(self.path("server.pem"), self.path("server.key"));
        if ask_clients {
            acceptor =
                acceptor.require_clients(Roots::from_file(self.path("authority.pem")).unwrap());
        }
        short().tls(acceptor.build().unwrap())
    }
}

/// Runs a program while the server runs on, with a line for it to read. `None`: it is not installed.
async fn run(program: &str, arguments: &[&str], input: &str) -> Option<Output> {
    let mut command = Command::new(program);
    command
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let input = input.to_owned();
    let ran = thrum_rt::blocking(move || {
        let mut child = command.spawn()?;
        // Gone already perhaps.
        let _ = child.stdin.take().unwrap().write_all(input.as_bytes());
        child.wait_with_output()
    });
    match ran {
        Ok(output) => Some(output),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            skipped(program);
            None
        }
        Err(error) => panic!("{error}"),
    }
}

/// Notes a test that could not run.
fn skipped(program: &str) {
    eprintln!("skipped: {program} is not installed");
    if let Some(list) = std::env::var_os("THRUM_SKIPPED") {
        let mut list = std::fs::OpenOptions::new().append(true).open(list).unwrap();
        writeln!(list, "TLS with {program} (not installed)").unwrap();
    }
}

/// Has curl get a page; its exit status and what it wrote.
async fn curl(files: &Files, address: SocketAddr, more: &[&str]) -> Option<(i32, String)> {
    let url = format!("https://a.test:{}/page", address.port());
    let resolve = format!("a.test:{}:127.0.0.1", address.port());
    let authority = files.path("authority.pem");
    let mut arguments = vec![
        "-sS",
        "--http1.1",
        "--max-time",
        "10",
        "--cacert",
        &authority,
    ];
    arguments.extend(["--resolve", &resolve]);
    arguments.extend(more);
    arguments.push(&url);
    let output = run("curl", &arguments, "").await?;
    let text = [output.stdout, output.stderr].concat();
    Some((
        output.status.code().unwrap(),
        String::from_utf8(text).unwrap(),
    ))
}

#[test]
fn curl_gets_a_page() {
    let files = Files::new();
    with_server(files.server(false), async |address, _| {
        for version in [&["--tlsv1.3"][..], &["--tls-max", "1.2"], &[]] {
            let Some((status, text)) = curl(&files, address, version).await else {
                return;
            };
            assert_eq!((status, text.as_str()), (0, "/page"), "{version:?}");
        }
        let (_, text) = curl(&files, address, &["--cacert", "/dev/null"])
            .await
            .unwrap();
        assert!(!text.contains("/page"), "{text}");
    });
}

#[test]
fn curl_gets_a_page_over_http2() {
    let files = Files::new();
    with_server(files.server(false), async |address, _| {
        let version = ["--http2", "-w", " by HTTP/%{http_version}"];
        if let Some((status, text)) = curl(&files, address, &version).await {
            assert_eq!((status, text.as_str()), (0, "/page by HTTP/2"));
        }
    });
}

#[test]
fn curl_shows_its_certificate() {
    let files = Files::new();
    with_server(files.server(true), async |address, _| {
        let Some((status, text)) = curl(&files, address, &[]).await else {
            return;
        };
        assert_ne!(status, 0, "{text}");
        let (certificate, key) = (files.path("client.pem"), files.path("client.key"));
        for version in [&["--tlsv1.3"][..], &["--tls-max", "1.2"]] {
            let shown = ["--cert", &certificate, "--key", &key];
            let (status, text) = curl(&files, address, &[&shown, version].concat())
                .await
                .unwrap();
            assert_eq!((status, text.as_str()), (0, "/page"), "{version:?}");
        }
    });
}

/// Has `openssl s_client` send a request; what it wrote.
async fn openssl(files: &Files, address: SocketAddr, more: &[&str]) -> Option<String> {
    let address = address.to_string();
    let authority = files.path("authority.pem");
    let mut arguments = vec!["s_client", "-connect", &address, "-servername", "a.test"];
    arguments.extend(["-CAfile", &authority, "-verify_return_error", "-ign_eof"]);
    arguments.extend(more);
    let request = "GET /page HTTP/1.1\r\nHost: a.test\r\nConnection: close\r\n\r\n";
    let output = run("openssl", &arguments, request).await?;
    let text = [output.stdout, output.stderr].concat();
    Some(String::from_utf8_lossy(&text).into_owned())
}

#[test]
fn openssl_speaks_the_versions_that_are_sound() {
    let files = Files::new();
    with_server(files.server(false), async |address, server| {
        for (version, name) in [("-tls1_3", "TLSv1.3"), ("-tls1_2", "TLSv1.2")] {
            let Some(text) = openssl(&files, address, &[version]).await else {
                return;
            };
            assert!(
                text.contains(name) && text.contains("HTTP/1.1 200 OK"),
                "{text}"
            );
            assert!(text.contains("Verify return code: 0"), "{text}");
        }
        for version in ["-tls1_1", "-tls1"] {
            let old = [version, "-cipher", "ALL:@SECLEVEL=0"];
            let text = openssl(&files, address, &old).await.unwrap();
            assert!(!text.contains("HTTP/1.1 200"), "{text}");
        }
        // Suites without forward secrecy, or with CBC.
        for suites in ["kRSA", "AES128-SHA:ECDHE-ECDSA-AES128-SHA256"] {
            let text = openssl(&files, address, &["-tls1_2", "-cipher", suites])
                .await
                .unwrap();
            assert!(!text.contains("HTTP/1.1 200"), "{text}");
        }
        let failures = server.stats().handshake_failures;
        assert_eq!(failures.get(&HandshakeFailure::NothingInCommon), Some(&4));
    });
}

#[test]
fn openssl_agrees_on_a_protocol_and_resumes() {
    let files = Files::new();
    with_server(files.server(false), async |address, _| {
        let Some(text) = openssl(&files, address, &["-alpn", "http/1.1,h2"]).await else {
            return;
        };
        assert!(text.contains("ALPN protocol: h2"), "{text}");
        for version in ["-tls1_2", "-tls1_3"] {
            let session = files.path("session");
            openssl(&files, address, &[version, "-sess_out", &session])
                .await
                .unwrap();
            let text = openssl(&files, address, &[version, "-sess_in", &session])
                .await
                .unwrap();
            assert!(text.contains("Reused, "), "{text}");
            assert!(text.contains("HTTP/1.1 200 OK"), "{text}");
        }
    });
}
