//! What the Unix sockets share: their addresses, and how they are made.

use std::ffi::OsStr;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
#[cfg(target_os = "linux")]
use std::os::linux::net::SocketAddrExt;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rustix::io::Errno;
use rustix::net::{SocketAddrAny, SocketAddrUnix, SocketType};
use socket2::{Domain, Socket, Type};

use crate::time::sleep;

/// What names a Unix socket: a path, or an address with an abstract name.
///
/// Implemented for `&str`, `String`, `&Path`, `PathBuf` and [`std::os::unix::net::SocketAddr`], and there can be no further
/// implementations. An abstract name, on Linux, belongs to no file and goes with its socket:
///
/// ```
/// use std::os::linux::net::SocketAddrExt;
/// use std::os::unix::net::SocketAddr;
/// use thrum_rt::net::{UnixListener, UnixStream};
///
/// # thrum_rt::block_on(async {
/// let name = format!("example of thrum {}", std::process::id());
/// let address = SocketAddr::from_abstract_name(name)?;
/// let listener = UnixListener::bind(&address)?;
/// let client = UnixStream::connect(&address).await?;
/// let (server, _) = listener.accept().await?;
/// # drop((client, server));
/// # std::io::Result::Ok(())
/// # }).unwrap();
/// ```
pub trait ToUnixAddr: Address {}

impl<T: Address + ?Sized> ToUnixAddr for T {}

mod sealed {
    pub trait Address {
        fn address(&self) -> std::io::Result<rustix::net::SocketAddrUnix>;
    }
}

pub(super) use self::sealed::Address;

impl Address for Path {
    fn address(&self) -> io::Result<SocketAddrUnix> {
        if self.as_os_str().is_empty() {
            return Err(Errno::INVAL.into()); // to the kernel it would be the wish for any name
        }
        Ok(SocketAddrUnix::new(self)?)
    }
}

impl Address for SocketAddr {
    fn address(&self) -> io::Result<SocketAddrUnix> {
        if let Some(path) = self.as_pathname() {
            return path.address();
        }
        #[cfg(target_os = "linux")]
        if let Some(name) = self.as_abstract_name() {
            return Ok(SocketAddrUnix::new_abstract_name(name)?);
        }
        Err(io::Error::new(
            io::ErrorKind::InvalidInput,
            "the address has no name",
        ))
    }
}

impl Address for PathBuf {
    fn address(&self) -> io::Result<SocketAddrUnix> {
        self.as_path().address()
    }
}

impl Address for str {
    fn address(&self) -> io::Result<SocketAddrUnix> {
        Path::new(self).address()
    }
}

impl Address for String {
    fn address(&self) -> io::Result<SocketAddrUnix> {
        Path::new(self).address()
    }
}

impl<T: Address + ?Sized> Address for &T {
    fn address(&self) -> io::Result<SocketAddrUnix> {
        (**self).address()
    }
}

/// A socket's own address, or its peer's, as std has it. None: a socket without a name.
pub(super) fn std_addr(address: Option<SocketAddrAny>) -> io::Result<SocketAddr> {
    let address = address.map(SocketAddrUnix::try_from).transpose()?;
    let Some(address) = address else {
        return SocketAddr::from_pathname("");
    };
    #[cfg(target_os = "linux")]
    if let Some(name) = address.abstract_name()
        && !name.is_empty()
    // rustix's way to say that there is none
    {
        return SocketAddr::from_abstract_name(name);
    }
    let path = address.path_bytes().unwrap_or_default();
    SocketAddr::from_pathname(OsStr::from_bytes(path))
}

pub(super) fn local_addr(socket: impl AsFd) -> io::Result<SocketAddr> {
    std_addr(Some(rustix::net::getsockname(socket)?))
}

pub(super) fn peer_addr(socket: impl AsFd) -> io::Result<SocketAddr> {
    std_addr(rustix::net::getpeername(socket)?)
}

/// Makes a socket in non-blocking mode.
pub(super) fn socket(kind: SocketType) -> io::Result<OwnedFd> {
    let socket = Socket::new(Domain::UNIX, Type::from(kind.as_raw() as i32), None)?;
    socket.set_nonblocking(true)?;
    Ok(socket.into())
}

/// Makes two sockets in non-blocking mode that are connected to each other.
pub(super) fn pair(kind: SocketType) -> io::Result<(OwnedFd, OwnedFd)> {
    let (one, other) = Socket::pair(Domain::UNIX, Type::from(kind.as_raw() as i32), None)?;
    one.set_nonblocking(true)?;
    other.set_nonblocking(true)?;
    Ok((one.into(), other.into()))
}

/// Makes a socket that listens.
pub(super) fn listen(kind: SocketType, address: &impl Address) -> io::Result<OwnedFd> {
    let socket = socket(kind)?;
    rustix::net::bind(&socket, &address.address()?)?;
    rustix::net::listen(&socket, super::BACKLOG as i32)?;
    Ok(socket)
}

/// Makes a socket that is connected.
pub(super) async fn connect(kind: SocketType, address: &impl Address) -> io::Result<OwnedFd> {
    let (socket, address) = (socket(kind)?, address.address()?);
    let mut pause = Duration::from_millis(1);
    loop {
        match rustix::net::connect(&socket, &address) {
            Ok(()) => return Ok(socket),
            // The listener's queue is full. The kernel tells nobody when there is room again.
            Err(Errno::AGAIN) => sleep(pause).await,
            Err(Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
        pause = (pause * 2).min(Duration::from_millis(50));
    }
}
