//! Parses the JSON document in a file, from memory, and says how fast. `parse_json FILE [TIMES]`: over and over, for a figure
//! that does not jump about.

use std::fs;
use std::hint::black_box;
use std::process::ExitCode;
use std::time::Instant;

use thrum::parse::json::{self, Value};
use thrum_examples::{arguments, wrong};

const USAGE: &str =
    "usage: parse_json FILE [TIMES]    parses the JSON document in FILE so often, default once";

fn main() -> ExitCode {
    let arguments = arguments(USAGE, 2);
    let (file, times) = match arguments.as_slice() {
        [] => wrong(USAGE, "which file?"),
        [flag, ..] if flag.starts_with('-') => wrong(USAGE, &format!("there is no flag {flag}")),
        [file] => (file, 1),
        [file, times, ..] => match times.parse() {
            Ok(times @ 1..) => (file, times),
            _ => wrong(USAGE, &format!("{times:?} is not a number above zero")),
        },
    };
    match parse(file, times) {
        Ok(summary) => {
            println!("{summary}");
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("{file}: {error}");
            ExitCode::FAILURE
        }
    }
}

fn parse(file: &str, times: u32) -> Result<String, String> {
    let bytes = fs::read(file).map_err(|error| error.to_string())?;
    let mut found = 0;
    let begin = Instant::now();
    for _ in 0..times {
        let value = json::parse(black_box(&bytes)).map_err(|wrong| wrong.to_string())?;
        found = black_box(values(&value));
    }
    let seconds = begin.elapsed().as_secs_f64();
    let size = bytes.len();
    let rate = size as f64 * f64::from(times) / seconds / 1e6;
    Ok(format!(
        "{found} values, {size} bytes, parsed {times} times in {seconds:.6} s: {rate:.0} MB/s"
    ))
}

/// How many values there are, the arrays and objects included. They are not nested deeper than the parser allows.
fn values(value: &Value<'_>) -> usize {
    1 + match value {
        Value::Array(elements) => elements.iter().map(values).sum(),
        Value::Object(members) => members.iter().map(|(_, value)| values(value)).sum(),
        _ => 0,
    }
}
