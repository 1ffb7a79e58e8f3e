//! The thrum web server, in parts: what [`thrum_http`] serves, and who looks on.
//!
//! * [`config`]: the file that all of it is set up by.
//! * [`site`]: sites and routes: which handler answers a request.
//! * [`files`]: a folder as a web site.
//! * [`cgi`]: programs that answer requests; [`gateway`]: what they have in common with other ways to call programs.
//! * [`access_log`]: a line for each request, written without anyone waiting for it.
#![forbid(unsafe_code)]

pub mod access_log;
pub mod cgi;
pub mod config;
pub mod files;
pub mod gateway;
pub mod site;
