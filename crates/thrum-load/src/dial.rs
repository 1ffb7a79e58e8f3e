//! Who opens the connections of a load, and from where.

use std::io;
use std::net::SocketAddr;
use std::time::Duration;

use nix::sys::resource::{Resource, getrlimit, setrlimit};
use thrum_http::Client;
use thrum_http::client::{Dialer, Limits, Timeouts};
use thrum_http::tls;
use thrum_rt::net::{TcpStream, lookup_host};
use thrum_rt::time::timeout;

use crate::load::LoadError;
use crate::plan::{HttpVersion, Plan, Protocol};

/// Descriptors for anything but connections.
const OTHER_DESCRIPTORS: u64 = 64;

/// Those that connect from each of the addresses, or from any.
pub(crate) async fn dialers(plan: &Plan) -> Result<Vec<Dialer>, LoadError> {
    let target = &plan.target;
    let scheme = if target.is_tls() { "https" } else { "http" };
    let mut builder = Client::builder()
        .limits(Limits::default())
        .server_name(target.host());
    let mut timeouts = Timeouts::default();
    timeouts.connect = plan.timeout;
    timeouts.handshake = plan.timeout;
    // Connections live as long as the load.
    timeouts.lifetime = Duration::MAX;
    builder = builder.timeouts(timeouts);
    builder = match (target.version, target.protocol()?) {
        (HttpVersion::Http2, Protocol::Http) => builder.http2_prior_knowledge(),
        (HttpVersion::Negotiated, Protocol::Http) if target.is_tls() => builder,
        _ => builder.http1_only(),
    };
    if target.is_tls() && target.insecure {
        builder = builder.tls(
            tls::Connector::builder()
                .danger_accept_any_certificate()
                .build()?,
        );
    }
    if let Some(path) = &target.unix_socket {
        let url = format!("{scheme}://localhost");
        return Ok(vec![builder.unix_socket(path.clone()).dialer(url)?]);
    }
    // Looked up once, as names are not what is measured.
    let found = lookup_host((target.host(), target.port())).await;
    let addresses: Vec<SocketAddr> = found
        .map_err(|error| LoadError::Lookup(target.host().to_owned(), error))?
        .into_iter()
        .collect();
    let address = |fits: &dyn Fn(&SocketAddr) -> bool| {
        let address = addresses.iter().find(|address| fits(address));
        let none = || {
            io::Error::new(
                io::ErrorKind::NotFound,
                "none of the family that is asked for",
            )
        };
        address.ok_or_else(|| LoadError::Lookup(target.host().to_owned(), none()))
    };
    if target.from.is_empty() {
        // A name with several addresses may listen on one of them only, as localhost does.
        let address = reachable(&addresses, plan.timeout)
            .await
            .map_or_else(|| address(&|_| true).copied(), Ok)?;
        return Ok(vec![builder.dialer(format!("{scheme}://{address}"))?]);
    }
    let from = target.from.iter().map(|from| {
        let address = address(&|address| address.is_ipv4() == from.is_ipv4())?;
        Ok(builder
            .clone()
            .local_address(*from)
            .dialer(format!("{scheme}://{address}"))?)
    });
    from.collect()
}

/// The first address that can be connected to.
async fn reachable(addresses: &[SocketAddr], patience: Duration) -> Option<SocketAddr> {
    if let [only] = addresses {
        return Some(*only);
    }
    for address in addresses {
        let connected = timeout(patience, TcpStream::connect(*address)).await;
        if matches!(connected, Ok(Ok(_))) {
            return Some(*address);
        }
    }
    None
}

/// Raises the limit of open files as far as it is needed.
pub(crate) fn allow_descriptors(connections: usize) -> Result<(), LoadError> {
    let needed = connections as u64 + OTHER_DESCRIPTORS;
    let (soft, hard) = getrlimit(Resource::RLIMIT_NOFILE).unwrap_or((u64::MAX, u64::MAX));
    if soft >= needed || setrlimit(Resource::RLIMIT_NOFILE, needed, hard.max(needed)).is_ok() {
        return Ok(());
    }
    Err(LoadError::Descriptors {
        connections,
        allowed: hard,
    })
}
