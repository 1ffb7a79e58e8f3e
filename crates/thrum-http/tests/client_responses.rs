//! The client against servers that say anything: every framing, whole and byte by byte, and what is wrong with some.

#[path = "support/scripted.rs"]
#[allow(dead_code, reason = "each test file uses its part")]
mod scripted;

use std::future::IntoFuture;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use thrum_http::client::{BadResponse, Error, Limits, Phase, Timeouts};
use thrum_http::{BodyError, Client, Method, upgrade};

use scripted::{HEAD, Scripted, Step, answer, run, say};

/// Asks a server that answers with this and closes, whole or byte by byte.
async fn ask(method: Method, text: &str, drip: bool) -> Result<(u16, String), Error> {
    let bytes = text.replace('|', "\r\n").into_bytes();
    let step = if drip {
        Step::Drip(bytes)
    } else {
        Step::Say(bytes)
    };
    let server = Scripted::start(vec![vec![HEAD, step]]).await;
    let response = Client::new().request(method, server.url()).await?;
    let status = response.status().as_u16();
    Ok((status, response.text().await?))
}

#[test]
fn every_framing() {
    run(async {
        for (text, expected) in [
            ("HTTP/1.1 200 OK|Content-Length: 5||hello", (200, "hello")),
            (
                "HTTP/1.1 200 OK|Content-Length: 5|Content-Length: 5||hello",
                (200, "hello"),
            ),
            ("HTTP/1.1 200 OK|Content-Length: 0||", (200, "")),
            (
                "HTTP/1.1 200 OK|Content-Length: 5||hello and more",
                (200, "hello"),
            ),
            (
                "HTTP/1.1 200 OK|Transfer-Encoding: chunked||5|hello|1;a=b| |5|world|0||",
                (200, "hello world"),
            ),
            (
                "HTTP/1.1 200 OK|Transfer-Encoding: chunked||2|hi|0|Trailer-One: 1||",
                (200, "hi"),
            ),
            ("HTTP/1.1 200 OK||until the end", (200, "until the end")),
            ("HTTP/1.0 200 OK||until the end", (200, "until the end")),
            ("HTTP/1.1 204 None||", (204, "")),
            ("HTTP/1.1 304 Same|Content-Length: 5||", (304, "")),
            ("HTTP/1.1 404 ||gone", (404, "gone")),
            ("HTTP/1.1 200||no reason", (200, "no reason")),
            ("HTTP/1.1 799 Odd|Content-Length: 1||x", (799, "x")),
            (
                "HTTP/1.1 100 Continue||HTTP/1.1 102 Processing||HTTP/1.1 200 OK|Content-Length: 2||hi",
                (200, "hi"),
            ),
        ] {
            for drip in [false, true] {
                let got = ask(Method::GET, text, drip).await;
                let (status, body) = got.unwrap_or_else(|error| panic!("{text}: {error}"));
                assert_eq!((status, body.as_str()), expected, "{text}");
            }
        }
        let (_, body) = ask(Method::HEAD, "HTTP/1.1 200 OK|Content-Length: 5||", false)
            .await
            .unwrap();
        assert_eq!(body, "");
    });
}

#[test]
fn responses_that_are_refused() {
    use BadResponse::*;
    run(async {
        for (text, expected) in [
            (
                "HTTP/1.1 200 OK|Content-Length: 5|Content-Length: 6||hello!",
                BadContentLength,
            ),
            (
                "HTTP/1.1 200 OK|Content-Length: 5|Transfer-Encoding: chunked||0||",
                AmbiguousLength,
            ),
            (
                "HTTP/1.1 200 OK|Transfer-Encoding: gzip||x",
                BadTransferEncoding,
            ),
            (
                "HTTP/1.1 101 Switching Protocols|Upgrade: x||",
                UnexpectedUpgrade,
            ),
        ] {
            for drip in [false, true] {
                let error = ask(Method::GET, text, drip).await.unwrap_err();
                assert_eq!(error.phase(), Phase::Head, "{text}: {error}");
                let source = std::error::Error::source(&error).unwrap();
                assert_eq!(source.downcast_ref(), Some(&expected), "{text}: {error}");
            }
        }
        for text in [
            "",
            "HTTP/1.1 200 O",
            "HTTP/1.1 200 OK|A: b|",
            "SSH-2.0-OpenSSH||",
            "HTTP/2 200 OK||",
            "|HTTP/1.1 200 OK||",
            "HTTP/1.1 200 OK| folded: x||",
            "HTTP/1.1 200 OK\nA: b\n\n",
            "HTTP/1.1 100 Continue||",
        ] {
            let error = ask(Method::GET, text, false).await.unwrap_err();
            assert_eq!(error.phase(), Phase::Head, "{text}: {error}");
        }
        let many = "HTTP/1.1 100 Continue||".repeat(33) + "HTTP/1.1 200 OK||";
        let error = ask(Method::GET, &many, false).await.unwrap_err();
        let source = std::error::Error::source(&error).unwrap();
        assert_eq!(source.downcast_ref(), Some(&TooManyInterim));
    });
}

#[test]
fn bodies_that_break_off() {
    run(async {
        for text in [
            "HTTP/1.1 200 OK|Content-Length: 5||hell",
            "HTTP/1.1 200 OK|Transfer-Encoding: chunked||5|hello|",
            "HTTP/1.1 200 OK|Transfer-Encoding: chunked||5|hello|0|",
            "HTTP/1.1 200 OK|Transfer-Encoding: chunked||5|hel",
        ] {
            let error = ask(Method::GET, text, false).await.unwrap_err();
            assert!(error.is_body(), "{text}: {error}");
            let source = std::error::Error::source(&error).unwrap();
            assert!(
                matches!(source.downcast_ref(), Some(BodyError::Truncated)),
                "{text}: {error}"
            );
        }
        for text in ["5|hello!|0||", "x|", "5hello", "-1|", "0|A : b||"] {
            let text = format!("HTTP/1.1 200 OK|Transfer-Encoding: chunked||{text}");
            let error = ask(Method::GET, &text, false).await.unwrap_err();
            let source = std::error::Error::source(&error).unwrap();
            assert!(
                matches!(source.downcast_ref(), Some(BodyError::Malformed(_))),
                "{text}: {error}"
            );
        }
    });
}

#[test]
fn heads_have_a_limit_and_grow_up_to_it() {
    run(async {
        let head = |bytes: usize| {
            format!(
                "HTTP/1.1 200 OK|A: {}|Content-Length: 2||hi",
                "a".repeat(bytes)
            )
        };
        let (_, body) = ask(Method::GET, &head(60_000), false).await.unwrap();
        assert_eq!(body, "hi");
        for bytes in [64 * 1024, 200_000] {
            let error = ask(Method::GET, &head(bytes), false).await.unwrap_err();
            assert_eq!(error.phase(), Phase::Head, "{error}");
        }
        let fields = format!("HTTP/1.1 200 OK|{}|", "A: b|".repeat(201));
        let error = ask(Method::GET, &fields, false).await.unwrap_err();
        assert_eq!(error.phase(), Phase::Head, "{error}");
    });
}

#[test]
fn collected_bodies_have_a_limit() {
    run(async {
        let text = "HTTP/1.1 200 OK|Content-Length: 5||hello";
        let server = Scripted::start(vec![answer(text).into()]).await;
        let response = Client::new().get(server.url()).await.unwrap();
        let error = response.limit(4).bytes().await.unwrap_err();
        let source = std::error::Error::source(&error).unwrap();
        assert!(
            matches!(source.downcast_ref(), Some(BodyError::TooLarge)),
            "{error}"
        );
    });
}

#[test]
fn interim_responses_are_told() {
    run(async {
        let text = "HTTP/1.1 103 Early Hints|Link: </a>||HTTP/1.1 200 OK|Content-Length: 0||";
        let server = Scripted::start(vec![answer(text).into()]).await;
        let told = Arc::new(Mutex::new(Vec::new()));
        let notes = told.clone();
        let request = Client::new()
            .get(server.url())
            .on_interim(move |status, headers| {
                notes
                    .lock()
                    .unwrap()
                    .push((status.as_u16(), headers["link"].clone()));
            });
        assert_eq!(request.await.unwrap().status(), 200);
        let told = told.lock().unwrap();
        assert_eq!(told.len(), 1);
        assert_eq!(told[0].0, 103);
        assert_eq!(told[0].1, "</a>");
    });
}

#[test]
fn trailers_are_handed_on() {
    run(async {
        let text = "HTTP/1.1 200 OK|Transfer-Encoding: chunked||2|hi|0|Digest: x||";
        let server = Scripted::start(vec![answer(text).into()]).await;
        let response = Client::new().get(server.url()).await.unwrap();
        let mut body = response.into_body();
        let mut trailers = None;
        while let Some(frame) = std::future::poll_fn(|cx| {
            http_body::Body::poll_frame(std::pin::Pin::new(&mut body), cx)
        })
        .await
        {
            if let Ok(fields) = frame.unwrap().into_trailers() {
                trailers = Some(fields);
            }
        }
        assert_eq!(trailers.unwrap()["digest"], "x");
    });
}

#[test]
fn a_connection_is_upgraded() {
    use futures_lite::{AsyncReadExt, AsyncWriteExt};
    run(async {
        let text = "HTTP/1.1 101 Switching Protocols|Upgrade: shout|Connection: upgrade||AHEAD";
        let script = vec![HEAD, say(text), Step::Await("hello"), say("HELLO")];
        let server = Scripted::start(vec![script]).await;
        let request = Client::new().get(server.url()).header("upgrade", "shout");
        let mut response = request.await.unwrap();
        assert_eq!(response.status(), 101);
        let mut connection = upgrade::on(&mut response).unwrap().await.unwrap();
        connection.write_all(b"hello").await.unwrap();
        let mut all = String::new();
        connection.read_to_string(&mut all).await.unwrap();
        assert_eq!(all, "AHEADHELLO");
    });
}

#[test]
fn each_phase_has_its_time() {
    run(async {
        let mut timeouts = Timeouts::default();
        timeouts.head = Duration::from_millis(50);
        timeouts.body = Duration::from_millis(50);
        timeouts.write = Duration::from_millis(50);
        let client = Client::builder().timeouts(timeouts).build();
        let slow = vec![
            vec![HEAD, Step::UntilClosed],
            vec![HEAD, say("HTTP/1.1 200 OK|Content-"), Step::UntilClosed],
            vec![
                HEAD,
                say("HTTP/1.1 200 OK|Content-Length: 5||hell"),
                Step::UntilClosed,
            ],
        ];
        for (script, phase) in slow
            .into_iter()
            .zip([Phase::Head, Phase::Head, Phase::Body])
        {
            let server = Scripted::start(vec![script]).await;
            let error = match client.get(server.url()).await {
                Ok(response) => response.text().await.unwrap_err(),
                Err(error) => error,
            };
            assert_eq!(error.phase(), phase, "{error}");
            assert!(error.is_timeout(), "{error}");
            assert!(error.to_string().starts_with(&server.url()), "{error}");
            let io: std::io::Error = error.into();
            assert_eq!(io.kind(), std::io::ErrorKind::TimedOut);
        }
        // It takes nothing of a large body.
        let pause = Step::Pause(Duration::from_secs(3));
        let server = Scripted::start(vec![vec![pause]]).await;
        let request = client.post(server.url()).body(vec![0; 50_000_000]);
        let error = request.await.unwrap_err();
        assert_eq!(error.phase(), Phase::Send, "{error}");
        assert!(error.is_timeout(), "{error}");
        // The whole request's time, whatever its phase.
        let patient = Client::new();
        let server = Scripted::start(vec![vec![HEAD, Step::UntilClosed]]).await;
        let request = patient.get(server.url()).timeout(Duration::from_millis(50));
        let error = request.await.unwrap_err();
        assert!(error.is_timeout(), "{error}");
        assert!(error.to_string().contains("50ms is over"), "{error}");
        let text = "HTTP/1.1 200 OK|Content-Length: 5||hell";
        let server = Scripted::start(vec![vec![HEAD, say(text), Step::UntilClosed]]).await;
        let request = patient
            .get(server.url())
            .timeout(Duration::from_millis(100));
        let error = request.await.unwrap().text().await.unwrap_err();
        assert!(error.is_timeout() && error.is_body(), "{error}");
    });
}

#[test]
fn nobody_there() {
    run(async {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        drop(listener);
        let error = thrum_http::get(format!("http://{address}/"))
            .await
            .unwrap_err();
        assert!(
            error.is_connect() && error.phase() == Phase::Connect,
            "{error}"
        );
        let mut limits = Limits::default();
        limits.connections_per_host = 1;
        let mut timeouts = Timeouts::default();
        timeouts.queue = Duration::from_millis(50);
        let client = Client::builder().limits(limits).timeouts(timeouts).build();
        let server = Scripted::start(vec![vec![HEAD, Step::UntilClosed]]).await;
        let holder = thrum_rt::spawn(client.get(server.url()).into_future());
        while server.accepted() == 0 {
            thrum_rt::time::sleep(Duration::from_millis(5)).await;
        }
        let error = client.get(server.url()).await.unwrap_err();
        assert_eq!(error.phase(), Phase::Queue, "{error}");
        assert!(error.is_timeout() && error.is_connect());
        holder.abort();
    });
}
