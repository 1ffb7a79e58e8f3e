//! One connection of the client that speaks HTTP/2, through the h2 crate; many requests share it.
//!
//! | module | what is in it |
//! |---|---|
//! | `connection` | [`Connection`]: the handshake, the task that drives it, how it ends |
//! | `slot` | where the requests of an origin find it |
//! | `exchange` | one request, until the head of its response |
//! | `head` | a request's head |
//! | `upload` | a request's body on its way to the server |
//! | `download` | a response's body on its way to whoever reads it |
//!
//! A task of its own reads and writes for all of them. A response or a future that is dropped resets its stream, and
//! nothing else.

mod connection;
mod download;
mod exchange;
mod head;
mod slot;
mod upload;

pub(crate) use self::connection::Connection;
pub(crate) use self::slot::{Slot, shared};
