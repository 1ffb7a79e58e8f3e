//! From names to addresses: the system's resolver, called where it may block.

use std::io;
use std::net::{
    IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, SocketAddrV4, SocketAddrV6, ToSocketAddrs as _,
};

use crate::task::{blocking, spawn};
use crate::waiting::{self, Waiting};

/// Looks up the addresses of a host name and port, in the order in which the system prefers them (RFC 6724).
///
/// It asks what the system asks: `/etc/hosts`, DNS, whatever `nsswitch.conf` names. That may block for seconds, so it
/// happens in a task of its own. An address given as text is no name and is not looked up.
///
/// Dropping the future before it is done leaves the lookup to end unobserved; so a [`timeout`](crate::time::timeout)
/// around it works.
///
/// ```
/// # thrum_rt::block_on(async {
/// let addresses = thrum_rt::net::lookup_host("127.0.0.1:80").await?;
/// assert_eq!(addresses, ["127.0.0.1:80".parse().unwrap()]);
/// # std::io::Result::Ok(())
/// # }).unwrap();
/// ```
///
/// # Errors
/// `InvalidInput` if the text has no port; else those of getaddrinfo(3): the name does not exist, no server answers. A
/// name without any address is `NotFound`.
///
/// # Panics
/// Outside a runtime, if there is a name to look up.
pub async fn lookup_host(name: impl ToSocketAddrs) -> io::Result<Vec<SocketAddr>> {
    let (host, port) = match name.target()? {
        Target::Addresses(addresses) => return some(addresses),
        Target::Name(host, port) => (host, port),
    };
    let lookup = move || (host.as_str(), port).to_socket_addrs();
    let task = spawn(async move { blocking(lookup) });
    let addresses = waiting::on(Waiting::Thread, task)
        .await
        .map_err(|error| io::Error::other(error.to_string()))??;
    some(addresses.collect())
}

fn some(addresses: Vec<SocketAddr>) -> io::Result<Vec<SocketAddr>> {
    if addresses.is_empty() {
        let error = io::Error::new(io::ErrorKind::NotFound, "there is no address to use");
        return Err(error);
    }
    Ok(addresses)
}

/// What names one or more addresses.
///
/// The types are those of [`std::net::ToSocketAddrs`], but a name is looked up without blocking the caller; see
/// [`lookup_host`]. There can be no further implementations.
///
/// | type | example |
/// |---|---|
/// | `&str`, `String` | `"example.com:80"`, `"192.0.2.1:80"`, `"[2001:db8::1]:80"` |
/// | (`&str` or `String`, `u16`) | `("example.com", 80)` |
/// | (`IpAddr`, `Ipv4Addr` or `Ipv6Addr`, `u16`) | `(Ipv4Addr::LOCALHOST, 80)` |
/// | `SocketAddr` and the two it is made of | |
/// | slices, arrays and vectors of `SocketAddr` | |
pub trait ToSocketAddrs: sealed::Target {}

impl<T: sealed::Target + ?Sized> ToSocketAddrs for T {}

/// What is to be connected to or bound.
pub enum Target {
    Addresses(Vec<SocketAddr>),
    Name(String, u16),
}

impl Target {
    fn of_host(host: &str, port: u16) -> Self {
        match host.parse::<IpAddr>() {
            Ok(ip) => Self::Addresses(vec![(ip, port).into()]),
            Err(_) => Self::Name(host.to_owned(), port),
        }
    }
}

mod sealed {
    pub trait Target {
        fn target(&self) -> std::io::Result<super::Target>;
    }
}

impl sealed::Target for str {
    fn target(&self) -> io::Result<Target> {
        if let Ok(address) = self.parse() {
            return Ok(Target::Addresses(vec![address]));
        }
        let (host, port) = self.rsplit_once(':').unwrap_or_default();
        // An address with a zone, such as [fe80::1%eth0], is for the resolver to read.
        let bracketed = host
            .strip_prefix('[')
            .and_then(|host| host.strip_suffix(']'));
        let (Ok(port), true) = (port.parse(), bracketed.is_some() || !host.contains(':')) else {
            let text = "an address is host:port or [IPv6]:port, with a port from 0 to 65535";
            return Err(io::Error::new(io::ErrorKind::InvalidInput, text));
        };
        let host = bracketed.unwrap_or(host);
        Ok(Target::of_host(host, port))
    }
}

impl sealed::Target for String {
    fn target(&self) -> io::Result<Target> {
        self.as_str().target()
    }
}

impl sealed::Target for (&str, u16) {
    fn target(&self) -> io::Result<Target> {
        Ok(Target::of_host(self.0, self.1))
    }
}

impl sealed::Target for (String, u16) {
    fn target(&self) -> io::Result<Target> {
        (self.0.as_str(), self.1).target()
    }
}

impl sealed::Target for [SocketAddr] {
    fn target(&self) -> io::Result<Target> {
        Ok(Target::Addresses(self.to_vec()))
    }
}

impl sealed::Target for Vec<SocketAddr> {
    fn target(&self) -> io::Result<Target> {
        self.as_slice().target()
    }
}

impl<const N: usize> sealed::Target for [SocketAddr; N] {
    fn target(&self) -> io::Result<Target> {
        self.as_slice().target()
    }
}

impl<T: sealed::Target + ?Sized> sealed::Target for &T {
    fn target(&self) -> io::Result<Target> {
        (**self).target()
    }
}

macro_rules! addresses {
    ($($address:ty),*) => {$(
        impl sealed::Target for $address {
            fn target(&self) -> io::Result<Target> {
                Ok(Target::Addresses(vec![(*self).into()]))
            }
        }
    )*};
}

addresses!(
    SocketAddr,
    SocketAddrV4,
    SocketAddrV6,
    (IpAddr, u16),
    (Ipv4Addr, u16),
    (Ipv6Addr, u16)
);
