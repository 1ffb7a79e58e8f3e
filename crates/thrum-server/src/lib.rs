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
//! * [`kv`]: content in the store.
//! * [`session`]: what is remembered of visitors.
//! * [`store`]: state that outlives the process.
//! * [`access_log`]: a line for each request, written without anyone waiting for it.
//! * [`error_log`]: what the server has to say through `tracing`.
//! * [`log`]: where both go: files and their rotation, syslog, journald.
//! * [`metrics`]: what it does, in numbers; whether it is healthy and ready.
//! * [`observe`]: the logs and the numbers of each site and route.
//! * [`admin`]: a page and numbers for whoever looks after it.
//! * [`acme`]: certificates from an authority, ordered and renewed.
//! * [`process`]: the process around it: user, sandbox, PID file, commands.
#![forbid(unsafe_code)]

pub mod access_log;
pub mod acme;
pub mod admin;
pub mod cache;
pub mod cgi;
mod clock;
pub mod config;
pub mod error_log;
pub mod error_pages;
pub mod fastcgi;
pub mod files;
pub mod forwarded;
mod gateway;
pub mod guard;
mod html;
pub mod kv;
mod lock;
pub mod log;
pub mod metrics;
pub mod observe;
mod places;
pub mod process;
pub mod proxy;
pub mod session;
pub mod site;
mod slot;
pub mod store;
pub mod verbs;
