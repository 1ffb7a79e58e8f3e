//! TCP for tasks.
//!
//! Every wait is for one descriptor's readiness. Dropping a future that waits loses nothing: bytes are read or written
//! only in the poll that returns them.

mod tcp_listener;
mod tcp_stream;

pub use std::net::{Shutdown, SocketAddr, ToSocketAddrs};

pub use self::tcp_listener::TcpListener;
pub use self::tcp_stream::TcpStream;
