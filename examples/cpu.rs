//! Two tasks that compute, one after the other and then at once. `cpu [N]`: each computes fib(N), default 42.
//!
//! Nothing in them is written for it: on two workers the two take half as long.

use std::hint::black_box;
use std::time::Instant;

use thrum_examples::numbers;

const USAGE: &str = "usage: cpu [N]    two tasks compute fib(N) each, default 42";

#[thrum::main]
async fn main() -> Result<(), thrum::JoinError> {
    let [n] = numbers(USAGE, [42]);
    let compute = || thrum::spawn(async move { black_box(fib(black_box(n))) });

    let begin = Instant::now();
    compute().await?;
    compute().await?;
    let in_turn = begin.elapsed().as_secs_f64();

    let begin = Instant::now();
    let (one, other) = (compute(), compute());
    one.await?;
    other.await?;
    let at_once = begin.elapsed().as_secs_f64();

    println!("one after the other {in_turn:.3} s");
    println!("at once {at_once:.3} s");
    println!("ratio {:.3}", at_once / in_turn);
    Ok(())
}

/// As slow as it looks.
fn fib(n: usize) -> usize {
    if n < 2 { n } else { fib(n - 1) + fib(n - 2) }
}
