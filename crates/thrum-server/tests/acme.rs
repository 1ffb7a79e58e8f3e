//! Certificates from Pebble, the authority for tests, by both challenges. It comes through Go's module proxy; without Go or
//! that, the tests say so and end.

use std::net::{TcpListener as StdListener, TcpStream, UdpSocket};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::OnceLock;
use std::time::{Duration, Instant};

use thrum_http::tls::{Acceptor, Identity, Roots};
use thrum_http::{Body, Client, Request, Response, Server, service_fn, tls};
use thrum_rt::net::TcpListener;
use thrum_rt::sync::channel;
use thrum_server::acme::{Authority, ChallengeKind, Challenges, Keeper};

const VERSION: &str = "v2.10.1";
const PATIENCE: Duration = Duration::from_secs(60);

#[test]
fn a_certificate_is_got_by_http_01() {
    ordered(ChallengeKind::Http01, "http.example.test");
}

#[test]
fn a_certificate_is_got_by_tls_alpn_01() {
    ordered(ChallengeKind::TlsAlpn01, "tls.example.test");
}

fn ordered(kind: ChallengeKind, name: &str) {
    let Some(programs) = programs() else {
        return skipped("acme: Pebble cannot be had (Go and its module proxy)");
    };
    // Whatever fails is in the log.
    let _ = tracing_subscriber::fmt().with_test_writer().try_init();
    thrum_rt::block_on(async {
        let http = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let https = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let ports = (
            http.local_addr().unwrap().port(),
            https.local_addr().unwrap().port(),
        );
        let pebble = Pebble::start(programs, ports);
        let client = Client::builder()
            .tls(
                tls::Connector::builder()
                    .roots(Roots::from_file(&pebble.authority).unwrap())
                    .build()
                    .unwrap(),
            )
            .build();
        let state = pebble.folder.path().join("state");
        let authority = Authority {
            directory: format!("https://localhost:{}/dir", pebble.port),
            contact: Some("admin@example.test".to_owned()),
            folder: state.clone(),
            challenges: vec![kind],
            client,
        };
        let names = vec![name.to_owned(), format!("www.{name}")];
        let keeper = Keeper::new(authority.clone(), [names.clone()]).unwrap();
        let first: Vec<_> = keeper.identities().collect();
        let acceptor = Acceptor::new(first[0].clone());
        let challenges = Challenges::new(Some(acceptor.clone()));

        let answering = challenges.clone();
        let texts = service_fn(move |request: Request<Body>| {
            let text = answering.text(request.uri().path());
            async move { Response::new(text.unwrap_or_else(|| "a page".to_owned())) }
        });
        let plain = Server::new();
        let secure = Server::new().tls(acceptor.clone());
        let _plain = thrum_rt::spawn({
            let texts = texts.clone();
            async move { plain.serve(http, texts).await }
        });
        let _secure = thrum_rt::spawn(async move { secure.serve(https, texts).await });

        let (sender, got) = channel::bounded(1);
        let keeping = thrum_rt::spawn(keeper.run(challenges.clone(), move |all| {
            let _ = sender.try_send(all);
        }));
        let all: Vec<Identity> = thrum_rt::time::timeout(PATIENCE, got.recv())
            .await
            .expect("a certificate in time")
            .unwrap();
        let has: Vec<_> = all[0].names().collect();
        assert!(names.iter().all(|name| has.contains(&&**name)), "{has:?}");
        assert!(!challenges.is_pending(name));
        keeping.abort();

        // It is kept: another keeper begins with it.
        let next = Keeper::new(authority, [names]).unwrap();
        let kept = next.identities().next().unwrap();
        assert_eq!(kept.expires(), all[0].expires());
        let file = find(&state, &format!("{name}.pem")).expect("the certificate's file");
        let mode = std::os::unix::fs::MetadataExt::mode(&file.metadata().unwrap());
        assert_eq!(mode & 0o777, 0o600);
    });
}

/// The authority, and a name server that answers 127.0.0.1 for everything.
struct Pebble {
    folder: tempfile::TempDir,
    port: u16,
    authority: PathBuf,
    _children: [Ended; 2],
}

/// A process that ends with the test.
struct Ended(Child);

impl Drop for Ended {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

impl Pebble {
    fn start(programs: &Programs, (http, https): (u16, u16)) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let [port, manage, dns, dns_manage] = [free(), free(), free(), free()];
        let made = rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap();
        let authority = folder.path().join("chain.pem");
        let key = folder.path().join("key.pem");
        std::fs::write(&authority, made.cert.pem()).unwrap();
        std::fs::write(&key, made.signing_key.serialize_pem()).unwrap();
        let config = folder.path().join("pebble.json");
        let json = serde_json::json!({"pebble": {
            "listenAddress": format!("127.0.0.1:{port}"),
            "managementListenAddress": format!("127.0.0.1:{manage}"),
            "certificate": authority,
            "privateKey": key,
            "httpPort": http,
            "tlsPort": https,
            "externalAccountBindingRequired": false,
            "profiles": {"default": {"description": "", "validityPeriod": 7_776_000}},
        }});
        std::fs::write(&config, json.to_string()).unwrap();
        let dns = format!("127.0.0.1:{dns}");
        let names = Command::new(&programs.names)
            .args([
                "-dnsserver",
                &dns,
                "-defaultIPv4",
                "127.0.0.1",
                "-defaultIPv6",
                "",
            ])
            .args(["-http01", "", "-https01", "", "-tlsalpn01", "", "-doh", ""])
            .args(["-management", &format!("127.0.0.1:{dns_manage}")])
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let pebble = Command::new(&programs.pebble)
            .arg("-config")
            .arg(&config)
            .args(["-dnsserver", &dns])
            .env("PEBBLE_VA_NOSLEEP", "1")
            .env("PEBBLE_WFE_NONCEREJECT", "5")
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let children = [Ended(names), Ended(pebble)];
        for port in [port, dns_manage] {
            let start = Instant::now();
            while TcpStream::connect(("127.0.0.1", port)).is_err() {
                assert!(start.elapsed() < PATIENCE, "Pebble does not start");
                std::thread::sleep(Duration::from_millis(20));
            }
        }
        Self {
            folder,
            port,
            authority,
            _children: children,
        }
    }
}

struct Programs {
    pebble: PathBuf,
    names: PathBuf,
}

/// Pebble and its name server, fetched and built once.
fn programs() -> Option<&'static Programs> {
    static PROGRAMS: OnceLock<Option<Programs>> = OnceLock::new();
    let made = PROGRAMS.get_or_init(|| {
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("pebble");
        for program in ["pebble", "pebble-challtestsrv"] {
            if folder.join(program).exists() {
                continue;
            }
            let package = format!("github.com/letsencrypt/pebble/v2/cmd/{program}@{VERSION}");
            let built = Command::new("go")
                .args(["install", &package])
                .env("GOBIN", &folder)
                .env("GOFLAGS", "-mod=mod")
                .output();
            if !built.is_ok_and(|output| output.status.success()) {
                return None;
            }
        }
        Some(Programs {
            pebble: folder.join("pebble"),
            names: folder.join("pebble-challtestsrv"),
        })
    });
    made.as_ref()
}

/// A port that is free for both TCP and UDP now.
fn free() -> u16 {
    loop {
        let tcp = StdListener::bind("127.0.0.1:0").unwrap();
        let port = tcp.local_addr().unwrap().port();
        if UdpSocket::bind(("127.0.0.1", port)).is_ok() {
            return port;
        }
    }
}

fn find(folder: &Path, name: &str) -> Option<PathBuf> {
    for entry in std::fs::read_dir(folder).ok()?.flatten() {
        let path = entry.path();
        let found = match path.is_dir() {
            true => find(&path, name),
            false => path.ends_with(name).then_some(path),
        };
        if found.is_some() {
            return found;
        }
    }
    None
}

fn skipped(what: &str) {
    eprintln!("{what}");
    if let Some(list) = std::env::var_os("THRUM_SKIPPED") {
        use std::io::Write;
        let list = std::fs::OpenOptions::new()
            .append(true)
            .create(true)
            .open(list);
        writeln!(list.unwrap(), "{what}").unwrap();
    }
}
