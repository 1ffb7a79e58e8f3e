//! Parses a JSON document with serde_json into values, over and over. json_serde FILE TIMES

use std::hint::black_box;
use std::time::Instant;

use serde_json::Value;

fn main() {
    let bytes = parser_peers::file();
    let times: usize = std::env::args()
        .nth(2)
        .map_or(1, |times| times.parse().expect("a number"));
    let begin = Instant::now();
    let mut values = 0;
    for _ in 0..times {
        let value: Value = serde_json::from_slice(black_box(&bytes)).expect("a JSON document");
        values = black_box(count(&value));
    }
    let seconds = begin.elapsed().as_secs_f64();
    let rate = (bytes.len() * times) as f64 / seconds / 1e6;
    println!(
        "{values} values, {} bytes, parsed {times} times in {seconds:.6} s: {rate:.0} MB/s",
        bytes.len()
    );
}

fn count(value: &Value) -> usize {
    1 + match value {
        Value::Array(values) => values.iter().map(count).sum(),
        Value::Object(members) => members.values().map(count).sum(),
        _ => 0,
    }
}
