//! Every case in every way that its bytes may come: the answers are the same.

use std::collections::HashSet;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use proptest::prelude::*;
use proptest::sample::Index;
use thrum_http::{Reject, Server, Stats, service_fn};
use thrum_rt::net::Shutdown;
use thrum_rt::time::sleep;

use crate::case::{Case, Then, cases, next};
use crate::server::{answers, application, server};
use crate::support::{connect, exchange, read_to_end, with_service};

/// Of longer cases, not every cut is tried.
const ALL_CUTS: usize = 400;

#[test]
fn cases_have_names_and_sources() {
    let cases = cases();
    assert!(cases.len() >= 700, "{} cases", cases.len());
    let mut names = HashSet::new();
    let mut bytes = HashSet::new();
    for case in &cases {
        assert!(names.insert(case.name), "{} twice", case.name);
        assert!(bytes.insert(&case.bytes), "{} is another's", case.name);
        let known = [
            "RFC ",
            "CVE-",
            "GHSA-",
            "RUSTSEC-",
            "HTTP Garden",
            "Kettle",
            "Funky chunks",
        ];
        assert!(
            known.iter().any(|known| case.source.contains(known)),
            "{} has no source",
            case.name
        );
    }
}

#[test]
fn whole() {
    with_service(
        server(),
        service_fn(application),
        async |address, server| {
            let mut wrong = Vec::new();
            for case in cases() {
                let before = server.stats();
                let text = exchange(address, &case.bytes).await;
                let mut found = answers(&text);
                // The reason is not in the answer, but it is counted.
                if let (Some(last), Some(reason)) = (found.last_mut(), reason(&before, &server))
                    && last.len() == 3
                {
                    *last += &format!(" {reason:?}");
                }
                let handled = found.iter().filter(|answer| !answer.starts_with("100"));
                // How long chunks are shows only while the handler reads them.
                let is_chunked = case.bytes.windows(7).any(|bytes| bytes == b"chunked");
                let handled = handled.filter(|answer| {
                    !is_refusal(answer)
                        || is_handlers(answer)
                        || is_chunked && answer.starts_with("413")
                });
                let requests = server.stats().requests - before.requests;
                assert_eq!(requests, handled.count() as u64, "of {}: {text}", case.name);
                if found != case.answers {
                    wrong.push(format!("{}: {found:?}, not {:?}", case.name, case.answers));
                }
            }
            assert!(
                wrong.is_empty(),
                "{}\n{} of them",
                wrong.join("\n"),
                wrong.len()
            );
        },
    );
}

#[test]
fn behind_a_good_request() {
    with_service(server(), service_fn(application), async |address, _| {
        for case in cases() {
            let bytes = [next("/first").as_bytes(), &case.bytes].concat();
            let found = answers(&exchange(address, &bytes).await);
            let expected = [&["GET /first"], case.answers].concat();
            assert_same(&found, &expected, &case, "behind another");
        }
    });
}

/// What stands behind a case is a request of its own, or none at all.
#[test]
fn before_a_good_request() {
    with_service(server(), service_fn(application), async |address, _| {
        for case in cases().into_iter().filter(|case| case.then != Then::Within) {
            let bytes = [&case.bytes[..], next("/behind").as_bytes()].concat();
            let found = answers(&exchange(address, &bytes).await);
            let mut expected = case.answers.to_vec();
            if case.then != Then::Closed {
                expected.push("GET /behind");
            }
            assert_same(&found, &expected, &case, "before another");
        }
    });
}

#[test]
fn cut_at_every_byte() {
    // A server for some cases each: the time that one may take has an end.
    for cases in cases().chunks(150) {
        with_service(server(), service_fn(application), async |address, _| {
            for case in cases {
                every_cut(address, case).await;
            }
        });
    }
}

/// All cuts of a case at once.
async fn every_cut(address: SocketAddr, case: &Case) {
    let step = case.bytes.len().div_ceil(ALL_CUTS).max(1);
    let cuts: Vec<_> = (1..case.bytes.len())
        .step_by(step)
        .map(|cut| {
            (
                cut,
                thrum_rt::spawn(in_two(address, case.bytes.clone(), cut)),
            )
        })
        .collect();
    for (cut, answer) in cuts {
        let found = answers(&answer.await.unwrap());
        assert_same(&found, case.answers, case, &format!("cut at {cut}"));
    }
}

#[test]
fn byte_by_byte() {
    with_service(server(), service_fn(application), async |address, _| {
        let all: Vec<_> = cases()
            .into_iter()
            .map(|case| {
                let bytes = case.bytes.clone();
                (case, thrum_rt::spawn(byte_wise(address, bytes)))
            })
            .collect();
        for (case, answer) in all {
            let found = answers(&answer.await.unwrap());
            assert_same(&found, case.answers, &case, "byte by byte");
        }
    });
}

/// Any case, behind any others that leave the connection open, cut anywhere into any number of pieces.
#[test]
fn in_any_company_in_any_pieces() {
    with_service(server(), service_fn(application), async |address, _| {
        // The client blocks, so that the test can be an ordinary property; a thread of its own is not in the server's way.
        let client = std::thread::spawn(move || {
            let cases = cases();
            let open: Vec<_> = cases
                .iter()
                .filter(|case| case.then == Then::Answered)
                .collect();
            let before = prop::collection::vec(any::<Index>(), 0..5);
            let cuts = prop::collection::vec(any::<Index>(), 0..12);
            let config = ProptestConfig {
                cases: 400,
                failure_persistence: None,
                ..Default::default()
            };
            proptest!(config, |(before in before, last in any::<Index>(), cuts in cuts)| {
                let mut sent: Vec<&Case> = before.iter().map(|index| *index.get(&open)).collect();
                sent.push(last.get(&cases));
                let bytes = sent.iter().flat_map(|case| case.bytes.clone()).collect::<Vec<_>>();
                let expected = sent.iter().flat_map(|case| case.answers).copied().collect::<Vec<_>>();
                let mut cuts: Vec<_> = cuts.iter().map(|cut| cut.index(bytes.len() + 1)).collect();
                cuts.sort_unstable();
                let found = answers(&in_pieces(address, &bytes, &cuts));
                let names: Vec<_> = sent.iter().map(|case| case.name).collect();
                prop_assert_eq!(statuses(&found), statuses(&expected), "{:?} cut at {:?}", names, cuts);
            });
        });
        while !client.is_finished() {
            sleep(Duration::from_millis(5)).await;
        }
        if let Err(panic) = client.join() {
            std::panic::resume_unwind(panic);
        }
    });
}

/// Sends the bytes up to `cut`, and the rest a moment later.
async fn in_two(address: SocketAddr, bytes: Vec<u8>, cut: usize) -> String {
    let stream = connect(address).await;
    let _ = stream.write_all(&bytes[..cut]).await;
    sleep(Duration::from_millis(2)).await;
    let _ = stream.write_all(&bytes[cut..]).await;
    let _ = stream.shutdown(Shutdown::Write);
    read_to_end(&stream).await
}

async fn byte_wise(address: SocketAddr, bytes: Vec<u8>) -> String {
    let stream = connect(address).await;
    let _ = stream.set_nodelay(true);
    for byte in bytes {
        if stream.write_all(&[byte]).await.is_err() {
            break; // refused already
        }
        thrum_rt::yield_now().await;
    }
    let _ = stream.shutdown(Shutdown::Write);
    read_to_end(&stream).await
}

/// Sends the bytes in the pieces that the cuts make of them, from a thread.
fn in_pieces(address: SocketAddr, bytes: &[u8], cuts: &[usize]) -> String {
    let mut stream = TcpStream::connect(address).unwrap();
    stream.set_nodelay(true).unwrap();
    let mut at = 0;
    for &cut in cuts.iter().chain([&bytes.len()]) {
        if stream.write_all(&bytes[at..cut]).is_err() {
            break; // refused already
        }
        at = cut;
        std::thread::sleep(Duration::from_micros(300));
    }
    let _ = stream.shutdown(Shutdown::Write);
    let mut all = Vec::new();
    let _ = stream.read_to_end(&mut all);
    String::from_utf8_lossy(&all).into_owned()
}

/// Why something was refused since `before`.
fn reason(before: &Stats, server: &Server) -> Option<Reject> {
    let count = |stats: &Stats, reject| stats.rejects.get(reject).copied().unwrap_or_default();
    let now = server.stats();
    let mut reasons = now.rejects.keys();
    reasons
        .find(|reject| count(&now, reject) > count(before, reject))
        .copied()
}

fn assert_same(found: &[String], expected: &[&str], case: &Case, how: &str) {
    let (name, bytes) = (case.name, case.bytes.escape_ascii());
    assert_eq!(statuses(found), statuses(expected), "{name} {how}: {bytes}");
}

/// The answers without the reasons of refusals, which only `whole` knows.
fn statuses<S: AsRef<str>>(answers: &[S]) -> Vec<&str> {
    let answers = answers.iter().map(AsRef::as_ref);
    answers
        .map(|answer| {
            if is_refusal(answer) {
                &answer[..3]
            } else {
                answer
            }
        })
        .collect()
}

fn is_refusal(answer: &str) -> bool {
    answer.starts_with(['4', '5'])
}

/// Whether it is the handler that refused: because of what is wrong with a body.
fn is_handlers(answer: &str) -> bool {
    ["400 Malformed", "400 Truncated", "400 TooLarge"]
        .iter()
        .any(|start| answer.starts_with(start))
}
