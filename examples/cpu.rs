//! Two tasks, one after the other and then at once. `cpu [N]`: each computes fib(N), default 42. `cpu URL`: each asks for it
//! and reads the answer.
//!
//! Nothing in them is written for it: on two workers two that compute take half as long, and two that wait take half as long
//! on one.

use std::error::Error;
use std::future::Future;
use std::hint::black_box;
use std::time::Instant;

use thrum::http::get;
use thrum_examples::{arguments, wrong};

const USAGE: &str = "usage: cpu [N]      two tasks compute fib(N) each, default 42
       cpu URL    two tasks ask for URL";

type Result = std::result::Result<(), Box<dyn Error + Send + Sync>>;

#[thrum::main]
async fn main() -> Result {
    let argument = arguments(USAGE, 1).pop().unwrap_or("42".into());
    if argument.starts_with("http") {
        return compare(|| ask(argument.clone())).await;
    }
    match argument.parse() {
        Ok(n) => compare(|| compute(n)).await,
        Err(_) => wrong(
            USAGE,
            &format!("{argument:?} is neither a number nor a URL"),
        ),
    }
}

/// Times two of them one after the other, and then two at once.
async fn compare<F>(work: impl Fn() -> F) -> Result
where
    F: Future<Output = Result> + Send + 'static,
{
    let begin = Instant::now();
    thrum::spawn(work()).await??;
    thrum::spawn(work()).await??;
    let in_turn = begin.elapsed().as_secs_f64();

    let begin = Instant::now();
    let (one, other) = (thrum::spawn(work()), thrum::spawn(work()));
    one.await??;
    other.await??;
    let at_once = begin.elapsed().as_secs_f64();

    println!("one after the other {in_turn:.3} s");
    println!("at once {at_once:.3} s");
    println!("ratio {:.3}", at_once / in_turn);
    Ok(())
}

async fn compute(n: u32) -> Result {
    black_box(fib(black_box(n)));
    Ok(())
}

async fn ask(url: String) -> Result {
    get(url).await?.error_for_status()?.text().await?;
    Ok(())
}

/// As slow as it looks.
fn fib(n: u32) -> u64 {
    if n < 2 {
        n.into()
    } else {
        fib(n - 1) + fib(n - 2)
    }
}
