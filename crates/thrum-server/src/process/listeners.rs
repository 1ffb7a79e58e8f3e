//! The sockets that a process listens with, by what the configuration calls their places.
//!
//! They belong to no runtime: a server gets duplicates, so that a reload keeps them, and a successor can be given them.

use std::collections::BTreeMap;
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, TcpListener};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::fs::{FileTypeExt, PermissionsExt};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::Path;

use rustix::net::sockopt;
use socket2::{Domain, Socket, Type};

use crate::site::Endpoint;

/// Connections that the kernel completes before they are accepted; it lowers this to `net.core.somaxconn`.
const BACKLOG: i32 = 4096;

/// Why a place cannot be listened at.
#[derive(Debug, thiserror::Error)]
#[error("cannot listen at {endpoint}: {source}{}", advice(endpoint, source))]
pub struct ListenError {
    /// The place.
    pub endpoint: Endpoint,
    /// What the system says.
    pub source: io::Error,
}

/// Sockets that listen.
#[derive(Debug, Default)]
pub struct Listeners {
    all: BTreeMap<Endpoint, Vec<Listening>>,
    /// Sockets from a service manager or a predecessor, for places that are not wanted, perhaps not yet.
    spare: Vec<(String, OwnedFd)>,
}

/// A socket that listens.
#[derive(Debug)]
pub enum Listening {
    /// TCP.
    Tcp(TcpListener),
    /// Unix.
    Unix(UnixListener),
}

impl Listeners {
    /// None yet, but for those that a service manager or a predecessor has handed over, each with a name. An endpoint's name
    /// or, failing that, the socket's own address says what it is for.
    pub fn with(handed_over: Vec<(String, OwnedFd)>) -> Self {
        Self {
            all: BTreeMap::new(),
            spare: handed_over,
        }
    }

    /// Listens at all of these; what was there is kept. Unix sockets get a
    /// mode.
    ///
    /// # Errors
    /// When one of them cannot be listened at. Then none was added.
    pub fn add<'a>(
        &mut self,
        endpoints: impl IntoIterator<Item = &'a Endpoint>,
        socket_mode: u32,
    ) -> Result<(), ListenError> {
        let mut new = BTreeMap::new();
        for endpoint in endpoints {
            if self.all.contains_key(endpoint) {
                continue;
            }
            let given = self.take_spare(endpoint);
            let bound = match given.is_empty() {
                false => given.into_iter().map(Listening::of).collect(),
                true => bind(endpoint, socket_mode),
            };
            let bound = bound.map_err(|source| ListenError {
                endpoint: endpoint.clone(),
                source,
            })?;
            new.insert(endpoint.clone(), bound);
        }
        self.all.extend(new);
        Ok(())
    }

    /// Closes those that are not wanted any more.
    pub fn retain(&mut self, wanted: impl Fn(&Endpoint) -> bool) {
        let gone: Vec<_> = self.all.keys().filter(|at| !wanted(at)).cloned().collect();
        for endpoint in gone {
            self.all.remove(&endpoint);
            if let Endpoint::Unix(path) = endpoint {
                let _ = std::fs::remove_file(path);
            }
        }
    }

    /// The sockets of each place.
    pub fn iter(&self) -> impl Iterator<Item = (&Endpoint, &[Listening])> {
        self.all.iter().map(|(endpoint, all)| (endpoint, &all[..]))
    }

    /// Whether a place is listened at.
    pub fn has(&self, endpoint: &Endpoint) -> bool {
        self.all.contains_key(endpoint)
    }

    /// All of them, each with the name of its place: what [`with`](Self::with) of a successor takes.
    pub fn descriptors(&self) -> Vec<(String, BorrowedFd<'_>)> {
        let spare = self.spare.iter();
        let spare = spare.map(|(name, descriptor)| (name.clone(), descriptor.as_fd()));
        let mut named: Vec<(String, BorrowedFd<'_>)> = Vec::new();
        for (endpoint, all) in &self.all {
            named.extend(all.iter().map(|one| (endpoint.to_string(), one.borrow())));
        }
        named.extend(spare);
        named
    }

    /// Names of sockets that were handed over and that no site asks for.
    pub fn unused(&self) -> impl Iterator<Item = &str> {
        self.spare.iter().map(|(name, _)| &**name)
    }

    /// Takes the Unix sockets away that are listened on here. A successor has them too, so not after an upgrade.
    pub fn remove_files(&self) {
        for endpoint in self.all.keys() {
            if let Endpoint::Unix(path) = endpoint {
                let _ = std::fs::remove_file(path);
            }
        }
    }

    fn take_spare(&mut self, endpoint: &Endpoint) -> Vec<OwnedFd> {
        let name = endpoint.to_string();
        let (taken, left) = std::mem::take(&mut self.spare)
            .into_iter()
            .partition(|(given, fd)| *given == name || is_at(fd, endpoint));
        self.spare = left;
        let taken: Vec<(String, OwnedFd)> = taken;
        taken
            .into_iter()
            .map(|(_, descriptor)| descriptor)
            .collect()
    }
}

impl Listening {
    fn of(descriptor: OwnedFd) -> io::Result<Self> {
        let is_stream = sockopt::socket_type(&descriptor)? == rustix::net::SocketType::STREAM;
        if !is_stream || !sockopt::socket_acceptconn(&descriptor)? {
            let text = "the socket that was handed over does not listen";
            return Err(io::Error::new(io::ErrorKind::InvalidInput, text));
        }
        Ok(match sockopt::socket_domain(&descriptor)? {
            rustix::net::AddressFamily::UNIX => Self::Unix(descriptor.into()),
            _ => Self::Tcp(descriptor.into()),
        })
    }

    /// The address, of TCP.
    pub fn address(&self) -> Option<SocketAddr> {
        match self {
            Self::Tcp(listener) => listener.local_addr().ok(),
            Self::Unix(_) => None,
        }
    }

    fn borrow(&self) -> BorrowedFd<'_> {
        match self {
            Self::Tcp(listener) => listener.as_fd(),
            Self::Unix(listener) => listener.as_fd(),
        }
    }
}

/// Whether a socket is bound to what an endpoint means.
fn is_at(descriptor: &OwnedFd, endpoint: &Endpoint) -> bool {
    let socket = socket2::SockRef::from(descriptor);
    let Ok(address) = socket.local_addr() else {
        return false;
    };
    match endpoint {
        Endpoint::Unix(path) => address.as_pathname() == Some(path),
        Endpoint::Port(port) => address
            .as_socket()
            .is_some_and(|at| at.port() == *port && at.ip().is_unspecified()),
        Endpoint::Local(port) => address
            .as_socket()
            .is_some_and(|at| at.port() == *port && at.ip().is_loopback()),
        Endpoint::Address(wanted) => address.as_socket() == Some(*wanted),
    }
}

fn bind(endpoint: &Endpoint, socket_mode: u32) -> io::Result<Vec<Listening>> {
    match endpoint {
        Endpoint::Unix(path) => Ok(vec![Listening::Unix(bind_unix(path, socket_mode)?)]),
        Endpoint::Address(address) => Ok(vec![Listening::Tcp(bind_tcp(*address)?)]),
        Endpoint::Port(port) => {
            let all = [Ipv4Addr::UNSPECIFIED.into(), Ipv6Addr::UNSPECIFIED.into()];
            bind_each(all, *port)
        }
        Endpoint::Local(port) => bind_each(
            [Ipv4Addr::LOCALHOST.into(), Ipv6Addr::LOCALHOST.into()],
            *port,
        ),
    }
}

/// Listens at those of the addresses that this machine has; at the same free port for port 0.
fn bind_each(addresses: [IpAddr; 2], mut port: u16) -> io::Result<Vec<Listening>> {
    let mut bound = Vec::new();
    let mut absent = None;
    for address in addresses {
        match bind_tcp((address, port).into()) {
            Ok(listener) => {
                port = listener.local_addr()?.port();
                bound.push(Listening::Tcp(listener));
            }
            Err(error) if is_absent(&error) => absent = Some(error),
            Err(error) => return Err(error),
        }
    }
    match absent {
        Some(error) if bound.is_empty() => Err(error),
        _ => Ok(bound),
    }
}

fn bind_tcp(address: SocketAddr) -> io::Result<TcpListener> {
    let socket = Socket::new(Domain::for_address(address), Type::STREAM, None)?;
    socket.set_reuse_address(true)?;
    if address.is_ipv6() {
        socket.set_only_v6(true)?;
    }
    socket.bind(&address.into())?;
    socket.listen(BACKLOG)?;
    Ok(socket.into())
}

fn bind_unix(path: &Path, mode: u32) -> io::Result<UnixListener> {
    // A process that died has left it there: nobody answers.
    let is_socket = std::fs::symlink_metadata(path).is_ok_and(|data| data.file_type().is_socket());
    if is_socket
        && UnixStream::connect(path)
            .is_err_and(|error| error.kind() == io::ErrorKind::ConnectionRefused)
    {
        std::fs::remove_file(path)?;
    }
    let listener = UnixListener::bind(path)?;
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode))?;
    Ok(listener)
}

/// The machine has no such address, or nothing of its family.
fn is_absent(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::AddrNotAvailable
        || error.raw_os_error() == Some(rustix::io::Errno::AFNOSUPPORT.raw_os_error())
}

fn advice(endpoint: &Endpoint, error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::AddrInUse => "; another program listens there".to_owned(),
        io::ErrorKind::PermissionDenied => match endpoint.port() {
            Some(port) => format!(
                "; ports below 1024 such as {port} are root's, or need CAP_NET_BIND_SERVICE"
            ),
            None => String::new(),
        },
        _ => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn any() -> Endpoint {
        Endpoint::Address("127.0.0.1:0".parse().unwrap())
    }

    #[test]
    fn what_is_there_is_kept_and_what_is_gone_closed() {
        let mut listeners = Listeners::default();
        listeners.add([&any()], 0o600).unwrap();
        let address = listeners.iter().next().unwrap().1[0].address().unwrap();
        listeners.add([&any()], 0o600).unwrap();
        assert_eq!(
            listeners.iter().next().unwrap().1[0].address(),
            Some(address)
        );
        listeners.retain(|_| false);
        assert!(std::net::TcpStream::connect(address).is_err());
    }

    #[test]
    fn sockets_that_were_handed_over_are_found_by_name_and_by_address() {
        let one = TcpListener::bind("127.0.0.1:0").unwrap();
        let (first, other) = (
            one.local_addr().unwrap(),
            TcpListener::bind("127.0.0.1:0").unwrap(),
        );
        let second = other.local_addr().unwrap();
        let given = vec![
            ("127.0.0.1:0".to_owned(), OwnedFd::from(one)),
            ("web.socket".to_owned(), OwnedFd::from(other)),
            (
                "other.socket".to_owned(),
                OwnedFd::from(TcpListener::bind("127.0.0.1:0").unwrap()),
            ),
        ];
        let mut listeners = Listeners::with(given);
        listeners
            .add([&any(), &Endpoint::Address(second)], 0o600)
            .unwrap();
        let addresses: Vec<_> = listeners
            .iter()
            .map(|(_, all)| all[0].address().unwrap())
            .collect();
        assert!(addresses.contains(&first) && addresses.contains(&second));
        assert_eq!(listeners.unused().collect::<Vec<_>>(), ["other.socket"]);
        assert_eq!(listeners.descriptors().len(), 3);
    }

    #[test]
    fn one_that_cannot_be_bound_adds_none() {
        let taken = TcpListener::bind("127.0.0.1:0").unwrap();
        let endpoint = Endpoint::Address(taken.local_addr().unwrap());
        let mut listeners = Listeners::default();
        let error = listeners.add([&any(), &endpoint], 0o600).unwrap_err();
        assert!(
            error.to_string().contains("another program listens there"),
            "{error}"
        );
        assert_eq!(listeners.iter().count(), 0);
    }

    #[test]
    fn a_unix_socket_has_its_mode_and_a_dead_one_is_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("web.sock");
        drop(UnixListener::bind(&path).unwrap());
        let endpoint = Endpoint::Unix(path.clone());
        let mut listeners = Listeners::default();
        listeners.add([&endpoint], 0o640).unwrap();
        let mode = std::fs::metadata(&path).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o640);
        assert!(
            Listeners::default().add([&endpoint], 0o640).is_err(),
            "somebody answers"
        );
        listeners.retain(|_| false);
        assert!(!path.exists());
    }
}
