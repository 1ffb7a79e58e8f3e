//! For what no proxy is used: the list that `no_proxy` holds.

use std::net::IpAddr;

/// A parsed list.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Except(Vec<Rule>);

#[derive(Clone, Debug, PartialEq, Eq)]
struct Rule {
    hosts: Hosts,
    /// `None`: any.
    port: Option<u16>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Hosts {
    All,
    /// A name in lower case, and all below it; or these only.
    Name {
        name: String,
        is_below_only: bool,
    },
    /// The addresses whose first so many bits are these.
    Range(IpAddr, u8),
}

impl Except {
    pub(super) fn parse(list: &str) -> Self {
        let rules = list.split([',', ' ']).filter_map(Rule::parse);
        Self(rules.collect())
    }

    pub(super) fn covers(&self, host: &str, port: u16) -> bool {
        let host = host.strip_suffix('.').unwrap_or(host).to_ascii_lowercase();
        let is_port = |rule: &Rule| rule.port.is_none_or(|only| only == port);
        self.0
            .iter()
            .any(|rule| is_port(rule) && rule.hosts.covers(&host))
    }
}

impl Rule {
    fn parse(text: &str) -> Option<Self> {
        let text = text.trim();
        if text.is_empty() {
            return None;
        }
        // An IPv6 address has colons itself; in brackets it may have a port.
        let (host, port) = match text.rsplit_once(':') {
            Some((host, port)) if !host.contains(':') || host.ends_with(']') => {
                (host, Some(port.parse().ok()?))
            }
            _ => (text, None),
        };
        let host = host.trim_start_matches('[').trim_end_matches(']');
        let hosts = match host.split_once('/') {
            _ if host == "*" => Hosts::All,
            Some((address, bits)) => {
                let (address, bits): (IpAddr, u8) = (address.parse().ok()?, bits.parse().ok()?);
                let most = if address.is_ipv4() { 32 } else { 128 };
                (bits <= most).then_some(Hosts::Range(address, bits))?
            }
            None => match host.parse::<IpAddr>() {
                Ok(address) => Hosts::Range(address, if address.is_ipv4() { 32 } else { 128 }),
                Err(_) => {
                    // `*.example.com` is what others write for `.example.com`.
                    let bare = host.strip_prefix('*').unwrap_or(host);
                    let below = bare.strip_prefix('.');
                    let name = below
                        .unwrap_or(bare)
                        .trim_end_matches('.')
                        .to_ascii_lowercase();
                    let is_below_only = below.is_some();
                    (!name.is_empty()).then_some(Hosts::Name {
                        name,
                        is_below_only,
                    })?
                }
            },
        };
        Some(Self { hosts, port })
    }
}

impl Hosts {
    fn covers(&self, host: &str) -> bool {
        match self {
            Hosts::All => true,
            Hosts::Name {
                name,
                is_below_only,
            } => match host.strip_suffix(name.as_str()) {
                Some("") => !is_below_only,
                Some(above) => above.ends_with('.'),
                None => false,
            },
            Hosts::Range(network, bits) => {
                let address = host.parse().map(|address: IpAddr| address.to_canonical());
                address.is_ok_and(|address| in_range(address, *network, *bits))
            }
        }
    }
}

fn in_range(address: IpAddr, network: IpAddr, bits: u8) -> bool {
    let bits = u32::from(bits);
    match (address, network) {
        (IpAddr::V4(address), IpAddr::V4(network)) => {
            let differ = address.to_bits() ^ network.to_bits();
            differ.leading_zeros() >= bits
        }
        (IpAddr::V6(address), IpAddr::V6(network)) => {
            let differ = address.to_bits() ^ network.to_bits();
            differ.leading_zeros() >= bits
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_covered() {
        let cases = [
            // list, host, port, covered
            ("example.com", "example.com", 80, true),
            ("example.com", "EXAMPLE.com.", 80, true),
            ("Example.com", "www.example.com", 80, true),
            ("example.com", "badexample.com", 80, false),
            (".example.com", "example.com", 80, false),
            (".example.com", "www.example.com", 80, true),
            ("*.example.com", "www.example.com", 80, true),
            ("*.example.com", "example.com", 80, false),
            ("a, b ,c", "b", 80, true),
            ("a b", "b", 80, true),
            ("example.com:8080", "example.com", 8080, true),
            ("example.com:8080", "example.com", 80, false),
            ("*", "anything", 1, true),
            ("*:81", "anything", 80, false),
            ("10.1.2.3", "10.1.2.3", 80, true),
            ("10.0.0.0/8", "10.200.0.1", 80, true),
            ("10.0.0.0/8", "11.0.0.1", 80, false),
            ("10.0.0.0/8", "10.example.com", 80, false),
            ("0.0.0.0/0", "1.2.3.4", 80, true),
            ("0.0.0.0/0", "::1", 80, false),
            ("10.1.2.3:81", "10.1.2.3", 80, false),
            ("::1", "::1", 80, true),
            ("[::1]:81", "::1", 81, true),
            ("[::1]:81", "::1", 80, false),
            ("fe80::/10", "febf::1", 80, true),
            ("fe80::/10", "fec0::1", 80, false),
            ("10.0.0.0/8", "::ffff:10.0.0.1", 80, true),
            ("10.0.0.0/33, x:y, /, :, ., *.", "x", 80, false),
            ("", "x", 80, false),
        ];
        for (list, host, port, is_covered) in cases {
            assert_eq!(
                Except::parse(list).covers(host, port),
                is_covered,
                "{list} {host}:{port}"
            );
        }
    }
}
