//! The process around the sites: what it may do, how it says that it runs, and how it is told what to do.
//!
//! * [`Privileges`]: the user and group that it goes on as once its sockets are bound.
//! * [`Sandbox`]: what of the file system and of the kernel is left to it (Landlock, seccomp).
//! * [`PidFile`]: its number, in a file that only one process can hold.
//! * [`Notify`]: what the service manager is told (sd_notify), the watchdog's ping among it.
//! * [`Listeners`]: the sockets that it listens with, bound, inherited or taken over.
//! * [`Certificates`]: who the sites are, in files or from an authority.
//! * [`control`]: a Unix socket that takes commands, and gives the listening sockets to a successor.
//!
//! The order of a start matters, and is: bind, drop privileges, confine, only then begin threads. All of it is synchronous.

mod certificates;
pub mod control;
mod listeners;
mod notify;
mod pid_file;
mod privileges;
mod sandbox;
mod settings;
mod tables;

pub(crate) use certificates::says_tls;
pub use certificates::{Certificates, SITE};
pub use listeners::{ListenError, Listeners, Listening};
pub use notify::Notify;
pub use pid_file::{PidFile, PidFileError};
pub use privileges::{Privileges, PrivilegesError};
pub use sandbox::{Confinement, Sandbox, SandboxError};
pub use settings::ProcessSettings;
pub use tables::GLOBAL;
