//! The thrum web server, in parts: applications and observers for [`thrum_http`].
//!
//! * [`files`]: a folder as a web site.
//! * [`access_log`]: a line for each request, written without anyone waiting for it.
#![forbid(unsafe_code)]

pub mod access_log;
pub mod files;
