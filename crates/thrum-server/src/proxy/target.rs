//! Where an upstream is, as it is written: `127.0.0.1:3000`, `http://HOST:PORT/path/`, `https://..`, `h2c://..`, `unix:/PATH`.

use std::path::PathBuf;
use std::str::FromStr;

use http::Uri;
use http::uri::Authority;
use thiserror::Error;

/// Where an upstream is, and how it is spoken to.
///
/// ```
/// use thrum_server::proxy::Target;
///
/// let target: Target = "127.0.0.1:3000/app/".parse()?;
/// assert_eq!(target.to_string(), "http://127.0.0.1:3000/app/");
/// assert!("ftp://example.com".parse::<Target>().is_err());
/// # Ok::<(), thrum_server::proxy::BadTarget>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Target {
    pub(super) protocol: Protocol,
    pub(super) place: Place,
    /// What the route's path is replaced by; `None`: nothing, paths stay as they are.
    pub(super) path: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Protocol {
    Http,
    Https,
    /// HTTP/2 without TLS.
    H2c,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Place {
    Tcp(Authority),
    Unix(PathBuf),
}

/// What is wrong with a target.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum BadTarget {
    /// A scheme other than `http`, `https` and `h2c`.
    #[error("the scheme {0} is none of http, https and h2c")]
    Scheme(String),
    /// What stands for host and port is neither.
    #[error("{0:?} is no HOST:PORT")]
    Authority(String),
    /// The path is none, or has a query.
    #[error("{0:?} is no path that requests could have")]
    Path(String),
    /// `unix:` without an absolute path behind it.
    #[error("a Unix socket is written unix:/PATH")]
    Unix,
}

impl FromStr for Target {
    type Err = BadTarget;

    fn from_str(text: &str) -> Result<Self, BadTarget> {
        if let Some(path) = text.strip_prefix("unix:") {
            if !path.starts_with('/') {
                return Err(BadTarget::Unix);
            }
            return Ok(Self {
                protocol: Protocol::Http,
                place: Place::Unix(path.into()),
                path: None,
            });
        }
        let (protocol, rest) = match text.split_once("://") {
            None => (Protocol::Http, text),
            Some(("http", rest)) => (Protocol::Http, rest),
            Some(("https", rest)) => (Protocol::Https, rest),
            Some(("h2c", rest)) => (Protocol::H2c, rest),
            Some((scheme, _)) => return Err(BadTarget::Scheme(scheme.to_owned())),
        };
        let (authority, path) = match rest.find('/') {
            Some(at) => (&rest[..at], Some(&rest[at..])),
            None => (rest, None),
        };
        Ok(Self {
            protocol,
            place: Place::Tcp(parse_authority(authority)?),
            path: path.map(parse_path).transpose()?,
        })
    }
}

fn parse_authority(text: &str) -> Result<Authority, BadTarget> {
    let refuse = || BadTarget::Authority(text.to_owned());
    let whole = match text.starts_with(':') {
        true => format!("127.0.0.1{text}"),
        false => text.to_owned(),
    };
    let authority: Authority = whole.parse().map_err(|_| refuse())?;
    let port = authority.as_str().strip_prefix(authority.host());
    let has_port = port.is_some_and(|port| port.is_empty() || authority.port_u16().is_some());
    let is_host = !authority.host().is_empty() && !authority.as_str().contains('@');
    (has_port && is_host)
        .then_some(authority)
        .ok_or_else(refuse)
}

fn parse_path(text: &str) -> Result<String, BadTarget> {
    let refuse = || BadTarget::Path(text.to_owned());
    let uri: Uri = text.parse().map_err(|_| refuse())?;
    let is_plain = uri.query().is_none() && uri.path() == text;
    is_plain.then(|| text.to_owned()).ok_or_else(refuse)
}

impl Target {
    /// The URL of scheme, host and port. A Unix socket is asked for `localhost`.
    pub(super) fn url(&self) -> String {
        let scheme = match self.protocol {
            Protocol::Https => "https",
            Protocol::Http | Protocol::H2c => "http",
        };
        match &self.place {
            Place::Tcp(authority) => format!("{scheme}://{authority}"),
            Place::Unix(_) => format!("{scheme}://localhost"),
        }
    }

    /// It without its path: what upstreams are known by.
    pub(super) fn name(&self) -> String {
        let scheme = match self.protocol {
            Protocol::Http => "http",
            Protocol::Https => "https",
            Protocol::H2c => "h2c",
        };
        match &self.place {
            Place::Tcp(authority) => format!("{scheme}://{authority}"),
            Place::Unix(path) => format!("unix:{}", path.display()),
        }
    }
}

impl std::fmt::Display for Target {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.name())?;
        f.write_str(self.path.as_deref().unwrap_or_default())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn targets() {
        for (text, expected) in [
            ("127.0.0.1:3000", "http://127.0.0.1:3000"),
            (":3000", "http://127.0.0.1:3000"),
            ("app.example/", "http://app.example/"),
            ("[::1]:80/a/b", "http://[::1]:80/a/b"),
            ("https://example.com", "https://example.com"),
            ("h2c://127.0.0.1:1", "h2c://127.0.0.1:1"),
            ("unix:/run/app.sock", "unix:/run/app.sock"),
        ] {
            let target: Target = text.parse().unwrap();
            assert_eq!(target.to_string(), expected, "{text}");
        }
        for text in [
            "",
            ":",
            "a:b",
            "a:70000",
            "a:1/?q",
            "a:1/ü#",
            "u@a:1",
            "ftp://a",
            "unix:app.sock",
        ] {
            assert!(text.parse::<Target>().is_err(), "{text}");
        }
    }
}
