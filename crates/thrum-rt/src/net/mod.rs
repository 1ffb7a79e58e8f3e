//! Sockets for tasks: TCP, UDP and Unix.
//!
//! | connections | messages | for both |
//! |---|---|---|
//! | [`TcpListener`], [`TcpStream`], [`TcpSocket`] | [`UdpSocket`] | [`lookup_host`]: addresses of a name |
//! | [`UnixListener`], [`UnixStream`] | [`UnixDatagram`] | [`inherited`]: sockets from systemd |
//! | [`UnixSeqpacketListener`], [`UnixSeqpacket`]: messages on a connection | | |
//!
//! Streams are [`StreamSocket`]s, and what carries messages is a [`MessageSocket`]: their methods are there. All take
//! `&self`, so a socket can be shared by reference or in an `Arc`; [`StreamSocket::into_split`] gives owned halves.
//!
//! # Cancel safety
//! Every wait is for one descriptor's readiness. Dropping a future that waits loses nothing: bytes are read or written
//! only in the poll that returns them. Each method says what dropping its future means.

mod accept;
mod connect;
mod inherited;
mod keepalive;
mod message_socket;
mod peer_cred;
mod resolve;
mod split;
mod stream_socket;
mod tcp_listener;
mod tcp_socket;
mod tcp_stream;
mod udp_socket;
mod unix;
mod unix_datagram;
mod unix_listener;
mod unix_seqpacket;
mod unix_stream;

use std::io;
use std::os::fd::AsFd;

pub use std::net::{Shutdown, SocketAddr};

pub use self::accept::accept_errors;
pub use self::inherited::{Inherited, InheritedSocket, inherited, inherited_descriptors};
pub use self::keepalive::Keepalive;
pub use self::message_socket::MessageSocket;
pub use self::peer_cred::PeerCred;
pub use self::resolve::{ToSocketAddrs, lookup_host};
pub use self::split::{OwnedReadHalf, OwnedWriteHalf, ReuniteError};
pub use self::stream_socket::StreamSocket;
pub use self::tcp_listener::TcpListener;
pub use self::tcp_socket::TcpSocket;
pub use self::tcp_stream::TcpStream;
pub use self::udp_socket::UdpSocket;
pub use self::unix::ToUnixAddr;
pub use self::unix_datagram::UnixDatagram;
pub use self::unix_listener::UnixListener;
pub use self::unix_seqpacket::{UnixSeqpacket, UnixSeqpacketListener};
pub use self::unix_stream::UnixStream;

/// Connections that the kernel completes before they are accepted; it lowers this to `net.core.somaxconn`.
const BACKLOG: u32 = 4096;

/// The first of the addresses that can be opened, or the last one's error.
fn first<T>(
    addresses: Vec<SocketAddr>,
    mut open: impl FnMut(SocketAddr) -> io::Result<T>,
) -> io::Result<T> {
    let mut failure = io::ErrorKind::NotFound.into();
    for address in addresses {
        match open(address) {
            Ok(socket) => return Ok(socket),
            Err(error) => failure = error,
        }
    }
    Err(failure)
}

fn shutdown(socket: impl AsFd, how: Shutdown) -> io::Result<()> {
    let how = match how {
        Shutdown::Read => rustix::net::Shutdown::Read,
        Shutdown::Write => rustix::net::Shutdown::Write,
        Shutdown::Both => rustix::net::Shutdown::Both,
    };
    Ok(rustix::net::shutdown(socket, how)?)
}
