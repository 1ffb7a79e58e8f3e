//! What the service manager is told: systemd's sd_notify(3).

use std::io;
use std::os::unix::net::{SocketAddr, UnixDatagram};
use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};

/// A service manager that wants to know how the process is. Without one, everything here does nothing.
///
/// What cannot be sent is not sent: the process goes on, and the manager notices by itself.
#[derive(Debug, Default)]
pub struct Notify {
    manager: Option<(UnixDatagram, SocketAddr)>,
    watchdog: Option<Duration>,
}

impl Notify {
    /// The manager that the environment names: `NOTIFY_SOCKET`, and `WATCHDOG_USEC` if it wants to hear a ping.
    pub fn from_env() -> Self {
        let variable = |name: &str| std::env::var(name).ok();
        let Some(address) = variable("NOTIFY_SOCKET") else {
            return Self::default();
        };
        Self::new(
            &address,
            watchdog(
                std::process::id(),
                variable("WATCHDOG_PID").as_deref(),
                variable("WATCHDOG_USEC").as_deref(),
            ),
        )
        .unwrap_or_else(|error| {
            tracing::warn!(%error, "NOTIFY_SOCKET={address}: the service manager is told nothing");
            Self::default()
        })
    }

    /// A manager that listens at an address, a path or `@` and an abstract name, and expects a ping at least that often.
    ///
    /// # Errors
    /// When that is no address, or there are no descriptors left.
    pub fn new(address: &str, watchdog: Option<Duration>) -> io::Result<Self> {
        let address = match address.strip_prefix('@') {
            None => SocketAddr::from_pathname(address)?,
            Some(name) => abstract_name(name)?,
        };
        let socket = UnixDatagram::unbound()?;
        socket.set_nonblocking(true)?;
        Ok(Self {
            manager: Some((socket, address)),
            watchdog,
        })
    }

    /// How often [`ping`](Self::ping) is to be called: twice as often as the manager expects it. `None`: never.
    pub fn ping_every(&self) -> Option<Duration> {
        self.watchdog.map(|longest| longest / 2)
    }

    /// The process serves. A successor says by this too that it is the one to watch.
    pub fn ready(&self, status: &str) {
        let pid = std::process::id();
        self.send(&format!(
            "READY=1\nMAINPID={pid}\nSTATUS={}\n",
            line(status)
        ));
    }

    /// It is changing its configuration; [`ready`](Self::ready) says when it is done.
    pub fn reloading(&self) {
        let now = clock_gettime(ClockId::Monotonic);
        let micros = i128::from(now.tv_sec) * 1_000_000 + i128::from(now.tv_nsec) / 1000;
        self.send(&format!(
            "RELOADING=1\nMONOTONIC_USEC={micros}\nSTATUS=reloading\n"
        ));
    }

    /// It is ending.
    pub fn stopping(&self) {
        self.send("STOPPING=1\nSTATUS=finishing open requests\n");
    }

    /// What it does, in a line for people.
    pub fn status(&self, status: &str) {
        self.send(&format!("STATUS={}\n", line(status)));
    }

    /// It lives.
    pub fn ping(&self) {
        self.send("WATCHDOG=1\n");
    }

    fn send(&self, message: &str) {
        if let Some((socket, address)) = &self.manager
            && let Err(error) = socket.send_to_addr(message.as_bytes(), address)
        {
            tracing::debug!(%error, "the service manager could not be told {message:?}");
        }
    }
}

/// The first line: a line break would begin another assignment.
fn line(status: &str) -> &str {
    status.lines().next().unwrap_or_default()
}

#[cfg(target_os = "linux")]
fn abstract_name(name: &str) -> io::Result<SocketAddr> {
    <SocketAddr as std::os::linux::net::SocketAddrExt>::from_abstract_name(name)
}

#[cfg(not(target_os = "linux"))]
fn abstract_name(_: &str) -> io::Result<SocketAddr> {
    Err(io::ErrorKind::Unsupported.into())
}

/// How long the manager waits for a ping of this process.
fn watchdog(this: u32, pid: Option<&str>, micros: Option<&str>) -> Option<Duration> {
    if pid.is_some_and(|pid| pid.parse() != Ok(this)) {
        return None;
    }
    let micros = micros?.parse().ok().filter(|&micros| micros > 0)?;
    Some(Duration::from_micros(micros))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn received(manager: &UnixDatagram) -> String {
        manager
            .set_read_timeout(Some(Duration::from_secs(5)))
            .unwrap();
        let mut message = [0; 500];
        let length = manager.recv(&mut message).unwrap();
        String::from_utf8(message[..length].to_vec()).unwrap()
    }

    #[test]
    fn a_manager_is_told() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("notify");
        let manager = UnixDatagram::bind(&path).unwrap();
        let notify = Notify::new(path.to_str().unwrap(), Some(Duration::from_secs(4))).unwrap();
        assert_eq!(notify.ping_every(), Some(Duration::from_secs(2)));
        notify.ready("2 sites\nMAINPID=1");
        let pid = std::process::id();
        assert_eq!(
            received(&manager),
            format!("READY=1\nMAINPID={pid}\nSTATUS=2 sites\n")
        );
        notify.reloading();
        assert!(received(&manager).starts_with("RELOADING=1\nMONOTONIC_USEC="));
        notify.stopping();
        assert!(received(&manager).starts_with("STOPPING=1\n"));
        notify.ping();
        assert_eq!(received(&manager), "WATCHDOG=1\n");
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn an_abstract_name_is_an_address_too() {
        let name = format!("thrum-notify-test-{}", std::process::id());
        let manager = UnixDatagram::bind_addr(&abstract_name(&name).unwrap()).unwrap();
        Notify::new(&format!("@{name}"), None).unwrap().ping();
        assert_eq!(received(&manager), "WATCHDOG=1\n");
    }

    #[test]
    fn nobody_listens() {
        Notify::default().ready("well");
        Notify::new("/no/such/socket", None).unwrap().ready("well");
    }

    #[test]
    fn pings_are_for_the_process_that_they_are_asked_of() {
        let two = Some(Duration::from_secs(2));
        assert_eq!(watchdog(7, None, Some("2000000")), two);
        assert_eq!(watchdog(7, Some("7"), Some("2000000")), two);
        assert_eq!(watchdog(7, Some("8"), Some("2000000")), None);
        assert_eq!(watchdog(7, None, Some("0")), None);
        assert_eq!(watchdog(7, None, None), None);
    }
}
