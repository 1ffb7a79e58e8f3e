//! The one connection to an origin that its requests share. The first request makes it, the others wait for that.

use std::sync::Arc;

use thrum_rt::sync::Mutex;
use thrum_rt::time::timeout;

use super::super::exchange::{Clock, Opened, open_any};
use super::super::pool::{Asked, Pool};
use super::super::{Error, Phase, http1};
use super::Connection;

/// What is known of an origin.
#[derive(Default)]
pub(crate) struct Slot(Mutex<Known>);

#[derive(Default)]
enum Known {
    #[default]
    Nothing,
    /// It does not speak HTTP/2.
    Http1,
    Http2(Connection),
}

/// The connection that requests share; `None` if the server speaks HTTP/1.1 only.
///
/// Dropping the future has another request make it.
pub(crate) async fn shared(
    pool: &Arc<Pool>,
    asked: Asked<'_>,
    clock: Clock,
) -> Result<Option<Connection>, Error> {
    let config = pool.config();
    let origin = asked.origin();
    let slot = pool.slot(asked)?;
    let patience = clock.at_most(config.timeouts.queue, Phase::Queue)?;
    let mut known = match slot.0.try_lock() {
        Some(known) => known,
        None => match timeout(patience, slot.0.lock()).await {
            Ok(known) => known,
            Err(_) => return Err(clock.expired(Phase::Queue, patience)),
        },
    };
    match &*known {
        Known::Http1 => return Ok(None),
        Known::Http2(connection) if connection.is_usable() => return Ok(Some(connection.clone())),
        _ => {}
    }
    let mut lease = pool.lease(asked, true, patience).await?;
    let Opened { wire, is_http2, .. } = open_any(origin, config, clock).await?;
    if is_http2 {
        let patience = clock.at_most(config.timeouts.handshake, Phase::Handshake)?;
        let connection = Connection::begin(wire, config.clone(), lease);
        let connection = match timeout(patience, connection).await {
            Ok(Ok(connection)) => connection,
            Ok(Err(error)) => return Err(Error::new(Phase::Handshake, error)),
            Err(_) => return Err(clock.expired(Phase::Handshake, patience)),
        };
        *known = Known::Http2(connection.clone());
        Ok(Some(connection))
    } else {
        let connection = http1::Connection::new(wire, config.clone(), false);
        lease.connection = Some(Box::new(connection));
        lease.give_back();
        *known = Known::Http1;
        Ok(None)
    }
}
