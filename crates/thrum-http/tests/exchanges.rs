//! What goes right: keep-alive, pipelining, bodies in and out, HEAD, HTTP/1.0, limits of time, panics, the end.

mod support;

use std::time::{Duration, Instant};

use support::{connect, exchange, notes, read_to_end, read_until, short, statuses, with_server};
use thrum_rt::time::{sleep, timeout};

const MS: Duration = Duration::from_millis(1);

#[test]
fn pipelined_requests_are_answered_in_order() {
    with_server(short(), async |address, server| {
        let paths = ["/one", "/slow", "/two", "/compute", "/three"];
        let requests = paths
            .map(|path| format!("GET {path} HTTP/1.1\r\nHost: a\r\n\r\n"))
            .concat();
        let answer = exchange(address, requests.as_bytes()).await;
        assert_eq!(statuses(&answer), [200; 5]);
        let at = |text: &str| {
            answer
                .find(text)
                .unwrap_or_else(|| panic!("no {text} in {answer}"))
        };
        assert!(at("/one") < at("\r\nslow") && at("\r\nslow") < at("/two"));
        assert!(at("/two") < at("\r\ncomputed") && at("\r\ncomputed") < at("/three"));
        assert_eq!((server.stats().accepted, server.stats().requests), (1, 5));
    });
}

#[test]
fn what_is_done_is_not_held_back_by_what_is_not() {
    with_server(short(), async |address, _| {
        let stream = connect(address).await;
        let requests = b"GET /one HTTP/1.1\r\nHost: a\r\n\r\nGET /slow HTTP/1.1\r\nHost: a\r\n\r\n";
        stream.write_all(requests).await.unwrap();
        let begin = Instant::now();
        read_until(&stream, "/one").await;
        assert!(begin.elapsed() < MS * 80, "{:?}", begin.elapsed());
        read_until(&stream, "slow").await;
    });
}

#[test]
fn byte_by_byte_is_the_same() {
    with_server(short(), async |address, _| {
        let stream = connect(address).await;
        let request = b"POST /echo HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n5;x=y\r\nhello\r\n1\r\n!\r\n0\r\nTrailer: x\r\n\r\nGET /next HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n";
        for byte in request {
            stream.write_all(&[*byte]).await.unwrap();
            thrum_rt::yield_now().await;
        }
        let answer = read_to_end(&stream).await;
        assert_eq!(statuses(&answer), [200, 200]);
        assert!(
            answer.contains("hello!") && answer.contains("/next"),
            "{answer}"
        );
    });
}

#[test]
fn bodies_reach_the_handler_wherever_it_is() {
    with_server(short(), async |address, _| {
        for path in ["/echo", "/through", "/elsewhere"] {
            for framed in [
                "Content-Length: 11\r\n\r\nhello world",
                "Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n6\r\n world\r\n0\r\n\r\n",
            ] {
                let request = format!(
                    "POST {path} HTTP/1.1\r\nHost: a\r\n{framed}GET /next HTTP/1.1\r\nHost: a\r\n\r\n"
                );
                let answer = exchange(address, request.as_bytes()).await;
                assert_eq!(
                    statuses(&answer),
                    [200, 200],
                    "{path} {framed:?} gave {answer}"
                );
                assert!(answer.contains("/next"));
                assert!(
                    answer.contains("hello") && answer.contains("world"),
                    "{answer}"
                );
            }
        }
    });
}

#[test]
fn a_body_that_nobody_reads_is_read_away_or_the_connection_closed() {
    with_server(short(), async |address, _| {
        let request = |length: usize| {
            format!(
                "POST /ignore HTTP/1.1\r\nHost: a\r\nContent-Length: {length}\r\n\r\n{}GET /next HTTP/1.1\r\nHost: a\r\n\r\n",
                "x".repeat(length)
            )
        };
        let answer = exchange(address, request(400).as_bytes()).await;
        assert_eq!(statuses(&answer), [200, 200]);
        let answer = exchange(address, request(900).as_bytes()).await;
        assert_eq!(statuses(&answer), [200], "above the limit for this");
    });
}

#[test]
fn a_hundred_comes_only_when_the_body_is_wanted() {
    with_server(short(), async |address, _| {
        let head = |path: &str| {
            format!(
                "POST {path} HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\nExpect: 100-continue\r\n\r\n"
            )
        };
        let stream = connect(address).await;
        stream.write_all(head("/echo").as_bytes()).await.unwrap();
        assert_eq!(
            read_until(&stream, "\r\n\r\n").await,
            "HTTP/1.1 100 Continue\r\n\r\n"
        );
        stream.write_all(b"hello").await.unwrap();
        read_until(&stream, "hello").await;
        let stream = connect(address).await;
        stream.write_all(head("/ignore").as_bytes()).await.unwrap();
        let answer = read_to_end(&stream).await;
        assert_eq!(statuses(&answer), [200]);
        assert!(
            answer.contains("connection: close"),
            "it cannot be known whether the body comes"
        );
    });
}

#[test]
fn head_and_bodiless_answers() {
    with_server(short(), async |address, _| {
        let answer = exchange(address, b"HEAD /abc HTTP/1.1\r\nHost: a\r\n\r\nGET /nothing HTTP/1.1\r\nHost: a\r\n\r\nGET /next HTTP/1.1\r\nHost: a\r\n\r\n").await;
        assert_eq!(statuses(&answer), [200, 204, 200]);
        let (head, rest) = answer.split_once("\r\n\r\n").unwrap();
        assert!(head.contains("content-length: 4"), "{head}");
        assert!(
            rest.starts_with("HTTP/1.1 204"),
            "no body after HEAD: {rest}"
        );
        assert!(
            !rest
                .split_once("\r\n\r\n")
                .unwrap()
                .0
                .contains("content-length")
        );
    });
}

#[test]
fn http_1_0_and_who_closes() {
    with_server(short(), async |address, _| {
        let answer = exchange(address, b"GET /a HTTP/1.0\r\n\r\nGET /b HTTP/1.0\r\n\r\n").await;
        assert_eq!(statuses(&answer), [200]);
        let answer = exchange(
            address,
            b"GET /a HTTP/1.0\r\nConnection: keep-alive\r\n\r\nGET /b HTTP/1.0\r\n\r\n",
        )
        .await;
        assert_eq!(statuses(&answer), [200, 200]);
        assert!(answer.contains("connection: keep-alive"));
        let answer = exchange(
            address,
            b"GET /stream HTTP/1.0\r\nConnection: keep-alive\r\n\r\n",
        )
        .await;
        assert!(
            answer.ends_with("piece 1;piece 2;piece 3;"),
            "ended by closing: {answer}"
        );
        let answer = exchange(address, b"GET /stream HTTP/1.1\r\nHost: a\r\n\r\n").await;
        assert!(
            answer.ends_with("8\r\npiece 1;\r\n8\r\npiece 2;\r\n8\r\npiece 3;\r\n0\r\n\r\n"),
            "{answer}"
        );
        let close = b"GET /close HTTP/1.1\r\nHost: a\r\n\r\nGET /b HTTP/1.1\r\nHost: a\r\n\r\n";
        assert_eq!(statuses(&exchange(address, close).await), [200]);
    });
}

#[test]
fn slow_heads_idle_connections_and_slow_bodies_are_timed_out() {
    with_server(short(), async |address, server| {
        let begin = Instant::now();
        let head = connect(address).await;
        head.write_all(b"GET / HT").await.unwrap();
        assert_eq!(statuses(&read_to_end(&head).await), [408]);
        let idle = connect(address).await;
        assert_eq!(read_to_end(&idle).await, "", "closed without a word");
        let body = connect(address).await;
        body.write_all(b"POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nhel")
            .await
            .unwrap();
        let answer = read_to_end(&body).await;
        assert!(answer.contains("too slowly"), "{answer}");
        assert_eq!(server.stats().body_timeouts, 1);
        assert!(begin.elapsed() < MS * 3000);
    });
}

#[test]
fn a_head_that_trickles_is_not_given_more_time() {
    with_server(short(), async |address, _| {
        let stream = connect(address).await;
        let begin = Instant::now();
        let trickle = async {
            for byte in b"GET / HTTP/1.1\r\nHost: a\r\nA: "
                .iter()
                .chain([b'x'; 100].iter())
            {
                if stream.write_all(&[*byte]).await.is_err() {
                    break;
                }
                sleep(MS * 20).await;
            }
        };
        let _ = timeout(MS * 400, trickle).await;
        assert_eq!(statuses(&read_to_end(&stream).await), [408]);
        assert!(begin.elapsed() < MS * 1500);
    });
}

#[test]
fn who_does_not_read_its_answer_is_cut_off() {
    with_server(short(), async |address, server| {
        let stream = connect(address).await;
        stream
            .write_all(b"GET /large HTTP/1.1\r\nHost: a\r\n\r\n")
            .await
            .unwrap();
        let begin = Instant::now();
        while server.stats().write_timeouts == 0 {
            assert!(begin.elapsed() < MS * 5000, "it waits for ever");
            sleep(MS * 20).await;
        }
        drop(stream);
    });
}

#[test]
fn a_large_answer_gets_through_to_who_reads() {
    with_server(short(), async |address, _| {
        let answer = exchange(address, b"GET /large HTTP/1.1\r\nHost: a\r\n\r\n").await;
        let (head, body) = answer.split_once("\r\n\r\n").unwrap();
        assert!(head.contains("content-length: 20000000"));
        assert!(body.len() == 20_000_000 && body.bytes().all(|byte| byte == b'x'));
    });
}

#[test]
fn a_panic_is_a_500_and_hurts_nobody_else() {
    with_server(short(), async |address, server| {
        let other = connect(address).await;
        other
            .write_all(b"GET /slow HTTP/1.1\r\nHost: a\r\n\r\n")
            .await
            .unwrap();
        let answer = exchange(
            address,
            b"GET /panic HTTP/1.1\r\nHost: a\r\n\r\nGET /b HTTP/1.1\r\nHost: a\r\n\r\n",
        )
        .await;
        assert_eq!(statuses(&answer), [500]);
        read_until(&other, "slow").await;
        assert_eq!(server.stats().panics, 1);
    });
}

#[test]
fn a_handler_that_computes_delays_nobody() {
    with_server(short(), async |address, _| {
        let hogs: Vec<_> = (0..4)
            .map(|_| {
                thrum_rt::spawn(async move {
                    exchange(address, b"GET /compute HTTP/1.1\r\nHost: a\r\n\r\n").await
                })
            })
            .collect();
        sleep(MS * 20).await;
        let begin = Instant::now();
        for _ in 0..10 {
            assert_eq!(
                statuses(&exchange(address, b"GET /a HTTP/1.1\r\nHost: a\r\n\r\n").await),
                [200]
            );
        }
        let took = begin.elapsed();
        for hog in hogs {
            assert!(hog.await.unwrap().contains("computed"));
        }
        assert!(took < MS * 250, "ten fast requests took {took:?}");
    });
}

#[test]
fn the_end_lets_open_requests_finish_and_closes_idle_connections() {
    with_server(short(), async |address, server| {
        let idle = connect(address).await;
        let busy = connect(address).await;
        busy.write_all(b"GET /slow HTTP/1.1\r\nHost: a\r\n\r\n")
            .await
            .unwrap();
        sleep(MS * 30).await;
        let drained = server.shutdown(Duration::from_secs(5)).await;
        assert_eq!((drained.finished, drained.cut), (2, 0));
        let answer = read_to_end(&busy).await;
        assert!(
            answer.ends_with("slow") && answer.contains("connection: close"),
            "{answer}"
        );
        assert_eq!(read_to_end(&idle).await, "");
        assert!(
            thrum_rt::net::TcpStream::connect(address).await.is_err(),
            "nobody listens any more"
        );
    });
}

#[test]
fn the_end_cuts_off_what_takes_too_long() {
    let mut timeouts = thrum_http::Timeouts::default();
    timeouts.head = Duration::from_secs(60);
    with_server(
        thrum_http::Server::new().timeouts(timeouts),
        async |address, server| {
            let stuck = connect(address).await;
            stuck.write_all(b"GET /").await.unwrap();
            sleep(MS * 30).await;
            let drained = server.shutdown(MS * 50).await;
            assert_eq!((drained.finished, drained.cut), (0, 1));
        },
    );
}

#[test]
fn connections_above_the_limit_are_refused_and_counted() {
    let mut limits = thrum_http::Limits::default();
    limits.connections = 2;
    with_server(
        thrum_http::Server::new().limits(limits),
        async |address, server| {
            let open = [connect(address).await, connect(address).await];
            for stream in &open {
                stream
                    .write_all(b"GET /a HTTP/1.1\r\nHost: a\r\n\r\n")
                    .await
                    .unwrap();
                read_until(stream, "/a").await;
            }
            let refused = read_to_end(&connect(address).await).await;
            assert_eq!(statuses(&refused), [503]);
            assert_eq!(server.stats().refused, 1);
            drop(open);
        },
    );
}

#[test]
fn what_is_left_for_the_observer_ends_with_the_exchange() {
    let notes = notes();
    with_server(short().observer(notes.clone()), async |address, _| {
        let two = "GET /note HTTP/1.1\r\nHost: a\r\n\r\nGET /b HTTP/1.1\r\nHost: a\r\n\r\n";
        exchange(address, format!("{two}nonsense\r\n\r\n").as_bytes()).await;
    });
    let notes = notes.0.lock().unwrap();
    assert_eq!(notes[..2], ["GET /note 200 5 - left", "GET /b 200 2 -"]);
    assert!(notes[2].ends_with(" -"), "{}", notes[2]);
    assert!(
        !thrum_http::note(std::sync::Arc::new(1)),
        "there is no exchange here"
    );
}

#[test]
fn an_observer_is_told_of_answers_and_refusals() {
    let notes = notes();
    with_server(short().observer(notes.clone()), async |address, _| {
        exchange(address, b"GET /a?b HTTP/1.1\r\nHost: a\r\nUser-Agent: x\r\n\r\nHEAD /c HTTP/1.1\r\nHost: a\r\n\r\n").await;
        exchange(address, b"GET / HTTP/1.1\r\n\r\n").await;
        exchange(address, b"nonsense\r\n\r\n").await;
    });
    let notes = notes.0.lock().unwrap();
    assert_eq!(notes[0], "GET /a?b 200 2 x");
    assert_eq!(notes[1], "HEAD /c 200 0 -");
    assert!(notes[2].starts_with("GET / 400 "), "{}", notes[2]);
    assert!(notes[3].starts_with("  400 "), "{}", notes[3]);
}
