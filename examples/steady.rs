//! Asks a server without pause over some connections, every fourth of which it makes anew for each request, until it is
//! interrupted and has asked often enough; then says how often there was no answer. Nothing is tried twice: it shows whether
//! a server that is reloaded or replaced meanwhile lets anybody notice.
//!
//! `steady URL CONNECTIONS LEAST`

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use thrum::http::client::Limits;
use thrum::http::{Client, header};

#[derive(Default)]
struct Seen {
    stop: AtomicBool,
    asked: AtomicU64,
    failures: Mutex<BTreeMap<String, u64>>,
}

fn main() -> std::io::Result<()> {
    let args: Vec<_> = std::env::args().skip(1).collect();
    let [url, connections, least] = &args[..] else {
        eprintln!("usage: steady URL CONNECTIONS LEAST");
        std::process::exit(2);
    };
    let number = |text: &str| text.parse::<u64>().expect("a number");
    let (connections, least) = (number(connections), number(least));
    let seen = Arc::new(Seen::default());
    thrum::block_on(async {
        let asking: Vec<_> = (0..connections)
            .map(|n| thrum::spawn(ask(url.clone(), n % 4 == 3, least, seen.clone())))
            .collect();
        thrum::signal::ctrl_c().await?;
        seen.stop.store(true, Ordering::Relaxed);
        for asking in asking {
            let _ = asking.await;
        }
        std::io::Result::Ok(())
    })?;
    let failures = seen.failures.lock().unwrap();
    let failed: u64 = failures.values().sum();
    println!(
        "{} requests, {failed} failed",
        seen.asked.load(Ordering::Relaxed)
    );
    for (what, count) in failures.iter() {
        println!("  {count} times: {what}");
    }
    std::process::exit(i32::from(failed > 0))
}

/// One connection's requests.
async fn ask(url: String, anew: bool, least: u64, seen: Arc<Seen>) {
    let mut limits = Limits::default();
    limits.retries = 0;
    let client = Client::builder().limits(limits).build();
    while !seen.stop.load(Ordering::Relaxed) || seen.asked.load(Ordering::Relaxed) < least {
        let mut request = client.get(&*url);
        if anew {
            let close = header::HeaderValue::from_static("close");
            request = request.headers([(header::CONNECTION, close)].into_iter().collect());
        }
        seen.asked.fetch_add(1, Ordering::Relaxed);
        let failure = match request.send().await {
            Err(error) => Some(error.to_string()),
            Ok(response) if !response.status().is_success() => Some(response.status().to_string()),
            Ok(response) => response.bytes().await.err().map(|error| error.to_string()),
        };
        if let Some(failure) = failure {
            *seen.failures.lock().unwrap().entry(failure).or_default() += 1;
        }
    }
}
