//! What a route can do that needs nothing but its own line: [`Redirect`], [`Respond`], [`Rewrite`].

pub(crate) mod redirect;
pub(crate) mod respond;
pub(crate) mod rewrite;
mod target;

pub use redirect::Redirect;
pub use respond::Respond;
pub use rewrite::Rewrite;
pub use target::InvalidTarget;
