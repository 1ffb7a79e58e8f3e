//! A server alone: there, gone, back, full, with a password, with TLS.

use std::time::{Duration, Instant};

use bytes::Bytes;
use tempfile::tempdir;
use thrum_server::store::{Put, Redis, RedisOptions, Store, StoreError};

use super::conformance::{self, key};
use super::servers::{Server, have_redis};

fn store(port: u16) -> Redis {
    Redis::new(
        &format!("redis://127.0.0.1:{port}/0"),
        RedisOptions::default(),
    )
    .unwrap()
}

#[test]
fn a_server_conforms() {
    if !have_redis() {
        return;
    }
    let folder = tempdir().unwrap();
    let server = Server::start(&folder, &[]);
    conformance::check(store(server.port));
}

#[test]
fn a_full_server_says_so() {
    if !have_redis() {
        return;
    }
    let folder = tempdir().unwrap();
    let server = Server::start(
        &folder,
        &["--maxmemory", "6mb", "--maxmemory-policy", "noeviction"],
    );
    thrum_rt::block_on(async {
        let store = store(server.port);
        let megabyte = Bytes::from(vec![1; 1 << 20]);
        let mut outcome = Ok(());
        for number in 0..10 {
            let name = key(&format!("big-{number}"));
            outcome = store
                .put(&name, megabyte.clone(), Put::default())
                .await
                .map(drop);
            if outcome.is_err() {
                break;
            }
        }
        assert!(matches!(outcome, Err(StoreError::Full(_))), "{outcome:?}");
        assert!(store.get(&key("big-0")).await.unwrap().is_some());
    });
}

#[test]
fn gone_and_back() {
    if !have_redis() {
        return;
    }
    let folder = tempdir().unwrap();
    let mut server = Server::start(&folder, &["--appendonly", "yes", "--appendfsync", "always"]);
    thrum_rt::block_on(async {
        let store = store(server.port);
        let written = store
            .put(&key("a"), "kept".into(), Put::default())
            .await
            .unwrap();
        server.kill();
        let gone = store.get(&key("a")).await.unwrap_err();
        assert!(matches!(&gone, StoreError::Unavailable(_)), "{gone}");
        // It does not wait each time that it is asked.
        let start = Instant::now();
        for _ in 0..1000 {
            assert!(store.get(&key("a")).await.is_err());
        }
        assert!(start.elapsed() < Duration::from_secs(5));
        server.restart();
        let end = Instant::now() + Duration::from_secs(10);
        let entry = loop {
            match store.get(&key("a")).await {
                Ok(entry) => break entry.unwrap(),
                Err(error) => assert!(Instant::now() < end, "{error}"),
            }
            thrum_rt::time::sleep(Duration::from_millis(50)).await;
        };
        assert_eq!(entry.version, written.version);
        // A connection that was lost while nobody looked is not noticed.
        server.kill();
        server.restart();
        assert!(store.get(&key("a")).await.unwrap().is_some());
    });
}

#[test]
fn a_server_that_hangs_is_given_up() {
    let silent = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = silent.local_addr().unwrap().port();
    let options = RedisOptions {
        timeout: Duration::from_millis(200),
        connect_timeout: Duration::from_millis(200),
        ..RedisOptions::default()
    };
    let store = Redis::new(&format!("redis://127.0.0.1:{port}"), options).unwrap();
    thrum_rt::block_on(async {
        let start = Instant::now();
        let hung = store.get(&key("a")).await;
        assert!(matches!(hung, Err(StoreError::Unavailable(_))), "{hung:?}");
        assert!(start.elapsed() < Duration::from_secs(10));
    });
}

#[test]
fn passwords() {
    if !have_redis() {
        return;
    }
    let folder = tempdir().unwrap();
    let server = Server::start(&folder, &["--requirepass", "sesame"]);
    thrum_rt::block_on(async {
        let port = server.port;
        let url = format!("redis://:sesame@127.0.0.1:{port}/0");
        let store = Redis::new(&url, RedisOptions::default()).unwrap();
        store
            .put(&key("a"), "x".into(), Put::default())
            .await
            .unwrap();
        let url = format!("redis://:wrong@127.0.0.1:{port}/0");
        let wrong = Redis::new(&url, RedisOptions::default()).unwrap();
        let error = wrong.ping().await.unwrap_err().to_string();
        assert!(
            !error.contains("wrong@") && !error.contains(":wrong"),
            "{error}"
        );
    });
}

#[test]
fn replicas_have_what_is_acknowledged() {
    if !have_redis() {
        return;
    }
    let folder = tempdir().unwrap();
    let master = Server::start(&folder, &[]);
    let port = master.port.to_string();
    let mut replica = Server::start(&folder, &["--replicaof", "127.0.0.1", &port]);
    thrum_rt::block_on(async {
        let options = RedisOptions {
            replicas: 1,
            timeout: Duration::from_secs(2),
            ..RedisOptions::default()
        };
        let store = Redis::new(&format!("redis://127.0.0.1:{port}"), options).unwrap();
        let end = Instant::now() + Duration::from_secs(20);
        while store
            .put(&key("a"), "x".into(), Put::default())
            .await
            .is_err()
        {
            assert!(Instant::now() < end, "the replica does not follow");
        }
        assert_eq!(
            replica.ask(&["exists", "thrum:test:a"]).as_deref(),
            Some("1")
        );
        replica.kill();
        let alone = store.put(&key("b"), "x".into(), Put::default()).await;
        assert!(
            matches!(alone, Err(StoreError::Unavailable(_))),
            "{alone:?}"
        );
    });
}

#[test]
fn tls() {
    if !have_redis() {
        return;
    }
    let folder = tempdir().unwrap();
    let identity =
        rcgen::generate_simple_self_signed(["localhost".into(), "127.0.0.1".into()]).unwrap();
    let (cert, pem) = (folder.path().join("cert.pem"), identity.cert.pem());
    let secret = folder.path().join("key.pem");
    std::fs::write(&cert, &pem).unwrap();
    std::fs::write(&secret, identity.signing_key.serialize_pem()).unwrap();
    let tls_port = super::servers::free_port();
    let _server = Server::start(
        &folder,
        &[
            "--tls-port",
            &tls_port.to_string(),
            "--tls-cert-file",
            cert.to_str().unwrap(),
            "--tls-key-file",
            secret.to_str().unwrap(),
            "--tls-auth-clients",
            "no",
        ],
    );
    thrum_rt::block_on(async {
        let url = format!("rediss://127.0.0.1:{tls_port}/0");
        let options = RedisOptions {
            certificates: Some(pem.into_bytes()),
            ..RedisOptions::default()
        };
        let store = Redis::new(&url, options).unwrap();
        store
            .put(&key("a"), "x".into(), Put::default())
            .await
            .unwrap();
        assert!(store.get(&key("a")).await.unwrap().is_some());
        let stranger = Redis::new(&url, RedisOptions::default()).unwrap();
        let distrusted = stranger.ping().await;
        assert!(
            matches!(distrusted, Err(StoreError::Unavailable(_))),
            "{distrusted:?}"
        );
    });
}
