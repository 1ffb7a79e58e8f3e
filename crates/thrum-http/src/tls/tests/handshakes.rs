use std::sync::atomic::AtomicBool;

use thrum_rt::time::sleep;

use super::*;
use crate::tls::HandshakeFailure;

/// How often handshakes failed for this reason. It waits for the first: the server may come to count after the client
/// has seen the end.
async fn failures(server: &Server, reason: HandshakeFailure) -> u64 {
    for _ in 0..500 {
        if let Some(&count) = server.stats().handshake_failures.get(&reason) {
            return count;
        }
        sleep(Duration::from_millis(10)).await;
    }
    panic!("none, but {:?}", server.stats().handshake_failures);
}

#[test]
fn a_request_goes_through() {
    let authority = Authority::new();
    let connector = authority.connector().build().unwrap();
    with_server(authority.acceptor(&["a.test"]), async |address, server| {
        let told = told(&connector, address, "a.test").await.unwrap();
        assert_eq!(
            told,
            "TLSv1.3 TLS_AES_256_GCM_SHA384 Some(\"http/1.1\") Some(\"a.test\") 0 false"
        );
        assert_eq!(server.stats().handshakes, 1);
    });
}

#[test]
fn a_session_is_resumed() {
    let authority = Authority::new();
    let connector = authority.connector().build().unwrap();
    with_server(authority.acceptor(&["a.test"]), async |address, _| {
        for resumed in ["false", "true", "true"] {
            let told = told(&connector, address, "a.test").await.unwrap();
            assert!(told.ends_with(resumed), "{told}");
        }
        // Another client has nothing to resume.
        let other = authority.connector().build().unwrap();
        let told = told(&other, address, "a.test").await.unwrap();
        assert!(told.ends_with("false"), "{told}");
    });
}

#[test]
fn the_name_chooses_the_certificate() {
    let authority = Authority::new();
    let connector = Connector::builder()
        .danger_accept_any_certificate()
        .build()
        .unwrap();
    let acceptor = authority
        .acceptor(&["a.test", "www.a.test"])
        .identity(authority.identity(&["*.b.test"]))
        .identity(authority.identity(&["exact.b.test"]))
        .identity(authority.identity(&["x.test"]).with_names(["Given.test"]));
    with_server(acceptor, async |address, _| {
        for (name, certificate) in [
            ("a.test", "a.test"),
            ("WWW.a.test", "a.test"),
            ("some.b.test", "*.b.test"),
            ("exact.b.test", "exact.b.test"),
            ("given.test", "x.test"),
            // Not the default's, but that of nobody.
            ("b.test", "a.test"),
            ("x.some.b.test", "a.test"),
            ("x.test", "a.test"),
            ("127.0.0.1", "a.test"),
        ] {
            let shown = shown(&connector, address, name).await;
            assert_eq!(shown[0], certificate, "for {name}");
        }
    });
}

#[test]
fn unknown_names_can_be_refused() {
    let authority = Authority::new();
    let connector = authority.connector().build().unwrap();
    let acceptor = authority.acceptor(&["a.test"]).refuse_unknown_names();
    with_server(acceptor, async |address, server| {
        told(&connector, address, "a.test").await.unwrap();
        let error = connect(&connector, address, "b.test").await.unwrap_err();
        assert!(error.to_string().contains("UnrecognisedName"), "{error}");
        assert_eq!(failures(&server, HandshakeFailure::UnknownName).await, 1);
        // Whoever names nothing gets the default.
        let any = Connector::builder()
            .danger_accept_any_certificate()
            .build()
            .unwrap();
        connect(&any, address, "127.0.0.1").await.unwrap();
    });
}

#[test]
fn a_client_does_not_trust_just_anyone() {
    let authority = Authority::new();
    let stranger = Authority::new().connector().build().unwrap();
    let connector = authority.connector().build().unwrap();
    with_server(authority.acceptor(&["a.test"]), async |address, server| {
        let error = connect(&stranger, address, "a.test").await.unwrap_err();
        assert!(
            error.to_string().contains("nobody that is trusted"),
            "{error}"
        );
        assert_eq!(failures(&server, HandshakeFailure::Refused).await, 1);
        let error = connect(&connector, address, "b.test").await.unwrap_err();
        assert!(error.to_string().contains("b.test"), "{error}");
        let error = connect(&connector, address, "no name").await.unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::InvalidInput);
    });
}

#[test]
fn both_sides_agree_on_a_protocol() {
    let authority = Authority::new();
    let connector = authority.connector().build().unwrap();
    with_server(authority.acceptor(&["a.test"]), async |address, server| {
        for (offered, agreed) in [
            ("http/1.1 h2", Some(&b"h2"[..])),
            ("http/1.1", Some(b"http/1.1")),
            ("http/1.0", Some(b"http/1.0")),
            ("", None),
        ] {
            let offered: Vec<_> = offered.split_whitespace().map(str::as_bytes).collect();
            let wire = plain(address).await;
            let wire = connector.connect(wire, "a.test", &offered).await.unwrap();
            assert_eq!(wire.tls().unwrap().protocol(), agreed);
        }
        let wire = plain(address).await;
        let error = connector.connect(wire, "a.test", &[b"gopher"]).await;
        assert!(error.is_err());
        assert_eq!(
            failures(&server, HandshakeFailure::NothingInCommon).await,
            1
        );
    });
}

#[test]
fn clients_may_show_a_certificate_or_must() {
    let (authority, clients, strangers) = (Authority::new(), Authority::new(), Authority::new());
    let nobody = authority.connector().build().unwrap();
    let client = |authority_of_client: &Authority| {
        let identity = authority_of_client.identity(&["client.test"]);
        authority.connector().identity(identity).build().unwrap()
    };
    let (known, unknown) = (client(&clients), client(&strangers));

    let asking = authority.acceptor(&["a.test"]).ask_clients(clients.roots());
    with_server(asking, async |address, server| {
        let anonymous = told(&nobody, address, "a.test").await.unwrap();
        assert!(anonymous.ends_with(" 0 false"), "{anonymous}");
        let named = told(&known, address, "a.test").await.unwrap();
        assert!(named.ends_with(" 1 false"), "{named}");
        let resumed = told(&known, address, "a.test").await.unwrap();
        assert!(resumed.ends_with(" 1 true"), "{resumed}");
        assert!(told(&unknown, address, "a.test").await.is_err());
        assert_eq!(
            failures(&server, HandshakeFailure::ClientCertificate).await,
            1
        );
    });

    let requiring = authority
        .acceptor(&["a.test"])
        .require_clients(clients.roots());
    with_server(requiring, async |address, server| {
        let error = told(&nobody, address, "a.test").await.unwrap_err();
        assert!(error.to_string().contains("CertificateRequired"), "{error}");
        let named = told(&known, address, "a.test").await.unwrap();
        assert!(named.ends_with(" 1 false"), "{named}");
        assert_eq!(
            failures(&server, HandshakeFailure::ClientCertificate).await,
            1
        );
    });
}

#[test]
fn certificates_are_reloaded_under_load() {
    let authority = Authority::new();
    let folder = tempfile::tempdir().unwrap();
    let (chain, key) = (
        folder.path().join("chain.pem"),
        folder.path().join("key.pem"),
    );
    let write = |names: &[&str]| {
        let (certificate, private) = authority.pem(names);
        std::fs::write(&chain, certificate).unwrap();
        std::fs::write(&key, private).unwrap();
    };
    write(&["a.test", "old.test"]);
    let acceptor = Acceptor::builder().files(&chain, &key).build().unwrap();
    let connector = authority.connector().build().unwrap();
    with_application(
        acceptor.clone(),
        service_fn(tell),
        async |address, server| {
            let done = Arc::new(AtomicBool::new(false));
            let clients: Vec<_> = (0..4)
                .map(|_| {
                    let (authority_roots, done) = (authority.roots(), done.clone());
                    thrum_rt::spawn(async move {
                        let mut requests = 0;
                        while !done.load(Ordering::Relaxed) || requests == 0 {
                            // A new one, so that each handshake is a whole one.
                            let connector = Connector::builder()
                                .roots(authority_roots.clone())
                                .build()
                                .unwrap();
                            told(&connector, address, "a.test").await.unwrap();
                            requests += 1;
                        }
                    })
                })
                .collect();
            assert_eq!(
                shown(&connector, address, "a.test").await,
                ["a.test", "old.test"]
            );
            write(&["a.test", "new.test"]);
            for _ in 0..20 {
                acceptor.reload().unwrap();
                sleep(Duration::from_millis(5)).await;
            }
            let fresh = authority.connector().build().unwrap();
            assert_eq!(
                shown(&fresh, address, "a.test").await,
                ["a.test", "new.test"]
            );

            // Broken ones are not taken.
            std::fs::write(&key, authority.pem(&["a.test"]).1).unwrap();
            let error = acceptor.reload().unwrap_err().to_string();
            assert!(
                error.contains("key.pem: the private key does not belong"),
                "{error}"
            );
            std::fs::write(&chain, "nothing").unwrap();
            let error = acceptor.reload().unwrap_err().to_string();
            assert!(
                error.contains("chain.pem: there is no certificate"),
                "{error}"
            );
            let fresh = authority.connector().build().unwrap();
            assert_eq!(
                shown(&fresh, address, "a.test").await,
                ["a.test", "new.test"]
            );

            done.store(true, Ordering::Relaxed);
            for client in clients {
                client.await.unwrap();
            }
            // But for clients that were gone before they got their tickets.
            let mut failures = server.stats().handshake_failures;
            failures.remove(&HandshakeFailure::Closed);
            assert!(failures.is_empty(), "{failures:?}");
        },
    );
}

#[test]
fn plain_http_is_told_so() {
    let authority = Authority::new();
    with_server(authority.acceptor(&["a.test"]), async |address, server| {
        let mut wire = plain(address).await;
        let answer = get(&mut wire).await.unwrap();
        assert!(
            answer.starts_with("HTTP/1.1 400 Bad Request\r\n"),
            "{answer}"
        );
        let (head, text) = answer.split_once("\r\n\r\n").unwrap();
        assert!(
            head.contains(&format!("content-length: {}\r\n", text.len())),
            "{answer}"
        );
        assert!(text.contains("HTTPS"), "{answer}");
        drop(wire);
        assert_eq!(failures(&server, HandshakeFailure::PlainHttp).await, 1);
    });
}

#[test]
fn what_is_no_handshake_ends_and_is_counted() {
    let authority = Authority::new();
    with_server(authority.acceptor(&["a.test"]), async |address, server| {
        for (bytes, reason) in [
            (&b"\x00\x01\x02\x03 garbage"[..], HandshakeFailure::NotTls),
            (&b"SSH-2.0-OpenSSH_9.9\r\n"[..], HandshakeFailure::NotTls),
            (
                &b"\x16\x03\x01\x00\x05\x01\x00\x00\x01\x00"[..],
                HandshakeFailure::Other,
            ),
        ] {
            let before = server
                .stats()
                .handshake_failures
                .get(&reason)
                .copied()
                .unwrap_or(0);
            let mut wire = plain(address).await;
            wire.write_all(bytes).await.unwrap();
            // An alert perhaps, and the end, however it comes.
            let _ = wire.read_to_end(&mut Vec::new()).await;
            drop(wire);
            while server
                .stats()
                .handshake_failures
                .get(&reason)
                .copied()
                .unwrap_or(0)
                == before
            {
                sleep(Duration::from_millis(5)).await;
            }
        }
        drop(plain(address).await);
        assert_eq!(failures(&server, HandshakeFailure::Closed).await, 1);
        while server.stats().open > 0 {
            sleep(Duration::from_millis(5)).await;
        }
    });
}

#[test]
fn a_handshake_that_does_not_end_is_ended() {
    let authority = Authority::new();
    with_server(authority.acceptor(&["a.test"]), async |address, server| {
        let mut wire = plain(address).await;
        wire.write_all(b"\x16\x03\x01\x02\x00\x01").await.unwrap();
        let mut rest = Vec::new();
        wire.read_to_end(&mut rest).await.unwrap();
        assert_eq!(failures(&server, HandshakeFailure::Timeout).await, 1);
    });
}

#[test]
fn a_server_that_ends_waits_for_no_handshake() {
    let authority = Authority::new();
    with_server(authority.acceptor(&["a.test"]), async |address, server| {
        let _wire = plain(address).await;
        while server.stats().open == 0 {
            sleep(Duration::from_millis(5)).await;
        }
        let drained = server.shutdown(Duration::from_secs(20)).await;
        assert_eq!((drained.finished, drained.cut), (1, 0));
        assert_eq!(failures(&server, HandshakeFailure::Ending).await, 1);
    });
}
