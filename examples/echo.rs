//! Sends back what it is sent. `echo [ADDRESS]`, default 127.0.0.1:7000.

use std::io;

use thrum::net::{TcpListener, TcpStream};
use thrum_examples::address;

const USAGE: &str = "usage: echo [ADDRESS]    default 127.0.0.1:7000";

#[thrum::main]
async fn main() -> io::Result<()> {
    let listener = TcpListener::bind(address(USAGE, "127.0.0.1:7000")).await?;
    println!("{}", listener.local_addr()?);
    loop {
        let (connection, _) = listener.accept().await?;
        thrum::spawn(async move { echo(&connection).await });
    }
}

async fn echo(connection: &TcpStream) -> io::Result<()> {
    let mut buffer = [0; 4096];
    loop {
        match connection.read(&mut buffer).await? {
            0 => return Ok(()),
            read => connection.write_all(&buffer[..read]).await?,
        }
    }
}
