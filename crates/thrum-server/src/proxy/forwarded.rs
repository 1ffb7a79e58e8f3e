//! Who asks, told to the upstream: `X-Forwarded-For`, `-Proto` and `-Host`, or `Forwarded` (RFC 7239).
//!
//! What a client says of itself is believed only if it is a proxy that is trusted: then this hop is added to what it says.
//! Else all of these fields are what is known here, and nothing more.

use std::fmt::Write;
use std::net::IpAddr;

use http::header::{FORWARDED, HeaderMap, HeaderName, HeaderValue};

use crate::forwarded::Field;

/// Which fields tell the upstream who asks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Forwarded {
    /// None. What a trusted proxy says is passed on as it is.
    Off,
    /// `X-Forwarded-For`, `X-Forwarded-Proto` and `X-Forwarded-Host`.
    #[default]
    X,
    /// `Forwarded`, as RFC 7239 has it.
    Rfc,
}

const X_FORWARDED_FOR: HeaderName = HeaderName::from_static("x-forwarded-for");
const X_FORWARDED_HOST: HeaderName = HeaderName::from_static("x-forwarded-host");
const X_FORWARDED_PROTO: HeaderName = HeaderName::from_static("x-forwarded-proto");

/// Fields of the kind that upstreams believe. Who is not trusted must not get them through; and a trusted proxy passes on
/// from anybody what it does not write itself.
const BELIEVED: [HeaderName; 8] = [
    X_FORWARDED_FOR,
    X_FORWARDED_HOST,
    X_FORWARDED_PROTO,
    FORWARDED,
    HeaderName::from_static("x-forwarded-port"),
    HeaderName::from_static("x-forwarded-prefix"),
    HeaderName::from_static("x-forwarded-ssl"),
    HeaderName::from_static("x-real-ip"),
];

/// What is known of a hop.
pub(super) struct Hop<'a> {
    /// Who is at the other end of the connection. `None`: somebody at a Unix socket.
    pub(super) peer: Option<IpAddr>,
    /// Who the client is, as far as is known.
    pub(super) client: Option<IpAddr>,
    /// The field in which the peer says who that is, if it is a proxy that is trusted.
    pub(super) said_in: Option<Field>,
    pub(super) is_secure: bool,
    /// What was asked for.
    pub(super) host: Option<&'a HeaderValue>,
}

impl Forwarded {
    /// Makes the fields say who asks.
    pub(super) fn tell(self, headers: &mut HeaderMap, hop: &Hop<'_>) {
        if headers.keys().any(is_believed) {
            for name in BELIEVED {
                let writer = match name == FORWARDED {
                    true => Field::Forwarded,
                    false => Field::XForwardedFor,
                };
                if hop.said_in != Some(writer) {
                    headers.remove(name);
                }
            }
        }
        match self {
            Self::Off => {}
            Self::X => tell_x(headers, hop),
            Self::Rfc => tell_rfc(headers, hop),
        }
    }
}

fn is_believed(name: &HeaderName) -> bool {
    matches!(name.as_str().as_bytes(), [b'x' | b'f', ..]) && BELIEVED.contains(name)
}

impl Hop<'_> {
    /// The client, if the peer has said who that is in a field other than this.
    fn told_elsewhere(&self, field: Field) -> Option<IpAddr> {
        let said_in = self.said_in?;
        self.client
            .filter(|client| said_in != field && Some(*client) != self.peer)
    }
}

fn tell_x(headers: &mut HeaderMap, hop: &Hop<'_>) {
    let mut chain = joined(headers, &X_FORWARDED_FOR);
    // A String takes all.
    if let Some(client) = hop.told_elsewhere(Field::XForwardedFor) {
        let _ = write!(chain, "{}, ", client.to_canonical());
    }
    match hop.peer {
        Some(peer) => drop(write!(chain, "{}", peer.to_canonical())),
        None => chain.push_str("unknown"),
    }
    set(headers, X_FORWARDED_FOR, chain);
    // A trusted proxy's word has been heard already, where it was decided whether the request is secure.
    let proto = if hop.is_secure { "https" } else { "http" };
    headers.insert(X_FORWARDED_PROTO, HeaderValue::from_static(proto));
    if let Some(host) = hop.host
        && !headers.contains_key(X_FORWARDED_HOST)
    {
        headers.insert(X_FORWARDED_HOST, host.clone());
    }
}

fn tell_rfc(headers: &mut HeaderMap, hop: &Hop<'_>) {
    let mut chain = joined(headers, &FORWARDED);
    if let Some(client) = hop.told_elsewhere(Field::Forwarded) {
        push_node(&mut chain, Some(client));
        chain.push_str(", ");
    }
    push_node(&mut chain, hop.peer);
    // A host of the form that was checked has nothing in it that would end a quoted string.
    if let Some(host) = hop.host.and_then(|host| host.to_str().ok())
        && !host.contains(['"', '\\'])
    {
        let _ = write!(chain, ";host=\"{host}\""); // a String takes all
    }
    let proto = if hop.is_secure { "https" } else { "http" };
    let _ = write!(chain, ";proto={proto}");
    set(headers, FORWARDED, chain);
}

fn push_node(chain: &mut String, address: Option<IpAddr>) {
    // A String takes all.
    let _ = match address.map(|address| address.to_canonical()) {
        Some(IpAddr::V4(address)) => write!(chain, "for={address}"),
        Some(IpAddr::V6(address)) => write!(chain, "for=\"[{address}]\""),
        None => write!(chain, "for=unknown"),
    };
}

/// What proxies before have said, as one list that goes on.
fn joined(headers: &HeaderMap, name: &HeaderName) -> String {
    let mut chain = String::with_capacity(64);
    for value in headers.get_all(name) {
        let value = String::from_utf8_lossy(value.as_bytes());
        if !value.trim().is_empty() {
            chain.push_str(value.trim());
            chain.push_str(", ");
        }
    }
    chain
}

fn set(headers: &mut HeaderMap, name: HeaderName, value: String) {
    match HeaderValue::from_maybe_shared(bytes::Bytes::from(value)) {
        Ok(value) => drop(headers.insert(name, value)),
        Err(_) => drop(headers.remove(name)), // somebody before has sent what is no text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(
        how: Forwarded,
        said_in: Option<Field>,
        peer: Option<&str>,
        fields: &[(&'static str, &'static str)],
    ) -> Vec<(String, String)> {
        let mut headers = HeaderMap::new();
        for (name, value) in fields {
            headers.append(*name, HeaderValue::from_static(value));
        }
        let host = HeaderValue::from_static("example.com");
        let hop = Hop {
            peer: peer.map(|peer| peer.parse().unwrap()),
            client: Some("198.51.100.7".parse().unwrap()),
            said_in,
            is_secure: true,
            host: Some(&host),
        };
        how.tell(&mut headers, &hop);
        let text = |value: &HeaderValue| value.to_str().unwrap().to_owned();
        let mut told: Vec<_> = headers
            .iter()
            .map(|(name, value)| (name.to_string(), text(value)))
            .collect();
        told.sort();
        told
    }

    fn pairs(expected: &[(&str, &str)]) -> Vec<(String, String)> {
        expected
            .iter()
            .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
            .collect()
    }

    const X: Option<Field> = Some(Field::XForwardedFor);
    const RFC: Option<Field> = Some(Field::Forwarded);

    const LIES: &[(&str, &str)] = &[
        ("x-forwarded-for", "9.9.9.9"),
        ("x-forwarded-proto", "ftp"),
        ("x-forwarded-host", "evil"),
        ("forwarded", "for=9.9.9.9"),
        ("x-real-ip", "9.9.9.9"),
    ];

    #[test]
    fn who_is_not_trusted_is_not_believed() {
        assert_eq!(told(Forwarded::Off, None, Some("192.0.2.1"), LIES), []);
        let expected = pairs(&[
            ("x-forwarded-for", "192.0.2.1"),
            ("x-forwarded-host", "example.com"),
            ("x-forwarded-proto", "https"),
        ]);
        let mapped = Some("::ffff:192.0.2.1");
        assert_eq!(told(Forwarded::X, None, mapped, LIES), expected);
        let expected = pairs(&[(
            "forwarded",
            "for=\"[2001:db8::1]\";host=\"example.com\";proto=https",
        )]);
        assert_eq!(
            told(Forwarded::Rfc, None, Some("2001:db8::1"), LIES),
            expected
        );
    }

    #[test]
    fn to_what_a_trusted_proxy_says_this_hop_is_added() {
        let said = &[
            ("x-forwarded-for", "198.51.100.7"),
            ("x-forwarded-for", "10.0.0.1, 10.0.0.2"),
            ("x-forwarded-host", "outside.example"),
        ];
        let expected = pairs(&[
            (
                "x-forwarded-for",
                "198.51.100.7, 10.0.0.1, 10.0.0.2, 10.0.0.3",
            ),
            ("x-forwarded-host", "outside.example"),
            ("x-forwarded-proto", "https"),
        ]);
        assert_eq!(told(Forwarded::X, X, Some("10.0.0.3"), said), expected);
        let said = &[("forwarded", "for=198.51.100.7")];
        let expected = pairs(&[(
            "forwarded",
            "for=198.51.100.7, for=unknown;host=\"example.com\";proto=https",
        )]);
        assert_eq!(told(Forwarded::Rfc, RFC, None, said), expected);
    }

    #[test]
    fn what_a_trusted_proxy_does_not_write_is_from_anybody() {
        let said = &[
            ("x-forwarded-for", "198.51.100.7"),
            ("forwarded", "for=6.6.6.6"),
        ];
        let expected = pairs(&[("x-forwarded-for", "198.51.100.7")]);
        assert_eq!(told(Forwarded::Off, X, Some("10.0.0.3"), said), expected);
        let said = &[
            ("x-forwarded-for", "6.6.6.6"),
            ("forwarded", "for=198.51.100.7"),
        ];
        let expected = pairs(&[
            ("forwarded", "for=198.51.100.7"),
            ("x-forwarded-for", "198.51.100.7, 10.0.0.3"),
            ("x-forwarded-host", "example.com"),
            ("x-forwarded-proto", "https"),
        ]);
        assert_eq!(told(Forwarded::X, RFC, Some("10.0.0.3"), said), expected);
    }
}
