//! The thrum web server, in parts: what [`thrum_http`] serves, and who looks on.
//!
//! * [`config`]: the file that all of it is set up by.
//! * [`site`]: sites and routes: which handler answers a request.
//! * [`files`]: a folder as a web site.
//! * [`kv`]: content in the store.
//! * [`session`]: what is remembered of visitors.
//! * [`store`]: state that outlives the process.
//! * [`access_log`]: a line for each request, written without anyone waiting for it.
#![forbid(unsafe_code)]

pub mod access_log;
pub mod config;
pub mod files;
pub mod kv;
pub mod session;
pub mod site;
pub mod store;
