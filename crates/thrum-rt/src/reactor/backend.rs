//! The back ends of a reactor: what asks the kernel for events, and the choice between them.

use std::fmt;
use std::io;
use std::os::fd::BorrowedFd;
use std::str::FromStr;
use std::time::Duration;

#[cfg(target_os = "linux")]
use super::epoll::Epoll;
#[cfg(any(feature = "portable", not(target_os = "linux")))]
use super::portable::Portable;
use super::source::Edge;
#[cfg(all(feature = "io-uring", target_os = "linux"))]
use super::uring::Uring;

/// How a runtime asks the kernel what is ready.
///
/// All do the same, at different cost. The environment's `THRUM_IO` chooses one by its name, a
/// [`Builder`](crate::Builder::io) by its value. One that this build or this system does not have is replaced by the
/// system's default, with a warning; [`metrics`](crate::metrics()) tells which is in use.
///
/// ```
/// use thrum_rt::Io;
///
/// assert_eq!("io_uring".parse::<Io>().unwrap(), Io::IoUring);
/// assert_eq!(Io::Epoll.to_string(), "epoll");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Io {
    /// `epoll`: Linux's readiness. The default there.
    Epoll,
    /// `io_uring`: Linux's rings, from 6.0 on, with the cargo feature `io-uring`. Containers often forbid it.
    IoUring,
    /// `portable`: the readiness of whatever system it is, kqueue for example. The default elsewhere; on Linux it takes the
    /// cargo feature `portable`.
    Portable,
}

impl Io {
    /// All of them.
    pub const ALL: [Io; 3] = [Io::Epoll, Io::IoUring, Io::Portable];

    const fn name(self) -> &'static str {
        match self {
            Io::Epoll => "epoll",
            Io::IoUring => "io_uring",
            Io::Portable => "portable",
        }
    }

    /// Itself if this build and this system have it, else the default, with a warning.
    pub(crate) fn or_default(self) -> Io {
        if self == Io::default() {
            return self;
        }
        match Backend::new(self) {
            Ok(_) => self,
            Err(error) => {
                let default = Io::default();
                tracing::warn!("{self} cannot be used, {default} is used instead: {error}");
                default
            }
        }
    }
}

impl Default for Io {
    fn default() -> Self {
        if cfg!(target_os = "linux") {
            Io::Epoll
        } else {
            Io::Portable
        }
    }
}

impl fmt::Display for Io {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Io {
    type Err = UnknownIo;

    fn from_str(name: &str) -> Result<Self, UnknownIo> {
        let found = Io::ALL.into_iter().find(|io| io.name() == name);
        found.ok_or_else(|| UnknownIo(name.into()))
    }
}

/// The name is none of an [`Io`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownIo(String);

impl fmt::Display for UnknownIo {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "must be epoll, io_uring or portable, not {:?}", self.0)
    }
}

impl std::error::Error for UnknownIo {}

/// What asks the kernel for events.
///
/// Descriptors are added once, for both directions, and each change is told one time (edge-triggered). An event carries
/// the token that its descriptor was added with; one of a descriptor that was removed may still come.
pub(super) enum Backend {
    #[cfg(target_os = "linux")]
    Epoll(Epoll),
    #[cfg(all(feature = "io-uring", target_os = "linux"))]
    Uring(Box<Uring>),
    #[cfg(any(feature = "portable", not(target_os = "linux")))]
    Portable(Portable),
}

/// Calls a method of whichever back end it is.
macro_rules! each_backend {
    ($backend:expr, $it:ident => $call:expr) => {
        match $backend {
            #[cfg(target_os = "linux")]
            Backend::Epoll($it) => $call,
            #[cfg(all(feature = "io-uring", target_os = "linux"))]
            Backend::Uring($it) => $call,
            #[cfg(any(feature = "portable", not(target_os = "linux")))]
            Backend::Portable($it) => $call,
        }
    };
}

impl Backend {
    pub(super) fn new(io: Io) -> io::Result<Self> {
        match io {
            #[cfg(target_os = "linux")]
            Io::Epoll => Epoll::new().map(Self::Epoll),
            #[cfg(all(feature = "io-uring", target_os = "linux"))]
            Io::IoUring => Uring::new().map(|it| Self::Uring(Box::new(it))),
            #[cfg(any(feature = "portable", not(target_os = "linux")))]
            Io::Portable => Portable::new().map(Self::Portable),
            #[allow(unreachable_patterns)] // when all are there
            _ => Err(io::Error::new(
                io::ErrorKind::Unsupported,
                "this build does not have it",
            )),
        }
    }

    /// Which one it is.
    pub(super) fn io(&self) -> Io {
        match self {
            #[cfg(target_os = "linux")]
            Self::Epoll(_) => Io::Epoll,
            #[cfg(all(feature = "io-uring", target_os = "linux"))]
            Self::Uring(_) => Io::IoUring,
            #[cfg(any(feature = "portable", not(target_os = "linux")))]
            Self::Portable(_) => Io::Portable,
        }
    }

    pub(super) fn add(&self, fd: BorrowedFd<'_>, token: u64) -> io::Result<()> {
        each_backend!(self, it => it.add(fd, token))
    }

    /// Takes out a descriptor that lives on.
    pub(super) fn remove(&self, fd: BorrowedFd<'_>, token: u64) -> io::Result<()> {
        each_backend!(self, it => it.remove(fd, token))
    }

    /// Takes out a descriptor that is about to be closed.
    pub(super) fn closing(&self, fd: BorrowedFd<'_>, token: u64) {
        each_backend!(self, it => it.closing(fd, token));
    }

    /// Ends a wait that is under way, or the next one.
    pub(super) fn interrupt(&self) {
        each_backend!(self, it => it.interrupt());
    }

    /// Waits for events and hands each to `each`, with its token. `None` waits for ever. One thread at a time.
    pub(super) fn wait(
        &self,
        timeout: Option<Duration>,
        each: impl FnMut(u64, Edge),
    ) -> io::Result<()> {
        each_backend!(self, it => it.wait(timeout, each))
    }

    /// Whether an event says of a peer that it is gone, even in the same breath as of its last bytes. Else only EAGAIN tells
    /// that there is no more to come: after a short read that end would be waited for in vain.
    pub(super) fn tells_ends(&self) -> bool {
        self.io() != Io::Portable
    }
}
