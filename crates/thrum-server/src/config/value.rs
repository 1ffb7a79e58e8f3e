//! A value of a setting: text, and what it can be read as.

use std::net::IpAddr;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::sync::Arc;
use std::time::Duration;

use super::problem::Span;

/// A value as it was written, unquoted, with the environment's variables put in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Value {
    pub(crate) text: String,
    pub(crate) span: Span,
    /// The folder of its file, where relative paths begin.
    pub(crate) folder: Arc<Path>,
}

/// Addresses: one, or all that share their first bits with it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Network {
    address: IpAddr,
    bits: u32,
}

/// So many in a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rate {
    /// How many, at least one.
    pub count: u32,
    /// In what time: a second, a minute or an hour.
    pub per: Duration,
}

impl Value {
    /// The text.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Where it stands.
    pub fn span(&self) -> Span {
        self.span
    }

    /// As a time; `None` if it is none.
    pub fn duration(&self) -> Option<Duration> {
        duration(&self.text)
    }

    /// As a path; a relative one begins at the folder of the configuration file.
    pub fn path(&self) -> PathBuf {
        self.folder.join(&self.text)
    }
}

/// `on` or `off`.
pub(super) fn switch(text: &str) -> Option<bool> {
    match text {
        "on" => Some(true),
        "off" => Some(false),
        _ => None,
    }
}

/// Bytes: `512`, `16KiB`, `10m`.
pub(crate) fn size(text: &str) -> Option<u64> {
    let (number, unit) = number_and_unit(text)?;
    let shift = match unit.to_ascii_lowercase().as_str() {
        "" | "b" => 0,
        "k" | "kb" | "kib" => 10,
        "m" | "mb" | "mib" => 20,
        "g" | "gb" | "gib" => 30,
        "t" | "tb" | "tib" => 40,
        _ => return None,
    };
    number.checked_mul(1 << shift)
}

/// `250ms`, `10s`, `5m`, `1h`, `7d`.
pub(super) fn duration(text: &str) -> Option<Duration> {
    let (number, unit) = number_and_unit(text)?;
    let milliseconds = match unit {
        "ms" => 1,
        "s" => 1_000,
        "m" | "min" => 60_000,
        "h" => 3_600_000,
        "d" => 86_400_000,
        _ => return None,
    };
    number.checked_mul(milliseconds).map(Duration::from_millis)
}

/// `10/s`, `300/m`, `1000/h`.
pub(crate) fn rate(text: &str) -> Option<Rate> {
    let (count, unit) = text.split_once('/')?;
    let per = match unit {
        "s" => 1,
        "m" | "min" => 60,
        "h" => 3_600,
        _ => return None,
    };
    let count: u32 = count.parse().ok().filter(|&count| count > 0)?;
    Some(Rate {
        count,
        per: Duration::from_secs(per),
    })
}

/// An address, `10.0.0.0/8`, or `all`, which is two networks: the one of IPv4 is mapped into that of IPv6.
pub(super) fn network(text: &str) -> Option<Network> {
    if text == "all" {
        let address = IpAddr::from([0; 16]);
        return Some(Network { address, bits: 0 });
    }
    let (address, bits) = match text.split_once('/') {
        Some((address, bits)) => (address, Some(bits)),
        None => (text, None),
    };
    let address: IpAddr = address.parse().ok()?;
    let most = if address.is_ipv4() { 32 } else { 128 };
    let bits = match bits {
        Some(bits) => bits.parse().ok().filter(|&bits| bits <= most)?,
        None => most,
    };
    Some(Network { address, bits })
}

impl Network {
    /// Whether an address is among them. An IPv4 address that is mapped into IPv6 counts as what it is.
    pub fn contains(&self, address: IpAddr) -> bool {
        match (self.address, address.to_canonical()) {
            _ if self.bits == 0 && self.address.is_ipv6() => true,
            (IpAddr::V4(ours), IpAddr::V4(theirs)) => {
                let differ = ours.to_bits() ^ theirs.to_bits();
                differ.leading_zeros() >= self.bits
            }
            (IpAddr::V6(ours), IpAddr::V6(theirs)) => {
                let differ = ours.to_bits() ^ theirs.to_bits();
                differ.leading_zeros() >= self.bits
            }
            _ => false,
        }
    }
}

impl FromStr for Network {
    type Err = InvalidNetwork;

    fn from_str(text: &str) -> Result<Self, InvalidNetwork> {
        network(text).ok_or_else(|| InvalidNetwork(text.to_owned()))
    }
}

/// What is not an address or network.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is not an address or network, such as 192.0.2.7, 10.0.0.0/8, 2001:db8::/32, or all")]
pub struct InvalidNetwork(String);

fn number_and_unit(text: &str) -> Option<(u64, &str)> {
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let (number, unit) = text.split_at(digits);
    Some((number.parse().ok()?, unit))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_and_times() {
        assert_eq!(size("512"), Some(512));
        assert_eq!(size("16KiB"), Some(16 << 10));
        assert_eq!(size("10m"), Some(10 << 20));
        assert_eq!(size("1.5m"), None);
        assert_eq!(size("m"), None);
        assert_eq!(size("99999999t"), None);
        assert_eq!(duration("250ms"), Some(Duration::from_millis(250)));
        assert_eq!(duration("7d"), Some(Duration::from_secs(7 * 86_400)));
        assert_eq!(duration("10"), None);
        let rate = rate("300/m").unwrap();
        assert_eq!((rate.count, rate.per), (300, Duration::from_secs(60)));
        assert_eq!(super::rate("0/s"), None);
    }

    #[test]
    fn networks() {
        let contains = |net: &str, address: &str| {
            let net = network(net).unwrap();
            net.contains(address.parse().unwrap())
        };
        assert!(contains("10.0.0.0/8", "10.9.8.7"));
        assert!(contains("10.0.0.0/8", "::ffff:10.9.8.7"));
        assert!(!contains("10.0.0.0/8", "11.0.0.1"));
        assert!(contains("192.0.2.7", "192.0.2.7"));
        assert!(!contains("192.0.2.7", "192.0.2.8"));
        assert!(contains("2001:db8::/32", "2001:db8:1::1"));
        assert!(!contains("::1", "::2"));
        assert!(contains("0.0.0.0/0", "192.0.2.7") && !contains("0.0.0.0/0", "::1"));
        assert!(contains("all", "192.0.2.7") && contains("all", "::1"));
        assert_eq!(network("10.0.0.0/33"), None);
        assert_eq!(network("example.com"), None);
    }
}
