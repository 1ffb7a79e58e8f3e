//! Who a request came from before the last proxy: `Forwarded` (RFC 7239) and `X-Forwarded-For`.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use super::syntax::{ascii, checked, fault};
use super::{Fault, FieldValue, List, Parameters, Text};
use crate::class::ALPHANUMERIC;
use crate::stop::Parsed;
use crate::{ByteSet, In, Parser, take_while1};

static NODE: ByteSet = ALPHANUMERIC.with(b"[]:._-");

/// The value of `Forwarded`: what each proxy said, the one next to the client first. All but what one's own proxies
/// appended is the client's to make up.
///
/// ```
/// use thrum_parse::http::value::{FieldValue, Forwarded, NodeName};
///
/// let hops = Forwarded::parse(br#"for="[2001:db8::1]:4711";proto=https, for=unknown"#).unwrap();
/// let first = hops.iter().next().unwrap();
/// assert_eq!(first.for_node.unwrap().name, NodeName::Ip("2001:db8::1".parse().unwrap()));
/// assert!(first.proto().unwrap().is("https"));
/// ```
pub type Forwarded<'a> = List<'a, ForwardedElement<'a>>;

/// The value of `X-Forwarded-For`, which has no standard: addresses, the client's first. All but what one's own proxies
/// appended is the client's to make up.
pub type XForwardedFor<'a> = List<'a, XForwardedNode<'a>>;

/// What one proxy said about the request it got. Space around the semicolons, which RFC 7239 does not know, is passed
/// over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ForwardedElement<'a> {
    /// Who sent it.
    pub for_node: Option<Node<'a>>,
    /// Where it arrived.
    pub by_node: Option<Node<'a>>,
    parameters: Parameters<'a>,
}

/// A machine on the way: a name and perhaps a port.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Node<'a> {
    /// Its name.
    pub name: NodeName<'a>,
    /// Its port.
    pub port: Option<NodePort<'a>>,
}

/// What a machine is called.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum NodeName<'a> {
    /// By its address.
    Ip(IpAddr),
    /// `unknown`.
    Unknown,
    /// By a name that somebody made up and that starts with `_`.
    Obfuscated(&'a str),
}

/// The port of a machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum NodePort<'a> {
    /// By its number.
    Number(u16),
    /// By a name that somebody made up and that starts with `_`.
    Obfuscated(&'a str),
}

/// An element of [`XForwardedFor`]: a [`Node`] without quotes, of which an IPv6 address need not be in brackets when it
/// has no port.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct XForwardedNode<'a>(pub Node<'a>);

impl<'a> ForwardedElement<'a> {
    /// What the `Host` field of the request was.
    pub fn host(&self) -> Option<Text<'a>> {
        self.parameters.get("host")
    }

    /// What it came by: `http` or `https`.
    pub fn proto(&self) -> Option<Text<'a>> {
        self.parameters.get("proto")
    }

    /// All that was said.
    pub fn parameters(&self) -> Parameters<'a> {
        self.parameters
    }
}

/// forwarded-element = [ forwarded-pair ] *( ";" [ forwarded-pair ] )
impl<'a> FieldValue<'a> for ForwardedElement<'a> {
    fn read(i: &mut In<'a>) -> Parsed<Self> {
        let start = i.position();
        let parameters = Parameters::read_unled(i)?;
        // A backslash makes no sense in a node; where one is, there is no node to be borrowed.
        let node = |name: &str| match parameters.get(name) {
            None => Ok(None),
            Some(text) => match text.plain().and_then(Node::of) {
                Some(node) => Ok(Some(node)),
                None => Err(fault(i, start, Fault::BadNode)),
            },
        };
        Ok(ForwardedElement {
            for_node: node("for")?,
            by_node: node("by")?,
            parameters,
        })
    }

    fn write(&self, out: &mut Vec<u8>) {
        let mut pairs = self.parameters.iter();
        if let Some(first) = pairs.next() {
            first.write(out);
        } else {
            out.push(b';');
        }
        for pair in pairs {
            out.push(b';');
            pair.write(out);
        }
    }
}

impl<'a> Node<'a> {
    /// nodename [ ":" node-port ], where an IPv6 address is in brackets (6).
    fn of(text: &'a [u8]) -> Option<Self> {
        let text = std::str::from_utf8(text).ok()?;
        let (name, port) = match text.strip_prefix('[') {
            Some(literal) => {
                let (address, port) = literal.split_once(']')?;
                let address = address.parse::<Ipv6Addr>().ok()?;
                (NodeName::Ip(address.into()), port)
            }
            None => {
                let (name, port) = text.split_at(text.find(':').unwrap_or(text.len()));
                (NodeName::of(name)?, port)
            }
        };
        let port = match port.strip_prefix(':') {
            Some(port) => Some(NodePort::of(port)?),
            None if port.is_empty() => None,
            None => return None,
        };
        Some(Node { name, port })
    }
}

impl<'a> NodeName<'a> {
    fn of(name: &'a str) -> Option<Self> {
        if name.eq_ignore_ascii_case("unknown") {
            Some(NodeName::Unknown)
        } else if is_obfuscated(name) {
            Some(NodeName::Obfuscated(name))
        } else {
            let address = name.parse::<Ipv4Addr>().ok()?;
            Some(NodeName::Ip(address.into()))
        }
    }
}

impl<'a> NodePort<'a> {
    /// node-port = 1*5DIGIT / obfport
    fn of(port: &'a str) -> Option<Self> {
        if is_obfuscated(port) {
            return Some(NodePort::Obfuscated(port));
        }
        let is_number = (1..=5).contains(&port.len()) && port.bytes().all(|b| b.is_ascii_digit());
        let number = is_number.then(|| checked(port.as_bytes())).flatten()?;
        u16::try_from(number).ok().map(NodePort::Number)
    }
}

/// "_" 1*( ALPHA / DIGIT / "." / "_" / "-" )
fn is_obfuscated(name: &str) -> bool {
    let rest = name.strip_prefix('_').unwrap_or_default();
    let allowed = |byte: u8| ALPHANUMERIC.contains(byte) || b"._-".contains(&byte);
    !rest.is_empty() && rest.bytes().all(allowed)
}

impl<'a> FieldValue<'a> for XForwardedNode<'a> {
    fn read(i: &mut In<'a>) -> Parsed<Self> {
        let start = i.position();
        let text = take_while1(&NODE).must(Fault::BadNode).parse(i)?;
        let bare = ascii(text).parse::<IpAddr>().map(|address| Node {
            name: NodeName::Ip(address),
            port: None,
        });
        let node = bare.ok().or_else(|| Node::of(text));
        node.map(XForwardedNode)
            .ok_or_else(|| fault(i, start, Fault::BadNode))
    }

    fn write(&self, out: &mut Vec<u8>) {
        let name = match (self.0.name, self.0.port) {
            (NodeName::Ip(IpAddr::V6(address)), Some(_)) => format!("[{address}]"),
            (NodeName::Ip(address), _) => address.to_string(),
            (NodeName::Unknown, _) => "unknown".to_owned(),
            (NodeName::Obfuscated(name), _) => name.to_owned(),
        };
        let port = match self.0.port {
            Some(NodePort::Number(port)) => format!(":{port}"),
            Some(NodePort::Obfuscated(port)) => format!(":{port}"),
            None => String::new(),
        };
        out.extend_from_slice(name.as_bytes());
        out.extend_from_slice(port.as_bytes());
    }
}
