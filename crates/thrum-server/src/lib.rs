//! The thrum web server, in parts: what [`thrum_http`] serves, and who looks on.
//!
//! * [`config`]: the file that all of it is set up by.
//! * [`site`]: sites and routes: which handler answers a request.
//! * [`cache`]: responses that are kept, and answer later requests.
//! * [`files`]: a folder as a web site.
//! * [`proxy`]: requests taken to other servers.
//! * [`access_log`]: a line for each request, written without anyone waiting for it.
#![forbid(unsafe_code)]

pub mod access_log;
pub mod cache;
pub mod config;
pub mod files;
pub mod proxy;
pub mod site;
