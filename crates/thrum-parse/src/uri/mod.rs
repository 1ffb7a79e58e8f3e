//! URIs (RFC 3986), request targets and `Host` (RFC 9112, RFC 9110), strictly as the RFCs have them.
//!
//! | module | what is in it |
//! |---|---|
//! | `grammar` | the grammar; its rules are parsers: [`uri()`], [`uri_reference`], [`authority`], [`host_and_port`] |
//! | `reference` | [`UriReference::resolve`], [`remove_dot_segments`], [`normalize_path`] |
//! | `encoding` | percent-encoding both ways, and the pairs of a query |
//!
//! What is parsed is a part of what was given. Percent-encoding stays as it was; a `%` without two hexadecimal digits is
//! an error everywhere. A host that looks like an IPv4 address in another notation (`127.1`, `0x7f000001`) is a name.
//!
//! Browsers send bytes in targets that RFC 3986 forbids there, such as `|` and `[`. [`request_target`] refuses these.
//!
//! ```
//! use thrum_parse::uri::{Host, parse_uri};
//!
//! let uri = parse_uri("http://[::1]:8080/a%20b?q=1#top").unwrap();
//! let authority = uri.authority.unwrap();
//! assert_eq!(authority.host, Host::Ip("::1".parse().unwrap()));
//! assert_eq!((authority.port, uri.path, uri.query), (Some(8080), "/a%20b", Some("q=1")));
//! ```

mod encoding;
mod grammar;
mod reference;
#[cfg(test)]
mod tests;

pub use encoding::{QueryPairs, decode, decode_str, encode, query_pairs};
pub use grammar::{authority, host_and_port, uri, uri_reference};
pub use reference::{normalize_path, remove_dot_segments};

use std::fmt;
use std::net::IpAddr;

use crate::{ByteSet, In, Parser, Reason, Stop, class, end_of_input};

/// The longest URI that is read, in bytes.
pub const URI_BYTES: usize = 64 * 1024;

/// A URI, or a reference relative to one: its parts (RFC 3986, 3). Displayed, it is put together again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UriReference<'a> {
    /// The scheme, without its colon; `None` in a relative reference. Case does not matter in it.
    pub scheme: Option<&'a str>,
    /// What follows `//`.
    pub authority: Option<Authority<'a>>,
    /// The path, possibly empty.
    pub path: &'a str,
    /// What follows `?`.
    pub query: Option<&'a str>,
    /// What follows `#`.
    pub fragment: Option<&'a str>,
}

/// Who is responsible for the rest (RFC 3986, 3.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Authority<'a> {
    /// What precedes `@`. Never show it: there may be a password in it.
    pub userinfo: Option<&'a str>,
    /// The host.
    pub host: Host<'a>,
    /// The port; `None` also where nothing follows the colon.
    pub port: Option<u16>,
}

/// A host (RFC 3986, 3.2.2). Address literals of the future (`[v1.x]`) and zones are not read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Host<'a> {
    /// An IPv4 address of four decimal numbers, or an IPv6 address in brackets.
    Ip(IpAddr),
    /// Any other name, possibly empty and as it was encoded. Case does not matter in it.
    Name(&'a str),
}

/// A request's target (RFC 9112, 3.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RequestTarget<'a> {
    /// origin-form: a path that starts with `/`, and a query.
    Origin {
        /// The path.
        path: &'a str,
        /// What follows `?`.
        query: Option<&'a str>,
    },
    /// absolute-form: what a proxy is asked for. It has no fragment.
    Absolute(UriReference<'a>),
    /// authority-form, for CONNECT: a host and a port.
    Authority(Authority<'a>),
    /// asterisk-form, for OPTIONS: the server as a whole.
    Asterisk,
}

/// Why a URI, or a part of one, is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, thiserror::Error)]
#[non_exhaustive]
pub enum UriError {
    /// It does not start with a scheme and a colon.
    #[error("there is no scheme")]
    NoScheme,
    /// A host is neither a name nor an address, or lacks its bracket.
    #[error("the host is malformed")]
    BadHost,
    /// A port is not a number below 65536, or CONNECT has none.
    #[error("the port is not a number below 65536")]
    BadPort,
    /// A byte does not belong where it is.
    #[error("a byte does not belong here")]
    BadByte,
    /// A `%` is not followed by two hexadecimal digits.
    #[error("a percent sign is not followed by two hexadecimal digits")]
    BadEscape,
    /// What was encoded is not UTF-8.
    #[error("what was percent-encoded is not UTF-8")]
    NotUtf8,
    /// It ends before it is complete.
    #[error("it is not complete")]
    Truncated,
    /// It is longer, or has more parts, than allowed.
    #[error("it is too long")]
    TooLong,
}

/// Parses an absolute URI.
///
/// # Errors
/// What is wrong with it. [`explain`](crate::explain) with [`uri()`] says where.
pub fn parse_uri(text: &str) -> Result<UriReference<'_>, UriError> {
    all(uri, text.as_bytes())
}

/// Parses an absolute URI or a relative reference, such as `Location` holds.
///
/// # Errors
/// What is wrong with it. [`explain`](crate::explain) with [`uri_reference`] says where.
pub fn parse_reference(text: &str) -> Result<UriReference<'_>, UriError> {
    all(uri_reference, text.as_bytes())
}

/// Parses the target of a request with this method: CONNECT has a host and a port, `*` is for OPTIONS only.
///
/// ```
/// use thrum_parse::uri::{RequestTarget, request_target};
///
/// let target = request_target(b"GET", b"/a?b");
/// assert_eq!(target, Ok(RequestTarget::Origin { path: "/a", query: Some("b") }));
/// assert!(request_target(b"GET", b"*").is_err());
/// ```
///
/// # Errors
/// What is wrong with it.
pub fn request_target<'a>(method: &[u8], target: &'a [u8]) -> Result<RequestTarget<'a>, UriError> {
    match (method, target) {
        (b"CONNECT", _) => match all(host_and_port, target)? {
            Authority { port: None, .. } => Err(UriError::BadPort),
            Authority {
                host: Host::Name(""),
                ..
            } => Err(UriError::BadHost),
            authority => Ok(RequestTarget::Authority(authority)),
        },
        (b"OPTIONS", b"*") => Ok(RequestTarget::Asterisk),
        (_, [b'/', ..]) => all(grammar::origin_form, target),
        _ => all(grammar::absolute_form, target),
    }
}

/// Parses the value of a `Host` field: a host, which may be empty, and a port (RFC 9110, 7.2).
///
/// # Errors
/// What is wrong with it.
pub fn parse_host(value: &[u8]) -> Result<Authority<'_>, UriError> {
    let authority = all(host_and_port, value)?;
    match authority.host {
        // Of an http URI, no host may be empty (RFC 9110, 4.2.1); where there is no authority, all of it is.
        Host::Name("") if !value.is_empty() => Err(UriError::BadHost),
        _ => Ok(authority),
    }
}

/// Whether [`parse_host`] takes a value, for those who need not know what kind of host it is: mostly that is plain, and told in
/// a fraction of the time.
pub fn is_host(value: &[u8]) -> bool {
    is_plain_host(value) || parse_host(value).is_ok()
}

/// Whether it is a host as most are: a name, and a port of at most four digits.
fn is_plain_host(host: &[u8]) -> bool {
    static NAME: ByteSet = class::ALPHANUMERIC.with(b"-._");
    let name = host.iter().take_while(|&&byte| NAME.contains(byte)).count();
    match &host[name..] {
        [] => name > 0,
        [b':', port @ ..] => {
            name > 0 && matches!(port.len(), 1..=4) && port.iter().all(u8::is_ascii_digit)
        }
        _ => false,
    }
}

fn all<'a, T>(parser: impl Parser<'a, Output = T>, text: &'a [u8]) -> Result<T, UriError> {
    if text.len() > URI_BYTES {
        return Err(UriError::TooLong);
    }
    let (value, ()) = (parser, end_of_input()).parse(&mut In::whole(text))?;
    Ok(value)
}

impl From<UriError> for Reason {
    #[inline(always)]
    fn from(error: UriError) -> Reason {
        Reason::Grammar(error as u8)
    }
}

impl From<Stop> for UriError {
    fn from(stop: Stop) -> UriError {
        use UriError::*;
        const ALL: [UriError; 8] = [
            NoScheme, BadHost, BadPort, BadByte, BadEscape, NotUtf8, Truncated, TooLong,
        ];
        match stop.reason() {
            Some(Reason::Grammar(n)) => ALL.get(usize::from(n)).copied().unwrap_or(BadByte),
            Some(Reason::EndOfInput) => Truncated,
            Some(Reason::TooLong) => TooLong,
            _ => BadByte,
        }
    }
}

impl fmt::Display for UriReference<'_> {
    /// RFC 3986, 5.3
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(scheme) = self.scheme {
            write!(f, "{scheme}:")?;
        }
        if let Some(authority) = self.authority {
            write!(f, "//{authority}")?;
        } else if self.path.starts_with("//") {
            // Or else its first segment would be taken for an authority.
            f.write_str("/.")?;
        }
        f.write_str(self.path)?;
        if let Some(query) = self.query {
            write!(f, "?{query}")?;
        }
        if let Some(fragment) = self.fragment {
            write!(f, "#{fragment}")?;
        }
        Ok(())
    }
}

impl fmt::Display for Authority<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(userinfo) = self.userinfo {
            write!(f, "{userinfo}@")?;
        }
        self.host.fmt(f)?;
        match self.port {
            Some(port) => write!(f, ":{port}"),
            None => Ok(()),
        }
    }
}

impl fmt::Display for Host<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Host::Ip(IpAddr::V6(address)) => write!(f, "[{address}]"),
            Host::Ip(IpAddr::V4(address)) => address.fmt(f),
            Host::Name(name) => f.write_str(name),
        }
    }
}
