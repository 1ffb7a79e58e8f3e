//! Doubles numbers, a line each: `7` gives `14`, `end` says thanks and closes. `doubling [ADDRESS]`, default
//! 127.0.0.1:44444.
//!
//! A client may send any number of lines without waiting; those that come together are answered together.

use std::io;

use thrum::net::{TcpListener, TcpStream};
use thrum::stream::{Bytes, Result, Source, Stage, sink, source, stage};
use thrum_examples::address;

const USAGE: &str = "usage: doubling [ADDRESS]    default 127.0.0.1:44444";
const THANKS: &[u8] = b"Thank you for using the thrum doubling service.\n";

/// A line of more bytes is an error, as a client could send one without end.
const LONGEST: usize = 4096;

#[thrum::main]
async fn main() -> io::Result<()> {
    let listener = TcpListener::bind(address(USAGE, "127.0.0.1:44444")).await?;
    println!("{}", listener.local_addr()?);
    loop {
        let (connection, _) = listener.accept().await?;
        thrum::spawn(async move {
            if let Err(error) = serve(&connection).await {
                let _ = connection.write_all(format!("{error}\n").as_bytes()).await;
            }
        });
    }
}

/// source | lines | double | sink
async fn serve(connection: &TcpStream) -> Result<()> {
    let mut lines = source::reader(connection)
        .pipe(stage::lines(LONGEST))
        .resumable();
    let doubled = stage::take_while(|line: &Bytes| line != "end").then(stage::map(double));
    lines
        .feed(doubled.to(sink::writer(connection).keep_open()))
        .await?;
    // The line that ended it is left over. If there is none, the client has gone without a word.
    if lines.next().await?.is_some() {
        let thanks = source::once(THANKS);
        thanks.run(sink::writer(connection)).await?;
    }
    Ok(())
}

fn double(line: Bytes) -> String {
    let text = std::str::from_utf8(&line).ok();
    match text.and_then(|text| text.trim_end().parse::<i64>().ok()) {
        Some(number) => format!("{}\n", 2 * i128::from(number)),
        None => format!("not an integer: {}\n", line.escape_ascii()),
    }
}
