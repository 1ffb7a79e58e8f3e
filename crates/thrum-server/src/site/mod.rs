//! Sites and their routes: which handler answers a request.
//!
//! A route's verb becomes a [`Handler`]; what else holds for it (guards, limits, sessions) becomes handlers around that one,
//! the outermost first asked.

mod app;
mod build;
mod building;
mod explain;
mod handler;
mod name;
mod pattern;
pub mod reply;
mod sites;
mod tables;

pub use app::{AnswerFuture, App, AppAt, Sites};
pub use building::{Building, HandlerKind, Kept, Layer, Wrap};
pub use explain::Explanation;
pub use handler::{Answer, Handler, Route, Visit};
pub use name::{Endpoint, Host, NameError, SiteName};
pub use pattern::{Matched, Pattern, PatternError, normalized};
pub(crate) use sites::host_of;
pub use sites::{Site, with_path};
pub use tables::TABLES;
