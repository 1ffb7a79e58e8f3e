//! From an origin to a connection: names, addresses, sockets.

use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;

use thrum_rt::net::{TcpSocket, TcpStream, UnixStream, lookup_host};

use super::Config;
use super::origin::Origin;
use crate::wire::{Socket, Wire};

/// Connects to an origin.
///
/// Dropping the future closes what was begun.
pub(crate) async fn connect(origin: &Origin, config: &Config) -> io::Result<Wire> {
    let socket: Socket = match (&config.unix_socket, config.local_address) {
        (Some(path), _) => UnixStream::connect(path.as_path()).await?.into(),
        (None, None) => TcpStream::connect((origin.host(), origin.port()))
            .await?
            .into(),
        (None, Some(local)) => connect_from(local, origin).await?.into(),
    };
    Ok(Wire::plain(Arc::new(socket)))
}

/// Connects from an address of this machine, to one of the same family.
async fn connect_from(local: IpAddr, origin: &Origin) -> io::Result<TcpStream> {
    let addresses = lookup_host((origin.host(), origin.port())).await?;
    let mut failure = io::Error::new(
        io::ErrorKind::NotFound,
        "the host has no address of the local address's family",
    );
    for address in addresses {
        if address.is_ipv4() != local.is_ipv4() {
            continue;
        }
        let socket = TcpSocket::for_address(address)?;
        socket.bind(SocketAddr::new(local, 0))?;
        match socket.connect(address).await {
            Ok(stream) => return Ok(stream),
            Err(error) => failure = error,
        }
    }
    Err(failure)
}
