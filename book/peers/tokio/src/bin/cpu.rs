//! Two tasks that compute fib(N), one after the other and then at once. cpu N

use std::hint::black_box;
use std::time::Instant;

#[tokio::main]
async fn main() {
    let [n] = tokio_twins::numbers();
    let compute = || tokio::spawn(async move { black_box(fib(black_box(n))) });

    let begin = Instant::now();
    compute().await.unwrap();
    compute().await.unwrap();
    let in_turn = begin.elapsed().as_secs_f64();

    let begin = Instant::now();
    let (one, other) = (compute(), compute());
    one.await.unwrap();
    other.await.unwrap();
    let at_once = begin.elapsed().as_secs_f64();

    println!("one after the other {in_turn:.3} s");
    println!("at once {at_once:.3} s");
    println!("ratio {:.3}", at_once / in_turn);
}

fn fib(n: usize) -> usize {
    if n < 2 { n } else { fib(n - 1) + fib(n - 2) }
}
