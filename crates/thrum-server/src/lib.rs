//! The thrum web server, in parts: what [`thrum_http`] serves, and who looks on.
//!
//! * [`config`]: the file that all of it is set up by.
//! * [`site`]: sites and routes: which handler answers a request.
//! * [`verbs`]: what a route can do that needs nothing but its line: redirect, respond, rewrite.
//! * [`files`]: a folder as a web site.
//! * [`guard`]: who may ask, how often and how much.
//! * [`forwarded`]: who the client is when a proxy stands in between.
//! * [`access_log`]: a line for each request, written without anyone waiting for it.
#![forbid(unsafe_code)]

pub mod access_log;
pub mod config;
pub mod files;
pub mod forwarded;
pub mod guard;
pub mod site;
pub mod verbs;
