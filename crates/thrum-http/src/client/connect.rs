//! From an origin to a connection: names, addresses, sockets, TLS.

use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;

use thrum_rt::net::{TcpSocket, TcpStream, UnixStream, lookup_host};

use super::Config;
use super::origin::Origin;
use super::proxy::Proxy;
#[cfg(feature = "tls")]
use crate::tls::Connector;
use crate::wire::{Socket, Wire};

/// Connects to an origin.
///
/// Dropping the future closes what was begun.
pub(crate) async fn connect(origin: &Origin, config: &Config) -> io::Result<Wire> {
    if let Some(proxy) = config.proxy(origin.is_tls, origin.host(), origin.port()) {
        return through(proxy, origin, config).await;
    }
    let socket: Socket = match (&config.unix_socket, config.local_address) {
        (Some(path), _) => UnixStream::connect(path.as_path()).await?.into(),
        (None, local) => tcp((origin.host(), origin.port()), local).await?.into(),
    };
    Ok(Wire::plain(Arc::new(socket)))
}

/// Speaks TLS with an origin, and has it choose one of the protocols.
///
/// Dropping the future closes the connection.
#[cfg(feature = "tls")]
pub(crate) async fn handshake(
    wire: Wire,
    origin: &Origin,
    config: &Config,
    protocols: &[&[u8]],
) -> io::Result<Wire> {
    let connector = match config.tls.get() {
        Some(connector) => connector,
        None => {
            let connector = Connector::new()?; // reads files
            config.tls.get_or_init(|| connector)
        }
    };
    let name = config.server_name.as_deref().unwrap_or(origin.host());
    connector.connect(wire, name, protocols).await
}

/// Connects through a proxy, or to one that is sent requests as they are.
async fn through(proxy: &Proxy, origin: &Origin, config: &Config) -> io::Result<Wire> {
    let stream = tcp(proxy.address(), config.local_address).await?;
    let mut wire = Wire::plain(Arc::new(stream.into()));
    if !config.sends_whole_urls(origin) {
        let tunnel = proxy.tunnel(&mut wire, origin.host(), origin.port());
        tunnel.await.map_err(io::Error::other)?;
    }
    Ok(wire)
}

async fn tcp(target: (&str, u16), local: Option<IpAddr>) -> io::Result<TcpStream> {
    match local {
        None => TcpStream::connect(target).await,
        Some(local) => connect_from(local, target).await,
    }
}

/// Connects from an address of this machine, to one of the same family.
async fn connect_from(local: IpAddr, target: (&str, u16)) -> io::Result<TcpStream> {
    let addresses = lookup_host(target).await?;
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
