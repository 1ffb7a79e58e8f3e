//! The configuration: a file that reads like what it does.
//!
//! ```text
//! example.com, www.example.com {
//!     log       /var/log/thrum/example.log combined
//!     /cgi-bin/ => /srv/cgi
//!     /api/     >> 127.0.0.1:3000 127.0.0.1:3001 { timeout 10s; limit 200 }
//!     /old/     << https://example.com/new/ 301
//!     /         -> /srv/www { fallback index.html }
//! }
//! ```
//!
//! Text becomes a tree of statements (`syntax`), which are checked against what may stand where (`schema`) and become
//! [`Settings`]: what sites, routes, handlers and guards are built from. Every mistake on the way is a [`Problem`] with its
//! place; all of them are found in one go.

mod check;
mod checked;
mod effective;
mod environment;
mod kind;
mod layout;
mod load;
pub(crate) mod nearest;
mod problem;
mod reference;
mod report;
mod schema;
mod settings;
mod source;
mod syntax;
#[cfg(test)]
mod tests;
mod token;
mod value;

pub use checked::{Config, RouteConfig, SiteConfig};
pub use effective::{Effect, Effective, EffectiveRoute, EffectiveSite, Origin};
pub use layout::format;
pub use problem::{FileId, Problem, Problems, Span};
pub use reference::reference;
pub use report::Report;
pub use schema::{Arity, Kind, Setting, Tables, Verb};
pub use settings::{Entry, Settings};
pub use source::{Place, Source, Sources};
pub use token::word;
pub use value::{InvalidNetwork, Network, Rate, Value};
pub(crate) use value::{rate, size};
