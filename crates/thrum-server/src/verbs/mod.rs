//! What a route can do that needs nothing but its own line: [`Redirect`], [`Respond`], [`Rewrite`].

mod redirect;
mod respond;
mod rewrite;
mod target;

pub use redirect::Redirect;
pub use respond::Respond;
pub use rewrite::Rewrite;
pub use target::InvalidTarget;

use crate::site::HandlerKind;

/// The verbs of this module.
pub const KINDS: &[HandlerKind] = &[redirect::KIND, respond::KIND, rewrite::KIND];
