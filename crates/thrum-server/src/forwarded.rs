//! Who the client is when a proxy stands in between: `Forwarded` (RFC 7239) and `X-Forwarded-For`.
//!
//! Anybody can send these fields, so they count only as far as trusted proxies vouch for them: they are read from the right,
//! where the nearest proxy has added its peer, and the first address that is not a trusted proxy's is the client's.

use std::net::{IpAddr, SocketAddr};

use http::header::FORWARDED;
use http::{HeaderMap, HeaderName};

use crate::config::{Arity, Kind, Network, Setting, Settings};

/// `trust-proxy 10.0.0.0/8 { field forwarded }`.
pub static SETTINGS: &[Setting] = &[Setting {
    arity: Arity::Many,
    repeats: true,
    block: &[Setting {
        default: "x-forwarded-for",
        ..Setting::new(
            "field",
            &[Kind::Choice(&["x-forwarded-for", "forwarded"])],
            "The field that these proxies write. The other one is not read: what they don't write, they pass on from \
             anybody.",
            "field forwarded",
        )
    }],
    ..Setting::new(
        "trust-proxy",
        &[Kind::Network],
        "Proxies whose word is taken for who the client is and whether it came over TLS. Whoever connects over a Unix \
         socket is trusted as well, once this is written.",
        "trust-proxy 10.0.0.0/8 192.0.2.7",
    )
}];

const X_FORWARDED_FOR: HeaderName = HeaderName::from_static("x-forwarded-for");
const X_FORWARDED_PROTO: HeaderName = HeaderName::from_static("x-forwarded-proto");

/// The proxies that are trusted, and what they write. None by default.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TrustedProxies {
    networks: Vec<(Network, Field)>,
}

/// The field in which a proxy says who its peer was.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Field {
    /// `X-Forwarded-For`, and `X-Forwarded-Proto`.
    #[default]
    XForwardedFor,
    /// `Forwarded`.
    Forwarded,
}

/// Who sent a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Client {
    /// Its address. `None` over a Unix socket of which no proxy says more.
    pub address: Option<IpAddr>,
    /// Whether it came over TLS.
    pub secure: bool,
}

impl TrustedProxies {
    /// Those that the settings say.
    pub fn from_settings(settings: &Settings) -> Self {
        let mut proxies = Self::default();
        for entry in settings.all("trust-proxy") {
            let field = match entry.block().and_then(|block| block.text("field")) {
                Some("forwarded") => Field::Forwarded,
                _ => Field::XForwardedFor,
            };
            for network in entry
                .values()
                .iter()
                .filter_map(|value| value.text().parse().ok())
            {
                proxies = proxies.trust(network, field);
            }
        }
        proxies
    }

    /// Trusts the proxies in a network, which write this field.
    #[must_use]
    pub fn trust(mut self, network: Network, field: Field) -> Self {
        self.networks.push((network, field));
        self
    }

    /// Who sent a request that came from `peer` (`None`: over a Unix socket), with or without TLS.
    ///
    /// An element that is not an address, such as `unknown`, ends the search: then it is the last proxy that is known.
    ///
    /// ```
    /// use http::HeaderMap;
    /// use thrum_server::forwarded::{Field, TrustedProxies};
    ///
    /// let proxies = TrustedProxies::default().trust("10.0.0.0/8".parse().unwrap(), Field::XForwardedFor);
    /// let mut fields = HeaderMap::new();
    /// fields.insert("x-forwarded-for", "6.6.6.6, 192.0.2.7, 10.0.0.2".parse().unwrap());
    /// fields.insert("x-forwarded-proto", "https".parse().unwrap());
    ///
    /// let client = proxies.client(Some([10, 0, 0, 1].into()), false, &fields);
    /// assert_eq!(client.address, Some([192, 0, 2, 7].into())); // 6.6.6.6 is what the client says
    /// assert!(client.secure);
    /// ```
    pub fn client(&self, peer: Option<IpAddr>, secure: bool, fields: &HeaderMap) -> Client {
        let direct = Client {
            address: peer.map(|peer| peer.to_canonical()),
            secure,
        };
        match self.field_of(peer) {
            None => direct,
            Some(Field::XForwardedFor) => self.x_forwarded(direct, fields),
            Some(Field::Forwarded) => self.forwarded(direct, fields),
        }
    }

    /// What a peer writes (`None`: who connects over a Unix socket), if it is a proxy that is trusted.
    pub fn field_of(&self, peer: Option<IpAddr>) -> Option<Field> {
        let mut networks = self.networks.iter();
        let trusted = match peer {
            Some(peer) => networks.find(|(network, _)| network.contains(peer)),
            None => networks.next(),
        };
        trusted.map(|(_, field)| *field)
    }

    fn trusts(&self, address: IpAddr) -> bool {
        self.field_of(Some(address)).is_some()
    }

    fn x_forwarded(&self, mut client: Client, fields: &HeaderMap) -> Client {
        for element in from_the_right(fields, &X_FORWARDED_FOR) {
            let Some(address) = address(element) else {
                break;
            };
            client.address = Some(address);
            if !self.trusts(address) {
                break;
            }
        }
        // The last one is the peer's own.
        if let Some(scheme) = from_the_right(fields, &X_FORWARDED_PROTO).next() {
            client.secure = scheme.eq_ignore_ascii_case("https");
        }
        client
    }

    fn forwarded(&self, mut client: Client, fields: &HeaderMap) -> Client {
        for element in from_the_right(fields, &FORWARDED) {
            if let Some(scheme) = parameter(element, "proto") {
                client.secure = scheme.eq_ignore_ascii_case("https");
            }
            let Some(address) = parameter(element, "for").and_then(address) else {
                break;
            };
            client.address = Some(address);
            if !self.trusts(address) {
                break;
            }
        }
        client
    }
}

/// The elements of a field's lists, the last one first, without empty ones.
///
/// They are cut from the right as well: what a client has sent stands to the left, and a quote that it never closes must not
/// swallow what the proxy has added.
fn from_the_right<'a>(
    fields: &'a HeaderMap,
    name: &HeaderName,
) -> impl Iterator<Item = &'a str> + use<'a> {
    let lines = fields.get_all(name).iter().rev();
    let lines = lines.map(|line| std::str::from_utf8(line.as_bytes()).unwrap_or("?"));
    let elements = lines.flat_map(|line| {
        let mut left = Some(line);
        std::iter::from_fn(move || {
            let line = left?;
            let comma = last_unquoted(line, b',');
            left = comma.map(|comma| &line[..comma]);
            Some(line[comma.map_or(0, |comma| comma + 1)..].trim_ascii())
        })
    });
    elements.filter(|element| !element.is_empty())
}

/// The last such byte outside of quotes.
fn last_unquoted(text: &str, wanted: u8) -> Option<usize> {
    let bytes = text.as_bytes();
    let mut quoted = false;
    for (place, &byte) in bytes.iter().enumerate().rev() {
        if byte == b'"' {
            let escapes = bytes[..place]
                .iter()
                .rev()
                .take_while(|&&byte| byte == b'\\');
            if !quoted || escapes.count() % 2 == 0 {
                quoted = !quoted;
            }
        } else if byte == wanted && !quoted {
            return Some(place);
        }
    }
    None
}

/// A parameter of an element of `Forwarded`, without its quotes.
fn parameter<'a>(element: &'a str, name: &str) -> Option<&'a str> {
    let mut left = Some(element);
    while let Some(text) = left {
        let semicolon = last_unquoted(text, b';');
        left = semicolon.map(|semicolon| &text[..semicolon]);
        let pair = &text[semicolon.map_or(0, |semicolon| semicolon + 1)..];
        if let Some((key, value)) = pair.split_once('=')
            && key.trim_ascii().eq_ignore_ascii_case(name)
        {
            let value = value.trim_ascii();
            let quoted = value
                .strip_prefix('"')
                .and_then(|rest| rest.strip_suffix('"'));
            return Some(quoted.unwrap_or(value));
        }
    }
    None
}

/// `192.0.2.7`, `192.0.2.7:80`, `2001:db8::7`, `[2001:db8::7]`, `[2001:db8::7]:80`.
fn address(text: &str) -> Option<IpAddr> {
    let bracketed = || {
        let inner = text.strip_prefix('[')?.strip_suffix(']')?;
        Some(IpAddr::V6(inner.parse().ok()?))
    };
    let with_port = || Some(text.parse::<SocketAddr>().ok()?.ip());
    let address = text.parse().ok().or_else(bracketed).or_else(with_port)?;
    Some(address.to_canonical())
}

#[cfg(test)]
mod tests {
    use http::HeaderValue;
    use proptest::prelude::*;

    use super::*;

    const PROXY: [u8; 4] = [10, 0, 0, 1];

    fn proxies(field: Field) -> TrustedProxies {
        let trusted = TrustedProxies::default();
        let trusted = trusted.trust("10.0.0.0/8".parse().unwrap(), field);
        trusted.trust("2001:db8::/32".parse().unwrap(), field)
    }

    fn map(name: HeaderName, lines: &[&str]) -> HeaderMap {
        let mut map = HeaderMap::new();
        for line in lines {
            map.append(name.clone(), HeaderValue::from_str(line).unwrap());
        }
        map
    }

    fn client_of(field: Field, lines: &[&str]) -> (String, bool) {
        let name = match field {
            Field::XForwardedFor => X_FORWARDED_FOR,
            Field::Forwarded => FORWARDED,
        };
        let client = proxies(field).client(Some(PROXY.into()), false, &map(name, lines));
        (client.address.unwrap().to_string(), client.secure)
    }

    #[test]
    fn x_forwarded_for() {
        let client = |lines: &[&str]| client_of(Field::XForwardedFor, lines).0;
        assert_eq!(client(&[]), "10.0.0.1");
        assert_eq!(client(&["192.0.2.7"]), "192.0.2.7");
        assert_eq!(client(&["6.6.6.6, 192.0.2.7"]), "192.0.2.7");
        assert_eq!(client(&["6.6.6.6,192.0.2.7:4711 ,10.9.9.9"]), "192.0.2.7");
        assert_eq!(client(&["6.6.6.6", "192.0.2.7", "10.0.0.9, "]), "192.0.2.7");
        assert_eq!(client(&["10.0.0.8, 10.0.0.9"]), "10.0.0.8");
        assert_eq!(client(&["[2001:db8::1], ::ffff:10.0.0.1"]), "2001:db8::1");
        assert_eq!(client(&["[2001:470::1]:80"]), "2001:470::1");
        assert_eq!(client(&["6.6.6.6, unknown"]), "10.0.0.1");
        assert_eq!(client(&["6.6.6.6, nonsense, 10.0.0.9"]), "10.0.0.9");
        assert_eq!(client(&["\"6.6.6.6, 192.0.2.7"]), "192.0.2.7");
    }

    #[test]
    fn forwarded() {
        let client = |lines: &[&str]| client_of(Field::Forwarded, lines);
        let is = |address: &str, secure| (address.to_owned(), secure);
        assert_eq!(
            client(&["for=192.0.2.7;proto=https;by=10.0.0.1"]),
            is("192.0.2.7", true)
        );
        assert_eq!(
            client(&["For=\"[2001:470::1]:80\" ; Proto=http"]),
            is("2001:470::1", false)
        );
        assert_eq!(
            client(&["for=6.6.6.6, for=192.0.2.7"]),
            is("192.0.2.7", false)
        );
        assert_eq!(
            client(&["for=192.0.2.7;proto=https, for=10.0.0.3"]),
            is("192.0.2.7", true)
        );
        assert_eq!(client(&["for=_hidden"]), is("10.0.0.1", false));
        assert_eq!(
            client(&["host=\"a,b;for=1.1.1.1\";for=192.0.2.7"]),
            is("192.0.2.7", false)
        );
        // The client's quote is still open when the proxy adds its own.
        assert_eq!(
            client(&["for=\"6.6.6.6, for=192.0.2.7"]),
            is("192.0.2.7", false)
        );
        assert_eq!(
            client(&["for=\"6.6.6.6\\\", for=192.0.2.7"]),
            is("192.0.2.7", false)
        );
    }

    #[test]
    fn only_the_trusted_are_believed_and_only_their_field() {
        let trusted = proxies(Field::XForwardedFor);
        let mut fields = map(X_FORWARDED_FOR, &["6.6.6.6"]);
        fields.insert(X_FORWARDED_PROTO, HeaderValue::from_static("https"));
        fields.insert(FORWARDED, HeaderValue::from_static("for=7.7.7.7"));
        let stranger = trusted.client(Some([192, 0, 2, 7].into()), false, &fields);
        assert_eq!(stranger.address, Some([192, 0, 2, 7].into()));
        assert!(!stranger.secure);
        let proxied = trusted.client(Some(PROXY.into()), false, &fields);
        assert_eq!(proxied.address, Some([6, 6, 6, 6].into()));
        assert!(proxied.secure);
        // Over a Unix socket: only when something is trusted.
        assert_eq!(
            trusted.client(None, false, &fields).address,
            Some([6, 6, 6, 6].into())
        );
        let nobody = TrustedProxies::default().client(None, false, &fields);
        assert_eq!(
            nobody,
            Client {
                address: None,
                secure: false
            }
        );
    }

    #[test]
    fn the_nearest_proxy_says_the_scheme() {
        let trusted = proxies(Field::XForwardedFor);
        let secure = |text| {
            let fields = map(X_FORWARDED_PROTO, &[text]);
            trusted.client(Some(PROXY.into()), true, &fields).secure
        };
        assert!(secure("http, HTTPS"));
        assert!(!secure("https, http"));
    }

    proptest! {
        /// Whatever a client sends, it is who the proxy says it is.
        #[test]
        fn what_the_client_sends_does_not_matter(sent in "[ -~]{0,60}", more in "[\",;= \\\\]{0,12}") {
            let sent = format!("{sent}{more}");
            for (field, added) in [
                (Field::XForwardedFor, "192.0.2.7"),
                (Field::Forwarded, "for=192.0.2.7"),
                (Field::Forwarded, "by=_x;for=\"192.0.2.7:80\";proto=http"),
            ] {
                let joined = format!("{sent}, {added}");
                prop_assert_eq!(client_of(field, &[&joined]).0, "192.0.2.7");
                prop_assert_eq!(client_of(field, &[&sent, added]).0, "192.0.2.7");
            }
        }

        /// Any list of addresses gives the last that is not a proxy's, else the first.
        #[test]
        fn the_last_stranger(all in prop::collection::vec((any::<bool>(), 1u8..250), 1..8)) {
            let text = |&(proxy, n): &(bool, u8)| format!("{}.0.0.{n}", if proxy { 10 } else { 192 });
            let expected = all.iter().rev().find(|one| !one.0).unwrap_or(&all[0]);
            let list = all.iter().map(text).collect::<Vec<_>>().join(", ");
            prop_assert_eq!(client_of(Field::XForwardedFor, &[&list]).0, text(expected));
        }
    }
}
