//! What `--listen` takes, and how an address is bound.

use std::fmt;
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, UdpSocket};
use std::str::FromStr;

use thrum_rt::net::{TcpListener, lookup_host};

use crate::error::Failure;

/// Where to listen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Listen {
    /// One address.
    At(SocketAddr),
    /// A port of all addresses, IPv4 and IPv6.
    Everywhere(u16),
    /// All addresses of a name, which is looked up when it is bound.
    Named(String, u16),
}

/// Why a text is no [`Listen`].
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum ListenError {
    #[error("there is no port; did you mean {0}:8080?")]
    NoPort(String),
    #[error("an IPv6 address needs brackets before its port: [::1]:8080")]
    NoBrackets,
    #[error("{0:?} is no port; ports are numbers from 0 to 65535")]
    BadPort(String),
    #[error("that is a URL; give its address and port only: 127.0.0.1:8080")]
    Url,
    #[error("{0:?} is no address and no host name")]
    BadHost(String),
}

impl Listen {
    /// This machine only: what a folder is shared with is for its owner to say.
    pub(crate) const DEFAULT: &str = "127.0.0.1:8080";

    /// Starts to listen: at one address, or for a name or all addresses at each that the machine has.
    pub(crate) async fn bind(&self) -> Result<Vec<TcpListener>, Failure> {
        let failure = |error| Failure::of_bind(self, error);
        let mut listeners: Vec<TcpListener> = Vec::new();
        let mut absent = None;
        let addresses = self.addresses().await;
        for mut address in addresses.map_err(|error| Failure::Lookup(self.clone(), error))? {
            if let Some(first) = listeners.first() {
                // Port 0 is to be the same free port for all.
                address.set_port(first.local_addr().map_err(failure)?.port());
            }
            match TcpListener::bind(address).await {
                Ok(listener) => listeners.push(listener),
                Err(error) if is_absent(&error) => absent = Some(error),
                Err(error) => return Err(failure(error)),
            }
        }
        match absent {
            Some(error) if listeners.is_empty() => Err(failure(error)),
            _ => Ok(listeners),
        }
    }

    pub(crate) fn port(&self) -> u16 {
        match self {
            Self::At(address) => address.port(),
            Self::Everywhere(port) | Self::Named(_, port) => *port,
        }
    }

    /// The same with another port.
    pub(crate) fn with_port(&self, port: u16) -> Self {
        match self {
            Self::At(address) => Self::At(SocketAddr::new(address.ip(), port)),
            Self::Everywhere(_) => Self::Everywhere(port),
            Self::Named(name, _) => Self::Named(name.clone(), port),
        }
    }

    async fn addresses(&self) -> io::Result<Vec<SocketAddr>> {
        Ok(match self {
            Self::At(address) => vec![*address],
            Self::Everywhere(port) => vec![
                (Ipv4Addr::UNSPECIFIED, *port).into(),
                (Ipv6Addr::UNSPECIFIED, *port).into(),
            ],
            Self::Named(name, port) => lookup_host((name.as_str(), *port)).await?,
        })
    }
}

impl FromStr for Listen {
    type Err = ListenError;

    fn from_str(text: &str) -> Result<Self, ListenError> {
        if let Ok(address) = text.parse::<SocketAddr>() {
            return Ok(Self::At(address));
        }
        if text.contains("://") {
            return Err(ListenError::Url);
        }
        if text.parse::<Ipv6Addr>().is_ok() {
            return Err(ListenError::NoBrackets);
        }
        if let Ok(port) = text.parse() {
            return Ok(Self::At((Ipv4Addr::LOCALHOST, port).into()));
        }
        let Some((host, port)) = text.rsplit_once(':') else {
            let is_number = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
            return Err(match is_number {
                true => ListenError::BadPort(text.to_owned()),
                false if is_host(text) => ListenError::NoPort(text.to_owned()),
                false => ListenError::BadHost(text.to_owned()),
            });
        };
        let port = port
            .parse()
            .map_err(|_| ListenError::BadPort(port.to_owned()))?;
        match host {
            "" | "*" => Ok(Self::Everywhere(port)),
            _ if host.contains(':') => Err(ListenError::NoBrackets),
            _ if is_host(host) => Ok(Self::Named(host.to_owned(), port)),
            _ => Err(ListenError::BadHost(host.to_owned())),
        }
    }
}

impl fmt::Display for Listen {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::At(address) => write!(f, "{address}"),
            Self::Everywhere(port) => write!(f, ":{port}"),
            Self::Named(name, port) => write!(f, "{name}:{port}"),
        }
    }
}

/// The URLs of a scheme under which bound addresses can be reached: one for this machine first.
pub(crate) fn urls(scheme: &str, bound: impl IntoIterator<Item = SocketAddr>) -> Vec<String> {
    let usual = if scheme == "https" { 443 } else { 80 };
    let mut urls: Vec<String> = Vec::new();
    for address in bound {
        let host = match address.ip() {
            ip if ip.is_unspecified() => "localhost".to_owned(),
            ip => host(ip),
        };
        let network = address
            .ip()
            .is_unspecified()
            .then(|| network_address(address.ip()));
        for host in std::iter::once(host).chain(network.flatten().map(self::host)) {
            let url = match address.port() {
                port if port == usual => format!("{scheme}://{host}/"),
                port => format!("{scheme}://{host}:{port}/"),
            };
            if !urls.contains(&url) {
                urls.push(url);
            }
        }
    }
    urls
}

fn host(ip: IpAddr) -> String {
    match ip {
        IpAddr::V4(ip) => ip.to_string(),
        IpAddr::V6(ip) => format!("[{ip}]"),
    }
}

/// This machine's address of a family as its neighbours see it. Asks the routing table; nothing is sent.
fn network_address(unspecified: IpAddr) -> Option<IpAddr> {
    // Addresses that are for documentation: nobody's, so the way to them is the way to anybody.
    let anybody: IpAddr = match unspecified {
        IpAddr::V4(_) => Ipv4Addr::new(192, 0, 2, 1).into(),
        IpAddr::V6(_) => Ipv6Addr::new(0x2001, 0xdb8, 0, 0, 0, 0, 0, 1).into(),
    };
    let socket = UdpSocket::bind((unspecified, 0)).ok()?;
    socket.connect((anybody, 9)).ok()?;
    let ip = socket.local_addr().ok()?.ip();
    (!ip.is_loopback() && !ip.is_unspecified()).then_some(ip)
}

/// The machine has no such address, or nothing of its family.
fn is_absent(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::AddrNotAvailable
        || error.raw_os_error() == Some(rustix::io::Errno::AFNOSUPPORT.raw_os_error())
}

fn is_host(text: &str) -> bool {
    let is_label = |label: &str| {
        !label.is_empty()
            && label
                .bytes()
                .all(|byte| byte.is_ascii_alphanumeric() || b"-_".contains(&byte))
    };
    text.strip_suffix('.')
        .unwrap_or(text)
        .split('.')
        .all(is_label)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(address: &str) -> Result<Listen, ListenError> {
        Ok(Listen::At(address.parse().unwrap()))
    }

    #[test]
    fn addresses_and_shorthands() {
        assert_eq!("192.0.2.1:80".parse(), at("192.0.2.1:80"));
        assert_eq!("[::1]:0".parse(), at("[::1]:0"));
        assert_eq!("8080".parse(), at("127.0.0.1:8080"));
        assert_eq!(":8080".parse(), Ok(Listen::Everywhere(8080)));
        assert_eq!("*:8080".parse(), Ok(Listen::Everywhere(8080)));
        assert_eq!(
            "localhost:80".parse(),
            Ok(Listen::Named("localhost".into(), 80))
        );
        assert_eq!(Listen::DEFAULT.parse(), at("127.0.0.1:8080"));
    }

    #[test]
    fn mistakes_are_named() {
        let error = |text: &str| text.parse::<Listen>().unwrap_err();
        assert_eq!(error("127.0.0.1"), ListenError::NoPort("127.0.0.1".into()));
        assert_eq!(error("localhost"), ListenError::NoPort("localhost".into()));
        assert_eq!(error("::1"), ListenError::NoBrackets);
        assert_eq!(error("::1:8080"), ListenError::NoBrackets);
        assert_eq!(error("127.0.0.1:http"), ListenError::BadPort("http".into()));
        assert_eq!(
            error("127.0.0.1:65536"),
            ListenError::BadPort("65536".into())
        );
        assert_eq!(error("127.0.0.1:"), ListenError::BadPort("".into()));
        assert_eq!(error("99999"), ListenError::BadPort("99999".into()));
        assert_eq!(error("http://localhost:80"), ListenError::Url);
        assert_eq!(error(""), ListenError::BadHost("".into()));
        assert_eq!(error("my host:80"), ListenError::BadHost("my host".into()));
    }

    #[test]
    fn shown_as_it_may_be_typed() {
        for text in ["192.0.2.1:80", "[::1]:0", ":8080", "localhost:80"] {
            let listen: Listen = text.parse().unwrap();
            assert_eq!(listen.to_string(), text);
            assert_eq!(
                listen.with_port(7).to_string().parse(),
                Ok(listen.with_port(7))
            );
        }
    }

    #[test]
    fn urls_that_can_be_clicked() {
        let urls = |bound: &str| urls("http", [bound.parse().unwrap()]);
        assert_eq!(urls("127.0.0.1:8080"), ["http://127.0.0.1:8080/"]);
        assert_eq!(urls("127.0.0.1:80"), ["http://127.0.0.1/"]);
        assert_eq!(urls("[::1]:8080"), ["http://[::1]:8080/"]);
        assert_eq!(urls("0.0.0.0:8080")[0], "http://localhost:8080/");
        assert_eq!(urls("[::]:8080")[0], "http://localhost:8080/");
        let both = ["0.0.0.0:80".parse().unwrap(), "[::]:80".parse().unwrap()];
        let local = super::urls("http", both)
            .into_iter()
            .filter(|url| url == "http://localhost/");
        assert_eq!(local.count(), 1);
    }
}
