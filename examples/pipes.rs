//! One-byte messages through pipes, a reader task and a writer task each. `pipes N M`: M messages through N pipes.
//! `pipes N M SECONDS`: each message is to be read within so many seconds, so that a timer is started and dropped for it.
//!
//! Prints the seconds from the first message to the last, and which back end of the reactor it was; the pipes are made before.

use std::error::Error;
use std::time::{Duration, Instant};

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use thrum::pipe::{PipeReader, PipeWriter, pipe};
use thrum::time::timeout;
use thrum_examples::numbers;

const USAGE: &str =
    "usage: pipes [N [M [SECONDS]]]    M messages through N pipes, each read within SECONDS,
       default 1000000 through 100 without a timeout";

#[thrum::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let [pipes, messages, seconds] = numbers(USAGE, [100, 1_000_000, 0]);
    let limit = (seconds > 0).then(|| Duration::from_secs(seconds as u64));
    let each = messages / pipes;
    may_open_all();
    let mut ends = Vec::new();
    for made in 0..pipes {
        ends.push(pipe().map_err(|error| format!("no more than {made} pipes: {error}"))?);
    }
    let begin = Instant::now();
    let readers: Vec<_> = ends
        .into_iter()
        .map(|(reader, writer)| {
            thrum::spawn(write(writer, each));
            thrum::spawn(read(reader, each, limit))
        })
        .collect();
    for reader in readers {
        reader.await??;
    }
    println!("{:.3} s", begin.elapsed().as_secs_f64());
    if let Some(io) = thrum::metrics().io {
        println!("the kernel was asked by {io}");
    }
    Ok(())
}

async fn write(writer: PipeWriter, messages: usize) -> std::io::Result<()> {
    for _ in 0..messages {
        writer.write_all(b"x").await?;
    }
    Ok(())
}

async fn read(reader: PipeReader, messages: usize, limit: Option<Duration>) -> std::io::Result<()> {
    let mut message = [0];
    for _ in 0..messages {
        match limit {
            None => reader.read(&mut message).await?,
            Some(limit) => timeout(limit, reader.read(&mut message)).await??,
        };
    }
    Ok(())
}

/// As many files as the system lets this process open; by default it is fewer.
fn may_open_all() {
    let maximum = getrlimit(Resource::Nofile).maximum;
    let _ = setrlimit(
        Resource::Nofile,
        Rlimit {
            current: maximum,
            maximum,
        },
    );
}
