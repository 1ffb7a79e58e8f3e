//! A message for each line: syslog on this machine or another, journald.

use std::io;
use std::net::{Ipv4Addr, Ipv6Addr, ToSocketAddrs, UdpSocket};
use std::os::unix::net::UnixDatagram;
use std::path::{Path, PathBuf};

use super::{FULL_WAIT, Refused, SOCKET_WAIT};

/// Messages to a socket that is connected when there is something to send, and anew when nobody is there any more.
pub(super) struct Datagrams {
    to: Address,
    /// What stands between two messages.
    separator: &'static [u8],
    socket: Option<Socket>,
}

enum Address {
    Unix(PathBuf),
    Udp(String),
}

enum Socket {
    Unix(UnixDatagram),
    Udp(UdpSocket),
}

impl Datagrams {
    pub(super) fn unix(path: &Path, separator: &'static [u8]) -> Self {
        Self {
            to: Address::Unix(path.to_owned()),
            separator,
            socket: None,
        }
    }

    pub(super) fn udp(host: &str) -> Self {
        Self {
            to: Address::Udp(host.to_owned()),
            separator: b"\n",
            socket: None,
        }
    }

    pub(super) fn send_all<'a>(
        &mut self,
        lines: &'a [u8],
        abandoned: impl Fn() -> bool + Copy,
    ) -> Result<(), Refused<'a>> {
        let mut rest = lines;
        while !rest.is_empty() {
            let (message, after) = first(rest, self.separator);
            self.send(message, abandoned)
                .map_err(|error| Refused { rest, error })?;
            rest = after;
        }
        Ok(())
    }

    /// The messages in a text.
    pub(super) fn messages<'a>(&self, text: &'a [u8]) -> impl Iterator<Item = &'a [u8]> + use<'a> {
        let (mut rest, separator) = (text, self.separator);
        std::iter::from_fn(move || {
            let (message, after) = (!rest.is_empty()).then(|| first(rest, separator))?;
            rest = after;
            Some(message)
        })
    }

    /// The next message is sent on a new socket.
    pub(super) fn disconnect(&mut self) {
        self.socket = None;
    }

    fn send(&mut self, message: &[u8], abandoned: impl Fn() -> bool) -> io::Result<()> {
        let mut again = true;
        loop {
            let sent = self.connected().and_then(|socket| socket.send(message));
            match sent {
                Ok(()) => return Ok(()),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) if error.kind() == io::ErrorKind::WouldBlock && !abandoned() => {
                    std::thread::sleep(FULL_WAIT);
                }
                // Once: it may have been started anew, or this is the answer to an earlier message.
                Err(_) if again && self.socket.is_some() => {
                    again = false;
                    self.socket = None;
                }
                Err(error) => return Err(error),
            }
        }
    }

    fn connected(&mut self) -> io::Result<&Socket> {
        match &mut self.socket {
            Some(socket) => Ok(socket),
            none => Ok(none.insert(self.to.connect()?)),
        }
    }
}

impl Address {
    fn connect(&self) -> io::Result<Socket> {
        Ok(match self {
            Self::Unix(path) => {
                let socket = UnixDatagram::unbound()?;
                socket.connect(path)?;
                socket.set_write_timeout(Some(SOCKET_WAIT))?;
                Socket::Unix(socket)
            }
            Self::Udp(host) => {
                let address = host.to_socket_addrs()?.next();
                let address = address.ok_or(io::ErrorKind::AddrNotAvailable)?;
                let socket = match address.is_ipv4() {
                    true => UdpSocket::bind((Ipv4Addr::UNSPECIFIED, 0))?,
                    false => UdpSocket::bind((Ipv6Addr::UNSPECIFIED, 0))?,
                };
                socket.connect(address)?;
                socket.set_write_timeout(Some(SOCKET_WAIT))?;
                Socket::Udp(socket)
            }
        })
    }
}

impl Socket {
    fn send(&self, message: &[u8]) -> io::Result<()> {
        match self {
            Self::Unix(socket) => socket.send(message),
            Self::Udp(socket) => socket.send(message),
        }
        .map(|_| ())
    }
}

/// The first message of a text, and what follows its separator.
fn first<'a>(text: &'a [u8], separator: &[u8]) -> (&'a [u8], &'a [u8]) {
    let end = text
        .windows(separator.len())
        .position(|window| window == separator);
    match end {
        Some(end) => (&text[..end], &text[end + separator.len()..]),
        None => (text, &[]),
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    const NEVER: fn() -> bool = || false;

    fn received(socket: &UnixDatagram) -> String {
        let mut buffer = [0; 1000];
        socket
            .set_read_timeout(Some(Duration::from_secs(10)))
            .unwrap();
        let length = socket.recv(&mut buffer).unwrap();
        String::from_utf8(buffer[..length].to_vec()).unwrap()
    }

    #[test]
    fn one_message_for_each_line_and_again_after_a_restart() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("log");
        let mut datagrams = Datagrams::unix(&path, b"\n");
        let refused = datagrams.send_all(b"one\ntwo\n", NEVER).err().unwrap();
        assert_eq!(refused.rest, b"one\ntwo\n");
        assert_eq!(datagrams.messages(refused.rest).count(), 2);

        let syslog = UnixDatagram::bind(&path).unwrap();
        assert!(datagrams.send_all(b"three\nfour\n", NEVER).is_ok());
        assert_eq!([received(&syslog), received(&syslog)], ["three", "four"]);

        drop(syslog);
        std::fs::remove_file(&path).unwrap();
        assert!(datagrams.send_all(b"five\n", NEVER).is_err());
        let syslog = UnixDatagram::bind(&path).unwrap();
        assert!(datagrams.send_all(b"six\n", NEVER).is_ok());
        assert_eq!(received(&syslog), "six");
    }

    #[test]
    fn messages_of_several_lines() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("journal");
        let journal = UnixDatagram::bind(&path).unwrap();
        let mut datagrams = Datagrams::unix(&path, b"\n\n");
        assert!(datagrams.send_all(b"A=1\nB=2\n\nA=3\n\n", NEVER).is_ok());
        assert_eq!(
            [received(&journal), received(&journal)],
            ["A=1\nB=2", "A=3"]
        );
    }

    #[test]
    fn a_receiver_that_is_full_is_waited_for_until_nobody_waits_for_us() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("log");
        let _full = UnixDatagram::bind(&path).unwrap();
        let mut datagrams = Datagrams::unix(&path, b"\n");
        let begin = std::time::Instant::now();
        let abandoned = || begin.elapsed() > Duration::from_millis(300);
        let lines = "x\n".repeat(10_000);
        let refused = datagrams
            .send_all(lines.as_bytes(), abandoned)
            .err()
            .unwrap();
        assert_eq!(refused.error.kind(), io::ErrorKind::WouldBlock);
        assert!(!refused.rest.is_empty());
    }
}
