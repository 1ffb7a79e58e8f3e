//! The name of a site: where it is listened, and which hosts it answers for.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::path::PathBuf;
use std::str::FromStr;

use thiserror::Error;

/// What a site is called in the configuration.
///
/// | name | listens on | answers for |
/// |---|---|---|
/// | `example.com`, `*.example.com` | port 443 with TLS; port 80 redirects there | that host; the hosts beneath it |
/// | `http://example.com` | port 80 | that host |
/// | `example.com:8443`, `https://example.com:8443` | that port, with TLS | that host |
/// | `:8080`, `*:8080`, `https://:8443` | that port | every host |
/// | `127.0.0.1:3000`, `[::1]:3000` | that address alone | every host |
/// | `localhost`, `localhost:3000` | 127.0.0.1 and ::1, port 80 or that one | `localhost` |
/// | `unix:/run/thrum.sock` | that socket | every host |
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SiteName {
    /// Where it is listened.
    pub endpoint: Endpoint,
    /// Whether with TLS.
    pub secure: bool,
    /// Which hosts it answers for.
    pub host: Host,
}

/// Where it is listened.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Endpoint {
    /// A port of every address of this machine.
    Port(u16),
    /// A port of the loopback addresses.
    Local(u16),
    /// One address.
    Address(SocketAddr),
    /// A Unix socket.
    Unix(PathBuf),
}

/// Which hosts are answered for.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Host {
    /// Every host.
    Any,
    /// That one, in lower case.
    Exact(String),
    /// All beneath: `.example.com` of `*.example.com`.
    Beneath(String),
}

/// Why a name is none.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum NameError {
    /// Neither http nor https.
    #[error("{0:?} is not a scheme that can be served; http:// and https:// are")]
    Scheme(String),
    /// No port from 1 to 65535 (0 is any free port).
    #[error("{0:?} is not a port")]
    Port(String),
    /// No host name.
    #[error("{0:?} is not a host name")]
    Host(String),
    /// A URL with a path: routes have paths, sites have none.
    #[error("a site's name has no path; {0:?} belongs to a route in it")]
    Path(String),
    /// An IPv6 address without brackets.
    #[error("an IPv6 address stands in brackets, as in [::1]:8080")]
    Brackets,
    /// `unix:` without a path.
    #[error("unix: is followed by the path of a socket")]
    Socket,
}

impl FromStr for SiteName {
    type Err = NameError;

    fn from_str(name: &str) -> Result<Self, NameError> {
        if let Some(path) = name.strip_prefix("unix:") {
            if path.is_empty() {
                return Err(NameError::Socket);
            }
            return Ok(Self {
                endpoint: Endpoint::Unix(path.into()),
                secure: false,
                host: Host::Any,
            });
        }
        let (scheme, rest) = match name.split_once("://") {
            Some((scheme, rest)) => (Some(scheme), rest),
            None => (None, name),
        };
        let said = match scheme {
            None => None,
            Some("http") => Some(false),
            Some("https") => Some(true),
            Some(other) => return Err(NameError::Scheme(other.to_owned())),
        };
        let rest = rest.strip_suffix('/').unwrap_or(rest);
        if let Some(slash) = rest.find('/') {
            return Err(NameError::Path(rest[slash..].to_owned()));
        }
        let (host, port) = host_and_port(rest)?;
        named(said, host, port)
    }
}

/// Puts the parts together. `said` is whether TLS was asked for, where that was said.
fn named(said: Option<bool>, host: &str, port: Option<u16>) -> Result<SiteName, NameError> {
    let address: Option<IpAddr> = match host.strip_prefix('[') {
        Some(v6) => {
            let v6: Ipv6Addr = v6
                .strip_suffix(']')
                .and_then(|v6| v6.parse().ok())
                .ok_or_else(|| NameError::Host(host.to_owned()))?;
            Some(v6.into())
        }
        None => host.parse::<Ipv4Addr>().ok().map(IpAddr::from),
    };
    let local = host.eq_ignore_ascii_case("localhost");
    let named = address.is_none() && !local && !matches!(host, "" | "*");
    // A name of the wide world is served as browsers expect it to be: with TLS, unless its port says otherwise.
    let secure = said.unwrap_or(named && port != Some(80));
    let port = port.unwrap_or(if secure { 443 } else { 80 });
    let endpoint = match address {
        Some(address) => Endpoint::Address(SocketAddr::new(address, port)),
        None if local => Endpoint::Local(port),
        None => Endpoint::Port(port),
    };
    let host = match host {
        "" | "*" => Host::Any,
        _ if address.is_some() => Host::Any,
        host => named_host(host)?,
    };
    Ok(SiteName {
        endpoint,
        secure,
        host,
    })
}

fn named_host(host: &str) -> Result<Host, NameError> {
    let wrong = || NameError::Host(host.to_owned());
    let (beneath, name) = match host.strip_prefix('*') {
        Some(name) => (true, name.strip_prefix('.').ok_or_else(wrong)?),
        None => (false, host),
    };
    let is_label = |label: &str| {
        let inner = |byte: u8| byte.is_ascii_alphanumeric() || b"-_".contains(&byte);
        (1..=63).contains(&label.len()) && label.bytes().all(inner) && !label.starts_with('-')
    };
    if name.len() > 253 || !name.split('.').all(is_label) {
        return Err(wrong());
    }
    let name = name.to_ascii_lowercase();
    Ok(if beneath {
        Host::Beneath(format!(".{name}"))
    } else {
        Host::Exact(name)
    })
}

fn host_and_port(text: &str) -> Result<(&str, Option<u16>), NameError> {
    let Some(colon) = text
        .rfind(':')
        .filter(|&colon| !text[colon..].contains(']'))
    else {
        return Ok((text, None));
    };
    let (host, port) = (&text[..colon], &text[colon + 1..]);
    if host.contains(':') && !host.starts_with('[') {
        return Err(NameError::Brackets);
    }
    let port = port.parse().map_err(|_| NameError::Port(port.to_owned()))?;
    Ok((host, Some(port)))
}

impl Endpoint {
    /// Whether two that have the same port cannot both be listened on.
    pub(super) fn overlaps(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Port(_), Self::Port(_) | Self::Local(_) | Self::Address(_)) => true,
            (Self::Local(_) | Self::Address(_), Self::Port(_)) => true,
            (Self::Local(_), Self::Local(_)) => true,
            (Self::Local(_), Self::Address(address)) | (Self::Address(address), Self::Local(_)) => {
                address.ip().is_loopback() || address.ip().is_unspecified()
            }
            (Self::Address(one), Self::Address(other)) => {
                let all = one.ip().is_unspecified() || other.ip().is_unspecified();
                one.ip() == other.ip() || (all && one.is_ipv4() == other.is_ipv4())
            }
            (Self::Unix(one), Self::Unix(other)) => one == other,
            (Self::Unix(_), _) | (_, Self::Unix(_)) => false,
        }
    }

    /// The port, of those that have one.
    pub fn port(&self) -> Option<u16> {
        match self {
            Self::Port(port) | Self::Local(port) => Some(*port),
            Self::Address(address) => Some(address.port()),
            Self::Unix(_) => None,
        }
    }
}

impl fmt::Display for Endpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Port(port) => write!(f, ":{port}"),
            Self::Local(port) => write!(f, "localhost:{port}"),
            Self::Address(address) => address.fmt(f),
            Self::Unix(path) => write!(f, "unix:{}", path.display()),
        }
    }
}

impl fmt::Display for Host {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Any => f.write_str("*"),
            Self::Exact(host) => f.write_str(host),
            Self::Beneath(host) => write!(f, "*{host}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn name(text: &str) -> (String, bool, String) {
        let name: SiteName = text.parse().unwrap();
        (
            name.endpoint.to_string(),
            name.secure,
            name.host.to_string(),
        )
    }

    #[test]
    fn names_say_where_and_for_whom() {
        for (text, endpoint, secure, host) in [
            ("example.com", ":443", true, "example.com"),
            ("Example.COM", ":443", true, "example.com"),
            ("*.example.com", ":443", true, "*.example.com"),
            ("http://example.com", ":80", false, "example.com"),
            ("http://example.com/", ":80", false, "example.com"),
            ("example.com:80", ":80", false, "example.com"),
            ("example.com:8443", ":8443", true, "example.com"),
            ("http://example.com:8080", ":8080", false, "example.com"),
            (":8080", ":8080", false, "*"),
            ("*:8080", ":8080", false, "*"),
            ("https://:8443", ":8443", true, "*"),
            ("127.0.0.1:3000", "127.0.0.1:3000", false, "*"),
            ("[::1]:3000", "[::1]:3000", false, "*"),
            ("localhost", "localhost:80", false, "localhost"),
            ("https://localhost:1", "localhost:1", true, "localhost"),
            ("unix:/run/thrum.sock", "unix:/run/thrum.sock", false, "*"),
        ] {
            let expected = (endpoint.to_owned(), secure, host.to_owned());
            assert_eq!(name(text), expected, "{text}");
        }
    }

    #[test]
    fn what_is_no_name_says_why() {
        let error = |text: &str| text.parse::<SiteName>().unwrap_err();
        assert_eq!(error("ftp://a"), NameError::Scheme("ftp".into()));
        assert_eq!(error("a:99999"), NameError::Port("99999".into()));
        assert_eq!(error("a b"), NameError::Host("a b".into()));
        assert_eq!(error("a..b"), NameError::Host("a..b".into()));
        assert_eq!(error("*a.b"), NameError::Host("*a.b".into()));
        assert_eq!(error("http://a/b"), NameError::Path("/b".into()));
        assert_eq!(error("::1:80"), NameError::Brackets);
        assert_eq!(error("unix:"), NameError::Socket);
    }
}
