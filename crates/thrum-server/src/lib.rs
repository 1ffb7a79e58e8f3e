//! The thrum web server, in parts: what [`thrum_http`] serves, and who looks on.
//!
//! * [`config`]: the file that all of it is set up by.
//! * [`site`]: sites and routes: which handler answers a request.
//! * [`files`]: a folder as a web site.
//! * [`access_log`]: a line for each request, written without anyone waiting for it.
//! * [`error_log`]: what the server has to say through `tracing`.
//! * [`log`]: where both go: files and their rotation, syslog, journald.
//! * [`metrics`]: what it does, in numbers; whether it is healthy and ready.
//! * [`observe`]: the logs and the numbers of each site and route.
#![forbid(unsafe_code)]

pub mod access_log;
pub mod config;
pub mod error_log;
pub mod files;
pub mod log;
pub mod metrics;
pub mod observe;
pub mod site;
mod slot;
