//! What is said to a proxy before a connection through it is there: CONNECT, or SOCKS 5.
//!
//! Of what the proxy sends not a byte too many is read: what follows belongs to whoever is at the other end.

use std::future::poll_fn;
use std::io::{self, ErrorKind};
use std::net::IpAddr;
use std::pin::Pin;

use futures_io::{AsyncRead, AsyncWrite};
use http::StatusCode;
use thiserror::Error;
use thrum_parse::http::{HeadError, HeadLimits, HeadParser, ResponseHead, Status};

use super::{Kind, Proxy};

/// Bytes of a proxy's answer to CONNECT, and interim responses before it.
const HEAD_BYTES: usize = 16 * 1024;
const INTERIM: u32 = 8;

impl Proxy {
    /// Has the proxy at the other end of `stream` connect to `host`, an IPv6 address without brackets. Then the stream is
    /// a connection to it.
    ///
    /// It has no time limit itself. Dropping the future leaves the stream in the middle: drop that too.
    pub(crate) async fn tunnel<S>(
        &self,
        stream: &mut S,
        host: &str,
        port: u16,
    ) -> Result<(), TunnelError>
    where
        S: AsyncRead + AsyncWrite + Unpin,
    {
        match self.kind {
            Kind::Http => self.connect(stream, host, port).await,
            Kind::Socks5 { looks_up_names } => {
                let target = match host.parse() {
                    Ok(address) => Target::Address(address),
                    Err(_) if looks_up_names => Target::Name(host),
                    Err(_) => {
                        let addresses = thrum_rt::net::lookup_host((host, port)).await?;
                        let first = addresses.first().ok_or(ErrorKind::NotFound)?;
                        Target::Address(first.ip())
                    }
                };
                self.socks5(stream, target, port).await
            }
        }
    }

    async fn connect<S>(&self, stream: &mut S, host: &str, port: u16) -> Result<(), TunnelError>
    where
        S: AsyncRead + AsyncWrite + Unpin,
    {
        let (open, close) = if host.contains(':') {
            ("[", "]")
        } else {
            ("", "")
        };
        let target = format!("{open}{host}{close}:{port}");
        let mut request = format!("CONNECT {target} HTTP/1.1\r\nHost: {target}\r\n").into_bytes();
        if let Some(value) = self.authorization() {
            request.extend_from_slice(b"Proxy-Authorization: ");
            request.extend_from_slice(value.as_bytes());
            request.extend_from_slice(b"\r\n");
        }
        request.extend_from_slice(b"\r\n");
        write(stream, &request).await?;
        for _ in 0..=INTERIM {
            let status = response(stream).await?;
            match status.as_u16() {
                100..200 => {}
                200..300 => return Ok(()),
                _ => return Err(TunnelError::Status(status)),
            }
        }
        Err(TunnelError::TooLong)
    }

    async fn socks5<S>(
        &self,
        stream: &mut S,
        target: Target<'_>,
        port: u16,
    ) -> Result<(), TunnelError>
    where
        S: AsyncRead + AsyncWrite + Unpin,
    {
        // RFC 1928, section 3: version, and the methods that are offered: none, and name with password.
        match self.credentials {
            None => write(stream, &[5, 1, 0]).await?,
            Some(_) => write(stream, &[5, 2, 0, 2]).await?,
        }
        match (read(stream).await?, &self.credentials) {
            ([5, 0], _) => {}
            ([5, 2], Some((user, password))) => {
                let mut message = vec![1];
                for text in [user, password] {
                    message.push(u8::try_from(text.len()).map_err(|_| TunnelError::TooLong)?);
                    message.extend_from_slice(text);
                }
                write(stream, &message).await?;
                // Servers differ in the version that they give here.
                let [_, status] = read(stream).await?;
                if status != 0 {
                    return Err(TunnelError::Refused("the user name or password is wrong"));
                }
            }
            ([5, 0xff], _) => return Err(TunnelError::Refused("it wants another authentication")),
            _ => return Err(TunnelError::NotSocks),
        }
        // Section 4: version, CONNECT, reserved, address, port.
        let mut request = vec![5, 1, 0];
        match target {
            Target::Address(IpAddr::V4(address)) => {
                request.push(1);
                request.extend_from_slice(&address.octets());
            }
            Target::Address(IpAddr::V6(address)) => {
                request.push(4);
                request.extend_from_slice(&address.octets());
            }
            Target::Name(name) => {
                let length = u8::try_from(name.len()).map_err(|_| TunnelError::TooLong)?;
                request.extend_from_slice(&[3, length]);
                request.extend_from_slice(name.as_bytes());
            }
        }
        request.extend_from_slice(&port.to_be_bytes());
        write(stream, &request).await?;
        // Section 6: version, reply, reserved, and the address and port that it connects from.
        let [version, reply, _, kind] = read(stream).await?;
        if version != 5 {
            return Err(TunnelError::NotSocks);
        }
        if reply != 0 {
            return Err(TunnelError::Refused(meaning(reply)));
        }
        let length = match kind {
            1 => 4,
            4 => 16,
            3 => {
                let [length] = read(stream).await?;
                usize::from(length)
            }
            _ => return Err(TunnelError::NotSocks),
        };
        let mut bound = [0; 255 + 2];
        read_all(stream, &mut bound[..length + 2]).await?;
        Ok(())
    }
}

enum Target<'a> {
    Address(IpAddr),
    Name(&'a str),
}

/// RFC 1928, section 6
fn meaning(reply: u8) -> &'static str {
    match reply {
        2 => "its rules do not allow the connection",
        3 => "the network is unreachable",
        4 => "the host is unreachable",
        5 => "the connection was refused",
        6 => "the time to live expired",
        7 => "it does not make connections",
        8 => "it does not know this type of address",
        _ => "the SOCKS server failed",
    }
}

/// Reads one response head, and nothing behind it.
async fn response<S: AsyncRead + Unpin>(stream: &mut S) -> Result<StatusCode, TunnelError> {
    let mut head = Vec::with_capacity(128);
    let mut parser = HeadParser::new(HeadLimits::default());
    let mut parsed = ResponseHead::new();
    loop {
        // As many bytes as are missing at least.
        let start = head.len();
        let missing = match head.as_slice() {
            [.., b'\r', b'\n', b'\r'] => 1,
            [.., b'\r', b'\n'] => 2,
            [.., b'\r'] => 3,
            _ => 4,
        };
        if start + missing > HEAD_BYTES {
            return Err(TunnelError::TooLong);
        }
        head.resize(start + missing, 0);
        let count = read_some(stream, &mut head[start..]).await?;
        head.truncate(start + count);
        match parser.parse(&head, false, &mut parsed)? {
            Status::Complete { .. } => {
                let status = StatusCode::from_u16(parsed.status);
                return status.map_err(|_| TunnelError::Head(HeadError::BadStatus));
            }
            _ => continue,
        }
    }
}

async fn write<S: AsyncWrite + Unpin>(stream: &mut S, mut bytes: &[u8]) -> io::Result<()> {
    while !bytes.is_empty() {
        let count = poll_fn(|cx| Pin::new(&mut *stream).poll_write(cx, bytes)).await?;
        if count == 0 {
            return Err(ErrorKind::WriteZero.into());
        }
        bytes = &bytes[count..];
    }
    poll_fn(|cx| Pin::new(&mut *stream).poll_flush(cx)).await
}

async fn read<const N: usize>(stream: &mut (impl AsyncRead + Unpin)) -> io::Result<[u8; N]> {
    let mut bytes = [0; N];
    read_all(stream, &mut bytes).await?;
    Ok(bytes)
}

async fn read_all(stream: &mut (impl AsyncRead + Unpin), mut buffer: &mut [u8]) -> io::Result<()> {
    while !buffer.is_empty() {
        let count = read_some(stream, buffer).await?;
        buffer = &mut buffer[count..];
    }
    Ok(())
}

/// Reads at least one byte.
async fn read_some(stream: &mut (impl AsyncRead + Unpin), buffer: &mut [u8]) -> io::Result<usize> {
    match poll_fn(|cx| Pin::new(&mut *stream).poll_read(cx, buffer)).await? {
        0 => Err(ErrorKind::UnexpectedEof.into()),
        count => Ok(count),
    }
}

/// Why there is no connection through a proxy.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum TunnelError {
    /// The connection to the proxy broke off, or a name could not be looked up.
    #[error("the proxy: {0}")]
    Io(#[from] io::Error),
    /// It answered CONNECT with this status. 407: it wants a user name and a password, or others.
    #[error("the proxy answered {0}")]
    Status(StatusCode),
    /// Its answer to CONNECT is malformed.
    #[error("the proxy's answer is malformed: {0}")]
    Head(#[from] HeadError),
    /// Its answer, or what was to be sent, is longer than allowed.
    #[error("the proxy's answer, or the name for it, is too long")]
    TooLong,
    /// It does not speak SOCKS 5.
    #[error("the proxy does not speak SOCKS 5")]
    NotSocks,
    /// It said no.
    #[error("the proxy refuses: {0}")]
    Refused(&'static str),
}

impl From<ErrorKind> for TunnelError {
    fn from(kind: ErrorKind) -> Self {
        Self::Io(kind.into())
    }
}

#[cfg(test)]
mod tests {
    use futures_lite::{AsyncReadExt, AsyncWriteExt};
    use thrum_rt::io::duplex;

    use super::*;

    /// The dialogue with a proxy that sends `answer` and then what is tunnelled: what it was sent.
    fn dialogue(proxy: &str, host: &str, answer: &[u8]) -> Result<Vec<u8>, TunnelError> {
        thrum_rt::block_on(async {
            let (mut ours, mut theirs) = duplex(64 * 1024);
            let proxy = Proxy::parse(proxy).unwrap();
            theirs.write_all(answer).await?;
            theirs.write_all(b"after").await?;
            theirs.flush().await?;
            proxy.tunnel(&mut ours, host, 443).await?;
            let mut after = [0; 5];
            ours.read_exact(&mut after).await?;
            assert_eq!(&after, b"after");
            drop(ours);
            let mut sent = Vec::new();
            theirs.read_to_end(&mut sent).await?;
            Ok(sent)
        })
    }

    #[test]
    fn connect_is_asked_and_no_byte_behind_the_head_is_read() {
        let sent = dialogue("http://a:b@proxy", "x.example", b"HTTP/1.1 200 OK\r\n\r\n").unwrap();
        assert_eq!(
            String::from_utf8_lossy(&sent),
            "CONNECT x.example:443 HTTP/1.1\r\nHost: x.example:443\r\nProxy-Authorization: Basic YTpi\r\n\r\n"
        );
        for fields in ["", "A: b\r\n", "A: b\r\nVia:\r\n", "A:\r\n"] {
            let answer = format!("HTTP/1.1 103 E\r\n\r\nHTTP/1.0 204\r\n{fields}\r\n");
            let sent = dialogue("proxy", "::1", answer.as_bytes()).unwrap();
            assert!(sent.starts_with(b"CONNECT [::1]:443 HTTP/1.1\r\nHost: [::1]:443\r\n\r\n"));
        }
    }

    #[test]
    fn answers_other_than_success_are_errors() {
        let ask = |answer: &[u8]| dialogue("proxy", "x", answer).unwrap_err();
        let error = ask(b"HTTP/1.1 407 No\r\n\r\n");
        assert!(
            matches!(error, TunnelError::Status(status) if status == 407),
            "{error}"
        );
        assert!(matches!(ask(b"SSH-2.0-x\r\n\r\n"), TunnelError::Head(_)));
        let many = b"HTTP/1.1 100 C\r\n\r\n".repeat(20);
        assert!(matches!(ask(&many), TunnelError::TooLong));
        let long = [b"HTTP/1.1 200 O\r\nA: ", b"x".repeat(HEAD_BYTES).as_slice()].concat();
        assert!(matches!(
            ask(&long),
            TunnelError::TooLong | TunnelError::Head(_)
        ));
    }

    const BOUND: &[u8] = &[5, 0, 0, 1, 127, 0, 0, 1, 0, 80];

    #[test]
    fn socks_is_spoken() {
        let answer = [&[5, 0], BOUND].concat();
        let sent = dialogue("socks5h://proxy", "x.y", &answer).unwrap();
        assert_eq!(sent, b"\x05\x01\x00\x05\x01\x00\x03\x03x.y\x01\xbb");
        let sent = dialogue("socks5://proxy", "1.2.3.4", &answer).unwrap();
        assert_eq!(
            sent,
            b"\x05\x01\x00\x05\x01\x00\x01\x01\x02\x03\x04\x01\xbb"
        );
        let sent = dialogue("socks5://proxy", "::1", &answer).unwrap();
        assert_eq!(sent[..7], [5, 1, 0, 5, 1, 0, 4]);
        assert_eq!(sent.len(), 7 + 16 + 2);
        for bound in [
            &b"\x05\x00\x00\x03\x02ab\x00\x50"[..],
            &[
                5, 0, 0, 4, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
            ],
        ] {
            assert!(dialogue("socks5h://proxy", "x", &[&[5, 0], bound].concat()).is_ok());
        }
    }

    #[test]
    fn socks_takes_a_name_and_a_password() {
        let answer = [&[5, 2, 1, 0], BOUND].concat();
        let sent = dialogue("socks5h://me:pw@proxy", "x", &answer).unwrap();
        assert!(sent.starts_with(b"\x05\x02\x00\x02\x01\x02me\x02pw\x05\x01\x00\x03\x01x"));
        let sent = dialogue("socks5h://me:pw@proxy", "x", &[&[5, 0], BOUND].concat()).unwrap();
        assert!(sent.starts_with(b"\x05\x02\x00\x02\x05\x01\x00\x03\x01x"));
        let error = dialogue("socks5h://me:pw@proxy", "x", &[5, 2, 1, 1]).unwrap_err();
        assert!(matches!(error, TunnelError::Refused(_)));
    }

    #[test]
    fn socks_says_no_in_words() {
        let ask = |answer: &[u8]| dialogue("socks5h://proxy", "x", answer).unwrap_err();
        assert_eq!(
            ask(&[5, 0, 5, 5, 0, 1]).to_string(),
            "the proxy refuses: the connection was refused"
        );
        assert!(matches!(ask(&[5, 0xff]), TunnelError::Refused(_)));
        assert!(matches!(ask(&[5, 2]), TunnelError::NotSocks));
        assert!(matches!(
            ask(b"HTTP/1.1 400 Bad Request\r\n\r\n"),
            TunnelError::NotSocks
        ));
        let long = "x".repeat(256);
        let error = dialogue("socks5h://proxy", &long, &[5, 0]).unwrap_err();
        assert!(matches!(error, TunnelError::TooLong));
    }
}
