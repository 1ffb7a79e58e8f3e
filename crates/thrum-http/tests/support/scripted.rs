//! A server that answers by a script: it knows no HTTP, so it can say anything.

use std::future::Future;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use thrum_rt::net::{Shutdown, TcpListener, TcpStream};
use thrum_rt::time::{sleep, timeout};

/// What a connection does, step by step. Then it is closed.
#[derive(Clone, Debug)]
pub(crate) enum Step {
    /// Reads until this has come.
    Await(&'static str),
    Say(Vec<u8>),
    /// Says it byte by byte, each as a packet of its own.
    Drip(Vec<u8>),
    Pause(Duration),
    /// Says no more, but does not close.
    End,
    /// Reads until the client closes.
    UntilClosed,
}

/// Says a text, in which `|` stands for CR LF.
pub(crate) fn say(text: &str) -> Step {
    Step::Say(text.replace('|', "\r\n").into_bytes())
}

/// The end of a head.
pub(crate) const HEAD: Step = Step::Await("\r\n\r\n");

/// Answers a request.
pub(crate) fn answer(text: &str) -> [Step; 2] {
    [HEAD, say(text)]
}

pub(crate) struct Scripted {
    pub(crate) address: SocketAddr,
    accepted: Arc<AtomicUsize>,
}

impl Scripted {
    /// The first connection follows the first script, and so on; those beyond follow the last.
    pub(crate) async fn start(scripts: Vec<Vec<Step>>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let accepted = Arc::new(AtomicUsize::new(0));
        let counter = accepted.clone();
        thrum_rt::spawn(async move {
            loop {
                let (stream, _) = listener.accept().await.unwrap();
                let n = counter.fetch_add(1, Ordering::SeqCst);
                let script = scripts[n.min(scripts.len() - 1)].clone();
                thrum_rt::spawn(follow(stream, script));
            }
        });
        Self { address, accepted }
    }

    pub(crate) fn url(&self) -> String {
        format!("http://{}/", self.address)
    }

    pub(crate) fn accepted(&self) -> usize {
        self.accepted.load(Ordering::SeqCst)
    }
}

async fn follow(stream: TcpStream, script: Vec<Step>) {
    let mut received = Vec::new();
    let mut buffer = [0; 65536];
    for step in script {
        match step {
            Step::Await(text) => loop {
                if let Some(at) = position(&received, text.as_bytes()) {
                    received.drain(..at + text.len());
                    break;
                }
                match stream.read(&mut buffer).await {
                    Ok(read @ 1..) => received.extend_from_slice(&buffer[..read]),
                    _ => return,
                }
            },
            Step::Say(bytes) => {
                let _ = stream.write_all(&bytes).await;
            }
            Step::Drip(bytes) => {
                for byte in bytes {
                    let _ = stream.write_all(&[byte]).await;
                    thrum_rt::yield_now().await;
                }
            }
            Step::Pause(duration) => sleep(duration).await,
            Step::End => {
                let _ = stream.shutdown(Shutdown::Write);
            }
            Step::UntilClosed => while let Ok(1..) = stream.read(&mut buffer).await {},
        }
    }
}

fn position(bytes: &[u8], text: &[u8]) -> Option<usize> {
    bytes.windows(text.len()).position(|window| window == text)
}

/// Runs a test on a runtime of its own; it may take some seconds.
pub(crate) fn run(test: impl Future<Output = ()>) {
    let runtime = thrum_rt::Runtime::builder().workers(2).build().unwrap();
    runtime.block_on(async {
        timeout(Duration::from_secs(30), test)
            .await
            .expect("the test takes too long");
    });
}
