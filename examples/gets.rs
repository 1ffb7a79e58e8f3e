//! GETs over connections that are kept, each answer read to its end and checked. `gets [PORT [SECONDS [CONNECTIONS]]]`,
//! default 8080, 3 and 64. Prints how many answers there were, and how many a second.

use std::time::{Duration, Instant};

use thrum::http::{Client, Uri, client};
use thrum_examples::numbers;

const USAGE: &str = "usage: gets [PORT [SECONDS [CONNECTIONS]]]    default 8080 3 64";

#[thrum::main]
async fn main() -> Result<(), client::Error> {
    let [port, seconds, connections] = numbers(USAGE, [8080, 3, 64]);
    let url = Uri::try_from(format!("http://127.0.0.1:{port}/")).expect("an address is a URL");
    let client = Client::new();
    let begin = Instant::now();
    let end = begin + Duration::from_secs(seconds as u64);
    let tasks: Vec<_> = (0..connections)
        .map(|_| thrum::spawn(get_until(end, client.clone(), url.clone())))
        .collect();
    let mut answers = 0;
    for task in tasks {
        answers += task.await.expect("no task panics")?;
    }
    let rate = answers as f64 / begin.elapsed().as_secs_f64();
    println!("answers {answers}");
    println!("answers a second {rate:.0}");
    Ok(())
}

/// Gets one answer after the other; how many there were.
async fn get_until(end: Instant, client: Client, url: Uri) -> Result<u64, client::Error> {
    let mut answers = 0;
    while Instant::now() < end {
        let response = client.get(url.clone()).send().await?.error_for_status()?;
        assert_eq!(response.bytes().await?, "Pong!\r\n");
        answers += 1;
    }
    Ok(answers)
}
