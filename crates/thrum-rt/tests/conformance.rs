//! What every back end of the reactor must do, on each that this build and this kernel have.

use std::future::Future;
use std::io::{self, Read, Write};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, RwLock};
use std::time::{Duration, Instant};

use thrum_rt::net::{Shutdown, TcpListener, TcpStream, UdpSocket, UnixStream};
use thrum_rt::time::{sleep, timeout};
use thrum_rt::{Io, Runtime, metrics, signal, spawn};

macro_rules! on_each_back_end {
    ($($behaviour:ident)*) => {
        mod epoll {
            $(#[test] fn $behaviour() { super::$behaviour(super::Io::Epoll); })*
        }
        #[cfg(feature = "io-uring")]
        mod io_uring {
            $(#[test] fn $behaviour() { super::$behaviour(super::Io::IoUring); })*
        }
        #[cfg(feature = "portable")]
        mod portable {
            $(#[test] fn $behaviour() { super::$behaviour(super::Io::Portable); })*
        }
    };
}

on_each_back_end! {
    bytes_get_through
    a_refused_connection_is_an_error
    much_is_sent_both_ways_at_once
    half_closed_goes_on_the_other_way
    the_end_right_after_the_last_bytes_is_seen
    a_reset_is_an_error
    a_dropped_connection_is_closed_at_once
    a_dropped_listener_refuses_at_once
    a_writer_waits_for_room
    a_reader_that_never_reads_holds_nothing_up
    many_connections_come_and_go
    many_connections_stay
    several_tasks_accept
    closing_while_another_task_waits
    a_socket_can_be_taken_out
    nothing_is_lost_with_a_socket_taken_out
    bytes_before_a_lagging_readers_end_are_seen
    timers_fire_beside_io
    timers_fire_under_load
    other_threads_wake_tasks
    a_hog_does_not_keep_its_reactor
    a_blocked_thread_does_not_keep_its_reactor
    hogs_come_and_go
    peeked_bytes_are_there_to_be_read
    splice_loses_nothing
    datagrams_pipes_and_unix_sockets_wait_too
    pipes_tell_of_signals
    descriptors_do_not_leak
}

/// Taken alone by what counts the descriptors of the process.
static PROCESS: RwLock<()> = RwLock::new(());

/// Runs a behaviour, if this back end is there.
fn on<F: Future<Output = ()>>(io: Io, workers: usize, behaviour: impl FnOnce() -> F) {
    let _shared = PROCESS
        .read()
        .unwrap_or_else(|poisoned| poisoned.into_inner());
    run(io, workers, behaviour);
}

fn run<F: Future<Output = ()>>(io: Io, workers: usize, behaviour: impl FnOnce() -> F) {
    let runtime = Runtime::builder().workers(workers).io(io).build().unwrap();
    runtime.block_on(async {
        if metrics().io == Some(io) {
            within(behaviour()).await;
        } else {
            skip(io);
        }
    });
}

/// Says that a back end is missing, to the test command too. Only io_uring may be: a container may forbid it.
fn skip(io: Io) {
    assert_eq!(io, Io::IoUring, "{io} is there on every Linux");
    eprintln!("skipped: this kernel has no io_uring, or it is forbidden");
    if let Some(list) = std::env::var_os("THRUM_SKIPPED") {
        let mut list = std::fs::OpenOptions::new().append(true).open(list).unwrap();
        writeln!(list, "conformance on io_uring (not allowed here)").unwrap();
    }
}

/// Nothing here takes long, unless an event was lost.
async fn within<F: Future>(future: F) -> F::Output {
    timeout(Duration::from_secs(60), future)
        .await
        .expect("an event was lost")
}

async fn pair() -> (TcpStream, TcpStream) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let client = TcpStream::connect(listener.local_addr().unwrap())
        .await
        .unwrap();
    (client, listener.accept().await.unwrap().0)
}

async fn read_exact(stream: &TcpStream, mut buffer: &mut [u8]) {
    while !buffer.is_empty() {
        let read = stream.read(buffer).await.unwrap();
        assert!(read > 0, "the stream ended early");
        buffer = &mut buffer[read..];
    }
}

fn pattern(length: usize) -> Vec<u8> {
    (0..length).map(|index| (index % 251) as u8).collect()
}

/// Sends back what comes until the end.
async fn echo(stream: TcpStream) {
    let mut buffer = [0; 4096];
    while let Ok(read @ 1..) = stream.read(&mut buffer).await {
        if stream.write_all(&buffer[..read]).await.is_err() {
            break;
        }
    }
}

/// A server that echoes, and its address.
async fn echo_server() -> std::net::SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            spawn(echo(stream));
        }
    });
    address
}

async fn ping(stream: &TcpStream, number: u32) {
    stream.write_all(&number.to_ne_bytes()).await.unwrap();
    let mut answer = [0; 4];
    read_exact(stream, &mut answer).await;
    assert_eq!(u32::from_ne_bytes(answer), number);
}

fn bytes_get_through(io: Io) {
    on(io, 2, || async {
        let (client, server) = pair().await;
        for number in 0..100u32 {
            client.write_all(&number.to_ne_bytes()).await.unwrap();
            let mut received = [0; 4];
            read_exact(&server, &mut received).await;
            assert_eq!(u32::from_ne_bytes(received), number);
        }
    });
}

fn a_refused_connection_is_an_error(io: Io) {
    on(io, 2, || async {
        let socket = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let address = socket.local_addr().unwrap();
        drop(socket);
        let error = TcpStream::connect(address).await.unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::ConnectionRefused);
    });
}

fn much_is_sent_both_ways_at_once(io: Io) {
    on(io, 2, || async {
        const LENGTH: usize = 20_000_000;
        let (client, server) = pair().await;
        let ends: Vec<_> = [client, server]
            .into_iter()
            .map(|end| {
                spawn(async move {
                    let end = Arc::new(end);
                    let writer = spawn({
                        let end = end.clone();
                        async move {
                            end.write_all(&pattern(LENGTH)).await.unwrap();
                            end.shutdown(Shutdown::Write).unwrap();
                        }
                    });
                    let (mut received, mut buffer) = (Vec::new(), vec![0; 70_001]);
                    while let read @ 1.. = end.read(&mut buffer).await.unwrap() {
                        received.extend_from_slice(&buffer[..read]);
                    }
                    writer.await.unwrap();
                    assert!(received == pattern(LENGTH), "bytes were lost or disordered");
                })
            })
            .collect();
        for end in ends {
            end.await.unwrap();
        }
    });
}

fn half_closed_goes_on_the_other_way(io: Io) {
    on(io, 2, || async {
        let (client, server) = pair().await;
        client.write_all(b"question").await.unwrap();
        client.shutdown(Shutdown::Write).unwrap();
        let (mut question, mut buffer) = (Vec::new(), [0; 3]);
        while let read @ 1.. = server.read(&mut buffer).await.unwrap() {
            question.extend_from_slice(&buffer[..read]);
        }
        assert_eq!(question, b"question");
        assert_eq!(server.read(&mut buffer).await.unwrap(), 0, "it stays ended");
        server.write_all(b"answer").await.unwrap();
        let mut answer = [0; 6];
        read_exact(&client, &mut answer).await;
        assert_eq!(&answer, b"answer");
    });
}

fn the_end_right_after_the_last_bytes_is_seen(io: Io) {
    on(io, 2, || async {
        for _ in 0..50 {
            let (client, server) = pair().await;
            let reader = spawn(async move {
                let mut buffer = [0; 64];
                let mut total = 0;
                while let read @ 1.. = server.read(&mut buffer).await.unwrap() {
                    total += read;
                }
                total
            });
            client.write_all(b"last").await.unwrap();
            drop(client);
            assert_eq!(reader.await.unwrap(), 4);
        }
    });
}

fn a_reset_is_an_error(io: Io) {
    on(io, 2, || async {
        let (client, server) = pair().await;
        server.write_all(b"unread").await.unwrap();
        sleep(Duration::from_millis(20)).await;
        drop(client); // closed with unread bytes: a reset
        let error = server.read(&mut [0; 8]).await.unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::ConnectionReset);
        assert!(server.write_all(b"x").await.is_err());
    });
}

/// The other end is outside of the runtime: nothing but the kernel can tell it.
fn a_dropped_connection_is_closed_at_once(io: Io) {
    on(io, 2, || async {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        for _ in 0..20 {
            let mut outside = std::net::TcpStream::connect(address).unwrap();
            outside
                .set_read_timeout(Some(Duration::from_secs(20)))
                .unwrap();
            let (inside, _) = listener.accept().await.unwrap();
            let mut buffer = [0; 8];
            let reads = timeout(Duration::from_millis(1), inside.read(&mut buffer));
            assert!(reads.await.is_err());
            drop(inside);
            let read = thrum_rt::blocking(|| outside.read(&mut buffer));
            assert_eq!(read.expect("it is closed"), 0);
        }
    });
}

fn a_dropped_listener_refuses_at_once(io: Io) {
    on(io, 2, || async {
        for _ in 0..50 {
            let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
            let address = listener.local_addr().unwrap();
            let waits = timeout(Duration::from_millis(1), listener.accept());
            assert!(waits.await.is_err());
            drop(listener);
            let error = std::net::TcpStream::connect(address).unwrap_err();
            assert_eq!(error.kind(), io::ErrorKind::ConnectionRefused);
            drop(TcpListener::bind(address).await.expect("the port is free"));
        }
    });
}

fn a_writer_waits_for_room(io: Io) {
    on(io, 2, || async {
        const LENGTH: usize = 10_000_000;
        let (client, server) = pair().await;
        let written = Arc::new(AtomicUsize::new(0));
        let writer = spawn({
            let written = written.clone();
            async move {
                let bytes = pattern(LENGTH);
                while written.load(Ordering::Relaxed) < LENGTH {
                    let from = written.load(Ordering::Relaxed);
                    let wrote = client.write(&bytes[from..]).await.unwrap();
                    written.fetch_add(wrote, Ordering::Relaxed);
                }
            }
        });
        sleep(Duration::from_millis(100)).await;
        assert!(
            written.load(Ordering::Relaxed) < LENGTH,
            "who has room for so much?"
        );
        let mut received = vec![0; LENGTH];
        read_exact(&server, &mut received).await;
        assert!(received == pattern(LENGTH));
        writer.await.unwrap();
    });
}

/// What is not read stays in the kernel, where its peer feels it; others go on.
fn a_reader_that_never_reads_holds_nothing_up(io: Io) {
    on(io, 1, || async {
        let mut stalled = Vec::new();
        for _ in 0..20 {
            let (client, server) = pair().await;
            // It has read once, so whatever a back end does ahead of a reader it does now.
            client.write_all(b"x").await.unwrap();
            read_exact(&server, &mut [0; 1]).await;
            let sent = Arc::new(AtomicUsize::new(0));
            let writer = spawn({
                let sent = sent.clone();
                async move {
                    let block = pattern(100_000);
                    while let Ok(wrote) = client.write(&block).await {
                        sent.fetch_add(wrote, Ordering::Relaxed);
                    }
                }
            });
            stalled.push((server, writer, sent));
        }
        let address = echo_server().await;
        let lively = TcpStream::connect(address).await.unwrap();
        let before = Instant::now();
        for number in 0..1000 {
            ping(&lively, number).await;
        }
        while before.elapsed() < Duration::from_millis(300) {
            ping(&lively, 1).await;
        }
        for (_, _, sent) in &stalled {
            let sent = sent.load(Ordering::Relaxed);
            assert!(sent < 16 << 20, "{sent} bytes were taken in for nobody");
        }
    });
}

fn many_connections_come_and_go(io: Io) {
    on(io, 3, || async {
        let address = echo_server().await;
        let clients: Vec<_> = (0..20u32)
            .map(|client| {
                spawn(async move {
                    for round in 0..50 {
                        let stream = TcpStream::connect(address).await.unwrap();
                        for message in 0..3 {
                            ping(&stream, client << 16 | round << 8 | message).await;
                        }
                    }
                })
            })
            .collect();
        for client in clients {
            client.await.unwrap();
        }
    });
}

fn many_connections_stay(io: Io) {
    on(io, 2, || async {
        let address = echo_server().await;
        let mut streams = Vec::new();
        for number in 0..300 {
            let stream = TcpStream::connect(address).await.unwrap();
            ping(&stream, number).await;
            streams.push(stream);
        }
        for round in 0..5 {
            for stream in &streams {
                ping(stream, round).await;
            }
        }
        // All at once.
        for stream in &streams {
            stream.write_all(&7u32.to_ne_bytes()).await.unwrap();
        }
        for stream in &streams {
            let mut answer = [0; 4];
            read_exact(stream, &mut answer).await;
            assert_eq!(u32::from_ne_bytes(answer), 7);
        }
    });
}

fn several_tasks_accept(io: Io) {
    on(io, 2, || async {
        let listener = Arc::new(TcpListener::bind("127.0.0.1:0").await.unwrap());
        let address = listener.local_addr().unwrap();
        let acceptors: Vec<_> = (0..4)
            .map(|_| {
                let listener = listener.clone();
                spawn(async move { listener.accept().await.unwrap().0 })
            })
            .collect();
        let mut clients = Vec::new();
        for _ in 0..4 {
            clients.push(TcpStream::connect(address).await.unwrap());
        }
        for acceptor in acceptors {
            acceptor.await.unwrap();
        }
    });
}

/// The descriptor number goes to the next connection at once; the events of the two are not mixed up.
fn closing_while_another_task_waits(io: Io) {
    on(io, 2, || async {
        for round in 0..100u32 {
            let (client, server) = pair().await;
            let server = Arc::new(server);
            let waits = spawn({
                let server = server.clone();
                async move { timeout(Duration::from_millis(1), server.read(&mut [0; 8])).await }
            });
            drop(server);
            if round % 2 == 0 {
                let _ = client.write_all(b"late").await;
            }
            let (other, its_server) = pair().await;
            let _ = waits.await;
            drop(client);
            other.write_all(&round.to_ne_bytes()).await.unwrap();
            let mut received = [0; 4];
            read_exact(&its_server, &mut received).await;
            assert_eq!(u32::from_ne_bytes(received), round);
            let silent = timeout(Duration::from_millis(1), its_server.read(&mut received)).await;
            assert!(silent.is_err(), "an event of the connection before");
        }
    });
}

fn a_socket_can_be_taken_out(io: Io) {
    on(io, 2, || async {
        let (client, server) = pair().await;
        client.write_all(b"first").await.unwrap();
        read_exact(&server, &mut [0; 5]).await;
        let server = server.into_std().unwrap();
        client.write_all(b"second").await.unwrap();
        server.set_nonblocking(false).unwrap();
        let mut received = [0; 6];
        (&server).read_exact(&mut received).unwrap();
        assert_eq!(&received, b"second");
        let server = TcpStream::from_std(server).unwrap();
        client.write_all(b"third").await.unwrap();
        let mut received = [0; 5];
        read_exact(&server, &mut received).await;
        assert_eq!(&received, b"third");
        drop(server.into_std().unwrap());
        assert_eq!(client.read(&mut received).await.unwrap(), 0, "it is closed");
    });
}

/// With bytes left that a back end has received ahead it is an error, else they are in the socket.
fn nothing_is_lost_with_a_socket_taken_out(io: Io) {
    on(io, 2, || async {
        for wait in [0, 1, 20] {
            let (client, server) = pair().await;
            client.write_all(b"12345").await.unwrap();
            sleep(Duration::from_millis(wait)).await;
            if wait == 20 {
                read_exact(&server, &mut [0; 1]).await;
            }
            let expected = if wait == 20 { &b"2345"[..] } else { b"12345" };
            match server.into_std() {
                Ok(mut socket) => {
                    socket.set_nonblocking(false).unwrap();
                    let mut received = vec![0; expected.len()];
                    socket.read_exact(&mut received).unwrap();
                    assert_eq!(received, expected);
                }
                Err(error) => {
                    assert_eq!(io, Io::IoUring);
                    assert!(error.to_string().contains("must be read first"), "{error}");
                }
            }
        }
    });
}

fn bytes_before_a_lagging_readers_end_are_seen(io: Io) {
    on(io, 2, || async {
        const LENGTH: usize = 300_000;
        let (client, server) = pair().await;
        let writer = spawn(async move { client.write_all(&pattern(LENGTH)).await.unwrap() });
        let mut received = Vec::new();
        let mut buffer = [0; 10_000];
        loop {
            // Now slower than the writer, now faster.
            if received.len() % 3 == 0 {
                sleep(Duration::from_millis(2)).await;
            }
            match server.read(&mut buffer).await.unwrap() {
                0 => break,
                read => received.extend_from_slice(&buffer[..read]),
            }
        }
        assert!(received == pattern(LENGTH));
        writer.await.unwrap();
    });
}

fn timers_fire_beside_io(io: Io) {
    on(io, 1, || async {
        let (_client, server) = pair().await;
        let reads = spawn(async move { server.read(&mut [0; 8]).await });
        let before = Instant::now();
        for _ in 0..20 {
            sleep(Duration::from_millis(2)).await;
        }
        assert!(before.elapsed() >= Duration::from_millis(40));
        let waits = timeout(Duration::from_millis(5), reads).await;
        assert!(waits.is_err());
    });
}

fn timers_fire_under_load(io: Io) {
    on(io, 1, || async {
        let address = echo_server().await;
        for _ in 0..4 {
            spawn(async move {
                let stream = TcpStream::connect(address).await.unwrap();
                loop {
                    ping(&stream, 1).await;
                }
            });
        }
        spawn(async {
            for _ in 0..50 {
                sleep(Duration::from_millis(2)).await;
            }
        })
        .await
        .unwrap();
    });
}

fn other_threads_wake_tasks(io: Io) {
    on(io, 2, || async {
        for round in 0..200u32 {
            let (sender, receiver) = std::sync::mpsc::channel::<std::task::Waker>();
            let thread = std::thread::spawn(move || {
                if round % 2 == 0 {
                    std::thread::sleep(Duration::from_micros(200));
                }
                receiver.recv().unwrap().wake();
            });
            let task = spawn(async move {
                let mut woken = false;
                std::future::poll_fn(move |cx| {
                    if std::mem::replace(&mut woken, true) {
                        return std::task::Poll::Ready(());
                    }
                    sender.send(cx.waker().clone()).unwrap();
                    std::task::Poll::Pending
                })
                .await;
            });
            task.await.unwrap();
            thread.join().unwrap();
        }
    });
}

/// Stuck for a second: long enough to tell whether anyone waited for it.
const STUCK: Duration = Duration::from_secs(1);

fn compute() {
    let before = Instant::now();
    while before.elapsed() < STUCK {
        std::hint::spin_loop();
    }
}

fn a_hog_does_not_keep_its_reactor(io: Io) {
    stuck_with_its_reactor(io, compute);
}

fn a_blocked_thread_does_not_keep_its_reactor(io: Io) {
    stuck_with_its_reactor(io, || std::thread::sleep(STUCK));
}

/// Connections that were in use before the only worker is stuck, others that are made meanwhile, and closed.
fn stuck_with_its_reactor(io: Io, stuck: fn()) {
    on(io, 1, || async move {
        let address = echo_server().await;
        let before = TcpStream::connect(address).await.unwrap();
        let closed = TcpStream::connect(address).await.unwrap();
        ping(&before, 0).await;
        ping(&closed, 0).await;
        let hog = spawn(async move { stuck() });
        sleep(Duration::from_millis(50)).await;
        let began = Instant::now();
        for number in 1..50 {
            ping(&before, number).await;
            let meanwhile = TcpStream::connect(address).await.unwrap();
            ping(&meanwhile, number).await;
            sleep(Duration::from_millis(1)).await;
        }
        drop(closed);
        let took = began.elapsed();
        hog.await.unwrap();
        assert!(
            took < STUCK * 3 / 4,
            "{took:?}: they waited for the stuck one"
        );
        for number in 50..100 {
            ping(&before, number).await;
        }
    });
}

/// The reactor goes from thread to thread and comes back to ones that had it before.
fn hogs_come_and_go(io: Io) {
    on(io, 1, || async {
        let address = echo_server().await;
        let hogs = spawn(async {
            for _ in 0..40 {
                let hog = spawn(async { std::thread::sleep(Duration::from_millis(8)) });
                sleep(Duration::from_millis(4)).await;
                hog.await.unwrap();
            }
        });
        let clients: Vec<_> = (0..10)
            .map(|client| {
                spawn(async move {
                    let stream = TcpStream::connect(address).await.unwrap();
                    for number in 0..2000 {
                        ping(&stream, client * 10_000 + number).await;
                    }
                })
            })
            .collect();
        for client in clients {
            client.await.unwrap();
        }
        hogs.await.unwrap();
    });
}

/// A signal comes as a byte in a socket of its own, which is waited for like any other.
fn peeked_bytes_are_there_to_be_read(io: Io) {
    on(io, 1, || async {
        let (client, server) = pair().await;
        for round in 0..20u8 {
            let message = [round; 100];
            client.write_all(&message).await.unwrap();
            let mut buffer = [0; 200];
            // In some rounds the bytes are there already, in others they are waited for.
            if round % 2 == 0 {
                sleep(Duration::from_millis(2)).await;
            }
            assert_eq!(server.peek(&mut buffer[..10]).await.unwrap(), 10);
            assert_eq!(buffer[..10], message[..10]);
            read_exact(&server, &mut buffer[..100]).await;
            assert_eq!(buffer[..100], message);
        }
        drop(client);
        assert_eq!(server.peek(&mut [0; 10]).await.unwrap(), 0);
        assert_eq!(server.read(&mut [0; 10]).await.unwrap(), 0);
    });
}

fn splice_loses_nothing(io: Io) {
    on(io, 2, || async {
        let ((client, inside), (outside, server)) = (pair().await, pair().await);
        let sent = pattern(3_000_000);
        client.write_all(&sent[..1000]).await.unwrap();
        sleep(Duration::from_millis(20)).await; // received ahead, where there is such a thing
        let spliced = spawn(async move { thrum_rt::io::splice(&inside, &outside).await });
        let writer = spawn({
            let sent = sent.clone();
            async move { client.write_all(&sent[1000..]).await }
        });
        let mut received = vec![0; sent.len()];
        read_exact(&server, &mut received).await;
        assert!(received == sent);
        writer.await.unwrap().unwrap();
        assert_eq!(spliced.await.unwrap().unwrap(), sent.len() as u64);
    });
}

fn datagrams_pipes_and_unix_sockets_wait_too(io: Io) {
    on(io, 2, || async {
        let one = UdpSocket::bind("127.0.0.1:0").await.unwrap();
        let other = UdpSocket::bind("127.0.0.1:0").await.unwrap();
        let (here, there) = UnixStream::pair().unwrap();
        let (reader, writer) = thrum_rt::pipe::pipe().unwrap();
        let (mut from_udp, mut from_unix, mut from_pipe) = ([0; 8], [0; 8], [0; 8]);
        for round in 0..50u8 {
            let late = spawn(sleep(Duration::from_millis(u64::from(round % 3))));
            let address = other.local_addr().unwrap();
            thrum_rt::join!(
                async {
                    late.await.unwrap();
                    one.send_to(&[round], address).await.unwrap();
                    here.write_all(&[round, 1]).await.unwrap();
                    writer.write_all(&[round, 2]).await.unwrap();
                },
                async {
                    let (length, from) = other.recv_from(&mut from_udp).await.unwrap();
                    assert_eq!((length, from), (1, one.local_addr().unwrap()));
                },
                async { assert_eq!(there.read(&mut from_unix).await.unwrap(), 2) },
                async { assert_eq!(reader.read(&mut from_pipe).await.unwrap(), 2) },
            );
            assert_eq!(
                (from_udp[0], from_unix[0], from_pipe[0]),
                (round, round, round)
            );
        }
    });
}

fn pipes_tell_of_signals(io: Io) {
    on(io, 1, || async {
        let told = spawn(signal::ctrl_c());
        sleep(Duration::from_millis(50)).await;
        rustix::process::kill_process(rustix::process::getpid(), rustix::process::Signal::INT)
            .unwrap();
        told.await.unwrap().unwrap();
    });
}

fn open_descriptors() -> usize {
    std::fs::read_dir("/proc/self/fd").unwrap().count()
}

fn descriptors_do_not_leak(io: Io) {
    let _alone = PROCESS
        .write()
        .unwrap_or_else(|poisoned| poisoned.into_inner());
    let before = open_descriptors();
    run(io, 2, || async {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        sleep(Duration::from_millis(100)).await; // until every worker has come up
        let began = open_descriptors();
        for round in 0..100 {
            let mut streams = Vec::new();
            for _ in 0..100 {
                let client = TcpStream::connect(address).await.unwrap();
                let (server, _) = listener.accept().await.unwrap();
                if round % 2 == 0 {
                    client.write_all(b"x").await.unwrap();
                    read_exact(&server, &mut [0; 1]).await;
                }
                streams.push((client, server));
            }
        }
        assert!(open_descriptors() <= began, "connections were left open");
    });
    // The last thread lets go of the runtime a moment after it has reported that it ends.
    let deadline = Instant::now() + Duration::from_secs(10);
    while open_descriptors() > before {
        assert!(
            Instant::now() < deadline,
            "the runtime left descriptors open"
        );
        std::thread::sleep(Duration::from_millis(1));
    }
}

/// Run by the next test, as a process with an environment of its own.
#[test]
#[ignore = "not a test by itself"]
fn tell_the_back_end() {
    match Runtime::builder().build() {
        Ok(runtime) => println!("{:?}", runtime.block_on(async { metrics().io })),
        Err(error) => println!("error: {error}"),
    }
}

#[test]
fn the_environment_chooses() {
    let told = |name: &str| {
        let output = std::process::Command::new(std::env::current_exe().unwrap())
            .args(["--ignored", "--exact", "--nocapture", "tell_the_back_end"])
            .env("THRUM_IO", name)
            .output()
            .unwrap();
        String::from_utf8(output.stdout).unwrap()
    };
    assert!(told("epoll").contains("Some(Epoll)"));
    let portable = match cfg!(feature = "portable") {
        true => "Some(Portable)",
        false => "Some(Epoll)",
    };
    assert!(told("portable").contains(portable));
    let unknown = told("kqueue");
    let expected = "error: THRUM_IO must be epoll, io_uring or portable, not \"kqueue\"";
    assert!(unknown.contains(expected), "{unknown}");
}
