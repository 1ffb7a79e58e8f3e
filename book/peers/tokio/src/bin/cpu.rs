//! Two tasks, one after the other and then at once: each computes fib(N), or asks for a URL. cpu N|URL

use std::future::Future;
use std::hint::black_box;
use std::time::Instant;

use http_body_util::{BodyExt, Empty};
use hyper::Uri;
use hyper::body::Bytes;
use hyper_util::client::legacy::Client;
use hyper_util::rt::TokioExecutor;
use tokio_twins::{Result, argument};

#[tokio::main]
async fn main() -> Result<()> {
    let what: String = argument(1);
    match what.parse() {
        Ok(n) => compare(|| compute(n)).await,
        Err(_) => compare(|| ask(what.clone())).await,
    }
}

async fn compare<F>(work: impl Fn() -> F) -> Result<()>
where
    F: Future<Output = Result<()>> + Send + 'static,
{
    let begin = Instant::now();
    tokio::spawn(work()).await??;
    tokio::spawn(work()).await??;
    let in_turn = begin.elapsed().as_secs_f64();

    let begin = Instant::now();
    let (one, other) = (tokio::spawn(work()), tokio::spawn(work()));
    one.await??;
    other.await??;
    let at_once = begin.elapsed().as_secs_f64();

    println!("one after the other {in_turn:.3} s");
    println!("at once {at_once:.3} s");
    println!("ratio {:.3}", at_once / in_turn);
    Ok(())
}

async fn compute(n: u32) -> Result<()> {
    black_box(fib(black_box(n)));
    Ok(())
}

async fn ask(url: String) -> Result<()> {
    let url: Uri = url.parse()?;
    let client: Client<_, Empty<Bytes>> = Client::builder(TokioExecutor::new()).build_http();
    let answer = client.get(url).await?;
    if !answer.status().is_success() {
        return Err(format!("answered {}", answer.status()).into());
    }
    answer.into_body().collect().await?;
    Ok(())
}

fn fib(n: u32) -> u64 {
    if n < 2 {
        n.into()
    } else {
        fib(n - 1) + fib(n - 2)
    }
}
