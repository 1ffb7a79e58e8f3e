//! A simple server with a thread of the operating system for each connection: reads once, says Pong, closes.
//! `simple_threads [ADDRESS]`, default 127.0.0.1:8080.

use std::io::{Read, Result, Write};
use std::net::{TcpListener, TcpStream};
use std::thread;

use thrum_examples::address;

const USAGE: &str = "usage: simple_threads [ADDRESS]    default 127.0.0.1:8080";
const ANSWER: &[u8] = b"HTTP/1.0 200 OK\r\nContent-Length: 7\r\n\r\nPong!\r\n";

fn main() -> Result<()> {
    let listener = TcpListener::bind(address(USAGE, "127.0.0.1:8080"))?;
    println!("http://{}/", listener.local_addr()?);
    loop {
        let (connection, _) = listener.accept()?;
        thread::spawn(move || serve(connection));
    }
}

fn serve(mut connection: TcpStream) -> Result<()> {
    let mut request = [0; 4096];
    if connection.read(&mut request)? > 0 {
        connection.write_all(ANSWER)?;
    }
    Ok(())
}
