//! The grammars of HTTP/1.1 (RFC 9112), strict: lines end in CRLF, nothing is folded, nothing is guessed.

mod chunk;
mod grammar;
mod head;

pub use self::chunk::{ChunkError, ChunkLine, chunk_line};
pub use self::grammar::HeadError;
pub use self::head::{Field, HeadLimits, HeadParser, RequestHead, Status, Version, trailers};
