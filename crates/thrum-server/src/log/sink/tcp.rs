//! Lines over TCP, to a syslog on another machine.

use std::io::{self, Write};
use std::net::{TcpStream, ToSocketAddrs};
use std::time::{Duration, Instant};

use super::SOCKET_WAIT;

/// How long connecting may take.
const CONNECT: Duration = Duration::from_secs(3);
/// How long not to try again after that failed.
const PAUSE: Duration = Duration::from_secs(1);

/// A connection that is made when there is something to send, and anew when it was lost.
pub(super) struct Tcp {
    host: String,
    stream: Option<TcpStream>,
    failed: Option<Instant>,
}

impl Tcp {
    pub(super) fn new(host: &str) -> Self {
        Self {
            host: host.to_owned(),
            stream: None,
            failed: None,
        }
    }

    fn connect(&self) -> io::Result<TcpStream> {
        let mut last = io::ErrorKind::AddrNotAvailable.into();
        for address in self.host.to_socket_addrs()? {
            match TcpStream::connect_timeout(&address, CONNECT) {
                Ok(stream) => {
                    stream.set_write_timeout(Some(SOCKET_WAIT))?;
                    return Ok(stream);
                }
                Err(error) => last = error,
            }
        }
        Err(last)
    }
}

impl Write for Tcp {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.stream.is_none() {
            if self.failed.is_some_and(|at| at.elapsed() < PAUSE) {
                return Err(io::ErrorKind::NotConnected.into());
            }
            let connected = self.connect();
            self.failed = connected.is_err().then(Instant::now);
            self.stream = Some(connected?);
        }
        let Some(stream) = &mut self.stream else {
            return Err(io::ErrorKind::NotConnected.into());
        };
        stream.write(bytes).inspect_err(|error| {
            use io::ErrorKind::{Interrupted, WouldBlock};
            if !matches!(error.kind(), WouldBlock | Interrupted) {
                self.stream = None;
            }
        })
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::io::{BufRead, BufReader};
    use std::net::TcpListener;

    use super::*;

    #[test]
    fn connects_when_there_is_something_to_send_and_again_when_the_peer_was_gone() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let mut tcp = Tcp::new(&listener.local_addr().unwrap().to_string());
        tcp.write_all(b"one\n").unwrap();
        let (first, _) = listener.accept().unwrap();
        let mut line = String::new();
        BufReader::new(first).read_line(&mut line).unwrap();
        assert_eq!(line, "one\n");

        // The peer has closed: the first line after that is lost in silence, as TCP has it, and then it is noticed.
        let begin = Instant::now();
        listener.set_nonblocking(true).unwrap();
        let second = loop {
            assert!(begin.elapsed() < Duration::from_secs(10));
            let _ = tcp.write_all(b"two\n");
            match listener.accept() {
                Ok((second, _)) => break second,
                Err(_) => std::thread::sleep(Duration::from_millis(5)),
            }
        };
        second.set_nonblocking(false).unwrap();
        line.clear();
        BufReader::new(second).read_line(&mut line).unwrap();
        assert_eq!(line, "two\n");
    }
}
