//! Parses all HTTP requests of a file and says how fast. `parse_requests FILE`: from memory, where the whole file is read
//! before the time starts. `parse_requests FILE CHUNK`: while it is read, CHUNK bytes at a time, in constant memory.
//!
//! The requests follow one another as on a connection with pipelining. They have no bodies. `--responses` parses the heads of
//! responses instead.

use std::fmt;
use std::fs::{self, File};
use std::hint::black_box;
use std::io::{self, Read};
use std::path::Path;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use thrum::parse::http::{
    Head, HeadError, HeadLimits, HeadParser, RequestHead, ResponseHead, Status, explain_head,
};
use thrum_examples::{arguments, wrong};

const USAGE: &str = "usage: parse_requests [--responses] FILE [CHUNK]    parses the HTTP requests of FILE, which have no
       bodies: all of FILE from memory, or CHUNK bytes at a time while it is read
       --responses    parses the heads of responses instead";

const MOST_CHUNK: usize = 1 << 30;

fn main() -> ExitCode {
    let mut arguments = arguments(USAGE, 3);
    let flag = arguments.iter().position(|word| word == "--responses");
    let responses = flag.map(|at| arguments.remove(at)).is_some();
    let (file, chunk) = match arguments.as_slice() {
        [] => wrong(USAGE, "which file?"),
        [flag, ..] if flag.starts_with('-') => wrong(USAGE, &format!("there is no flag {flag}")),
        [file] => (file, None),
        [_, _, surplus, ..] => wrong(USAGE, &format!("{surplus:?} is one argument too many")),
        [file, chunk] => match chunk.parse() {
            Ok(bytes @ 1..=MOST_CHUNK) => (file, Some(bytes)),
            _ => wrong(
                USAGE,
                &format!("{chunk:?} is not a number of bytes from 1 to {MOST_CHUNK}"),
            ),
        },
    };
    let parse = if responses {
        parse::<ResponseHead>
    } else {
        parse::<RequestHead>
    };
    match parse(Path::new(file), chunk) {
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

fn parse<H: Message>(file: &Path, chunk: Option<usize>) -> Result<String, Failure> {
    match chunk {
        None => whole::<H>(file),
        Some(chunk) => in_chunks::<H>(file, chunk),
    }
}

/// Parses the file from memory. What is timed is parsing alone.
fn whole<H: Message>(file: &Path) -> Result<String, Failure> {
    let bytes = fs::read(file)?;
    let begin = Instant::now();
    let mut messages = Messages::<H>::new();
    messages.parse(&bytes, true)?;
    Ok(format!(
        "{messages}, parsed in {}",
        messages.rate(begin.elapsed())
    ))
}

/// Parses the file while it is read. What is timed is all of it: to read, to move what is left over to the front of the
/// buffer, to parse.
fn in_chunks<H: Message>(file: &Path, chunk: usize) -> Result<String, Failure> {
    let mut file = File::open(file)?;
    // A head that is not complete is shorter than the limit, or it would have been refused.
    let mut buffer = vec![0; HeadLimits::default().head_bytes + chunk];
    let (mut filled, mut eof) = (0, false);
    let (begin, mut reading) = (Instant::now(), Duration::ZERO);
    let mut messages = Messages::<H>::new();
    while !eof {
        let begin = Instant::now();
        let read = read(&mut file, &mut buffer[filled..filled + chunk])?;
        reading += begin.elapsed();
        eof = read == 0;
        filled += read;
        let consumed = messages.parse(&buffer[..filled], eof)?;
        buffer.copy_within(consumed..filled, 0);
        filled -= consumed;
    }
    let total = begin.elapsed();
    Ok(format!(
        "{messages}, read and parsed in {}, of it parsed in {}",
        messages.rate(total),
        messages.rate(total.saturating_sub(reading)),
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

/// A kind of message, whose heads are parsed.
trait Message: Head {
    const NAME: &str;

    fn fields(&self) -> usize;
}

impl Message for RequestHead {
    const NAME: &str = "request";

    fn fields(&self) -> usize {
        self.headers().len()
    }
}

impl Message for ResponseHead {
    const NAME: &str = "response";

    fn fields(&self) -> usize {
        self.headers().len()
    }
}

/// What has been parsed so far.
struct Messages<H> {
    parser: HeadParser,
    head: H,
    count: u64,
    fields: u64,
    bytes: usize,
}

impl<H: Message> Messages<H> {
    fn new() -> Self {
        Messages {
            parser: HeadParser::new(HeadLimits::default()),
            head: H::default(),
            count: 0,
            fields: 0,
            bytes: 0,
        }
    }

    /// Parses the heads that are complete and says how many bytes they have. The bytes behind them are to be given
    /// again, with more.
    fn parse(&mut self, buffer: &[u8], eof: bool) -> Result<usize, Failure> {
        let mut consumed = 0;
        while consumed < buffer.len() {
            let rest = &buffer[consumed..];
            match self.parser.parse(rest, eof, &mut self.head) {
                Ok(Status::Complete { consumed: bytes }) => {
                    black_box(&self.head);
                    self.count += 1;
                    self.fields += self.head.fields() as u64;
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
        let number = self.count + 1;
        let explanation = explain_head::<H>(head, HeadLimits::default());
        let at = self.bytes + explanation.as_ref().map_or(0, |found| found.at);
        let shown = explanation.map_or_else(String::new, |found| format!("\n{found}"));
        Failure(format!(
            "byte {at}, in {} {number}: {error}{shown}",
            H::NAME
        ))
    }

    /// How long it took, and megabytes (of 1,000,000 bytes) a second.
    fn rate(&self, time: Duration) -> String {
        let (megabytes, seconds) = (self.bytes as f64 / 1e6, time.as_secs_f64());
        format!("{seconds:.6} s: {:.0} MB/s", megabytes / seconds)
    }
}

impl<H: Message> fmt::Display for Messages<H> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Messages {
            count,
            fields,
            bytes,
            ..
        } = self;
        write!(
            f,
            "{count} {}s, {fields} header fields, {bytes} bytes",
            H::NAME
        )
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
