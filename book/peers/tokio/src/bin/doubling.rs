//! Doubles numbers, a line each; `end` closes. doubling PORT

use std::io::{self, Write};

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

const LONGEST: usize = 4096;

#[tokio::main]
async fn main() -> io::Result<()> {
    let [port] = tokio_twins::numbers();
    let listener = TcpListener::bind(("127.0.0.1", port as u16)).await?;
    loop {
        let (connection, _) = listener.accept().await?;
        tokio::spawn(async move { double(connection).await });
    }
}

async fn double(mut connection: TcpStream) -> io::Result<()> {
    let (mut input, mut filled) = ([0; LONGEST], 0);
    let mut output = Vec::new();
    loop {
        let read = connection.read(&mut input[filled..]).await?;
        filled += read;
        let mut lines = input[..filled].split_inclusive(|&byte| byte == b'\n');
        let mut used = 0;
        while let Some(line) = lines.next().and_then(|line| line.strip_suffix(b"\n")) {
            used += line.len() + 1;
            if line.trim_ascii_end() == b"end" {
                output.extend(b"Thank you for using the doubling service.\n");
                return connection.write_all(&output).await;
            }
            answer(line, &mut output)?;
        }
        connection.write_all(&output).await?;
        output.clear();
        input.copy_within(used..filled, 0);
        filled -= used;
        if read == 0 {
            return Ok(());
        }
        if filled == LONGEST {
            return connection.write_all(b"the line is too long\n").await;
        }
    }
}

fn answer(line: &[u8], output: &mut Vec<u8>) -> io::Result<()> {
    let number = std::str::from_utf8(line)
        .ok()
        .and_then(|line| line.trim_end().parse::<i64>().ok());
    match number {
        Some(number) => writeln!(output, "{}", 2 * i128::from(number)),
        None => writeln!(output, "not an integer: {}", line.escape_ascii()),
    }
}
