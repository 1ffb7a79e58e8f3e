//! What a server sends to our client: no bytes make it panic or go on for ever, and however they are cut, what comes of them is
//! the same.
//!
//! The first byte of the input says how it is cut, the second what is asked.
#![no_main]

use std::time::Duration;

use libfuzzer_sys::fuzz_target;
use thrum_http::Client;
use thrum_http::client::Limits;
use thrum_rt::TaskSet;
use thrum_rt::net::UnixListener;
use thrum_rt::time::timeout;

mod connections;

/// All timeouts together are shorter.
const FOR_EVER: Duration = Duration::from_secs(10 * 24 * 3600);

fuzz_target!(|input: &[u8]| {
    let [size, asked, bytes @ ..] = input else {
        return;
    };
    let size = usize::from(*size).max(1);
    let whole = ask(*asked, bytes, bytes.len().max(1), Duration::ZERO);
    let pieces = ask(*asked, bytes, size, Duration::from_millis(1));
    assert_eq!(whole, pieces, "in pieces of {size}");
    let _ = ask(*asked, bytes, size, Duration::from_secs(50));
});

/// Asks a server that answers with these bytes, whatever it is asked: status, fields and body. `None`: it is no response.
fn ask(
    asked: u8,
    bytes: &[u8],
    size: usize,
    pause: Duration,
) -> Option<(u16, Vec<(String, Vec<u8>)>, Vec<u8>)> {
    let path = std::env::temp_dir().join(format!("thrum-fuzz-{}", std::process::id()));
    let _ = std::fs::remove_file(&path);
    let bytes = bytes.to_vec();
    thrum_rt::test::with_seed(0, async {
        let listener = UnixListener::bind(&path).unwrap();
        let mut serving = TaskSet::new();
        serving.spawn(async move {
            loop {
                let (stream, _) = listener.accept().await.unwrap();
                let mut buffer = [0; 4096];
                let _ = stream.read(&mut buffer).await;
                connections::send(&stream, &bytes, size, pause).await;
                // Closing with bytes unread would be a reset.
                while let Ok(1..) = stream.read(&mut buffer).await {}
            }
        });
        let mut limits = Limits::default();
        limits.head_bytes = 512;
        limits.fields = 8;
        limits.interim_responses = 4;
        limits.chunk_line_bytes = 64;
        limits.body_bytes = 2000;
        let client = Client::builder().unix_socket(&path).limits(limits).build();
        let url = "http://a/";
        let request = match asked % 4 {
            0 => client.get(url),
            1 => client.head(url),
            2 => client.post(url).body("hello"),
            _ => client
                .post(url)
                .header("expect", "100-continue")
                .body("hello"),
        };
        timeout(FOR_EVER, async {
            let response = request.send().await.ok()?;
            let status = response.status().as_u16();
            let fields = response.headers().iter();
            let fields = fields.map(|(name, value)| (name.to_string(), value.as_bytes().to_vec()));
            let fields = fields.collect();
            let body = response.bytes().await.ok()?;
            Some((status, fields, body.to_vec()))
        })
        .await
        .expect("it ends")
    })
}
