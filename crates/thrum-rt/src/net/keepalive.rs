//! TCP keep-alive: asking a silent peer whether it is still there.

use std::io;
use std::os::fd::AsFd;
use std::time::Duration;

use rustix::net::sockopt;

/// How a silent peer is probed, and when it is given up: the connection then fails with `TimedOut`.
///
/// ```
/// use std::time::Duration;
/// use thrum_rt::net::Keepalive;
///
/// // Asks after a minute of silence, then every ten seconds, and gives up after three questions.
/// let keepalive = Keepalive {
///     idle: Duration::from_secs(60),
///     interval: Duration::from_secs(10),
///     probes: 3,
/// };
/// # let _ = keepalive;
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Keepalive {
    /// Silence before the first probe, in whole seconds from 1 to 32,767. Default: two hours.
    pub idle: Duration,
    /// Time between probes, in whole seconds from 1 to 32,767. Default: 75 s.
    pub interval: Duration,
    /// Probes without an answer after which the peer is given up, from 1 to 127. Default: 9.
    pub probes: u32,
}

/// Linux's own values.
impl Default for Keepalive {
    fn default() -> Self {
        Self {
            idle: Duration::from_secs(7200),
            interval: Duration::from_secs(75),
            probes: 9,
        }
    }
}

impl Keepalive {
    pub(super) fn read(socket: impl AsFd) -> io::Result<Option<Self>> {
        if !sockopt::socket_keepalive(&socket)? {
            return Ok(None);
        }
        Ok(Some(Self {
            idle: sockopt::tcp_keepidle(&socket)?,
            interval: sockopt::tcp_keepintvl(&socket)?,
            probes: sockopt::tcp_keepcnt(&socket)?,
        }))
    }

    pub(super) fn apply(keepalive: Option<Self>, socket: impl AsFd) -> io::Result<()> {
        if let Some(keepalive) = keepalive {
            sockopt::set_tcp_keepidle(&socket, keepalive.idle)?;
            sockopt::set_tcp_keepintvl(&socket, keepalive.interval)?;
            sockopt::set_tcp_keepcnt(&socket, keepalive.probes)?;
        }
        Ok(sockopt::set_socket_keepalive(&socket, keepalive.is_some())?)
    }
}
