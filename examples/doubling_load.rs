//! Loads a doubling server on this machine: connections that each keep some lines on their way.
//! `doubling_load [PORT [CONNECTIONS [IN_FLIGHT [SECONDS [LINES]]]]]`, default 44444, 500, 3 and 3: for so many seconds, or
//! until each connection has had so many lines answered.
//!
//! Every answer is checked. Prints how many there were, and how many a second.

use std::error::Error;
use std::io::{self, Write};
use std::time::{Duration, Instant};

use thrum::net::TcpStream;
use thrum_examples::{numbers, wrong};

const USAGE: &str = "usage: doubling_load [PORT [CONNECTIONS [IN_FLIGHT [SECONDS [LINES]]]]]
       default 44444 500 3 3, and as many lines as there is time for";

#[thrum::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let [port, connections, in_flight, seconds, lines] =
        numbers(USAGE, [44444, 500, 3, 3, usize::MAX]);
    let Ok(port) = u16::try_from(port) else {
        wrong(USAGE, &format!("{port} is not a port"));
    };
    let mut connected = Vec::new();
    for _ in 0..connections {
        connected.push(TcpStream::connect(("127.0.0.1", port)).await?);
    }
    let begin = Instant::now();
    let end = begin + Duration::from_secs(seconds as u64);
    let clients: Vec<_> = connected
        .into_iter()
        .map(|connection| thrum::spawn(ask_until(end, lines, connection, in_flight)))
        .collect();
    let mut answers = 0;
    for client in clients {
        answers += client.await??;
    }
    let rate = answers as f64 / begin.elapsed().as_secs_f64();
    println!("answers {answers}");
    println!("answers a second {rate:.0}");
    Ok(())
}

/// Asks for the doubles of 1, 2, 3 and so on, a new one for each that is answered; how many were answered.
async fn ask_until(
    end: Instant,
    lines: usize,
    connection: TcpStream,
    in_flight: usize,
) -> io::Result<usize> {
    let (mut input, mut filled) = ([0; 4096], 0);
    let mut output = Vec::new();
    let (mut asked, mut answered) = (0, 0);
    while Instant::now() < end && answered < lines {
        while asked < lines.min(answered + in_flight) {
            asked += 1;
            writeln!(output, "{asked}")?;
        }
        connection.write_all(&output).await?;
        output.clear();
        let read = connection.read(&mut input[filled..]).await?;
        if read == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        filled += read;
        let mut used = 0;
        while let Some(length) = input[used..filled].iter().position(|&byte| byte == b'\n') {
            let line = &input[used..used + length];
            used += length + 1;
            answered += 1;
            if str::from_utf8(line).ok().and_then(|line| line.parse().ok()) != Some(2 * answered) {
                let wrong = format!("{answered} is doubled to {}", line.escape_ascii());
                return Err(io::Error::other(wrong));
            }
        }
        input.copy_within(used..filled, 0);
        filled -= used;
    }
    Ok(answered)
}
