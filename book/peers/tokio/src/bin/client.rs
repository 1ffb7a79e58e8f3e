//! GETs over connections that are kept, on hyper's clients, on one OS thread, each answer read to its end.
//! client PORT SECONDS CONNECTIONS connection|pool

use std::time::{Duration, Instant};

use http_body_util::{BodyExt, Empty};
use hyper::body::{Bytes, Incoming};
use hyper::client::conn::http1;
use hyper::header::{HOST, HeaderValue};
use hyper::{Request, Response, StatusCode};
use hyper_util::client::legacy::Client;
use hyper_util::rt::{TokioExecutor, TokioIo};
use tokio::net::TcpStream;
use tokio::task::JoinSet;
use tokio_twins::{Result, argument};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<()> {
    let (port, seconds, connections): (u16, u64, usize) = (argument(1), argument(2), argument(3));
    let pool: String = argument(4);
    let begin = Instant::now();
    let end = begin + Duration::from_secs(seconds);
    let mut clients = JoinSet::new();
    if pool == "pool" {
        let client: Client<_, Empty<Bytes>> = Client::builder(TokioExecutor::new()).build_http();
        let url: hyper::Uri = format!("http://127.0.0.1:{port}/").parse()?;
        for _ in 0..connections {
            let (client, url) = (client.clone(), url.clone());
            clients.spawn(async move {
                let mut answers = 0;
                while Instant::now() < end {
                    read(client.get(url.clone()).await?).await?;
                    answers += 1;
                }
                Result::Ok(answers)
            });
        }
    } else {
        for _ in 0..connections {
            clients.spawn(connection(port, end));
        }
    }
    let mut answers: u64 = 0;
    while let Some(client) = clients.join_next().await {
        answers += client??;
    }
    println!("answers {answers}");
    println!(
        "answers a second {:.0}",
        answers as f64 / begin.elapsed().as_secs_f64()
    );
    Ok(())
}

/// One connection of hyper's own, without a pool: what it answered until the end.
async fn connection(port: u16, end: Instant) -> Result<u64> {
    let stream = TcpStream::connect(("127.0.0.1", port)).await?;
    stream.set_nodelay(true)?;
    let (mut sender, connection) = http1::handshake(TokioIo::new(stream)).await?;
    tokio::spawn(connection);
    let host = HeaderValue::from_str(&format!("127.0.0.1:{port}"))?;
    let mut answers = 0;
    while Instant::now() < end {
        let request = Request::get("/")
            .header(HOST, host.clone())
            .body(Empty::<Bytes>::new())?;
        sender.ready().await?;
        read(sender.send_request(request).await?).await?;
        answers += 1;
    }
    Ok(answers)
}

/// The answer's status and body are what they should be.
async fn read(response: Response<Incoming>) -> Result<()> {
    if response.status() != StatusCode::OK {
        return Err(format!("answered {}", response.status()).into());
    }
    let body = response.into_body().collect().await?.to_bytes();
    if body != "Pong!\r\n" {
        return Err(format!("answered {body:?}").into());
    }
    Ok(())
}
