//! Sockets that a service manager has opened for this process: systemd's socket activation, sd_listen_fds(3).
//!
//! The manager leaves them at the descriptors from 3 on and says so in the environment: `LISTEN_PID`, whom they are for;
//! `LISTEN_FDS`, how many; `LISTEN_FDNAMES`, what they are called. A child process inherits the words but not the descriptors;
//! `LISTEN_PID` tells it that they are not for it.

use std::io;
use std::net::{TcpListener as StdTcpListener, TcpStream as StdTcpStream};
use std::os::fd::{BorrowedFd, FromRawFd, OwnedFd, RawFd};
use std::sync::atomic::{AtomicBool, Ordering};

use rustix::io::{Errno, FdFlags, fcntl_getfd, fcntl_setfd};
use rustix::net::{AddressFamily, SocketType, sockopt};

use super::{
    TcpListener, TcpStream, UdpSocket, UnixDatagram, UnixListener, UnixSeqpacket,
    UnixSeqpacketListener, UnixStream,
};

/// The first of them: SD_LISTEN_FDS_START.
const FIRST: RawFd = 3;

/// A socket that a service manager has opened for this process.
#[derive(Debug)]
pub struct Inherited {
    /// Its name: systemd's `FileDescriptorName=`, by default that of the socket unit, such as `web.socket`. `unknown` if the
    /// manager gives no names.
    pub name: String,
    /// The socket.
    pub socket: InheritedSocket,
}

/// What kind of socket was inherited.
#[derive(Debug)]
#[non_exhaustive]
pub enum InheritedSocket {
    /// `ListenStream=` with a port.
    TcpListener(TcpListener),
    /// A connection, with `Accept=yes`.
    TcpStream(TcpStream),
    /// `ListenDatagram=` with a port.
    UdpSocket(UdpSocket),
    /// `ListenStream=` with a path or an abstract name.
    UnixListener(UnixListener),
    /// A connection, with `Accept=yes`.
    UnixStream(UnixStream),
    /// `ListenSequentialPacket=`.
    UnixSeqpacketListener(UnixSeqpacketListener),
    /// A connection, with `Accept=yes`.
    UnixSeqpacket(UnixSeqpacket),
    /// `ListenDatagram=` with a path or an abstract name.
    UnixDatagram(UnixDatagram),
    /// Anything else: a FIFO, a netlink socket, a file from the manager's store. Left in the mode it was in.
    Other(OwnedFd),
}

/// The sockets that a service manager has opened for this process, in the order of its configuration.
///
/// They are given once; further calls give none, and so does a process that was not started like this. They are closed in
/// child processes.
///
/// ```
/// use thrum_rt::net::{InheritedSocket, inherited};
///
/// # thrum_rt::block_on(async {
/// for inherited in inherited()? {
///     match inherited.socket {
///         InheritedSocket::TcpListener(listener) => println!("{}: {listener:?}", inherited.name),
///         other => println!("{}: not a TCP listener: {other:?}", inherited.name),
///     }
/// }
/// # std::io::Result::Ok(())
/// # }).unwrap();
/// ```
///
/// # Errors
/// `InvalidData` if the environment contradicts itself or names descriptors that are not open; then none is touched. Those
/// of registering the sockets.
///
/// # Panics
/// Outside a runtime, if there are any.
pub fn inherited() -> io::Result<Vec<Inherited>> {
    let inherited = inherited_descriptors()?.into_iter();
    let inherited = inherited.map(|(name, descriptor)| {
        let socket = InheritedSocket::of(descriptor)?;
        Ok(Inherited { name, socket })
    });
    inherited.collect()
}

/// As [`inherited`], for a program that has no runtime yet: the names and the descriptors themselves.
///
/// # Errors
/// `InvalidData` if the environment contradicts itself or names descriptors that are not open; then none is touched.
pub fn inherited_descriptors() -> io::Result<Vec<(String, OwnedFd)>> {
    static TAKEN: AtomicBool = AtomicBool::new(false);
    let variable = |name: &str| std::env::var(name).ok();
    let names = names(
        std::process::id(),
        variable("LISTEN_PID").as_deref(),
        variable("LISTEN_FDS").as_deref(),
        variable("LISTEN_FDNAMES").as_deref(),
    )?;
    if names.is_empty() || TAKEN.swap(true, Ordering::Relaxed) {
        return Ok(Vec::new());
    }
    let descriptors = FIRST..FIRST + names.len() as RawFd;
    for descriptor in descriptors.clone() {
        // SAFETY: it is borrowed for this call only, which says so if it is not open.
        let borrowed = unsafe { BorrowedFd::borrow_raw(descriptor) };
        fcntl_getfd(borrowed).map_err(|_| contradiction("LISTEN_FDS counts what is not open"))?;
    }
    let owned: Vec<_> = descriptors
        // SAFETY: it is open, by the above. LISTEN_PID says that it was opened for this process to own, and TAKEN that nobody
        // has taken it here before.
        .map(|descriptor| unsafe { OwnedFd::from_raw_fd(descriptor) })
        .collect();
    for descriptor in &owned {
        fcntl_setfd(descriptor, FdFlags::CLOEXEC)?;
    }
    Ok(names.into_iter().zip(owned).collect())
}

/// A name for each descriptor; none if there are none for this process.
fn names(
    this_process: u32,
    pid: Option<&str>,
    count: Option<&str>,
    names: Option<&str>,
) -> io::Result<Vec<String>> {
    let (Some(pid), Some(count)) = (pid, count) else {
        return Ok(Vec::new());
    };
    let pid: u32 = pid
        .parse()
        .map_err(|_| contradiction("LISTEN_PID is no process id"))?;
    if pid != this_process {
        return Ok(Vec::new());
    }
    // So many that the descriptors' numbers are numbers; a process has far fewer.
    let count: usize = match count.parse() {
        Ok(count @ 0..=1_000_000) => count,
        _ => return Err(contradiction("LISTEN_FDS is no number of descriptors")),
    };
    let given: Vec<_> = match names {
        Some(names) => names.split(':').map(str::to_owned).collect(),
        None => vec!["unknown".to_owned(); count],
    };
    if given.len() != count && count > 0 {
        let text = "LISTEN_FDNAMES does not have as many names as LISTEN_FDS says";
        return Err(contradiction(text));
    }
    Ok(given.into_iter().take(count).collect())
}

fn contradiction(text: &'static str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, text)
}

impl InheritedSocket {
    fn of(descriptor: OwnedFd) -> io::Result<Self> {
        let kind = match sockopt::socket_type(&descriptor) {
            Ok(kind) => kind,
            Err(Errno::NOTSOCK) => return Ok(Self::Other(descriptor)),
            Err(error) => return Err(error.into()),
        };
        let family = sockopt::socket_domain(&descriptor)?;
        let listens = sockopt::socket_acceptconn(&descriptor)?;
        let is_ip = matches!(family, AddressFamily::INET | AddressFamily::INET6);
        // A family may have several protocols: SCTP has streams too.
        let protocol = sockopt::socket_protocol(&descriptor)?;
        let is_tcp = is_ip && protocol == Some(rustix::net::ipproto::TCP);
        let is_udp = is_ip && protocol == Some(rustix::net::ipproto::UDP);
        let is_unix = family == AddressFamily::UNIX;
        Ok(match (kind, listens) {
            (SocketType::STREAM, true) if is_tcp => {
                Self::TcpListener(TcpListener::from_std(StdTcpListener::from(descriptor))?)
            }
            (SocketType::STREAM, false) if is_tcp => {
                Self::TcpStream(TcpStream::from_std(StdTcpStream::from(descriptor))?)
            }
            (SocketType::DGRAM, _) if is_udp => {
                Self::UdpSocket(UdpSocket::from_std(descriptor.into())?)
            }
            (SocketType::STREAM, true) if is_unix => {
                Self::UnixListener(UnixListener::from_std(descriptor.into())?)
            }
            (SocketType::STREAM, false) if is_unix => {
                Self::UnixStream(UnixStream::from_std(descriptor.into())?)
            }
            (SocketType::SEQPACKET, true) if is_unix => {
                Self::UnixSeqpacketListener(UnixSeqpacketListener::from_std(descriptor)?)
            }
            (SocketType::SEQPACKET, false) if is_unix => {
                Self::UnixSeqpacket(UnixSeqpacket::from_std(descriptor)?)
            }
            (SocketType::DGRAM, _) if is_unix => {
                Self::UnixDatagram(UnixDatagram::from_std(descriptor.into())?)
            }
            _ => Self::Other(descriptor),
        })
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn what_the_environment_says() {
        let names = |pid, count, given| names(7, pid, count, given).ok();
        let none = Some(Vec::new());
        assert_eq!(names(None, None, None), none);
        assert_eq!(names(Some("7"), None, None), none);
        assert_eq!(
            names(Some("8"), Some("1"), None),
            none,
            "for another process"
        );
        assert_eq!(names(Some("7"), Some("0"), Some("")), none);
        let unknown = || "unknown".to_owned();
        assert_eq!(
            names(Some("7"), Some("2"), None),
            Some(vec![unknown(), unknown()])
        );
        let named = Some(vec!["web".to_owned(), String::new()]);
        assert_eq!(names(Some("7"), Some("2"), Some("web:")), named);
        assert_eq!(names(Some("7"), Some("3"), Some("web:")), None);
        assert_eq!(names(Some("7"), Some("-1"), None), None);
        assert_eq!(names(Some("7"), Some("2147483647"), None), None);
        assert_eq!(names(Some("x"), Some("1"), None), None);
    }
}
