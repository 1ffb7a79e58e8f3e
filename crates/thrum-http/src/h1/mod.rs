//! A connection of the server that speaks HTTP/1.1 or 1.0.
//!
//! | module | what is in it |
//! |---|---|
//! | `connection` | the connection, from its first byte to its last |
//! | `exchange` | a request, its answer, and what is left behind |
//! | `names` | the names of fields that are most often sent |
//! | `request` | from a parsed head to a request, or a [`Reject`](crate::Reject); how its body is framed |
//! | `handler` | waiting for the handler |
//! | `upload`, `chunked` | a request's body on its way to the handler |
//! | `encode`, `date`, `send` | a response's head and body |
//! | `transport`, `buffer` | the wire with its deadlines; buffers that idle connections do not hold |

mod buffer;
pub(crate) mod chunked;
mod connection;
mod date;
mod encode;
mod exchange;
mod handler;
mod names;
mod request;
mod send;
mod transport;
mod upload;

pub(crate) use self::buffer::{Input, Output, keep_head};
pub(crate) use self::connection::serve;
pub(crate) use self::date::date_value;
pub use self::date::http_date;
