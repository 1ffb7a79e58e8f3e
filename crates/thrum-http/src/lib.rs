//! HTTP/1.1 for the thrum runtime: strict where laxness is a hole, quiet under abuse.
//!
//! ```no_run
//! use thrum_http::{Request, Response, Body, service_fn};
//! use thrum_rt::net::TcpListener;
//!
//! thrum_rt::block_on(async {
//!     let listener = TcpListener::bind("127.0.0.1:8080").await?;
//!     thrum_http::serve(listener, service_fn(async |_request: Request<Body>| Response::new("Pong!\r\n"))).await
//! })
//! # .unwrap();
//! ```
//!
//! An application is a [`tower_service::Service`] from `Request<Body>` to a response whose body turns into a [`Body`]; it is
//! cloned for each connection. Handlers may compute or block: the runtime moves the other connections on.
//!
//! | module | what is in it |
//! |---|---|
//! | `server` | [`Server`]: accepting, counting, ending |
//! | `connection` | one connection, from its first byte to its last, top to bottom |
//! | `request` | from a parsed head to a request, or a [`Reject`]; how its body is framed |
//! | `handler` | waiting for the handler |
//! | `upload`, `incoming`, `chunked` | a request's body on its way to the handler |
//! | `encode`, `date` | a response's head |
//! | `body` | [`Body`] |
//! | `transport`, `buffer` | the socket with its deadlines; buffers that idle connections do not hold |
//! | `limits`, `reject`, `observer` | what is allowed; what is refused, and why; who is told |
#![forbid(unsafe_code)]

mod body;
mod body_stream;
mod buffer;
mod chunked;
mod connection;
mod date;
mod encode;
mod handler;
mod incoming;
mod limits;
mod observer;
mod reject;
mod request;
#[cfg(feature = "router")]
pub mod router;
mod server;
mod service_fn;
pub mod sse;
mod transport;
mod upload;

pub use http::header;
pub use http::{
    HeaderMap, HeaderName, HeaderValue, Method, Request, Response, StatusCode, Uri, Version,
};

pub use body::{Body, BodyError};
pub use body_stream::BodySender;
pub use date::http_date;
pub use limits::{Limits, Timeouts};
pub use observer::{Exchange, Observer};
pub use reject::Reject;
pub use server::{Drained, Server, Stats, serve};
pub use service_fn::{ServiceFn, service_fn};
