//! The thrum web server, in parts: what [`thrum_http`] serves, and who looks on.
//!
//! * [`config`]: the file that all of it is set up by.
//! * [`site`]: sites and routes: which handler answers a request.
//! * [`cache`]: responses that are kept, and answer later requests.
//! * [`verbs`]: what a route can do that needs nothing but its line: redirect, respond, rewrite.
//! * [`files`]: a folder as a web site.
//! * [`guard`]: who may ask, how often and how much.
//! * [`forwarded`]: who the client is when a proxy stands in between.
//! * [`error_pages`]: pages of a site's own for what went wrong.
//! * [`cgi`], [`fastcgi`]: programs that answer requests; `gateway` is what the two have in common.
//! * [`proxy`]: requests taken to other servers.
//! * [`store`]: state that outlives the process.
//! * [`access_log`]: a line for each request, written without anyone waiting for it.
//! * [`acme`]: certificates from an authority, ordered and renewed.
//! * [`process`]: the process around it: user, sandbox, PID file, commands.
#![forbid(unsafe_code)]

pub mod access_log;
pub mod acme;
pub mod cache;
pub mod cgi;
pub mod config;
pub mod error_pages;
pub mod fastcgi;
pub mod files;
pub mod forwarded;
mod gateway;
pub mod guard;
pub mod process;
pub mod proxy;
pub mod site;
pub mod store;
pub mod verbs;
