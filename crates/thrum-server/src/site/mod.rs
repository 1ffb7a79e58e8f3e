//! Sites and their routes: which handler answers a request.
//!
//! A route's verb becomes a [`Handler`]; what else holds for it (guards, limits, sessions) becomes handlers around that one,
//! the outermost first asked.

mod building;
mod handler;
pub mod reply;

pub use building::{Building, HandlerKind, Kept, Layer, Wrap};
pub use handler::{Answer, Handler, Route, Visit};
