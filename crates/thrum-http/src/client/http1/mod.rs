//! One connection of the client that speaks HTTP/1.1.
//!
//! | module | what is in it |
//! |---|---|
//! | `connection` | the connection: sends a request while it listens for the response |
//! | `encode` | a request's head |
//! | `upload` | a request's body on its way to the server |
//! | `receive` | from a parsed head to a response; how its body is framed |
//! | `rest` | what is still to come of a response's body |
//! | `download` | a response's body on its way to whoever reads it |
//! | `pipeline` | [`Pipeline`]: a connection for those who render their requests themselves |

mod connection;
mod download;
mod encode;
mod pipeline;
mod receive;
mod rest;
mod upload;

pub(crate) use self::connection::{Connection, Failure, Lost};
pub(crate) use self::download::respond;
pub use self::pipeline::{Fields, Part, Pipeline};
