//! Parses all HTTP requests of a file and says how fast. `parse_requests FILE`: from memory, where the whole file is read
//! before the time starts. `parse_requests FILE CHUNK`: while it is read, CHUNK bytes at a time, in constant memory.
//!
//! The requests follow one another as on a connection with pipelining. They have no bodies.

use std::fmt;
use std::fs::{self, File};
use std::hint::black_box;
use std::io::{self, Read};
use std::path::Path;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use thrum::parse::http::{HeadError, HeadLimits, HeadParser, RequestHead, Status, explain_head};
use thrum_examples::{arguments, wrong};

const USAGE: &str =
    "usage: parse_requests FILE [CHUNK]    parses the HTTP requests of FILE, which have no bodies:
       all of FILE from memory, or CHUNK bytes at a time while it is read";

const MOST_CHUNK: usize = 1 << 30;

fn main() -> ExitCode {
    let arguments = arguments(USAGE, 2);
    let (file, chunk) = match arguments.as_slice() {
        [] => wrong(USAGE, "which file?"),
        [flag, ..] if flag.starts_with('-') => wrong(USAGE, &format!("there is no flag {flag}")),
        [file] => (file, None),
        [file, chunk, ..] => match chunk.parse() {
            Ok(bytes @ 1..=MOST_CHUNK) => (file, Some(bytes)),
            _ => wrong(
                USAGE,
                &format!("{chunk:?} is not a number of bytes from 1 to {MOST_CHUNK}"),
            ),
        },
    };
    let parsed = match chunk {
        None => whole(Path::new(file)),
        Some(chunk) => in_chunks(Path::new(file), chunk),
    };
    match parsed {
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

/// Parses the file from memory. What is timed is parsing alone.
fn whole(file: &Path) -> Result<String, Failure> {
    let bytes = fs::read(file)?;
    let begin = Instant::now();
    let mut requests = Requests::new();
    requests.parse(&bytes, true)?;
    Ok(format!(
        "{requests}, parsed in {}",
        requests.rate(begin.elapsed())
    ))
}

/// Parses the file while it is read. What is timed is all of it: to read, to move what is left over to the front of the
/// buffer, to parse.
fn in_chunks(file: &Path, chunk: usize) -> Result<String, Failure> {
    let mut file = File::open(file)?;
    // A head that is not complete is shorter than the limit, or it would have been refused.
    let mut buffer = vec![0; HeadLimits::default().head_bytes + chunk];
    let (mut filled, mut eof) = (0, false);
    let (begin, mut reading) = (Instant::now(), Duration::ZERO);
    let mut requests = Requests::new();
    while !eof {
        let begin = Instant::now();
        let read = read(&mut file, &mut buffer[filled..filled + chunk])?;
        reading += begin.elapsed();
        eof = read == 0;
        filled += read;
        let consumed = requests.parse(&buffer[..filled], eof)?;
        buffer.copy_within(consumed..filled, 0);
        filled -= consumed;
    }
    let total = begin.elapsed();
    Ok(format!(
        "{requests}, read and parsed in {}, of it parsed in {}",
        requests.rate(total),
        requests.rate(total.saturating_sub(reading)),
    ))
}

/// Reads once; nothing means that the file has ended.
fn read(file: &mut File, buffer: &mut [u8]) -> io::Result<usize> {
    loop {
        match file.read(buffer) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            read => return read,
        }
    }
}

/// What has been parsed so far.
struct Requests {
    parser: HeadParser,
    head: RequestHead,
    count: u64,
    fields: u64,
    bytes: usize,
}

impl Requests {
    fn new() -> Self {
        Requests {
            parser: HeadParser::new(HeadLimits::default()),
            head: RequestHead::new(),
            count: 0,
            fields: 0,
            bytes: 0,
        }
    }

    /// Parses the requests that are complete and says how many bytes they have. The bytes behind them are to be given
    /// again, with more.
    fn parse(&mut self, buffer: &[u8], eof: bool) -> Result<usize, Failure> {
        let mut consumed = 0;
        while consumed < buffer.len() {
            let rest = &buffer[consumed..];
            match self.parser.parse(rest, eof, &mut self.head) {
                Ok(Status::Complete { consumed: bytes }) => {
                    black_box(&self.head);
                    self.count += 1;
                    self.fields += self.head.headers().len() as u64;
                    self.bytes += bytes;
                    consumed += bytes;
                }
                Ok(Status::Partial) => break,
                Err(error) => return Err(self.malformed(error, rest)),
            }
        }
        Ok(consumed)
    }

    #[cold]
    fn malformed(&self, error: HeadError, head: &[u8]) -> Failure {
        let request = self.count + 1;
        let explanation = explain_head::<RequestHead>(head, HeadLimits::default());
        let at = self.bytes + explanation.as_ref().map_or(0, |found| found.at);
        let shown = explanation.map_or_else(String::new, |found| format!("\n{found}"));
        Failure(format!("byte {at}, in request {request}: {error}{shown}"))
    }

    /// How long it took, and megabytes (of 1,000,000 bytes) a second.
    fn rate(&self, time: Duration) -> String {
        let (megabytes, seconds) = (self.bytes as f64 / 1e6, time.as_secs_f64());
        format!("{seconds:.6} s: {:.0} MB/s", megabytes / seconds)
    }
}

impl fmt::Display for Requests {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Requests {
            count,
            fields,
            bytes,
            ..
        } = self;
        write!(f, "{count} requests, {fields} header fields, {bytes} bytes")
    }
}

/// Why a file could not be parsed, in words.
struct Failure(String);

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        Failure(error.to_string())
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}
