//! What CGI and FastCGI have in common: a program outside of this process answers a request.
//!
//! It gets to know the request by *meta-variables* (`meta`) and reads the body as its input (`input`). It writes a head
//! (`head`) and a document, which is sent as it comes (`exchange`); what it says besides goes to the log (`errors`). How
//! many of them work at the same time is bounded (`crate::places`).

mod errors;
mod exchange;
mod head;
mod input;
mod meta;
mod redirect;

pub(crate) use errors::ErrorLines;
pub(crate) use exchange::{Failure, Limits, Program, respond};
use head::LocalRedirect;
pub(crate) use input::{Input, Piece, collect};
pub(crate) use meta::{Asked, Script, decode_path, is_told};
pub(crate) use redirect::{settle, to_folder};
