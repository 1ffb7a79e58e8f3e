//! Connections to applications.

use std::fmt;
use std::io;
use std::path::PathBuf;
use std::str::FromStr;
use std::task::{Context, Poll};

use thiserror::Error;
use thrum_rt::net::{TcpStream, UnixStream};

/// Where an application listens: `unix:/run/php.sock`, `127.0.0.1:9000`, `:9000`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Address {
    /// A Unix socket.
    Unix(PathBuf),
    /// A host, by name or address, and a port.
    Tcp(String),
}

/// What is no address.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{0:?} is no address: write unix:/PATH or HOST:PORT")]
pub struct BadAddress(String);

impl FromStr for Address {
    type Err = BadAddress;

    fn from_str(text: &str) -> Result<Self, BadAddress> {
        if let Some(path) = text.strip_prefix("unix:") {
            return match path.starts_with('/') {
                true => Ok(Self::Unix(path.into())),
                false => Err(BadAddress(text.to_owned())),
            };
        }
        let (host, port) = text.rsplit_once(':').unwrap_or(("", text));
        match port.parse::<u16>() {
            Ok(1..) if host.is_empty() => Ok(Self::Tcp(format!("127.0.0.1:{port}"))),
            Ok(1..) => Ok(Self::Tcp(text.to_owned())),
            _ => Err(BadAddress(text.to_owned())),
        }
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unix(path) => write!(f, "unix:{}", path.display()),
            Self::Tcp(address) => f.write_str(address),
        }
    }
}

#[derive(Debug)]
pub(super) enum Connection {
    Unix(UnixStream),
    Tcp(TcpStream),
}

macro_rules! each {
    ($socket:expr, $stream:ident => $call:expr) => {
        match $socket {
            Connection::Unix($stream) => $call,
            Connection::Tcp($stream) => $call,
        }
    };
}

impl Connection {
    pub(super) async fn to(address: &Address) -> io::Result<Self> {
        match address {
            Address::Unix(path) => Ok(Self::Unix(UnixStream::connect(path).await?)),
            Address::Tcp(address) => {
                let stream = TcpStream::connect(address.as_str()).await?;
                stream.set_nodelay(true)?;
                Ok(Self::Tcp(stream))
            }
        }
    }

    pub(super) fn try_read(&self, buffer: &mut [u8]) -> io::Result<usize> {
        each!(self, stream => stream.try_read(buffer))
    }

    pub(super) fn try_write(&self, bytes: &[u8]) -> io::Result<usize> {
        each!(self, stream => stream.try_write(bytes))
    }

    pub(super) fn poll_readable(&self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        each!(self, stream => stream.poll_readable(cx))
    }

    pub(super) fn poll_writable(&self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        each!(self, stream => stream.poll_writable(cx))
    }

    /// Whether nothing has come of a connection that rests: neither its end nor bytes that nobody asked for.
    pub(super) fn is_quiet(&self) -> bool {
        let read = self.try_read(&mut [0]);
        read.is_err_and(|error| error.kind() == io::ErrorKind::WouldBlock)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses() {
        let tcp = |text: &str| Ok(Address::Tcp(text.to_owned()));
        for (text, expected) in [
            ("unix:/run/a.sock", Ok(Address::Unix("/run/a.sock".into()))),
            ("127.0.0.1:9000", tcp("127.0.0.1:9000")),
            ("[::1]:9000", tcp("[::1]:9000")),
            ("php.example:9000", tcp("php.example:9000")),
            (":9000", tcp("127.0.0.1:9000")),
            ("9000", tcp("127.0.0.1:9000")),
        ] {
            assert_eq!(text.parse(), expected, "{text}");
        }
        for text in ["unix:run", "host", "host:0", "host:70000", ""] {
            assert_eq!(text.parse::<Address>(), Err(BadAddress(text.to_owned())));
        }
    }
}
