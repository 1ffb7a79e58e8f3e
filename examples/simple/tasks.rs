//! A simple server with a task for each connection: reads once, says Pong, closes. `simple_tasks [ADDRESS]`, default
//! 127.0.0.1:8080.

use std::io::Result;

use thrum::net::{TcpListener, TcpStream};
use thrum_examples::address;

const USAGE: &str = "usage: simple_tasks [ADDRESS]    default 127.0.0.1:8080";
const ANSWER: &[u8] = b"HTTP/1.0 200 OK\r\nContent-Length: 7\r\n\r\nPong!\r\n";

#[thrum::main]
async fn main() -> Result<()> {
    let listener = TcpListener::bind(address(USAGE, "127.0.0.1:8080")).await?;
    println!("http://{}/", listener.local_addr()?);
    loop {
        let (connection, _) = listener.accept().await?;
        thrum::spawn(serve(connection));
    }
}

async fn serve(connection: TcpStream) -> Result<()> {
    let mut request = [0; 4096];
    if connection.read(&mut request).await? > 0 {
        connection.write_all(ANSWER).await?;
    }
    Ok(())
}
